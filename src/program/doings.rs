//! The calls behind a call that do something lasting: each with its place, through the project's own functions.
//!
//! [`Effects`](super::Effects) joins effects over all that a call reaches. Here the single calls are asked for,
//! because what is done to an object that the call itself makes does not last.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::influence::Place;
use super::object::{Object, ObjectId};
use super::solver::{CallEdge, Caller};
use crate::api::{Effect, EffectSet, Kind};
use crate::project::FileId;
use crate::semantic::{CallId, Value};
use crate::syntax::TextRange;

/// A call that does something lasting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing {
    /// The call.
    pub edge: CallEdge,
    /// What it does, without what does not last.
    pub effects: EffectSet,
    /// It is done to an object of this kind.
    pub subject: Option<Kind>,
    /// Nobody knows what it does.
    pub unknown: bool,
    /// What of training a session may run, as far as containers are told apart that hold its operations.
    pub perhaps: EffectSet,
}

/// What changes an object that the call is made on or given, rather than the world.
const LOCAL: [Effect; 4] =
    [Effect::UpdatesState, Effect::ConsumesIterator, Effect::DrawsRandom, Effect::SeedsRandom];

impl Facts<'_> {
    /// What a call does, itself and through the functions of the project that it runs, in the order in which
    /// they are reached. What is done to objects made within `around`, a range of the call's file, is left out.
    #[must_use]
    pub fn doings(&self, file: FileId, call: CallId, around: TextRange) -> Vec<Doing> {
        let mut found = Vec::new();
        let mut reached: FxHashSet<Caller> = FxHashSet::default();
        let mut queue: VecDeque<CallEdge> = self.callees(file, call).iter().copied().collect();
        let evaluates = queue.iter().any(|edge| {
            self.symbol(self.solution.object(edge.callee)).is_some_and(|symbol| symbol.has(Effect::Evaluates))
        });
        while let Some(edge) = queue.pop_front() {
            match self.solution.object(edge.callee) {
                Object::Function(function) => {
                    let code = self.code_of(function);
                    let summary = self.effects().of_scope(code);
                    if (!summary.effects.is_empty() || summary.unknown) && reached.insert(code) {
                        queue.extend(self.outgoing(code).iter().copied());
                    }
                }
                _ => found.push(edge),
            }
        }
        let own = |object: ObjectId| match self.solution.object(object) {
            Object::Created(_, node) | Object::Instance(_, Some(node)) | Object::Container(_, node) => {
                self.solution.origin(node).is_some_and(|(of, value)| {
                    let made = self.module(of).value(value);
                    reached.contains(&Caller { file: of, scope: made.scope })
                        || of == file && around.contains_range(made.range)
                })
            }
            _ => false,
        };
        let doings = found.into_iter().map(|edge| self.doing(edge, own));
        let keep = doings.map(|mut doing| {
            if evaluates {
                // The metrics of an evaluation are reset with each one.
                doing.effects = doing.effects.without(Effect::UpdatesState);
            }
            doing
        });
        keep.filter(|doing| !doing.effects.is_empty() || !doing.perhaps.is_empty() || doing.unknown).collect()
    }

    fn doing(&self, edge: CallEdge, own: impl Fn(ObjectId) -> bool) -> Doing {
        let summary = self.effects().of_edge(self, &edge);
        let (effects, unknown) = (summary.effects, summary.unknown);
        let mut doing = Doing { edge, effects, subject: None, unknown, perhaps: EffectSet::NONE };
        let file = edge.caller.file;
        let subject = edge.call.and_then(|call| self.subject(file, call));
        if let Some(subject) = subject {
            let objects = self.solution.values(file, subject);
            doing.subject =
                objects.iter().find_map(|&object| self.kind(object).filter(|&kind| kind != Kind::Other));
            if !objects.is_empty() && objects.iter().all(|&object| own(object)) {
                doing.effects = LOCAL.into_iter().fold(doing.effects, EffectSet::without);
            }
        }
        if matches!(doing.subject, Some(Kind::Session | Kind::MonitoredSession)) {
            let run = self.run_by(&edge);
            if !run.contains(Effect::AppliesGradients) {
                doing.effects = doing.effects.without(Effect::UpdatesState);
            }
            if run.contains(Effect::TakesGradients) {
                doing.effects = doing.effects.with(Effect::TakesGradients);
            }
            if run.is_empty() {
                doing.perhaps = self.perhaps_run_by(&edge);
            }
        }
        doing
    }

    /// What a call is made on, or given first.
    fn subject(&self, file: FileId, id: CallId) -> Option<crate::semantic::ValueId> {
        let module = self.module(file);
        let call = module.call(id);
        match module.value(call.callee).value {
            Value::Attribute { base, .. } if !self.is_module(file, base) => Some(base),
            _ => call.arguments.first().map(|argument| argument.value),
        }
    }

    /// Whether a value is a module, of the project or of a library.
    pub(crate) fn is_module(&self, file: FileId, value: crate::semantic::ValueId) -> bool {
        self.objects(file, value).any(|(_, object)| match object {
            Object::Module(_) | Object::Namespace(_) => true,
            Object::External(_) => self.symbol(object).is_some_and(crate::api::Symbol::is_module),
            _ => false,
        })
    }

    /// What of training the operations do that a session's call is given: whether they update variables, and whether they
    /// take gradients that the ranks of a distributed program average.
    fn run_by(&self, edge: &CallEdge) -> EffectSet {
        let (file, Some(call)) = (edge.caller.file, edge.call) else { return EffectSet::NONE };
        let given = self.module(file).call(call).arguments.iter().map(|own| (file, own.value));
        let behind = self.influence().list_backwards(&given.collect::<Vec<Place>>(), |_| false);
        let averaging = &self.graph_of_training().averaging;
        let mut found = EffectSet::NONE;
        for (file, value) in behind {
            let Value::Call(call) = self.module(file).value(value).value else { continue };
            let mut symbols = self.called_symbols(file, call);
            if symbols.any(|own| own.has(Effect::AppliesGradients) || own.has(Effect::Minimizes)) {
                found = found.with(Effect::AppliesGradients);
            } else if averaging.contains(&(file, call)) {
                found = found.with(Effect::TakesGradients);
            }
        }
        found
    }

    /// The same of operations that containers may hold, `updates[bucket]`, which are told apart less.
    fn perhaps_run_by(&self, edge: &CallEdge) -> EffectSet {
        let (file, Some(call)) = (edge.caller.file, edge.call) else { return EffectSet::NONE };
        let graph = self.graph_of_training();
        let given = &self.module(file).call(call).arguments;
        let is_part =
            |operations: &FxHashSet<Place>| given.iter().any(|own| operations.contains(&(file, own.value)));
        let parts = [(Effect::AppliesGradients, &graph.steps), (Effect::TakesGradients, &graph.averages)];
        parts.into_iter().filter(|(_, operations)| is_part(operations)).map(|(effect, _)| effect).collect()
    }
}
