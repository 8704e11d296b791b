//! Training programs: their entry modules, what they run, and their training loops.
//!
//! The source is the seed, section 3.2: a summary from the lattice {none, gradient tape, optimizer, both} for
//! modules, functions, classes and values, joined through calls. Here a loop is found where it is, and a
//! program's summary is the join over the loops in the code that its entry module reaches.

use rustc_hash::{FxHashMap, FxHashSet};

use super::components::imports_by_name;
use super::decorated::Decorated;
use super::facts::Facts;
use super::given::Given;
use super::handed_over::{HandedOver, handed_over};
use super::modules::FunctionRef;
use super::solver::{CallEdge, Caller};
use super::starting::{callers_that_start_horovod, is_distributed};
use crate::api::Effect;
use crate::project::FileId;
use crate::semantic::{CallId, Module};

use super::loops::{Gradients, LoopKind, TrainingLoop, find_loops};
use super::time::forget_missing_objects;

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

impl Program {
    /// A program that neither trains nor starts Horovod; of what it runs only the entry's own code is told.
    fn without_training(facts: &Facts<'_>, entry: FileId) -> Self {
        Self {
            entry,
            reached: facts.import_time_scopes(entry).into_iter().collect(),
            loops: Vec::new(),
            steps_of_fit: Vec::new(),
            other_gradients: Vec::new(),
            pattern: Pattern::None,
            already_distributed: false,
        }
    }

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
    let handed = handed_over(facts);
    let training = files_that_train(facts, &loops, &gradients, &handed);
    let decorated = Decorated::new(facts);
    let starts_horovod = callers_that_start_horovod(facts).next().is_some();
    let found = entry_files(facts, entries).into_iter().map(|entry| {
        let is_mere_test = entries.is_empty() && facts.is_unit_test(entry);
        let trains = training.contains(&entry) && (starts_horovod || !is_mere_test);
        let found = trains.then(|| program(facts, entry, &loops, &gradients, &handed, &decorated));
        let found = found.filter(|own| own.already_distributed || !is_mere_test);
        found.unwrap_or_else(|| Program::without_training(facts, entry))
    });
    // A module that others import is a program of its own if it trains when it is run itself.
    let imported = imported_by_others(facts);
    let is_program = |program: &Program| {
        program.pattern != Pattern::None
            || !imported.contains(&program.entry) && !facts.module(program.entry).imports.is_empty()
    };
    found.filter(is_program).collect()
}

/// The files that lead to code which trains or starts Horovod when they are imported or run: what other programs
/// run is of no interest, and following each of thousands would be quadratic.
fn files_that_train(
    facts: &Facts<'_>,
    loops: &[TrainingLoop],
    gradients: &Gradients,
    handed: &HandedOver,
) -> FxHashSet<FileId> {
    let mut work: Vec<Caller> = loops.iter().map(|own| own.caller).collect();
    let others = gradients.others.iter();
    work.extend(others.map(|&(file, call)| Caller { file, scope: facts.module(file).call(call).scope }));
    work.extend(callers_that_start_horovod(facts));
    if work.is_empty() {
        return FxHashSet::default();
    }
    let mut given_by: FxHashMap<Caller, Vec<Caller>> = FxHashMap::default();
    for (&caller, functions) in handed {
        for &(_, function) in functions {
            given_by.entry(facts.code_of(function)).or_default().push(caller);
        }
    }
    let mut leading = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if leading.insert(caller) {
            let calls = facts.function_of(caller).map_or(&[][..], |function| facts.incoming(function));
            let callers = calls.iter().map(|edge| edge.caller);
            work.extend(callers.filter(|caller| facts.concerned.contains(&caller.file)));
            work.extend(given_by.get(&caller).into_iter().flatten());
        }
    }
    let mut importers: FxHashMap<FileId, Vec<FileId>> = FxHashMap::default();
    let mut files = Vec::new();
    for file in facts.files() {
        for &imported in facts.imported_files(file) {
            importers.entry(imported).or_default().push(file);
        }
        if facts.import_time_scopes(file).iter().any(|caller| leading.contains(caller)) {
            files.push(file);
        }
    }
    let mut training = FxHashSet::default();
    while let Some(file) = files.pop() {
        if training.insert(file) {
            files.extend(importers.get(&file).into_iter().flatten());
        }
    }
    training
}

