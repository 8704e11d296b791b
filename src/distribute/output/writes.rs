//! The statements of a program that write something, joined where they follow one another.

use super::super::bound::within;
use super::super::job::Job;
use super::super::names::fresh;
use super::super::ranked::is_for_one_rank;
use super::super::started::runs_started;
use super::downloads::{can_be_replaced, missed_elsewhere, without_it};
use super::for_all::done_by_all;
use super::inputs::{is_told_where, loads_from, names_own, own_effects};
use super::trackers::tracker;
use super::unknown_writers::{is_for_others, saves_by_name};
use super::waiting::Waiting;
use crate::api::{Effect, EffectSet, Kind};
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{Call, CallId, CallKind, Module, Operator, Role, StatementId, StatementKind, Value};
use crate::syntax::TextRange;

/// What statements write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::distribute) enum Sort {
    /// Lines on the standard streams.
    Print,
    /// Files.
    File,
    /// Checkpoints.
    Checkpoint,
}

/// Statements that follow one another in a suite, all of which write.
#[derive(Clone, Debug)]
pub(in crate::distribute) struct Run {
    pub(in crate::distribute) file: FileId,
    pub(in crate::distribute) first: StatementId,
    pub(in crate::distribute) last: StatementId,
    /// The writing call of each.
    pub(in crate::distribute) calls: Vec<CallId>,
    /// The highest sort among them.
    pub(in crate::distribute) sort: Sort,
    /// The variables that they bind and that are read elsewhere.
    pub(in crate::distribute) unbound: Vec<Unbound>,
    /// The last of them returns what it writes to; all ranks have to return, by this name.
    pub(in crate::distribute) returned: Option<String>,
    /// How the other ranks wait for what is written.
    pub(in crate::distribute) waiting: Waiting,
    /// The program loads what lies where a call returns: the other ranks have to know it.
    pub(in crate::distribute) is_loaded: bool,
    /// What all ranks have to do in front of the first statement, which is an expression of it.
    pub(in crate::distribute) for_all: Vec<TextRange>,
}

/// A variable that rank 0 binds and that is read elsewhere.
#[derive(Clone, Debug)]
pub(in crate::distribute) struct Unbound {
    pub(in crate::distribute) name: String,
    /// What it is on the other ranks, as an expression.
    pub(in crate::distribute) otherwise: String,
}

/// A statement that writes.
#[derive(Clone, Debug)]
struct Writing {
    statement: StatementId,
    calls: Vec<CallId>,
    sort: Sort,
    waiting: Waiting,
    /// The program loads what lies where a call returns.
    is_loaded: bool,
    /// Its expressions that all ranks have to evaluate.
    for_all: Vec<TextRange>,
}

/// The runs of a program that every rank executes.
pub(in crate::distribute) fn runs(job: &Job<'_>) -> Vec<Run> {
    let preparations = job.preparations();
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = job.facts.module(file);
        let own = preparations.all.iter().filter(|own| own.file == file);
        let mut writings: Vec<Writing> = own
            .map(|own| {
                let calls = own.calls.iter().map(|&call| (file, call));
                Writing {
                    statement: own.statement,
                    calls: own.calls.clone(),
                    sort: Sort::File,
                    waiting: own.waiting.clone().and_for_readers(job, calls, (file, own.statement)),
                    is_loaded: false,
                    for_all: Vec::new(),
                }
            })
            .collect();
        for call in job.calls_in(file) {
            if let Some(sort) = sort(job, file, call)
                && runs_started(job, file, call)
                && !is_for_one_rank(job, file, call)
                && !preparations.contain(job, file, call)
            {
                let statement = module.call(call).statement;
                let waiting = if sort == Sort::Print {
                    Waiting::default()
                } else {
                    let waiting = Waiting::for_written(job, (file, call), Some(statement));
                    waiting.and_for_readers(job, [(file, call)], (file, statement))
                };
                let is_loaded = waiting.is_due() && sort == Sort::Checkpoint && loads_from(job, file, call);
                let for_all = done_by_all(job, file, module.statement(statement).range, &[call]);
                writings.push(Writing { statement, calls: vec![call], sort, waiting, is_loaded, for_all });
            }
        }
        writings.sort_by_key(|writing| writing.statement);
        writings.dedup_by_key(|writing| writing.statement);
        found.extend(joined(job, file, writings));
    }
    found
}

