//! Code that makes what TensorFlow numbers. Keras numbers layers and models that have no name of their own, and a graph its
//! operations: one more of them gives all later ones, their variables and their gradients, other names.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::programs::Program;
use super::solver::Caller;
use crate::api::{Effect, Kind};
use crate::project::FileId;
use crate::semantic::{CallId, Module, Value};

/// The calls that make something, and the code that comes to them.
#[derive(Debug, Default)]
pub(super) struct Makings {
    calls: FxHashSet<(FileId, CallId)>,
    code: FxHashSet<Caller>,
}

impl Makings {
    /// The calls that make layers or models.
    fn of_layers(facts: &Facts<'_>) -> Self {
        let made = facts
            .creations
            .iter()
            .filter(|own| matches!(own.kind, Kind::Layer | Kind::Model) && !own.derived);
        Self::new(facts, made.map(|own| (own.file, own.call)).collect())
    }

    /// The calls that add operations to the graph of a program that makes one.
    fn of_operations(facts: &Facts<'_>) -> Self {
        let programs = facts.programs.iter().filter(|program| facts.runs_one_graph(program));
        let files: FxHashSet<FileId> = programs.flat_map(Program::files).collect();
        let calls = files.into_iter().flat_map(|file| {
            let calls = (0..facts.module(file).calls.len()).map(CallId::new);
            calls.filter(move |&call| facts.adds_operation(file, call)).map(move |call| (file, call))
        });
        Self::new(facts, calls.collect())
    }

    fn new(facts: &Facts<'_>, calls: FxHashSet<(FileId, CallId)>) -> Self {
        let scope = |&(file, call): &(FileId, CallId)| facts.module(file).call(call).scope;
        let mut work: Vec<Caller> =
            calls.iter().map(|own| Caller { file: own.0, scope: scope(own) }).collect();
        let mut code = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if code.insert(caller)
                && let Some(function) = facts.function_of(caller)
            {
                work.extend(facts.incoming(function).iter().map(|edge| edge.caller));
            }
        }
        Self { calls, code }
    }

    fn has(&self, facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
        self.calls.contains(&(file, call))
            || !self.code.is_empty()
                && facts.called_functions(file, call).any(|own| self.code.contains(&facts.code_of(own)))
    }
}

/// What a call makes that all ranks need alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Making {
    /// Layers or models, which Keras numbers.
    Layers,
    /// The variables of a layer or a model, which it has not had before.
    Variables,
    /// Operations of the one graph of a program, in front of those whose gradients the ranks average.
    Operations,
}

impl Facts<'_> {
    /// What a call makes that all ranks need, if anything.
    #[must_use]
    pub fn making(&self, file: FileId, call: CallId) -> Option<Making> {
        if self.makes_layers(file, call) {
            Some(Making::Layers)
        } else if self.may_build(file, call) {
            Some(Making::Variables)
        } else {
            self.adds_operations(file, call).then_some(Making::Operations)
        }
    }

    /// Whether a call makes layers or models, itself or in the code of the project that it runs.
    #[must_use]
    pub fn makes_layers(&self, file: FileId, call: CallId) -> bool {
        self.makings.get_or_init(|| Makings::of_layers(self)).has(self, file, call)
    }

    /// Whether a call adds operations to the one graph of a program, itself or in the code of the project that it runs, and
    /// those are named later whose gradients the ranks average.
    fn adds_operations(&self, file: FileId, call: CallId) -> bool {
        self.operations.get_or_init(|| Makings::of_operations(self)).has(self, file, call)
            && !self.is_behind_all_gradients(file, call)
    }

    /// Whether a call of a library gives a tensor or a variable, or runs what an operator makes of tensors: `sess.run(x * 2)`.
    fn adds_operation(&self, file: FileId, id: CallId) -> bool {
        let module = self.module(file);
        let call = module.call(id);
        let is_tensor =
            |value| self.may_be(file, value, Kind::Tensor) || self.may_be(file, value, Kind::Variable);
        let is_of_library = || self.called_symbols(file, id).next().is_some();
        let is_computed = |own: &Value| match *own {
            Value::Operator { left, right, .. } => is_tensor(left) || is_tensor(right),
            _ => false,
        };
        let runs = || self.receiver(file, call).is_some_and(|own| self.may_be(file, own, Kind::Session));
        is_of_library()
            && (is_tensor(call.result)
                || runs() && call.arguments.iter().any(|own| is_computed(&module.value(own.value).value)))
    }

    /// Whether a module's own code takes gradients only before a call.
    fn is_behind_all_gradients(&self, file: FileId, id: CallId) -> bool {
        let module = self.module(file);
        let call = module.call(id);
        let takes = |effect| {
            let mut calls = self.calls_with(effect);
            calls.any(|(of, other)| {
                let own = self.module(of).call(other);
                // A session takes those that the graph has.
                let is_run = self.receiver(of, own).is_some_and(|own| self.may_be(of, own, Kind::Session));
                let is_behind =
                    of != file || own.scope != Module::TOP || own.range.end() > call.range.start();
                is_behind && !is_run
            })
        };
        call.scope == Module::TOP && ![Effect::Minimizes, Effect::TakesGradients].into_iter().any(takes)
    }
}
