//! When traced code is called, and whether other code runs between its calls: by the statements of the scope that calls
//! it, by what that scope calls, and by the callbacks of `fit`.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

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

/// When the traced code of a program is called, as far as somebody asked before.
pub(super) struct Later<'g, 'a> {
    graph: &'g Graph<'a>,
    /// For a traced function and objects that it may be a method of: its calls by the code that comes to them.
    calls: RefCell<FxHashMap<(Caller, Vec<ObjectId>), Calls>>,
}

/// Calls, and those of the functions around them, by the code that makes them.
type Calls = Rc<FxHashMap<Caller, Vec<Spot>>>;

impl<'g, 'a> Later<'g, 'a> {
    pub(super) fn new(graph: &'g Graph<'a>) -> Self {
        Self { graph, calls: RefCell::default() }
    }

    /// Whether a change of some objects, or of variables, may come after a call of the traced code that `reader` belongs
    /// to, and another call after it.
    pub(super) fn is_changed_between_calls(
        &self,
        reader: Caller,
        change: Spot,
        changed: &[ObjectId],
    ) -> bool {
        let graph = self.graph;
        let Some((first, _, _)) = graph.tracing.tracer(reader) else { return false };
        match graph.tracing.get(first).map(|traced| traced.reason) {
            Some(Reason::Given(..)) => graph.is_between(&self.calls_of(first, changed), change),
            Some(Reason::OfKeras(file, call)) => graph.fits_of((file, call)).any(|fit| {
                let calls = || by_code(graph.leading_to(vec![graph.facts.spot(fit)]));
                graph.is_between_steps(fit, change)
                    || !graph.compiles_near(fit) && graph.is_between(&calls(), change)
            }),
            _ => false,
        }
    }

    fn calls_of(&self, first: Caller, of: &[ObjectId]) -> Calls {
        let mut known = self.calls.borrow_mut();
        let calls = known.entry((first, of.to_vec()));
        Rc::clone(calls.or_insert_with(|| Rc::new(by_code(self.graph.calls_of(first, of)))))
    }
}

fn by_code(spots: Vec<Spot>) -> FxHashMap<Caller, Vec<Spot>> {
    let mut found: FxHashMap<Caller, Vec<Spot>> = FxHashMap::default();
    for spot in spots {
        found.entry(spot.0).or_default().push(spot);
    }
    found
}

impl Graph<'_> {
    /// Places, and the calls of the functions around them by code that is not traced.
    fn leading_to(&self, spots: Vec<Spot>) -> Vec<Spot> {
        self.facts.leading_to(spots, |edge| self.is_plain(edge))
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
        self.leading_to(calls.map(|call| facts.spot(call)).collect())
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

    fn is_between(&self, calls: &FxHashMap<Caller, Vec<Spot>>, change: Spot) -> bool {
        let facts = self.facts;
        // What makes an object, or what is missing, belongs to what is made.
        let makes = |caller| self.facts.is_constructor(caller);
        let changes = if makes(change.0) || facts.is_guarded(change.0, change.1) {
            vec![change]
        } else {
            facts.leading_to(vec![change], |edge| self.is_plain(edge) && !makes(edge.caller))
        };
        changes.into_iter().any(|change| {
            let calls = calls.get(&change.0).map_or(&[][..], Vec::as_slice);
            calls.iter().any(|&call| facts.leads(call, change))
                && calls.iter().any(|&call| facts.leads(change, call))
        })
    }

    /// Whether the callbacks of a call of `fit` come to some code between the steps.
    fn is_between_steps(&self, fit: (FileId, CallId), change: Spot) -> bool {
        let scopes = self.leading_to(vec![change]);
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
        let fits = self.leading_to(vec![self.facts.spot((file, fit))]);
        let compiling = self.facts.calls_with(Effect::Compiles).map(|call| self.facts.spot(call));
        let compiling = by_code(self.leading_to(compiling.collect()));
        fits.into_iter().any(|fit| {
            compiling.get(&fit.0).is_some_and(|spots| spots.iter().any(|&spot| self.facts.leads(fit, spot)))
        })
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
