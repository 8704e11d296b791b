//! Which number a value is on each rank: literals, the rank's number, arithmetic, and what collectives make of it.

use super::super::lengths::range_limits_of;
use super::held::{Held, is_wrapped};
use super::interval::Interval;
use super::number::Number;
use crate::api::{Effect, Symbol};
use crate::program::{Facts, FunctionRef, Object, Place, Via};
use crate::project::FileId;
use crate::semantic::{
    BranchKind, BuiltinType, Call, CallId, Constant, Container, Element, Operator, Value, ValueId,
};

/// How many values are looked at for one.
const STEPS: u32 = 500;

/// How often a value that depends on itself is gone through until nothing changes.
const ROUNDS: usize = 5;

/// The evaluation of one value.
pub(super) struct Evaluation<'e, 'c> {
    facts: &'e Facts<'c>,
    held: &'e Held,
    /// The values that are being joined, each with what it is taken for, and whether that was asked for.
    open: Vec<(Place, Number, bool)>,
    steps: u32,
    /// Something that the program learns when it runs goes into it, and not literals alone: which rank it is, what a
    /// variable holds, what all ranks agree on.
    pub(super) rests_on_ranks: bool,
}

impl<'e, 'c> Evaluation<'e, 'c> {
    pub(super) fn new(facts: &'e Facts<'c>, held: &'e Held) -> Self {
        Self { facts, held, open: Vec::new(), steps: STEPS, rests_on_ranks: false }
    }

