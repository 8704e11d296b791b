//! Where the ranks can wait for each other: at a place that each of them comes to, as often as the others.

use rustc_hash::FxHashSet;

use super::data::fed_generators;
use super::job::Job;
use super::obstacles;
use super::obstacles::handlers::catching;
use super::ranked::is_for_some;
use super::started::code_runs_started;
use crate::api::{Effect, Kind};
use crate::program::{CallEdge, Caller, Object, Place};
use crate::project::FileId;
use crate::semantic::{
    BlockId, Branch, BranchKind, CallId, Module, Statement, StatementId, StatementKind, Suite, Value,
};
use crate::syntax::TextRange;

/// What an `if` statement asks the file system or the like. While one rank writes, another may get another answer, unless
/// rank 0 answers for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) file: FileId,
    pub(super) statement: StatementId,
    /// The condition.
    pub(super) range: TextRange,
}

/// Whether all ranks come to a statement in the same order as to other collectives: under no condition that a rank's
/// own results decide, in no traced code, and not called back by a library, or asked for elements, which it may do in a thread of
/// its own.
pub(super) fn all_ranks_come_to(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    let own = job.facts.module(file).statement(statement);
    let questions = questions_of_block(job, Caller { file, scope: own.scope }, own.block, statement);
    questions.is_some_and(|questions| questions.is_empty())
}

/// The outermost statement around one, or itself, that stands in a handler or an `if` statement, whose condition ranks may
/// find otherwise.
pub(super) fn undecided(job: &Job<'_>, file: FileId, statement: StatementId) -> StatementId {
    let module = job.facts.module(file);
    let own = module.statement(statement);
    let caller = Caller { file, scope: own.scope };
    let conditions = job.facts.conditions(caller, own.block).into_iter().map(|condition| condition.branch);
    let deciding: FxHashSet<StatementId> = conditions
        .filter(|branch| asks_the_world(job, caller, branch) || obstacles::decides(job, caller, branch))
        .map(|branch| branch.statement)
        .collect();
    let mut outermost = statement;
    let mut within = statement;
    for around in module.ancestor_ids(statement).take_while(|&id| module.statement(id).scope == own.scope) {
        if deciding.contains(&around) || module.statement(within).suite == Suite::Handler {
            outermost = around;
        }
        within = around;
    }
    outermost
}

/// The questions that decide whether a rank comes to a call, if nothing else does.
pub(super) fn questions_around(job: &Job<'_>, file: FileId, call: CallId) -> Option<Vec<Question>> {
    let data = job.facts.module(file).call(call);
    questions_of_block(job, Caller { file, scope: data.scope }, data.block, data.statement)
}

/// The same of a block, and a statement in it.
pub(super) fn questions_of_block(
    job: &Job<'_>,
    caller: Caller,
    block: BlockId,
    statement: StatementId,
) -> Option<Vec<Question>> {
    let facts = job.facts;
    if is_for_some(job, caller, block, &mut FxHashSet::default()) {
        return None;
    }
    let mut found = Vec::new();
    let mut work = vec![(caller, block, statement)];
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    while let Some((caller, block, statement)) = work.pop() {
        let module = facts.module(caller.file);
        if job.traced.contains(&caller)
            || obstacles::is_conditional(job, caller, block)
            || is_handler(module, statement)
            || is_behind_tried_return(job, caller.file, statement)
        {
            return None;
        }
        for branch in facts.conditions(caller, block).into_iter().map(|condition| condition.branch) {
            if asks_the_world(job, caller, &branch) {
                let question = question(job, caller, &branch)?;
                if !found.contains(&question) {
                    found.push(question);
                }
            }
        }
        if !seen.insert(caller) {
            continue;
        }
        let Some(function) = facts.function_of(caller) else { continue };
        for edge in facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)) {
            let id = facts.call_in_place(edge)?;
            if fed_generators::is_made_by(job, edge, id) {
                return None;
            }
            let call = facts.module(edge.caller.file).call(id);
            work.push((edge.caller, call.block, call.statement));
        }
    }
    Some(found)
}