fn joined(job: &Job<'_>, file: FileId, writings: Vec<Writing>) -> Vec<Run> {
    if writings.is_empty() {
        return Vec::new();
    }
    let Some(text) = job.text(file) else { return Vec::new() };
    let mut runs: Vec<Run> = Vec::new();
    for Writing { statement, calls, sort, waiting, is_loaded, for_all } in writings {
        match runs.last_mut() {
            Some(run)
                if for_all.is_empty()
                    && !waiting.in_front_of.contains(&(file, statement))
                    && text.follows(run.last, statement) =>
            {
                run.last = statement;
                run.calls.extend(calls);
                run.sort = run.sort.max(sort);
                run.waiting.join(waiting);
                run.is_loaded |= is_loaded;
            }
            _ => {
                runs.push(Run {
                    file,
                    first: statement,
                    last: statement,
                    calls,
                    sort,
                    unbound: Vec::new(),
                    returned: None,
                    waiting,
                    is_loaded,
                    for_all,
                });
            }
        }
    }
    for run in &mut runs {
        let place = |statement| text.module.statement(statement).range;
        let range = place(run.first).cover(place(run.last));
        let mut names = missed_elsewhere(job, file, range);
        // Rank 0 would leave the function before it tells the others, or waits for them.
        let is_left_late = run.sort == Sort::Checkpoint || run.sort == Sort::File && run.waiting.is_behind;
        if is_left_late && is_return(text.module, run.last) {
            let name = if run.sort == Sort::Checkpoint { "path" } else { "written" };
            run.returned = Some(fresh(text.module, name));
            names.extend(run.returned.clone());
        }
        let is_text = !names.is_empty() && run.calls.iter().any(|&call| is_added_to_text(job, file, call));
        let nothing = if is_text { "''" } else { "None" };
        let otherwise = |name: &str| {
            let mut bound = within(text.module, range);
            let own = bound.find(|own| text.module.variable_name(own.variable) == name);
            own.and_then(|own| without_it(job, file, own)).unwrap_or_else(|| nothing.to_owned())
        };
        run.unbound = names.into_iter().map(|name| Unbound { otherwise: otherwise(&name), name }).collect();
    }
    runs
}

/// Whether the text that a call returns is added to others, `"saved to " + path`, for which `None` is nothing.
fn is_added_to_text(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let result = (file, facts.module(file).call(call).result);
    let adds = |own: &Value| match own {
        Value::Operator { operator: Operator::Binary(method) | Operator::InPlace(method), .. } => {
            method.name() == "__add__"
        }
        _ => false,
    };
    let behind = facts.influence().list_forwards(&[result], |_| false);
    behind.into_iter().any(|(file, value)| adds(&facts.module(file).value(value).value))
}

