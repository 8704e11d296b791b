//! What calls bind to the parameters of the functions that they enter.

use super::facts::Facts;
use super::influence::Place;
use super::modules::FunctionRef;
use super::object::Object;
use super::travel::code;
use crate::api::{HANDED, HANDED_BY_NAME, Symbol};
use crate::project::FileId;
use crate::semantic::{
    Argument, Call, Container, Function, Parameter, ParameterKind, Passing, Value, ValueId,
};

/// What a call of a function binds to its parameters: arguments, each with the index of a parameter.
pub fn for_bound(
    facts: &Facts<'_>,
    file: FileId,
    call: &Call,
    function: FunctionRef,
    mut found: impl FnMut(ValueId, usize),
) {
    let own = facts.module(function.file).function(function.function);
    if let Some((symbol, called)) = called_with_handed(facts, file, call, function) {
        let is_method = facts.objects(file, called).any(|(_, object)| matches!(object, Object::Bound(..)));
        return for_handed(facts, file, call, symbol, own, is_method, found);
    }
    let receiver = receiver_of(facts, file, call, function);
    let parameters = own.parameters.iter().enumerate();
    let mut places =
        parameters.filter(|&(index, parameter)| parameter.has_position() && Some(index) != receiver);
    let mut places = places.by_ref().skip(given_before(facts, (file, call.callee), function));
    let names = &facts.module(function.file).names;
    let index_of = |is_wanted: &dyn Fn(&Parameter) -> bool| own.parameters.iter().position(is_wanted);
    let of_kind = |kind: ParameterKind| index_of(&|parameter| parameter.kind == kind);
    for argument in &call.arguments {
        // What is handed to what the callee calls back has a place all the same.
        let mut bind = |value: ValueId, parameter: Option<usize>| {
            if let Some(parameter) = parameter
                && !is_called_back(facts, file, call, argument, function)
            {
                found(value, parameter);
            }
        };
        match argument.passing {
            Passing::Positional | Passing::Spread => {
                let spread = || written_out(facts, (file, argument.value));
                let values = if argument.passing == Passing::Spread { spread() } else { None };
                let is_open = argument.passing == Passing::Spread && values.is_none();
                for value in values.unwrap_or_else(|| vec![argument.value]) {
                    let place = if is_open { None } else { places.next().map(|(index, _)| index) };
                    bind(value, place.or_else(|| of_kind(ParameterKind::Variadic)));
                }
            }
            Passing::Keyword(name) => {
                let name = facts.module(file).names.text(name);
                let named = index_of(&|parameter| names.text(parameter.name) == name);
                bind(argument.value, named.or_else(|| of_kind(ParameterKind::Keywords)));
            }
            Passing::Merge => bind(argument.value, of_kind(ParameterKind::Keywords)),
        }
    }
}

/// The elements of a tuple or a list, if all of them are written out.
fn written_out(facts: &Facts<'_>, (file, value): Place) -> Option<Vec<ValueId>> {
    match &facts.module(file).value(value).value {
        Value::Display(Container::Tuple | Container::List, elements) => {
            elements.iter().map(|own| own.written_out()).collect()
        }
        _ => None,
    }
}

/// What a library calls the function with that it is given: `Thread(target=work, args=(path,))` calls `work(path)`.
fn for_handed(
    facts: &Facts<'_>,
    file: FileId,
    call: &Call,
    symbol: &Symbol,
    function: &Function,
    is_method: bool,
    mut found: impl FnMut(ValueId, usize),
) {
    let parameters = function.parameters.iter().enumerate();
    let places = parameters.filter(|(_, own)| own.has_position()).map(|(index, _)| index);
    if let Some(handed) = facts.argument(file, call, symbol, HANDED) {
        match written_out(facts, (file, handed.value)) {
            // The receiver of a method is not among them.
            Some(elements) => {
                let places = places.clone().skip(usize::from(is_method));
                places.zip(elements).for_each(|(place, value)| found(value, place));
            }
            None => places.clone().for_each(|place| found(handed.value, place)),
        }
    }
    for named in HANDED_BY_NAME.iter().filter_map(|name| facts.argument(file, call, symbol, name)) {
        places.clone().for_each(|place| found(named.value, place));
    }
}

/// The library's symbol that calls the function with what it is handed for it, and what is given for the function, if it is
/// called back in this way.
fn called_with_handed<'f>(
    facts: &'f Facts<'_>,
    file: FileId,
    call: &Call,
    function: FunctionRef,
) -> Option<(&'f Symbol, ValueId)> {
    let mut symbols = facts.objects(file, call.callee).filter_map(|(_, object)| facts.symbol(object));
    symbols.find_map(|symbol| {
        let called = symbol.parameters().iter().filter(|own| symbol.hands_on(own.name()));
        let mut given = called.filter_map(|own| facts.argument(file, call, symbol, own.name()));
        let given = given.find(|given| is_called_back(facts, file, call, given, function))?;
        Some((symbol, given.value))
    })
}

