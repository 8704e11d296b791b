//! What reports may offer: the changes that a first round of fixes makes.

use std::collections::BTreeSet;

use super::origin::Origin;
use super::original::Originals;
use super::parcel::Parcel;
use super::rounds::{PROOFS, round, spared};
use crate::examine::{Distribution, Examined, Wishes};
use crate::finding::{Applicability, Finding};
use crate::project::FileId;
use crate::report::{Offer, Offers};

/// The safe changes that are proved for what is reported in `examined`. Others may follow when these are made, as
/// with `--fix`. `stdin` are the bytes of the file that standard input stands for.
#[must_use]
pub fn offers(examined: &Examined, wishes: Wishes<'_>, stdin: Option<(FileId, Vec<u8>)>) -> Offers {
    let safe = Applicability::Safe;
    let mut originals = Originals::new(&examined.project, &examined.modules, stdin.clone());
    let origin = Origin { documents: &examined.documents, changes: &[], now: &examined.documents };
    let mut first =
        |spared: &_| round(examined, wishes, safe, spared, origin, &mut originals, &mut PROOFS.clone());
    let mut round = first(&BTreeSet::new());
    // Whether later rounds come to the distribution of the others, `--fix` sees when it makes them all.
    let after = round.after.as_ref().unwrap_or(examined);
    if after.trainers.iter().any(|trainer| trainer.distribution != Distribution::Settled) {
        let spared = spared(examined, wishes, safe, stdin);
        if !spared.is_empty() {
            round = first(&spared);
        }
    }
    Offers::new(round.admitted.iter().filter_map(offer))
}

fn offer(parcel: &Parcel) -> Option<(&Finding, Offer)> {
    let first = parcel.findings.first()?;
    let message = &first.fix.as_ref()?.message;
    let message = match parcel.findings.len() - 1 {
        0 => message.clone(),
        1 => format!("{message}, and make the other change that belongs to it"),
        others => format!("{message}, and make the {others} other changes that belong to it"),
    };
    let offer = Offer { message, edits: parcel.edits.clone(), findings: parcel.findings.len() };
    Some((first, offer))
}
