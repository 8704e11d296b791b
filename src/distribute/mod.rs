//! Distribution: what a program that trains on one GPU needs to train with Horovod, step by step.
//!
//! Each rule of the seed's sections 2.3 and 2.4 is a file here. A rule looks at one program, a [`Job`], and answers
//! with the [`Step`]s that are still to be made: on a program without Horovod all of them, on a distributed program
//! those that were forgotten, so that the same rule transforms and verifies. A step is a finding together with the
//! edits that make it, or with the reason why it can't be made; one that can't be made withholds the others, because
//! half a distribution is worse than none.
//!
//! ```text
//! Facts ──▶ Job ──▶ rules ──▶ Steps ──▶ Plan ──▶ Findings with fixes of one unit
//!           a program,        what is   imports,
//!           names             missing   refusals
//! ```
//!
//! A rule that takes more than a file has a folder of its name with what it asks for: `broadcast` which variables there
//! are and how code speaks of them, `data` what is drawn and held out, `learning_rate` the rates, `optimizer` how one is
//! made and distributed, `output` what is written, read and waited for, `steps` who relies on their number. `session`
//! knows those of TensorFlow 1, and `obstacles` what keeps a program from being distributed at all, one reason a file.
//! What stands beside the rules is asked by several of them.

mod answers;
mod awaited;
mod bound;
pub mod broadcast;
mod callback;
pub mod callbacks;
pub mod checkpoint;
mod common;
pub mod data;
pub mod device;
pub mod initialisation;
mod job;
mod keras;
mod layer_variables;
mod leading_to_steps;
pub mod learning_rate;
mod meeting;
mod names;
mod obstacles;
pub mod optimizer;
pub mod output;
mod plan;
mod ranked;
pub mod schedule;
mod session;
mod shell_lines;
mod started;
mod step;
pub mod steps;
pub(crate) mod tape;
mod unstarted;
mod untracked;
mod untrained;

use crate::checks::Context;
use crate::finding::{Finding, Rule};

pub(crate) use callback::{Acts, Handed, Ranks, SHARES, hooks};
pub use common::Common;
pub use job::Job;
pub use names::{Api, Import, Name, Names};
pub(crate) use output::open_files::NOWHERE;
pub use step::{Outcome, Step};

/// A rule of distribution: its identity, and the steps that it still misses in a program.
#[derive(Debug)]
pub struct DistributionRule {
    /// Its identity and page.
    pub rule: Rule,
    /// The steps that are still to be made.
    pub steps: fn(&Job<'_>) -> Vec<Step>,
}

/// Defines a rule's static from its code, name and worst level, an error where it may not be possible to make the
/// step; the page is the file of its name.
macro_rules! distribution_rule {
    ($code:literal, $name:literal, $steps:path) => {
        crate::distribute::distribution_rule!($code, $name, $steps, Error);
    };
    ($code:literal, $name:literal, $steps:path, $level:ident) => {
        /// What the rule is called, and how its missing steps are found.
        pub static RULE: crate::distribute::DistributionRule = crate::distribute::DistributionRule {
            rule: crate::finding::Rule {
                code: $code,
                name: $name,
                group: crate::finding::Group::Distribution,
                level: crate::finding::Level::$level,
                page: include_str!(concat!("../../checks/", $name, ".md")),
            },
            steps: $steps,
        };
    };
}
pub(crate) use distribution_rule;

/// All rules but the first, which gives the others their imports, in the order of their codes.
pub static DISTRIBUTION: &[&DistributionRule] = &[
    &learning_rate::RULE,
    &schedule::RULE,
    &optimizer::RULE,
    &tape::RULE,
    &broadcast::RULE,
    &callbacks::RULE,
    &output::RULE,
    &checkpoint::RULE,
    &steps::RULE,
    &device::RULE,
    &data::RULE,
];

/// The rule that starts Horovod, and imports it where other steps need it.
pub static INITIALISATION: &DistributionRule = &initialisation::RULE;

/// The rule that each rank trains on its part of the data.
pub static DATA: &DistributionRule = &data::RULE;

/// The rules that find out of distributed programs what the checks of ranks tell: gradients that nobody averages.
const BETWEEN_RANKS: [&DistributionRule; 2] = [&optimizer::RULE, &tape::RULE];

/// What each program that trains still needs; `restrictions` are the findings of the restriction checks, whose
/// errors withhold the fixes.
#[must_use]
pub fn findings(context: Context<'_>, restrictions: &[Finding]) -> Vec<Finding> {
    plan::findings(context, restrictions)
}

/// What of this the checks of ranks tell. Its fixes bring no imports.
#[must_use]
pub fn findings_between_ranks(context: Context<'_>) -> Vec<Finding> {
    plan::findings_between_ranks(context, &BETWEEN_RANKS)
}
