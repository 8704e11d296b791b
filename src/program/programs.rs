//! Training programs: their entry modules, what they run, and their training loops.
//!
//! The source is the seed, section 3.2: a summary from the lattice {none, gradient tape, optimizer, both} for
//! modules, functions, classes and values, joined through calls. Here a loop is found where it is, and a
//! program's summary is the join over the loops in the code that its entry module reaches.

use rustc_hash::FxHashSet;

use super::facts::{Creation, Facts};
use super::influence::Place;
use super::object::{Object, ObjectId};
use super::solver::{CallEdge, Caller};
use crate::api::{Effect, Kind};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, ScopeId, StatementId, Value, ValueId};
use crate::syntax::TextRange;

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

/// How a program trains: a flat lattice with `None` below and `Several` above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// It does not.
    None,
    /// By tapes.
    GradientTape,
    /// By `fit` or `minimize`.
    KerasFit,
    /// By a session of TensorFlow 1.
    Session,
    /// By a monitored session of TensorFlow 1.
    MonitoredSession,
    /// In more than one way.
    Several,
}

impl Pattern {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::GradientTape => "gradient-tape",
            Self::KerasFit => "keras-fit",
            Self::Session => "session",
            Self::MonitoredSession => "monitored-session",
            Self::Several => "several",
        }
    }

    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, other) => other,
            (this, Self::None) => this,
            (this, other) if this == other => this,
            _ => Self::Several,
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
    /// The calls that apply its gradients with an optimizer.
    pub steps: Vec<(FileId, CallId)>,
    /// The calls that change variables by its gradients without one.
    pub by_hand: Vec<(FileId, CallId)>,
}

/// A program: what running one module does.
#[derive(Clone, Debug)]
pub struct Program {
    /// The module that is run.
    pub entry: FileId,
    /// The scopes whose code it may run.
    pub reached: FxHashSet<Caller>,
    /// Its loops in source order, the entry's first; tapes in a `train_step` that `fit` runs are left out.
    pub loops: Vec<TrainingLoop>,
    /// The tapes in a `train_step` that `fit` runs.
    pub steps_of_fit: Vec<TrainingLoop>,
    /// Calls that take gradients neither from a tape nor in an optimizer.
    pub other_gradients: Vec<(FileId, CallId)>,
    /// How it trains.
    pub pattern: Pattern,
    /// It starts Horovod.
    pub already_distributed: bool,
}

