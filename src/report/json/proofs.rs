//! What is proven of the ranks, for machines.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Place, place};
use crate::finding::Location;
use crate::ranks::Proof;
use crate::ranks::proof::Claim;
use crate::report::Sources;

/// What is known of the ranks of a program that uses Horovod.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Program<'a> {
    /// The module that is run.
    entry: &'a str,
    claims: Vec<Said<'a>>,
}

/// A property.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Said<'a> {
    /// `in-step`, `replicas-equal`, `written-once` or `names-bound`.
    property: &'static str,
    /// `proven`, `denied` by a finding, or `not-shown`.
    verdict: &'static str,
    /// A clause.
    message: &'static str,
    /// What is taken for granted.
    assumptions: Vec<Remark<'a>>,
    /// Why it is denied, or not shown.
    because: Vec<Remark<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Remark<'a> {
    /// A clause.
    message: &'a str,
    places: Vec<Place<'a>>,
}

pub(super) fn programs<'a>(proofs: &'a [Proof], sources: &Sources<'a>) -> Vec<Program<'a>> {
    let program = |proof: &'a Proof| Program {
        entry: sources.path(proof.entry),
        claims: proof.claims.iter().map(|claim| said(claim, sources)).collect(),
    };
    proofs.iter().map(program).collect()
}

fn said<'a>(claim: &'a Claim, sources: &Sources<'a>) -> Said<'a> {
    let remark = |message: &'a str, places: &BTreeSet<Location>| Remark {
        message,
        places: places.iter().map(|&at| place(at, sources)).collect(),
    };
    let assumed = claim.assumptions.iter();
    let denied = claim.denials.iter().map(|(message, places)| remark(message, places));
    let unknown = claim.obstacles.iter().map(|(own, places)| remark(own.text(), places));
    Said {
        property: claim.property.name(),
        verdict: claim.verdict().name(),
        message: claim.property.text(),
        assumptions: assumed.map(|(own, places)| remark(own.text(claim.property), places)).collect(),
        because: denied.chain(unknown).collect(),
    }
}
