//! Training loops: the places that take gradients or let the library train.

use rustc_hash::FxHashSet;

use super::elements;
use super::facts::{Creation, Facts};
use super::influence::Place;
use super::object::{Object, ObjectId};
use super::solver::Caller;
use super::training_sessions::TrainingSessions;
use crate::api::{Effect, Kind};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, StatementId, Value, ValueId};
use crate::syntax::TextRange;

use super::programs::Pattern;

/// How a loop trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopKind {
    /// `with tf.GradientTape()`, whose gradients update variables.
    GradientTape,
    /// `model.fit` and its like.
    KerasFit,
    /// `optimizer.minimize`.
    Minimize,
    /// `with tf.Session()`
    Session,
    /// `with tf.train.MonitoredTrainingSession()`
    MonitoredSession,
}

impl LoopKind {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GradientTape => "gradient-tape",
            Self::KerasFit => "keras-fit",
            Self::Minimize => "minimize",
            Self::Session => "session",
            Self::MonitoredSession => "monitored-session",
        }
    }

    /// The pattern of a program that has only loops of this kind.
    #[must_use]
    pub fn pattern(self) -> Pattern {
        match self {
            Self::GradientTape => Pattern::GradientTape,
            Self::KerasFit | Self::Minimize => Pattern::KerasFit,
            Self::Session => Pattern::Session,
            Self::MonitoredSession => Pattern::MonitoredSession,
        }
    }
}

/// A training loop: the place that takes gradients or lets the library train.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainingLoop {
    /// How it trains.
    pub kind: LoopKind,
    /// Whose code it is.
    pub caller: Caller,
    /// The `with` statement or the statement of the call.
    pub statement: StatementId,
    /// The block that runs it.
    pub block: BlockId,
    /// The call of `GradientTape`, `fit`, `minimize` or `Session`.
    pub call: CallId,
    /// The call's place.
    pub range: TextRange,
    /// What it trains.
    pub models: Vec<ObjectId>,
    /// What steps.
    pub optimizers: Vec<ObjectId>,
    /// What it trains on, as far as it is known.
    pub datasets: Vec<ObjectId>,
    /// The tape; none in other loops.
    pub tape: Option<ObjectId>,
    /// The calls that take gradients from the tape.
    pub gradients: Vec<(FileId, CallId)>,
    /// The calls that apply its gradients with an optimizer.
    pub steps: Vec<(FileId, CallId)>,
    /// The calls that change variables by its gradients without one.
    pub by_hand: Vec<(FileId, CallId)>,
}

/// The calls that take gradients.
#[derive(Debug, Default)]
pub(super) struct Gradients {
    /// From a tape: the tapes and the call.
    pub(super) of_tapes: Vec<(Vec<ObjectId>, FileId, CallId)>,
    /// In another way.
    pub(super) others: Vec<(FileId, CallId)>,
    /// The results of all of them: behind them a gradient is another one.
    pub(super) results: FxHashSet<Place>,
    /// The calls that apply gradients with an optimizer.
    pub(super) steps: Vec<(FileId, CallId)>,
    /// The calls that change a variable.
    pub(super) updates: Vec<(FileId, CallId)>,
}

impl Gradients {
    pub(super) fn new(facts: &Facts<'_>) -> Self {
        let mut gradients = Self::default();
        for (file, id) in facts.calls_with(Effect::TakesGradients) {
            let call = facts.module(file).call(id);
            gradients.results.insert((file, call.result));
            let receiver = facts.receiver(file, call);
            let tapes = receiver.map_or_else(Vec::new, |receiver| tapes_of(facts, file, receiver));
            if tapes.is_empty() {
                gradients.others.push((file, id));
            } else {
                gradients.of_tapes.push((tapes, file, id));
            }
        }
        gradients.steps = facts.calls_with(Effect::AppliesGradients).collect();
        gradients.steps.extend(steps_of_unknown(facts));
        gradients.updates = updates(facts);
        gradients
    }
}

/// The calls that apply gradients by the name of their method: nothing is known of the optimizer. A method of the project has
/// steps of its own.
fn steps_of_unknown(facts: &Facts<'_>) -> Vec<(FileId, CallId)> {
    let Some(optimizer) = facts.library.lookup("tensorflow.keras.optimizers.Optimizer") else {
        return Vec::new();
    };
    let names = facts.library.member_names(optimizer, |method| method.has(Effect::AppliesGradients));
    let mut found = calls_by_name(facts, &names, |file, base| facts.is_unknown(file, base));
    found.retain(|&(file, call)| {
        facts.called_symbols(file, call).next().is_none()
            && facts.called_functions(file, call).next().is_none()
    });
    found
}

