//! The statements of a program that write something, joined where they follow one another.

use rustc_hash::FxHashSet;

use super::awaited::all_ranks_come;
use super::job::Job;
use super::ranked::is_for_one_rank;
use super::started::runs_started;
use crate::api::{Effect, EffectSet, Kind};
use crate::program::{Object, Place};
use crate::project::FileId;
use crate::semantic::{Call, CallId, CallKind, Constant, Module, Role, StatementId, StatementKind, Value};

/// What statements write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    /// Lines on the standard streams.
    Print,
    /// Files.
    File,
    /// Checkpoints.
    Checkpoint,
}

/// Statements that follow one another in a suite, all of which write.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) file: FileId,
    pub(super) first: StatementId,
    pub(super) last: StatementId,
    /// The writing call of each.
    pub(super) calls: Vec<CallId>,
    /// The highest sort among them.
    pub(super) sort: Sort,
    /// The variables that they bind and that are read elsewhere.
    pub(super) unbound: Option<Vec<String>>,
    /// The program reads what is written: the other ranks have to wait for it.
    pub(super) is_awaited: bool,
}

/// A statement that writes.
#[derive(Clone, Copy, Debug)]
struct Writing {
    statement: StatementId,
    call: CallId,
    sort: Sort,
    /// The program reads the file.
    is_input: bool,
}

/// The runs of a program that every rank executes.
pub(super) fn runs(job: &Job<'_>) -> Vec<Run> {
    let reads = reads_what_it_writes(job);
    let inputs = paths_read(job);
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = job.facts.module(file);
        let mut writings: Vec<Writing> = Vec::new();
        for call in job.calls_in(file) {
            if let Some(sort) = sort(job, file, call)
                && runs_started(job, file, call)
                && !is_for_one_rank(job, file, call)
            {
                let is_input = sort == Sort::File && names_input(job, file, call, &inputs);
                // Where the others can't wait for it, each rank writes it.
                if !is_input || all_ranks_come(job, file, call) {
                    writings.push(Writing { statement: module.call(call).statement, call, sort, is_input });
                }
            }
        }
        writings.sort_by_key(|writing| writing.statement);
        writings.dedup_by_key(|writing| writing.statement);
        found.extend(joined(job, file, &writings, reads));
    }
    found
}

fn joined(job: &Job<'_>, file: FileId, writings: &[Writing], reads: bool) -> Vec<Run> {
    if writings.is_empty() {
        return Vec::new();
    }
    let Some(text) = job.text(file) else { return Vec::new() };
    let mut runs: Vec<Run> = Vec::new();
    for &Writing { statement, call, sort, is_input } in writings {
        match runs.last_mut() {
            Some(run) if text.follows(run.last, statement) => {
                run.last = statement;
                run.calls.push(call);
                run.sort = run.sort.max(sort);
                run.is_awaited |= is_input;
            }
            _ => runs.push(Run {
                file,
                first: statement,
                last: statement,
                calls: vec![call],
                sort,
                unbound: None,
                is_awaited: is_input,
            }),
        }
    }
    for run in &mut runs {
        run.unbound = read_elsewhere(text.module, run);
        run.is_awaited |= reads
            && run.calls.iter().any(|&call| job.facts.concerns_weights(file, text.module.call(call)))
            && all_ranks_come(job, file, run.calls[0]);
    }
    runs
}

/// The names that a run binds and that are read outside of it.
fn read_elsewhere(module: &Module, run: &Run) -> Option<Vec<String>> {
    let range = module.statement(run.first).range.cover(module.statement(run.last).range);
    let bound = module.definitions.iter().filter(|definition| {
        definition.statement.is_some_and(|own| range.contains_range(module.statement(own).range))
    });
    let read = bound.filter(|definition| {
        module.uses.iter().any(|reading| {
            reading.variable == Some(definition.variable) && !range.contains_range(reading.range)
        })
    });
    let names: Vec<String> =
        read.map(|definition| module.variable_name(definition.variable).to_owned()).collect();
    (!names.is_empty()).then_some(names)
}

