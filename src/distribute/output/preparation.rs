//! What a program makes in a block of its own: `if not os.path.exists(path): download(path)`, and
//! `with imageio.get_writer(path) as writer: ...`.
//!
//! While one rank makes a file another may see the beginning of it, and take it for the whole. So one rank asks and
//! makes it, and the others wait behind the whole `if` statement: inside of it they would not all come to the place.
//! They wait behind a `with` statement only for what the program reads.

use rustc_hash::FxHashSet;

use super::super::awaited::{all_ranks_come_to, asks_the_world, can_wait};
use super::super::bound::within;
use super::super::job::Job;
use super::super::ranked::{is_for_one_rank, reads_rank};
use super::super::started::code_runs_started;
use super::downloads::missed_elsewhere;
use super::for_all::done_by_all;
use super::inputs::names_input;
use super::waiting::{Waiting, loop_over_listed};
use crate::api::{Effect, EffectSet};
use crate::program::{Caller, Object};
use crate::project::FileId;
use crate::semantic::{BranchKind, CallId, Module, Role, ScopeId, StatementId, StatementKind};
use crate::syntax::TextRange;

/// A block that makes a file.
#[derive(Clone, Debug)]
pub(super) struct Preparation {
    pub(super) file: FileId,
    pub(super) statement: StatementId,
    /// The calls that write.
    pub(super) calls: Vec<CallId>,
    /// How the other ranks wait for what is made.
    pub(super) waiting: Waiting,
}

/// The preparations of a program.
#[derive(Debug, Default)]
pub(in crate::distribute) struct Preparations {
    pub(super) all: Vec<Preparation>,
}

impl Preparations {
    /// Those of a program that is not distributed yet. Who distributed it by hand may have a folder for each rank.
    pub(in crate::distribute) fn of(job: &Job<'_>) -> Self {
        let mut found = Self::default();
        if job.program.already_distributed {
            return found;
        }
        let writing: Vec<(FileId, CallId)> =
            job.calls().filter(|&(file, call)| makes_file(job, file, call)).collect();
        if writing.is_empty() {
            return found;
        }
        // What a function makes that is called behind a question is made with the question.
        for making in [changed_in_turns, asked_and_made, made_in_block] {
            for &(file, call) in &writing {
                if !found.contain(job, file, call)
                    && let Some((statement, waiting)) = making(job, file, call)
                {
                    found.all.push(Preparation { file, statement, calls: vec![call], waiting });
                }
            }
        }
        found
    }

    /// Whether a call is made only within them: there, or in functions that are called only there.
    pub(super) fn contain(&self, job: &Job<'_>, file: FileId, call: CallId) -> bool {
        let mut work = vec![(file, call)];
        let mut seen: FxHashSet<Caller> = FxHashSet::default();
        while let Some((file, call)) = work.pop() {
            let data = job.facts.module(file).call(call);
            let range = |own: &Preparation| job.facts.module(own.file).statement(own.statement).range;
            if self.all.iter().any(|own| own.file == file && range(own).contains_range(data.range)) {
                continue;
            }
            let caller = Caller { file, scope: data.scope };
            let Some(function) = job.facts.function_of(caller) else { return false };
            if self.all.is_empty() || !seen.insert(caller) {
                return false;
            }
            let edges = job.facts.incoming(function).iter();
            let mut edges = edges.filter(|edge| job.facts.is_run(job.program, edge)).peekable();
            if edges.peek().is_none() {
                return false;
            }
            for edge in edges {
                let Some(call) = job.facts.call_in_place(edge) else { return false };
                work.push((edge.caller.file, call));
            }
        }
        true
    }
}

/// Whether a call writes a file in a way that must not be done by two ranks at a time.
fn makes_file(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let effects = effects(job, file, call);
    effects.contains(Effect::WritesFile) && !effects.contains(Effect::Idempotent)
        || job.facts.opens_for_writing(file, job.facts.module(file).call(call))
}

/// What a call may do, also in functions of the project.
fn effects(job: &Job<'_>, file: FileId, call: CallId) -> EffectSet {
    let edges = job.facts.callees(file, call).iter();
    edges.fold(EffectSet::NONE, |all, edge| all.union(job.facts.effects().of_edge(job.facts, edge).effects))
}

/// The loop over a folder that changes what is in it, which one rank does: another would list what is left.
fn changed_in_turns(job: &Job<'_>, file: FileId, call: CallId) -> Option<(StatementId, Waiting)> {
    let write = (file, call);
    let statement = loop_over_listed(job, write, || job.inputs().read_where(job, write))?;
    let own = job.facts.module(file).statement(statement);
    let is_due = code_runs_started(job, file, own.scope, own.range.start())
        && all_ranks_come_to(job, file, statement)
        && can_wait(job, file, statement)
        && can_be_left_out(job, file, statement);
    is_due.then_some((statement, Waiting { is_behind: true, ..Waiting::default() }))
}

/// The statement that asks for a file and makes it where there is none, which one rank does.
fn asked_and_made(job: &Job<'_>, file: FileId, call: CallId) -> Option<(StatementId, Waiting)> {
    let statement = question_around(job, file, call)?;
    let write = (file, call);
    // Who asks in each turn makes as many turns as there are files left.
    if loop_over_listed(job, write, || job.inputs().read_where(job, write)).is_some() {
        return None;
    }
    let is_told = || {
        let mut told = job.inputs().read_unknown(job, write).into_iter();
        told.any(|read| job.facts.may_follow(job.program, write, read))
    };
    let is_due = (names_input(job, file, call) || is_told())
        && all_ranks_come_to(job, file, statement)
        && can_wait(job, file, statement)
        && can_be_left_out(job, file, statement);
    is_due.then_some((statement, Waiting { is_behind: true, ..Waiting::default() }))
}

