//! A finding as a SARIF result.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;
use serde_sarif::sarif::{
    CodeFlow, Fix, Location as SarifLocation, Result as SarifResult, ResultLevel, Suppression,
    SupressionKind, ThreadFlow, ThreadFlowLocation,
};

use super::fixes;
use super::line_hash::line_hashes;
use super::message::{Worded, label_text, sentence};
use super::place::{Places, logical};
use super::rules::Rules;
use crate::finding::{Finding, Label, Level, Location};
use crate::project::FileId;
use crate::report::{Offers, Report, Reported};

/// GitHub keeps so many results, the worst ones; more only cost time.
pub(super) const RESULTS: usize = 5_000;
/// GitHub keeps so many steps of a flow.
const STEPS: usize = 1_000;
/// Links of a message, and places of a result; GitHub keeps a hundred with the primary one.
pub(super) const RELATED: usize = 99;

/// A finding, and why it is suppressed if it is.
pub(super) type Shown<'r> = (&'r Reported, Option<&'r str>);

/// The findings that are written, sorted by URI, place and code: the worst where there are too many.
pub(super) fn shown<'r>(report: &'r Report, with_suppressed: bool, places: Places<'_>) -> Vec<Shown<'r>> {
    let suppressed = if with_suppressed { report.suppressed.as_slice() } else { &[] };
    let mut shown: Vec<Shown<'r>> = report.findings.iter().map(|reported| (reported, None)).collect();
    shown.extend(suppressed.iter().map(|(reported, reason)| (reported, Some(reason.as_str()))));
    if shown.len() > RESULTS {
        shown.sort_by_key(|(reported, reason)| (reason.is_some(), std::cmp::Reverse(reported.finding.level)));
        shown.truncate(RESULTS);
    }
    let key = |(reported, _): &Shown<'_>| {
        let Location { file, range } = reported.finding.primary.location;
        (places.uri(file), range.start, reported.finding.rule.code, range.end)
    };
    shown.sort_by_cached_key(key);
    shown
}

/// Makes results; remembers the line hashes of the files that it has met.
pub(super) struct Results<'a> {
    places: Places<'a>,
    rules: &'a Rules,
    offers: &'a Offers,
    hashes: HashMap<FileId, Vec<String>>,
}

impl<'a> Results<'a> {
    pub(super) fn new(places: Places<'a>, rules: &'a Rules, offers: &'a Offers) -> Self {
        Self { places, rules, offers, hashes: HashMap::new() }
    }

    /// All results. `suppressions` is on all of them or on none (3.27.23).
    pub(super) fn of(mut self, shown: &[Shown<'_>], with_suppressed: bool) -> Vec<SarifResult> {
        shown
            .iter()
            .map(|(reported, reason)| {
                let mut result = self.result(reported);
                let reasons = || reason.map(suppression).into_iter().collect();
                result.suppressions = with_suppressed.then(reasons);
                result
            })
            .collect()
    }

    fn result(&mut self, reported: &Reported) -> SarifResult {
        let finding = &reported.finding;
        let primary = SarifLocation {
            logical_locations: logical(&finding.scope),
            ..self.places.location(finding.primary.location, caption(&finding.primary))
        };
        let mut result = SarifResult::builder()
            .rule_id(finding.rule.code)
            .level(level(finding.level))
            .message(Worded::of(finding, self.places).message())
            .locations(vec![primary])
            .partial_fingerprints(self.fingerprints(reported))
            .build();
        result.rule_index = self.rules.index(finding.rule);
        result.related_locations = non_empty(self.related(finding));
        result.code_flows = self.flow(finding).map(|flow| vec![flow]);
        result.fixes = self.fix(finding).map(|fix| vec![fix]);
        result
    }

    fn fingerprints(&mut self, reported: &Reported) -> BTreeMap<String, String> {
        let location = reported.finding.primary.location;
        let region = self.places.region(location.file, self.places.sources.bytes(location));
        let hashes = self
            .hashes
            .entry(location.file)
            .or_insert_with(|| line_hashes(self.places.sources.as_utf8(location.file)));
        let mut prints = BTreeMap::from([("hvdlintFinding/v1".to_owned(), reported.fingerprint.clone())]);
        let line = region.start_line.and_then(|line| usize::try_from(line).ok()).unwrap_or(1);
        if let Some(hash) = hashes.get(line - 1) {
            prints.insert("primaryLocationLineHash".to_owned(), hash.clone());
        }
        prints
    }

    /// The labels, numbered from 1 as the message links them.
    fn related(&self, finding: &Finding) -> Vec<SarifLocation> {
        let related = |(label, id): (&Label, i64)| SarifLocation {
            id: Some(id),
            ..self.places.location(label.location, Some(sentence(label_text(label))))
        };
        finding.labels.iter().take(RELATED).zip(1..).map(related).collect()
    }

    fn flow(&self, finding: &Finding) -> Option<CodeFlow> {
        let step = |step: &Label| {
            let place = self.places.location(step.location, Some(sentence(label_text(step))));
            ThreadFlowLocation { location: Some(place), ..ThreadFlowLocation::default() }
        };
        let steps = non_empty(finding.flow.iter().take(STEPS).map(step).collect())?;
        let flow = ThreadFlow::builder().locations(steps).build();
        Some(CodeFlow::builder().thread_flows(vec![flow]).build())
    }

    fn fix(&self, finding: &Finding) -> Option<Fix> {
        let offer = self.offers.at(finding)?;
        Some(fixes::fix(&offer.message, &offer.edits, self.places))
    }
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

fn caption(label: &Label) -> Option<String> {
    (!label.message.is_empty()).then(|| sentence(&label.message))
}

fn non_empty<T>(values: Vec<T>) -> Option<Vec<T>> {
    (!values.is_empty()).then_some(values)
}
