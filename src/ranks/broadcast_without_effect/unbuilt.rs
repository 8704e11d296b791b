//! A broadcast of the variables of a model that has none yet.
//!
//! A model of a class of the program's own makes its variables when it is called first. Whoever asks for them before
//! gets an empty list, and sends nothing.

use rustc_hash::FxHashSet;

use super::{Broadcast, Reason};
use crate::api::{Effect, Kind, Role};
use crate::program::{Caller, ClassRef, Facts, Object, ObjectId, loop_around};
use crate::project::FileId;
use crate::semantic::{BlockId, Call, CallId, Module, Value};

pub(super) fn reason(broadcast: &Broadcast<'_>, all: &[Broadcast<'_>]) -> Option<Reason> {
    let Broadcast { facts, file, call, .. } = *broadcast;
    let argument = broadcast.variables()?;
    let models = models(facts, file, argument.value)?;
    let is_sent_again = all.iter().any(|other| {
        (other.file, other.id) != (file, broadcast.id)
            && other.variables().is_none_or(|argument| {
                let behind = facts.influence().backwards(&[(other.file, argument.value)], |_| false);
                behind
                    .iter()
                    .any(|&(file, value)| facts.objects(file, value).any(|(id, _)| models.contains(&id)))
            })
    });
    let caller = broadcast.caller();
    let is_repeated = facts.repetition().of(caller).is_some()
        || loop_around(facts, file, call.statement, call.block, caller).is_some();
    if is_sent_again || is_repeated || !models.iter().all(|&model| makes_variables_when_called(facts, model))
    {
        return None;
    }
    let may_be_built = before(facts, caller, broadcast.id)
        .is_none_or(|calls| calls.into_iter().any(|(file, call)| may_build(facts, file, call, &models)));
    if may_be_built {
        return None;
    }
    let (of, made) = facts.made_at(*models.first()?)?;
    Some(Reason {
        caller: broadcast.caller(),
        range: call.range,
        message: "nothing is broadcast: the model has no variables before it is called first",
        here: "sends an empty list",
        help: "broadcast behind the first step, or build the model before",
        labels: vec![(facts.location(of, facts.module(of).call(made).range), "the model")],
        fix: None,
    })
}

/// The models whose variables an argument is, if they are of classes of the program's own.
fn models(facts: &Facts<'_>, file: FileId, value: crate::semantic::ValueId) -> Option<Vec<ObjectId>> {
    let Value::Attribute { base, .. } = facts.module(file).value(value).value else { return None };
    let objects: Vec<(ObjectId, Object)> = facts.objects(file, base).collect();
    let is_own = |&(id, object): &(ObjectId, Object)| {
        matches!(object, Object::Instance(_, Some(_))) && facts.kind(id) == Some(Kind::Model)
    };
    (!objects.is_empty() && objects.iter().all(is_own))
        .then(|| objects.into_iter().map(|(id, _)| id).collect())
}

/// Whether making a model makes layers only, which make their variables when they are called.
fn makes_variables_when_called(facts: &Facts<'_>, model: ObjectId) -> bool {
    let Object::Instance(class, _) = facts.solution.object(model) else { return false };
    let Some(base) = facts.library_base(class) else { return false };
    let is_plain = facts.library.lookup("tensorflow.keras.Model") == Some(base);
    let Some((file, call)) = facts.made_at(model) else { return false };
    is_plain && reached(facts, file, call).into_iter().all(|caller| makes_layers_only(facts, caller, class))
}

/// The code that a call runs.
fn reached(facts: &Facts<'_>, file: FileId, call: CallId) -> FxHashSet<Caller> {
    let mut work: Vec<Caller> =
        facts.called_functions(file, call).map(|function| facts.code_of(function)).collect();
    let mut found = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if found.insert(caller) {
            work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
        }
    }
    found
}

/// Whether code makes no variables: no models with layers that are built, no calls of layers, nothing unknown.
fn makes_layers_only(facts: &Facts<'_>, caller: Caller, class: ClassRef) -> bool {
    let file = caller.file;
    let module = facts.module(file);
    let mut own = module.calls.iter().enumerate().filter(|(_, call)| call.scope == caller.scope);
    own.all(|(index, call)| {
        let id = CallId::new(index);
        let makes = facts.objects(file, call.result).any(|(id, object)| {
            let is_variable = facts.kind(id) == Some(Kind::Variable);
            let is_other_model = facts.kind(id) == Some(Kind::Model)
                && !matches!(object, Object::Instance(of, _) if of == class);
            is_variable || is_other_model
        });
        let given = given_to_base(facts, file, call);
        // `super().__init__(inputs, outputs)` makes a model of layers that are built.
        let builds = given.is_some_and(|given| given > 1);
        let is_of_base = given.is_some();
        let given_shape = call.arguments.iter().any(|argument| match argument.passing {
            crate::semantic::Passing::Keyword(name) => is_shape(facts, file, id, module.names.text(name)),
            crate::semantic::Passing::Merge => !is_of_base,
            _ => false,
        });
        let is_known = is_of_base || is_known(facts, file, id);
        is_known
            && (is_of_base || !makes)
            && !builds
            && !given_shape
            && !calls_something_built(facts, file, id)
    })
}

/// How many arguments a call gives to a method of the base class, besides the object itself: `super().__init__()`,
/// `tf.keras.Model.__init__(self)`; `None` if it calls none.
fn given_to_base(facts: &Facts<'_>, file: FileId, call: &Call) -> Option<usize> {
    let module = facts.module(file);
    let Value::Attribute { base, name, .. } = module.value(call.callee).value else { return None };
    let given = call.arguments.len();
    let is_class = |(_, object)| {
        facts.symbol(object).is_some_and(|own| matches!(object, Object::External(_)) && own.is_class())
    };
    if facts.objects(file, base).any(|(_, object)| matches!(object, Object::Super(..))) {
        return Some(given);
    }
    let is_initialiser = module.names.text(name) == "__init__" && facts.objects(file, base).any(is_class);
    given.checked_sub(1).filter(|_| is_initialiser)
}

