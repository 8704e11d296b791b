//! What a callback does that `fit` is given, and so on which ranks it has to run.
//!
//! Callbacks that stop training or change its rate run on all ranks, and see averaged metrics; those that only write
//! run on rank 0. A class of the project's own is judged by what its hooks do; when in doubt it runs everywhere.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::keras::{Given, given};
use super::ranked::is_for_one_rank;
use crate::api::{Calls, Effect, EffectSet, Kind, Role, Symbol};
use crate::finding::Confidence;
use crate::program::{Ancestor, Caller, ClassRef, Facts, FunctionRef, Object, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{Argument, BlockId, CallId, FunctionId, StoreKey, Value, ValueId};

/// What the hooks of a callback do together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acts {
    /// The effects of those of the library.
    pub(crate) effects: EffectSet,
    /// How sure it is that its own ones change the training, if they may.
    changes: Option<Confidence>,
    /// What its own ones write, on all ranks that run it, and communicate.
    own: EffectSet,
    /// Its own ones read the metrics that they are given.
    reads: bool,
    /// One of its own surely changes the training, and knows nothing of the other ranks then.
    steers_alone: bool,
    /// What its own ones write of `self.model`, on all ranks that run it.
    saved: EffectSet,
}

/// What running a callback on each rank takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ranks {
    /// It runs on each, as it is.
    All,
    /// It runs on each, and keeps files of its own on each.
    AllApart,
    /// It only writes, and runs on rank 0.
    First,
}

const WRITES: [Effect; 2] = [Effect::WritesFile, Effect::WritesSummary];
/// What a callback does that communicates.
pub(crate) const SHARES: [Effect; 3] = [Effect::Collective, Effect::Broadcasts, Effect::Averages];
const CHANGES: [Effect; 6] = [
    Effect::SteersTraining,
    Effect::Trains,
    Effect::Minimizes,
    Effect::AppliesGradients,
    Effect::LoadsWeights,
    Effect::Compiles,
];

const EVALUATES: [Effect; 2] = [Effect::Evaluates, Effect::Predicts];

/// The hooks that Keras calls with the numbers of a batch, which nothing averages.
const BATCHES: [&str; 4] = ["on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end"];

fn has_any(effects: EffectSet, wanted: &[Effect]) -> bool {
    wanted.iter().any(|&effect| effects.contains(effect))
}

impl Acts {
    /// What a callback does.
    pub(crate) fn of(job: &Job<'_>, callback: ObjectId) -> Self {
        let facts = job.facts;
        let object = facts.solution.object(callback);
        let mut acts = Self::default();
        let symbol = facts.symbol(object);
        if let Some(symbol) = symbol {
            acts.effects = facts.library.hook_effects(symbol);
        }
        match object {
            Object::Instance(class, _) => {
                for (file, function) in hooks(facts, class) {
                    acts.add(job, &job.common.hook(facts, file, function));
                }
            }
            _ => {
                for (hook, file, function) in given_hooks(job, callback, symbol) {
                    acts.add(job, &job.common.hook(facts, file, function).as_if_called(hook));
                }
            }
        }
        acts
    }

    /// On which ranks it has to run.
    pub(crate) fn ranks(self) -> Ranks {
        let writes = has_any(self.own.union(self.effects), &WRITES);
        let steers = self.effects.contains(Effect::SteersTraining);
        let shares = has_any(self.own.union(self.effects), &SHARES);
        match (writes, self.changes.is_some() || steers || shares) {
            (true, false) => Ranks::First,
            (true, true) if steers && has_any(self.effects, &WRITES) && self.changes.is_none() => {
                Ranks::AllApart
            }
            _ => Ranks::All,
        }
    }

    /// Whether it changes the training by what the metrics are.
    pub(crate) fn acts_on_metrics(self) -> bool {
        self.effects.contains(Effect::SteersTraining) && self.effects.contains(Effect::ReadsMetrics)
            || self.changes.is_some() && self.reads && !has_any(self.own, &SHARES)
    }