/// The block in which a call writes, which one rank does.
fn made_in_block(job: &Job<'_>, file: FileId, call: CallId) -> Option<(StatementId, Waiting)> {
    let statement = block_of(job, file, call)?;
    let waiting = || Waiting::for_written(job, (file, call), Some(statement));
    can_be_left_out(job, file, statement).then(|| (statement, waiting()))
}

/// The outermost `if` statement around a call whose condition another rank may find otherwise: it asks for files.
fn question_around(job: &Job<'_>, file: FileId, call: CallId) -> Option<StatementId> {
    let facts = job.facts;
    let module = facts.module(file);
    let data = module.call(call);
    let caller = Caller { file, scope: data.scope };
    let conditions = facts.conditions(caller, data.block).into_iter();
    let around = conditions.map(|condition| condition.branch).filter(|branch| {
        branch.kind == BranchKind::If
            && module.statement(branch.statement).kind == StatementKind::If
            && module.statement(branch.statement).range.contains_range(data.range)
            && asks_the_world(job, caller, branch)
    });
    let outermost = around.map(|branch| branch.statement).min()?;
    let own = module.statement(outermost);
    code_runs_started(job, file, own.scope, own.range.start()).then_some(outermost)
}

/// The `with` statement whose manager a call makes, if there is no file for it that goes nowhere. All ranks train.
fn block_of(job: &Job<'_>, file: FileId, call: CallId) -> Option<StatementId> {
    let module = job.facts.module(file);
    let data = module.call(call);
    let (_, block) = module.managers.iter().find(|(manager, _)| *manager == data.result)?;
    let own = module.statement(*block);
    let has_nowhere = job.facts.opens_stream(file, data);
    let is_due = code_runs_started(job, file, own.scope, own.range.start())
        && !is_for_one_rank(job, file, call)
        && !data.arguments.iter().any(|argument| reads_rank(job, file, argument.value));
    (is_due && !has_nowhere && !trains(job, file, own.range)).then_some(*block)
}

/// Whether the program trains in a stretch of code, or in code that is called there.
fn trains(job: &Job<'_>, file: FileId, range: TextRange) -> bool {
    let facts = job.facts;
    let mut loops = job.program.loops.iter();
    if loops.any(|own| own.caller.file == file && range.contains_range(own.range)) {
        return true;
    }
    let called = job.calls_in(file).filter(|&call| range.contains_range(facts.module(file).call(call).range));
    let called: FxHashSet<CallId> = called.collect();
    let scopes: FxHashSet<ScopeId> = called.iter().map(|&call| facts.module(file).call(call).scope).collect();
    let mut work: Vec<Caller> = Vec::new();
    for scope in scopes {
        let reached = facts.reached_functions(Caller { file, scope });
        let here = reached.filter(|(edge, _)| edge.call.is_some_and(|call| called.contains(&call)));
        work.extend(here.map(|(_, function)| facts.code_of(function)));
    }
    let mut seen = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if job.program.loops.iter().any(|own| own.caller == caller) {
            return true;
        }
        if seen.insert(caller) {
            work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
        }
    }
    false
}

/// Whether the other ranks can do without a statement: nothing in it is done by all, what it binds and sets is read only
/// there, and the program goes on behind it.
fn can_be_left_out(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    let module = job.facts.module(file);
    let range = module.statement(statement).range;
    let by_all = EffectSet::of_every_rank();
    let mut calls = (0..module.calls.len()).map(CallId::new);
    let mut stores = module.stores.iter();
    !leaves(module, range)
        && !stores.any(|store| range.contains_range(store.range))
        && calls.all(|call| {
            !range.contains_range(module.call(call).range)
                || !effects(job, file, call).intersects(by_all) && !changes_other(job, file, call, range)
        })
        && missed_elsewhere(job, file, range).is_empty()
        && done_by_all(job, file, range, &[]).is_empty()
}

/// Whether a stretch is left in another way than at its end.
fn leaves(module: &Module, range: TextRange) -> bool {
    let inside = |id: StatementId| range.contains_range(module.statement(id).range);
    (0..module.statements.len()).map(StatementId::new).filter(|&id| inside(id)).any(|id| {
        match module.statement(id).kind {
            StatementKind::Return => true,
            StatementKind::Break | StatementKind::Continue => {
                !module.ancestor_ids(id).take_while(|&around| inside(around)).any(|around| {
                    matches!(module.statement(around).kind, StatementKind::For | StatementKind::While)
                })
            }
            _ => false,
        }
    })
}

/// Whether a call may change a list or the like that is made outside of a stretch: `names.append(name)`.
fn changes_other(job: &Job<'_>, file: FileId, call: CallId, range: TextRange) -> bool {
    let module = job.facts.module(file);
    let data = module.call(call);
    let Some(receiver) = job.facts.receiver(file, data) else { return false };
    let is_container =
        job.facts.objects(file, receiver).any(|(_, object)| matches!(object, Object::Container(..)));
    let root = module.uses.iter().find(|reading| reading.range.start() == data.range.start());
    let is_own =
        root.is_some_and(|root| within(module, range).any(|own| Some(own.variable) == root.variable));
    data.role == Role::Statement && is_container && !is_own
}
