//! Which code TensorFlow traces, and why: its Python statements run while a graph is made and not at each call.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::eager_programs::EagerPrograms;
use super::facts::Facts;
use super::layers::Layers;
use super::modules::{ClassRef, FunctionRef};
use super::object::{Object, ObjectId};
use super::receivers::Receivers;
use super::solver::{CallEdge, Caller};
use super::travel::code;
use crate::api::{Calls, Effect, Kind, Returns};
use crate::finding::Confidence;
use crate::project::FileId;
use crate::semantic::{Call, CallId, CallKind, Constant, ScopeId, Value, ValueId};

/// Why code is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is given to something that traces: `tf.function(f)`, `@tf.function`, `dataset.map(f)`.
    Given(FileId, CallId),
    /// Keras traces it where it trains, evaluates or predicts, or it is what a model is compiled with.
    OfKeras(FileId, CallId),
    /// Traced code calls it.
    Called(CallEdge),
}

/// Whether `AutoGraph` rewrites the Python control flow of traced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// `if`, `for`, `while` on tensors become operations.
    Converted,
    /// `autograph=False`, or what calls it is not converted.
    AsWritten,
}

/// Traced code: the scope of a function or lambda.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    /// Why it is.
    pub reason: Reason,
    /// Whether `AutoGraph` rewrites it.
    pub conversion: Conversion,
    /// It makes what is missing and does nothing at later calls: `build`, and what is called only where something
    /// is `None`.
    pub once: bool,
    /// *Possible* where it is only reached by calls of which value flow has lost track, or on objects that have another
    /// method.
    pub confidence: Confidence,
}

impl Traced {
    /// Code that a tracer is given.
    fn first(reason: Reason, conversion: Conversion) -> Self {
        Self { reason, conversion, once: false, confidence: Confidence::Certain }
    }
}

/// All traced code.
#[derive(Debug, Default)]
pub struct Tracing {
    traced: FxHashMap<Caller, Traced>,
    /// In the order in which it is reached from the places that trace.
    order: Vec<Caller>,
    /// The calls that trace code themselves or have it traced.
    tracers: FxHashMap<Caller, Vec<(FileId, CallId)>>,
}

impl Tracing {
    /// Finds what is traced: what is given to tracers, and all that it calls.
    #[must_use]
    pub fn new(facts: &Facts<'_>) -> Self {
        let mut tracing = Self::default();
        let layers = facts.layers();
        let first = facts.traced_first(&layers);
        for (caller, traced) in &first {
            if let Reason::Given(file, call) | Reason::OfKeras(file, call) = traced.reason {
                tracing.tracers.entry(*caller).or_default().push((file, call));
            }
        }
        let first = first.into_iter();
        let mut queue: VecDeque<(Caller, Traced, Receivers)> =
            first.map(|(caller, traced)| (caller, traced, Receivers::Any)).collect();
        // What is certain comes first, so that doubt stays where nothing else leads.
        let mut doubtful: VecDeque<(Caller, Traced, Receivers)> = VecDeque::new();
        let mut receivers: FxHashMap<Caller, Receivers> = FxHashMap::default();
        while let Some((caller, traced, own)) = queue.pop_front().or_else(|| doubtful.pop_front()) {
            if let Some(known) = tracing.traced.get_mut(&caller) {
                let improves = known.once && !traced.once && traced.confidence >= known.confidence;
                let widens = receivers.get_mut(&caller).is_some_and(|known| known.extend(&own));
                if !improves && !widens {
                    continue;
                }
                known.once &= !improves;
            } else {
                receivers.insert(caller, own);
                tracing.traced.insert(caller, traced);
                tracing.order.push(caller);
            }
            let own = receivers[&caller].clone();
            for (edge, function) in facts.reached_functions(caller) {
                let is_left_out = |call| {
                    let block = facts.module(caller.file).call(call).block;
                    facts.leaves_graph(caller.file, call)
                        || facts.is_for_eager_code(caller, block)
                        || facts.is_never_entered(caller, block)
                };
                if edge.call.is_some_and(is_left_out) {
                    continue;
                }
                let skips = [Effect::Memoizes, Effect::RunsEagerly];
                // Keras leaves the graph to build a layer.
                if skips.iter().any(|&effect| facts.is_decorated(function, effect))
                    || facts.is_built_once(function)
                {
                    continue;
                }
                let conversion = if facts.is_decorated(function, Effect::KeepsPython) {
                    Conversion::AsWritten
                } else {
                    traced.conversion
                };
                let once = traced.once || edge.call.is_some_and(|call| facts.is_in_first_call(caller, call));
                let is_lost = edge.call.is_some_and(|call| facts.is_lost(caller.file, call));
                let called_on = own.along(facts, &edge, function);
                let is_doubtful = is_lost || called_on.is_none();
                let confidence = if is_doubtful { Confidence::Possible } else { traced.confidence };
                let next = Traced { reason: Reason::Called(edge), once, conversion, confidence };
                let ways = if confidence == Confidence::Certain { &mut queue } else { &mut doubtful };
                ways.push_back((facts.code_of(function), next, called_on.unwrap_or(Receivers::Any)));
            }
            for &(edge, function) in layers.called.get(&caller).into_iter().flatten() {
                let next = Traced { reason: Reason::Called(edge), ..traced };
                let ways = if next.confidence == Confidence::Certain { &mut queue } else { &mut doubtful };
                ways.push_back((facts.code_of(function), next, Receivers::Any));
            }
        }
        tracing
    }

