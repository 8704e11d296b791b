//! What a check has to say: one value that every report format, suppression and fix reads.

use std::fmt;

use crate::project::FileId;
use crate::syntax::TextRange;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth knowing; nothing has to be done.
    Note,
    /// Outside the published subset, but the analysis still follows the object.
    Warning,
    /// The object can't be followed, or the program would go wrong.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// How sure the analysis is. *Possible* findings are hidden unless asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A fact that the finding rests on is unknown.
    Possible,
    /// Every fact that the finding rests on is known.
    Certain,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Possible => "possible",
            Self::Certain => "certain",
        })
    }
}

/// The family of a check; people select by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The seed's ten restrictions on the program (HVD001 to HVD010).
    Restriction,
    /// The seed's five restrictions on the training loop (HVD101 to HVD105).
    TrainingLoop,
    /// What a program needs to train with Horovod (`HVD2xx`).
    Distribution,
    /// What keeps the ranks of a distributed program in step and equal (`HVD3xx`).
    Ranks,
    /// Traced code that does not do what its text says (`HVD4xx`).
    Graph,
    /// The tool's own findings (`HVD9xx`).
    Tool,
}

impl Group {
    /// The name that people type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Restriction => "restriction",
            Self::TrainingLoop => "training-loop",
            Self::Distribution => "distribution",
            Self::Ranks => "ranks",
            Self::Graph => "graph",
            Self::Tool => "tool",
        }
    }
}

/// What a program is brought into order by, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// It parses and keeps the restrictions.
    Form,
    /// It trains with Horovod. What it still needs shows when its form is in order.
    Distribution,
}

impl Group {
    /// The stage that the group's findings belong to.
    #[must_use]
    pub fn stage(self) -> Stage {
        match self {
            Self::Restriction | Self::TrainingLoop | Self::Graph | Self::Tool => Stage::Form,
            Self::Distribution | Self::Ranks => Stage::Distribution,
        }
    }
}

/// A check's identity and page. The name is what people type; the code never changes.
#[derive(Debug)]
pub struct Rule {
    /// `HVD005`; also the `ruleId` in SARIF.
    pub code: &'static str,
    /// Kebab-case, naming the fault, reading well after "ignore".
    pub name: &'static str,
    /// The family that it is selected with.
    pub group: Group,
    /// The level of its worst finding: what a rule's default configuration says.
    pub level: Level,
    /// The Markdown page from `checks/`.
    pub page: &'static str,
}

/// A place in a file: bytes of the decoded source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The file.
    pub file: FileId,
    /// Where in it, in bytes from its beginning.
    pub range: SpanRange,
}

/// An orderable `TextRange`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl From<TextRange> for SpanRange {
    fn from(range: TextRange) -> Self {
        Self { start: range.start().to_u32(), end: range.end().to_u32() }
    }
}

impl Location {
    /// The place `range` in `file`.
    #[must_use]
    pub fn new(file: FileId, range: TextRange) -> Self {
        Self { file, range: range.into() }
    }

    /// The same place as the parser's range type.
    #[must_use]
    pub fn text_range(self) -> TextRange {
        TextRange::new(self.range.start.into(), self.range.end.into())
    }
}

/// A further place that makes the finding understandable, with two to five words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub location: Location,
    /// What is to be seen there; empty on a primary place that the message explains.
    pub message: String,
}

/// Whether a fix keeps the program's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applicability {
    /// Only with `--unsafe-fixes`.
    Unsafe,
    /// With `--fix`.
    Safe,
}

/// One replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub location: Location,
    /// What stands there afterwards.
    pub content: String,
}

/// A change of the source that removes the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Whether it is applied by `--fix`.
    pub applicability: Applicability,
    /// What it does, in the imperative.
    pub message: String,
    /// Sorted, not overlapping. An edit that several fixes share word for word, such as an import, is made once.
    pub edits: Vec<Edit>,
    /// A program's entry module: fixes with the same unit are right only together, so that all of them are applied
    /// or none. A fix without a unit is right by itself.
    pub unit: Option<FileId>,
}

impl Fix {
    /// Both changes as one, if they are right with the same others.
    #[must_use]
    pub fn with(mut self, other: Self) -> Option<Self> {
        if self.unit != other.unit {
            return None;
        }
        self.applicability = self.applicability.min(other.applicability);
        self.edits
            .extend(other.edits.into_iter().filter(|edit| !self.edits.contains(edit)).collect::<Vec<_>>());
        self.edits.sort_by_key(|edit| edit.location);
        Some(self)
    }
}

/// A violated rule at a place, with everything that the reports say about it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Which check.
    pub rule: &'static Rule,
    /// How bad.
    pub level: Level,
    /// How sure.
    pub confidence: Confidence,
    /// Whether a fix must not cause it though it is only possible: it is certain for who starts several ranks there, or for one
    /// of several objects that one place makes.
    pub forbids_fixes: bool,
    /// One lower-case clause, no final period, true on its own.
    pub message: String,
    /// Where it is reported, and a short label for the place (may be empty).
    pub primary: Label,
    /// The places that make it a violation; reports show the first four.
    pub labels: Vec<Label>,
    /// Full sentences that add what the labels can't say.
    pub notes: Vec<String>,
    /// What to do, in the imperative.
    pub help: Option<String>,
    /// The way from the training loop to the culprit, in order of execution; may be empty.
    pub flow: Vec<Label>,
    /// The change that removes it.
    pub fix: Option<Fix>,
    /// Qualified name of the enclosing function or class within its module; empty at module level.
    pub scope: String,
}

impl Finding {
    /// A certain finding without labels, notes, help or fix.
    #[must_use]
    pub fn new(rule: &'static Rule, level: Level, location: Location, message: impl Into<String>) -> Self {
        Self {
            rule,
            level,
            confidence: Confidence::Certain,
            forbids_fixes: false,
            message: message.into(),
            primary: Label { location, message: String::new() },
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            flow: Vec::new(),
            fix: None,
            scope: String::new(),
        }
    }

    /// Whether it is certain, and says what happens when a program runs: between ranks, or in a graph.
    #[must_use]
    pub fn is_certain_of_runs(&self) -> bool {
        matches!(self.rule.group, Group::Ranks | Group::Graph) && self.confidence == Confidence::Certain
    }

    /// Names the primary place.
    #[must_use]
    pub fn here(mut self, message: impl Into<String>) -> Self {
        self.primary.message = message.into();
        self
    }

    /// Adds a secondary place.
    #[must_use]
    pub fn label(mut self, location: Location, message: impl Into<String>) -> Self {
        self.labels.push(Label { location, message: message.into() });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Lowers the confidence when a fact is unknown.
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// Adds the change that removes it.
    #[must_use]
    pub fn mended_by(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Sets the enclosing scope's qualified name.
    #[must_use]
    pub fn in_scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }
}
