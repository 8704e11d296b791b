//! The tool's own checks: what it has to say about files that it can't read and comments that do nothing.

use crate::finding::{Group, Level, Rule};

/// A file that can't be parsed whole; the rest of it, and of the project, is still analysed.
pub static INVALID_SYNTAX: Rule = Rule {
    code: "HVD901",
    name: "invalid-syntax",
    group: Group::Tool,
    level: Level::Error,
    page: include_str!("../../checks/invalid-syntax.md"),
};

/// A line of the baseline whose finding is gone.
pub static STALE_BASELINE_ENTRY: Rule = Rule {
    code: "HVD903",
    name: "stale-baseline-entry",
    group: Group::Tool,
    level: Level::Warning,
    page: include_str!("../../checks/stale-baseline-entry.md"),
};

/// A comment that is meant to suppress a finding and suppresses none.
pub static UNUSED_SUPPRESSION: Rule = Rule {
    code: "HVD902",
    name: "unused-suppression",
    group: Group::Tool,
    level: Level::Warning,
    page: include_str!("../../checks/unused-suppression.md"),
};
