//! What the model asks of single calls and conditions to tell whether they communicate.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::super::guards::{Atom, Key, Literal};
use super::super::model::Model;
use super::super::values::{Cause, is_distributed_object};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Confidence;
use crate::program::{CallEdge, Caller, LoopKind, Object, ObjectId, Place, Via};
use crate::project::FileId;
use crate::semantic::{BranchKind, Call, CallId, CallKind, Operator, Role, Value, ValueId};

/// Of how many values at most it is asked whether the ranks agree on them.
const STEPS: usize = 64;

/// What was asked of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Question {
    /// Whether a comparison or a function decides it.
    Computed,
    /// Whether something of each rank's own goes into it.
    Local,
}

/// What is asked already: who asks it again gets no other answer.
type Asked = FxHashSet<(Question, Place)>;

impl Model<'_> {
    /// Whether a scope's code communicates.
    #[must_use]
    pub fn code_communicates(&self, caller: Caller) -> bool {
        self.comms.of_scope(caller).is_some_and(|body| self.comms.communicates(body))
    }

    /// Whether a call only hands a function on to be called later: a decorator, `tf.function(step)`.
    #[must_use]
    pub fn only_wraps(&self, edge: &CallEdge) -> bool {
        let (file, Some(call)) = (edge.caller.file, edge.call) else { return false };
        edge.via == Via::Library
            && (self.facts.module(file).call(call).kind == CallKind::Decorator
                || self.facts.called_symbols(file, call).any(|symbol| {
                    let class = self.facts.library.returned_class(symbol).unwrap_or(symbol);
                    symbol.has(Effect::Traces)
                        || symbol.has(Effect::KeepsLength)
                        || self.facts.library.kind_of_class(class) == Kind::Estimator
                }))
    }

    /// Whether a condition says something of the rank's number alone.
    #[must_use]
    pub fn is_on_rank(&self, condition: Place) -> bool {
        let is_number = |own: &Literal| matches!(own.atom, Atom::Is(..));
        let yes = self.literals(condition, true);
        !yes.is_all() && yes.0.iter().all(is_number) && {
            let no = self.literals(condition, false);
            !no.is_all() && no.0.iter().all(is_number)
        }
    }

    /// How sure it is that a condition that differs decides otherwise on another rank: data of the rank's own decide
    /// where a comparison or a function asks for them, not where something that came by them is asked whether it is
    /// there at all.
    #[must_use]
    pub fn sureness(&self, condition: Place, cause: Cause) -> Confidence {
        match cause {
            Cause::Rank if self.may_be_agreed(condition, &mut FxHashSet::default()) => Confidence::Possible,
            Cause::Rank => Confidence::Certain,
            Cause::Data | Cause::Held if self.asks_for_elements(condition) => Confidence::Possible,
            Cause::Data | Cause::Held if self.is_computed(condition, &mut FxHashSet::default()) => {
                Confidence::Certain
            }
            _ => Confidence::Possible,
        }
    }

    /// Whether what differs in a value begins in another module, and it is no plain question for the rank's number: on such a
    /// long way other objects and other calls of the same code may get in between.
    pub(in crate::ranks) fn comes_from_elsewhere(&self, place: Place) -> bool {
        let is_number = |own: &Literal| matches!(own.atom, Atom::Is(..));
        self.difference(place).is_some_and(|own| own.source.0 != place.0)
            && ![true, false].into_iter().any(|holds| self.literals(place, holds).0.iter().any(is_number))
    }

    /// Whether a value is what the ranks agree on, or computed from it: `float(hvd.allreduce(loss))`.
    fn is_agreed(&self, place: Place) -> bool {
        let facts = self.facts;
        let mut seen = FxHashSet::default();
        let mut work = VecDeque::from([place]);
        while let Some(place) = work.pop_front().filter(|_| seen.len() < STEPS) {
            if facts.gives(place, &[Effect::Agrees]) {
                return true;
            }
            if self.difference(place).is_none() && seen.insert(place) {
                work.extend(facts.influence().operands(place));
            }
        }
        false
    }

    /// Whether the ranks agree on all that differs in a value, on one of the ways to it: `if several: stop =
    /// comm.bcast(stop)`. Most often there is one rank on the other.
    fn may_be_agreed(&self, place: Place, seen: &mut FxHashSet<Place>) -> bool {
        let facts = self.facts;
        if !seen.insert(place) {
            return true;
        }
        let is_agreed = |&part: &ValueId| self.is_agreed((place.0, part));
        match &facts.module(place.0).value(place.1).value {
            Value::Phi(alternatives) if alternatives.iter().any(is_agreed) => true,
            Value::Phi(_)
            | Value::Cell(_)
            | Value::Parameter(..)
            | Value::Import(_)
            | Value::Call(_)
            | Value::Operator { operator: Operator::Not, .. } => {
                let operands = facts.influence().operands(place);
                let mut differing = operands.filter(|&own| self.difference(own).is_some()).peekable();
                differing.peek().is_some() && differing.all(|own| self.may_be_agreed(own, seen))
            }
            _ => false,
        }
    }

    /// Whether a condition asks a container whether it is empty, and as many elements are in it on all ranks: what they
    /// are does not decide.
    fn asks_for_elements(&self, place: Place) -> bool {
        let (file, value) = place;
        if let Value::Operator { operator: Operator::Not, left, .. } =
            self.facts.module(file).value(value).value
        {
            return self.asks_for_elements((file, left));
        }
        let mut objects = self.facts.objects(file, value).peekable();
        objects.peek().is_some()
            && objects.all(|(_, own)| matches!(own, Object::Container(..)))
            && self.values.length(place).is_none()
    }

    fn is_computed(&self, place: Place, asked: &mut Asked) -> bool {
        let facts = self.facts;
        let (file, value) = place;
        if self.difference(place).is_none() || !asked.insert((Question::Computed, place)) {
            return false;
        }
        match facts.module(file).value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } => self.is_computed((file, left), asked),
            Value::Operator { .. } => self.is_local(place, asked),
            Value::Call(call)
                if facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Trains)) =>
            {
                false
            }
            Value::Call(call) if facts.called_functions(file, call).next().is_none() => {
                self.is_local(place, asked)
            }
            Value::Attribute { base, narrowed, .. } => {
                let mut stored = facts.influence().operands(place);
                stored
                    .any(|from| (narrowed.is_some() || from != (file, base)) && self.is_computed(from, asked))
            }
            Value::Item { .. } | Value::Unpack { .. } | Value::Iteration(_) => false,
            _ => facts.influence().operands(place).any(|from| self.is_computed(from, asked)),
        }
    }

    /// Whether something that is each rank's own goes into a value, and not what ranks agree on where there are several
    /// of them: `hvd.allreduce(loss) if hvd.size() > 1 else loss`.
    fn is_local(&self, place: Place, asked: &mut Asked) -> bool {
        let facts = self.facts;
        let (file, value) = place;
        if self.difference(place).is_none() || !asked.insert((Question::Local, place)) {
            return false;
        }
        let is_agreed = |&part: &ValueId| self.is_agreed((file, part));
        let mut parts = facts.influence().operands(place).filter(|&from| self.difference(from).is_some());
        match &facts.module(file).value(value).value {
            Value::Phi(alternatives) if alternatives.iter().any(is_agreed) => false,
            Value::Phi(alternatives) => {
                let mut parts = parts.peekable();
                parts.peek().is_none()
                    || parts.any(|part| self.is_local(part, asked))
                    || self.is_chosen_locally(file, alternatives, asked)
            }
            Value::Operator { .. } | Value::Call(_) => {
                let mut parts = parts.peekable();
                parts.peek().is_none() || parts.any(|part| self.is_local(part, asked))
            }
            Value::Cell(_) | Value::Parameter(..) | Value::Import(_) => {
                parts.any(|part| self.is_local(part, asked))
            }
            // An optimizer that was made with what is local counts its steps as all others do.
            &Value::Attribute { base, .. } if self.is_made(file, base) => {
                parts.any(|part| part != (file, base) && self.is_local(part, asked))
            }
            _ => true,
        }
    }

    /// Whether a value is something that is made once, as opposed to data.
    fn is_made(&self, file: FileId, value: ValueId) -> bool {
        [Kind::Optimizer, Kind::Model, Kind::Layer, Kind::Checkpoint]
            .into_iter()
            .any(|kind| self.facts.may_be(file, value, kind))
    }

    /// Whether something of each rank's own decides which of several values a variable has: a counter of the steps that
    /// made its loss no smaller.
    fn is_chosen_locally(&self, file: FileId, alternatives: &[ValueId], asked: &mut Asked) -> bool {
        let module = self.facts.module(file);
        let mut bound = module.definitions.iter().filter(|own| alternatives.contains(&own.value));
        bound.any(|own| {
            let conditions = self.facts.conditions(Caller { file, scope: own.scope }, own.block);
            let mut decisions = conditions.iter().filter(|own| own.branch.kind != BranchKind::For);
            decisions
                .any(|own| own.branch.condition.is_some_and(|value| self.is_computed((file, value), asked)))
        })
    }

    /// Whether nothing reads what a call returns.
    pub(super) fn is_unused(&self, file: FileId, call: &Call) -> bool {
        match call.role {
            Role::Statement => true,
            Role::Assigned => {
                self.facts.influence().dependents((file, call.result)).next().is_none()
                    && !self.facts.module(file).uses.iter().any(|reading| reading.value == call.result)
            }
            _ => false,
        }
    }

    /// Whether `fit`, or another call that trains a model, averages over the ranks.
    #[must_use]
    pub fn fit_communicates(&self, file: FileId, call: CallId) -> bool {
        let facts = self.facts;
        let receiver = facts.receiver(file, facts.module(file).call(call));
        let Some(receiver) = receiver else { return false };
        if facts.objects(file, receiver).any(|(_, object)| matches!(object, Object::Super(..))) {
            return false;
        }
        let mut loops = self.programs.iter().flat_map(|program| &program.loops);
        let optimizers: Vec<ObjectId> = loops
            .find(|own| own.kind == LoopKind::KerasFit && (own.caller.file, own.call) == (file, call))
            .map(|own| own.optimizers.clone())
            .unwrap_or_default();
        if optimizers.is_empty() {
            // A model whose optimizer can't be seen: the program's only kind.
            return facts.is_unknown(file, receiver) && self.distributes_optimizers();
        }
        optimizers.into_iter().any(|optimizer| is_distributed_object(facts, optimizer))
    }

    /// Whether a call trains an estimator, `estimator.train(inputs)`, whose function for the model distributes an optimizer.
    pub(super) fn estimator_communicates(&self, file: FileId, call: CallId) -> bool {
        let data = self.facts.module(file).call(call);
        let receiver = self.facts.receiver(file, data).into_iter();
        let mut given = receiver.chain(data.arguments.iter().map(|own| own.value));
        given.any(|own| self.is_distributed_estimator(file, own))
    }

    /// Whether a value is an estimator whose function for the model distributes an optimizer.
    fn is_distributed_estimator(&self, file: FileId, value: ValueId) -> bool {
        let facts = self.facts;
        let makers = facts.of_kind(file, value, Kind::Estimator).into_iter();
        makers.filter_map(|own| facts.made_at(own)).any(|(file, call)| {
            facts.called_functions(file, call).any(|function| {
                facts.effects().of_scope(facts.code_of(function)).effects.contains(Effect::Distributes)
            })
        })
    }

    fn distributes_optimizers(&self) -> bool {
        self.facts
            .creations
            .iter()
            .any(|made| made.kind == Kind::Optimizer && is_distributed_object(self.facts, made.object))
    }

    /// A value as its literal or the library's name for it; empty if it is neither.
    pub(super) fn spelled(&self, file: FileId, value: ValueId) -> String {
        let symbols = self.facts.objects(file, value).filter_map(|(_, object)| self.facts.symbol(object));
        let mut names: Vec<&str> = symbols.map(Symbol::name).collect();
        names.sort_unstable();
        match self.key((file, value)) {
            Key::Constant(text) => format!(" {text}"),
            _ => names.concat(),
        }
    }
}