    /// Whether it surely does, and not only as far as can be seen.
    pub(crate) fn surely_acts_on_metrics(self) -> bool {
        let surely_changes = self.changes == Some(Confidence::Certain);
        self.acts_on_metrics() && (surely_changes || self.effects.contains(Effect::SteersTraining))
    }

    /// Whether it ends the training by what a rank's own batch gave, of which the others know nothing.
    pub(crate) fn stops_alone(self) -> bool {
        self.effects.contains(Effect::StopsTraining) && !self.effects.contains(Effect::ReadsMetrics)
    }

    /// Whether it changes the training by what a rank's own batch gave, or its own evaluation.
    pub(crate) fn steers_alone(self) -> bool {
        let by_clock = self.effects.contains(Effect::SteersTraining) && self.effects.contains(Effect::Varies);
        by_clock || self.steers_alone && !has_any(self.own, &SHARES)
    }

    /// Whether all ranks have to run it, and it saves the model on each.
    pub(crate) fn saves_on_all(self) -> bool {
        has_any(self.saved, &WRITES) && self.ranks() == Ranks::All
    }

    /// Adds what a function does that the library calls as a hook.
    fn add(&mut self, job: &Job<'_>, hook: &Hook) {
        let doubtful = hook.changes.then_some(Confidence::Possible);
        self.changes = self.changes.max(if hook.steers { Some(Confidence::Certain) } else { doubtful });
        self.reads |= hook.reads.is_some();
        self.steers_alone |= hook.steers && hook.asks_itself
            || (hook.steers || hook.on_model.contains(Effect::SetsWeights))
                && hook.reads == Some(Metrics::OfBatch);
        let saves = hook.saves.iter().filter(|&&(_, (file, call))| !is_for_one_rank(job, file, call));
        self.saved = saves.fold(self.saved, |all, &(saved, _)| all.union(saved));
        let is_apart = |&(_, call): &(_, Option<(FileId, CallId)>)| {
            call.is_some_and(|(file, call)| is_for_one_rank(job, file, call))
        };
        let written = hook.writes.iter().filter(|write| !is_apart(write)).map(|&(writes, _)| writes);
        self.own = written.fold(self.own.union(hook.shares), EffectSet::union);
    }
}

/// What Keras gives a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metrics {
    /// What a batch gave, which nothing averages.
    OfBatch,
    /// What an epoch gave.
    OfEpoch,
}

/// What a function does that the library calls as a hook, whichever program runs it.
#[derive(Clone, Debug, Default)]
pub(super) struct Hook {
    changes: bool,
    /// The metrics that it is given and reads.
    reads: Option<Metrics>,
    /// It surely changes what `self.model` has.
    steers: bool,
    /// What it does with `self.model` by methods of Keras.
    on_model: EffectSet,
    /// It evaluates or predicts by itself, or asks a clock whether to change what `self.model` has.
    asks_itself: bool,
    /// What it communicates.
    shares: EffectSet,
    /// What it writes of `self.model`, and by which calls.
    saves: Vec<(EffectSet, (FileId, CallId))>,
    /// What its calls write.
    writes: Vec<(EffectSet, Option<(FileId, CallId)>)>,
}

