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

mod awaited;
mod batch_states;
mod bound;
pub mod broadcast;
mod by_hand;
mod cache_files;
mod callback;
pub mod callbacks;
pub mod checkpoint;
mod choices;
mod chosen_forms;
mod commands;
mod copied;
mod counted;
mod cut_short;
pub mod data;
mod decided_by_first;
mod decisions;
mod default_texts;
pub mod device;
mod downloads;
mod drawn_constants;
mod draws;
mod evaluation_callbacks;
mod evaluations;
mod fed_generators;
mod fetched;
mod file_waits;
mod for_all;
mod forms;
mod frozen;
mod graph_draws;
mod graph_gradients;
mod held_out;
mod hidden_members;
pub mod initialisation;
mod inputs;
mod instances;
mod job;
mod kept_copies;
mod keras;
mod later_variables;
mod layer_code;
pub mod learning_rate;
mod left_behind;
mod loading;
mod lookups;
mod lost_parts;
mod maker;
mod meeting;
mod moved_seeds;
mod names;
mod obstacles;
mod old_graphs;
mod open_files;
pub mod optimizer;
mod other_fits;
pub mod output;
mod own_lengths;
mod path_texts;
mod plan;
mod preparation;
mod printed;
mod progress_bars;
mod raced_steps;
mod raised;
mod rank_local;
mod ranked;
mod rate_changes;
mod rates;
mod read_before;
mod recompiled;
mod relied_steps;
mod remade;
pub mod schedule;
mod sent;
mod session;
mod session_choices;
mod session_runs;
mod set_by_gradients;
mod shared_rates;
mod site;
mod spoken;
mod started;
mod step;
mod step_threads;
pub mod steps;
mod survived_errors;
pub(crate) mod tape;
mod told_paths;
mod typed_input;
mod unknown_writers;
mod unstarted;
mod untrained;
mod verbose;
mod waiting;
mod writes;
mod writing_callbacks;

use crate::checks::Context;
use crate::finding::{Finding, Rule};

pub(crate) use callback::{Acts, Handed, Ranks, SHARES, hooks};
pub use job::{Common, Job};
pub use names::{Api, Import, Name, Names};
pub(crate) use open_files::NOWHERE;
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
    plan::findings(context.facts, context.texts, restrictions)
}

/// What of this the checks of ranks tell. Its fixes bring no imports.
#[must_use]
pub fn findings_between_ranks(context: Context<'_>) -> Vec<Finding> {
    plan::findings_between_ranks(context.facts, context.texts, &BETWEEN_RANKS)
}
