//! Changes of the text as changes of the file.

use std::ops::Range;

use similar::{DiffTag, TextDiff};

use super::{Notebook, separator};

/// A stretch that goes, and what comes there.
type Replacement = (Range<usize>, String);

impl Notebook {
    /// A change of the text as a change of the file; `None` where it leaves its cell.
    #[must_use]
    pub fn edit_in_file(&self, range: Range<usize>, content: &str) -> Option<Replacement> {
        let index = match self.index(range.start)? {
            // A line that is added where a cell ends belongs to it, and not to the one below.
            below if below > 0 && range.start == self.cells[below - 1].lines.end => below - 1,
            index => index,
        };
        let cell = &self.cells[index];
        if range.start < cell.lines.start || range.end > cell.lines.end {
            return None;
        }
        let within = range.start - cell.lines.start..range.end - cell.lines.start;
        let (within, content) = without_added_end(&cell.source.text, within, content)?;
        Some(cell.source.edit(within, &content, self.escapes))
    }

    /// The code of each cell in a text; `None` where the cells are others.
    pub(super) fn code_of_cells<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let mut found = Vec::new();
        let mut rest = text;
        for next in self.cells.iter().skip(1) {
            let separator = separator(next.number);
            let (own, below) = rest.split_at(begin_of_line(rest, &separator)?);
            found.push(own);
            rest = &below[separator.len()..];
        }
        if self.cells.is_empty() {
            return rest.is_empty().then_some(found);
        }
        found.push(rest);
        Some(found)
    }

    /// What has to change in the file to give the cells this code, in its order.
    pub(super) fn differences(&self, code: &[&str]) -> Option<Vec<Replacement>> {
        let mut found = Vec::new();
        for (cell, own) in self.cells.iter().zip(code) {
            for (range, content) in changes(&self.text[cell.lines.clone()], own) {
                let range = range.start + cell.lines.start..range.end + cell.lines.start;
                found.push(self.edit_in_file(range, &content)?);
            }
        }
        Some(found)
    }
}

/// Where `line`, with its end, begins in `text`.
fn begin_of_line(text: &str, line: &str) -> Option<usize> {
    let begins = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    begins.into_iter().find(|&at| text[at..].starts_with(line))
}

/// A change of a cell with the line end that is added to it, as a change of the cell itself.
fn without_added_end(cell: &str, range: Range<usize>, content: &str) -> Option<Replacement> {
    if range.end <= cell.len() {
        return Some((range, content.to_owned()));
    }
    match content.strip_suffix('\n') {
        Some(content) if range.start > cell.len() => Some((cell.len()..cell.len(), format!("\n{content}"))),
        Some(content) => Some((range.start..cell.len(), content.to_owned())),
        None if !content.is_empty() => None,
        None if range.start == 0 => Some((0..cell.len(), String::new())),
        // The line end before becomes the added one.
        None => cell[..range.start].ends_with('\n').then(|| (range.start - 1..cell.len(), String::new())),
    }
}

/// What is different: whole lines, and in lines that are replaced by others the words.
fn changes(before: &str, after: &str) -> Vec<Replacement> {
    if before == after {
        return Vec::new();
    }
    // The first code of an empty cell may need quotes around all of it.
    if before == "\n" {
        return vec![(0..before.len(), after.to_owned())];
    }
    let mut found = Vec::new();
    for (old, new, tag) in stretches(&TextDiff::from_lines(before, after)) {
        let (gone, come) = (&before[old.clone()], &after[new]);
        if tag != DiffTag::Replace {
            found.push((old, come.to_owned()));
            continue;
        }
        for (word, other, _) in stretches(&TextDiff::from_words(gone, come)) {
            found.push((old.start + word.start..old.start + word.end, come[other].to_owned()));
        }
    }
    found
}

/// The stretches of bytes in which two texts differ.
fn stretches(diff: &TextDiff<'_, '_, str>) -> Vec<(Range<usize>, Range<usize>, DiffTag)> {
    fn ends<'t>(slices: impl Iterator<Item = &'t str>) -> Vec<usize> {
        let ends = slices.scan(0, |end, slice| {
            *end += slice.len();
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }
    let (old, new) = (ends(diff.iter_old_slices()), ends(diff.iter_new_slices()));
    let different = diff.ops().iter().filter(|operation| operation.tag() != DiffTag::Equal);
    let bytes = |ends: &[usize], slices: Range<usize>| ends[slices.start]..ends[slices.end];
    different
        .map(|operation| {
            (bytes(&old, operation.old_range()), bytes(&new, operation.new_range()), operation.tag())
        })
        .collect()
}
