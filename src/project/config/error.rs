//! A mistake in a configuration, shown with the line that it is on.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where and what a mistake in a configuration is. `Display` shows the line; the help is for the caller to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The configuration.
    pub path: PathBuf,
    /// From 1.
    pub line: usize,
    /// From 1, in code points.
    pub column: usize,
    /// The line, without what a terminal would not print.
    pub source_line: String,
    /// How much of the line is meant, in code points, at least 1.
    pub width: usize,
    /// One lower-case clause.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl ConfigError {
    /// A mistake at these bytes of `text`.
    #[must_use]
    pub fn new(
        path: &Path,
        text: &str,
        span: Range<usize>,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let meant = text.get(span).unwrap_or_default().lines().next().unwrap_or_default();
        Self {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            source_line: line.chars().map(|char| if char.is_control() { ' ' } else { char }).collect(),
            width: meant.chars().count().max(1),
            what: what.into(),
            help: help.into(),
        }
    }
}

impl ConfigError {
    /// Another mistake at the same place.
    #[must_use]
    pub fn saying(&self, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into(), ..self.clone() }
    }
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{}", self.what)?;
        writeln!(f, "{margin}--> {}:{}:{}", self.path.display(), self.line, self.column)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.source_line)?;
        write!(f, "{margin} | {}{}", " ".repeat(self.column - 1), "^".repeat(self.width))
    }
}
