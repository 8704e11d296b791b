//! Steps that change other variables in later turns of a loop, which a broadcast behind the first one does not reach:
//! layers that are trained one after the other, a head for each task, a model for each fold.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::site::{Memory, Site};
use crate::api::Kind;
use crate::program::{Caller, Object, ObjectId, Place, TrainingLoop};
use crate::semantic::{Branch, BranchKind, StatementKind, Value, ValueId};
use crate::syntax::TextRange;

/// Why variables can't be broadcast behind the first step.
pub(super) const OTHERS_LATER: &str = "A later turn of the loop steps other variables than the first one, behind which they would be broadcast: make all of \
     them in front of the loop, and step all of them in each turn.";

/// Whether a loop's turns step variables that those before did not, seen from where the broadcast is to stand.
pub(super) fn are_stepped(job: &Job<'_>, own: &TrainingLoop, site: &Site) -> bool {
    let Memory::Local(outermost) = site.memory else { return false };
    let caller = site.caller;
    let within = job.facts.module(caller.file).statement(outermost).range;
    are_chosen_by_turn(job, own, caller, within) || are_made_within(job, own, caller, within)
}

/// What the gradients of a loop are taken of.
fn sources(job: &Job<'_>, own: &TrainingLoop) -> Vec<Place> {
    let facts = job.facts;
    let sources = own.gradients.iter().filter_map(|&(file, call)| {
        let data = facts.module(file).call(call);
        let mut symbols = facts.called_symbols(file, call);
        let given = symbols.find_map(|symbol| facts.argument(file, data, symbol, "sources"));
        given.or_else(|| data.arguments.get(1)).map(|own| (file, own.value))
    });
    sources.collect()
}

/// Whether it depends on the turn of a loop which variables gradients are taken of.
fn are_chosen_by_turn(job: &Job<'_>, own: &TrainingLoop, caller: Caller, within: TextRange) -> bool {
    let facts = job.facts;
    let turns = iterated(job, caller, within);
    // What is made is the same in all turns, whatever it is made of.
    let is_made = |(file, value): Place| {
        let is_whole = |object| matches!(object, Object::Created(..) | Object::Instance(..));
        matches!(facts.module(file).value(value).value, Value::Call(_))
            && facts.objects(file, value).any(|(_, object)| is_whole(object))
    };
    facts.influence().backwards(&sources(job, own), is_made).into_iter().any(|(file, value)| {
        let Value::Iteration(of) = facts.module(file).value(value).value else { return false };
        file == caller.file && turns.contains(&of)
    })
}

/// What the `for` statements of some code go over that stand within a range.
fn iterated(job: &Job<'_>, caller: Caller, within: TextRange) -> FxHashSet<ValueId> {
    let module = job.facts.module(caller.file);
    let branches = module.scope(caller.scope).flow.blocks.iter().filter_map(|block| block.branch);
    let is_turns = |own: &Branch| {
        own.kind == BranchKind::For
            && module.statement(own.statement).kind == StatementKind::For
            && within.contains_range(own.range)
    };
    branches.filter(is_turns).filter_map(|own| own.condition).collect()
}

/// Whether a model or a variable is made anew in turns of a loop, and not only where there is none.
fn are_made_within(job: &Job<'_>, own: &TrainingLoop, caller: Caller, within: TextRange) -> bool {
    let facts = job.facts;
    let behind = facts.influence().backwards(&sources(job, own), |_| false);
    let variables = behind.into_iter().flat_map(|(file, value)| facts.of_kind(file, value, Kind::Variable));
    let trained: FxHashSet<ObjectId> = own.models.iter().copied().chain(variables).collect();
    trained.into_iter().filter_map(|own| facts.made_at(own)).map(|made| facts.spot(made)).any(|made| {
        let leading = facts.leading_to(vec![made], |edge| facts.is_run(job.program, edge));
        leading.into_iter().any(|(of, block, range)| {
            let is_asked = |own: &Branch| own.kind == BranchKind::If && within.contains_range(own.range);
            of == caller
                && within.contains_range(range)
                && !facts.conditions(of, block).iter().any(|condition| is_asked(&condition.branch))
        })
    })
}