/// Whether a keyword is one by which a layer is built at once: one that its constructor does not name.
fn is_shape(facts: &Facts<'_>, file: FileId, call: CallId, name: &str) -> bool {
    facts.called_symbols(file, call).any(|symbol| {
        symbol.is_class()
            && facts.library.kind_of_class(symbol) == Kind::Layer
            && !symbol.parameters().is_empty()
            && symbol.parameter(name).is_none()
    })
}

fn is_known(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let callees = facts.callees(file, call);
    !callees.is_empty()
        && callees.iter().all(|edge| match facts.solution.object(edge.callee) {
            Object::Unknown => false,
            object @ Object::External(_) => facts.symbol(object).is_some(),
            _ => true,
        })
}

/// Whether a call calls an object, such as a layer, or its `build`.
fn calls_something_built(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let data = facts.module(file).call(call);
    let is_layer = |id: ObjectId| matches!(facts.kind(id), Some(Kind::Layer | Kind::Model));
    if facts.objects(file, data.callee).any(|(id, _)| is_layer(id)) {
        return true;
    }
    facts.called_symbols(file, call).any(|symbol| {
        *symbol.role() == Role::Method
            && (symbol.has(Effect::UpdatesState)
                || symbol.has(Effect::Trains)
                || symbol.has(Effect::Predicts))
    }) && facts
        .receiver(file, data)
        .is_some_and(|receiver| facts.objects(file, receiver).any(|(id, _)| is_layer(id)))
}

/// Whether a call may make the variables of one of the models: it calls the model, one of its methods, or gives it to
/// something that nobody knows.
fn may_build(facts: &Facts<'_>, file: FileId, call: CallId, models: &[ObjectId]) -> bool {
    let data = facts.module(file).call(call);
    let is_model = |value| facts.objects(file, value).any(|(id, _)| models.contains(&id));
    if is_model(data.callee) {
        return true;
    }
    if given_to_base(facts, file, data) == Some(0) {
        return false;
    }
    let receiver = facts.receiver(file, data).is_some_and(is_model);
    let is_of_library = facts.called_functions(file, call).next().is_none();
    let is_given = data.arguments.iter().any(|argument| is_model(argument.value));
    // A wrapper, a checkpoint or the program's own code gets the model without building it; what the own code does with
    // it is looked at where it is done.
    let is_harmless = facts.called_symbols(file, call).any(|symbol| {
        symbol.is_class()
            || symbol.has(Effect::Compiles)
            || symbol.has(Effect::Broadcasts)
            || symbol.has(Effect::Distributes)
    });
    is_of_library && (receiver || is_given) && !is_harmless
}

/// The calls that a run may make before a call, without what starts behind it; `None` if that can't be seen.
fn before(facts: &Facts<'_>, caller: Caller, call: CallId) -> Option<Vec<(FileId, CallId)>> {
    let mut found: FxHashSet<(FileId, CallId)> = FxHashSet::default();
    let mut whole: FxHashSet<Caller> = FxHashSet::default();
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    let mut work = vec![(caller, call)];
    while let Some((caller, call)) = work.pop() {
        let module = facts.module(caller.file);
        let at = module.call(call);
        let flow = &module.scope(caller.scope).flow;
        let reaches = flow_into(flow, at.block);
        for (index, other) in module.calls.iter().enumerate() {
            let is_before = other.scope == caller.scope
                && reaches.contains(&other.block)
                && (other.block != at.block
                    || other.range.end() <= at.range.start()
                    || in_cycle(flow, at.block));
            if is_before {
                let id = CallId::new(index);
                found.insert((caller.file, id));
                whole.extend(reached(facts, caller.file, id));
            }
        }
        if caller.scope == Module::TOP {
            continue;
        }
        let function = facts.function_of(caller)?;
        let callers = facts.incoming(function);
        if callers.is_empty() {
            return None;
        }
        if seen.insert(caller) {
            for edge in callers {
                work.push((edge.caller, edge.call?));
            }
        }
    }
    for caller in whole {
        let calls = facts.module(caller.file).calls.iter().enumerate();
        found.extend(
            calls
                .filter(|(_, own)| own.scope == caller.scope)
                .map(|(index, _)| (caller.file, CallId::new(index))),
        );
    }
    Some(found.into_iter().collect())
}

/// The blocks from which control may come to a block, itself included.
fn flow_into(flow: &crate::semantic::Flow, to: BlockId) -> FxHashSet<BlockId> {
    let mut found: FxHashSet<BlockId> = [to].into_iter().collect();
    let mut is_larger = true;
    while is_larger {
        let size = found.len();
        for (index, block) in flow.blocks.iter().enumerate() {
            if block.successors.iter().any(|next| found.contains(next)) {
                found.insert(BlockId::new(index));
            }
        }
        is_larger = found.len() > size;
    }
    found
}

/// Whether control may come from a block back to it.
fn in_cycle(flow: &crate::semantic::Flow, block: BlockId) -> bool {
    let mut found: FxHashSet<BlockId> = FxHashSet::default();
    let mut work: Vec<BlockId> = flow.blocks[block.index()].successors.clone();
    while let Some(next) = work.pop() {
        if next == block {
            return true;
        }
        if found.insert(next) {
            work.extend(&flow.blocks[next.index()].successors);
        }
    }
    false
}
