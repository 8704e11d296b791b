//! What is applied as a whole: a fix by itself, or all fixes of a unit.

use std::collections::{BTreeMap, BTreeSet};

use super::edits::Edits;
use super::origin::Origin;
use super::original::{CHANGED, Originals};
use super::verify::is_same;
use crate::checks::tool;
use crate::examine::Examined;
use crate::finding::{Applicability, Finding, Fix};
use crate::project::FileId;

/// Fixes that are applied together or not at all.
#[derive(Clone, Debug)]
pub(super) struct Parcel {
    /// What they fix.
    pub(super) findings: Vec<Finding>,
    /// What they do.
    pub(super) edits: Edits,
    /// Why they belong together.
    pub(super) unit: Option<FileId>,
}

/// Why a fix that could be applied is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The name of the check.
    pub check: &'static str,
    /// Path, line and column of its finding.
    pub place: String,
    /// A clause.
    pub reason: String,
    /// What it means for the job.
    pub cause: Cause,
}

/// What keeps a fix from being applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The fix itself; the finding remains.
    Fix,
    /// The file: it can't be read any more.
    File,
}

impl Refusal {
    pub(super) fn new(finding: &Finding, origin: Origin<'_>, reason: impl Into<String>) -> Self {
        let place = origin.place(finding, None);
        Self { check: finding.rule.name, place, reason: reason.into(), cause: Cause::Fix }
    }

    /// Whether it is about the fix of this finding.
    pub(super) fn is_of(&self, finding: &Finding, origin: Origin<'_>) -> bool {
        self.cause == Cause::Fix
            && self.check == finding.rule.name
            && self.place == origin.place(finding, None)
    }

    fn of_file(mut self) -> Self {
        self.cause = Cause::File;
        self
    }
}

/// The parcels that may be applied, in the order in which they are preferred where they contradict each other: by the
/// path and place of their first edit, then by the check's code.
pub(super) fn parcels(
    examined: &Examined,
    least: Applicability,
    origin: Origin<'_>,
    originals: &mut Originals<'_>,
) -> (Vec<Parcel>, Vec<Refusal>) {
    let reported: Vec<&Finding> = examined.report.findings.iter().map(|reported| &reported.finding).collect();
    let mut single: Vec<Vec<(&Finding, &Fix)>> = Vec::new();
    let mut units: BTreeMap<FileId, Vec<(&Finding, &Fix)>> = BTreeMap::new();
    for &finding in &reported {
        let Some(fix) = finding.fix.as_ref().filter(|fix| fix.applicability >= least) else { continue };
        match fix.unit {
            None => single.push(vec![(finding, fix)]),
            Some(unit) => units.entry(unit).or_default().push((finding, fix)),
        }
    }
    let mut parcels = Vec::new();
    let mut refusals = Vec::new();
    let broken = broken(examined);
    for members in single.into_iter().chain(units.into_values()) {
        match parcel(examined, &members, &reported, &broken, origin, originals) {
            Ok(parcel) => parcels.push(parcel),
            Err(refusal) => refusals.push(refusal),
        }
    }
    parcels.sort_by(|a, b| {
        let key = |parcel: &Parcel| {
            (parcel.edits.start(), parcel.findings.first().map(|finding| finding.rule.code))
        };
        key(a).cmp(&key(b))
    });
    (parcels, refusals)
}

/// The parcel of one fix that is right by itself.
pub(super) fn single(
    examined: &Examined,
    finding: &Finding,
    origin: Origin<'_>,
    originals: &mut Originals<'_>,
) -> Result<Parcel, Refusal> {
    match &finding.fix {
        Some(fix) => parcel(examined, &[(finding, fix)], &[finding], &broken(examined), origin, originals),
        None => Err(Refusal::new(finding, origin, "there is none")),
    }
}

/// The files that don't parse.
fn broken(examined: &Examined) -> BTreeSet<FileId> {
    let errors = examined.standing.iter().filter(|finding| finding.rule.code == tool::INVALID_SYNTAX.code);
    errors.map(|finding| finding.primary.location.file).collect()
}

fn parcel(
    examined: &Examined,
    members: &[(&Finding, &Fix)],
    reported: &[&Finding],
    broken: &BTreeSet<FileId>,
    origin: Origin<'_>,
    originals: &mut Originals<'_>,
) -> Result<Parcel, Refusal> {
    let documents = &examined.documents;
    let (first, fix) = members[0];
    let refuse = |reason: String| Refusal::new(first, origin, reason);
    if let Some(unit) = fix.unit
        && let Some(missing) = missing(examined, unit, reported)
    {
        return Err(refuse(format!(
            "it is right only together with that of {} at {}, which is not to be fixed",
            missing.rule.name,
            origin.place(missing, None)
        )));
    }
    let mut ordered: Vec<&(&Finding, &Fix)> = members.iter().collect();
    ordered.sort_by_key(|(finding, _)| finding.rule.code);
    let Some(edits) = Edits::new(ordered.iter().flat_map(|(_, fix)| &fix.edits)) else {
        return Err(refuse("its edits contradict each other".to_owned()));
    };
    for file in edits.files() {
        let source = examined.project.file(file);
        if !source.reported {
            let reason = format!("it changes {}, which is not among the given paths", source.relative);
            return Err(refuse(reason));
        }
        if broken.contains(&file) {
            return Err(refuse(format!("{} does not parse", source.relative)));
        }
        if let Err(reason) = originals.get(file) {
            return Err(refuse(reason.to_owned()).of_file());
        }
        let text = documents.get(&file).map(|document| &document.text);
        if !text.is_some_and(|text| examined.modules.is_made_of(file, text)) {
            return Err(refuse(CHANGED.to_owned()).of_file());
        }
    }
    let findings = members.iter().map(|&(finding, _)| finding.clone()).collect();
    Ok(Parcel { findings, edits, unit: fix.unit })
}

/// A finding of the unit that is not reported, for whatever reason.
fn missing<'f>(examined: &'f Examined, unit: FileId, reported: &[&Finding]) -> Option<&'f Finding> {
    let found =
        examined.standing.iter().chain(examined.report.suppressed.iter().map(|(own, _)| &own.finding));
    found
        .filter(|finding| finding.fix.as_ref().is_some_and(|fix| fix.unit == Some(unit)))
        .find(|finding| !reported.iter().any(|other| is_same(other, finding)))
}
