//! Calls that fail whenever control comes to them, on one process as on several: nothing goes wrong between ranks behind them.

use rustc_hash::FxHashSet;

use super::blocks::Blocks;
use crate::program::{Caller, Facts, FunctionRef, Meaning, Object};
use crate::project::FileId;
use crate::semantic::{
    BlockId, CallId, CallKind, Import, Imported, Module, ParameterKind, Passing, StatementKind, Value,
    ValueId,
};

/// The blocks that begin with such a call.
pub(super) fn blocks(facts: &Facts<'_>, blocks: &Blocks, files: &[FileId]) -> FxHashSet<(Caller, BlockId)> {
    let calls = files
        .iter()
        .flat_map(|&file| (0..facts.module(file).calls.len()).map(move |index| (file, CallId::new(index))));
    let failing = calls.filter(|&(file, id)| fails(facts, file, id) && is_first(facts, blocks, file, id));
    failing
        .map(|(file, id)| {
            let call = facts.module(file).call(id);
            (Caller { file, scope: call.scope }, call.block)
        })
        .collect()
}

/// Whether nothing is called in front of a call in its block but what it is given.
fn is_first(facts: &Facts<'_>, blocks: &Blocks, file: FileId, id: CallId) -> bool {
    let module = facts.module(file);
    let own = module.call(id);
    let before = &blocks.of(Caller { file, scope: own.scope }, own.block).calls;
    before.iter().map(|&other| module.call(other).range).all(|other| other.start() >= own.range.start())
}

fn fails(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    let module = facts.module(file);
    let call = module.call(id);
    let is_caught =
        || module.ancestor_ids(call.statement).any(|own| module.statement(own).kind == StatementKind::Try);
    let names_nothing = || call.arguments.iter().any(|own| is_nothing(facts, file, own.value));
    call.kind == CallKind::Expression && (names_nothing() || is_refused(facts, file, id)) && !is_caught()
}

/// Whether a name stands for nothing: nothing binds it, here or where a star import looks. What runs a notebook binds more.
fn is_nothing(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    let module = facts.module(file);
    let Value::Free(name) = module.value(value).value else { return false };
    let is_star = |own: &Import| own.what == Imported::Star;
    // Few names stand for nothing, and what is asked then goes through the file.
    facts.modules.free(file, module.names.text(name), facts.library) == Meaning::Unknown
        && !facts.is_notebook(file)
        && !module.imports.iter().any(is_star)
        && !binds_unseen(module)
}

/// Python's functions that bind names which stand nowhere.
const BINDS: [&str; 3] = ["exec", "globals", "vars"];

/// Whether a module calls one of them.
fn binds_unseen(module: &Module) -> bool {
    module.calls.iter().any(|call| match module.value(call.callee).value {
        Value::Free(own) => BINDS.contains(&module.names.text(own)),
        _ => false,
    })
}

/// Whether a function of the project is called by a name of an argument that it doesn't take.
fn is_refused(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    let module = facts.module(file);
    let call = module.call(id);
    let mut keywords = call.arguments.iter().filter_map(|own| match own.passing {
        Passing::Keyword(name) => Some(module.names.text(name)),
        _ => None,
    });
    let mut objects = facts.objects(file, call.callee).map(|(_, own)| own);
    let (Some(only), None) = (objects.next(), objects.next()) else { return false };
    let function = match only {
        Object::Function(function) | Object::Bound(_, function) => Some(function),
        Object::Class(class) if facts.method(class, "__new__").is_none() => facts.method(class, "__init__"),
        _ => None,
    };
    let is_plain = |own: &FunctionRef| facts.module(own.file).function(own.function).decorators.is_empty();
    function.filter(is_plain).is_some_and(|function| keywords.any(|name| !takes(facts, function, name)))
}

/// Whether a function takes an argument by a name.
fn takes(facts: &Facts<'_>, function: FunctionRef, name: &str) -> bool {
    let module: &Module = facts.module(function.file);
    module.function(function.function).parameters.iter().any(|own| match own.kind {
        ParameterKind::Keywords => true,
        ParameterKind::Ordinary | ParameterKind::KeywordOnly => module.names.text(own.name) == name,
        ParameterKind::PositionalOnly | ParameterKind::Variadic => false,
    })
}