impl Hook {
    pub(super) fn of(facts: &Facts<'_>, file: FileId, function: FunctionId) -> Self {
        let data = facts.module(file).function(function);
        let own: FxHashSet<Place> = data.parameters.iter().map(|parameter| (file, parameter.value)).collect();
        let logs = data.parameters.last().map(|parameter| parameter.value);
        let reads = facts.module(file).uses.iter().any(|reading| Some(reading.value) == logs);
        let is_of_batch = BATCHES.contains(&facts.module(file).names.text(data.name));
        let metrics = if is_of_batch { Metrics::OfBatch } else { Metrics::OfEpoch };
        let mut hook = Self { reads: reads.then_some(metrics), ..Self::default() };
        let mut work = vec![Caller { file, scope: data.scope }];
        let mut seen = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if seen.insert(caller) {
                hook.add_code(facts, caller, &own);
                work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
            }
        }
        hook
    }

    /// The same of a function that is given for the hook of this name.
    fn as_if_called(&self, name: &str) -> Self {
        let of_batch = if BATCHES.contains(&name) { Metrics::OfBatch } else { Metrics::OfEpoch };
        Self { reads: self.reads.map(|_| of_batch), ..self.clone() }
    }

    /// Adds what a call writes and communicates.
    fn add(&mut self, effects: EffectSet, call: Option<(FileId, CallId)>) {
        let only = |wanted: &[Effect]| {
            let found = wanted.iter().filter(|&&effect| effects.contains(effect));
            found.fold(EffectSet::NONE, |all, &effect| all.with(effect))
        };
        self.shares = self.shares.union(only(&SHARES));
        if has_any(effects, &WRITES) {
            self.writes.push((only(&WRITES), call));
        }
    }

    fn add_code(&mut self, facts: &Facts<'_>, caller: Caller, given: &FxHashSet<Place>) {
        for edge in facts.outgoing(caller) {
            let object = facts.solution.object(edge.callee);
            if matches!(object, Object::Function(_)) {
                continue;
            }
            let summary = facts.effects().of_edge(facts, edge);
            let place = edge.call.map(|call| (caller.file, call));
            self.add(summary.effects, place);
            self.changes |= has_any(summary.effects, &CHANGES);
            // A function of a module has none.
            let is_function = facts.symbol(object).is_some_and(|symbol| *symbol.role() == Role::Function);
            let receiver = edge.call.filter(|_| !is_function).and_then(|call| {
                facts
                    .receiver(caller.file, facts.module(caller.file).call(call))
                    .map(|receiver| (call, receiver))
            });
            match receiver {
                Some((call, receiver)) if summary.unknown => {
                    match method_of_model(facts, caller.file, call, receiver, given) {
                        Some(method) => {
                            self.steers |= has_any(method.effects(), &CHANGES);
                            self.on_model = self.on_model.union(method.effects());
                            self.asks_itself |= has_any(method.effects(), &EVALUATES);
                            self.add(method.effects(), place);
                            if has_any(method.effects(), &WRITES) {
                                self.saves.push((method.effects(), (caller.file, call)));
                            }
                            self.changes |=
                                has_any(method.effects(), &CHANGES) || method.has(Effect::UpdatesState);
                        }
                        None => self.changes |= may_change(facts, caller.file, call, receiver, given),
                    }
                }
                Some((_, receiver)) if summary.effects.contains(Effect::UpdatesState) => {
                    self.changes |= is_of_training(facts, caller.file, receiver);
                }
                Some(_) => {}
                None => {
                    // A function that changes what it is given: `K.set_value(optimizer.lr, rate)`.
                    let changes = summary.effects.contains(Effect::UpdatesState) && edge.call.is_some();
                    self.changes |= summary.unknown || changes;
                    self.steers |= changes
                        && edge.call.is_some_and(|call| {
                            let first = facts.module(caller.file).call(call).arguments.first();
                            first.is_some_and(|own| is_of_model(facts, caller.file, own.value, given))
                        });
                }
            }
        }
        let module = facts.module(caller.file);
        for store in module.stores.iter().filter(|store| store.scope == caller.scope) {
            let is_own = facts.objects(caller.file, store.base).all(|(_, object)| match object {
                Object::Instance(..) => facts.of_kind(caller.file, store.base, Kind::Model).is_empty(),
                Object::Container(..) => true,
                _ => false,
            });
            let is_unset = facts.is_unknown(caller.file, store.base);
            let is_item_of_own = matches!(store.key, StoreKey::Item(_) | StoreKey::Slice)
                && !given.contains(&(caller.file, store.base))
                && matches!(module.value(store.base).value, Value::Attribute { .. });
            self.changes |= (is_unset || !is_own) && !is_item_of_own;
            // `self.model.stop_training = True`, and the same of a model that the program keeps elsewhere.
            let steers = is_of_model(facts, caller.file, store.base, given)
                || facts.may_be(caller.file, store.base, Kind::Model)
                    && !is_itself(facts, caller.file, store.base);
            self.steers |= steers;
            self.asks_itself |= steers && is_timed(facts, caller, module.statement(store.statement).block);
        }
    }
}

