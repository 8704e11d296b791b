//! Loops that wait for the file system: `while os.path.exists(folder): pass`.
//!
//! One rank alone removes and makes files. It may have made a folder again before another rank saw that it was gone,
//! and that rank then waits for ever.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::output::inputs::{arguments, texts_behind};
use super::super::step::Step;
use super::obstacle;
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::Place;
use crate::project::FileId;
use crate::semantic::{Branch, BranchKind, CallId, ValueId};
use crate::syntax::TextRange;

/// The loops of a program that wait for what it writes itself.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let waits = waits(job);
    if waits.is_empty() {
        return Vec::new();
    }
    let written: Vec<FxHashSet<Place>> =
        calls_that_write(job).map(|(file, call)| texts_of_paths(job, file, call)).collect();
    let own = waits.into_iter().filter(|&(file, asking, _)| {
        let asked = texts_of_paths(job, file, asking);
        // Two paths of which nothing is known may be the same.
        written.iter().any(|written| !written.is_disjoint(&asked) || written.is_empty() && asked.is_empty())
    });
    let step = |(file, asking, range)| {
        let message = "a loop waits for what another rank does to the files";
        let finding = obstacle(rule, job.facts.location(file, range), message)
            .help("remove and make files in one go, without waiting for them")
            .in_scope(job.scope_of(file, asking));
        Step::blocked(
            finding,
            "Only one rank removes and makes files. It may be further when the others look, and they wait for ever.",
        )
    };
    own.map(step).collect()
}

/// The conditions of `while` statements that ask the file system the same question in each turn.
fn waits(job: &Job<'_>) -> Vec<(FileId, CallId, TextRange)> {
    let mut found = Vec::new();
    for file in job.program.files() {
        // Few files ask: nothing is followed in the others.
        let asking: Vec<CallId> =
            job.calls_in(file).filter(|&call| asks_file_system(job, file, call)).collect();
        if asking.is_empty() {
            continue;
        }
        let module = job.facts.module(file);
        let blocks = module.scopes.iter().flat_map(|scope| &scope.flow.blocks);
        for branch in blocks.filter_map(|block| block.branch.as_ref()) {
            if branch.kind == BranchKind::While
                && let Some(condition) = branch.condition
                && let Some(asking) = question(job, file, branch, condition, &asking)
            {
                found.push((file, asking, branch.range));
            }
        }
    }
    found
}

/// The call of a loop's condition that asks the file system; what it is given does not change in the loop.
fn question(
    job: &Job<'_>,
    file: FileId,
    branch: &Branch,
    condition: ValueId,
    asking: &[CallId],
) -> Option<CallId> {
    let calls = &job.facts.module(file).calls;
    let mut own = asking
        .iter()
        .copied()
        .filter(|call| branch.range.contains_range(calls[call.index()].range))
        .peekable();
    own.peek()?;
    let behind = job.facts.influence().backwards(&[(file, condition)], |_| false);
    own.find(|&call| {
        behind.contains(&(file, calls[call.index()].result))
            && !changes_within(job, file, branch, &arguments(job, file, call))
    })
}

/// Whether the answer may be another one later: `exists`, not `readline`.
fn asks_file_system(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let mut symbols = job.facts.called_symbols(file, call);
    symbols.any(|symbol| symbol.has(Effect::ReadsFile) && symbol.has(Effect::Varies))
}

/// Whether the loop gives another value to something that the places are computed from.
fn changes_within(job: &Job<'_>, file: FileId, branch: &Branch, places: &[Place]) -> bool {
    let module = job.facts.module(file);
    let within = module.statement(branch.statement).range;
    let behind = job.facts.influence().backwards(places, |_| false);
    module.definitions.iter().any(|definition| {
        behind.contains(&(file, definition.value))
            && definition.statement.is_some_and(|own| within.contains_range(module.statement(own).range))
    })
}

fn calls_that_write<'j>(job: &'j Job<'_>) -> impl Iterator<Item = (FileId, CallId)> + 'j {
    job.calls().filter(|&(file, call)| {
        job.facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::WritesFile))
    })
}

fn texts_of_paths(job: &Job<'_>, file: FileId, call: CallId) -> FxHashSet<Place> {
    texts_behind(job, &arguments(job, file, call))
}