/// What a call writes, if it is a statement of its own or its result has a plain name.
fn sort(job: &Job<'_>, file: FileId, id: CallId) -> Option<Sort> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    if call.kind != CallKind::Expression {
        return None;
    }
    let effects = own_effects(job, file, id);
    let is_checkpoint = effects.contains(Effect::WritesFile)
        && facts.receiver(file, call).is_some_and(|receiver| {
            [Kind::Checkpoint, Kind::CheckpointManager, Kind::Saver]
                .into_iter()
                .any(|kind| facts.may_be(file, receiver, kind))
        });
    let statement = facts.module(file).statement(call.statement);
    match call.role {
        Role::Statement if statement.range == call.range => {}
        // `path = manager.save()`
        Role::Assigned
            if is_checkpoint && matches!(statement.kind, StatementKind::Assign { simple: true }) => {}
        _ => return None,
    }
    // Progress bars have switches of their own; and what trains, or has to agree, is done by all.
    let by_all = [
        Effect::Trains,
        Effect::Evaluates,
        Effect::Predicts,
        Effect::Collective,
        Effect::ReadsInput,
        Effect::Minimizes,
        Effect::AppliesGradients,
        Effect::Spawns,
        Effect::Exits,
    ];
    if by_all.into_iter().any(|effect| effects.contains(effect)) {
        return None;
    }
    if is_checkpoint {
        return Some(Sort::Checkpoint);
    }
    // A file that is read too is a download: every rank needs it.
    if effects.contains(Effect::WritesFile) && !effects.contains(Effect::ReadsFile) {
        return (!is_of_own_file(job, file, call)).then_some(Sort::File);
    }
    // `print(line, file=log)` writes to the file alone.
    (effects.contains(Effect::Prints) && !is_of_own_file(job, file, call)).then_some(Sort::Print)
}

/// What a call's callees do themselves; a function of the project has its own statements.
fn own_effects(job: &Job<'_>, file: FileId, id: CallId) -> EffectSet {
    let facts = job.facts;
    let callees = facts.callees(file, id);
    let mut effects = EffectSet::NONE;
    for edge in callees {
        match facts.solution.object(edge.callee) {
            Object::Function(_) | Object::Class(_) => return EffectSet::NONE,
            _ => effects = effects.union(facts.effects().of_edge(facts, edge).effects),
        }
    }
    effects
}

/// Whether a call writes to an open file, whose opening is what differs between ranks, or into memory.
fn is_of_own_file(job: &Job<'_>, file: FileId, call: &Call) -> bool {
    let facts = job.facts;
    let is_file = |value| {
        facts.may_be(file, value, Kind::FileWriter)
            || facts.objects(file, value).any(|(id, _)| facts.builtin_class(id) == Some("file"))
    };
    facts.receiver(file, call).is_some_and(is_file)
        || call.arguments.iter().any(|argument| is_file(argument.value))
}

/// The texts that the paths of the files which the program reads are made of. What is put there is input, which every
/// rank needs.
pub(super) fn paths_read(job: &Job<'_>) -> FxHashSet<Place> {
    let reading = job.calls().filter(|&(file, call)| {
        own_effects(job, file, call).contains(Effect::ReadsFile) && !asks_for_existence(job, file, call)
            || job.facts.opens(file, job.facts.module(file).call(call))
                && !job.facts.opens_for_writing(file, job.facts.module(file).call(call))
    });
    let given: Vec<Place> = reading.flat_map(|(file, call)| arguments(job, file, call)).collect();
    texts_behind(job, &given)
}

/// Whether a call only asks whether there is a file.
fn asks_for_existence(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let library = job.facts.library;
    let truth = library.lookup("builtins.bool");
    job.facts
        .called_symbols(file, call)
        .all(|symbol| symbol.has(Effect::Varies) && library.returned_class(symbol) == truth)
}

/// Whether a path that a call is given names a file that the program reads.
pub(super) fn names_input(job: &Job<'_>, file: FileId, call: CallId, inputs: &FxHashSet<Place>) -> bool {
    !job.facts.concerns_weights(file, job.facts.module(file).call(call))
        && texts_behind(job, &arguments(job, file, call)).iter().any(|text| inputs.contains(text))
}

pub(super) fn arguments(job: &Job<'_>, file: FileId, call: CallId) -> Vec<Place> {
    job.facts.module(file).call(call).arguments.iter().map(|argument| (file, argument.value)).collect()
}

/// The string literals that values are made of.
pub(super) fn texts_behind(job: &Job<'_>, places: &[Place]) -> FxHashSet<Place> {
    let behind = job.facts.influence().backwards(places, |_| false);
    let is_text = |&(file, value): &Place| {
        matches!(job.facts.module(file).value(value).value, Value::Constant(Constant::Str(_)))
    };
    behind.into_iter().filter(is_text).collect()
}

/// Whether the program loads weights or models that it may have written itself.
fn reads_what_it_writes(job: &Job<'_>) -> bool {
    job.calls().any(|(file, call)| {
        job.facts
            .called_symbols(file, call)
            .any(|symbol| symbol.has(Effect::LoadsWeights) || symbol.has(Effect::LoadsModel))
    })
}
