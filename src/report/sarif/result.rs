//! A finding as a SARIF result.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;
use serde_sarif::sarif::{
    ArtifactChange, ArtifactContent, CodeFlow, Fix as SarifFix, Location as SarifLocation, Message,
    Replacement, Result as SarifResult, ResultLevel, Suppression, SupressionKind, ThreadFlow,
    ThreadFlowLocation,
};

use super::line_hash::line_hashes;
use super::place::{artifact, location, logical, region, uri};
use super::rules::Rules;
use crate::finding::{Edit, Finding, Fix, Label, Level, Location};
use crate::project::FileId;
use crate::report::{Report, Reported, Sources};

/// Makes results; remembers the line hashes of the files that it has met.
pub(super) struct Results<'a> {
    sources: &'a Sources<'a>,
    rules: &'a Rules,
    hashes: HashMap<FileId, Vec<String>>,
}

impl<'a> Results<'a> {
    pub(super) fn new(sources: &'a Sources<'a>, rules: &'a Rules) -> Self {
        Self { sources, rules, hashes: HashMap::new() }
    }

    /// All results, sorted by URI, line, column and code. `suppressions` is on all of them or on none (3.27.23).
    pub(super) fn of(mut self, report: &Report, with_suppressed: bool) -> Vec<SarifResult> {
        let mut results: Vec<_> = report
            .findings
            .iter()
            .map(|reported| {
                let mut result = self.result(reported);
                result.suppressions = with_suppressed.then(Vec::new);
                (self.key(&reported.finding), result)
            })
            .collect();
        if with_suppressed {
            results.extend(report.suppressed.iter().map(|(reported, reason)| {
                let mut result = self.result(reported);
                result.suppressions = Some(vec![suppression(reason)]);
                (self.key(&reported.finding), result)
            }));
        }
        results.sort_by(|(a, _), (b, _)| a.cmp(b));
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn key(&self, finding: &Finding) -> (String, u32, &'static str) {
        let Location { file, range } = finding.primary.location;
        (uri(self.sources.path(file)), range.start, finding.rule.code)
    }

    fn result(&mut self, reported: &Reported) -> SarifResult {
        let finding = &reported.finding;
        let primary = SarifLocation {
            logical_locations: logical(&finding.scope),
            ..location(finding.primary.location, caption(&finding.primary), self.sources)
        };
        let mut result = SarifResult::builder()
            .rule_id(finding.rule.code)
            .level(level(finding.level))
            .message(Message { text: Some(message(finding)), ..Message::default() })
            .locations(vec![primary])
            .partial_fingerprints(self.fingerprints(reported))
            .build();
        result.rule_index = self.rules.index(finding.rule);
        result.related_locations = non_empty(self.related(finding));
        result.code_flows = self.flow(finding).map(|flow| vec![flow]);
        result.fixes = finding.fix.as_ref().map(|fix| vec![self.fix(fix)]);
        result
    }

    fn fingerprints(&mut self, reported: &Reported) -> BTreeMap<String, String> {
        let Location { file, range } = reported.finding.primary.location;
        let line = self.sources.position(file, range.start as usize).line;
        let hashes = self.hashes.entry(file).or_insert_with(|| line_hashes(self.sources.text(file)));
        let mut prints = BTreeMap::from([("hvdlintFinding/v1".to_owned(), reported.fingerprint.clone())]);
        if let Some(hash) = hashes.get(line - 1) {
            prints.insert("primaryLocationLineHash".to_owned(), hash.clone());
        }
        prints
    }

    /// The labels, numbered from 1 as the message links them.
    fn related(&self, finding: &Finding) -> Vec<SarifLocation> {
        let related = |(label, id): (&Label, i64)| SarifLocation {
            id: Some(id),
            ..location(label.location, Some(sentence(label_text(label))), self.sources)
        };
        finding.labels.iter().zip(1..).map(related).collect()
    }

    fn flow(&self, finding: &Finding) -> Option<CodeFlow> {
        let step = |step: &Label| {
            let place = location(step.location, Some(sentence(label_text(step))), self.sources);
            ThreadFlowLocation { location: Some(place), ..ThreadFlowLocation::default() }
        };
        let steps = non_empty(finding.flow.iter().map(step).collect())?;
        let flow = ThreadFlow::builder().locations(steps).build();
        Some(CodeFlow::builder().thread_flows(vec![flow]).build())
    }

    fn fix(&self, fix: &Fix) -> SarifFix {
        let changes: Vec<ArtifactChange> = fix
            .edits
            .chunk_by(|a, b| a.location.file == b.location.file)
            .map(|edits| {
                let replacements: Vec<Replacement> =
                    edits.iter().map(|edit| self.replacement(edit)).collect();
                ArtifactChange::builder()
                    .artifact_location(artifact(edits[0].location.file, self.sources))
                    .replacements(replacements)
                    .build()
            })
            .collect();
        let description = Message { text: Some(sentence(&fix.message)), ..Message::default() };
        SarifFix::builder().description(description).artifact_changes(changes).build()
    }

    fn replacement(&self, edit: &Edit) -> Replacement {
        let (place, content) = clear_of_indentation(edit, self.sources.text(edit.location.file));
        Replacement::builder()
            .deleted_region(region(place, self.sources))
            .inserted_content(ArtifactContent { text: Some(content), ..ArtifactContent::default() })
            .build()
    }
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
    // What both begin with need not be replaced.
    let same = deleted.bytes().zip(content.bytes()).take_while(|(a, b)| a == b && matches!(a, b' ' | b'\t'));
    let same = same.count();
    place.range.start += u32::try_from(same).unwrap_or(0);
    content = &content[same..];
    (place, content.to_owned())
}

fn suppression(reason: &str) -> Suppression {
    Suppression::builder().kind(json!(SupressionKind::InSource)).justification(reason).build()
}

fn level(level: Level) -> ResultLevel {
    match level {
        Level::Error => ResultLevel::Error,
        Level::Warning => ResultLevel::Warning,
        Level::Note => ResultLevel::Note,
    }
}

/// The message as a sentence, followed by links to the labels: unlinked places are invisible on GitHub.
fn message(finding: &Finding) -> String {
    let mut text = sentence(&finding.message);
    if !finding.labels.is_empty() {
        let link = |(label, id): (&Label, i64)| format!("[{}]({id})", link_text(label_text(label)));
        let links: Vec<String> = finding.labels.iter().zip(1..).map(link).collect();
        text = format!("{text} See {}.", links.join(", "));
    }
    text
}

/// Brackets would end the link.
fn link_text(text: &str) -> String {
    escaped(&text.replace('[', "(").replace(']', ")"))
}

fn label_text(label: &Label) -> &str {
    if label.message.is_empty() { "this place" } else { &label.message }
}

fn caption(label: &Label) -> Option<String> {
    (!label.message.is_empty()).then(|| sentence(&label.message))
}

/// A capital letter, a full stop, and no white space for layout (3.11.3).
fn sentence(text: &str) -> String {
    let text = escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// Braces are placeholders (3.11.5) and brackets before parentheses links (3.11.6), unless escaped.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}").replace("](", "\\](")
}

fn non_empty<T>(values: Vec<T>) -> Option<Vec<T>> {
    (!values.is_empty()).then_some(values)
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
    fn other_edits_stay() {
        assert_eq!(cleared("a\nb\n", 2..4, "").1, 2);
        assert_eq!(cleared("a = 1  # x\n", 5..10, "").1, 5);
        assert_eq!(cleared("", 0..0, "import os\n").1, 0);
    }
}
