//! Where the broadcast behind the first step stands: the nearest code that is not traced and sees the variables.

use super::super::job::Job;
use super::super::obstacles::counted::is_range;
use super::spoken::Spoken;
use crate::program::{Caller, Object, ObjectId, Repeated, TrainingLoop, is_in_comprehension, loop_around};
use crate::project::FileId;
use crate::semantic::{BranchKind, CallId, Module, ScopeKind, StatementId, StatementKind, Value};

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

/// Why a step of several models can't be followed by a broadcast of each.
const SEVERAL: &str = "The code that makes the step is called for several models or optimizers, and it can't be seen where each of \
                       them is known by a name: make the steps of each in code of its own.";

/// Why a step of models that are made again can't be followed by a broadcast.
const REPEATED: &str = "It can't be seen where the models and optimizers that it steps are known by a name, and they are made more \
                        than once.";

/// The sites for a step: a call in `caller`, which executes `statement`. Where its code is called for several models, each
/// of the calls has one.
pub(super) fn sites(
    job: &Job<'_>,
    own: &TrainingLoop,
    caller: Caller,
    statement: StatementId,
    variables: Vec<Spoken>,
) -> Result<Vec<Site>, &'static str> {
    let first = Site { caller, statement, memory: Memory::Global, variables };
    let is_known = own.models.iter().chain(&own.optimizers).all(|&object| is_made_once(job, object));
    // A flag in front of the loop would fall with each of the program's steps.
    if is_known && repeats_within_step(job, &first) && !is_for_several(job, &first) {
        return Ok(vec![first]);
    }
    match outermost(job, &first, 1, &mut Vec::new()) {
        Outermost::Sites(sites) => return Ok(sites),
        Outermost::Uncalled => {
            return Err("Nothing that the program runs calls the code that makes the step.");
        }
        Outermost::Several => return Err(SEVERAL),
        Outermost::Unnamed => {}
    }
    let is_for_several = is_for_several(job, &first);
    if !is_known || is_for_several {
        return match outermost(job, &first, CALLS, &mut Vec::new()) {
            Outermost::Sites(sites) => Ok(sites),
            _ => Err(if is_for_several { SEVERAL } else { REPEATED }),
        };
    }
    let traced = job.traced.contains(&first.caller);
    Ok(vec![Site { memory: if traced { Memory::Graph } else { Memory::Global }, ..first }])
}

/// Up to so many places it is followed where code is called for several models.
const CALLS: usize = 8;

/// How far outwards the variables of a step have names.
enum Outermost {
    /// Up to code that runs once, or to loops.
    Sites(Vec<Site>),
    /// To code that nothing runs.
    Uncalled,
    /// To a loop in which they are others with each turn.
    Several,
    /// Not so far.
    Unnamed,
}

/// The same step, seen from the outermost code that knows its variables by name; it may be called at so many places.
fn outermost(job: &Job<'_>, at: &Site, calls: usize, seen: &mut Vec<Caller>) -> Outermost {
    seen.push(at.caller);
    let module = job.facts.module(at.caller.file);
    let is_traced = job.traced.contains(&at.caller);
    let repeated = outermost_loop(module, at.caller, at.statement);
    let with = |memory: Memory| Outermost::Sites(vec![Site { memory, ..at.clone() }]);
    match (is_traced, repeated) {
        (false, Some(outermost)) => {
            let range = module.statement(outermost).range;
            let changes = at.variables.iter().any(|spoken| spoken.changes_within(job, range));
            return if changes { Outermost::Several } else { with(Memory::Local(outermost)) };
        }
        (false, None) if at.caller.scope == Module::TOP => return with(Memory::None),
        (true, Some(_)) => return Outermost::Unnamed,
        _ => {}
    }
    if !job.program.already_distributed && !is_called(job, at.caller) {
        return Outermost::Uncalled;
    }
    let places = callers(job, at.caller);
    // Where the step is not made every time, its model may have no variables yet when the call is over.
    if places.is_empty() || places.len() > calls || is_chosen(module, at) {
        return Outermost::Unnamed;
    }
    let mut found = Vec::new();
    for place in places {
        let Some(next) = outwards(job, at, place).filter(|next| !seen.contains(&next.caller)) else {
            return Outermost::Unnamed;
        };
        match outermost(job, &next, calls, &mut seen.clone()) {
            Outermost::Sites(sites) => found.extend(sites),
            other => return other,
        }
        if found.len() > calls {
            return Outermost::Unnamed;
        }
    }
    Outermost::Sites(found)
}