/// The calls that change a variable. One from `model.trainable_variables` is not known to be one; its method tells.
fn updates(facts: &Facts<'_>) -> Vec<(FileId, CallId)> {
    let Some(variable) = facts.library.lookup("tensorflow.Variable") else { return Vec::new() };
    let changes = facts.library.member_names(variable, |method| method.has(Effect::UpdatesState));
    let may_be_one = |file, base| facts.may_be(file, base, Kind::Variable) || facts.is_unknown(file, base);
    calls_by_name(facts, &changes, may_be_one)
}

/// The calls of methods with these names on values that are wanted.
fn calls_by_name(
    facts: &Facts<'_>,
    names: &FxHashSet<&str>,
    is_wanted: impl Fn(FileId, ValueId) -> bool,
) -> Vec<(FileId, CallId)> {
    let mut found = Vec::new();
    for file in facts.files() {
        let module = facts.module(file);
        let names = module.names.known(names);
        if names.is_empty() {
            continue;
        }
        for (index, call) in module.calls.iter().enumerate() {
            let Value::Attribute { base, name, .. } = module.value(call.callee).value else { continue };
            if names.contains(&name) && is_wanted(file, base) {
                found.push((file, CallId::new(index)));
            }
        }
    }
    found
}

/// The tapes that a value may be; a distributed tape is the one that it was made from.
fn tapes_of(facts: &Facts<'_>, file: FileId, value: ValueId) -> Vec<ObjectId> {
    let mut found: Vec<ObjectId> = Vec::new();
    let mut work = facts.of_kind(file, value, Kind::Tape);
    let mut seen = FxHashSet::default();
    while let Some(tape) = work.pop() {
        if !seen.insert(tape) {
            continue;
        }
        let inner = distributed_tapes(facts, tape);
        if inner.is_empty() { found.push(tape) } else { work.extend(inner) }
    }
    sort(&mut found);
    found
}

/// The tapes that a distributed tape was made from; none for another.
fn distributed_tapes(facts: &Facts<'_>, tape: ObjectId) -> Vec<ObjectId> {
    let Some(creation) = facts.creation(tape) else { return Vec::new() };
    if !facts.called_symbols(creation.file, creation.call).any(|symbol| symbol.has(Effect::Distributes)) {
        return Vec::new();
    }
    let arguments = &facts.module(creation.file).call(creation.call).arguments;
    arguments.iter().flat_map(|argument| facts.of_kind(creation.file, argument.value, Kind::Tape)).collect()
}

pub(super) fn find_loops(facts: &Facts<'_>, gradients: &Gradients) -> Vec<TrainingLoop> {
    let mut loops = Vec::new();
    for creation in &facts.creations {
        match creation.kind {
            Kind::Tape => {
                loops.extend(tape_loop(facts, gradients, creation.object, creation.file, creation.call));
            }
            Kind::Session | Kind::MonitoredSession => {
                let kind = if creation.kind == Kind::Session {
                    LoopKind::Session
                } else {
                    LoopKind::MonitoredSession
                };
                let mut session = loop_at(facts, kind, creation.file, creation.call);
                place_at_manager(facts, &mut session, creation.object, creation.file);
                loops.push(session);
            }
            _ => {}
        }
    }
    let minimizes: Vec<(FileId, CallId)> = loops_of(facts, Effect::Minimizes).collect();
    // `optimizer.minimize(loss, variables, tape=tape)` is the step of a tape that has only watched.
    let watching: FxHashSet<ObjectId> =
        minimizes.iter().flat_map(|&(file, call)| tapes_given(facts, file, call)).collect();
    loops.retain(|own| own.tape.is_none_or(|tape| !watching.contains(&tape)));
    let steps: Vec<(FileId, CallId)> = gradients.steps.iter().chain(&minimizes).copied().collect();
    let sessions = TrainingSessions::new(facts, &steps);
    loops.retain(|own| match own.kind {
        LoopKind::Session | LoopKind::MonitoredSession => sessions.contain(facts, own),
        _ => true,
    });
    loops.extend(loops_of(facts, Effect::Trains).map(|(file, call)| fit_loop(facts, file, call)));
    loops.extend(minimizes.into_iter().map(|(file, call)| {
        let mut minimize = loop_at(facts, LoopKind::Minimize, file, call);
        if let Some(receiver) = facts.receiver(file, facts.module(file).call(call)) {
            minimize.optimizers = facts.of_kind(file, receiver, Kind::Optimizer);
        }
        minimize.steps.push((file, call));
        minimize
    }));
    loops.sort_by_key(|own| (own.caller.file, own.range.start()));
    loops
}

