//! What goes into a function at one call does not come out at another.
//!
//! Inside of a function a value may differ because a call passes something that differs. Such a value differs for this
//! call, and the result of another call of the same function does not. Each value that differs remembers by which
//! parameters of its function it does, or that it does so at every call.

use rustc_hash::FxHashMap;

use crate::program::{Facts, FunctionRef, Place, for_bound, for_merged};
use crate::project::FileId;
use crate::semantic::{CallId, FunctionId, ScopeKind, Value};

/// By which parameters of its function a value differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Through(u64);

impl Through {
    /// At no call, as far as is known.
    pub(super) const NOTHING: Self = Self(0);
    /// At every call, whatever is passed.
    pub(super) const ALWAYS: Self = Self(1 << 63);

    fn parameter(index: usize) -> Self {
        if index < 63 { Self(1 << index) } else { Self::ALWAYS }
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// An argument of a call: what the call gives, and which parameter of which function it binds.
#[derive(Clone, Copy, Debug)]
struct Passed {
    result: Place,
    function: FunctionRef,
    parameter: usize,
}

/// The calls of the project's functions, by what they pass and by what returns to them.
#[derive(Debug, Default)]
pub(super) struct Passing {
    arguments: FxHashMap<Place, Vec<Passed>>,
    /// What each call passes.
    calls: FxHashMap<Place, Vec<(Place, FunctionRef, usize)>>,
    returned: FxHashMap<Place, Vec<FunctionRef>>,
}

impl Passing {
    pub(super) fn new(facts: &Facts<'_>, files: &[FileId]) -> Self {
        let mut own = Self::default();
        for &file in files {
            let module = facts.module(file);
            for (index, call) in module.calls.iter().enumerate() {
                let result = (file, call.result);
                for function in facts.called_functions(file, CallId::new(index)) {
                    let mut pass = |argument, parameter| {
                        let place = (file, argument);
                        own.arguments.entry(place).or_default().push(Passed { result, function, parameter });
                        own.calls.entry(result).or_default().push((place, function, parameter));
                    };
                    for_bound(facts, file, call, function, &mut pass);
                    for_merged(facts, file, call, function, pass);
                }
            }
            for (index, function) in module.functions.iter().enumerate() {
                let id = FunctionRef { file, function: FunctionId::new(index) };
                for &value in function.returns.iter().chain(&function.yields) {
                    own.returned.entry((file, value)).or_default().push(id);
                }
            }
        }
        own
    }

    /// By what a value differs to which a difference goes in one step; `NOTHING` if it does not, as what is passed there
    /// does not differ.
    pub(super) fn carried(
        &self,
        facts: &Facts<'_>,
        place: Place,
        through: Through,
        next: Place,
        known: impl Fn(Place) -> Through,
    ) -> Through {
        match facts.module(next.0).value(next.1).value {
            Value::Parameter(_, index) => {
                let index = index as usize;
                let passed = self.arguments.get(&place).into_iter().flatten();
                let is_passed = passed.into_iter().any(|own| {
                    let parameters =
                        &facts.module(own.function.file).function(own.function.function).parameters;
                    own.parameter == index && (own.function.file, parameters[index].value) == next
                });
                if is_passed { Through::parameter(index) } else { Through::ALWAYS }
            }
            Value::Call(call) => {
                let returning = self.returned.get(&place).into_iter().flatten();
                let mut returning = returning
                    .filter(|&&function| {
                        facts.called_functions(next.0, call).any(|called| called == function)
                    })
                    .peekable();
                if returning.peek().is_none() {
                    return within(facts, place, through, next);
                }
                returning.fold(Through::NOTHING, |all, &function| {
                    all.union(self.returns(next, function, through, &known))
                })
            }
            Value::Attribute { base, narrowed, .. } if place.0 == next.0 => {
                let is_own = base == place.1 || narrowed == Some(place.1);
                if is_own { within(facts, place, through, next) } else { Through::ALWAYS }
            }
            _ => within(facts, place, through, next),
        }
    }

    /// By what the result of a call differs, if what the function returns does by these parameters.
    pub(super) fn returns(
        &self,
        result: Place,
        function: FunctionRef,
        through: Through,
        known: impl Fn(Place) -> Through,
    ) -> Through {
        let always = if through.contains(Through::ALWAYS) { Through::ALWAYS } else { Through::NOTHING };
        let passed = self.calls.get(&result).into_iter().flatten();
        passed
            .filter(|&&(_, of, parameter)| of == function && through.contains(Through::parameter(parameter)))
            .fold(always, |all, &(argument, ..)| all.union(known(argument)))
    }

    /// The calls from which an argument comes back, and what comes back of them.
    pub(super) fn back(
        &self,
        facts: &Facts<'_>,
        argument: Place,
        known: impl Fn(Place) -> Through,
    ) -> Vec<(Place, Place)> {
        let mut found = Vec::new();
        for passed in self.arguments.get(&argument).into_iter().flatten() {
            let function = facts.module(passed.function.file).function(passed.function.function);
            let returned = function.returns.iter().chain(&function.yields);
            let returned = returned.map(|&value| (passed.function.file, value));
            let by_it = |&place: &Place| known(place).contains(Through::parameter(passed.parameter));
            found.extend(returned.filter(by_it).map(|place| (place, passed.result)));
        }
        found
    }
}

/// What differs by a parameter does so in its own function; elsewhere it differs.
fn within(facts: &Facts<'_>, place: Place, through: Through, next: Place) -> Through {
    if function_of(facts, place) == function_of(facts, next) { through } else { Through::ALWAYS }
}

fn function_of(facts: &Facts<'_>, (file, value): Place) -> Option<FunctionRef> {
    let module = facts.module(file);
    match module.scope(module.code_scope(module.value(value).scope)).kind {
        ScopeKind::Function(function) | ScopeKind::Lambda(function) => Some(FunctionRef { file, function }),
        _ => None,
    }
}