    /// Whether nothing is traced.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The scopes, in the order in which they are reached from the places that trace.
    #[must_use]
    pub fn scopes(&self) -> &[Caller] {
        &self.order
    }

    /// What is known of a scope if it is traced.
    #[must_use]
    pub fn get(&self, caller: Caller) -> Option<&Traced> {
        self.traced.get(&caller)
    }

    /// Whether what a scope evaluates is evaluated while a graph is made.
    #[must_use]
    pub fn is_of_graph(&self, facts: &Facts<'_>, file: FileId, scope: ScopeId) -> bool {
        self.traced.contains_key(&Caller { file, scope: facts.module(file).code_scope(scope) })
    }

    /// The place that traces, behind the reasons why a scope is traced.
    #[must_use]
    pub fn tracer(&self, mut caller: Caller) -> Option<(Caller, FileId, CallId)> {
        // Reasons lead to what was reached earlier, so that they end.
        loop {
            match self.traced.get(&caller)?.reason {
                Reason::Given(file, call) | Reason::OfKeras(file, call) => return Some((caller, file, call)),
                Reason::Called(edge) => caller = edge.caller,
            }
        }
    }

    /// All calls that trace the code by which a scope is traced.
    #[must_use]
    pub fn tracers(&self, caller: Caller) -> &[(FileId, CallId)] {
        let first = self.tracer(caller).map(|(first, _, _)| first);
        first.and_then(|first| self.tracers.get(&first)).map_or(&[], Vec::as_slice)
    }
}

