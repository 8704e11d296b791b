//! Collectives whose arguments have to be equal on all ranks, and are not: the root, the name in a graph, how they
//! reduce, the tensor's shape and type; for `fit` how many steps it makes.

use super::super::lengths::returned;
use super::super::model::Model;
use super::super::values::{Cause, Difference};
use super::{CHECK, source};
use crate::api::{Effect, Scaling, Symbol};
use crate::finding::{Confidence, Finding, Label, Level};
use crate::program::{Caller, Object, Place};
use crate::semantic::{Argument, Call, CallId, CallKind, Element, Value, ValueId};
use crate::syntax::TextRange;

/// An argument that is another one on each rank, and what comes of it.
type Unequal = (Difference, TextRange, &'static str);

/// The finding of a call.
pub(super) fn finding(model: &Model<'_>, caller: Caller, id: CallId) -> Option<Finding> {
    let facts = model.facts;
    let file = caller.file;
    let call = facts.module(file).call(id);
    if call.kind != CallKind::Expression {
        return None;
    }
    let (own, range, message) = facts.called_symbols(file, id).find_map(|symbol| {
        let given = Given { model, caller, call, symbol };
        if symbol.has(Effect::Trains) && model.fit_communicates(file, id) {
            given.steps()
        } else if symbol.has(Effect::Collective) && !symbol.has(Effect::Initializes) {
            given.root().or_else(|| given.name()).or_else(|| given.reduction()).or_else(|| given.tensor())
        } else {
            None
        }
    })?;
    let location = model.at_call(file, id);
    let level = if own.cause == Cause::Rank { Level::Error } else { Level::Warning };
    let origin = source(model, own);
    let argument = facts.location(file, range);
    let mut finding = Finding::new(&CHECK.rule, level, location, message)
        .here("each rank communicates")
        .label(argument, "differs between ranks")
        .help("give it the same on all ranks")
        .confidence(if own.cause.is_weak() { Confidence::Possible } else { Confidence::Certain })
        .in_scope(facts.scope_name(caller));
    finding.forbids_fixes = own.cause == Cause::Files;
    if origin.location != argument {
        finding = finding.label(origin.location, origin.message.clone());
    }
    finding.flow = vec![
        origin,
        Label { location: argument, message: "given here".to_owned() },
        Label { location, message: "each rank communicates".to_owned() },
    ];
    Some(finding)
}

/// What a collective is given.
struct Given<'g, 'c> {
    model: &'g Model<'c>,
    caller: Caller,
    call: &'g Call,
    symbol: &'g Symbol,
}

impl Given<'_, '_> {
    fn argument(&self, name: &str) -> Option<&Argument> {
        self.model.facts.argument(self.caller.file, self.call, self.symbol, name)
    }

    fn differs(&self, value: ValueId) -> Option<Difference> {
        self.model.difference((self.caller.file, value)).filter(|own| own.cause != Cause::Files)
    }

    fn by_rank(&self, place: Place) -> Option<Difference> {
        self.model.difference(place).filter(|own| own.cause == Cause::Rank)
    }

    /// How many steps `fit` makes.
    fn steps(&self) -> Option<Unequal> {
        let file = self.caller.file;
        let shared = self.symbol.scaled().filter(|(_, scaling)| *scaling == Scaling::Divide);
        let mut counts = shared.map(|(name, _)| name).chain(["epochs", "initial_epoch", "batch_size"]);
        let counted = counts.find_map(|name| {
            let own = self.argument(name)?;
            Some((self.by_rank((file, own.value))?, own.range))
        });
        let uneven = || {
            let is_told = self.argument("steps_per_epoch").is_some();
            let mut given = ["x", "generator"].into_iter().filter(|_| !is_told);
            given.find_map(|name| {
                let own = self.argument(name)?;
                let place = (file, own.value);
                // One example more or less seldom makes another batch.
                let is_dealt = self.model.values.is_dealt_out(place);
                let length = self.model.values.length(place);
                let length =
                    length.map(|own| if is_dealt { Difference { cause: Cause::Cut, ..own } } else { own });
                Some((length.or_else(|| self.batches(own.value))?, own.range))
            })
        };
        let (own, range) = counted.or_else(uneven)?;
        Some((own, range, "the ranks train for different numbers of steps, and each step communicates"))
    }

    /// How many batches a sequence of the program's own says that it has: what its `__len__` returns.
    fn batches(&self, sequence: ValueId) -> Option<Difference> {
        let facts = self.model.facts;
        let own = facts.objects(self.caller.file, sequence).filter_map(|(_, object)| match object {
            Object::Instance(class, _) => facts.method(class, "__len__"),
            _ => None,
        });
        own.flat_map(|length| returned(facts, length)).find_map(|place| self.model.difference(place))
    }

    fn root(&self) -> Option<Unequal> {
        let root = self.argument("root_rank")?;
        Some((self.differs(root.value)?, root.range, "the ranks wait for different roots"))
    }

    /// Names matter where there is no order: in a graph.
    fn name(&self) -> Option<Unequal> {
        let name = self.argument("name").filter(|_| self.model.traced.contains(&self.caller))?;
        let message = "the ranks give the collective different names, and wait for each other";
        Some((self.differs(name.value)?, name.range, message))
    }

    fn reduction(&self) -> Option<Unequal> {
        ["op", "average"].into_iter().find_map(|name| {
            let own = self.argument(name)?;
            let difference = self.by_rank((self.caller.file, own.value))?;
            Some((difference, own.range, "the ranks want different things of one collective"))
        })
    }

    fn tensor(&self) -> Option<Unequal> {
        let tensor = ["tensor", "value"].into_iter().find_map(|name| self.argument(name))?;
        let place = (self.caller.file, tensor.value);
        let length = self.model.values.length(place).filter(|_| !self.symbol.has(Effect::Grows));
        if let Some(own) = length.or_else(|| self.made_with(place, Self::shape)) {
            return Some((own, tensor.range, "the ranks give the collective tensors of different shapes"));
        }
        let own = self.made_with(place, Self::element_type)?;
        Some((own, tensor.range, "the ranks give the collective tensors of different types"))
    }

    /// What differs in the call that made a value.
    fn made_with(
        &self,
        place: Place,
        differs: fn(&Self, Place, &Call, &Symbol) -> Option<Difference>,
    ) -> Option<Difference> {
        let facts = self.model.facts;
        self.model.origins(place).find_map(|(file, value)| {
            let Value::Call(id) = facts.module(file).value(value).value else { return None };
            let call = facts.module(file).call(id);
            facts.called_symbols(file, id).find_map(|symbol| differs(self, (file, value), call, symbol))
        })
    }

    fn element_type(&self, (file, _): Place, call: &Call, symbol: &Symbol) -> Option<Difference> {
        let own = self.model.facts.argument(file, call, symbol, "dtype")?;
        self.by_rank((file, own.value))
    }

    /// Of what grows by all ranks' parts the first dimension may differ, the others may not.
    fn shape(&self, (file, _): Place, call: &Call, symbol: &Symbol) -> Option<Difference> {
        let facts = self.model.facts;
        let own = facts.argument(file, call, symbol, "shape")?;
        let Value::Display(_, elements) = &facts.module(file).value(own.value).value else { return None };
        let first = usize::from(self.symbol.has(Effect::Grows));
        elements.iter().skip(first).find_map(|element| match *element {
            Element::At(_, value) => self.by_rank((file, value)),
            _ => None,
        })
    }
}
