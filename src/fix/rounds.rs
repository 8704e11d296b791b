//! Round after round of fixes, until nothing is left to do.

use std::collections::BTreeSet;

use super::edits::Edits;
use super::origin::Origin;
use super::original::{Change, Originals};
use super::parcel::{Parcel, Refusal, parcels, single};
use super::search::Search;
use crate::examine::{Distribution, Examined, Trainer, Wishes};
use crate::finding::{Applicability, Finding};
use crate::project::{FileId, encode_as};

/// Fixes that enable others do so a few times, not for ever.
const ROUNDS: usize = 10;

/// So many analyses of the changed project are made at most. One is enough for a round in which all fixes are good.
pub(super) const PROOFS: usize = 100;

/// What fixing made of a project; nothing is written.
#[derive(Debug)]
pub struct Mended {
    /// The project as it would be.
    pub examined: Examined,
    /// The files that change, in order.
    pub changes: Vec<Change>,
    /// The files that change together or not at all: a change in one may be wrong without that in another.
    pub groups: Vec<BTreeSet<FileId>>,
    /// How many findings are fixed.
    pub fixed: usize,
    /// Fixes that could be applied and are not.
    pub refusals: Vec<Refusal>,
}

/// Applies the fixes of what is reported in `first`, if they are at least as safe as `least`. `stdin` are the bytes of
/// the file that standard input stands for. A program that can't be distributed in the end stays as it is.
#[must_use]
pub fn mend(
    first: Examined,
    wishes: Wishes<'_>,
    least: Applicability,
    stdin: Option<(FileId, Vec<u8>)>,
) -> Mended {
    let mended = mend_unless(first.clone(), wishes, least, stdin.clone(), &BTreeSet::new(), &[]);
    let spared = not_distributed(&mended.examined);
    if mended.changes.iter().all(|change| !spared.contains(&change.file)) {
        return mended;
    }
    // Why they stay is what the first attempt met.
    let refusals = mended.refusals;
    let mended = mend_unless(first, wishes, least, stdin, &spared, &refusals);
    Mended { refusals, ..mended }
}

/// The files that stay as they are because fixes don't lead to the distribution of their programs.
pub(super) fn spared(
    examined: &Examined,
    wishes: Wishes<'_>,
    least: Applicability,
    stdin: Option<(FileId, Vec<u8>)>,
) -> BTreeSet<FileId> {
    let mended = mend_unless(examined.clone(), wishes, least, stdin, &BTreeSet::new(), &[]);
    not_distributed(&mended.examined)
}

/// The files of the programs that are to be distributed and are not in the end, without those of programs that are.
fn not_distributed(examined: &Examined) -> BTreeSet<FileId> {
    let is_settled = |trainer: &&Trainer| trainer.distribution == Distribution::Settled;
    let (others, refused): (Vec<&Trainer>, Vec<&Trainer>) = examined.trainers.iter().partition(is_settled);
    let files = |trainers: Vec<&Trainer>| -> BTreeSet<FileId> {
        trainers.iter().flat_map(|trainer| &trainer.files).copied().collect()
    };
    &files(refused) - &files(others)
}

/// The same, with files that stay as they are; what remains tells why its fix is left out, also as an earlier attempt
/// `met` it.
fn mend_unless(
    first: Examined,
    wishes: Wishes<'_>,
    least: Applicability,
    stdin: Option<(FileId, Vec<u8>)>,
    spared: &BTreeSet<FileId>,
    met: &[Refusal],
) -> Mended {
    let (project, modules) = (first.project.clone(), first.modules.clone());
    let mut originals = Originals::new(&project, &modules, stdin);
    let documents = first.documents.clone();
    let mut made: Vec<Edits> = Vec::new();
    let mut examined = first;
    let mut changed = BTreeSet::new();
    let mut groups = Vec::new();
    let mut fixed = 0;
    let mut refusals = Vec::new();
    let mut proofs = PROOFS;
    for _ in 0..ROUNDS {
        let origin = Origin { documents: &documents, changes: &made, now: &examined.documents };
        let round = round(&examined, wishes, least, spared, origin, &mut originals, &mut proofs);
        refusals = round.refusals;
        let Some(after) = round.after else { break };
        examined = after;
        made.push(round.edits);
        for parcel in round.admitted {
            fixed += parcel.findings.len();
            let files: BTreeSet<FileId> = parcel.edits.files().collect();
            changed.extend(files.iter().copied());
            join(&mut groups, files);
        }
    }
    let changes = changed.into_iter().filter_map(|file| change(file, &examined, &mut originals)).collect();
    let origin = Origin { documents: &documents, changes: &made, now: &examined.documents };
    let reasons: Vec<Option<String>> = examined
        .report
        .findings
        .iter()
        .map(|own| {
            let mut known = refusals.iter().chain(met);
            known.find(|refusal| refusal.is_of(&own.finding, origin)).map(|refusal| refusal.reason.clone())
        })
        .collect();
    for (finding, reason) in examined.report.findings.iter_mut().zip(reasons) {
        finding.finding.notes.extend(reason.map(|reason| format!("`--fix` leaves this as it is: {reason}.")));
    }
    Mended { examined, changes, groups, fixed, refusals }
}

