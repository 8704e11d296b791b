//! What single calls and stores do to the variables that should be equal on all ranks.

use rustc_hash::FxHashMap;

use super::super::change::{Change, Changes, join};
use super::super::values::{Cause, Difference};
use super::{Manner, Replicas};
use crate::api::{Effect, Kind, Role, Scaling, Symbol};
use crate::finding::Location;
use crate::program::{Caller, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{Call, CallId, CallKind, Store, StoreKey, Value, ValueId};

/// How many functions and joins a rank's number is followed back through.
const DEPTH: usize = 4;

/// The parameters of functions that give a variable another value.
const VARIABLE: &str = "x";
const VALUE: &str = "value";

/// The attributes of an optimizer that have its variables, to which its rate doesn't belong.
const VARIABLES: [&str; 2] = ["variables", "weights"];

impl Replicas<'_, '_> {
    pub(super) fn of_call(
        &mut self,
        file: FileId,
        id: CallId,
        scopes: &FxHashMap<Caller, Changes>,
    ) -> Vec<Changes> {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        if call.kind == CallKind::Decorator {
            return Vec::new();
        }
        let mut found = Vec::new();
        let bodies = facts.callees(file, id).iter().filter(|edge| !self.model.only_wraps(edge));
        let bodies = bodies.filter_map(|edge| crate::program::code(facts.solution.object(edge.callee)));
        let bodies = bodies.filter(|&own| !self.model.overrides.is_replaced(file, id, own));
        let mut bodies = bodies.filter_map(|function| {
            let whole = scopes.get(&facts.code_of(function))?;
            let may_be_left_out = whole.values().any(|change| change.is_broadcast());
            let told = if may_be_left_out { self.as_told(file, id, function) } else { None };
            Some(told.unwrap_or_else(|| whole.clone()))
        });
        if let Some(first) = bodies.next() {
            let body = bodies.fold(first, |joined, body| join(&joined, &body));
            found.push(self.relied_on(file, id, body));
        }
        let symbols: Vec<&Symbol> = facts.called_symbols(file, id).collect();
        for symbol in &symbols {
            found.extend(self.of_symbol(file, id, symbol));
        }
        if symbols.is_empty() {
            found.extend(self.of_unknown(file, id));
            found.extend(self.handed_away(file, id));
        }
        if let Some(steps) = self.steps.get(&(file, id)).cloned() {
            let broadcasts = self.is_broadcast_by_callback(file, id);
            let change = self.step(file, id);
            if broadcasts {
                // A `train_step` of the model's own trains parts of it.
                let parts = self.parts.iter().chain(&steps);
                found.push(parts.map(|&object| (object, Change::EQUAL)).collect());
            }
            found.push(steps.iter().map(|&object| (object, change)).collect());
        }
        // Made here; a wrapped optimizer begins anew.
        let made: Vec<usize> = facts
            .solution
            .values(file, call.result)
            .iter()
            .filter(|&&object| facts.made_at(object) == Some((file, id)))
            .filter_map(|object| self.numbers.get(object).copied())
            .collect();
        for object in made {
            let change = self.beginning(file, id, object, &symbols);
            found.push(std::iter::once((object, change)).collect());
            found.extend(self.setting_made(file, id, object));
        }
        found
    }

    /// The rate that an optimizer is made with, where each rank draws its own: `Adam(10 ** np.random.uniform(-4, -2))`.
    fn setting_made(&mut self, file: FileId, id: CallId, object: usize) -> Option<Changes> {
        let facts = self.model.facts;
        let settings = *self.settings.get(&object)?;
        let call = facts.module(file).call(id);
        let mut drawn = facts.called_symbols(file, id).flat_map(|symbol| {
            let scaled = symbol.scaled().filter(|(_, scaling)| *scaling == Scaling::Multiply);
            scaled.filter_map(move |(name, _)| facts.argument(file, call, symbol, name))
        });
        let own = drawn.find_map(|rate| {
            let own = self.model.difference((file, rate.value))?;
            let is_schedule = facts.may_be(file, rate.value, Kind::Schedule);
            (!is_schedule && facts.gives(own.source, &[Effect::DrawsRandom])).then_some(own)
        })?;
        let at = self.model.at_call(file, id);
        Some(self.assigned(&[settings], Some(own), at, false))
    }

    /// What a function does, without the weights that it loads if nothing is trained from this call of it on.
    fn relied_on(&self, file: FileId, id: CallId, mut body: Changes) -> Changes {
        let is_load = |culprit| self.loads.contains(&culprit);
        let loads = |change: &Change| !self.loads.is_empty() && change.is_only_by(is_load);
        if body.values().any(loads) && !self.trains(file, id) && !self.trains_behind(file, id) {
            body.values_mut().filter(|change| loads(change)).for_each(|change| *change = Change::LOADED);
        }
        body
    }

    /// How an object begins.
    fn beginning(&mut self, file: FileId, id: CallId, object: usize, symbols: &[&Symbol]) -> Change {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        let at = self.model.at_call(file, id);
        let by_rank = call.arguments.iter().find_map(|argument| {
            self.model.difference((file, argument.value)).filter(|own| own.cause == Cause::Rank)
        });
        match facts.kind(self.objects[object]) {
            Some(Kind::Model | Kind::Layer) => {
                let is_loaded = symbols.iter().any(|symbol| {
                    let reads = symbol.has(Effect::LoadsModel)
                        || symbol.has(Effect::LoadsWeights)
                        || symbol.has(Effect::ReadsFile);
                    // `ResNet50(weights=None)`
                    let weights = facts.argument(file, call, symbol, "weights");
                    reads && weights.is_none_or(|own| !facts.is_none(file, own.value))
                });
                if is_loaded || self.model.seeds.cover_weights(facts, file) {
                    Change::EQUAL
                } else {
                    Change::differing(self.culprit(at, Manner::Begins(Cause::Data)))
                }
            }
            Some(Kind::Variable) => {
                let Some(first) = call.arguments.first() else { return Change::EQUAL };
                let initial = (file, first.value);
                match self.model.difference(initial) {
                    None | Some(Difference { cause: Cause::Files, .. }) => Change::EQUAL,
                    // A variable that holds the rank's number, and nothing made of it, is meant to be the rank's own.
                    Some(_) if self.is_rank_itself(initial, DEPTH) => {
                        Change::differing(self.culprit(at, Manner::Begins(Cause::Data)))
                    }
                    Some(own) => Change::differing(self.culprit(at, Manner::Begins(own.cause))),
                }
            }
            _ => match by_rank {
                Some(own) => Change::differing(self.culprit(at, Manner::Assigned(own))),
                None => Change::EQUAL,
            },
        }
    }

    /// Whether a value is the number of the rank, perhaps given back by functions of the project, and nothing that is
    /// computed from it.
    fn is_rank_itself(&self, (file, value): Place, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        let facts = self.model.facts;
        let all_are = |file, values: &[ValueId]| {
            let is_constant = |value| matches!(facts.module(file).value(value).value, Value::Constant(_));
            let mut others = values.iter().filter(|&&value| !is_constant(value)).peekable();
            others.peek().is_some() && others.all(|&value| self.is_rank_itself((file, value), depth - 1))
        };
        match &facts.module(file).value(value).value {
            Value::Phi(operands) => all_are(file, operands),
            &Value::Call(call) => {
                facts
                    .called_symbols(file, call)
                    .any(|symbol| symbol.has(Effect::ReadsRank) || symbol.has(Effect::ReadsLocalRank))
                    || facts.called_functions(file, call).any(|called| {
                        all_are(called.file, &facts.module(called.file).function(called.function).returns)
                    })
            }
            _ => false,
        }
    }

    /// What a call of the library does to variables.
    fn of_symbol(&mut self, file: FileId, id: CallId, symbol: &Symbol) -> Option<Changes> {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        let given = || call.arguments.iter().map(|argument| (file, argument.value)).collect::<Vec<Place>>();
        let all_equal =
            |objects: Vec<usize>| objects.into_iter().map(|object| (object, Change::EQUAL)).collect();
        if symbol.has(Effect::Broadcasts) && symbol.has(Effect::UpdatesState) {
            let mut from = given();
            // `callback.on_batch_end(0)`: a hook that is called by hand.
            if symbol.parameters().len() < 2 || *symbol.role() == Role::Method {
                return Some(all_equal((0..self.objects.len()).collect()));
            }
            let settings = self.settings_behind(&from);
            from.extend(facts.receiver(file, call).map(|receiver| (file, receiver)));
            let variables = self.behind(&from).into_iter();
            return Some(all_equal(variables.chain(settings).collect()));
        }
        if self.has_hook_that_broadcasts(file, id, symbol)
            || self.runs_callback_that_broadcasts(file, id, symbol)
        {
            return Some(all_equal((0..self.objects.len()).collect()));
        }
        // A state of elastic training: it broadcasts what it is given when training starts.
        if symbol.is_class() && facts.library.member_effects(symbol).contains(Effect::Broadcasts) {
            return Some(all_equal(self.behind(&given())));
        }
        if symbol.has(Effect::UpdatesState)
            && let Some(variable) = facts.argument(file, call, symbol, VARIABLE)
            && let Some(value) = facts.argument(file, call, symbol, VALUE)
        {
            return self.of_rate(file, id, variable.value, value.value);
        }
        let receiver = facts.receiver(file, call)?;
        if self.broadcasts_of_old(file, id) {
            return Some(all_equal((0..self.objects.len()).collect()));
        }
        let changed = facts
            .solution
            .values(file, receiver)
            .iter()
            .filter_map(|object| self.numbers.get(object).copied());
        let mut changed: Vec<usize> = changed.collect();
        let at = self.model.at_call(file, id);
        let values = &self.model.values;
        let differing = given()
            .into_iter()
            .filter(|&place| !values.is_variable(facts, place))
            .filter_map(|place| values.difference(place));
        let worst = differing.chain(values.given(file, id)).max_by_key(|own| own.cause);
        let worst = worst.filter(|own| own.cause != Cause::Files);
        if symbol.has(Effect::LoadsWeights)
            || symbol.parameter("weights").is_some() && symbol.has(Effect::UpdatesState)
        {
            // `checkpoint.restore(path)`; a model that nobody trains is changed itself, and not what it was copied from.
            if changed.is_empty() && !facts.may_be(file, receiver, Kind::Model) {
                changed = self.behind(&[(file, receiver)]);
            }
            // Which file it is may be put together of anything; that it is another one is known of what ranks draw.
            let worst = worst.filter(|own| own.is_drawn(facts) || !symbol.has(Effect::LoadsWeights));
            if symbol.has(Effect::LoadsWeights) {
                // Counters beside a model are loaded for the loop, which the model of the ranks asks for itself.
                changed.retain(|&own| facts.kind(self.objects[own]) != Some(Kind::Variable));
                if !self.trains_behind(file, id) {
                    return Some(changed.into_iter().map(|object| (object, Change::LOADED)).collect());
                }
            }
            let first = self.culprits.len();
            let loaded = match worst {
                Some(own) if self.is_made_each_turn(file, id) => {
                    let change = Change::parting(self.culprit(at, Manner::Assigned(own)));
                    changed.into_iter().map(|object| (object, change)).collect()
                }
                _ => self.assigned(&changed, worst, at, true),
            };
            if symbol.has(Effect::LoadsWeights) {
                self.loads.extend((first..self.culprits.len()).filter_map(|own| u32::try_from(own).ok()));
            }
            return Some(loaded);
        }
        if !symbol.has(Effect::UpdatesState)
            || symbol.has(Effect::Trains)
            || symbol.has(Effect::AppliesGradients)
        {
            return None;
        }
        let is_variable = |own: &ObjectId| facts.kind(*own) == Some(Kind::Variable);
        if facts.solution.values(file, receiver).iter().any(is_variable) && !changed.is_empty() {
            let replaces = symbol.parameter("value").is_some() && changed.len() == 1;
            let adds = symbol.has(Effect::Adds) || symbol.has(Effect::Subtracts);
            if adds && call.arguments.first().is_some_and(|own| self.adds_nothing(file, call, own.value)) {
                return None;
            }
            if replaces
                && call.arguments.first().is_some_and(|own| self.is_value_of((file, own.value), receiver))
            {
                return None;
            }
            return Some(self.assigned(&changed, worst, at, replaces));
        }
        None
    }

    /// Whether a number is zero on all ranks that come to a call: rank 0 that adds its own number.
    fn adds_nothing(&self, file: FileId, call: &Call, value: ValueId) -> bool {
        let model = self.model;
        let caller = Caller { file, scope: call.scope };
        model.numbers.is_zero(model.facts, caller, call.block, (file, value))
    }

    /// Whether a value is what a variable holds, as it is: `v.assign(float(v.numpy()))` changes nothing.
    fn is_value_of(&self, (file, value): Place, variable: ValueId) -> bool {
        let facts = self.model.facts;
        let called = |(of, value): Place| match facts.module(of).value(value).value {
            Value::Call(id) if of == file => Some(id),
            _ => None,
        };
        let mut calls = self.model.origins((file, value)).map_while(called);
        let read = calls.find_map(|id| Some((id, facts.receiver(file, facts.module(file).call(id))?)));
        read.is_some_and(|(id, receiver)| {
            let holds = |own: ValueId| facts.solution.values(file, own);
            let reads = |symbol: &Symbol| !symbol.has(Effect::UpdatesState);
            facts.module(file).call(id).arguments.is_empty()
                && holds(receiver) == holds(variable)
                && facts.called_symbols(file, id).all(reads)
        })
    }

    /// `other_library.broadcast_variables(model.variables)`: what a library that nobody knows does to the variables that
    /// it is handed may be a broadcast.
    fn handed_away(&self, file: FileId, id: CallId) -> Option<Changes> {
        let facts = self.model.facts;
        let module = facts.module(file);
        let is_library = facts
            .callees(file, id)
            .iter()
            .any(|edge| matches!(facts.solution.object(edge.callee), Object::External(_)));
        let variables = module.call(id).arguments.iter().filter_map(|argument| {
            match module.value(argument.value).value {
                Value::Attribute { base, .. } => Some((file, base)),
                _ => None,
            }
        });
        let variables: Vec<Place> = variables.filter(|_| is_library).collect();
        let owners = variables.into_iter().flat_map(|(file, base)| facts.solution.values(file, base));
        let changes: Changes =
            owners.filter_map(|own| Some((*self.numbers.get(own)?, Change::EQUAL))).collect();
        (!changes.is_empty()).then_some(changes)
    }

    /// `optimizer.learning_rate.assign(rate)`, `for weight in model.weights: weight.assign(value)`: a method of
    /// variables, of something that an optimizer or a model has.
    fn of_unknown(&mut self, file: FileId, id: CallId) -> Option<Changes> {
        let facts = self.model.facts;
        let module = facts.module(file);
        let call = module.call(id);
        let Value::Attribute { base: receiver, name, .. } = module.value(call.callee).value else {
            return None;
        };
        if !facts.is_unknown(file, receiver) {
            return None;
        }
        let variable = facts.library.lookup("tensorflow.Variable")?;
        let method = facts.library.member(variable, module.names.text(name))?;
        if !method.has(Effect::UpdatesState) {
            return None;
        }
        let owners = match module.value(receiver).value {
            Value::Attribute { base, .. } => {
                let optimizers = facts.of_kind(file, base, Kind::Optimizer);
                if optimizers.is_empty() {
                    return self.of_weight(file, id, base);
                }
                optimizers
            }
            Value::Iteration(of) if self.agrees_on_all(file, id, of) => {
                let owners = self.behind(&[(file, of)]).into_iter();
                return Some(owners.map(|owner| (owner, Change::EQUAL)).collect());
            }
            Value::Iteration(of) | Value::Unpack { base: of, .. } | Value::Item { base: of, .. } => {
                return self.of_part(file, id, of);
            }
            _ => return None,
        };
        let given = call.arguments.iter().filter_map(|own| self.model.difference((file, own.value)));
        let worst = given.max_by_key(|own| own.cause).filter(|own| own.cause != Cause::Files);
        let owners = self.settings_of(&owners);
        let at = self.model.at_call(file, id);
        (!owners.is_empty()).then(|| self.assigned(&owners, worst, at, false))
    }

    /// The settings of optimizers.
    fn settings_of(&self, optimizers: &[ObjectId]) -> Vec<usize> {
        let numbers = optimizers.iter().filter_map(|own| self.numbers.get(own));
        numbers.filter_map(|number| self.settings.get(number).copied()).collect()
    }

    /// The settings of the optimizers of which values have an attribute: `hvd.broadcast_variables([optimizer.lr], 0)`.
    fn settings_behind(&self, places: &[Place]) -> Vec<usize> {
        let facts = self.model.facts;
        let optimizers = |(file, value): Place| match facts.module(file).value(value).value {
            Value::Attribute { base, name, .. }
                if !VARIABLES.contains(&facts.module(file).names.text(name)) =>
            {
                facts.of_kind(file, base, Kind::Optimizer)
            }
            _ => Vec::new(),
        };
        let behind = facts.influence().backwards(places, |place| !optimizers(place).is_empty());
        self.settings_of(&behind.into_iter().flat_map(optimizers).collect::<Vec<_>>())
    }

    /// `set_value(optimizer.learning_rate, rate)`
    fn of_rate(&mut self, file: FileId, id: CallId, variable: ValueId, value: ValueId) -> Option<Changes> {
        let facts = self.model.facts;
        let Value::Attribute { base, .. } = facts.module(file).value(variable).value else { return None };
        let owners = facts.of_kind(file, base, Kind::Optimizer);
        let owners = self.settings_of(&owners);
        let worst = self.model.difference((file, value)).filter(|own| own.cause != Cause::Files);
        let at = self.model.at_call(file, id);
        (!owners.is_empty()).then(|| self.assigned(&owners, worst, at, false))
    }

    /// `optimizer.learning_rate = rate`
    pub(super) fn of_store(&mut self, file: FileId, store: &Store) -> Option<Changes> {
        let facts = self.model.facts;
        let StoreKey::Attribute(_) = store.key else { return None };
        let own = self.model.difference((file, store.value)).filter(|own| own.cause != Cause::Files)?;
        let owners = facts.of_kind(file, store.base, Kind::Optimizer);
        let owners = self.settings_of(&owners);
        let at = facts.location(file, facts.module(file).statement(store.statement).range);
        (!owners.is_empty()).then(|| self.assigned(&owners, Some(own), at, false))
    }

    pub(super) fn assigned(
        &mut self,
        objects: &[usize],
        worst: Option<Difference>,
        at: Location,
        replaces: bool,
    ) -> Changes {
        let change = if let Some(own) = worst {
            Change::differing(self.culprit(at, Manner::Assigned(own)))
        } else {
            let culprit = self.culprit(at, Manner::Changed);
            if replaces { Change::assigning(culprit) } else { Change::touching(culprit) }
        };
        objects.iter().map(|&object| (object, change)).collect()
    }

    /// The replicas that values are computed from. The state of a metric is its own, whatever it was computed from.
    pub(super) fn behind(&self, places: &[Place]) -> Vec<usize> {
        let facts = self.model.facts;
        let of = |(file, value): Place| {
            facts.solution.values(file, value).iter().filter_map(|own| self.numbers.get(own).copied())
        };
        let is_metric = |(file, value): Place| facts.may_be(file, value, Kind::Metric);
        let is_end = |place: Place| of(place).next().is_some() || is_metric(place);
        let behind = facts.influence().backwards(places, is_end);
        let mut found: Vec<usize> = behind.into_iter().flat_map(of).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