    /// Whether a condition holds: one, zero, or between them.
    pub(super) fn truth(&mut self, place: Place) -> Number {
        let (file, value) = place;
        let module = self.facts.module(file);
        match &module.value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } => negated(self.truth((file, *left))),
            Value::Phi(parts) => {
                let wanted = match module.junction(module.value(value).range) {
                    Some(BranchKind::And) => Interval::of(0.0),
                    Some(BranchKind::Or) => Interval::of(1.0),
                    _ => return truth_of(self.number(place)),
                };
                let truths: Vec<Number> = parts.iter().map(|&part| self.truth((file, part))).collect();
                // What decides the chain decides it alone; otherwise all have to be alike.
                let decide = |own: fn(&Number) -> Interval| {
                    let mut all = truths.iter().map(own);
                    if all.clone().any(|own| own == wanted) {
                        return wanted;
                    }
                    all.next().map_or(Interval::ANY, |first| all.fold(first, Interval::or))
                };
                Number { root: decide(|own| own.root), others: decide(|own| own.others) }
            }
            _ => truth_of(self.number(place)),
        }
    }

    /// Which number a value is; any if it is none.
    pub(super) fn number(&mut self, place: Place) -> Number {
        let Some(steps) = self.steps.checked_sub(1) else { return Number::ANY };
        self.steps = steps;
        let (file, value) = place;
        if let Some(ever) = self.held.ever(self.facts, place) {
            self.rests_on_ranks = true;
            return ever;
        }
        let module = self.facts.module(file);
        match &module.value(value).value {
            Value::Constant(Constant::Int(int)) => int_number(*int),
            Value::Constant(Constant::Bool(truth)) => Number::truth([Some(*truth); 2]),
            Value::Instance(BuiltinType::Float) => {
                module.float(value).map_or(Number::ANY, |float| Number::same(Interval::of(float)))
            }
            Value::Operator { operator, left, right } => self.operator(file, *operator, *left, *right),
            Value::Phi(parts) => {
                let parts: Vec<Place> = parts.iter().map(|&part| (file, part)).collect();
                self.joined(place, &parts)
            }
            Value::Cell(variable) => {
                let definitions = module.shared_definitions(*variable);
                let parts: Vec<Place> = definitions.map(|definition| (file, definition.value)).collect();
                self.joined(place, &parts)
            }
            Value::Parameter(function, position) => {
                let function = FunctionRef { file, function: *function };
                match self.given(function, *position) {
                    Some(given) => self.joined(place, &given),
                    None => Number::ANY,
                }
            }
            Value::Call(call) => self.call(file, *call),
            Value::Attribute { narrowed: Some(narrowed), .. }
            | Value::Item { narrowed: Some(narrowed), .. } => self.number((file, *narrowed)),
            Value::Iteration(base) => self.elements((file, *base), None),
            Value::Unpack { base, index: Some(index), .. } => self.elements((file, *base), Some(*index)),
            _ => Number::ANY,
        }
    }

    fn operator(&mut self, file: FileId, operator: Operator, left: ValueId, right: ValueId) -> Number {
        if operator == Operator::Not {
            return negated(self.truth((file, left)));
        }
        let (one, other) = (self.number((file, left)), self.number((file, right)));
        match operator {
            Operator::Binary(method) | Operator::InPlace(method) => match method.name() {
                "__add__" => one.with(other, Interval::plus),
                "__sub__" => one.with(other.map(Interval::negated), Interval::plus),
                "__mul__" => one.with(other, Interval::times),
                "__truediv__" => one.with(other, Interval::over),
                _ => Number::ANY,
            },
            Operator::Unary(method) => match method.name() {
                "__neg__" => one.map(Interval::negated),
                "__pos__" => one,
                _ => Number::ANY,
            },
            Operator::Compare(method) => {
                let compare = |one: Interval, other: Interval| {
                    if one.is_empty() || other.is_empty() {
                        return Interval::EMPTY;
                    }
                    let is_so = match method.name() {
                        "__lt__" => one.is_less(other),
                        "__gt__" => other.is_less(one),
                        "__le__" => other.is_less(one).map(|is_less| !is_less),
                        "__ge__" => one.is_less(other).map(|is_less| !is_less),
                        "__eq__" => one.is_equal(other),
                        "__ne__" => one.is_equal(other).map(|is_equal| !is_equal),
                        _ => None,
                    };
                    Number::truth([is_so; 2]).root
                };
                one.with(other, compare)
            }
            Operator::Not => Number::ANY,
        }
    }

    /// One of several values; a value that goes into itself again grows until it stays as it is.
    fn joined(&mut self, place: Place, parts: &[Place]) -> Number {
        if let Some((_, assumed, is_used)) = self.open.iter_mut().find(|(own, ..)| *own == place) {
            *is_used = true;
            return *assumed;
        }
        let at = self.open.len();
        self.open.push((place, Number::NONE, false));
        let mut found = Number::ANY;
        for round in 0..ROUNDS {
            let mut all = Number::NONE;
            for &part in parts {
                all = all.or(self.number(part));
                if !all.is_known() {
                    break;
                }
            }
            let (_, assumed, is_used) = self.open[at];
            let next = if round == 0 { all } else { assumed.widened(all) };
            if !is_used || next == assumed || !next.is_known() {
                found = next;
                break;
            }
            self.open[at].1 = next;
        }
        self.open.truncate(at);
        if parts.is_empty() { Number::ANY } else { found }
    }

    /// What all calls of a function pass for a parameter; `None` if that can't be told.
    fn given(&self, function: FunctionRef, position: u32) -> Option<Vec<Place>> {
        let calls = self.facts.incoming(function).iter().filter(|edge| !is_wrapped(self.facts, edge));
        let given = calls.map(|edge| {
            let call = edge.call.filter(|_| edge.via == Via::Source)?;
            self.facts.passed_for(edge.caller.file, call, function, position)
        });
        given.collect()
    }

    fn call(&mut self, file: FileId, id: CallId) -> Number {
        let facts = self.facts;
        let call = facts.module(file).call(id);
        if let Some(returned) = self.returned(file, id) {
            return self.joined((file, call.result), &returned);
        }
        if facts.calls_builtin(file, id, "builtins.int") {
            let given = call.arguments.first().map_or(Number::ANY, |own| self.number((file, own.value)));
            return given.map(|own| own.map(f64::trunc));
        }
        if facts.calls_builtin(file, id, "builtins.bool") {
            return call.arguments.first().map_or(Number::ANY, |own| self.truth((file, own.value)));
        }
        let Some(symbol) = only_symbol(facts, file, id) else { return Number::ANY };
        if symbol.has(Effect::KeepsValue) {
            let Some(kept) = kept(facts, file, call, symbol) else { return Number::ANY };
            return match self.held.read(facts, kept, (file, call.result)) {
                Some(held) => {
                    self.rests_on_ranks = true;
                    held
                }
                None => self.number(kept),
            };
        }
        let told = self.told(file, call, symbol);
        self.rests_on_ranks |= told.is_known();
        told
    }

    /// What Horovod tells: the rank's number, how many there are, what all agree on.
    fn told(&mut self, file: FileId, call: &Call, symbol: &Symbol) -> Number {
        let facts = self.facts;
        // Those of a set of ranks are counted within it.
        let is_of_all = facts.receiver(file, call).is_none_or(|receiver| {
            facts.objects(file, receiver).all(|(_, object)| matches!(object, Object::External(_)))
        });
        if !is_of_all {
            return Number::ANY;
        }
        if symbol.has(Effect::ReadsRank) {
            return Number::RANK;
        }
        if symbol.has(Effect::ReadsLocalRank) {
            return Number::LOCAL_RANK;
        }
        if symbol.has(Effect::ReadsSize) {
            return if symbol.has(Effect::PerHost) { Number::OF_HOST } else { Number::SIZE };
        }
        if !symbol.has(Effect::Collective) || !symbol.has(Effect::Agrees) {
            return Number::ANY;
        }
        let argument = |name: &str| facts.argument(file, call, symbol, name).map(|own| (file, own.value));
        let Some(tensor) = ["tensor", "value", "obj"].into_iter().find_map(argument) else {
            return Number::ANY;
        };
        // What is scaled, compressed or sent among some only is another number.
        let others = ["average", "prescale_factor", "postscale_factor", "compression", "process_set"];
        if others.into_iter().any(|name| argument(name).is_some()) {
            return Number::ANY;
        }
        let own = self.number(tensor);
        if symbol.has(Effect::Broadcasts) {
            let root = argument("root_rank").map_or(Some(0), |root| self.root(root));
            return own.broadcast(root);
        }
        if !symbol.has(Effect::Averages) {
            return Number::ANY;
        }
        let Some((of, op)) = argument("op") else { return own.average() };
        let mut reductions = facts.objects(of, op).map(|(_, object)| facts.symbol(object));
        match (reductions.next(), reductions.next()) {
            (Some(Some(op)), None) if op.has(Effect::Averages) => own.average(),
            (Some(Some(op)), None) if op.has(Effect::Sums) => own.sum(),
            (Some(Some(op)), None) if op.has(Effect::TakesGreatest) => own.greatest(),
            _ => Number::ANY,
        }
    }

    /// The rank that sends, if all name the same one.
    pub(super) fn root(&mut self, place: Place) -> Option<i64> {
        let Number { root, others } = self.number(place);
        let is_zero = |own: Interval| own.is_equal(Interval::of(0.0));
        match (is_zero(root), is_zero(others)) {
            (Some(true), Some(true)) => Some(0),
            // Which one of the others it is does not matter.
            (Some(false), Some(false)) if root == others => Some(1),
            _ => None,
        }
    }

    /// What the functions return that a call surely calls; `None` if it may be something else.
    fn returned(&self, file: FileId, id: CallId) -> Option<Vec<Place>> {
        let facts = self.facts;
        let mut found = Vec::new();
        for edge in facts.callees(file, id) {
            let Object::Function(own) = facts.solution.object(edge.callee) else { return None };
            let function = facts.module(own.file).function(own.function);
            if edge.via != Via::Source || function.generator || function.asynchronous {
                return None;
            }
            found.extend(function.returns.iter().map(|&value| (own.file, value)));
        }
        (!found.is_empty()).then_some(found)
    }

    /// What the elements of a list are, or the one at an index.
    fn elements(&mut self, place: Place, index: Option<u32>) -> Number {
        let facts = self.facts;
        let (file, value) = place;
        let Some(steps) = self.steps.checked_sub(1) else { return Number::ANY };
        self.steps = steps;
        match &facts.module(file).value(value).value {
            Value::Display(container, elements) if self.stays(place, *container) => {
                let at = elements.iter().find_map(|element| match *element {
                    Element::At(at, value) if Some(at) == index => Some(value),
                    _ => None,
                });
                if let Some(value) = at {
                    return self.number((file, value));
                }
                let mut all = Number::NONE;
                for element in elements {
                    all = all.or(match *element {
                        Element::At(_, value) | Element::Any(value) => self.number((file, value)),
                        _ => Number::ANY,
                    });
                }
                all
            }
            Value::Call(id) => {
                let Some(returned) = self.returned(file, *id) else { return Number::ANY };
                let mut all = Number::NONE;
                for part in returned {
                    all = all.or(self.elements(part, index));
                }
                all
            }
            _ => Number::ANY,
        }
    }

    /// Whether a container has the elements that it is made with for ever.
    fn stays(&self, place: Place, container: Container) -> bool {
        let facts = self.facts;
        let only_goes_through = |(file, value): Place| match facts.module(file).value(value).value {
            Value::Iteration(_) | Value::Unpack { .. } => true,
            Value::Call(id) => {
                let call = facts.module(file).call(id);
                facts.receiver(file, call).is_none()
                    && call.arguments.iter().all(|own| (file, own.value) != place)
            }
            _ => false,
        };
        match container {
            Container::Tuple | Container::Generator => true,
            Container::List => facts.influence().dependents(place).all(only_goes_through),
            Container::Set | Container::Dict => false,
        }
    }

    /// Whether a loop over a value makes at least one turn on every rank.
    pub(super) fn surely_turns(&mut self, (file, value): Place) -> bool {
        let facts = self.facts;
        match range_limits_of(facts, (file, value)).as_deref() {
            Some(&[stop]) => self.number((file, stop)).is_always(|turns| turns.low >= 1.0),
            _ => false,
        }
    }
}

