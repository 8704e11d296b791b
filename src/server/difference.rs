//! What an edit changes in what is found near it, carried over to what was found in everything before the edit.
//!
//! Where some files are looked at as if the others were not there, more or less may be found than there is. But what
//! they show before the edit and what they show after it differ by what the edit does.

use std::collections::BTreeMap;

use lsp_types::{DiagnosticRelatedInformation, Position, Range, Uri};

use super::places::{Encoding, Lines};
use super::said::Said;

/// What two findings have in common that say something of the same kind of the same place.
type Key = (Position, Position, &'static str);

/// What is said of a file after an edit: where the edit makes no difference near it, what was said when everything was
/// looked at; elsewhere what is found there now.
pub(super) fn carried_over(
    everywhere: &[Said],
    before: &[Said],
    after: &[Said],
    edit: &Edit,
    document: &Uri,
) -> Vec<Said> {
    let mut all = by_key(everywhere.iter().filter_map(|said| edit.moved(said, document)));
    let before = by_key(before.iter().filter_map(|said| edit.moved(said, document)));
    let after = by_key(after.iter().cloned());
    for key in before.keys().chain(after.keys()) {
        if messages(before.get(key)).eq(messages(after.get(key))) {
            continue;
        }
        match after.get(key) {
            Some(said) => drop(all.insert(*key, said.clone())),
            None => drop(all.remove(key)),
        }
    }
    all.into_values().flatten().collect()
}

fn by_key(all: impl Iterator<Item = Said>) -> BTreeMap<Key, Vec<Said>> {
    let mut found: BTreeMap<Key, Vec<Said>> = BTreeMap::new();
    for said in all {
        let Range { start, end } = said.diagnostic.range;
        found.entry((start, end, said.finding.rule.code)).or_default().push(said);
    }
    found
}

fn messages(said: Option<&Vec<Said>>) -> impl Iterator<Item = &str> {
    said.into_iter().flatten().map(|said| said.diagnostic.message.as_str())
}

/// The part of a text that is another now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    start: Position,
    old_end: Position,
    new_end: Position,
}

