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

mod blocks;
pub mod broadcast_without_effect;
pub mod gradients_not_averaged;
mod lengths;
pub mod misused_horovod_api;
mod model;
pub mod order_differs_between_ranks;
pub mod rank_not_called;
mod seeds;
mod values;
pub mod wrong_horovod_module;

pub use blocks::{Blocks, Contents};
pub use model::Model;
pub use values::{Cause, Difference, Values};

use crate::checks::{Check, Context};
use crate::finding::{Finding, Rule};

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
pub static RANKS: &[&RanksCheck] = &[&order_differs_between_ranks::CHECK];

/// The checks of the group that look at single calls and names of Horovod, wherever it is started; no model is needed.
pub static MISUSES: &[&Check] = &[
    &broadcast_without_effect::CHECK,
    &rank_not_called::CHECK,
    &wrong_horovod_module::CHECK,
    &misused_horovod_api::CHECK,
];

/// What the checks of the group find in the programs that use Horovod.
#[must_use]
pub fn findings(context: Context<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = MISUSES.iter().flat_map(|check| (check.run)(context)).collect();
    if let Some(model) = Model::new(context.facts, context.texts) {
        found.extend(RANKS.iter().flat_map(|check| (check.run)(&model)));
    }
    found
}