/// What the fix of one finding, which is right by itself, makes of the files; how safe it is does not matter.
///
/// # Errors
///
/// It is not good, or there is none.
pub fn mend_one(examined: &Examined, wishes: Wishes<'_>, finding: &Finding) -> Result<Vec<Change>, Refusal> {
    let mut originals = Originals::new(&examined.project, &examined.modules, None);
    let origin = Origin { documents: &examined.documents, changes: &[], now: &examined.documents };
    let parcel = single(examined, finding, origin, &mut originals)?;
    let mut search = Search {
        before: examined,
        wishes,
        origin,
        originals: &mut originals,
        proofs: &mut 1,
        admitted: Vec::new(),
        edits: Edits::default(),
        after: None,
        refusals: Vec::new(),
    };
    search.admit(&[&parcel]);
    let (after, refusals) = (search.after, search.refusals);
    let Some(after) = after else {
        let lost = || Refusal::new(finding, origin, "it can't be tried");
        return Err(refusals.into_iter().next().unwrap_or_else(lost));
    };
    let files = parcel.edits.files();
    Ok(files.filter_map(|file| change(file, &after, &mut originals)).collect())
}

/// What one round comes to.
#[derive(Default)]
pub(super) struct Round {
    /// The project after it, if anything could be applied.
    pub(super) after: Option<Examined>,
    /// What is applied.
    pub(super) admitted: Vec<Parcel>,
    edits: Edits,
    refusals: Vec<Refusal>,
}

/// Applies what goes together. Units wait until no other fix is left: they are made for a program that keeps the
/// restrictions, and the other fixes see to that.
pub(super) fn round(
    before: &Examined,
    wishes: Wishes<'_>,
    least: Applicability,
    spared: &BTreeSet<FileId>,
    origin: Origin<'_>,
    originals: &mut Originals<'_>,
    proofs: &mut usize,
) -> Round {
    let (mut parcels, refusals) = parcels(before, least, origin, originals);
    parcels.retain(|parcel| parcel.edits.files().all(|file| !spared.contains(&file)));
    let mut round = Round { refusals, ..Round::default() };
    let (units, single): (Vec<&Parcel>, Vec<&Parcel>) =
        parcels.iter().partition(|parcel| parcel.unit.is_some());
    for mut waiting in [single, units] {
        while !waiting.is_empty() {
            let (chosen, rest) = compatible(&waiting);
            let mut search = Search {
                before,
                wishes,
                origin,
                originals: &mut *originals,
                proofs: &mut *proofs,
                admitted: Vec::new(),
                edits: Edits::default(),
                after: None,
                refusals: Vec::new(),
            };
            search.admit(&chosen);
            round.refusals.append(&mut search.refusals);
            if let Some(after) = search.after {
                round.after = Some(after);
                round.admitted = search.admitted.into_iter().cloned().collect();
                round.edits = search.edits;
                return round;
            }
            // What contradicted a fix that is refused gets its turn.
            waiting = rest;
        }
    }
    round
}

/// The parcels that don't contradict an earlier one, and the others.
fn compatible<'p>(parcels: &[&'p Parcel]) -> (Vec<&'p Parcel>, Vec<&'p Parcel>) {
    let mut edits = Edits::default();
    let (mut chosen, mut rest) = (Vec::new(), Vec::new());
    for &parcel in parcels {
        match edits.with(&parcel.edits) {
            Some(all) => {
                edits = all;
                chosen.push(parcel);
            }
            None => rest.push(parcel),
        }
    }
    (chosen, rest)
}

/// Adds a group, joining it with those that it shares a file with.
fn join(groups: &mut Vec<BTreeSet<FileId>>, files: BTreeSet<FileId>) {
    let (touching, mut apart): (Vec<_>, Vec<_>) =
        std::mem::take(groups).into_iter().partition(|group| !group.is_disjoint(&files));
    let joined = touching.into_iter().flatten().chain(files).collect();
    apart.push(joined);
    apart.sort_unstable();
    *groups = apart;
}

/// The bytes of a file before and after; none where fixes have undone each other.
fn change(file: FileId, examined: &Examined, originals: &mut Originals<'_>) -> Option<Change> {
    let before = originals.get(file).ok()?.to_vec();
    let text = examined.project.read(file).ok()?;
    let after = encode_as(examined.project.file(file).kind, &text, &before).ok()?;
    (before != after).then_some(Change { file, before, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_share_a_file_are_one() {
        let set = |files: &[u32]| files.iter().map(|&file| FileId(file)).collect::<BTreeSet<_>>();
        let mut groups = Vec::new();
        for files in [&[1, 2][..], &[3], &[4, 5], &[2, 5]] {
            join(&mut groups, set(files));
        }
        assert_eq!(groups, [set(&[1, 2, 4, 5]), set(&[3])]);
    }
}
