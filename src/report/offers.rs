//! Changes that a reader of a report may apply at a click: those that `--fix` would make, proved as it proves them.

use std::collections::BTreeMap;

use crate::finding::{Edit, Finding, Location};
use crate::fix::Edits;

/// A change that mends one or more findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What it does, in the imperative.
    pub message: String,
    /// All of it: a part alone may be wrong.
    pub edits: Edits,
    /// How many findings are gone then.
    pub findings: usize,
}

/// Each offer at the first finding that it mends.
#[derive(Clone, Debug, Default)]
pub struct Offers(BTreeMap<(&'static str, Location, String), Offer>);

impl Offers {
    /// Offers with the findings that they are made at.
    pub fn new<'f>(offers: impl IntoIterator<Item = (&'f Finding, Offer)>) -> Self {
        Self(offers.into_iter().map(|(finding, offer)| (key(finding), offer)).collect())
    }

    /// What is offered at a finding.
    #[must_use]
    pub fn at(&self, finding: &Finding) -> Option<&Offer> {
        self.0.get(&key(finding))
    }

    /// The same offers with other places and edits. Those that lose an edit, or whose edits then contradict each
    /// other, are gone.
    #[must_use]
    pub(super) fn moved(
        &self,
        location: impl Fn(Location) -> Location,
        edit: impl Fn(&Edit) -> Option<Edit>,
    ) -> Self {
        let moved = |edits: &Edits| {
            let all = edits.files().flat_map(|file| edits.of(file).iter().map(move |own| own.to_edit(file)));
            Edits::new(&all.map(|own| edit(&own)).collect::<Option<Vec<Edit>>>()?)
        };
        let offers = self.0.iter().filter_map(|((code, place, message), offer)| {
            let edits = moved(&offer.edits)?;
            Some(((*code, location(*place), message.clone()), Offer { edits, ..offer.clone() }))
        });
        Self(offers.collect())
    }
}

fn key(finding: &Finding) -> (&'static str, Location, String) {
    (finding.rule.code, finding.primary.location, finding.message.clone())
}
