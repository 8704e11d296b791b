//! A fix as people look at it: the lines that go and the lines that come.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::Sources;
use super::paint::{Ink, Painted};
use super::sanitize::visible_line;
use crate::finding::{Applicability, Edit, Fix};
use crate::project::FileId;

/// More lines than this are counted.
const SHOWN: usize = 16;

/// The heading and the changed lines of every file, each with its number.
pub(super) fn render(fix: &Fix, home: FileId, sources: &Sources<'_>, color: bool) -> String {
    let kind = match fix.applicability {
        Applicability::Safe => "fix",
        Applicability::Unsafe => "unsafe fix",
    };
    let heading = Painted { text: kind, ink: Ink::Bold, color };
    let mut out = format!("  {heading}: {}\n", visible_line(&fix.message));
    for edits in fix.edits.chunk_by(|a, b| a.location.file == b.location.file) {
        let file = edits[0].location.file;
        if file != home {
            writeln!(out, "    {}", visible_line(sources.path(file))).expect("a string takes all");
        }
        let changes = changes(edits, sources);
        for (sign, number, text) in changes.iter().take(SHOWN) {
            let ink = if *sign == '+' { Ink::Added } else { Ink::Removed };
            let line = format!("{number:>6} {sign} {text}");
            writeln!(out, "{}", Painted { text: line.trim_end(), ink, color }).expect("a string takes all");
        }
        if let Some(more) = changes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let noun = if more == 1 { "line" } else { "lines" };
            writeln!(out, "         and {more} more {noun}").expect("a string takes all");
        }
    }
    out
}

/// What changes in one file: the sign, the 1-based line in the old or the new text, the line.
fn changes(edits: &[Edit], sources: &Sources<'_>) -> Vec<(char, usize, String)> {
    let file = edits[0].location.file;
    let text = sources.text(file);
    let places: Vec<_> = edits.iter().map(|edit| sources.bytes(edit.location)).collect();
    let start = places.iter().map(|place| place.start).min().unwrap_or(0);
    let end = places.iter().map(|place| place.end).max().unwrap_or(0);
    // Only the lines from the first edit to the last are compared.
    let first = sources.position(file, start).line;
    let from = sources.line(file, first).map_or(0, |line| line.start);
    let to = text[end..].find(['\n', '\r']).map_or(text.len(), |at| end + at);

    let mut fixed = String::new();
    let mut done = from;
    for (place, edit) in places.iter().zip(edits) {
        fixed.push_str(text.get(done..place.start).unwrap_or_default());
        fixed.push_str(&edit.content);
        done = place.end;
    }
    fixed.push_str(text.get(done..to).unwrap_or_default());

    let changed = |change: similar::Change<&str>| {
        let (sign, index) = match change.tag() {
            ChangeTag::Equal => return None,
            ChangeTag::Delete => ('-', change.old_index()),
            ChangeTag::Insert => ('+', change.new_index()),
        };
        let line = change.value().trim_end_matches(['\r', '\n']);
        Some((sign, first + index.unwrap_or(0), visible_line(line).into_owned()))
    };
    TextDiff::from_lines(&text[from..to], fixed.as_str()).iter_all_changes().filter_map(changed).collect()
}
