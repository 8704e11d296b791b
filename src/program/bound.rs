//! What calls bind to the parameters of the functions that they enter.

use super::facts::Facts;
use super::modules::FunctionRef;
use super::object::Object;
use crate::project::FileId;
use crate::semantic::{Argument, Call, Parameter, ParameterKind, Passing, ValueId};

/// What a call of a function binds to its parameters: arguments, each with the index of a parameter.
pub fn for_bound(
    facts: &Facts<'_>,
    file: FileId,
    call: &Call,
    function: FunctionRef,
    mut found: impl FnMut(ValueId, usize),
) {
    let own = facts.module(function.file).function(function.function);
    // A bound method's receiver takes the first place; so does an instance that is called.
    let is_method = own.class.is_some() && own.statement.is_some();
    let mut places = own.parameters.iter().enumerate().filter(|(_, parameter)| {
        matches!(parameter.kind, ParameterKind::PositionalOnly | ParameterKind::Ordinary)
    });
    if is_method {
        places.next();
    }
    let names = &facts.module(function.file).names;
    let index_of = |is_wanted: &dyn Fn(&Parameter) -> bool| own.parameters.iter().position(is_wanted);
    for argument in &call.arguments {
        let parameter = match argument.passing {
            Passing::Positional => places.next().map(|(index, _)| index),
            Passing::Keyword(name) => {
                let name = facts.module(file).names.text(name);
                index_of(&|parameter| names.text(parameter.name) == name)
            }
            Passing::Spread | Passing::Merge => None,
        };
        let rest = || {
            index_of(&|parameter| matches!(parameter.kind, ParameterKind::Variadic | ParameterKind::Keywords))
        };
        if let Some(parameter) = parameter.or_else(rest)
            && !is_called_back(facts, file, call, argument, function)
        {
            found(argument.value, parameter);
        }
    }
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
