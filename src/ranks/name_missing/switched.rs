//! Ranks that switch off what uses a name, `if rank == 0: start = time() else: debug = False`, and a use under
//! `if debug`; or that switch it on, `if rank == 0: start, debug = time(), True`.

use super::super::guards::{Guard, Literal};
use super::super::model::Model;
use crate::program::Caller;
use crate::semantic::{BlockId, Constant, Definition, Method, Module, Operator, Value, ValueId};

/// How many conditions around a use are asked.
const DEPTH: usize = 8;

/// What the conditions around a block say of the ranks by the constants that some of them, and no others, put in the
/// place of a condition's value.
pub(super) fn guard(model: &Model<'_>, caller: Caller, mut block: BlockId) -> Guard {
    let module = model.facts.module(caller.file);
    let flow = &module.scope(caller.scope).flow;
    let mut found = Guard::default();
    for _ in 0..DEPTH {
        // Behind several ways no condition is certain.
        let [way] = model.control(caller).direct(block) else { break };
        block = way.branch;
        let Some(branch) = flow.blocks[block.index()].branch else { break };
        let Some(condition) = branch.condition.filter(|_| branch.kind.outcome(way.arm) == Some(true)) else {
            continue;
        };
        let question = Question::of(module, condition);
        found.0.extend(switched_on(model, caller, question));
        let Value::Phi(parts) = &module.value(question.subject).value else { continue };
        let off = parts.iter().filter(|&&part| question.is_denied(module, part));
        found.0.extend(off.filter_map(|&part| switched_off(model, caller, question, parts, part)));
    }
    found
}

/// What a condition asks of a value: `debug`, `debug == True`, `verbose > 0`.
#[derive(Clone, Copy)]
struct Question {
    subject: ValueId,
    /// What it is compared with; whether it is true otherwise.
    compared: Option<(Method, Constant)>,
}

impl Question {
    fn of(module: &Module, condition: ValueId) -> Self {
        if let Value::Operator { operator: Operator::Compare(method), left, right } =
            module.value(condition).value
            && let Value::Constant(constant) = module.value(right).value
        {
            return Self { subject: left, compared: Some((method, constant)) };
        }
        Self { subject: condition, compared: None }
    }

    /// Whether the condition does not hold for a value, as far as it is a constant.
    fn is_denied(self, module: &Module, value: ValueId) -> bool {
        let Value::Constant(own) = module.value(value).value else { return false };
        let Some((method, other)) = self.compared else {
            return matches!(own, Constant::Bool(false) | Constant::None | Constant::Int(0));
        };
        let (own, other) = (as_number(own), as_number(other));
        match (method.name(), own, other) {
            ("__eq__", ..) => own != other,
            ("__ne__", ..) => own == other,
            ("__lt__", Constant::Int(own), Constant::Int(other)) => own >= other,
            ("__le__", Constant::Int(own), Constant::Int(other)) => own > other,
            ("__gt__", Constant::Int(own), Constant::Int(other)) => own <= other,
            ("__ge__", Constant::Int(own), Constant::Int(other)) => own < other,
            _ => false,
        }
    }
}

/// What holds of the ranks that bind a variable to something of which the condition holds, if all places that do so say it.
fn switched_on(model: &Model<'_>, caller: Caller, question: Question) -> Vec<Literal> {
    let module = model.facts.module(caller.file);
    let reading = module.uses.iter().find(|own| own.value == question.subject && own.scope == caller.scope);
    let Some(variable) = reading.and_then(|own| own.variable) else { return Vec::new() };
    let bound = module.definitions.iter().filter(|own| own.variable == variable);
    let on: Vec<&Definition> = bound.filter(|own| !question.is_denied(module, own.value)).collect();
    // What another scope binds stands in blocks of its own.
    if on.iter().any(|own| own.scope != caller.scope) {
        return Vec::new();
    }
    let mut guards = on.iter().map(|own| model.own_guard(caller, own.block));
    let Some(Guard(mut said)) = guards.next() else { return Vec::new() };
    for guard in guards {
        said.retain(|literal| guard.implies(literal));
    }
    said
}

/// What holds of the ranks that don't put `off` in the place of a value that is one of these parts.
fn switched_off(
    model: &Model<'_>,
    caller: Caller,
    question: Question,
    parts: &[ValueId],
    off: ValueId,
) -> Option<Literal> {
    let module = model.facts.module(caller.file);
    let of = |part: ValueId| -> Option<&Definition> {
        module.definitions.iter().find(|own| own.value == part && own.scope == caller.scope)
    };
    // All ranks of which this is said come there: nothing else decides.
    let block = of(off)?.block;
    if model.facts.conditions(caller, block).len() != 1 {
        return None;
    }
    let guard = model.own_guard(caller, block);
    let [only] = &guard.0[..] else { return None };
    let is_theirs =
        |part: ValueId| of(part).is_none_or(|own| model.own_guard(caller, own.block).implies(only));
    let mut others = parts.iter().filter(|&&part| !question.is_denied(module, part));
    (!others.any(|&part| is_theirs(part))).then(|| Literal { atom: only.atom.clone(), holds: !only.holds })
}

/// To comparisons `True` is one.
fn as_number(constant: Constant) -> Constant {
    match constant {
        Constant::Bool(value) => Constant::Int(value.into()),
        other => other,
    }
}