/// Whether a step is made several times by code that is called in a loop: `for _ in range(5):` in a function that is called for each
/// batch.
fn repeats_within_step(job: &Job<'_>, at: &Site) -> bool {
    let file = at.caller.file;
    let module = job.facts.module(file);
    let Some(around) = outermost_loop(module, at.caller, at.statement) else { return false };
    let blocks = &module.scope(at.caller.scope).flow.blocks;
    let mut branches = blocks.iter().filter_map(|block| block.branch);
    let counted = branches.find(|own| own.kind == BranchKind::For && own.statement == around);
    let is_counted =
        counted.and_then(|own| own.condition).is_some_and(|turns| match module.value(turns).value {
            Value::Call(call) => is_range(job, file, call),
            _ => false,
        });
    is_counted
        && !job.traced.contains(&at.caller)
        && matches!(job.facts.repetition().of(at.caller), Some(Repeated::Loop(..)))
}

/// Whether a condition in its own code decides whether a step is made.
fn is_chosen(module: &Module, at: &Site) -> bool {
    let around = module.ancestors(at.statement).take_while(|own| own.scope == at.caller.scope);
    around.into_iter().any(|own| own.kind == StatementKind::If)
}

/// Whether the code that makes a step is called for several models, optimizers or lists of variables.
fn is_for_several(job: &Job<'_>, at: &Site) -> bool {
    let places = callers(job, at.caller);
    !places.is_empty()
        && at.variables.iter().any(|spoken| {
            let mut names = places.iter().map(|&(file, call)| spoken.at_call(job, at.caller, file, call));
            let first = names.next();
            let is_named_alike =
                first.as_ref().is_some_and(|first| first.is_some() && names.all(|own| own == *first));
            !is_named_alike && spoken.may_be_several(job, at.caller)
        })
}

/// Whether the program runs code otherwise than by making a graph function of it, which is not to run it.
fn is_called(job: &Job<'_>, caller: Caller) -> bool {
    let Some(function) = job.facts.function_of(caller) else { return true };
    let mut edges = job.facts.incoming(function).iter();
    edges.any(|edge| job.facts.is_run(job.program, edge) && !job.facts.is_mere_wrapping(edge))
}

/// The places that call code, but for those that only wrap it.
fn callers(job: &Job<'_>, code: Caller) -> Vec<(FileId, CallId)> {
    let facts = job.facts;
    let mut places: Vec<(FileId, CallId)> = Vec::new();
    for edge in facts.function_of(code).into_iter().flat_map(|function| facts.incoming(function)) {
        if let Some(call) = edge.call
            && facts.is_run(job.program, edge)
            && !facts.is_mere_wrapping(edge)
            && !places.contains(&(edge.caller.file, call))
        {
            places.push((edge.caller.file, call));
        }
    }
    places
}

/// The same step, seen from a place that calls its code.
fn outwards(job: &Job<'_>, at: &Site, (file, call): (FileId, CallId)) -> Option<Site> {
    let facts = job.facts;
    let data = facts.module(file).call(call);
    // A lambda is called elsewhere.
    if matches!(facts.module(file).scope(data.scope).kind, ScopeKind::Lambda(_)) {
        return None;
    }
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
pub(in crate::distribute) fn is_repeated(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    let caller = Caller { file, scope: data.scope };
    job.facts.repetition().of(caller).is_some()
        || loop_around(job.facts, file, data.statement, data.block, caller).is_some()
}
