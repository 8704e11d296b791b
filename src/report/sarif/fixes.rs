//! A change as SARIF describes it.

use serde_sarif::sarif::{ArtifactChange, ArtifactContent, Fix, Message, Replacement as SarifReplacement};

use super::message::sentence;
use super::place::Places;
use crate::finding::{Edit, Location};
use crate::fix::Edits;
use crate::project::FileId;

/// One change for each file (3.55.3).
pub(super) fn fix(message: &str, edits: &Edits, places: Places<'_>) -> Fix {
    let change = |file: FileId| {
        let replacements: Vec<SarifReplacement> =
            edits.of(file).iter().map(|edit| replacement(&edit.to_edit(file), places)).collect();
        ArtifactChange::builder().artifact_location(places.artifact(file)).replacements(replacements).build()
    };
    let description = Message { text: Some(sentence(message)), ..Message::default() };
    let changes: Vec<ArtifactChange> = edits.files().map(change).collect();
    Fix::builder().description(description).artifact_changes(changes).build()
}

fn replacement(edit: &Edit, places: Places<'_>) -> SarifReplacement {
    let sources = places.sources;
    let (place, content) = clear_of_indentation(edit, sources.text(edit.location.file));
    SarifReplacement::builder()
        .deleted_region(places.region(place.file, sources.bytes(place)))
        .inserted_content(ArtifactContent { text: Some(content), ..ArtifactContent::default() })
        .build()
}

/// The same edit, not starting in front of a line's indentation: VS Code's viewer moves such a start to the first
/// character that is no blank, and then applies another edit. An edit of whole lines is moved to begin with the
/// line end before it.
fn clear_of_indentation(edit: &Edit, text: &str) -> (Location, String) {
    let mut place = edit.location;
    let mut content = edit.content.as_str();
    let start = place.range.start as usize;
    let Some((before, edited)) = text.split_at_checked(start) else { return (place, content.to_owned()) };
    if !edited.starts_with([' ', '\t']) {
        return (place, content.to_owned());
    }
    let deleted = text.get(start..place.range.end as usize).unwrap_or_default();
    let line_end = ["\r\n", "\n", "\r"].into_iter().find(|end| before.ends_with(end)).unwrap_or_default();
    let is_lines = |text: &str| text.is_empty() || text.ends_with(line_end);
    if !line_end.is_empty() && is_lines(deleted) && is_lines(content) {
        let moved = u32::try_from(line_end.len()).unwrap_or(0);
        place.range.start -= moved;
        place.range.end -= moved;
        let content = content.strip_suffix(line_end).map(|lines| format!("{line_end}{lines}"));
        return (place, content.unwrap_or_default());
    }
    // Blanks in front of blanks of their kind may stand behind them as well.
    let indentation = &edited[..edited.len() - edited.trim_start_matches([' ', '\t']).len()];
    if deleted.is_empty() && format!("{content}{indentation}") == format!("{indentation}{content}") {
        let behind = u32::try_from(indentation.len()).unwrap_or(0);
        place.range.start += behind;
        place.range.end += behind;
        return (place, content.to_owned());
    }
    // What both begin with need not be replaced.
    let same = deleted.bytes().zip(content.bytes()).take_while(|(a, b)| a == b && matches!(a, b' ' | b'\t'));
    let same = same.count();
    place.range.start += u32::try_from(same).unwrap_or(0);
    content = &content[same..];
    (place, content.to_owned())
}

#[cfg(test)]
mod tests {
    use super::clear_of_indentation;
    use crate::finding::{Edit, Location, SpanRange};
    use crate::project::FileId;

    fn cleared(text: &str, range: std::ops::Range<usize>, content: &str) -> (String, usize) {
        let byte = |byte: usize| u32::try_from(byte).expect("small");
        let range = SpanRange { start: byte(range.start), end: byte(range.end) };
        let edit = Edit { location: Location { file: FileId(0), range }, content: content.to_owned() };
        let (place, content) = clear_of_indentation(&edit, text);
        let (start, end) = (place.range.start as usize, place.range.end as usize);
        let apply =
            |start: usize, end: usize, content: &str| format!("{}{content}{}", &text[..start], &text[end..]);
        let fixed = apply(start, end, &content);
        assert_eq!(fixed, apply(range.start as usize, range.end as usize, &edit.content), "the same edit");
        (fixed, start)
    }

    #[test]
    fn edits_of_indented_lines_begin_at_the_end_of_the_line_before() {
        assert_eq!(cleared("if x:\n    a\n    b\n", 6..12, ""), ("if x:\n    b\n".to_owned(), 5));
        assert_eq!(cleared("if x:\r\n    a\r\n    b\r\n", 7..14, "").1, 5);
        assert_eq!(cleared("if x:\n    b\n", 6..6, "    a\n").1, 5);
        assert_eq!(cleared("if x:\n    a\n", 6..12, "    b\n    c\n").1, 5);
    }

    #[test]
    fn common_indentation_is_not_replaced() {
        assert_eq!(cleared("if x:\n    a\n", 6..11, "    b").1, 10);
    }

    #[test]
    fn more_indentation_is_put_behind_what_is_there() {
        assert_eq!(cleared("if x:\n    a\n", 6..6, "  "), ("if x:\n      a\n".to_owned(), 10));
        assert_eq!(
            cleared("if x:\n    a", 6..6, "\t").1,
            6,
            "a tab in front of blanks is no tab behind them"
        );
    }

    #[test]
    fn other_edits_stay() {
        assert_eq!(cleared("a\nb\n", 2..4, "").1, 2);
        assert_eq!(cleared("a = 1  # x\n", 5..10, "").1, 5);
        assert_eq!(cleared("", 0..0, "import os\n").1, 0);
    }
}
