//! People's positions: from bytes of a document to lines and columns.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use serde::Serialize;

use crate::finding::Location;
use crate::project::{CellNumber, Document, Documents, FileId};
use crate::syntax::{LineIndex, TextSize};

/// A place between two characters. A line ends at LF, CR LF or a lone CR; a tab is one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Position {
    /// 1-based.
    pub line: usize,
    /// 1-based, in Unicode code points.
    pub column: usize,
}

/// A stretch of text: `end` is the position after its last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Span {
    /// Where it begins.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
}

/// What people see as one text: a file, or a cell of a notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// Of a file, relative to the project root, with `/`.
    pub path: &'a str,
    /// Which cell, if it is one.
    pub cell: Option<CellNumber>,
    /// As it was written.
    pub text: &'a str,
    /// Where its text begins in that of the document, in bytes.
    pub start: usize,
}

/// `train.py`, `tutorial.ipynb:cell 3`.
impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path)?;
        self.cell.map_or(Ok(()), |CellNumber(number)| write!(f, ":cell {number}"))
    }
}

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Unicode code points, as people's formats and JSON do.
    CodePoints,
    /// UTF-16 code units, as SARIF's readers do.
    Utf16,
    /// Bytes of UTF-8, as reviewdog does.
    Bytes,
}

impl Columns {
    fn count(self, text: &str) -> usize {
        match self {
            Self::CodePoints => text.chars().count(),
            Self::Utf16 => text.encode_utf16().count(),
            Self::Bytes => text.len(),
        }
    }
}

/// The documents with their line tables, each of which is made when it is first needed. Every file that its
/// methods are asked about must be one of the documents.
#[derive(Debug)]
pub struct Sources<'a> {
    documents: &'a Documents,
    lines: BTreeMap<FileId, OnceLock<LineIndex>>,
}

impl<'a> Sources<'a> {
    /// The documents that a report points into.
    #[must_use]
    pub fn new(documents: &'a Documents) -> Self {
        Self { documents, lines: documents.keys().map(|file| (*file, OnceLock::new())).collect() }
    }

