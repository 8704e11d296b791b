//! The checks: each a question to the facts, in a file of its own.

mod bindings;
mod global_bindings;
pub mod global_optimizer_order;
pub mod import_not_at_top;
pub mod tensorflow_member_aliased;
pub mod tensorflow_module_reassigned;
pub mod tool;
mod top_of_module;

use crate::finding::{Finding, Level, Rule};
use crate::program::Facts;

/// What a check is given.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Everything that is known of the project.
    pub facts: &'a Facts<'a>,
    /// Every restriction to the letter: what is a warning is an error.
    pub strict: bool,
}

impl Context<'_> {
    /// The level of a violation that the analysis can still follow: a warning, to the letter an error.
    #[must_use]
    pub fn warning(&self) -> Level {
        if self.strict { Level::Error } else { Level::Warning }
    }
}

/// A check: what it is called, and how it is decided.
#[derive(Debug)]
pub struct Check {
    /// Its identity and page.
    pub rule: Rule,
    /// Finds the violations in files of training programs, in any order.
    pub run: fn(Context<'_>) -> Vec<Finding>,
}

/// Defines a check's static from its code, name, group and worst level; the page is the file of its name.
macro_rules! check {
    ($code:literal, $name:literal, $group:ident, $level:ident, $run:path) => {
        /// What the check is called, and how it is decided.
        pub static CHECK: crate::checks::Check = crate::checks::Check {
            rule: crate::finding::Rule {
                code: $code,
                name: $name,
                group: crate::finding::Group::$group,
                level: crate::finding::Level::$level,
                page: include_str!(concat!("../../checks/", $name, ".md")),
            },
            run: $run,
        };
    };
}
pub(crate) use check;

/// All checks, in the order of their codes.
pub static CHECKS: &[&Check] = &[
    &import_not_at_top::CHECK,
    &tensorflow_module_reassigned::CHECK,
    &tensorflow_member_aliased::CHECK,
    &global_optimizer_order::CHECK,
];

/// The rules of all checks and the tool's own.
pub static RULES: &[&Rule] = &[
    &import_not_at_top::CHECK.rule,
    &tensorflow_module_reassigned::CHECK.rule,
    &tensorflow_member_aliased::CHECK.rule,
    &global_optimizer_order::CHECK.rule,
    &tool::INVALID_SYNTAX,
    &tool::UNUSED_SUPPRESSION,
];