/// The tapes that a call of `minimize` is given.
fn tapes_given(facts: &Facts<'_>, file: FileId, id: CallId) -> Vec<ObjectId> {
    let call = facts.module(file).call(id);
    let given = facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, TAPE));
    given.map_or_else(Vec::new, |given| tapes_of(facts, file, given.value))
}

/// The parameter for a tape that has watched.
const TAPE: &str = "tape";

/// The calls of methods with an effect, made on objects of the library or of the project's classes.
fn loops_of<'f>(facts: &'f Facts<'_>, effect: Effect) -> impl Iterator<Item = (FileId, CallId)> + 'f {
    facts.calls_with(effect).filter(|&(file, call)| {
        let receiver = facts.receiver(file, facts.module(file).call(call));
        !receiver.is_some_and(|receiver| {
            facts.objects(file, receiver).any(|(_, object)| matches!(object, Object::Super(..)))
        })
    })
}

fn loop_at(facts: &Facts<'_>, kind: LoopKind, file: FileId, id: CallId) -> TrainingLoop {
    let call = facts.module(file).call(id);
    TrainingLoop {
        kind,
        caller: Caller { file, scope: call.scope },
        statement: call.statement,
        block: call.block,
        call: id,
        range: call.range,
        models: Vec::new(),
        optimizers: Vec::new(),
        datasets: Vec::new(),
        tape: None,
        gradients: Vec::new(),
        steps: Vec::new(),
        by_hand: Vec::new(),
    }
}

/// Moves a loop to the `with` statement that its manager is given to, if it was made before.
fn place_at_manager(facts: &Facts<'_>, training_loop: &mut TrainingLoop, object: ObjectId, file: FileId) {
    let module = facts.module(file);
    let managed = |statement: StatementId| {
        module
            .managers
            .iter()
            .any(|&(value, of)| of == statement && facts.solution.values(file, value).contains(&object))
    };
    if managed(training_loop.statement) {
        return;
    }
    let manager =
        module.managers.iter().find(|&&(value, _)| facts.solution.values(file, value).contains(&object));
    if let Some(&(value, statement)) = manager {
        let place = module.statement(statement);
        training_loop.statement = statement;
        training_loop.block = place.block;
        training_loop.caller = Caller { file, scope: place.scope };
        training_loop.range = module.value(value).range;
    }
}

fn tape_loop(
    facts: &Facts<'_>,
    gradients: &Gradients,
    tape: ObjectId,
    file: FileId,
    call: CallId,
) -> Option<TrainingLoop> {
    let mut own = loop_at(facts, LoopKind::GradientTape, file, call);
    place_at_manager(facts, &mut own, tape, file);
    let is_managed = facts.module(file).managers.iter().any(|&(_, of)| of == own.statement);
    if let Some(inner) = wrapped_tape(facts, file, call).filter(|_| !is_managed) {
        own = loop_at(facts, LoopKind::GradientTape, inner.file, inner.call);
        place_at_manager(facts, &mut own, inner.object, inner.file);
    }
    let taken: Vec<(FileId, CallId)> = gradients
        .of_tapes
        .iter()
        .filter(|(tapes, ..)| tapes.contains(&tape))
        .map(|&(_, file, call)| (file, call))
        .collect();
    let results: Vec<Place> =
        taken.iter().map(|&(file, call)| (file, facts.module(file).call(call).result)).collect();
    let influenced = elements::influenced(facts, &results, |place| gradients.results.contains(&place));
    let takes = |&(file, call): &(FileId, CallId)| {
        facts
            .module(file)
            .call(call)
            .arguments
            .iter()
            .any(|argument| influenced.contains(&(file, argument.value)))
    };
    own.steps = gradients.steps.iter().copied().filter(takes).collect();
    own.by_hand = gradients.updates.iter().copied().filter(takes).collect();
    if own.steps.is_empty() && own.by_hand.is_empty() {
        return None;
    }
    let sources = sources(facts, &taken);
    if own.steps.is_empty() {
        own.steps = steps_of_sums(facts, gradients, &own.by_hand, &sources);
    }
    for &(file, step) in &own.steps {
        if let Some(receiver) = facts.receiver(file, facts.module(file).call(step)) {
            own.optimizers.extend(facts.of_kind(file, receiver, Kind::Optimizer));
        }
    }
    let variables: Vec<Place> = own
        .steps
        .iter()
        .flat_map(|&(file, step)| {
            facts.module(file).call(step).arguments.iter().map(move |argument| (file, argument.value))
        })
        .collect();
    // A layer can be trained like a model.
    own.tape = Some(tape);
    own.gradients = taken;
    own.models = [(&sources, Kind::Model), (&variables, Kind::Model), (&sources, Kind::Layer)]
        .into_iter()
        .map(|(places, kind)| owners(facts, gradients, places, kind))
        .find(|models| !models.is_empty())
        .unwrap_or_default();
    sort(&mut own.optimizers);
    Some(own)
}