fn imported_by_others(facts: &Facts<'_>) -> FxHashSet<FileId> {
    facts.modules.files().flat_map(|file| facts.imported_files(file).iter().copied()).collect()
}

fn entry_files(facts: &Facts<'_>, entries: &[String]) -> Vec<FileId> {
    let named = |file: &FileId| {
        let name = &facts.modules.names[file.index()];
        let is_named = |entry: &String| {
            let path = entry.replace('/', ".");
            path == *name || path.strip_suffix(".py") == Some(name)
        };
        entries.iter().any(is_named)
    };
    if !entries.is_empty() {
        return facts.files().filter(named).collect();
    }
    let imported = imported_by_others(facts);
    facts.files().filter(|&file| !imported.contains(&file) || facts.module(file).has_main_guard()).collect()
}

// ---- what a program runs ----

fn program(
    facts: &Facts<'_>,
    entry: FileId,
    loops: &[TrainingLoop],
    gradients: &Gradients,
    handed: &HandedOver,
    decorated: &Decorated<'_, '_>,
) -> Program {
    let loaded = Loaded::new(facts, entry);
    let ways = Ways { facts, entry, loaded: &loaded, handed, decorated };
    let reached = ways.reach(|_, _| true);
    let possible = Program { reached, ..Program::without_training(facts, entry) };
    let given = Given::new(facts, &possible);
    let leads_to = |edge: &CallEdge, function| loaded.is_open || given.leads_to(edge, function);
    let reached = ways.reach(leads_to);
    let without_fit = ways.reach(|edge, function| !facts.is_step_of_fit(edge) && leads_to(edge, function));
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
    let already_distributed = is_distributed(facts, &reached);
    let mut program =
        Program { entry, reached, loops: own, steps_of_fit, other_gradients, pattern, already_distributed };
    let handed = handed.values().flatten().map(|&(_, function)| function).collect();
    forget_missing_objects(facts, &mut program, &handed);
    program
}

fn in_foreign_guard(facts: &Facts<'_>, training_loop: &TrainingLoop) -> bool {
    training_loop.caller.scope == crate::semantic::Module::TOP
        && facts.in_main_guard(training_loop.caller.file, training_loop.statement)
}

impl Facts<'_> {
    /// The files of a program that are its own as far as is known: what its entry imports, directly or through others. A
    /// program that imports modules by strings may have any file that is linked to it, but no test.
    #[must_use]
    pub fn own_files(&self, entry: FileId) -> FxHashSet<FileId> {
        let loaded = Loaded::new(self, entry);
        if !loaded.is_open {
            return loaded.files;
        }
        let linked = self.modules.components.around([entry]).into_iter();
        linked.filter(|&file| loaded.files.contains(&file) || !self.modules.is_test(file)).collect()
    }

    /// Whether an edge only makes a graph function of another that code calls elsewhere: `@tf.function` does not run what
    /// it decorates.
    #[must_use]
    pub fn only_wraps(&self, edge: &CallEdge, function: FunctionRef) -> bool {
        self.is_mere_wrapping(edge)
            && self.incoming(function).iter().any(|other| !self.is_mere_wrapping(other))
    }

    /// Whether the edge only makes a graph function of another and does not run it.
    #[must_use]
    pub fn is_mere_wrapping(&self, edge: &CallEdge) -> bool {
        edge.call.is_some_and(|call| {
            self.called_symbols(edge.caller.file, call).any(|symbol| symbol.has(Effect::Traces))
        })
    }

    /// Whether the edge is `fit` calling the model's own `train_step`.
    #[must_use]
    pub fn is_step_of_fit(&self, edge: &CallEdge) -> bool {
        let Some(call) = edge.call.filter(|_| Self::is_call_back(edge)) else { return false };
        self.called_symbols(edge.caller.file, call).any(|symbol| symbol.has(Effect::Trains))
    }
}

