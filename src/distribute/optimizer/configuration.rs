//! What Horovod makes a Keras optimizer anew from: `type(optimizer).from_config(optimizer.get_config())`, and what that needs.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use crate::api::Kind;
use crate::program::{Ancestor, ClassRef, FunctionRef, Object, for_bound};
use crate::project::FileId;
use crate::semantic::{
    CallId, Constant, Element, FunctionId, Parameter, ParameterKind, Passing, Value, ValueId,
};

/// The methods of an optimizer's class.
const INITIALISER: &str = "__init__";
const CONFIGURATION: &str = "get_config";

/// What distributing an optimizer needs besides: Horovod makes it anew from its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Remake {
    /// Nothing.
    Works,
    /// These classes have to be registered with Keras first.
    Registers(Vec<ClassRef>),
    /// It can't be done: why.
    Fails(&'static str),
}

/// Whether Horovod can make the optimizer of a call anew.
pub(super) fn remake(job: &Job<'_>, file: FileId, call: CallId) -> Remake {
    let facts = job.facts;
    let data = facts.module(file).call(call);
    let made = facts.objects(file, data.result).filter_map(|(_, object)| match object {
        Object::Instance(class, _) => Some(class),
        _ => None,
    });
    for class in made {
        if !takes_its_configuration(job, class) {
            return Remake::Fails(
                "Horovod makes the optimizer anew from its `get_config()`, which the class does not have, and \
                 its `__init__` can't be called with that of its base class.",
            );
        }
        if loses_argument(job, (file, call), class) {
            return Remake::Fails(
                "Horovod makes the optimizer anew from its `get_config()`, which leaves out an argument that it is \
                 given here: the new one would go without it.",
            );
        }
    }
    let mut classes = Vec::new();
    for argument in &data.arguments {
        for id in facts.of_kind(file, argument.value, Kind::Schedule) {
            let Object::Instance(class, _) = facts.solution.object(id) else { continue };
            if !has_method(job, class, CONFIGURATION) {
                return Remake::Fails(
                    "Horovod makes the optimizer anew from its configuration, and its schedule has no `get_config` \
                     to tell its own: add one.",
                );
            }
            let is_around_another = facts.made_at(id).is_some_and(|(file, made)| {
                let mut given = facts.module(file).call(made).arguments.iter();
                given.any(|own| facts.may_be(file, own.value, Kind::Schedule))
            });
            if is_around_another && !has_method(job, class, "from_config") {
                return Remake::Fails(
                    "Horovod makes the optimizer anew from its configuration, and its schedule has another one, of which \
                     only a dictionary comes back: add a `from_config` that makes a schedule of it.",
                );
            }
            if !is_registered(job, class) && !classes.contains(&class) {
                classes.push(class);
            }
        }
    }
    if classes.is_empty() { Remake::Works } else { Remake::Registers(classes) }
}

/// Whether a class of the project, or one that it inherits from, defines a method.
fn has_method(job: &Job<'_>, class: ClassRef, name: &str) -> bool {
    function(job, class, name).is_some()
}

/// The method of the project that instances of a class have.
fn function(job: &Job<'_>, class: ClassRef, name: &str) -> Option<FunctionRef> {
    job.facts.hierarchy.order(class).iter().find_map(|ancestor| match ancestor {
        Ancestor::Project(own) => own_function(job, *own, name),
        _ => None,
    })
}

/// The method that a class of the project itself defines.
fn own_function(job: &Job<'_>, class: ClassRef, name: &str) -> Option<FunctionRef> {
    let module = job.facts.module(class.file);
    let body = module.class(class.class).scope;
    let index = module.functions.iter().position(|function| {
        function.class == Some(class.class)
            && module.names.text(function.name) == name
            && module.scope(function.scope).parent == Some(body)
    })?;
    Some(FunctionRef { file: class.file, function: FunctionId::new(index) })
}

