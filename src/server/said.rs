//! Findings in the protocol's form: what the editor shows, and what belongs to it.

use std::collections::BTreeMap;
use std::path::Path;

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString,
    Uri,
};

use super::client::Client;
use super::places::Lines;
use crate::checks::tool;
use crate::examine::Examined;
use crate::finding::{self, Finding, Label, Level};
use crate::project::FileId;

/// A finding as it was published.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// What was found.
    pub(super) finding: Finding,
    /// What identifies it while the code around it changes.
    pub(super) fingerprint: String,
    /// What the editor was told.
    pub(super) diagnostic: Diagnostic,
    /// The places that belong to it.
    pub(super) related: Vec<Location>,
}

/// What is found, by file.
pub(super) fn said(
    examined: &Examined,
    client: Client,
    uri: &dyn Fn(&Path) -> Option<Uri>,
) -> BTreeMap<FileId, Vec<Said>> {
    let mut speaker = Speaker { examined, client, uri, lines: BTreeMap::new(), uris: BTreeMap::new() };
    let mut all: BTreeMap<FileId, Vec<Said>> = BTreeMap::new();
    for reported in &examined.report.findings {
        let said = speaker.said(&reported.finding, &reported.fingerprint);
        all.entry(reported.finding.primary.location.file).or_default().push(said);
    }
    all
}

/// Speaks about the places of a project.
struct Speaker<'e> {
    examined: &'e Examined,
    client: Client,
    uri: &'e dyn Fn(&Path) -> Option<Uri>,
    lines: BTreeMap<FileId, Lines<'e>>,
    uris: BTreeMap<FileId, Option<Uri>>,
}

impl<'e> Speaker<'e> {
    fn said(&mut self, finding: &Finding, fingerprint: &str) -> Said {
        let places = self.related(finding);
        let related = places.iter().map(|place| place.location.clone()).collect();
        let mut message = finding.message.clone();
        for note in &finding.notes {
            message = format!("{message}\nnote: {note}");
        }
        if let Some(help) = &finding.help {
            message = format!("{message}\nhelp: {help}");
        }
        let diagnostic = Diagnostic {
            range: self.range(finding.primary.location),
            severity: Some(severity(finding.level)),
            code: Some(NumberOrString::String(finding.rule.name.to_owned())),
            source: Some("hvdlint".to_owned()),
            message,
            related_information: (self.client.related_information && !places.is_empty()).then_some(places),
            tags: (finding.rule.code == tool::UNUSED_SUPPRESSION.code)
                .then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..Diagnostic::default()
        };
        Said { finding: finding.clone(), fingerprint: fingerprint.to_owned(), diagnostic, related }
    }

    /// The labels, then the way from the training loop; what is at the same place twice is said once.
    fn related(&mut self, finding: &Finding) -> Vec<DiagnosticRelatedInformation> {
        let mut seen = vec![finding.primary.location];
        let mut places = Vec::new();
        for Label { location, message } in finding.labels.iter().chain(&finding.flow) {
            if seen.contains(location) {
                continue;
            }
            seen.push(*location);
            if let Some(uri) = self.uri(location.file) {
                let location = Location { uri, range: self.range(*location) };
                places.push(DiagnosticRelatedInformation { location, message: message.clone() });
            }
        }
        places
    }

    fn uri(&mut self, file: FileId) -> Option<Uri> {
        let Self { examined, uri, uris, .. } = self;
        uris.entry(file).or_insert_with(|| uri(&examined.project.file(file).path)).clone()
    }

    fn range(&mut self, location: finding::Location) -> lsp_types::Range {
        let Self { examined, client, lines, .. } = self;
        let examined: &'e Examined = examined;
        let text = || examined.documents.get(&location.file).map_or("", |document| &document.text);
        lines
            .entry(location.file)
            .or_insert_with(|| Lines::new(text(), client.encoding))
            .range(location.range)
    }
}

fn severity(level: Level) -> DiagnosticSeverity {
    match level {
        Level::Error => DiagnosticSeverity::ERROR,
        Level::Warning => DiagnosticSeverity::WARNING,
        Level::Note => DiagnosticSeverity::INFORMATION,
    }
}