/// The files that running a module imports.
struct Loaded {
    files: FxHashSet<FileId>,
    /// Some of them import others by strings: nobody knows which.
    is_open: bool,
}

impl Loaded {
    fn new(facts: &Facts<'_>, entry: FileId) -> Self {
        let mut work = vec![entry];
        let mut files: FxHashSet<FileId> = work.iter().copied().collect();
        while let Some(file) = work.pop() {
            work.extend(facts.imported_files(file).iter().copied().filter(|&file| files.insert(file)));
        }
        let is_open = files.iter().any(|&file| imports_by_name(facts.module(file)));
        Self { files, is_open }
    }

    fn has(&self, function: FunctionRef) -> bool {
        self.is_open || self.files.contains(&function.file)
    }
}

/// The ways that running a module takes.
struct Ways<'w, 'a> {
    facts: &'w Facts<'a>,
    entry: FileId,
    loaded: &'w Loaded,
    handed: &'w HandedOver,
    decorated: &'w Decorated<'w, 'a>,
}

impl Ways<'_, '_> {
    /// The scopes that running the module reaches along the edges that are wanted.
    fn reach(&self, wanted: impl Fn(&CallEdge, FunctionRef) -> bool) -> FxHashSet<Caller> {
        let Self { facts, loaded, decorated, .. } = self;
        // What programs share calls what any of them gives it; code of files that are never imported does not run.
        let mut work: Vec<Caller> =
            loaded.files.iter().flat_map(|&file| facts.import_time_scopes(file)).collect();
        let mut reached = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if !reached.insert(caller) {
                continue;
            }
            let is_foreign_module = caller.file != self.entry && caller.scope == crate::semantic::Module::TOP;
            let runs = |call: Option<CallId>| {
                !is_foreign_module
                    || call.is_none_or(|call| {
                        !facts.in_main_guard(caller.file, facts.module(caller.file).call(call).statement)
                    })
            };
            let come_to = |function: FunctionRef, behind: Vec<FunctionRef>| {
                let all = std::iter::once(function).chain(behind);
                all.filter(|&own| loaded.has(own)).map(|own| facts.code_of(own)).collect::<Vec<Caller>>()
            };
            for (edge, function) in facts.reached_functions(caller) {
                let may_run = runs(edge.call)
                    && loaded.has(function)
                    && !facts.only_wraps(&edge, function)
                    && !facts.is_left_to_tests(caller, edge.call, function);
                // What a wrapper calls is come to where the wrapper is called.
                if may_run && wanted(&edge, function) && !decorated.is_within(&edge, function) {
                    work.extend(come_to(function, decorated.behind(&edge, function)));
                }
            }
            for &(call, function) in self.handed.get(&caller).into_iter().flatten() {
                let may_run = runs(Some(call))
                    && loaded.has(function)
                    && !facts.is_left_to_tests(caller, Some(call), function)
                    && (caller.file == self.entry || !facts.is_only_decorated(caller, call, function));
                if may_run {
                    work.extend(come_to(function, decorated.behind_handed(caller, call, function)));
                }
            }
        }
        reached
    }
}

/// The calls that lead from the entry module to a loop's code, outermost first; empty for a loop in the entry
/// module itself.
#[must_use]
pub fn way(facts: &Facts<'_>, program: &Program, to: Caller) -> Vec<CallEdge> {
    let mut came_from: FxHashMap<Caller, Option<CallEdge>> = FxHashMap::default();
    let mut queue: std::collections::VecDeque<Caller> = std::collections::VecDeque::new();
    let start = Caller { file: program.entry, scope: Module::TOP };
    let mut starts: Vec<Caller> =
        program.reached.iter().copied().filter(|caller| caller.scope == Module::TOP).collect();
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