/// Whether a statement stands in a handler: what raises there on one rank, such as reading a file, need not do so on
/// another.
fn is_handler(module: &Module, statement: StatementId) -> bool {
    let scope = module.statement(statement).scope;
    let own = std::iter::once(module.statement(statement)).chain(module.ancestors(statement));
    own.take_while(|own| own.scope == scope).any(|own| own.suite == Suite::Handler)
}

/// Whether code in front leaves the function where something succeeds that may fail on one rank alone, which is caught: `try:
/// return download(url)`.
fn is_behind_tried_return(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let own = module.statement(statement);
    let may_fail = |id: CallId| {
        let fails = [Effect::ReadsFile, Effect::WritesFile, Effect::Varies];
        let mut symbols = facts.called_symbols(file, id).peekable();
        let is_known = symbols.peek().is_some()
            || facts.called_functions(file, id).next().is_some()
            || facts.callees(file, id).iter().any(|edge| {
                let callee = facts.solution.object(edge.callee);
                !matches!(callee, Object::Unknown | Object::External(_))
            });
        !is_known || symbols.any(|symbol| fails.into_iter().any(|effect| symbol.has(effect)))
    };
    let next = module.statements.partition_point(|other| other.range.start() < own.range.start());
    (0..next).map(StatementId::new).any(|id| {
        let leaving = module.statement(id);
        leaving.kind == StatementKind::Return
            && leaving.scope == own.scope
            && catching(job, file, id).is_some_and(|tried| {
                let range = module.statement(tried).range;
                let mut calls = job.calls_in(file);
                !range.contains_range(own.range)
                    && calls.any(|id| range.contains_range(module.call(id).range) && may_fail(id))
            })
    })
}

/// Whether a branch rests on the file system or the like.
pub(super) fn asks_the_world(job: &Job<'_>, caller: Caller, branch: &Branch) -> bool {
    branch.kind != BranchKind::For
        && branch.condition.is_some_and(|value| {
            rests_on_the_world(job, (caller.file, value))
                // `wanted = False` and `wanted = True`, as a file is there or not
                || job.facts.choosing(caller.file, value).into_iter().any(|own| {
                    let asked = own.branch.condition;
                    asked.is_some_and(|asked| rests_on_the_world(job, (caller.file, asked)))
                })
        })
}

fn rests_on_the_world(job: &Job<'_>, condition: Place) -> bool {
    job.facts.varying().contains_key(&condition) || asks_by_name(job, condition)
}

/// Whether something is asked by a method of an object that nobody knows, which is called like one of paths:
/// `folder.exists()`.
fn asks_by_name(job: &Job<'_>, condition: Place) -> bool {
    let facts = job.facts;
    let Some(path) = facts.library.lookup(PATH) else { return false };
    let asks = |(file, value): Place| {
        let module = facts.module(file);
        let Value::Call(call) = module.value(value).value else { return false };
        let Value::Attribute { base, name, .. } = module.value(module.call(call).callee).value else {
            return false;
        };
        let method = facts.library.member(path, module.names.text(name));
        method.is_some_and(|own| own.has(Effect::ReadsFile) && own.has(Effect::Varies))
            && (facts.is_unknown(file, base) || facts.may_be_foreign(file, base))
    };
    facts.influence().backwards(&[condition], |_| false).into_iter().any(asks)
}

/// The class of paths.
const PATH: &str = "pathlib.Path";

/// The question of a branch, if rank 0 can answer it for all: they have to come to it, and it must bind nothing.
fn question(job: &Job<'_>, caller: Caller, branch: &Branch) -> Option<Question> {
    let module = job.facts.module(caller.file);
    let statement = module.statement(branch.statement);
    // What `elif` asks can't be asked in front of the statement.
    let is_first = !module.clauses.iter().any(|own| own.test == Some(branch.range));
    let can_be_told = branch.kind == BranchKind::If
        && statement.kind == StatementKind::If
        && !module.definitions.iter().any(|own| branch.range.contains_range(own.range))
        && can_wait(job, caller.file, branch.statement)
        && (is_first || !lacks_session(job, caller.file, branch.statement));
    can_be_told.then_some(Question { file: caller.file, statement: branch.statement, range: branch.range })
}

