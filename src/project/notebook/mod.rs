//! A notebook as one Python source: the code of its cells in order, with a comment between each two.
//!
//! Everything behind this room sees that source and nothing of the notebook. Commands of `IPython` are hidden in it
//! behind Python of the same length ([`commands`]), so that every byte of the source is a byte of a cell. [`source`]
//! knows where that byte stands in the file, and what a change of the source is as a change of the file: outside of
//! the code that changes, a file keeps every byte.

mod cells;
mod commands;
mod source;
#[cfg(test)]
mod tests;
mod write;

use std::ops::Range;
use std::sync::Arc;

use super::{Undecodable, Unencodable};
use cells::Cells;
use commands::Hidden;
use source::Source;

/// The words of commands behind which other modules can be imported than in front of them.
const INSTALLING: [&str; 10] =
    ["install", "clone", "cd", "%cd", "unzip", "tar", "wget", "curl", "%%file", "%%writefile"];

/// A notebook of format 4.
#[derive(Debug, PartialEq, Eq)]
pub struct Notebook {
    file: Arc<str>,
    text: Arc<str>,
    shown: Arc<str>,
    /// Those with Python.
    cells: Vec<Cell>,
    /// The commands that the text hides, in its order, and where.
    hidden: Vec<(usize, String)>,
    escapes: Escapes,
}

/// A cell of code.
#[derive(Debug, PartialEq, Eq)]
struct Cell {
    number: CellNumber,
    /// Its code in the text, with the line end that is added to it.
    lines: Range<usize>,
    source: Source,
}

/// A cell's place among all cells of its notebook, those without code too, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellNumber(pub usize);

/// How a file writes the characters that JSON lets it write in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    /// `\u00e9`
    AllButAscii,
    /// `é`
    WhatMustBe,
}

impl Notebook {
    /// Reads a notebook; `file` is the text of the file without byte order mark.
    ///
    /// # Errors
    ///
    /// It is no JSON, or no notebook of format 4.
    pub fn parse(file: Arc<str>) -> Result<Self, Undecodable> {
        let Cells { language, list } = cells::read(&file)?;
        let (mut text, mut shown) = (String::new(), String::new());
        let (mut cells, mut hidden) = (Vec::new(), Vec::new());
        for (number, source) in list.into_iter().filter(|_| language.is_python()) {
            let Some(Hidden { python, commands }) = commands::hide(&source.text) else { continue };
            if !cells.is_empty() {
                text.push_str(&separator(number));
                shown.push_str(&separator(number));
            }
            let start = text.len();
            text.push_str(&python);
            text.push('\n');
            shown.push_str(&source.text);
            shown.push('\n');
            hidden.extend(commands.into_iter().map(|(at, command)| (start + at, command)));
            cells.push(Cell { number, lines: start..text.len(), source });
        }
        let escapes = Escapes::of(&file);
        Ok(Self { file, text: text.into(), shown: shown.into(), cells, hidden, escapes })
    }

    /// The text of the file.
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The code as Python: what is analysed.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The code as it was written. What stands at a byte of [`Self::text`] stands here at the same byte.
    #[must_use]
    pub fn shown(&self) -> &Arc<str> {
        &self.shown
    }

    /// The cell that a byte of the text is in, and where its code stands in the text. `None` where there is no code.
    #[must_use]
    pub fn cell(&self, byte: usize) -> Option<(CellNumber, Range<usize>)> {
        let cell = &self.cells[self.index(byte)?];
        Some((cell.number, cell.lines.clone()))
    }

    /// Whether something stands in a stretch of the text that is no Python: the border between two cells, or a command.
    #[must_use]
    pub fn is_parted(&self, range: &Range<usize>) -> bool {
        // The comment between two cells is of none.
        let place = |byte| self.index(byte).map(|index| (index, self.cells[index].lines.start <= byte));
        place(range.start) != place(range.end) || self.hidden.iter().any(|(at, _)| range.contains(at))
    }

    /// Whether a command in a stretch of the text may change which modules can be imported: `!pip install imageio`.
    #[must_use]
    pub fn installs(&self, range: &Range<usize>) -> bool {
        let within = self.hidden.iter().filter(|(at, _)| range.contains(at));
        within.flat_map(|(_, command)| command.split_whitespace()).any(|word| INSTALLING.contains(&word))
    }

    /// The command that the text hides from a byte on.
    #[must_use]
    pub fn command(&self, byte: usize) -> Option<&str> {
        let index = self.hidden.binary_search_by_key(&byte, |(at, _)| *at).ok()?;
        Some(&self.hidden[index].1)
    }

    /// Where a stretch of the text stands in the file.
    #[must_use]
    pub fn in_file(&self, range: Range<usize>) -> Range<usize> {
        let (Some(first), Some(last)) = (self.index(range.start), self.index(range.end)) else { return 0..0 };
        let start = self.cells[first].source.start(self.within(first, range.start));
        if range.is_empty() {
            return start..start;
        }
        start..self.cells[last].source.end(self.within(last, range.end)).max(start)
    }

    /// The notebook with this text in place of its own.
    ///
    /// # Errors
    ///
    /// The text is not that of the same cells, or it lacks a command that was hidden.
    pub fn with_text(&self, text: &str) -> Result<Self, Unencodable> {
        let code = self.code_of_cells(text).ok_or(Unencodable::Cells)?;
        let changes = self.differences(&code).ok_or(Unencodable::Cells)?;
        let mut file = self.file.to_string();
        for (range, content) in changes.into_iter().rev() {
            file.replace_range(range, &content);
        }
        let changed = Self::parse(file.into()).map_err(|_| Unencodable::Cells)?;
        // A cell that has lost all its code still has a line.
        let line = |code: &str| if code.is_empty() { "\n" } else { code }.to_owned();
        let is_read_back = changed
            .code_of_cells(&changed.text)
            .is_some_and(|own| own.into_iter().map(line).eq(code.into_iter().map(line)));
        if !is_read_back {
            return Err(Unencodable::Cells);
        }
        // A command that goes on behind a backslash may be indented anew.
        let commands = |notebook: &Self| -> Vec<String> {
            let lines = |command: &str| command.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
            notebook.hidden.iter().map(|(_, command)| lines(command)).collect()
        };
        if commands(&changed) != commands(self) {
            return Err(Unencodable::Command);
        }
        Ok(changed)
    }

    /// The cell that a byte of the text is in; what stands between two belongs to the one below.
    fn index(&self, byte: usize) -> Option<usize> {
        let last = self.cells.len().checked_sub(1)?;
        Some(self.cells.partition_point(|cell| cell.lines.end <= byte).min(last))
    }

    /// A byte of the text as a byte of a cell's own code.
    fn within(&self, cell: usize, byte: usize) -> usize {
        let Cell { lines, source, .. } = &self.cells[cell];
        byte.saturating_sub(lines.start).min(source.text.len())
    }
}

impl Escapes {
    fn of(file: &str) -> Self {
        let code = |at: usize| u32::from_str_radix(file.get(at + 2..at + 6)?, 16).ok();
        let mut escapes = file.match_indices("\\u").filter_map(|(at, _)| code(at));
        if file.is_ascii() && escapes.any(|code| code >= 0x80) { Self::AllButAscii } else { Self::WhatMustBe }
    }
}

/// The line between the code of two cells; `number` is that of the one below.
fn separator(number: CellNumber) -> String {
    format!("# %% hvdlint: cell {}\n", number.0)
}
