//! The keys of a configuration: their names, what they mean, and what their values look like.

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// A sentence about it.
    pub meaning: &'static str,
    /// What is written behind it.
    pub shape: Shape,
}

/// What the value of a key looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A list of checks.
    Checks,
    /// A list of path patterns.
    Patterns,
    /// A list of names.
    Names,
    /// True or false.
    Flag,
    /// A path, relative to the configuration.
    Path,
    /// `certain` or `possible`.
    Confidence,
    /// A library that distributes training.
    Framework,
    /// A table from checks to levels.
    Levels,
    /// A table from path patterns to lists of checks.
    ChecksOfFiles,
    /// A list of tables.
    Api,
}

const fn key(name: &'static str, shape: Shape, meaning: &'static str) -> Key {
    Key { name, meaning, shape }
}

/// All keys, by name.
pub const KEYS: [Key; 13] = [
    key("api", Shape::Api, "What third-party names are."),
    key("baseline", Shape::Path, "The file of findings that are known and not reported."),
    key("confidence", Shape::Confidence, "The least confidence of a finding that is reported."),
    key("entry", Shape::Names, "The modules that are run, where the analysis should not guess."),
    key("exclude", Shape::Patterns, "Files and folders that are left out, in place of the usual ones."),
    key("extend-exclude", Shape::Patterns, "More files and folders that are left out."),
    key("extend-select", Shape::Checks, "Checks that run in addition."),
    key("framework", Shape::Framework, "What the programs are distributed with."),
    key("ignore", Shape::Checks, "Checks that do not run."),
    key("levels", Shape::Levels, "Levels other than the checks' own."),
    key("per-file-ignores", Shape::ChecksOfFiles, "Checks whose findings in some files are not reported."),
    key("select", Shape::Checks, "The checks that run; all where it is missing."),
    key("strict", Shape::Flag, "Whether every restriction holds to the letter."),
];