/// What a call writes, if it is a statement of its own or its result has a plain name.
fn sort(job: &Job<'_>, file: FileId, id: CallId) -> Option<Sort> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    if call.kind != CallKind::Expression || tracker(job, file, id).is_some() {
        return None;
    }
    let mut effects = own_effects(job, file, id);
    if effects.contains(Effect::MakesFolder) && is_for_others(job, file, id) {
        return None;
    }
    if saves_by_name(job, file, call) || exports_profile(job, file, id) {
        effects = effects.with(Effect::WritesFile);
    }
    let is_checkpoint = effects.contains(Effect::WritesFile)
        && facts.receiver(file, call).is_some_and(|receiver| {
            [Kind::Checkpoint, Kind::CheckpointManager, Kind::Saver]
                .into_iter()
                .any(|kind| facts.may_be(file, receiver, kind))
        });
    let statement = facts.module(file).statement(call.statement);
    match call.role {
        Role::Statement if statement.range == call.range => {}
        // `path, _ = urlretrieve(url, "data.zip")`
        Role::Assigned | Role::Stored if can_be_replaced(job, file, id) => {}
        // `path = manager.save()`
        Role::Assigned
            if is_checkpoint && matches!(statement.kind, StatementKind::Assign { simple: true }) => {}
        // `return manager.save()`
        Role::Returned
            if is_checkpoint
                && is_return(facts.module(file), call.statement)
                && is_returned_to_statements(job, file, call) => {}
        // `return imsave(path, image)`, where nobody looks at what comes back.
        Role::Returned if !is_checkpoint && is_unused(job, file, call, RETURNS) => {}
        _ => return None,
    }
    if effects.intersects(EffectSet::of_every_rank())
        || effects.contains(Effect::WritesFile)
            && names_own(job, file, id)
            && !facts.concerns_weights(file, call)
    {
        return None;
    }
    if is_checkpoint {
        return Some(Sort::Checkpoint);
    }
    // A file that is read too is a download: every rank needs it.
    if effects.contains(Effect::WritesFile) && !effects.contains(Effect::ReadsFile) {
        return (!is_of_own_file(job, file, id)).then_some(Sort::File);
    }
    // `print(line, file=log)` writes to the file alone.
    (effects.contains(Effect::Prints) && !is_of_own_file(job, file, id)).then_some(Sort::Print)
}

/// Whether a trace is exported together with a profile, which is a file beside those of the summary's writer.
fn exports_profile(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let export = facts.library.lookup("tensorflow.summary.trace_export");
    facts
        .called_symbols(file, id)
        .filter(|&own| Some(own) == export)
        .any(|own| facts.argument(file, call, own, "profiler_outdir").is_some())
}

fn is_return(module: &Module, statement: StatementId) -> bool {
    module.statement(statement).kind == StatementKind::Return
}

/// Through how many functions it is followed what they return.
const RETURNS: u32 = 4;

/// Whether a call is all of a `return` statement, and nothing is done with what its function returns.
fn is_unused(job: &Job<'_>, file: FileId, call: &Call, steps: u32) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let Some(steps) = steps.checked_sub(1) else { return false };
    let Some(function) = facts.function_of(Caller { file, scope: call.scope }) else { return false };
    let mut edges = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)).peekable();
    is_return(module, call.statement)
        // Not what a lambda that is returned does later.
        && module.statement(call.statement).scope == call.scope
        && edges.peek().is_some()
        && edges.all(|edge| {
            let file = edge.caller.file;
            facts.call_in_place(edge).map(|own| facts.module(file).call(own)).is_some_and(|own| {
                match own.role {
                    Role::Statement => facts.module(file).statement(own.statement).range == own.range,
                    Role::Returned => is_unused(job, file, own, steps),
                    _ => false,
                }
            })
        })
}

/// Whether all that a call's function returns to are statements of their own, or a plain name.
fn is_returned_to_statements(job: &Job<'_>, file: FileId, call: &Call) -> bool {
    let facts = job.facts;
    let Some(function) = facts.function_of(Caller { file, scope: call.scope }) else { return false };
    let mut edges = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge));
    edges.all(|edge| {
        facts.call_in_place(edge).is_some_and(|own| {
            matches!(facts.module(edge.caller.file).call(own).role, Role::Statement | Role::Assigned)
        })
    })
}

/// Whether a call writes to an open file, whose opening is what differs between ranks, or into memory.
pub(super) fn is_of_own_file(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    if facts.called_symbols(file, id).any(is_told_where) {
        return false;
    }
    let is_file = |value| {
        facts.may_be(file, value, Kind::FileWriter)
            || facts.objects(file, value).any(|(id, _)| facts.builtin_class(id) == Some("file"))
    };
    facts.receiver(file, call).is_some_and(is_file)
        || call.arguments.iter().any(|argument| is_file(argument.value))
}