/// Whether a value is the first parameter of a function: a model that sets an attribute of its own.
fn is_itself(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    matches!(facts.module(file).value(value).value, Value::Parameter(_, 0))
}

/// Whether a clock decides that a block runs.
fn is_timed(facts: &Facts<'_>, caller: Caller, block: BlockId) -> bool {
    let conditions = facts.conditions(caller, block);
    let conditions = conditions.iter().filter_map(|own| own.branch.condition);
    let conditions: Vec<Place> = conditions.map(|condition| (caller.file, condition)).collect();
    let behind = facts.influence().backwards(&conditions, |_| false);
    behind.into_iter().any(|place| facts.gives(place, &[Effect::ReadsClock]))
}

/// Whether a value is what training changes.
fn is_of_training(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    [Kind::Model, Kind::Layer, Kind::Optimizer, Kind::Variable]
        .iter()
        .any(|&kind| facts.may_be(file, value, kind))
}

/// Whether a value is `self.model`, or something that it has.
fn is_of_model(facts: &Facts<'_>, file: FileId, mut value: ValueId, given: &FxHashSet<Place>) -> bool {
    let module = facts.module(file);
    while let Value::Attribute { base, name, .. } = module.value(value).value {
        if module.names.text(name) == MODEL && given.contains(&(file, base)) {
            return true;
        }
        value = base;
    }
    false
}

/// The method of Keras' models that a hook calls on `self.model`, which Keras sets.
fn method_of_model<'c>(
    facts: &Facts<'c>,
    file: FileId,
    call: CallId,
    receiver: ValueId,
    given: &FxHashSet<Place>,
) -> Option<&'c Symbol> {
    let module = facts.module(file);
    let Value::Attribute { base, name, .. } = module.value(receiver).value else { return None };
    let Value::Attribute { name: method, .. } = module.value(module.call(call).callee).value else {
        return None;
    };
    if module.names.text(name) != MODEL || !given.contains(&(file, base)) {
        return None;
    }
    let model = facts.library.lookup("tensorflow.keras.Model")?;
    facts.library.member(model, module.names.text(method))
}

/// The attribute in which Keras gives a callback the model that it trains.
pub(super) const MODEL: &str = "model";

/// Whether a method of something unknown may change the training: by its name, if it is a dictionary of metrics or a
/// variable of the model.
fn may_change(
    facts: &Facts<'_>,
    file: FileId,
    call: CallId,
    receiver: ValueId,
    given: &FxHashSet<Place>,
) -> bool {
    let module = facts.module(file);
    let Value::Attribute { name, .. } = module.value(module.call(call).callee).value else { return true };
    let class = if given.contains(&(file, receiver)) { "builtins.dict" } else { "tensorflow.Variable" };
    let class = facts.library.lookup(class);
    let method = class.and_then(|class| facts.library.member(class, module.names.text(name)));
    method.is_none_or(|method| method.has(Effect::UpdatesState))
}

/// Whether Keras calls what has this name while it trains.
fn is_hook(name: &str) -> bool {
    name.starts_with("on_")
}

/// What the hooks for batches of a file's callbacks are told at a position: the number of the batch, or what it gave.
pub(super) fn hook_parameters(job: &Job<'_>, file: FileId, position: usize) -> Vec<Place> {
    let module = job.facts.module(file);
    let functions = module.functions.iter().enumerate();
    let hooks = functions.filter(|(_, own)| BATCHES.contains(&module.names.text(own.name)));
    let of_callbacks = hooks
        .filter(|&(index, _)| is_of_callback(job, FunctionRef { file, function: FunctionId::new(index) }));
    of_callbacks.filter_map(|(_, own)| own.parameters.get(position)).map(|own| (file, own.value)).collect()
}