/// How many arguments a partial object around a function binds by position: one for `partial(function, 1)`.
fn given_before(facts: &Facts<'_>, callee: Place, function: FunctionRef) -> usize {
    let Some((file, partial)) = facts.partial_of(callee, function) else { return 0 };
    let given = facts.module(file).call(partial).arguments.iter().skip(1);
    given.filter(|argument| argument.passing == Passing::Positional).count()
}

/// What a call that makes a partial object binds to the parameters of the function that is called later: arguments, each
/// with the function and the index of the parameter.
pub(super) fn for_bound_later(
    facts: &Facts<'_>,
    file: FileId,
    call: &Call,
    mut found: impl FnMut(ValueId, FunctionRef, usize),
) {
    let Some((inner, given)) = call.arguments.split_first() else { return };
    let of_inner = Call { callee: inner.value, arguments: given.to_vec(), ..call.clone() };
    let functions = facts.solution.partial(facts.solution.node(file, call.result));
    for function in functions.filter_map(|inner| code(facts.solution.object(inner))) {
        for_bound(facts, file, &of_inner, function, |value, parameter| found(value, function, parameter));
    }
}

/// The parameters that a call of a function may bind to entries of `**options`, each with those.
pub fn for_merged(
    facts: &Facts<'_>,
    file: FileId,
    call: &Call,
    function: FunctionRef,
    mut found: impl FnMut(ValueId, usize),
) {
    let merged = || call.arguments.iter().filter(|argument| argument.passing == Passing::Merge);
    if merged().next().is_none() {
        return;
    }
    let module = facts.module(function.file);
    let own = module.function(function.function);
    let parameters = &own.parameters;
    let mut is_bound = vec![false; parameters.len()];
    if let Some(receiver) = receiver_of(facts, file, call, function) {
        is_bound[receiver] = true;
    }
    for_bound(facts, file, call, function, |_, parameter| is_bound[parameter] = true);
    for (index, parameter) in parameters.iter().enumerate().filter(|&(index, _)| !is_bound[index]) {
        if matches!(parameter.kind, ParameterKind::Ordinary | ParameterKind::KeywordOnly) {
            let name = module.names.text(parameter.name);
            let merged = merged().filter(|argument| facts.may_bind(file, argument, name));
            merged.for_each(|argument| found(argument.value, index));
        }
    }
}

/// The `wanted` defaults of the parameters that a call of a function certainly leaves out, each with the index of its
/// parameter.
pub fn for_left_out(
    facts: &Facts<'_>,
    file: FileId,
    call: &Call,
    function: FunctionRef,
    wanted: impl Fn(ValueId) -> bool,
    mut found: impl FnMut(ValueId, usize),
) {
    let is_open = |argument: &Argument| matches!(argument.passing, Passing::Spread | Passing::Merge);
    let module = facts.module(function.file);
    let parameters = &module.function(function.function).parameters;
    let default = |own: &Parameter| own.default.filter(|&default| wanted(default));
    if parameters.iter().all(|own| default(own).is_none()) || call.arguments.iter().any(is_open) {
        return;
    }
    let mut is_bound = vec![false; parameters.len()];
    for_bound(facts, file, call, function, |_, parameter| is_bound[parameter] = true);
    for (index, parameter) in parameters.iter().enumerate().filter(|&(index, _)| !is_bound[index]) {
        if let Some(default) = default(parameter) {
            found(default, index);
        }
    }
}

/// The parameter that a bound method's receiver binds; so does an instance that is called. `Base.__init__(self, size)` calls
/// the plain function, with the object among the arguments.
fn receiver_of(facts: &Facts<'_>, file: FileId, call: &Call, function: FunctionRef) -> Option<usize> {
    let own = facts.module(function.file).function(function.function);
    let is_method = own.class.is_some() && own.statement.is_some();
    let is_plain =
        || facts.objects(file, call.callee).any(|(_, object)| object == Object::Function(function));
    own.parameters.iter().position(Parameter::has_position).filter(|_| is_method && !is_plain())
}

/// Whether an argument of a call is the very function, which the callee calls back: `dataset.map(function)` does not give
/// it itself.
fn is_called_back(
    facts: &Facts<'_>,
    file: FileId,
    call: &Call,
    argument: &Argument,
    function: FunctionRef,
) -> bool {
    /// A value that may be more is looked at no further.
    const FEW: usize = 8;
    let is_it = |value: ValueId| {
        let objects = facts.solution.values(file, value).iter().take(FEW);
        objects.copied().any(|own| match facts.solution.object(own) {
            Object::Function(own) | Object::Bound(_, own) => own == function,
            _ => false,
        })
    };
    is_it(argument.value) && !is_it(call.callee)
}