/// Whether `Class.from_config(optimizer.get_config())` works for a class of the project.
fn takes_its_configuration(job: &Job<'_>, class: ClassRef) -> bool {
    let Some(initialiser) = function(job, class, INITIALISER) else { return true };
    if has_method(job, class, CONFIGURATION) {
        return true;
    }
    let module = job.facts.module(initialiser.file);
    let Some(base) = job.facts.library_base(class) else { return true };
    let parameters = module.function(initialiser.function).parameters.iter().skip(1);
    parameters.clone().any(|parameter| parameter.kind == ParameterKind::Keywords)
        && parameters
            .filter(|parameter| parameter.default.is_none() && is_named(parameter))
            .all(|parameter| base.parameter(module.names.text(parameter.name)).is_some())
}

/// Whether a call gives an optimizer of the project's class an argument that its configuration says nothing of: neither that of
/// the library's class, nor `get_config` of its own.
fn loses_argument(job: &Job<'_>, (file, call): (FileId, CallId), class: ClassRef) -> bool {
    let facts = job.facts;
    let (Some(initialiser), Some(base)) = (function(job, class, INITIALISER), facts.library_base(class))
    else {
        return false;
    };
    let Some(told) = configured(job, class) else { return false };
    let module = facts.module(initialiser.file);
    let parameters = &module.function(initialiser.function).parameters;
    let mut is_lost = false;
    for_bound(facts, file, facts.module(file).call(call), initialiser, |_, index| {
        let parameter = &parameters[index];
        let name = module.names.text(parameter.name);
        is_lost |= is_named(parameter) && base.parameter(name).is_none() && !told.contains(name);
    });
    is_lost
}

fn is_named(parameter: &Parameter) -> bool {
    matches!(
        parameter.kind,
        ParameterKind::PositionalOnly | ParameterKind::Ordinary | ParameterKind::KeywordOnly
    )
}

/// The names that the methods `get_config` of a class and of those that it inherits from write, as keys or keywords; `None` where one
/// of them adds what can't be seen.
fn configured<'j>(job: &'j Job<'_>, class: ClassRef) -> Option<FxHashSet<&'j str>> {
    let facts = job.facts;
    let mut found = FxHashSet::default();
    for ancestor in facts.hierarchy.order(class) {
        let Ancestor::Project(own) = *ancestor else { continue };
        let Some(method) = own_function(job, own, CONFIGURATION) else { continue };
        let module = facts.module(own.file);
        let scope = module.function(method.function).scope;
        let is_config = |value: ValueId| {
            let Value::Call(call) = module.value(value).value else { return false };
            matches!(module.value(module.call(call).callee).value,
                Value::Attribute { name, .. } if module.names.text(name) == CONFIGURATION)
        };
        for own in module.values.iter().filter(|own| own.scope == scope) {
            match &own.value {
                Value::Constant(Constant::Str(text)) => drop(found.insert(module.names.text(*text))),
                Value::Display(_, elements) => {
                    let mut merged = elements.iter().filter_map(|own| match *own {
                        Element::Merge(value) => Some(value),
                        _ => None,
                    });
                    if !merged.all(is_config) {
                        return None;
                    }
                }
                _ => {}
            }
        }
        for call in module.calls.iter().filter(|own| own.scope == scope) {
            for argument in &call.arguments {
                match argument.passing {
                    Passing::Keyword(name) => drop(found.insert(module.names.text(name))),
                    Passing::Merge if !is_config(argument.value) => return None,
                    // `config.update(self.settings)`
                    Passing::Positional if !is_told(&module.value(argument.value).value) => return None,
                    _ => {}
                }
            }
        }
    }
    Some(found)
}

/// Whether it can be seen which names a value that a call is given has.
fn is_told(value: &Value) -> bool {
    matches!(
        value,
        Value::Display(..) | Value::Constant(_) | Value::Parameter(..) | Value::Class(_) | Value::Call(_)
    )
}

/// Whether Keras can find a class of the project by its name.
fn is_registered(job: &Job<'_>, class: ClassRef) -> bool {
    let facts = job.facts;
    let module = facts.module(class.file);
    let statement = module.class(class.class).statement;
    let header = module.statement(statement).header;
    let register = facts.library.lookup("tensorflow.keras.saving.register_keras_serializable");
    module.calls.iter().enumerate().any(|(index, call)| {
        header.contains_range(call.range)
            && facts.called_symbols(class.file, CallId::new(index)).any(|symbol| Some(symbol) == register)
    })
}
