//! A fix as people look at it: the lines that go and the lines that come.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::Sources;
use super::paint::{Ink, Painted};
use super::sanitize::visible_line;
use crate::finding::{Applicability, Edit, Fix, Location};

/// More lines than this are counted.
const SHOWN: usize = 16;

/// The heading and the changed lines of every page, each with its number. `home` is on the page that needs no name.
pub(super) fn render(fix: &Fix, home: Location, sources: &Sources<'_>, color: bool) -> String {
    let kind = match fix.applicability {
        Applicability::Safe => "fix",
        Applicability::Unsafe => "unsafe fix",
    };
    let heading = Painted { text: kind, ink: Ink::Bold, color };
    let mut out = format!("  {heading}: {}\n", visible_line(&fix.message));
    let page = |location: Location| sources.page(location.file, sources.bytes(location).start);
    for edits in fix.edits.chunk_by(|a, b| page(a.location) == page(b.location)) {
        let own = page(edits[0].location);
        if own != page(home) {
            writeln!(out, "    {}", visible_line(&own.to_string())).expect("a string takes all");
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
    let text = sources.shown(file);
    let places: Vec<_> = edits.iter().map(|edit| sources.bytes(edit.location)).collect();
    let start = places.iter().map(|place| place.start).min().unwrap_or(0);
    let end = places.iter().map(|place| place.end).max().unwrap_or(0);
    // Only the lines from the first edit to the last are compared.
    let first = sources.position_on_page(file, start).line;
    let from = sources.line(file, sources.position(file, start).line).map_or(0, |line| line.start);
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
    // The line end that both lack is no difference of their last lines.
    fixed.push('\n');
    let before = format!("{}\n", &text[from..to]);
    TextDiff::from_lines(before.as_str(), fixed.as_str()).iter_all_changes().filter_map(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{at, documents, replace};

    fn shown(text: &str, edits: &[(&str, &str)]) -> String {
        let documents = documents(&[("a.py", text)]);
        let mut fix = replace(at(&documents, "a.py", ""), "");
        fix.edits = edits
            .iter()
            .flat_map(|(needle, content)| replace(at(&documents, "a.py", needle), content).edits)
            .collect();
        render(&fix, fix.edits[0].location, &Sources::new(&documents), false)
    }

    #[test]
    fn lines_between_edits_are_not_shown_and_numbers_are_of_the_old_and_the_new_text() {
        insta::assert_snapshot!(
            shown("import a\r\nx = 1\r\ny = a.b\r\n", &[("import a", "import a\r\nimport b"), ("a.b", "b")]),
            @"
        fix: use the module's own name
           2 + import b
           3 - y = a.b
           4 + y = b
        "
        );
    }

    #[test]
    fn an_insertion_at_the_end_and_control_characters_are_shown() {
        insta::assert_snapshot!(shown("x = '\x1b'", &[("'\x1b'", "'\x1b[0m'\ny = 2")]), @"
        fix: use the module's own name
           1 - x = '␛'
           1 + x = '␛[0m'
           2 + y = 2
        ");
    }

    #[test]
    fn many_lines_are_counted() {
        let shown = shown("x\n", &[("x\n", &"y\n".repeat(20))]);
        assert_eq!(shown.lines().count(), 1 + SHOWN + 1);
        assert!(shown.ends_with("         and 5 more lines\n"));
    }

    #[test]
    fn a_fix_in_an_empty_file_is_shown() {
        let documents = documents(&[("a.py", "")]);
        let fix = replace(at(&documents, "a.py", ""), "import os\n");
        assert!(
            render(&fix, fix.edits[0].location, &Sources::new(&documents), false)
                .ends_with("     1 + import os\n")
        );
    }
}
