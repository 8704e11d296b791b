//! The model of the ranks: do the processes of a distributed program stay in step, and equal?
//!
//! Every rank runs the same source. What makes them differ are a few values: the rank's number, its data, the clock,
//! files. The model follows these values ([`Values`]) and asks what depends on them: which collectives a rank takes
//! part in, what its variables hold, what it writes, which names it binds. The checks of the group `ranks` are
//! questions to this [`Model`], a file each.
//!
//! ```text
//! Facts ──▶ Model ──────────────────────────▶ checks ──▶ Findings
//!           programs that use Horovod,
//!           values that differ, guards, ...
//! ```
//!
//! A project in which no program uses Horovod has no model: nothing of this room costs it anything.

mod alone;
mod alongside;
pub mod apart;
mod blocks;
pub mod broadcast_without_effect;
mod callbacks;
mod change;
mod closed;
mod comms;
mod destination;
mod disorder;
mod environment;
mod exits;
mod failing;
mod file_questions;
pub mod gradients_not_averaged;
mod guards;
mod layer_names;
mod layer_sizes;
mod lengths;
mod made;
pub mod misused_horovod_api;
mod model;
pub mod name_missing;
mod numbers;
pub mod order_differs_between_ranks;
pub mod out_of_step;
mod overrides;
pub mod proof;
pub mod rank_not_called;
pub mod replicas_diverge;
mod seeds;
mod unreached;
mod values;
pub mod write_on_every_rank;
pub mod wrong_horovod_module;

pub use alone::Alone;
pub use blocks::{Blocks, Contents};
pub(crate) use callbacks::{
    are_unknown as has_unknown_callback, may_broadcast as has_callback_that_may_broadcast,
};
pub use comms::Comms;
pub use guards::{Atom, Guard, Key, Literal, Number};
pub use model::Model;
pub use numbers::Numbers;
pub use overrides::Overrides;
pub use proof::{Proof, proofs};
pub use seeds::{given_seed, has_own_seed};
pub use values::{Cause, Difference, Values};

use crate::checks::{Check, Context};
use crate::distribute;
use crate::finding::{Finding, Fix, Group, Rule};

/// A check of the group `ranks`: its identity, and the question that it asks.
#[derive(Debug)]
pub struct RanksCheck {
    /// Its identity and page.
    pub rule: Rule,
    /// What it finds in the programs that use Horovod, in any order.
    pub run: fn(&Model<'_>) -> Vec<Finding>,
}

/// Defines a check's static from its code, name and worst level; the page is the file of its name.
macro_rules! ranks_check {
    ($code:literal, $name:literal, $level:ident, $run:path) => {
        /// What the check is called, and how it is decided.
        pub static CHECK: crate::ranks::RanksCheck = crate::ranks::RanksCheck {
            rule: crate::finding::Rule {
                code: $code,
                name: $name,
                group: crate::finding::Group::Ranks,
                level: crate::finding::Level::$level,
                page: include_str!(concat!("../../checks/", $name, ".md")),
            },
            run: $run,
        };
    };
}
pub(crate) use ranks_check;

/// All checks of the group, in the order of their codes.
pub static RANKS: &[&RanksCheck] = &[
    &out_of_step::CHECK,
    &replicas_diverge::CHECK,
    &write_on_every_rank::CHECK,
    &name_missing::CHECK,
    &order_differs_between_ranks::CHECK,
];

/// The checks of the group that look at single calls and names of Horovod, wherever it is started; no model is needed.
pub static MISUSES: &[&Check] = &[
    &broadcast_without_effect::CHECK,
    &rank_not_called::CHECK,
    &wrong_horovod_module::CHECK,
    &misused_horovod_api::CHECK,
];

/// Takes out what a rule of distribution says of a fault that a check of the ranks says too: the ranks know more of a
/// program that communicates already. The rule's fix goes to the finding that stays.
pub fn say_once(findings: &mut Vec<Finding>) {
    if !findings.iter().any(|finding| finding.rule.group == Group::Ranks) {
        return;
    }
    let (mut own, others): (Vec<Finding>, Vec<Finding>) =
        std::mem::take(findings).into_iter().partition(|finding| finding.rule.group == Group::Ranks);
    // What is right for a place that writes is so together with what is right where the path is told.
    let mut together: Vec<(usize, Option<Fix>)> = Vec::new();
    for other in others {
        match own.iter().position(|own| is_same_fault(own, &other)) {
            Some(index) if write_on_every_rank::is_written_at(&own[index], other.primary.location) => {
                together.push((index, other.fix));
            }
            Some(index) => own[index].fix = own[index].fix.take().or(other.fix),
            None => findings.push(other),
        }
    }
    for (index, fix) in together {
        own[index].fix = own[index].fix.take().zip(fix).and_then(|(own, other)| own.with(other));
    }
    findings.append(&mut own);
}

fn is_same_fault(own: &Finding, other: &Finding) -> bool {
    let (here, there) = (own.primary.location, other.primary.location);
    let is_rule = |rules: [&Rule; 2]| rules.iter().any(|rule| rule.code == other.rule.code);
    if own.rule.code == write_on_every_rank::CHECK.rule.code {
        return (here == there || write_on_every_rank::is_written_at(own, there))
            && is_rule([&distribute::output::RULE.rule, &distribute::checkpoint::RULE.rule]);
    }
    if is_rule([&distribute::callbacks::RULE.rule; 2]) {
        let codes = [out_of_step::CHECK.rule.code, replicas_diverge::CHECK.rule.code];
        return here == there && codes.contains(&own.rule.code);
    }
    // The rule points at the first step, the check at the loop around it.
    own.rule.code == replicas_diverge::CHECK.rule.code
        && here.file == there.file
        && is_rule([&distribute::broadcast::RULE.rule; 2])
}

/// What the checks of the group find in the programs that use Horovod.
#[must_use]
pub fn findings(context: Context<'_>) -> Vec<Finding> {
    let of_misuses = |check: &&Check| context.unless_cancelled(|| (check.run)(context));
    let mut found: Vec<Finding> = MISUSES.iter().flat_map(of_misuses).collect();
    if let Some(model) = Model::new(context.facts, context.texts) {
        found.extend(RANKS.iter().flat_map(|check| context.unless_cancelled(|| (check.run)(&model))));
    }
    found
}
