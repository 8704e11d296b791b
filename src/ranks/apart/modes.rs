//! What one process mostly does: a mode of a program in which its ranks do nothing together, that evaluates, exports or
//! prepares the data, a program that the project's scripts start without a launcher, and one that is run in Colab.

use super::{COMMUNICATES, Runs, calls_with, is_reached, meant};
use crate::finding::{Confidence, Finding, Group};
use crate::program::{Caller, Facts, Program, Unreached, handed_over};
use crate::project::{FileId, Project};
use crate::semantic::{BlockId, CallId, Imported};

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
    let is_parallel =
        |program: &Program| !project.is_started_alone(program.entry) && !imports_colab(facts, program.entry);
    let modes = Modes::new(facts, is_parallel);
    for finding in certain {
        let at = finding.primary.location;
        let caller = facts.code_at(at);
        if is_reached(facts, caller) && !modes.is_together(caller, facts.block_at(caller, at)) {
            finding.confidence = Confidence::Possible;
            finding.forbids_fixes = true;
        }
    }
}

/// In which code the ranks of programs do something together, or come to what they do.
#[derive(Debug)]
pub(in crate::ranks) struct Modes<'f> {
    /// Programs, and what is only run beside the way to that.
    alone: Vec<(&'f Program, Unreached)>,
}

impl<'f> Modes<'f> {
    /// Those of the programs that are made for several ranks, as far as each of them is wanted.
    pub(in crate::ranks) fn new(facts: &'f Facts<'_>, is_wanted: impl Fn(&Program) -> bool) -> Self {
        let handed = handed_over(facts);
        let calls = calls_with(facts, &COMMUNICATES);
        let runs = meant(facts, &handed);
        let runs = runs.iter().filter(|own| is_wanted(own.program));
        Self { alone: runs.map(|own| (own.program, own.without_communication(&calls))).collect() }
    }

    /// Whether a scope's code, or a block of it, is run on the way to what ranks do together.
    pub(in crate::ranks) fn is_together(&self, caller: Caller, block: Option<BlockId>) -> bool {
        self.alone.iter().any(|(program, alone)| {
            program.reached.contains(&caller)
                && !alone.is_scope(caller)
                && !block.is_some_and(|block| alone.is_block(caller, block))
        })
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

impl Runs<'_, '_, '_> {
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