/// The library's function, or Python's, that a call calls, if it is the only one.
fn only_symbol<'c>(facts: &Facts<'c>, file: FileId, id: CallId) -> Option<&'c Symbol> {
    match facts.callees(file, id) {
        [only] => facts.symbol(facts.solution.object(only.callee)),
        _ => None,
    }
}

/// What a call returns the number of: its receiver, or the first that it is given.
pub(super) fn kept(facts: &Facts<'_>, file: FileId, call: &Call, symbol: &Symbol) -> Option<Place> {
    let is_bound = |receiver: &ValueId| {
        !facts.objects(file, *receiver).all(|(_, object)| matches!(object, Object::External(_)))
    };
    if let Some(receiver) = facts.receiver(file, call).filter(is_bound) {
        return Some((file, receiver));
    }
    let first = symbol.parameters().first()?;
    facts.argument(file, call, symbol, first.name()).map(|own| (file, own.value))
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts beyond 2^53")]
fn int_number(int: i64) -> Number {
    Number::same(Interval::of(int as f64))
}

fn negated(truth: Number) -> Number {
    Number::same(Interval::of(1.0)).with(truth.map(Interval::negated), Interval::plus)
}

/// Whether a number is true.
fn truth_of(number: Number) -> Number {
    let zero = Interval::of(0.0);
    number.map(|own| {
        if own.is_empty() { own } else { Number::truth([own.is_equal(zero).map(|is_zero| !is_zero); 2]).root }
    })
}
