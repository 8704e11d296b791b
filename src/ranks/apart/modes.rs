//! What one process mostly does: a mode of a program in which its ranks do nothing together, that evaluates, exports or
//! prepares the data, a program that the project's scripts start without a launcher, and one that is run in Colab.

use rustc_hash::FxHashSet;

use super::{COMMUNICATES, Runs, calls_with, is_reached, meant};
use crate::finding::{Confidence, Finding, Group};
use crate::program::{Caller, Facts, Unreached, handed_over};
use crate::project::{FileId, Project};
use crate::semantic::{CallId, Imported};

/// The package of Colab, which is nowhere else.
const COLAB: &str = "google.colab";

/// Takes certainty from what is found between the ranks there, which is true once somebody starts several.
pub fn doubt<'f>(project: &Project, facts: &Facts<'_>, findings: impl IntoIterator<Item = &'f mut Finding>) {
    let is_certain =
        |own: &&mut Finding| own.rule.group == Group::Ranks && own.confidence == Confidence::Certain;
    let mut certain = findings.into_iter().filter(is_certain).peekable();
    if certain.peek().is_none() {
        return;
    }
    let handed = handed_over(facts);
    let calls = calls_with(facts, &COMMUNICATES);
    let mut runs = meant(facts, &handed);
    runs.retain(|own| {
        let entry = own.program.entry;
        !project.is_started_alone(entry) && !imports_colab(facts, entry)
    });
    let runs: Vec<(&FxHashSet<Caller>, Unreached)> =
        runs.iter().map(|own| (&own.program.reached, own.without_communication(&calls))).collect();
    for finding in certain {
        let at = finding.primary.location;
        let caller = facts.code_at(at);
        let block = facts.block_at(caller, at);
        let is_together = runs.iter().any(|(reached, alone)| {
            reached.contains(&caller)
                && !alone.is_scope(caller)
                && !block.is_some_and(|block| alone.is_block(caller, block))
        });
        if is_reached(facts, caller) && !is_together {
            finding.confidence = Confidence::Possible;
            finding.forbids_fixes = true;
        }
    }
}

/// Whether a program needs what Colab gives to its notebooks, each of which is one process.
fn imports_colab(facts: &Facts<'_>, entry: FileId) -> bool {
    let module = facts.module(entry);
    module.imports.iter().any(|own| match own.what {
        Imported::Name(name) if &*own.module == "google" => module.names.text(name) == "colab",
        _ => own.module.strip_prefix(COLAB).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
    })
}

impl Runs<'_, '_> {
    /// What is only run beside the way to those of these calls that the program makes, by which ranks communicate.
    fn without_communication(&self, calls: &[(Caller, CallId)]) -> Unreached {
        let mut own: Vec<(Caller, CallId)> =
            calls.iter().copied().filter(|(caller, _)| self.program.reached.contains(caller)).collect();
        if own.is_empty() {
            // Libraries beside Horovod may communicate for the ranks: while they train.
            own.extend(self.program.loops.iter().map(|own| (own.caller, own.call)));
        }
        if own.is_empty() { Unreached::default() } else { self.without(&own) }
    }
}
