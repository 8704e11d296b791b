//! Writes the comment that suppresses a finding.

use crate::finding::{Applicability, Edit, Finding, Fix, Location};
use crate::syntax::{TextRange, TextSize};

/// What stands where the reason belongs, which only people know.
const REASON: &str = "write the reason here";

/// The change that suppresses a finding by a comment alone on the line above its statement. `statements` are the
/// ranges of all statements of its file, as for [`super::parse`].
#[must_use]
pub fn insertion(finding: &Finding, text: &str, statements: &[TextRange]) -> Fix {
    let location = finding.primary.location;
    let place = location.text_range().start();
    let around = statements.iter().filter(|range| range.contains_inclusive(place));
    // The innermost begins last.
    let begin = around.map(|range| range.start()).max().unwrap_or(place).to_usize();
    let before = &text[..text.floor_char_boundary(begin)];
    let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let indent: String = text[start..].chars().take_while(|char| matches!(char, ' ' | '\t')).collect();
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let name = finding.rule.name;
    let at = TextSize::try_from(start).unwrap_or(place);
    Fix {
        applicability: Applicability::Safe,
        message: format!("ignore {name} here"),
        edits: vec![Edit {
            location: Location::new(location.file, TextRange::empty(at)),
            content: format!("{indent}# hvdlint: ignore[{name}] -- {REASON}{end}"),
        }],
        unit: None,
    }
}
