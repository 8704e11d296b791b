//! The models that Keras trains: which calls of `fit` make their steps, and which calls of `compile` come before.

use rustc_hash::FxHashSet;

use super::job::Job;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Caller, Facts, LoopKind, Object, ObjectId, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{Argument, BlockId, CallId, Module, Passing, StatementId, StoreKey, ValueId};
use crate::syntax::{TextRange, TextSize};

/// A call that gives models their optimizer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compile<'c> {
    pub(super) file: FileId,
    pub(super) call: CallId,
    /// The library's `compile`.
    pub(super) symbol: &'c Symbol,
}

/// The calls of `compile` that the program runs; not those that a library's own `compile` could not be told from.
pub(super) fn compiles<'c>(job: &Job<'c>) -> Vec<Compile<'c>> {
    let compile = |(file, call)| {
        let mut symbols = job.facts.called_symbols(file, call);
        let symbol = symbols.find(|symbol| symbol.has(Effect::Compiles))?;
        Some(Compile { file, call, symbol })
    };
    job.calls().filter_map(compile).collect()
}

/// The models that a method is called on, also through `super()`.
pub(super) fn models_of(job: &Job<'_>, file: FileId, call: CallId) -> Vec<ObjectId> {
    let facts = job.facts;
    let Some(receiver) = facts.receiver(file, facts.module(file).call(call)) else { return Vec::new() };
    let objects = facts.objects(file, receiver).map(|(id, object)| match object {
        Object::Super(_, receiver) => receiver,
        _ => id,
    });
    objects.filter(|&object| facts.kind(object) == Some(Kind::Model)).collect()
}

/// How the model of a loop makes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepOf {
    /// Keras does it, with the optimizer of `compile`.
    Keras,
    /// A tape in a `train_step` of the project's own.
    Tape,
    /// Such a tape, and Keras too: `super().train_step(data)`, or for another model that is trained there.
    Both,
}

impl StepOf {
    /// How a call of `fit`, `train_on_batch` and the like makes its steps.
    pub(super) fn of(job: &Job<'_>, own: &TrainingLoop) -> Self {
        let code = code_of_step(job, own);
        let mut tapes = job.program.steps_of_fit.iter().filter(|step| step.kind == LoopKind::GradientTape);
        if !tapes.any(|step| code.contains(&step.caller)) {
            return Self::Keras;
        }
        let trains = |caller: &Caller| {
            let edges = job.facts.outgoing(*caller).iter();
            let mut symbols =
                edges.filter_map(|edge| job.facts.symbol(job.facts.solution.object(edge.callee)));
            symbols.any(|symbol| symbol.has(Effect::Trains) || symbol.has(Effect::Minimizes))
        };
        let models = models_of(job, own.caller.file, own.call);
        let is_of_keras = models.into_iter().any(|model| !has_own_step(job, model));
        if is_of_keras || code.iter().any(trains) { Self::Both } else { Self::Tape }
    }
}

/// Whether a model's class makes its steps itself, or code has put a step into it: `model.train_step = step`.
fn has_own_step(job: &Job<'_>, model: ObjectId) -> bool {
    let facts = job.facts;
    let is_put_in = job.program.files().into_iter().any(|file| {
        let module = facts.module(file);
        module.stores.iter().any(|own| match own.key {
            StoreKey::Attribute(name) => {
                module.names.text(name) == STEP && facts.solution.values(file, own.base).contains(&model)
            }
            StoreKey::Item(_) | StoreKey::Slice => false,
        })
    });
    if is_put_in {
        return true;
    }
    let Object::Instance(class, _) = facts.solution.object(model) else { return false };
    facts.method(class, STEP).is_some()
}

/// The method of models that makes a step.
pub(super) const STEP: &str = "train_step";

/// The project's code that the library runs for each step of a loop.
pub(super) fn code_of_step(job: &Job<'_>, own: &TrainingLoop) -> FxHashSet<Caller> {
    let facts = job.facts;
    let called_back = |(edge, function)| {
        let edge: crate::program::CallEdge = edge;
        (edge.call == Some(own.call) && Facts::is_call_back(&edge)).then(|| facts.code_of(function))
    };
    let mut work: Vec<Caller> = facts.reached_functions(own.caller).filter_map(called_back).collect();
    let mut code = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if code.insert(caller) {
            work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
        }
    }
    code
}

/// A place in code: a scope's block, and where in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    caller: Caller,
    block: BlockId,
    at: TextSize,
}

impl Moment {
    /// When a call is made.
    pub(super) fn of(job: &Job<'_>, file: FileId, call: CallId) -> Self {
        let data = job.facts.module(file).call(call);
        Self { caller: Caller { file, scope: data.scope }, block: data.block, at: data.range.end() }
    }

    /// When a statement has run.
    pub(super) fn of_statement(job: &Job<'_>, file: FileId, statement: StatementId) -> Self {
        let data = job.facts.module(file).statement(statement);
        let caller = Caller { file, scope: data.scope };
        Self { caller, block: data.block, at: data.range.end() }
    }

    /// Whether something else may happen behind it; between different scopes nobody knows.
    pub(super) fn may_precede(self, job: &Job<'_>, later: Self) -> bool {
        if self.caller != later.caller {
            return true;
        }
        let flow = &job.facts.module(self.caller.file).scope(self.caller.scope).flow;
        self.block == later.block && self.at <= later.at || flow.leads(self.block, later.block)
    }
}

/// The argument of a call for a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given<'c> {
    /// This one.
    Argument(&'c Argument),
    /// None.
    Nothing,
    /// Perhaps one, in `*args` or `**kwargs`.
    Hidden,
}

/// The argument of a call of a library's function for a parameter.
pub(super) fn given<'c>(
    job: &Job<'c>,
    file: FileId,
    call: CallId,
    symbol: &Symbol,
    parameter: &str,
) -> Given<'c> {
    let data = job.facts.module(file).call(call);
    if let Some(argument) = job.facts.argument(file, data, symbol, parameter) {
        return Given::Argument(argument);
    }
    let names = &job.facts.module(file).names;
    let position = symbol.position_of(parameter);
    // What a keyword gives, `*args` does not reach: neither that parameter nor those behind it.
    let ends_in_front = |argument: &Argument| match argument.passing {
        Passing::Keyword(name) => {
            symbol.position_of(names.text(name)).is_some_and(|own| Some(own) <= position)
        }
        _ => false,
    };
    let is_reached = position.is_some() && !data.arguments.iter().any(ends_in_front);
    let hides = |argument: &Argument| match argument.passing {
        Passing::Spread => is_reached,
        Passing::Merge => true,
        Passing::Positional | Passing::Keyword(_) => false,
    };
    if data.arguments.iter().any(hides) { Given::Hidden } else { Given::Nothing }
}

/// Where a value is written within a stretch of code: as an expression, or as a name that stands for it.
pub(super) fn written(module: &Module, within: TextRange, value: ValueId) -> Option<TextRange> {
    let own = module.value(value).range;
    if within.contains_range(own) {
        return Some(own);
    }
    let mut uses = module.uses.iter();
    uses.find(|reading| reading.value == value && within.contains_range(reading.range))
        .map(|reading| reading.range)
}
