//! Downloads to a place where they look first: `mnist.load_data()` fetches a file once, and only reads it from then on. Who
//! comes while another rank fetches it takes the beginning for the whole, or writes over it. So rank 0 comes first.

use rustc_hash::FxHashSet;

use super::super::awaited::{all_ranks_come_to, can_wait, past_handlers};
use super::super::job::Job;
use super::super::meeting::Meeting;
use super::super::names::fresh;
use super::super::obstacles::handlers::catching;
use super::super::ranked::is_for_one_rank;
use super::super::step::Step;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::program::{Caller, Literal, Object};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, CallKind, Statement, StatementId, StatementKind};

/// Statements that follow one another in a suite, all of which download.
struct Run {
    file: FileId,
    first: StatementId,
    last: StatementId,
    calls: Vec<CallId>,
}

/// The steps of `output-on-every-rank` that let rank 0 download before the others. Who distributed a program by hand may
/// have fetched the files before.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let runs = job.program.files().into_iter().flat_map(|file| runs(job, file));
    runs.filter_map(|run| step(job, rule, &run)).collect()
}

fn runs(job: &Job<'_>, file: FileId) -> Vec<Run> {
    let module = job.facts.module(file);
    let mut found: Vec<(StatementId, CallId)> = job
        .calls_in(file)
        .filter(|&id| downloads(job, file, id) && !job.preparations().contain(job, file, id))
        .filter_map(|id| Some((place(job, file, id)?, id)))
        .collect();
    if found.is_empty() {
        return Vec::new();
    }
    let Some(text) = job.text(file) else { return Vec::new() };
    found.sort_unstable();
    let mut runs: Vec<Run> = Vec::new();
    // What returns has nothing behind it, unless it is taken apart.
    let returns = |statement| module.statement(statement).kind == StatementKind::Return;
    for (statement, call) in found {
        match runs.last_mut() {
            Some(run)
                if run.last == statement || !returns(statement) && text.follows(run.last, statement) =>
            {
                run.last = statement;
                run.calls.push(call);
            }
            _ => runs.push(Run { file, first: statement, last: statement, calls: vec![call] }),
        }
    }
    runs
}

/// Whether a call fetches what is not there yet.
fn downloads(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let is_off = |argument: &Argument| {
        facts.is_none(file, argument.value)
            || facts
                .objects(file, argument.value)
                .any(|(_, own)| own == Object::Literal(Literal::Bool(false)))
    };
    let fetches = |symbol: &Symbol| {
        symbol.has(Effect::Downloads)
            && !SWITCHES.iter().any(|own| facts.argument(file, call, symbol, own).is_some_and(is_off))
    };
    call.kind == CallKind::Expression && facts.called_symbols(file, id).any(fetches)
}

/// The parameters by which nothing is fetched: `VGG16(weights=None)`, `tfds.load(name, download=False)`.
const SWITCHES: [&str; 4] = ["weights", "encoder_weights", "download", "download_if_missing"];

/// The statement of a download, or the one past what it may raise, in front of and behind which the ranks can wait: who comes to
/// the one comes to the other. What is done in it besides must not wait for another rank, nor be left to one.
fn place(job: &Job<'_>, file: FileId, id: CallId) -> Option<StatementId> {
    let facts = job.facts;
    let module = facts.module(file);
    let call = module.call(id);
    let own = module.statement(call.statement);
    let is_simple = matches!(
        own.kind,
        StatementKind::Assign { .. } | StatementKind::Expression { .. } | StatementKind::Return
    );
    let place = past_handlers(module, call.statement)?;
    let leaves = |own: &Statement| {
        matches!(own.kind, StatementKind::Return | StatementKind::Break | StatementKind::Continue)
    };
    let range = module.statement(place).range;
    let is_quiet = || {
        let mut within = job.calls_in(file).filter(|&other| range.contains_range(module.call(other).range));
        within.all(|other| {
            facts.called_functions(file, other).next().is_none()
                && facts.called_symbols(file, other).all(|own| own.has(Effect::Downloads) || !is_apart(own))
        })
    };
    let comes = own.scope == call.scope
        && is_simple
        && !module.statements_below(place).any(leaves)
        && !is_for_one_rank(job, file, id)
        && can_wait(job, file, place)
        && all_ranks_come_to(job, file, place)
        && is_quiet()
        && !is_caught(job, file, place);
    comes.then_some(place)
}

/// Whether somebody around a statement catches what it raises: rank 0 would go on while the others wait for it.
fn is_caught(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    let facts = job.facts;
    let mut work = vec![(file, statement)];
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    while let Some((file, statement)) = work.pop() {
        if catching(job, file, statement).is_some() {
            return true;
        }
        let caller = Caller { file, scope: facts.module(file).statement(statement).scope };
        let Some(function) = facts.function_of(caller).filter(|_| seen.insert(caller)) else { continue };
        for edge in facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)) {
            let Some(call) = facts.call_in_place(edge) else { return true };
            work.push((edge.caller.file, facts.module(edge.caller.file).call(call).statement));
        }
    }
    false
}

/// Whether ranks meet in what a symbol does, or will once the program is distributed, or one of them alone does it.
fn is_apart(symbol: &Symbol) -> bool {
    const APART: [Effect; 11] = [
        Effect::Trains,
        Effect::AppliesGradients,
        Effect::Minimizes,
        Effect::Evaluates,
        Effect::Collective,
        // Rank 0 tells the others a seed, or what it gets.
        Effect::DrawsRandom,
        Effect::Varies,
        Effect::Temporary,
        Effect::ReadsClock,
        Effect::Prints,
        Effect::WritesFile,
    ];
    APART.into_iter().any(|own| symbol.has(own))
}

fn step(job: &Job<'_>, rule: &'static Rule, run: &Run) -> Option<Step> {
    let file = run.file;
    let text = job.text(file)?;
    let meeting = Meeting::at(job, text, run.first);
    let mut edits = meeting.first_goes(run.last)?;
    let mut finding =
        Step::missing(rule, job.at_call(file, run.calls[0]), "every rank downloads the same file")
            .here("downloaded by each rank, if it is not there")
            .help("let rank 0 come first, and the others when the file is there")
            .in_scope(job.scope_of(file, run.calls[0]));
    for &call in &run.calls[1..] {
        finding = finding.label(job.at_call(file, call), "and here");
    }
    if text.module.statement(run.last).kind == StatementKind::Return {
        let name = fresh(text.module, "downloaded");
        edits.push(text.bind_returned(run.last, &name));
        edits.extend(text.after(run.last, &[&format!("return {name}")]));
    }
    let uses = meeting.uses().collect();
    Some(
        Step::change(finding, "let rank 0 come first", edits, uses).right_everywhere_in(meeting.everywhere()),
    )
}
