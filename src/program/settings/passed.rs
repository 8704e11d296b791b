//! What the calls of a function pass to it, if there are no others than those that the source shows.

use super::super::contents::asked_key;
use super::super::facts::Facts;
use super::super::hierarchy::Ancestor;
use super::super::influence::Place;
use super::super::modules::FunctionRef;
use super::super::object::Literal;
use super::super::solver::CallEdge;
use super::{CONSTRUCTOR, Settings, VALUES};
use crate::project::FileId;
use crate::semantic::{Call, ParameterKind, Passing, Value, ValueId};

impl Settings<'_, '_> {
    /// The function that a value is the `**options` of, if it only reads them.
    pub(super) fn keywords(&self, (file, value): Place) -> Option<FunctionRef> {
        let module = self.facts.module(file);
        let Value::Parameter(function, position) = module.value(value).value else { return None };
        let own = module.function(function);
        let function = FunctionRef { file, function };
        let is_it = own.parameters[position as usize].kind == ParameterKind::Keywords;
        (is_it && self.only_reads(function, value)).then_some(function)
    }

    /// Whether a function changes nothing of its `**options`.
    fn only_reads(&self, function: FunctionRef, options: ValueId) -> bool {
        *self.common.reading.borrow_mut().entry(function).or_insert_with(|| {
            let module = self.facts.module(function.file);
            let mut stores = module.stores.iter();
            !stores.any(|store| store.base == options || store.value == options)
                && !module.calls.iter().any(|call| self.may_change(function.file, call, options))
        })
    }

    /// Whether a call may change a dictionary: it is handed over as it is, or the call is of a method that does more than
    /// take out what is under a key.
    fn may_change(&self, file: FileId, call: &Call, dictionary: ValueId) -> bool {
        let is_handed =
            call.arguments.iter().any(|own| own.value == dictionary && own.passing != Passing::Merge);
        is_handed
            || self.facts.receiver(file, call) == Some(dictionary)
                && match self.facts.module(file).value(call.result).value {
                    Value::Call(id) => asked_key(self.facts, file, id).is_none(),
                    _ => true,
                }
    }

    /// What a call of a function passes under a name that is none of its parameters.
    pub(super) fn keyword(&self, edge: &CallEdge, key: Literal) -> Keyword {
        let facts = self.facts;
        let (Literal::Str(key), Some(call)) = (key, edge.call.filter(|_| !Facts::is_call_back(edge))) else {
            return Keyword::Unknown;
        };
        let key = facts.solution.names.text(key);
        let file = edge.caller.file;
        let module = facts.module(file);
        let arguments = &module.call(call).arguments;
        let is_named = |passing| matches!(passing, Passing::Keyword(name) if module.names.text(name) == key);
        if let Some(given) = arguments.iter().find(|own| is_named(own.passing)) {
            return Keyword::Given((file, given.value));
        }
        let mut merged = arguments.iter().filter(|own| own.passing == Passing::Merge);
        if merged.any(|own| facts.may_bind(file, own, key)) { Keyword::Unknown } else { Keyword::Missing }
    }

    /// What all calls of a function pass for a parameter; `None` if that can't be told.
    pub(super) fn given(&self, function: FunctionRef, parameter: ValueId) -> Option<Vec<Place>> {
        let mut calls = self.calls(function)?.into_iter();
        calls.try_fold(Vec::new(), |mut all, edge| {
            all.push(self.facts.given_by(edge, function, parameter)?);
            Some(all)
        })
    }

    /// All calls of a function, if there are no others than those that the source shows.
    pub(super) fn calls(&self, function: FunctionRef) -> Option<Vec<&CallEdge>> {
        if *self.common.open.borrow_mut().entry(function).or_insert_with(|| self.is_open(function)) {
            return None;
        }
        let is_run = |edge: &&CallEdge| self.program.is_none_or(|program| self.facts.is_run(program, edge));
        let edges: Vec<&CallEdge> = self.facts.incoming(function).iter().filter(is_run).collect();
        (!edges.is_empty() && edges.len() <= VALUES).then_some(edges)
    }

    /// Whether calls may come to a function that the source does not show: nobody calls it here, or a decorator or a
    /// library has it. What other programs pass, which can import it, is theirs.
    fn is_open(&self, function: FunctionRef) -> bool {
        let facts = self.facts;
        let module = facts.module(function.file);
        let own = module.function(function.function);
        let name = module.names.text(own.name);
        let is_of_library = || {
            facts.modules.class_of(function).is_some_and(|class| {
                let ancestors = facts.hierarchy.order(class).iter();
                name != CONSTRUCTOR && ancestors.into_iter().any(|own| !matches!(own, Ancestor::Project(_)))
            })
        };
        facts.incoming(function).is_empty() || is_of_library() || facts.is_handed_out(function)
    }
}

/// What a call passes by name.
pub(super) enum Keyword {
    /// This.
    Given(Place),
    /// Nothing.
    Missing,
    /// Nobody knows: `**options` may have it.
    Unknown,
}
