//! Which programs start Horovod, themselves or by code that nobody knows.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::modules::ClassRef;
use super::object::Object;
use super::solver::{CallEdge, Caller};
use crate::api::{Effect, Kind};
use crate::semantic::{ScopeKind, Value};

/// Whether the code of a program runs on several ranks: it starts Horovod, or code that nobody knows may start it for a program
/// that communicates by it, and by nothing else.
pub(super) fn is_distributed(facts: &Facts<'_>, reached: &FxHashSet<Caller>) -> bool {
    let edges = || reached.iter().flat_map(|&caller| facts.outgoing(caller));
    edges().any(|edge| starts_horovod(facts, edge))
        || communicates(facts, reached)
            && edges().any(|edge| is_foreign(facts, edge))
            && !has_strategy(facts, reached)
}

/// The scopes of training programs that start Horovod.
pub(super) fn callers_that_start_horovod<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Caller> + 'f {
    let edges = facts.solution.edges.iter().filter(|edge| facts.concerned.contains(&edge.caller.file));
    edges.filter(|edge| starts_horovod(facts, edge)).map(|edge| edge.caller)
}

fn starts_horovod(facts: &Facts<'_>, edge: &CallEdge) -> bool {
    let symbol = facts.symbol(facts.solution.object(edge.callee));
    symbol.is_some_and(|symbol| symbol.has(Effect::Initializes))
}

/// Whether code of a program communicates with Horovod by a name of its own: who is given Horovod as an argument may be given
/// none. Methods whose objects the program does not make count for nothing.
fn communicates(facts: &Facts<'_>, reached: &FxHashSet<Caller>) -> bool {
    let effects = [Effect::Distributes, Effect::Broadcasts, Effect::Collective];
    let calls = effects.into_iter().flat_map(|effect| facts.calls_with(effect)).filter(|&(file, id)| {
        let module = facts.module(file);
        let call = module.call(id);
        let is_given = match module.value(call.callee).value {
            Value::Attribute { base, .. } => matches!(module.value(base).value, Value::Parameter(..)),
            _ => false,
        };
        !is_given && reached.contains(&Caller { file, scope: call.scope })
    });
    let mut calls = calls.peekable();
    calls.peek().is_some() && {
        let made = classes_made(facts, reached);
        calls.any(|(file, id)| {
            let scope = facts.module(file).call(id).scope;
            class_around(facts, Caller { file, scope }).is_none_or(|class| made.contains(&class))
        })
    }
}

/// The classes of which code makes objects, with those that they extend.
fn classes_made(facts: &Facts<'_>, reached: &FxHashSet<Caller>) -> FxHashSet<ClassRef> {
    let edges = reached.iter().flat_map(|&caller| facts.outgoing(caller));
    let made = edges.filter_map(|edge| match facts.solution.object(edge.callee) {
        Object::Class(class) => Some(class),
        _ => None,
    });
    let ancestors = made.collect::<FxHashSet<_>>().into_iter().flat_map(|class| facts.hierarchy.order(class));
    let own = ancestors.filter_map(|ancestor| match ancestor {
        Ancestor::Project(class) => Some(*class),
        _ => None,
    });
    own.collect()
}

/// The class in whose methods a scope is.
fn class_around(facts: &Facts<'_>, Caller { file, scope }: Caller) -> Option<ClassRef> {
    let module = facts.module(file);
    let mut scopes = std::iter::successors(Some(scope), |&scope| module.scope(scope).parent);
    scopes.find_map(|scope| match module.scope(scope).kind {
        ScopeKind::Class(class) => Some(ClassRef { file, class }),
        _ => None,
    })
}

/// Whether code of a program makes a strategy of TensorFlow.
fn has_strategy(facts: &Facts<'_>, reached: &FxHashSet<Caller>) -> bool {
    facts.creations.iter().any(|made| {
        let scope = facts.module(made.file).call(made.call).scope;
        made.kind == Kind::Strategy && reached.contains(&Caller { file: made.file, scope })
    })
}

/// Whether an edge leads to a function of a library that nobody knows.
fn is_foreign(facts: &Facts<'_>, edge: &CallEdge) -> bool {
    let Object::External(id) = facts.solution.object(edge.callee) else { return false };
    let package = facts.solution.externals.get(id).path.split('.').next();
    package.is_some_and(|package| !package.is_empty() && facts.library.lookup(package).is_none())
}
