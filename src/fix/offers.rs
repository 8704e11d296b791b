//! What reports may offer: the changes that a first round of fixes makes.

use super::origin::Origin;
use super::original::Originals;
use super::parcel::Parcel;
use super::rounds::{PROOFS, round, spared};
use crate::examine::{Examined, Wishes};
use crate::finding::{Applicability, Finding};
use crate::project::FileId;
use crate::report::{Offer, Offers};

/// The safe changes that are proved for what is reported in `examined`. Others may follow when these are made, as
/// with `--fix`. `stdin` are the bytes of the file that standard input stands for.
#[must_use]
pub fn offers(examined: &Examined, wishes: Wishes<'_>, stdin: Option<(FileId, Vec<u8>)>) -> Offers {
    let spared = spared(examined, wishes, Applicability::Safe, stdin.clone());
    let mut originals = Originals::new(&examined.project, &examined.modules, stdin);
    let origin = Origin { documents: &examined.documents, changes: &[], now: &examined.documents };
    let round =
        round(examined, wishes, Applicability::Safe, &spared, origin, &mut originals, &mut PROOFS.clone());
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
