//! A file as edits see it: text, tokens, and the statements that the analysis knows.

use std::sync::{Arc, OnceLock};

use crate::finding::{Edit, Location};
use crate::program::Modules;
use crate::project::{FileId, Notebook, Project};
use crate::semantic::Module;
use crate::syntax::{self, TextRange, TextSize, TokenKind};

/// The texts that fixes are made for, each read when it is first asked for.
#[derive(Debug)]
pub struct Texts<'p> {
    project: &'p Project,
    modules: &'p Modules,
    files: Vec<OnceLock<Option<Lexed>>>,
}

/// A file's text with its tokens, which most edits can do without.
#[derive(Debug)]
pub(super) struct Lexed {
    pub(super) text: Arc<str>,
    /// Whose text it is.
    notebook: Option<Arc<Notebook>>,
    tokens: OnceLock<Vec<(TokenKind, TextRange)>>,
    /// The first indentation.
    indent: OnceLock<Option<TextRange>>,
    /// How the file ends its lines.
    pub(super) newline: &'static str,
}

impl<'p> Texts<'p> {
    /// The sources of a project that was analysed as `modules`; nothing is read yet.
    #[must_use]
    pub fn new(project: &'p Project, modules: &'p Modules) -> Self {
        Self { project, modules, files: project.files().iter().map(|_| OnceLock::new()).collect() }
    }

    /// The project that the sources are of.
    #[must_use]
    pub fn project(&self) -> &'p Project {
        self.project
    }

    /// The source of `module`, the analysed form of `file`; `None` if it can't be read any more, or has changed.
    #[must_use]
    pub fn get<'s>(&'s self, file: FileId, module: &'s Module) -> Option<Text<'s>> {
        let read = || {
            let document = self.project.document(file)?;
            if !self.modules.is_made_of(file, &document.text) {
                return None;
            }
            Some(Lexed { notebook: document.notebook, ..Lexed::new(document.text) })
        };
        let lexed = self.files[file.index()].get_or_init(read).as_ref()?;
        Some(Text { file, module, lexed, moved: &[] })
    }
}

impl Lexed {
    pub(super) fn new(text: Arc<str>) -> Self {
        let newline = match text.find(['\r', '\n']) {
            Some(at) if text[at..].starts_with("\r\n") => "\r\n",
            Some(at) if text[at..].starts_with('\r') => "\r",
            _ => "\n",
        };
        Self { text, notebook: None, tokens: OnceLock::new(), indent: OnceLock::new(), newline }
    }

    /// All tokens, found when they are first asked for.
    pub(super) fn tokens(&self) -> &[(TokenKind, TextRange)] {
        self.tokens.get_or_init(|| {
            let mut tokens = syntax::tokens(&self.text);
            // The end of a suite is a token of no length where the next statement begins.
            tokens.retain(|(_, range)| !range.is_empty());
            tokens
        })
    }

    /// One step of indentation.
    pub(super) fn unit(&self) -> &str {
        let first = || self.tokens().iter().find(|(kind, _)| *kind == TokenKind::Indent);
        let indent = self.indent.get_or_init(|| first().map(|&(_, range)| range));
        indent.map_or("    ", |range| &self.text[range])
    }
}

/// A file as edits see it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'s> {
    /// Which file.
    pub file: FileId,
    /// What the analysis knows of it.
    pub module: &'s Module,
    pub(super) lexed: &'s Lexed,
    /// The stretches of files that other edits move to the left.
    pub(super) moved: &'s [Moved],
}

/// A stretch of a file whose lines another edit moves to the level of the block around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Which file.
    pub file: FileId,
    /// Which lines.
    pub range: TextRange,
    /// The indentation that they have, in bytes.
    pub inner: usize,
    /// The indentation that they get.
    pub outer: usize,
}

impl<'s> Text<'s> {
    /// The same file, where other edits move these stretches.
    #[must_use]
    pub fn with_moved(self, moved: &'s [Moved]) -> Self {
        Self { moved, ..self }
    }

    /// The text at a place.
    #[must_use]
    pub fn slice(&self, range: TextRange) -> &'s str {
        &self.lexed.text[range]
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &'s str {
        &self.lexed.text
    }

    /// Puts `content` in the place of a range.
    #[must_use]
    pub fn replace(&self, range: TextRange, content: impl Into<String>) -> Edit {
        Edit { location: Location::new(self.file, range), content: content.into() }
    }

    /// Puts `content` at a position.
    #[must_use]
    pub fn insert(&self, at: TextSize, content: impl Into<String>) -> Edit {
        self.replace(TextRange::empty(at), content)
    }

    /// Whether statements in front of and behind a stretch can't be made one: they are in two cells of a notebook, or
    /// a command of it is between them.
    pub(super) fn is_parted(&self, range: TextRange) -> bool {
        let bytes = range.start().to_usize()..range.end().to_usize();
        self.lexed.notebook.as_ref().is_some_and(|notebook| notebook.is_parted(&bytes))
    }

    /// Whether a command of a notebook stands in a range that may change which modules can be imported.
    #[must_use]
    pub fn installs(&self, range: TextRange) -> bool {
        let bytes = range.start().to_usize()..range.end().to_usize();
        self.lexed.notebook.as_ref().is_some_and(|notebook| notebook.installs(&bytes))
    }

    /// The command of a notebook that begins at a place, as it is written, and its range.
    #[must_use]
    pub fn command(&self, at: TextSize) -> Option<(&'s str, TextRange)> {
        let command = self.lexed.notebook.as_ref()?.command(at.to_usize())?;
        Some((command, TextRange::at(at, TextSize::of(command))))
    }

    /// The tokens that begin within a range, comments and line ends included.
    pub(super) fn tokens(&self, range: TextRange) -> &'s [(TokenKind, TextRange)] {
        let tokens = self.lexed.tokens();
        let start = tokens.partition_point(|(_, token)| token.start() < range.start());
        let count = tokens[start..].partition_point(|(_, token)| token.start() < range.end());
        &tokens[start..start + count]
    }
}
