//! When traced code is called, and whether other code runs between its calls: by the statements of the scope that calls
//! it, by what that scope calls, and by the callbacks of `fit`.

use super::Graph;
use crate::api::{Effect, Kind};
use crate::program::{Ancestor, CallEdge, Caller, Facts, FunctionRef, Object, ObjectId, Reason, Spot};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The attribute in which Keras gives a callback the model that it trains.
const MODEL: &str = "model";

/// The parameter of `fit` for callbacks.
const CALLBACKS: &str = "callbacks";

/// The hooks that `fit` calls again and again, between the steps.
const BETWEEN_STEPS: [&str; 6] = [
    "on_epoch_begin",
    "on_epoch_end",
    "on_batch_begin",
    "on_batch_end",
    "on_train_batch_begin",
    "on_train_batch_end",
];

impl Graph<'_> {
    /// Whether a change of some objects, or of variables, may come after a call of the traced code that `reader` belongs
    /// to, and another call after it.
    pub(super) fn is_changed_between_calls(
        &self,
        reader: Caller,
        change: Spot,
        changed: &[ObjectId],
    ) -> bool {
        let Some((first, _, _)) = self.tracing.tracer(reader) else { return false };
        match self.tracing.get(first).map(|traced| traced.reason) {
            Some(Reason::Given(..)) => self.is_between(&self.calls_of(first, changed), change),
            Some(Reason::OfKeras(file, call)) => self.fits_of((file, call)).any(|fit| {
                let calls = || self.facts.leading_to(self.facts.spot(fit), |edge| self.is_plain(edge));
                self.is_between_steps(fit, change.0)
                    || !self.compiles_near(fit) && self.is_between(&calls(), change)
            }),
            _ => false,
        }
    }

    /// Whether code that is not traced makes a call by itself.
    fn is_plain(&self, edge: &CallEdge) -> bool {
        !self.is_traced(edge.caller) && !Facts::is_call_back(edge)
    }

    /// The calls of a traced function, of objects among `of` if it is a method, and of what comes to them.
    fn calls_of(&self, first: Caller, of: &[ObjectId]) -> Vec<Spot> {
        let facts = self.facts;
        let function = facts.function_of(first);
        let edges = function.map_or(&[][..], |function| facts.incoming(function)).iter();
        // An object that is called calls a method of its own.
        let is_object =
            |file, call| facts.called_symbols(file, call).any(|own| own.last_name() == "__call__");
        let calls = edges.filter(|edge| !self.is_traced(edge.caller)).filter_map(|edge| {
            let (file, call) = (edge.caller.file, edge.call?);
            let is_tracer = self.tracing.tracers(first).contains(&(file, call));
            let is_call = !Facts::is_call_back(edge) || is_object(file, call) && !is_tracer;
            is_call.then_some((file, call))
        });
        // Of an object that is changed itself, and not something that it has, only its own calls count.
        let class = function.and_then(|own| facts.modules.class_of(own));
        let is_own = |own: &ObjectId| match facts.solution.object(*own) {
            Object::Instance(of, _) => {
                class.is_some_and(|class| facts.hierarchy.order(of).contains(&Ancestor::Project(class)))
            }
            _ => false,
        };
        let is_itself = of.iter().any(is_own);
        let calls = calls.filter(|&(file, call)| !is_itself || self.concerns((file, call), of));
        calls.flat_map(|call| facts.leading_to(facts.spot(call), |edge| self.is_plain(edge))).collect()
    }

    /// Whether a call may be one of the objects, or of a method of theirs.
    fn concerns(&self, (file, call): (FileId, CallId), of: &[ObjectId]) -> bool {
        let facts = self.facts;
        let data = self.module(file).call(call);
        let receiver = facts.receiver(file, data).unwrap_or(data.callee);
        let is_instance = |own: &&ObjectId| matches!(facts.solution.object(**own), Object::Instance(..));
        let mut instances = facts.solution.values(file, receiver).iter().filter(is_instance).peekable();
        instances.peek().is_none() || instances.any(|own| of.contains(own))
    }

    fn is_between(&self, calls: &[Spot], change: Spot) -> bool {
        let facts = self.facts;
        // What makes an object, or what is missing, belongs to what is made.
        let makes = |caller| self.is_constructor(caller);
        let changes = if makes(change.0) || facts.is_guarded(change.0, change.1) {
            vec![change]
        } else {
            facts.leading_to(change, |edge| self.is_plain(edge) && !makes(edge.caller))
        };
        changes.into_iter().any(|change| {
            calls.iter().any(|&call| facts.leads(call, change))
                && calls.iter().any(|&call| facts.leads(change, call))
        })
    }

    /// Whether the callbacks of a call of `fit` come to some code between the steps.
    fn is_between_steps(&self, fit: (FileId, CallId), code: Caller) -> bool {
        let spot = (code, crate::semantic::Flow::ENTRY, crate::syntax::TextRange::default());
        let scopes = self.facts.leading_to(spot, |edge| self.is_plain(edge));
        scopes.into_iter().any(|(caller, _, _)| self.hooked_by(caller).any(|call| call == fit))
    }

    /// The calls of `fit` that run what a call has traced: itself, or those of the model that it compiles.
    fn fits_of(&self, (file, call): (FileId, CallId)) -> impl Iterator<Item = (FileId, CallId)> {
        let facts = self.facts;
        let models = move |file, call| {
            let receiver = facts.receiver(file, facts.module(file).call(call));
            receiver.map_or(&[][..], |receiver| facts.solution.values(file, receiver))
        };
        facts.calls_with(Effect::Trains).filter(move |&(other, fit)| {
            let is_same = (other, fit) == (file, call);
            is_same
                || facts.called_symbols(file, call).any(|own| own.has(Effect::Compiles))
                    && models(other, fit).iter().any(|own| models(file, call).contains(own))
        })
    }

    /// The calls of `fit` that call a function back between their steps.
    fn hooked_by(&self, caller: Caller) -> impl Iterator<Item = (FileId, CallId)> {
        let facts = self.facts;
        let class = facts.function_of(caller).and_then(|own| {
            let module = self.module(own.file);
            let name = module.names.text(module.function(own.function).name);
            BETWEEN_STEPS.contains(&name).then(|| facts.modules.class_of(own))?
        });
        let is_own = move |&own: &ObjectId| matches!(facts.solution.object(own), Object::Instance(of, _) if Some(of) == class);
        facts.calls_with(Effect::Trains).filter(move |&(file, call)| {
            let data = facts.module(file).call(call);
            let mut given =
                facts.called_symbols(file, call).filter_map(|own| facts.argument(file, data, own, CALLBACKS));
            class.is_some()
                && given.any(|given| {
                    facts
                        .elements(file, given.value)
                        .into_iter()
                        .any(|id| is_own(&id) || facts.solution.under_any_key(id).iter().any(is_own))
                })
        })
    }

    /// Whether the code that calls `fit` comes to compile a model, which is traced anew then.
    fn compiles_near(&self, (file, fit): (FileId, CallId)) -> bool {
        let places = |call| self.facts.leading_to(self.facts.spot(call), |edge| self.is_plain(edge));
        let fits = places((file, fit));
        let compiling = self.facts.calls_with(Effect::Compiles).flat_map(places);
        compiling.into_iter().any(|spot| fits.iter().any(|&fit| self.facts.leads(fit, spot)))
    }

    /// The models that a value is, if it is the `self.model` of a callback.
    pub(super) fn models_of_callback(&self, file: FileId, value: ValueId) -> Vec<ObjectId> {
        let module = self.module(file);
        let Value::Attribute { base, name, .. } = module.value(value).value else { return Vec::new() };
        let Value::Parameter(function, 0) = module.value(base).value else { return Vec::new() };
        let own = module.function(function);
        let class = self.facts.modules.class_of(FunctionRef { file, function });
        let base = class.and_then(|class| self.facts.library_base(class));
        let is_callback = base.is_some_and(|base| self.facts.library.kind_of_class(base) == Kind::Callback);
        if !is_callback || module.names.text(name) != MODEL {
            return Vec::new();
        }
        let fits = self.hooked_by(Caller { file, scope: own.scope });
        let models = fits.flat_map(|(file, call)| {
            let receiver = self.facts.receiver(file, self.module(file).call(call));
            receiver.map_or(&[][..], |receiver| self.facts.solution.values(file, receiver))
        });
        models.copied().filter(|&own| own != ObjectId::UNKNOWN).collect()
    }
}
