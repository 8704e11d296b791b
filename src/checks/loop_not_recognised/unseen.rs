//! The training of models that can't be followed, of libraries that nobody knows or imported by names that are computed. That
//! Keras trains them is told by their being compiled with an optimizer or given callbacks of Keras, or by the function that
//! makes them, which the library is given. An agent or a trainer of a library is told by the optimizer that it is made with.

use std::collections::BTreeMap;

use super::{CHECK, place, scope};
use crate::api::{Effect, Kind, Symbol};
use crate::checks::Context;
use crate::finding::{Finding, Level};
use crate::program::{Caller, Facts, FunctionRef, Object, ObjectId, Pattern, Program, code, loop_around};
use crate::project::FileId;
use crate::semantic::{Argument, Call, CallId, Passing, Value, ValueId};

/// The class of estimators for scikit-learn that make models of Keras, and the package that fits them.
const WRAPPER: &str = "tensorflow.keras.wrappers.scikit_learn.BaseWrapper";
const SCIKIT_LEARN: &str = "sklearn";

/// The class of models, whose methods are known by their names.
const MODEL: &str = "tensorflow.keras.Model";

/// The parameter of `compile` for what trains.
const OPTIMIZER: &str = "optimizer";

/// The calls by which models are trained that can't be followed, of all files of training programs.
pub(super) struct Unseen {
    calls: BTreeMap<FileId, Vec<(CallId, Way)>>,
}

/// How a call is known to train.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By what it is given, or what has been made for it.
    Surely,
    /// By being made again and again: where no other training is seen.
    ByTurns,
}

impl Unseen {
    /// Those of a project.
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let in_file = |file: FileId| {
            let calls = (0..).map(CallId::new).zip(&facts.module(file).calls);
            let ways = calls.filter_map(move |(id, call)| Some((id, way(facts, file, id, call)?)));
            (file, ways.collect())
        };
        Self { calls: facts.files().map(in_file).collect() }
    }

    /// The first training of a program that can't be followed. Programs that use Horovod already have found their way.
    pub(super) fn finding(&self, context: Context<'_>, program: &Program) -> Option<Finding> {
        let facts = context.facts;
        if program.already_distributed {
            return None;
        }
        // Values are not followed into code that has nothing to do with training that is seen.
        let is_none_seen = program.pattern == Pattern::None;
        let is_run = |file: FileId, id: CallId| {
            let scope = facts.module(file).call(id).scope;
            is_none_seen || program.reached.contains(&Caller { file, scope })
        };
        let (file, id) = program.files().into_iter().find_map(|file| {
            let mut calls = self.calls.get(&file)?.iter();
            let trains =
                |&&(id, way): &&(CallId, Way)| is_run(file, id) && (is_none_seen || way == Way::Surely);
            calls.find(trains).map(|&(id, _)| (file, id))
        })?;
        let message = "a model is trained here that can't be followed";
        // Where other loops are found, the program would be distributed by half.
        let level = if is_none_seen { Level::Warning } else { Level::Error };
        let finding = Finding::new(&CHECK.rule, level, place(facts, (file, id)), message)
            .here("trains what nobody knows")
            .help(
                "make the model and call its `fit` in the program's own code, in functions that it calls by name",
            )
            .in_scope(scope(facts, (file, id)));
        Some(finding)
    }
}

/// Whether a call trains what can't be followed, and how that is known.
fn way(facts: &Facts<'_>, file: FileId, id: CallId, call: &Call) -> Option<Way> {
    if trains_unseen(facts, file, id, call) {
        Some(Way::Surely)
    } else {
        steps_unseen(facts, file, id, call).then_some(Way::ByTurns)
    }
}

fn trains_unseen(facts: &Facts<'_>, file: FileId, id: CallId, call: &Call) -> bool {
    if hands_wrapper(facts, file, id, call) {
        return true;
    }
    let Some(receiver) = facts.receiver(file, call).filter(|&own| is_unseen(facts, file, own)) else {
        return false;
    };
    if is_method(facts, file, call, Effect::Trains) {
        return call.arguments.iter().any(|own| has_callback(facts, file, own.value))
            || facts.module(file).calls.iter().any(|other| compiles(facts, file, other, receiver));
    }
    facts.callees(file, id).iter().all(|edge| is_of_nobody(facts, facts.solution.object(edge.callee)))
        && is_made_with_maker(facts, file, receiver)
}

/// Whether a call that is made again and again is of something that a library has made with an optimizer: `agent.train(batch)`.
/// Where a loop of the program's own is seen, it may be anything that accompanies it.
fn steps_unseen(facts: &Facts<'_>, file: FileId, id: CallId, call: &Call) -> bool {
    let Some(receiver) = facts.receiver(file, call).filter(|&own| is_unseen(facts, file, own)) else {
        return false;
    };
    let is_given_optimizer = |(of, made): (FileId, CallId)| {
        let given = &facts.module(of).call(made).arguments;
        given.iter().any(|own| facts.may_be(of, own.value, Kind::Optimizer))
    };
    let mut made = facts.objects(file, receiver).filter_map(|(object, _)| facts.made_at(object));
    let caller = Caller { file, scope: call.scope };
    made.any(is_given_optimizer)
        && facts.callees(file, id).iter().all(|edge| is_of_nobody(facts, facts.solution.object(edge.callee)))
        && (loop_around(facts, file, call.statement, call.block, caller).is_some()
            || facts.repetition().of_block(facts, caller, call.block).is_some())
}