/// Whether the ranks can meet at a statement: Horovod is started there, and operations are run as they are made if the program ever
/// says so.
pub(super) fn can_wait(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    let own = job.facts.module(file).statement(statement);
    code_runs_started(job, file, own.scope, own.range.start()) && !is_before_eager_mode(job, file, own)
}

/// What makes TensorFlow 1 run operations as they are made; with an operation before it is an error.
const EAGER_MODE: [&str; 2] =
    ["tensorflow.compat.v1.enable_eager_execution", "tensorflow.compat.v1.enable_v2_behavior"];

/// Whether the code of a module comes to a statement before it turns to eager execution.
fn is_before_eager_mode(job: &Job<'_>, file: FileId, statement: &Statement) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let switches = EAGER_MODE.map(|name| facts.library.lookup(name));
    statement.scope == Module::TOP
        && job.calls_in(file).any(|id| {
            let call = module.call(id);
            call.scope == Module::TOP
                && statement.range.start() < call.range.start()
                && facts.called_symbols(file, id).any(|own| switches.contains(&Some(own)))
        })
}

/// The statement behind which all ranks come to the same place, though what a statement does may raise on one of them: itself, or the
/// outermost `try` statement around it that catches something. `None` if a handler goes elsewhere.
pub(super) fn past_handlers(module: &Module, statement: StatementId) -> Option<StatementId> {
    let scope = module.statement(statement).scope;
    let (mut outermost, mut within) = (statement, statement);
    for around in module.ancestor_ids(statement).take_while(|&id| module.statement(id).scope == scope) {
        let tried = module.statement(around);
        if tried.kind == StatementKind::Try && module.statement(within).suite == Suite::Body {
            let below = || module.statements_below(around);
            let handlers = below().filter(|own| own.scope == scope && own.suite == Suite::Handler);
            // In handlers of this statement, or deeper.
            let firsts: Vec<TextRange> = handlers.map(|own| own.range).collect();
            if !firsts.is_empty() {
                outermost = around;
            }
            let leaves = |own: &Statement| {
                matches!(own.kind, StatementKind::Return | StatementKind::Break | StatementKind::Continue)
            };
            let is_caught = |own: &&Statement| firsts.iter().any(|first| first.contains_range(own.range));
            if below().filter(is_caught).any(leaves) {
                return None;
            }
        }
        within = around;
    }
    Some(outermost)
}

/// Whether rank 0 can tell the others something by an expression there, which has no place for a session of its own.
pub(super) fn can_be_told(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    can_wait(job, file, statement) && !lacks_session(job, file, statement)
}

/// Whether some program comes to a statement that makes graphs for sessions, and not in the block of one, `with tf.Session() as
/// session:`, which would run collectives. A monitored one has finished its graph.
pub(super) fn lacks_session(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    let facts = job.facts;
    let programs = job.common.session_programs(facts);
    if programs.is_empty() {
        return false;
    }
    let mut work = vec![(file, statement)];
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    while let Some((file, statement)) = work.pop() {
        let module = facts.module(file);
        let mut managers = module.managers_around(statement);
        if managers.any(|manager| facts.may_be(file, manager, Kind::Session)) {
            continue;
        }
        let caller = Caller { file, scope: module.statement(statement).scope };
        if !seen.insert(caller) {
            continue;
        }
        let Some(function) = facts.function_of(caller) else {
            if programs.iter().any(|program| program.reached.contains(&caller)) {
                return true;
            }
            continue;
        };
        let is_run = |edge: &&CallEdge| programs.iter().any(|program| facts.is_run(program, edge));
        for edge in facts.incoming(function).iter().filter(is_run) {
            let Some(call) = facts.call_in_place(edge) else { return true };
            work.push((edge.caller.file, facts.module(edge.caller.file).call(call).statement));
        }
    }
    false
}