impl Facts<'_> {
    /// Which code is traced, and why; found when it is first asked for.
    #[must_use]
    pub fn tracing(&self) -> &Tracing {
        self.tracing.get_or_init(|| Tracing::new(self))
    }

    /// The scopes whose code is traced: functions given to `tf.function`, as an argument or by decoration, and all
    /// that they call. What `fit` calls back is traced too, unless it was told to run eagerly.
    #[must_use]
    pub fn traced(&self) -> FxHashSet<Caller> {
        self.tracing().scopes().iter().copied().collect()
    }

    /// What is given to something that traces.
    fn traced_first(&self, layers: &Layers) -> Vec<(Caller, Traced)> {
        let mut found = Vec::new();
        let eager = EagerPrograms::new(self);
        for file in self.files() {
            for (index, call) in self.module(file).calls.iter().enumerate() {
                let id = CallId::new(index);
                let Some(tracer) = self.tracer_of(file, id) else { continue };
                if tracer.is_function && eager.run(self, file, call) {
                    continue;
                }
                let given = self.given_to(file, id, call, &tracer);
                found.extend(given.into_iter().map(|function| {
                    let reason = Reason::Given(file, id);
                    let conversion = tracer.conversion;
                    (self.code_of(function), Traced::first(reason, conversion))
                }));
            }
        }
        let by_keras = self.traced_by_keras(layers).into_iter().filter(|(_, traced)| match traced.reason {
            Reason::OfKeras(file, call) => !eager.run(self, file, self.module(file).call(call)),
            Reason::Given(..) | Reason::Called(_) => true,
        });
        found.extend(by_keras);
        found
    }

    /// The functions that a call gives to a tracer.
    fn given_to(&self, file: FileId, id: CallId, call: &Call, tracer: &Tracer) -> Vec<FunctionRef> {
        let mut given: Vec<FunctionRef> = Vec::new();
        for argument in &call.arguments {
            for (_, object) in self.objects(file, argument.value) {
                given.extend(code(object));
                if let Object::Partial(site) = object {
                    let inner = self.solution.partial(site).map(|inner| self.solution.object(inner));
                    given.extend(inner.filter_map(code));
                }
            }
        }
        if tracer.is_function && given.is_empty() {
            // An object that is called: its class' `__call__`, or a model's `call`.
            let own = self.reached_functions_of(file, id);
            given.extend(own);
        }
        given.retain(|&function| !self.is_stub(function));
        given
    }

    /// The functions that a call's edges lead to when the library calls back.
    fn reached_functions_of(&self, file: FileId, call: CallId) -> impl Iterator<Item = FunctionRef> + '_ {
        self.callees(file, call).iter().filter(|edge| Self::is_call_back(edge)).filter_map(|edge| match self
            .solution
            .object(edge.callee)
        {
            Object::Function(function) => Some(function),
            _ => None,
        })
    }

    fn is_stub(&self, function: FunctionRef) -> bool {
        !self.concerned.contains(&function.file)
    }

    /// What a call traces with: `tf.function`, a method of a dataset, or what `tf.function(...)` without a function
    /// has returned.
    fn tracer_of(&self, file: FileId, call: CallId) -> Option<Tracer> {
        if let Some(symbol) = self.called_symbols(file, call).find(|symbol| symbol.has(Effect::Traces)) {
            let is_function = matches!(symbol.returns(), Returns::Wrapped(_));
            return Some(Tracer { is_function, conversion: self.conversion(file, call) });
        }
        let module = self.module(file);
        let own = module.call(call);
        let is_unnamed = self.objects(file, own.callee).any(|(_, object)| match object {
            Object::Identity => true,
            Object::Partial(site) => self.solution.partial(site).any(|inner| self.traces(inner)),
            _ => false,
        });
        if !is_unnamed {
            return None;
        }
        let made = self.origin_call(file, own.callee, 8)?;
        let traces = self.called_symbols(file, made).any(|symbol| symbol.has(Effect::Traces))
            || self.objects(file, module.call(made).result).any(|(_, object)| match object {
                Object::Partial(site) => self.solution.partial(site).any(|inner| self.traces(inner)),
                _ => false,
            });
        traces.then(|| Tracer { is_function: true, conversion: self.conversion(file, made) })
    }

    fn traces(&self, object: ObjectId) -> bool {
        self.symbol(self.solution.object(object)).is_some_and(|symbol| symbol.has(Effect::Traces))
    }

    /// The call that made a value, through variables of one meaning.
    fn origin_call(&self, file: FileId, value: ValueId, steps: u32) -> Option<CallId> {
        let module = self.module(file);
        match module.value(value).value {
            Value::Call(call) => Some(call),
            Value::Cell(variable) if steps > 0 => {
                let mut definitions = module.shared_definitions(variable);
                let only = definitions.next()?;
                definitions.next().is_none().then(|| self.origin_call(file, only.value, steps - 1))?
            }
            _ => None,
        }
    }

    fn conversion(&self, file: FileId, call: CallId) -> Conversion {
        let module = self.module(file);
        let arguments = &module.call(call).arguments;
        let as_written = self.called_symbols(file, call).any(|symbol| {
            let autograph = self.argument(file, module.call(call), symbol, "autograph");
            autograph.is_some_and(|argument| self.is_false(file, argument.value))
        });
        if as_written && !arguments.is_empty() { Conversion::AsWritten } else { Conversion::Converted }
    }

    fn is_false(&self, file: FileId, value: ValueId) -> bool {
        matches!(self.module(file).value(value).value, Value::Constant(Constant::Bool(false)))
    }

    /// What Keras traces: the steps and layers of models that train, evaluate or predict, losses and metrics.
    fn traced_by_keras(&self, layers: &Layers) -> Vec<(Caller, Traced)> {
        let mut found = Vec::new();
        for caller in self.scopes() {
            for edge in self.outgoing(caller).iter().filter(|edge| Self::is_call_back(edge)) {
                let Some(call) = edge.call else { continue };
                let Object::Function(function) = self.solution.object(edge.callee) else { continue };
                if !self.runs_model(caller.file, call)
                    || !self.is_of_keras(function)
                    || self.runs_eagerly(caller.file, call)
                    || self.is_built_once(function)
                {
                    continue;
                }
                let reason = Reason::OfKeras(caller.file, call);
                let traced = Traced::first(reason, Conversion::Converted);
                found.push((self.code_of(function), traced));
            }
        }
        found.extend(self.traced_layers(layers));
        found.extend(self.compiled_with());
        found
    }

    /// Whether Keras runs the steps of a model: `fit`, `evaluate`, `predict`.
    fn runs_model(&self, file: FileId, call: CallId) -> bool {
        let runs = [Effect::Trains, Effect::Evaluates, Effect::Predicts];
        self.called_symbols(file, call).any(|symbol| runs.iter().any(|&effect| symbol.has(effect)))
    }

    /// The layers of the library's models that train, evaluate or predict.
    fn traced_layers(&self, layers: &Layers) -> Vec<(Caller, Traced)> {
        let mut found = Vec::new();
        if layers.of.is_empty() {
            return found;
        }
        for file in self.files() {
            for (index, call) in self.module(file).calls.iter().enumerate() {
                let id = CallId::new(index);
                let Some(receiver) = self.receiver(file, call) else { continue };
                let models = self.solution.values(file, receiver).iter();
                let mut functions = models.filter_map(|model| layers.of.get(model)).flatten().peekable();
                if functions.peek().is_none() || !self.runs_model(file, id) || self.runs_eagerly(file, id) {
                    continue;
                }
                let traced = Traced::first(Reason::OfKeras(file, id), Conversion::Converted);
                found.extend(functions.map(|&function| (self.code_of(function), traced)));
            }
        }
        found
    }

    /// Functions that models are compiled with, as losses and metrics, and the schedules of their optimizers.
    fn compiled_with(&self) -> Vec<(Caller, Traced)> {
        let mut found = Vec::new();
        for (file, id) in self.calls_with(Effect::Compiles) {
            let call = self.module(file).call(id);
            if self.is_told_to_run_eagerly(file, id) {
                continue;
            }
            let mut objects: Vec<ObjectId> = Vec::new();
            for symbol in self.called_symbols(file, id) {
                let optimizer = self.argument(file, call, symbol, "optimizer");
                let schedules = optimizer.into_iter().flat_map(|given| self.schedules(file, given.value));
                found.extend(schedules.map(|function| {
                    let traced = Traced::first(Reason::OfKeras(file, id), Conversion::Converted);
                    (self.code_of(function), traced)
                }));
                for name in ["loss", "metrics", "weighted_metrics"] {
                    let argument = self.argument(file, call, symbol, name);
                    objects.extend(
                        argument.into_iter().flat_map(|argument| self.elements(file, argument.value)),
                    );
                }
            }
            for object in objects {
                let traced = Traced::first(Reason::OfKeras(file, id), Conversion::Converted);
                match self.solution.object(object) {
                    Object::Function(function) | Object::Bound(_, function) => {
                        found.push((self.code_of(function), traced));
                    }
                    Object::Instance(class, _) => {
                        let module = self.module(class.file);
                        let methods = module.functions.iter().filter(|own| own.class == Some(class.class));
                        for method in methods
                            .filter(|method| self.is_called_by_base(class, module.names.text(method.name)))
                        {
                            found.push((Caller { file: class.file, scope: method.scope }, traced));
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// What schedules of the project do that optimizers are made with: `SGD(WarmUp(0.1))`.
    fn schedules(&self, file: FileId, optimizer: ValueId) -> Vec<FunctionRef> {
        let mut found = Vec::new();
        let optimizers = self.of_kind(file, optimizer, Kind::Optimizer);
        for (file, call) in optimizers.into_iter().filter_map(|own| self.made_at(own)) {
            for argument in &self.module(file).call(call).arguments {
                for schedule in self.of_kind(file, argument.value, Kind::Schedule) {
                    if let Object::Instance(class, _) = self.solution.object(schedule) {
                        found.extend(self.method(class, "__call__"));
                    }
                }
            }
        }
        found
    }

    /// Whether Keras calls a method of a class when an instance is called: a layer's `call`, and of a loss or metric what
    /// makes a step.
    #[must_use]
    pub fn is_called_by_base(&self, class: ClassRef, method: &str) -> bool {
        let Some(base) = self.library_base(class) else { return false };
        let call = self.library.member(base, "__call__");
        call.is_some_and(|call| {
            call.calls().iter().any(|called| matches!(called, Calls::Receiver(name) if name == method))
        })
    }

    /// Whether a method is a model's, a layer's, a loss' or a metric's: no callback's and no sequence's.
    fn is_of_keras(&self, function: FunctionRef) -> bool {
        let base = self.modules.class_of(function).and_then(|class| self.library_base(class));
        base.is_some_and(|base| {
            matches!(self.library.kind_of_class(base), Kind::Model | Kind::Layer | Kind::Loss | Kind::Metric)
        })
    }

    /// Whether a model was compiled to run its steps as plain Python.
    fn runs_eagerly(&self, file: FileId, call: CallId) -> bool {
        let Some(receiver) = self.receiver(file, self.module(file).call(call)) else { return false };
        let model = self.solution.values(file, receiver);
        self.calls_with(Effect::Compiles).any(|(file, id)| {
            let call = self.module(file).call(id);
            self.is_told_to_run_eagerly(file, id)
                && self.receiver(file, call).is_some_and(|compiled| {
                    self.solution.values(file, compiled).iter().any(|object| model.contains(object))
                })
        })
    }

    fn is_told_to_run_eagerly(&self, file: FileId, id: CallId) -> bool {
        let call = self.module(file).call(id);
        self.called_symbols(file, id).any(|symbol| {
            let eagerly = self.argument(file, call, symbol, "run_eagerly");
            eagerly.is_some_and(|argument| {
                let value = &self.module(file).value(argument.value).value;
                !matches!(value, Value::Constant(Constant::Bool(false) | Constant::None))
            })
        })
    }

    /// Whether a call is a decorator.
    #[must_use]
    pub fn is_decorator(&self, file: FileId, call: CallId) -> bool {
        self.module(file).call(call).kind == CallKind::Decorator
    }
}

/// What traces a function.
struct Tracer {
    /// `tf.function` or its like, which returns the traced form.
    is_function: bool,
    conversion: Conversion,
}
