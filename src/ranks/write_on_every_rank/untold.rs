//! Code that may be of one rank, as far as can be seen: its condition is an attribute of something unknown, and the
//! program stores what it knows of the rank under this name; or it compares a part of what the launcher told, or what
//! something unknown calls the rank; or it is of objects that are made behind such a condition, or that some ranks leave
//! out of a list.

use rustc_hash::FxHashSet;

use super::super::environment;
use super::super::model::Model;
use super::super::values::Cause;
use super::Inputs;
use crate::api::Effect;
use crate::program::{CallEdge, Caller, FunctionRef, Object, ObjectId, Place};
use crate::semantic::{BlockId, BranchKind, BuiltinType, Operator, Passing, StoreKey, Value, ValueId};

/// How far conditions are looked for among callers.
const DEPTH: u32 = 6;

/// Of how many values at most what a comparison is made of is followed back.
const STEPS: usize = 64;

/// Whether control comes to a block only behind such a condition, `if Config.is_main:`, where `Config` finds its
/// attributes in `__getattr__`, or by a method of such objects.
pub(super) fn may_be_of_one(model: &Model<'_>, inputs: &Inputs, caller: Caller, block: BlockId) -> bool {
    within(model, inputs, caller, block, DEPTH)
}

/// Whether code is a method of objects that may not come to be: `__new__` gives something else in their place under some condition,
/// which nobody follows.
pub(super) fn is_of_replaced(model: &Model<'_>, caller: Caller) -> bool {
    let facts = model.facts;
    let class = facts.function_of(caller).and_then(|own| facts.modules.class_of(own));
    let Some((class, making)) = class.and_then(|class| Some((class, facts.method(class, "__new__")?))) else {
        return false;
    };
    let is_other = |&value: &ValueId| {
        let mut objects = facts.objects(making.file, value).map(|(_, own)| own);
        objects.any(|own| matches!(own, Object::Instance(other, _) if other != class))
    };
    facts.module(making.file).function(making.function).returns.iter().any(is_other)
}

/// Whether a path is made of what a function of a library gives that nobody knows, without being told anything: most likely a
/// number of the process, `f"part_{comm_rank()}.json"`; or of what may be an element of a list that differs, `write(*arguments)`.
pub(super) fn is_named_by_unknown(model: &Model<'_>, path: Place) -> bool {
    let facts = model.facts;
    let is_asked = |(file, value): Place| {
        let Value::Call(id) = facts.module(file).value(value).value else { return false };
        let callees = facts.callees(file, id);
        let is_foreign = |edge: &CallEdge| {
            let callee = facts.solution.object(edge.callee);
            matches!(callee, Object::External(_)) && facts.symbol(callee).is_none()
        };
        let call = facts.module(file).call(id);
        // A method of what a library gives, `FLAGS.task.lower()`, asks for nothing.
        let imported = match facts.module(file).value(call.callee).value {
            Value::Attribute { base, .. } => base,
            _ => call.callee,
        };
        matches!(facts.module(file).value(imported).value, Value::Import(_))
            && call.arguments.is_empty()
            && !callees.is_empty()
            && callees.iter().all(is_foreign)
    };
    // What puts texts together, and gives them a name.
    let is_text_of = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Instance(BuiltinType::Str)
        | Value::Operator { .. }
        | Value::Phi(_)
        | Value::Cell(_)
        | Value::Attribute { .. } => true,
        Value::Call(id) => facts.called_functions(file, id).next().is_none() && !is_asked((file, value)),
        _ => false,
    };
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut work = vec![path];
    while let Some(place) = work.pop() {
        if place != path && is_asked(place) || is_of_list_that_differs(model, place) {
            return true;
        }
        if seen.len() < STEPS && seen.insert(place) && is_text_of(place) {
            work.extend(facts.influence().operands(place));
        }
    }
    false
}

/// Whether a value is a parameter that a call may bind to an element of a list that differs.
fn is_of_list_that_differs(model: &Model<'_>, (file, value): Place) -> bool {
    let facts = model.facts;
    let Value::Parameter(function, _) = facts.module(file).value(value).value else { return false };
    facts.incoming(FunctionRef { file, function }).iter().any(|edge| {
        let own = edge.caller.file;
        edge.call.is_some_and(|call| {
            facts.module(own).call(call).arguments.iter().any(|given| {
                given.passing == Passing::Spread && model.difference((own, given.value)).is_some()
            })
        })
    })
}

