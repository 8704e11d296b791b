//! Changes that a reader of a report may apply at a click: those that `--fix` would make, proved as it proves them.

use std::collections::BTreeMap;

use crate::finding::{Finding, Location};
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
}

fn key(finding: &Finding) -> (&'static str, Location, String) {
    (finding.rule.code, finding.primary.location, finding.message.clone())
}
