//! Loops that each rank goes through in its own way: to the end of an iterator that is longer elsewhere, or over a set,
//! whose order is another one in each process.

use rustc_hash::FxHashSet;

use super::super::disorder::{self, Why};
use super::super::model::Model;
use super::super::values::Cause;
use super::{CHECK, source};
use crate::api::Effect;
use crate::finding::{Confidence, Finding, Label, Level};
use crate::program::{Caller, Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{
    BlockId, Branch, BranchKind, BuiltinType, CallId, Statement, StatementKind, Value, ValueId,
};

/// The finding of a call of `next` that comes to the end on some ranks sooner than on others.
pub(super) fn exhausted(model: &Model<'_>, caller: Caller, id: CallId) -> Option<Finding> {
    let facts = model.facts;
    let file = caller.file;
    let module = facts.module(file);
    let call = module.call(id);
    let iterator = call.arguments.first()?.value;
    if !facts.calls_builtin(file, id, "builtins.next") {
        return None;
    }
    let own = model.values.length((file, iterator))?;
    let around: Vec<&Statement> = module.ancestors(call.statement).collect();
    let is_caught = around.iter().any(|statement| statement.kind == StatementKind::Try);
    let turns = around.iter().find(|statement| is_loop(statement))?;
    // Without a handler the end is an error, and not meant to come.
    if !(is_caught || call.arguments.len() > 1) || !communicates(model, caller, call.block, turns) {
        return None;
    }
    let location = model.at_call(file, id);
    let level = if own.cause == Cause::Rank { Level::Error } else { Level::Warning };
    let message = "the ranks make different numbers of turns, and each turn communicates";
    let origin = source(model, own);
    let mut finding = Finding::new(&CHECK.rule, level, location, message)
        .here("ends sooner on some ranks")
        .help(
            "give all ranks the same number of elements, for example by `take` with a number that all share",
        )
        .confidence(if own.cause.is_weak() { Confidence::Possible } else { Confidence::Certain })
        .in_scope(facts.scope_name(caller));
    finding.forbids_fixes = own.cause == Cause::Files;
    if origin.location != location {
        finding = finding.label(origin.location, origin.message.clone());
    }
    finding.flow = vec![origin, Label { location, message: "ends sooner on some ranks".to_owned() }];
    Some(finding)
}

/// The finding of a loop over a set whose turns communicate what they are given.
pub(super) fn disordered(
    model: &Model<'_>,
    caller: Caller,
    id: BlockId,
    branch: Option<Branch>,
) -> Option<Finding> {
    let facts = model.facts;
    let file = caller.file;
    let branch = branch.filter(|branch| branch.kind == BranchKind::For)?;
    let iterated = branch.condition?;
    let turns = facts.module(file).statement(branch.statement);
    if !is_loop(turns) || !communicates(model, caller, id, turns) {
        return None;
    }
    let disorder = disorder::of(model, (file, iterated)).filter(|own| own.why == Why::Hashed)?;
    let elements = elements(model, file, iterated);
    if !shares(model, caller, turns, &elements) {
        return None;
    }
    let is_text = elements.iter().any(|&(file, value)| {
        facts
            .objects(file, value)
            .any(|(_, own)| matches!(own, Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str)))
    });
    let location = facts.location(file, branch.range);
    let (of, at) = disorder.place;
    let set = facts.location(of, facts.module(of).value(at).range);
    let message = "each rank goes through this set in an order of its own, and each turn communicates";
    let mut finding = Finding::new(&CHECK.rule, Level::Error, location, message)
        .here("in another order elsewhere")
        .help("sort the set: `sorted(...)`")
        .confidence(if is_text { Confidence::Certain } else { Confidence::Possible })
        .in_scope(facts.scope_name(caller));
    if set != location {
        finding = finding.label(set, "a set");
    }
    finding.flow = vec![
        Label { location: set, message: "a set".to_owned() },
        Label { location, message: "in another order elsewhere".to_owned() },
    ];
    Some(finding)
}

fn is_loop(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::For | StatementKind::While)
}

/// Whether a loop communicates behind the beginning of one of its blocks, before it is left.
fn communicates(model: &Model<'_>, caller: Caller, block: BlockId, turns: &Statement) -> bool {
    let first = model.comms.way(caller, block).and_then(|way| model.comms.first(way));
    first.is_some_and(|at| at.file == caller.file && turns.range.contains_range(at.text_range()))
}

/// What a loop takes from what it goes through.
fn elements(model: &Model<'_>, file: FileId, iterated: ValueId) -> Vec<Place> {
    let values = (0..).map(ValueId::new).zip(&model.facts.module(file).values);
    let elements = values.filter(|(_, own)| own.value == Value::Iteration(iterated));
    elements.map(|(id, _)| (file, id)).collect()
}

/// Whether what a turn communicates comes from the element that it is for.
fn shares(model: &Model<'_>, caller: Caller, turns: &Statement, elements: &[Place]) -> bool {
    let facts = model.facts;
    let file = caller.file;
    let module = facts.module(file);
    let behind: FxHashSet<Place> = facts.influence().forwards(elements, |_| false);
    module.calls.iter().enumerate().any(|(index, call)| {
        let id = CallId::new(index);
        call.scope == caller.scope
            && turns.range.contains_range(call.range)
            && call.arguments.iter().any(|argument| behind.contains(&(file, argument.value)))
            && (facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::Collective))
                || facts.called_functions(file, id).any(|own| model.code_communicates(facts.code_of(own))))
    })
}
