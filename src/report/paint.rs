//! Colours for terminals, where they are wanted.

use std::fmt;
use std::io::{self, Write};

use crate::finding::Level;

/// A way to set off text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ink {
    /// As it is.
    #[default]
    Plain,
    Bold,
    Dim,
    Heading,
    Code,
    Link,
    Added,
    Removed,
    Warning,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Heading => "1;35",
            Self::Code => "36",
            Self::Link => "4",
            Self::Added => "32",
            Self::Removed => "31",
            Self::Warning => "33",
        }
    }
}

impl Ink {
    /// Writes bytes of any encoding, set off where `color` says so.
    pub(crate) fn paint(self, bytes: &[u8], color: bool, out: &mut dyn Write) -> io::Result<()> {
        if !color || self == Self::Plain || bytes.is_empty() {
            return out.write_all(bytes);
        }
        write!(out, "\x1b[{}m", self.code())?;
        out.write_all(bytes)?;
        out.write_all(b"\x1b[0m")
    }
}

impl From<Level> for Ink {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Removed,
            Level::Warning => Self::Warning,
            Level::Note => Self::Added,
        }
    }
}

/// `text`, set off by `ink` if `color` says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Painted<'t> {
    pub(super) text: &'t str,
    pub(super) ink: Ink,
    pub(super) color: bool,
}

impl fmt::Display for Painted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.color || self.ink == Ink::Plain || self.text.is_empty() {
            return f.write_str(self.text);
        }
        write!(f, "\x1b[{}m{}\x1b[0m", self.ink.code(), self.text)
    }
}