/// What gradients are taken of.
fn sources(facts: &Facts<'_>, taken: &[(FileId, CallId)]) -> Vec<Place> {
    let mut sources = Vec::new();
    for &(file, call) in taken {
        let data = facts.module(file).call(call);
        for symbol in facts.called_symbols(file, call) {
            let argument = facts.argument(file, data, symbol, "sources");
            sources.extend(argument.map(|argument| (file, argument.value)));
        }
    }
    sources
}

/// The steps that apply gradients which are summed up before, in variables that they are not taken of.
fn steps_of_sums(
    facts: &Facts<'_>,
    gradients: &Gradients,
    by_hand: &[(FileId, CallId)],
    sources: &[Place],
) -> Vec<(FileId, CallId)> {
    let variables = |places: &mut dyn Iterator<Item = Place>| -> FxHashSet<ObjectId> {
        places.flat_map(|(file, value)| facts.of_kind(file, value, Kind::Variable)).collect()
    };
    let behind = |places: &[Place]| facts.influence().backwards(places, |_| false);
    let mut updated = by_hand.iter().filter_map(|&(file, call)| {
        facts.receiver(file, facts.module(file).call(call)).map(|receiver| (file, receiver))
    });
    let mut sums = variables(&mut updated);
    if sums.is_empty() {
        return Vec::new();
    }
    for trained in variables(&mut behind(sources).into_iter()) {
        sums.remove(&trained);
    }
    let applies_sums = |&(file, call): &(FileId, CallId)| {
        let given = facts.module(file).call(call).arguments.iter().map(|argument| (file, argument.value));
        let given: Vec<Place> = given.collect();
        !sums.is_disjoint(&variables(&mut behind(&given).into_iter()))
    };
    gradients.steps.iter().copied().filter(applies_sums).collect()
}

/// The tape that a call gives its distributed form.
fn wrapped_tape<'f>(facts: &'f Facts<'_>, file: FileId, call: CallId) -> Option<&'f Creation> {
    if !facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes)) {
        return None;
    }
    let mut arguments = facts.module(file).call(call).arguments.iter();
    arguments
        .find_map(|argument| facts.of_kind(file, argument.value, Kind::Tape).first().copied())
        .and_then(|tape| facts.creation(tape))
}

/// The objects of a kind, models or layers, whose variables the places are. What a gradient was computed with is
/// not trained by it: a loss may ask any model.
fn owners(facts: &Facts<'_>, gradients: &Gradients, places: &[Place], kind: Kind) -> Vec<ObjectId> {
    let ends =
        |(file, value): Place| facts.may_be(file, value, kind) || gradients.results.contains(&(file, value));
    let behind = facts.influence().backwards(places, ends);
    let mut owners: Vec<ObjectId> =
        behind.iter().flat_map(|&(file, value)| facts.of_kind(file, value, kind)).collect();
    sort(&mut owners);
    owners
}

fn fit_loop(facts: &Facts<'_>, file: FileId, id: CallId) -> TrainingLoop {
    let mut own = loop_at(facts, LoopKind::KerasFit, file, id);
    let call = facts.module(file).call(id);
    if let Some(receiver) = facts.receiver(file, call) {
        own.models = facts.of_kind(file, receiver, Kind::Model);
    }
    if let Some(optimizer) = facts.solution.names.find("optimizer") {
        for &model in &own.models {
            let kept = facts.solution.attribute(model, optimizer).iter().copied();
            own.optimizers.extend(kept.filter(|&object| facts.kind(object) == Some(Kind::Optimizer)));
        }
    }
    for argument in &call.arguments {
        own.datasets.extend(facts.of_kind(file, argument.value, Kind::Dataset));
    }
    own.steps.push((file, id));
    sort(&mut own.optimizers);
    sort(&mut own.datasets);
    own
}

fn sort(objects: &mut Vec<ObjectId>) {
    objects.sort_unstable();
    objects.dedup();
}
