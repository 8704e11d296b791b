//! `apply_gradients` within a larger expression leaves no place behind it for the broadcast.

use rustc_hash::FxHashSet;

use super::{Context, check, training};
use crate::api::{Effect, Symbol};
use crate::finding::{Confidence, Finding, Level};
use crate::normalise;
use crate::program::{Caller, Facts};
use crate::project::FileId;
use crate::semantic::{
    BranchKind, Call, CallId, DefinitionKind, Module, Role, ScopeKind, StatementKind, Value, ValueId,
};

check!("HVD008", "apply-gradients-nested", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let optimizer = facts.library.lookup("tensorflow.keras.optimizers.Optimizer");
    let methods =
        optimizer.map(|optimizer| facts.library.member_names(optimizer, applies)).unwrap_or_default();
    let mut found: Vec<(FileId, CallId, Confidence)> = facts
        .calls_with(Effect::AppliesGradients)
        .filter(|&(file, call)| facts.called_symbols(file, call).any(applies))
        .map(|(file, call)| (file, call, Confidence::Certain))
        .collect();
    for file in facts.files() {
        found.extend(perhaps(facts, file, &methods).map(|call| (file, call, Confidence::Possible)));
    }
    // What is certain comes first.
    found.sort_by_key(|&(file, call, _)| (file, call));
    found.dedup_by_key(|&mut (file, call, _)| (file, call));
    found.retain(|&(file, call, _)| !is_statement(facts, file, facts.module(file).call(call)));
    found.into_iter().map(|(file, call, sure)| finding(context, file, call).confidence(sure)).collect()
}

fn applies(symbol: &Symbol) -> bool {
    symbol.has(Effect::AppliesGradients) && !symbol.has(Effect::TakesGradients)
}

/// The calls of methods with these names of objects that nobody knows.
fn perhaps(facts: &Facts<'_>, file: FileId, methods: &FxHashSet<&str>) -> impl Iterator<Item = CallId> {
    let module = facts.module(file);
    let methods = module.names.known(methods);
    let calls = if methods.is_empty() { &[][..] } else { &module.calls[..] };
    let is_unknown = move |call: &Call| {
        matches!(module.value(call.callee).value,
            Value::Attribute { base, name, .. } if methods.contains(&name) && facts.is_unknown(file, base))
    };
    let calls = calls.iter().enumerate().filter(move |(_, call)| is_unknown(call));
    calls.map(|(index, _)| CallId::new(index))
}

/// Whether the call is a statement or the whole right-hand side of an assignment.
fn is_statement(facts: &Facts<'_>, file: FileId, call: &Call) -> bool {
    let module = facts.module(file);
    let own = || module.definitions.iter().filter(|definition| definition.value == call.result);
    match call.role {
        Role::Statement => true,
        Role::Assigned | Role::Stored => {
            // `a = b = f()` binds one value, `a, b = f(), g()` several.
            let bound = module.definitions.iter().filter(|other| other.statement == Some(call.statement));
            let stored = module.stores.iter().filter(|store| store.statement == call.statement);
            let mut values = bound.map(|other| other.value).chain(stored.map(|store| store.value));
            !own().any(|definition| definition.kind == DefinitionKind::Walrus)
                && values.all(|value| value == call.result || is_part(module, value, call.result))
        }
        _ => false,
    }
}

/// Whether a value is unpacked from another.
fn is_part(module: &Module, value: ValueId, whole: ValueId) -> bool {
    matches!(module.value(value).value, Value::Unpack { base, .. } if base == whole)
}

fn finding(context: Context<'_>, file: FileId, id: CallId) -> Finding {
    let facts = context.facts;
    let call = facts.module(file).call(id);
    let caller = Caller { file, scope: call.scope };
    let obscurity = obscurity(facts, caller, call);
    let level = if obscurity.is_some() { Level::Error } else { context.warning() };
    let name = training::called(facts, file, id).unwrap_or_else(|| "apply_gradients".to_owned());
    let message = format!("`{name}` is part of a larger expression");
    let mut finding = Finding::new(&CHECK.rule, level, facts.location(file, call.range), message)
        .here("gradients applied here")
        .help("write the call as a statement of its own, or assign its result to a variable first")
        .in_scope(facts.scope_name(caller));
    let statement = facts.module(file).statement(call.statement);
    if statement.header != call.range {
        finding = finding.label(facts.location(file, statement.header), "within this statement");
    }
    if let Some(reason) = obscurity {
        finding.note(format!("It is not clear whether, or how often, the call runs: it stands {reason}."))
    } else {
        finding.fix = normalise::hoist(context, file, call.statement, &[call.range], "train_op");
        finding
    }
}

/// Why it is not clear whether, or how often, a call runs within its statement.
fn obscurity(facts: &Facts<'_>, caller: Caller, call: &Call) -> Option<&'static str> {
    let module = facts.module(caller.file);
    if let ScopeKind::Lambda(_) = module.scope(caller.scope).kind {
        return Some("in a lambda");
    }
    let statement = module.statement(call.statement).kind;
    if call.role == Role::Condition || matches!(statement, StatementKind::If | StatementKind::While) {
        return Some("in a condition");
    }
    let conditions = facts.conditions(caller, call.block);
    let own = conditions.iter().find(|condition| condition.branch.statement == call.statement);
    match own.map(|condition| condition.branch.kind) {
        Some(BranchKind::For) => return Some("in a comprehension"),
        Some(BranchKind::And | BranchKind::Or) => return Some("in a short circuit"),
        Some(BranchKind::If) => return Some("in a conditional expression"),
        _ => {}
    }
    let function = facts.function_of(caller).filter(|_| statement == StatementKind::Return)?;
    facts.travel().lost_function(function).map(|_| "in the `return` of a function whose calls are not known")
}