    /// What it was made of.
    #[must_use]
    pub fn documents(&self) -> &'a Documents {
        self.documents
    }

    fn document(&self, file: FileId) -> &'a Document {
        self.documents.get(&file).expect("every location points into one of the documents")
    }

    fn lines(&self, file: FileId) -> &LineIndex {
        let lines = self.lines.get(&file).expect("every document has a place for its lines");
        lines.get_or_init(|| LineIndex::from_source_text(&self.document(file).text))
    }

    /// Relative to the project root, with `/`.
    #[must_use]
    pub fn path(&self, file: FileId) -> &'a str {
        &self.document(file).path
    }

    /// The whole text of a file.
    #[must_use]
    pub fn text(&self, file: FileId) -> &'a str {
        &self.document(file).text
    }

    /// The whole text of a file as it was written, byte for byte where [`Self::text`] has it.
    #[must_use]
    pub fn shown(&self, file: FileId) -> &'a str {
        let document = self.document(file);
        document.notebook.as_ref().map_or(&document.text, |notebook| notebook.shown())
    }

    /// The bytes of a location, moved to the nearest characters where they are not between any.
    #[must_use]
    pub fn bytes(&self, location: Location) -> Range<usize> {
        let text = self.text(location.file);
        let start = text.floor_char_boundary(location.range.start as usize);
        let end = text.floor_char_boundary(location.range.end as usize);
        start..end.max(start)
    }

    /// The text at a location.
    #[must_use]
    pub fn snippet(&self, location: Location) -> &'a str {
        &self.text(location.file)[self.bytes(location)]
    }

    /// The line and column of a byte.
    ///
    /// # Panics
    ///
    /// Panics where `file` is not among the documents.
    #[must_use]
    pub fn position(&self, file: FileId, byte: usize) -> Position {
        let text = self.text(file);
        let byte = u32::try_from(text.floor_char_boundary(byte)).expect("a document is smaller than 4 GiB");
        let position = self.lines(file).line_column(TextSize::new(byte), text);
        Position { line: position.line.get(), column: position.column.get() }
    }

    /// The lines and columns of a location.
    #[must_use]
    pub fn span(&self, location: Location) -> Span {
        let bytes = self.bytes(location);
        Span {
            start: self.position(location.file, bytes.start),
            end: self.position(location.file, bytes.end),
        }
    }

    /// The page that a byte is on.
    #[must_use]
    pub fn page(&self, file: FileId, byte: usize) -> Page<'a> {
        let document = self.document(file);
        let path = document.path.as_str();
        match document.notebook.as_deref().map(|notebook| (notebook, notebook.cell(byte))) {
            Some((notebook, Some((number, lines)))) => {
                Page { path, cell: Some(number), text: &notebook.shown()[lines.clone()], start: lines.start }
            }
            _ => Page { path, cell: None, text: &document.text, start: 0 },
        }
    }

    /// The line and column on the page that a byte is on.
    #[must_use]
    pub fn position_on_page(&self, file: FileId, byte: usize) -> Position {
        let first = self.position(file, self.page(file, byte).start).line;
        let position = self.position(file, byte);
        Position { line: (position.line + 1).saturating_sub(first).max(1), ..position }
    }

    /// The page and line of a location, for people: `train.py:3`.
    #[must_use]
    pub fn page_and_line(&self, location: Location) -> String {
        let start = self.bytes(location).start;
        format!("{}:{}", self.page(location.file, start), self.position_on_page(location.file, start).line)
    }

    /// The page, line and column of a location, for people: `train.py:3:5`.
    #[must_use]
    pub fn place(&self, location: Location) -> String {
        let start = self.bytes(location).start;
        let column = self.position_on_page(location.file, start).column;
        format!("{}:{column}", self.page_and_line(location))
    }

    /// The line (1-based) of a location in the file as it is on the disk.
    #[must_use]
    pub fn line_in_file(&self, location: Location) -> usize {
        let bytes = self.bytes(location);
        match self.document(location.file).notebook.as_deref() {
            None => self.position(location.file, bytes.start).line,
            Some(notebook) => {
                let before = notebook.file()[..notebook.in_file(bytes).start].bytes();
                before.filter(|byte| *byte == b'\n').count() + 1
            }
        }
    }

    /// What a reader that takes every file for UTF-8 reads, with the byte order mark.
    #[must_use]
    pub fn as_utf8(&self, file: FileId) -> &'a str {
        let document = self.document(file);
        document.as_utf8.as_deref().unwrap_or(&document.text)
    }

    /// The lines and columns of bytes of [`Self::text`].
    #[must_use]
    pub fn span_of_bytes(&self, file: FileId, bytes: Range<usize>, columns: Columns) -> Span {
        let text = self.text(file);
        let starts = self.lines(file).line_starts();
        let position = |byte: usize| {
            let line = starts.partition_point(|start| start.to_usize() <= byte);
            let start = starts[line - 1].to_usize();
            Position { line, column: columns.count(&text[start..byte]) + 1 }
        };
        Span { start: position(bytes.start), end: position(bytes.end) }
    }

    /// The lines and columns of a location as machines are told them.
    #[must_use]
    pub fn machine_span(&self, location: Location, columns: Columns) -> Span {
        self.span_of_bytes(location.file, self.bytes(location), columns)
    }

    /// The bytes of a line (1-based) without its end; `None` behind the last line.
    #[must_use]
    pub fn line(&self, file: FileId, line: usize) -> Option<Range<usize>> {
        let text = self.text(file);
        let starts = self.lines(file).line_starts();
        let start = starts.get(line.checked_sub(1)?)?.to_usize();
        let next = starts.get(line).map_or(text.len(), TextSize::to_usize);
        let end = start + text[start..next].trim_end_matches(['\r', '\n']).len();
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{at, documents};

    fn start(text: &str, needle: &str) -> (usize, usize) {
        let documents = documents(&[("a.py", text)]);
        let span = Sources::new(&documents).span(at(&documents, "a.py", needle));
        (span.start.line, span.start.column)
    }

    #[test]
    fn columns_count_code_points() {
        assert_eq!(start("x = '🙂'; y = 1", "y"), (1, 10));
        assert_eq!(start("名前 = 訓練(损失)", "损"), (1, 9));
        assert_eq!(start("e\u{301} = 1", "="), (1, 4), "a combining mark is a code point of its own");
    }

    #[test]
    fn machines_count_what_their_readers_count() {
        let documents = documents(&[("a.py", "x\ne = '🙂é'; y = 1\n")]);
        let sources = Sources::new(&documents);
        let place = at(&documents, "a.py", "y = 1");
        let columns = |columns| {
            let span = sources.machine_span(place, columns);
            (span.start.line, span.start.column, span.end.column)
        };
        assert_eq!(columns(Columns::CodePoints), (2, 11, 16));
        assert_eq!(columns(Columns::Utf16), (2, 12, 17));
        assert_eq!(columns(Columns::Bytes), (2, 15, 20));
    }

    #[test]
    fn a_tab_is_one_column() {
        assert_eq!(start("if x:\n\ty = 1", "y"), (2, 2));
    }

    #[test]
    fn lines_end_at_lf_crlf_and_lone_cr() {
        assert_eq!(start("a\r\nb\rc\nd", "d"), (4, 1));
        assert_eq!(start("a\r\nb\rc\nd", "c"), (3, 1));
        assert_eq!(start("a\x0cb\u{2028}c", "c"), (1, 5), "a form feed or a line separator ends no line");
    }

    #[test]
    fn a_place_behind_the_text_or_inside_a_character_is_moved_into_it() {
        let documents = documents(&[("a.py", "é\n")]);
        let sources = Sources::new(&documents);
        assert_eq!(sources.position(FileId(0), 1), Position { line: 1, column: 1 });
        assert_eq!(sources.position(FileId(0), 99), Position { line: 2, column: 1 });
    }

    #[test]
    fn lines_are_given_without_their_ends() {
        let documents = documents(&[("a.py", "ab\r\n\r\nc")]);
        let sources = Sources::new(&documents);
        assert_eq!(sources.line(FileId(0), 1), Some(0..2));
        assert_eq!(sources.line(FileId(0), 2), Some(4..4));
        assert_eq!(sources.line(FileId(0), 3), Some(6..7));
        assert_eq!(sources.line(FileId(0), 4), None);
        assert_eq!(sources.line(FileId(0), 0), None);
    }
}