/// The files of the project that a program runs, in order.
impl Program {
    /// The files that own code which the program may run.
    #[must_use]
    pub fn files(&self) -> Vec<FileId> {
        let mut files: Vec<FileId> = self.reached.iter().map(|caller| caller.file).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Finds the programs among the concerned files.
#[must_use]
pub fn find(facts: &Facts<'_>, entries: &[String]) -> Vec<Program> {
    let gradients = Gradients::new(facts);
    let loops = find_loops(facts, &gradients);
    let mut programs: Vec<Program> = entry_files(facts, entries)
        .into_iter()
        .map(|entry| program(facts, entry, &loops, &gradients))
        .collect();
    // A module that others import is a program of its own if it trains when it is run itself.
    let imported = imported_by_others(facts);
    programs.retain(|program| {
        program.pattern != Pattern::None
            || !imported.contains(&program.entry) && !facts.module(program.entry).imports.is_empty()
    });
    programs
}

fn imported_by_others(facts: &Facts<'_>) -> FxHashSet<FileId> {
    facts.modules.files().flat_map(|file| facts.imported_files(file).iter().copied()).collect()
}

fn entry_files(facts: &Facts<'_>, entries: &[String]) -> Vec<FileId> {
    let named = |file: &FileId| {
        let name = &facts.modules.names[file.index()];
        let path = name.replace('.', "/");
        entries.iter().any(|entry| entry == name || entry.strip_suffix(".py") == Some(&path))
    };
    if !entries.is_empty() {
        return facts.files().filter(named).collect();
    }
    let imported = imported_by_others(facts);
    facts.files().filter(|&file| !imported.contains(&file) || has_main_guard(facts, file)).collect()
}

fn has_main_guard(facts: &Facts<'_>, file: FileId) -> bool {
    let module = facts.module(file);
    let blocks = &module.scope(crate::semantic::Module::TOP).flow.blocks;
    blocks.iter().filter_map(|block| block.branch).any(|branch| facts.is_main_guard(file, &branch))
}

// ---- what a program runs ----

fn program(facts: &Facts<'_>, entry: FileId, loops: &[TrainingLoop], gradients: &Gradients) -> Program {
    let reached = reach(facts, entry, |_| true);
    let without_fit = reach(facts, entry, |edge| !is_fit_call_back(facts, edge));
    let mut own = Vec::new();
    let mut steps_of_fit = Vec::new();
    for training_loop in loops.iter().filter(|training_loop| reached.contains(&training_loop.caller)) {
        if training_loop.caller.file != entry && in_foreign_guard(facts, training_loop) {
            continue;
        }
        if without_fit.contains(&training_loop.caller) {
            own.push(training_loop.clone());
        } else {
            steps_of_fit.push(training_loop.clone());
        }
    }
    let sessions = own.iter().any(|own| matches!(own.kind, LoopKind::Session | LoopKind::MonitoredSession));
    if sessions {
        // In a graph `minimize` makes an operation, which the session runs.
        own.retain(|own| own.kind != LoopKind::Minimize);
    }
    own.sort_by_key(|own| (own.caller.file != entry, own.caller.file, own.range.start()));
    let pattern = own.iter().fold(Pattern::None, |pattern, own| pattern.join(own.kind.pattern()));
    let in_program = |&&(file, call): &&(FileId, CallId)| {
        reached.contains(&Caller { file, scope: facts.module(file).call(call).scope })
    };
    let other_gradients = gradients.others.iter().filter(in_program).copied().collect();
    let already_distributed = reached.iter().any(|&caller| {
        facts.outgoing(caller).iter().any(|edge| {
            facts
                .symbol(facts.solution.object(edge.callee))
                .is_some_and(|symbol| symbol.has(Effect::Initializes))
        })
    });
    Program { entry, reached, loops: own, steps_of_fit, other_gradients, pattern, already_distributed }
}

fn in_foreign_guard(facts: &Facts<'_>, training_loop: &TrainingLoop) -> bool {
    training_loop.caller.scope == crate::semantic::Module::TOP
        && facts.in_main_guard(training_loop.caller.file, training_loop.statement)
}

/// Whether the edge is `fit` calling the model's own `train_step`.
fn is_fit_call_back(facts: &Facts<'_>, edge: &CallEdge) -> bool {
    let Some(call) = edge.call.filter(|_| Facts::is_call_back(edge)) else { return false };
    facts.called_symbols(edge.caller.file, call).any(|symbol| symbol.has(Effect::Trains))
}

/// The scopes that running `entry` reaches along the edges that are wanted.
fn reach(facts: &Facts<'_>, entry: FileId, wanted: impl Fn(&CallEdge) -> bool) -> FxHashSet<Caller> {
    let mut files = vec![entry];
    let mut known: FxHashSet<FileId> = files.iter().copied().collect();
    let mut work = Vec::new();
    while let Some(file) = files.pop() {
        work.extend(facts.import_time_scopes(file));
        files.extend(facts.imported_files(file).iter().copied().filter(|&file| known.insert(file)));
    }
    let mut reached = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if !reached.insert(caller) {
            continue;
        }
        let is_foreign_module = caller.file != entry && caller.scope == crate::semantic::Module::TOP;
        let runs = |call: Option<CallId>| {
            !is_foreign_module
                || call.is_none_or(|call| {
                    !facts.in_main_guard(caller.file, facts.module(caller.file).call(call).statement)
                })
        };
        for (edge, function) in facts.reached_functions(caller) {
            if wanted(&edge) && runs(edge.call) {
                work.push(facts.code_of(function));
            }
        }
        for (call, function) in handed_over(facts, caller) {
            if runs(Some(call)) {
                work.push(facts.code_of(function));
            }
        }
    }
    reached
}

/// Functions that a scope hands to code that nobody knows, which may call them: `parser.set_defaults(func=train)`,
/// `@app.command()`.
fn handed_over(facts: &Facts<'_>, caller: Caller) -> Vec<(CallId, super::modules::FunctionRef)> {
    let module = facts.module(caller.file);
    let mut found = Vec::new();
    for edge in facts.outgoing(caller) {
        let Some(call) = edge.call else { continue };
        let known = match facts.solution.object(edge.callee) {
            Object::Unknown => false,
            object @ Object::External(_) => facts.symbol(object).is_some(),
            _ => true,
        };
        if known {
            continue;
        }
        for argument in &module.call(call).arguments {
            for (_, object) in facts.objects(caller.file, argument.value) {
                if let Object::Function(function) | Object::Bound(_, function) = object {
                    found.push((call, function));
                }
            }
        }
    }
    found
}

// ---- loops ----

/// The calls that take gradients.
#[derive(Debug, Default)]
struct Gradients {
    /// From a tape: the tapes and the call.
    of_tapes: Vec<(Vec<ObjectId>, FileId, CallId)>,
    /// In another way.
    others: Vec<(FileId, CallId)>,
    /// The results of all of them: behind them a gradient is another one.
    results: FxHashSet<Place>,
    /// The calls that apply gradients with an optimizer.
    steps: Vec<(FileId, CallId)>,
    /// The calls that change a variable.
    updates: Vec<(FileId, CallId)>,
}

impl Gradients {
    fn new(facts: &Facts<'_>) -> Self {
        let mut gradients = Self::default();
        let variable = facts.library.lookup("tensorflow.Variable");
        for file in facts.files() {
            let module = facts.module(file);
            for (index, call) in module.calls.iter().enumerate() {
                let id = CallId::new(index);
                let receiver = facts.receiver(file, call);
                let has = |effect| facts.called_symbols(file, id).any(|symbol| symbol.has(effect));
                if has(Effect::TakesGradients) {
                    gradients.results.insert((file, call.result));
                    let tapes = receiver.map_or_else(Vec::new, |receiver| tapes_of(facts, file, receiver));
                    if tapes.is_empty() {
                        gradients.others.push((file, id));
                    } else {
                        gradients.of_tapes.push((tapes, file, id));
                    }
                }
                if has(Effect::AppliesGradients) {
                    gradients.steps.push((file, id));
                }
                // A variable from `model.trainable_variables` is not known to be one; its method tells.
                let changes = match (&module.value(call.callee).value, receiver) {
                    (Value::Attribute { name, .. }, Some(receiver)) => {
                        let method = variable
                            .and_then(|variable| facts.library.member(variable, module.names.text(*name)))
                            .is_some_and(|method| method.has(Effect::UpdatesState));
                        method
                            && (facts.may_be(file, receiver, Kind::Variable)
                                || facts.is_unknown(file, receiver))
                    }
                    _ => false,
                };
                if changes {
                    gradients.updates.push((file, id));
                }
            }
        }
        gradients
    }
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

fn find_loops(facts: &Facts<'_>, gradients: &Gradients) -> Vec<TrainingLoop> {
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
    let is_training_graph = |file: FileId| {
        gradients.steps.iter().any(|&(of, _)| of == file)
            || loops_of(facts, file, Effect::Minimizes).next().is_some()
    };
    // A session that runs nothing, such as the default one given to a saver, is no loop.
    let running = sessions_that_run(facts);
    loops.retain(|own| {
        !matches!(own.kind, LoopKind::Session | LoopKind::MonitoredSession)
            || facts
                .solution
                .values(own.caller.file, facts.module(own.caller.file).call(own.call).result)
                .iter()
                .any(|session| running.contains(session))
    });
    // A session that only evaluates trains nothing.
    let trains: FxHashSet<FileId> = facts.files().filter(|&file| is_training_graph(file)).collect();
    loops.retain(|own| {
        !matches!(own.kind, LoopKind::Session | LoopKind::MonitoredSession)
            || trains.contains(&own.caller.file)
            || facts.imported_files(own.caller.file).iter().any(|file| trains.contains(file))
    });
    for file in facts.files() {
        for call in loops_of(facts, file, Effect::Trains) {
            loops.push(fit_loop(facts, file, call));
        }
        for call in loops_of(facts, file, Effect::Minimizes) {
            let mut minimize = loop_at(facts, LoopKind::Minimize, file, call);
            if let Some(receiver) = facts.receiver(file, facts.module(file).call(call)) {
                minimize.optimizers = facts.of_kind(file, receiver, Kind::Optimizer);
            }
            minimize.steps.push((file, call));
            loops.push(minimize);
        }
    }
    loops.sort_by_key(|own| (own.caller.file, own.range.start()));
    loops
}

/// The sessions that a method is called on or that a `with` statement manages.
fn sessions_that_run(facts: &Facts<'_>) -> FxHashSet<ObjectId> {
    let mut found = FxHashSet::default();
    for file in facts.files() {
        let module = facts.module(file);
        let receivers = module.calls.iter().filter_map(|call| facts.receiver(file, call));
        for value in receivers.chain(module.managers.iter().map(|&(value, _)| value)) {
            found.extend(facts.of_kind(file, value, Kind::Session));
            found.extend(facts.of_kind(file, value, Kind::MonitoredSession));
        }
    }
    found
}

/// The calls of methods with an effect, made on objects of the library or of the project's classes.
fn loops_of<'f>(facts: &'f Facts<'_>, file: FileId, effect: Effect) -> impl Iterator<Item = CallId> + 'f {
    let calls = &facts.module(file).calls;
    (0..calls.len()).map(CallId::new).filter(move |&call| {
        let is_super = facts.receiver(file, facts.module(file).call(call)).is_some_and(|receiver| {
            facts.objects(file, receiver).any(|(_, object)| matches!(object, Object::Super(..)))
        });
        !is_super && facts.called_symbols(file, call).any(|symbol| symbol.has(effect))
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
    let influenced = facts.influence.forwards(&results, |place| gradients.results.contains(&place));
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
    for &(file, step) in &own.steps {
        if let Some(receiver) = facts.receiver(file, facts.module(file).call(step)) {
            own.optimizers.extend(facts.of_kind(file, receiver, Kind::Optimizer));
        }
    }
    let mut sources = Vec::new();
    for &(file, call) in &taken {
        let call_data = facts.module(file).call(call);
        for symbol in facts.called_symbols(file, call) {
            sources.extend(
                facts.argument(file, call_data, symbol, "sources").map(|argument| (file, argument.value)),
            );
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
    own.models = [(&sources, Kind::Model), (&variables, Kind::Model), (&sources, Kind::Layer)]
        .into_iter()
        .map(|(places, kind)| owners(facts, places, kind))
        .find(|models| !models.is_empty())
        .unwrap_or_default();
    sort(&mut own.optimizers);
    Some(own)
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

/// The objects of a kind, models or layers, whose variables the places are.
fn owners(facts: &Facts<'_>, places: &[Place], kind: Kind) -> Vec<ObjectId> {
    let is_owner = |(file, value): Place| facts.may_be(file, value, kind);
    let behind = facts.influence.backwards(places, is_owner);
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

/// The calls that lead from the entry module to a loop's code, outermost first; empty for a loop in the entry
/// module itself.
#[must_use]
pub fn way(facts: &Facts<'_>, program: &Program, to: Caller) -> Vec<CallEdge> {
    let mut came_from: rustc_hash::FxHashMap<Caller, Option<CallEdge>> = rustc_hash::FxHashMap::default();
    let mut queue: std::collections::VecDeque<Caller> = std::collections::VecDeque::new();
    let start = Caller { file: program.entry, scope: ScopeId(0) };
    let mut starts: Vec<Caller> =
        program.reached.iter().copied().filter(|caller| caller.scope == ScopeId(0)).collect();
    starts.sort_by_key(|caller| (*caller != start, *caller));
    for start in starts {
        came_from.insert(start, None);
        queue.push_back(start);
    }
    // Calls in the source explain more than a library's calling back: a decorator is no way to a function's run.
    let mut callbacks: std::collections::VecDeque<(CallEdge, Caller)> = std::collections::VecDeque::new();
    loop {
        let Some(caller) = queue.pop_front() else {
            let Some((edge, next)) = callbacks.pop_front() else { break };
            if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(next) {
                entry.insert(Some(edge));
                queue.push_back(next);
            }
            continue;
        };
        if caller == to {
            break;
        }
        for (edge, function) in facts.reached_functions(caller) {
            let next = facts.code_of(function);
            if !program.reached.contains(&next) {
                continue;
            }
            if Facts::is_call_back(&edge) {
                callbacks.push_back((edge, next));
            } else if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(next) {
                entry.insert(Some(edge));
                queue.push_back(next);
            }
        }
    }
    let mut way = Vec::new();
    let mut at = to;
    while let Some(Some(edge)) = came_from.get(&at) {
        way.push(*edge);
        at = edge.caller;
    }
    way.reverse();
    way
}
