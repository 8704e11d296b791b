//! A program uses Horovod, and steps with gradients that are not averaged over the ranks.
//!
//! Whether a loop's gradients are averaged is decided by the rules of distribution; they speak in this rule's name of
//! a program that communicates already.

use crate::finding::{Group, Level, Rule};

/// The rule.
pub static RULE: Rule = Rule {
    code: "HVD303",
    name: "gradients-not-averaged",
    group: Group::Ranks,
    level: Level::Error,
    page: include_str!("../../checks/gradients-not-averaged.md"),
};