fn within(model: &Model<'_>, inputs: &Inputs, caller: Caller, block: BlockId, depth: u32) -> bool {
    let facts = model.facts;
    let conditions = facts.conditions(caller, block);
    let mut asked = conditions.iter().filter_map(|own| own.branch.condition);
    if asked.any(|value| may_ask_for_rank(model, (caller.file, value))) {
        return true;
    }
    let Some((function, depth)) = facts.function_of(caller).zip(depth.checked_sub(1)) else { return false };
    if is_of_objects_of_one(model, inputs, function, depth) {
        return true;
    }
    let is_run = |edge: &_| model.programs.iter().any(|program| facts.is_run(program, edge));
    let mut calls = facts.incoming(function).iter().filter(|edge| is_run(edge)).peekable();
    calls.peek().is_some()
        && calls.all(|edge| {
            edge.call.is_some_and(|call| {
                let block = facts.module(edge.caller.file).call(call).block;
                edge.caller != caller
                    && (inputs.left_out.is_receiver(model, edge, function)
                        || within(model, inputs, edge.caller, block, depth))
            })
        })
}

/// Whether a function is a method of objects that are all made behind such a condition: `if model.hvd.rank() == 0:
/// hooks.append(LogHook())`.
fn is_of_objects_of_one(model: &Model<'_>, inputs: &Inputs, method: FunctionRef, depth: u32) -> bool {
    let facts = model.facts;
    let makers = model.makers_of(method);
    !makers.is_empty()
        && makers.iter().all(|&(file, call)| {
            let call = facts.module(file).call(call);
            within(model, inputs, Caller { file, scope: call.scope }, call.block, depth)
        })
}

fn may_ask_for_rank(model: &Model<'_>, (file, value): Place) -> bool {
    let facts = model.facts;
    let module = facts.module(file);
    // In a loop a variable may be put together of itself.
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        match module.value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } => work.push(left),
            // `a and b`, or what has been assigned here or there.
            Value::Phi(ref parts) if module.junction(module.value(value).range) != Some(BranchKind::Or) => {
                work.extend(parts);
            }
            Value::Attribute { name, .. }
                if facts.is_unknown(file, value) && is_name_of_rank(model, module.names.text(name)) =>
            {
                return true;
            }
            Value::Operator { operator: Operator::Compare(_), .. } if is_of_rank(model, (file, value)) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Whether the program stores what it knows of the rank in attributes of a name.
fn is_name_of_rank(model: &Model<'_>, name: &str) -> bool {
    model.files.iter().any(|&file| {
        let module = model.facts.module(file);
        module.stores.iter().any(|store| {
            matches!(store.key, StoreKey::Attribute(own) if module.names.text(own) == name)
                && model.difference((file, store.value)).is_some_and(|own| own.cause == Cause::Rank)
        })
    })
}

/// Whether a value is made of a variable of the environment by which launchers tell the processes apart,
/// `json.loads(os.environ['TF_CONFIG'])['task']['index'] == 0`, or of what may be a rank's number.
fn is_of_rank(model: &Model<'_>, place: Place) -> bool {
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut work = vec![place];
    while let Some(place) = work.pop() {
        if environment::variable(model.facts, place).is_some() || may_be_number(model, place) {
            return true;
        }
        if seen.len() < STEPS && seen.insert(place) {
            work.extend(model.facts.influence().operands(place));
        }
    }
    false
}

/// Whether something unknown, which may be Horovod, is asked for what Horovod calls the rank: `model.hvd.rank()`.
fn may_be_number(model: &Model<'_>, (file, value): Place) -> bool {
    let facts = model.facts;
    let module = facts.module(file);
    let Value::Call(call) = module.value(value).value else { return false };
    let Value::Attribute { base, name, .. } = module.value(module.call(call).callee).value else {
        return false;
    };
    let asked = facts.library.lookup(&format!("{HOROVOD}.{}", module.names.text(name)));
    // Such as a member of what a library gives that nobody knows.
    let is_member =
        |(_, own): (ObjectId, Object)| matches!(own, Object::Member(..)) && facts.symbol(own).is_none();
    (facts.is_unknown(file, base)
        || facts.may_be_foreign(file, base)
        || facts.objects(file, base).any(is_member))
        && asked.is_some_and(|own| own.has(Effect::ReadsRank) || own.has(Effect::ReadsLocalRank))
}

/// The module of Horovod that has what all of its modules have.
const HOROVOD: &str = "horovod.tensorflow";
