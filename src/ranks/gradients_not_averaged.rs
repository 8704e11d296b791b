//! A distributed tape or optimizer is made, and the program trains with the plain one all the same.
//!
//! Whether a loop's gradients are averaged is decided by the rules of distribution, which report the loops that
//! nothing distributes; they speak in this rule's name where something does, in vain.

use crate::finding::{Group, Level, Rule};

/// The rule.
pub static RULE: Rule = Rule {
    code: "HVD303",
    name: "gradients-not-averaged",
    group: Group::Ranks,
    level: Level::Error,
    page: include_str!("../../checks/gradients-not-averaged.md"),
};