impl Edit {
    /// What is different between two texts: what is left when their common beginning and end are taken away.
    pub(super) fn between(old: &str, new: &str, encoding: Encoding) -> Self {
        let common = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
            pairs.take_while(|(a, b)| a == b).map(|(char, _)| char.len_utf8()).sum()
        };
        let start = common(&mut old.chars().zip(new.chars()));
        let end = common(&mut old[start..].chars().rev().zip(new[start..].chars().rev()));
        let (old_lines, new_lines) = (Lines::new(old, encoding), Lines::new(new, encoding));
        Self {
            start: old_lines.position(start),
            old_end: old_lines.position(old.len() - end),
            new_end: new_lines.position(new.len() - end),
        }
    }

    /// Where a place behind the edit is now.
    fn shifted(&self, place: Position) -> Position {
        let line = place.line - self.old_end.line + self.new_end.line;
        if place.line == self.old_end.line {
            Position::new(line, place.character - self.old_end.character + self.new_end.character)
        } else {
            Position::new(line, place.character)
        }
    }

    /// Where a range is now, with what stands in its middle now. Nothing if none of it is left.
    fn range(&self, Range { start, end }: Range) -> Option<Range> {
        if self.start < self.old_end && self.start <= start && end <= self.old_end {
            return None;
        }
        let start = if start >= self.old_end { self.shifted(start) } else { start.min(self.start) };
        let end = match end {
            end if end <= self.start => end,
            end if end >= self.old_end => self.shifted(end),
            _ => self.new_end,
        };
        Some(Range::new(start, end))
    }

    /// A finding in the edited document as it was said before the edit, with the places where it is now.
    fn moved(&self, said: &Said, document: &Uri) -> Option<Said> {
        let mut said = said.clone();
        said.diagnostic.range = self.range(said.diagnostic.range)?;
        if let Some(related) = &mut said.diagnostic.related_information {
            related.retain_mut(|DiagnosticRelatedInformation { location, .. }| {
                if location.uri != *document {
                    return true;
                }
                let moved = self.range(location.range);
                location.range = moved.unwrap_or(location.range);
                moved.is_some()
            });
        }
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Diagnostic, Location};

    use super::*;
    use crate::checks::tool;
    use crate::finding::{self, Finding, Level, SpanRange};
    use crate::project::FileId;
    use crate::syntax::TextRange;

    /// What `found` has become in a text that was `old` and is `new`.
    fn moved(old: &str, new: &str, found: &str) -> Option<String> {
        let start = old.find(found).expect("it is found");
        let span = |start: usize, end: usize| SpanRange {
            start: u32::try_from(start).expect("a short text"),
            end: u32::try_from(end).expect("a short text"),
        };
        let range = Lines::new(old, Encoding::Utf16).range(span(start, start + found.len()));
        let range = Edit::between(old, new, Encoding::Utf16).range(range)?;
        let lines = Lines::new(new, Encoding::Utf16);
        Some(new[lines.byte(range.start)..lines.byte(range.end)].to_owned())
    }

    #[test]
    fn what_is_not_edited_is_found_again() {
        let old = "é = 1\nfirst(🙂)\nsecond()\nlast()\n";
        let all = ["é = 1", "first(🙂)", "second", "last()"];
        let edits = [
            ("é = 1\n", "é = 1\nnew = 2\n"),
            ("é = 1\n", "🙂; é = 1\n"),
            ("first", "\r\nfirst"),
            ("(🙂)", "(🙂)  # first(🙂)"),
            ("\nsecond()", "\nother()\nsecond()"),
            ("last()\n", "last()"),
        ];
        for (part, other) in edits {
            for found in all {
                let new = old.replace(part, other);
                assert_eq!(moved(old, &new, found).as_deref(), Some(found), "{other:?}");
            }
        }
    }

    #[test]
    fn what_is_edited_has_what_stands_there_now() {
        let old = "model.fit(x, epochs=3)\nother()\n";
        let now = |new: &str, found| moved(old, new, found);
        assert_eq!(
            now("model.fit(x, y)\nother()\n", "model.fit(x, epochs=3)").as_deref(),
            Some("model.fit(x, y)")
        );
        assert_eq!(now("model.fit(y)\nother()\n", "model.fit(x").as_deref(), Some("model.fit(y"));
        assert_eq!(now("model.fit(x, epochs=3)\n", "other()"), None);
        assert_eq!(now("model.fit(x, epochs=3)\npass\n", "other()"), None);
    }

    /// Something that is said of a line.
    fn said(line: u32, message: &str) -> Said {
        let location = finding::Location::new(FileId(0), TextRange::default());
        let finding = Finding::new(&tool::INVALID_SYNTAX, Level::Error, location, message);
        let range = Range::new(Position::new(line, 0), Position::new(line, 4));
        let diagnostic = Diagnostic { range, message: message.to_owned(), ..Diagnostic::default() };
        Said { finding, fingerprint: String::new(), diagnostic, related: Vec::new() }
    }

    fn document(name: &str) -> Uri {
        format!("file:///{name}").parse().expect("a URI")
    }

    #[test]
    fn only_what_the_edit_changes_nearby_is_said_otherwise() {
        let edit = Edit::between("a\nb\nc\nd\n", "new\na\nb\nc\nd\n", Encoding::Utf8);
        let everywhere = [said(0, "far"), said(1, "mended"), said(2, "of two files")];
        let before = [said(1, "mended"), said(2, "of one file"), said(3, "only nearby")];
        let after = [said(0, "new"), said(3, "of one file"), said(4, "only nearby")];
        let now = carried_over(&everywhere, &before, &after, &edit, &document("a.py"));
        let now: Vec<(u32, &str)> =
            now.iter().map(|own| (own.diagnostic.range.start.line, &*own.diagnostic.message)).collect();
        assert_eq!(now, [(0, "new"), (1, "far"), (3, "of two files")]);
    }

    #[test]
    fn what_is_said_nearby_in_other_words_is_said_so() {
        let edit = Edit::between("", "", Encoding::Utf8);
        let [three, two, one] = ["three", "two", "one"].map(|message| [said(0, message)]);
        let now = carried_over(&three, &two, &one, &edit, &document("a.py"));
        assert_eq!(now.len(), 1);
        assert_eq!(now[0].diagnostic.message, "one");
    }

    #[test]
    fn places_in_the_edited_document_move_and_others_stay() {
        let edit = Edit::between("a\nb\n", "new\na\nb\n", Encoding::Utf8);
        let mut own = said(1, "two places");
        let place = |name: &str| DiagnosticRelatedInformation {
            location: Location {
                uri: document(name),
                range: Range::new(Position::new(0, 0), Position::new(0, 1)),
            },
            message: String::new(),
        };
        own.diagnostic.related_information = Some(vec![place("a.py"), place("b.py")]);
        let moved = edit.moved(&own, &document("a.py")).expect("it is not edited");
        let places = moved.diagnostic.related_information.expect("there are two");
        let lines: Vec<u32> = places.iter().map(|place| place.location.range.start.line).collect();
        assert_eq!(lines, [1, 0]);
    }
}