/// Whether a function is a method of a class of callbacks.
pub(super) fn is_of_callback(job: &Job<'_>, function: FunctionRef) -> bool {
    let class = job.facts.modules.class_of(function);
    let base = class.and_then(|class| job.facts.library_base(class));
    base.is_some_and(|base| job.facts.library.kind_of_class(base) == Kind::Callback)
}

/// The hooks that a class of the project defines or inherits from others of it.
pub(crate) fn hooks(facts: &Facts<'_>, class: ClassRef) -> Vec<(FileId, FunctionId)> {
    let mut found = Vec::new();
    for ancestor in facts.hierarchy.order(class) {
        let Ancestor::Project(own) = ancestor else { continue };
        let module = facts.module(own.file);
        for (index, function) in module.functions.iter().enumerate() {
            if function.class == Some(own.class) && is_hook(module.names.text(function.name)) {
                found.push((own.file, FunctionId::new(index)));
            }
        }
    }
    found
}

/// The functions that a callback of the library is given to call, each with the hook that it is for: those of a
/// `LambdaCallback`.
fn given_hooks<'s>(
    job: &Job<'_>,
    callback: ObjectId,
    symbol: Option<&'s Symbol>,
) -> Vec<(&'s str, FileId, FunctionId)> {
    let facts = job.facts;
    let (Some(symbol), Some((file, call))) = (symbol, facts.made_at(callback)) else { return Vec::new() };
    let data = facts.module(file).call(call);
    let mut found = Vec::new();
    for calls in symbol.calls() {
        let Calls::Argument(parameter) = calls else { continue };
        if !is_hook(parameter) {
            continue;
        }
        let Some(argument) = facts.argument(file, data, symbol, parameter) else { continue };
        for (_, object) in facts.objects(file, argument.value) {
            if let Some(function) = crate::program::code(object) {
                found.push((parameter.as_ref(), function.file, function.function));
            }
        }
    }
    found
}

/// The callbacks that a call of `fit` is given.
#[derive(Clone, Debug)]
pub(crate) struct Handed<'c> {
    /// The argument.
    pub(super) given: Given<'c>,
    /// What it is computed from.
    pub(crate) behind: FxHashSet<Place>,
    /// The callbacks among it.
    pub(crate) callbacks: Vec<ObjectId>,
    /// Those of them that are in the list, though it is not computed from them: another function appends what it is given.
    pub(super) put: Vec<ObjectId>,
}

impl<'c> Handed<'c> {
    /// The callbacks of a loop; `None` if its call takes none.
    pub(crate) fn of(job: &Job<'c>, own: &TrainingLoop) -> Option<Self> {
        let facts = job.facts;
        let file = own.caller.file;
        let symbol =
            facts.called_symbols(file, own.call).find(|symbol| symbol.parameter("callbacks").is_some())?;
        let given = given(job, file, own.call, symbol, "callbacks");
        let Given::Argument(argument) = given else {
            return Some(Self {
                given,
                behind: FxHashSet::default(),
                callbacks: Vec::new(),
                put: Vec::new(),
            });
        };
        let behind = facts.influence().backwards(&[(file, argument.value)], |_| false);
        let mut callbacks: Vec<ObjectId> =
            behind.iter().flat_map(|&(file, value)| facts.of_kind(file, value, Kind::Callback)).collect();
        let lists = facts.objects(file, argument.value).map(|(list, _)| list);
        let elements = lists.flat_map(|list| facts.solution.under_any_key(list)).copied();
        let is_put = |own: &ObjectId| facts.kind(*own) == Some(Kind::Callback) && !callbacks.contains(own);
        let put: Vec<ObjectId> = elements.filter(is_put).collect();
        callbacks.extend(&put);
        callbacks.sort_unstable();
        callbacks.dedup();
        Some(Self { given, behind, callbacks, put })
    }

    /// The argument, if there is one.
    pub(crate) fn argument(&self) -> Option<&'c Argument> {
        match self.given {
            Given::Argument(argument) => Some(argument),
            _ => None,
        }
    }
}
