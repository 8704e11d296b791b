//! Where the broadcast behind the first step stands: the nearest code that is not traced and sees the variables.

use super::job::Job;
use super::spoken::Spoken;
use crate::program::{Caller, FunctionRef, Object, ObjectId, TrainingLoop, is_in_comprehension, loop_around};
use crate::project::FileId;
use crate::semantic::{CallId, Module, ScopeKind, StatementId, StatementKind};

/// Where a broadcast stands.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// Whose code.
    pub(super) caller: Caller,
    /// The statement behind which it stands.
    pub(super) statement: StatementId,
    /// What remembers that it was done.
    pub(super) memory: Memory,
    /// What is broadcast.
    pub(super) variables: Vec<Spoken>,
}

/// What remembers that a broadcast was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Memory {
    /// Nothing: the statement runs once.
    None,
    /// A variable of the same code, set in front of this loop.
    Local(StatementId),
    /// A variable of the module, for a function that is called for each step.
    Global,
    /// A TensorFlow variable, in traced code.
    Graph,
}

/// The site for a step: a call in `caller`, which executes `statement`.
pub(super) fn site(
    job: &Job<'_>,
    own: &TrainingLoop,
    caller: Caller,
    statement: StatementId,
    variables: Vec<Spoken>,
) -> Result<Site, &'static str> {
    let first = Site { caller, statement, memory: Memory::Global, variables };
    let mut at = first.clone();
    let mut seen = vec![caller];
    loop {
        let module = job.facts.module(at.caller.file);
        let is_traced = job.traced.contains(&at.caller);
        let repeated = outermost_loop(module, at.caller, at.statement);
        match (is_traced, repeated) {
            (false, Some(outermost)) => return Ok(Site { memory: Memory::Local(outermost), ..at }),
            (false, None) if at.caller.scope == Module::TOP => {
                return Ok(Site { memory: Memory::None, ..at });
            }
            (true, Some(_)) => break,
            _ => {}
        }
        if !job.program.already_distributed && !is_called(job, at.caller) {
            return Err("Nothing that the program runs calls the code that makes the step.");
        }
        match outwards(job, &at) {
            Some(next) if !seen.contains(&next.caller) => {
                seen.push(next.caller);
                at = next;
            }
            _ => break,
        }
    }
    if !own.models.iter().chain(&own.optimizers).all(|&object| is_made_once(job, object)) {
        return Err(
            "It can't be seen where the models and optimizers that it steps are known by a name, and \
                    they are made more than once.",
        );
    }
    let traced = job.traced.contains(&first.caller);
    Ok(Site { memory: if traced { Memory::Graph } else { Memory::Global }, ..first })
}

/// Whether the program runs code otherwise than by making a graph function of it, which is not to run it.
fn is_called(job: &Job<'_>, caller: Caller) -> bool {
    let Some(function) = job.facts.function_of(caller) else { return true };
    let mut edges = job.facts.incoming(function).iter();
    edges.any(|edge| job.facts.is_run(job.program, edge) && !job.facts.is_mere_wrapping(edge))
}

/// The same step, seen from the only place that calls its code.
fn outwards(job: &Job<'_>, at: &Site) -> Option<Site> {
    let facts = job.facts;
    let function = match facts.module(at.caller.file).scope(at.caller.scope).kind {
        ScopeKind::Function(function) | ScopeKind::Lambda(function) => {
            FunctionRef { file: at.caller.file, function }
        }
        _ => return None,
    };
    let mut calls: Vec<(FileId, CallId)> = Vec::new();
    for edge in facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)) {
        let place = (edge.caller.file, edge.call?);
        if facts.is_mere_wrapping(edge) {
            continue;
        }
        if !calls.contains(&place) {
            calls.push(place);
        }
    }
    let [(file, call)] = calls[..] else { return None };
    let data = facts.module(file).call(call);
    let variables: Option<Vec<Spoken>> =
        at.variables.iter().map(|spoken| spoken.at_call(job, at.caller, file, call)).collect();
    let caller = Caller { file, scope: data.scope };
    // What a `return` or a condition computes is too late, or too early, for a statement behind it.
    let kind = facts.module(file).statement(data.statement).kind;
    if matches!(kind, StatementKind::Return | StatementKind::While | StatementKind::If | StatementKind::For) {
        return None;
    }
    // Behind `losses = [step(batch) for batch in data]` all steps have been made.
    if is_in_comprehension(facts, file, data.statement, data.block, caller) {
        return None;
    }
    Some(Site { caller, statement: data.statement, memory: Memory::Global, variables: variables? })
}

/// The outermost loop around a statement within its own code.
fn outermost_loop(module: &Module, caller: Caller, statement: StatementId) -> Option<StatementId> {
    let own = module.ancestor_ids(statement).take_while(|&id| module.statement(id).scope == caller.scope);
    own.filter(|&id| matches!(module.statement(id).kind, StatementKind::For | StatementKind::While)).last()
}

/// Whether an object is made in code that runs once.
fn is_made_once(job: &Job<'_>, object: ObjectId) -> bool {
    if matches!(job.facts.solution.object(object), Object::Unknown) {
        return false;
    }
    let Some((file, call)) = job.facts.made_at(object) else { return true };
    !is_repeated(job, file, call)
}

/// Whether the statement of a call runs again; a comprehension in it is a part of it.
pub(super) fn is_statement_repeated(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    let caller = Caller { file, scope: data.scope };
    job.facts.repetition().of(caller).is_some()
        || outermost_loop(job.facts.module(file), caller, data.statement).is_some()
}

/// Whether a call is made again, in a loop of its own code or because that is called again.
pub(super) fn is_repeated(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    let caller = Caller { file, scope: data.scope };
    job.facts.repetition().of(caller).is_some()
        || loop_around(job.facts, file, data.statement, data.block, caller).is_some()
}