/// Whether a call hands scikit-learn an estimator that wraps models of Keras, to be fitted there: `cross_val_score(estimator, x,
/// y)`, `GridSearchCV(estimator, grid)`, `Pipeline([("net", estimator)])`.
fn hands_wrapper(facts: &Facts<'_>, file: FileId, id: CallId, call: &Call) -> bool {
    let Some(wrapper) = facts.library.lookup(WRAPPER) else { return false };
    let is_wrapper = |own: ObjectId| {
        let class = facts.symbol(facts.solution.object(own));
        class.is_some_and(|class| facts.library.is_subclass(class, wrapper))
    };
    let is_scikit = |object: Object| match object {
        Object::External(external) => {
            facts.solution.externals.get(external).path.split('.').next() == Some(SCIKIT_LEARN)
        }
        _ => false,
    };
    facts.callees(file, id).iter().any(|edge| is_scikit(facts.solution.object(edge.callee)))
        && call.arguments.iter().any(|own| written_out(facts, file, own.value).into_iter().any(is_wrapper))
}

/// What a value may be, or the lists and tuples within each other that are written there have.
fn written_out(facts: &Facts<'_>, file: FileId, value: ValueId) -> Vec<ObjectId> {
    match &facts.module(file).value(value).value {
        Value::Display(_, elements) => {
            let inner = elements.iter().filter_map(|own| own.written_out());
            inner.flat_map(|own| written_out(facts, file, own)).collect()
        }
        _ => facts.solution.values(file, value).to_vec(),
    }
}

/// Whether nobody knows what a value is; a model that the project makes is known.
fn is_unseen(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts.objects(file, value).all(|(_, object)| is_of_nobody(facts, object))
}

fn is_of_nobody(facts: &Facts<'_>, object: Object) -> bool {
    match object {
        Object::Unknown => true,
        Object::External(_) | Object::Created(..) | Object::Member(..) => facts.symbol(object).is_none(),
        _ => false,
    }
}

/// Whether a call is of a method of models that does something, by its name.
fn is_method(facts: &Facts<'_>, file: FileId, call: &Call, effect: Effect) -> bool {
    let module = facts.module(file);
    let Value::Attribute { name, .. } = module.value(call.callee).value else { return false };
    let model = facts.library.lookup(MODEL);
    let method = model.and_then(|model| facts.library.member(model, module.names.text(name)));
    method.is_some_and(|method| method.has(effect))
}

/// Whether a value is a callback of Keras, or a list with one.
fn has_callback(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts.elements(file, value).into_iter().any(|own| facts.kind(own) == Some(Kind::Callback))
}

/// Whether a call gives an optimizer to the same model: by its kind, or by the parameter's name.
fn compiles(facts: &Facts<'_>, file: FileId, call: &Call, model: ValueId) -> bool {
    let names = &facts.module(file).names;
    let gives = |own: &Argument| {
        facts.may_be(file, own.value, Kind::Optimizer)
            || matches!(own.passing, Passing::Keyword(name) if names.text(name) == OPTIMIZER)
    };
    is_method(facts, file, call, Effect::Compiles)
        && facts.receiver(file, call).is_some_and(|own| is_same(facts, file, own, model))
        && call.arguments.iter().any(gives)
}

/// Whether two expressions are the same variable, or the same attribute of an object.
fn is_same(facts: &Facts<'_>, file: FileId, one: ValueId, other: ValueId) -> bool {
    let module = facts.module(file);
    one == other
        || match (&module.value(one).value, &module.value(other).value) {
            (&Value::Attribute { base, name, .. }, &Value::Attribute { base: of, name: named, .. }) => {
                let mut objects = facts.objects(file, base).map(|(id, _)| id);
                name == named && objects.any(|id| facts.objects(file, of).any(|(own, _)| own == id))
            }
            _ => false,
        }
}

/// Whether an object of a library was given a function that makes models when it was made: `RandomSearch(build_model)`.
fn is_made_with_maker(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts.objects(file, value).filter_map(|(id, _)| facts.made_at(id)).any(|(of, made)| {
        let given = facts.module(of).call(made).arguments.iter().map(|own| own.value);
        given
            .flat_map(|value| facts.objects(of, value))
            .filter_map(|(_, object)| code(object))
            .any(|own| makes_compiled(facts, own))
    })
}

/// Whether a function returns a model that it compiles.
fn makes_compiled(facts: &Facts<'_>, function: FunctionRef) -> bool {
    let own = facts.module(function.file).function(function.function);
    let mut callees = facts.outgoing(facts.code_of(function)).iter().map(|edge| edge.callee);
    let compiles = |symbol: &Symbol| symbol.has(Effect::Compiles);
    own.returns.iter().any(|&value| facts.may_be(function.file, value, Kind::Model))
        && callees.any(|callee| facts.symbol(facts.solution.object(callee)).is_some_and(compiles))
}
