//! Which learning rates matter: those of the optimizers that step in a loop; and whether they know the number of
//! ranks already.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::job::Job;
use crate::api::{Kind, Role, Scaling, Symbol};
use crate::program::{Creation, Facts, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Passing};

/// An optimizer that is made with a rate of its own.
#[derive(Clone, Copy, Debug)]
pub(in crate::distribute) struct Optimizer<'c> {
    pub(in crate::distribute) made: &'c Creation,
    pub(in crate::distribute) class: &'c Symbol,
}

/// The optimizers that step in a loop of the program, those inside of others included; all that the program makes
/// where a loop does not tell.
pub(in crate::distribute) fn stepping<'c>(job: &Job<'c>) -> Vec<Optimizer<'c>> {
    let facts = job.facts;
    let loops = || job.program.loops.iter().chain(&job.program.steps_of_fit);
    let own = of_own_classes(job).into_iter().filter_map(|(made, class)| Some((made, class?)));
    let own: FxHashMap<ObjectId, &Symbol> = own.map(|(made, class)| (made.object, class)).collect();
    let everything = loops().any(|own| own.optimizers.is_empty());
    let mut work: Vec<ObjectId> = loops().flat_map(|own| own.optimizers.iter().copied()).collect();
    let mut wanted = FxHashSet::default();
    while let Some(object) = work.pop() {
        if !wanted.insert(object) {
            continue;
        }
        if let Some((file, call)) = facts.made_at(object) {
            let inner = facts.module(file).call(call).arguments.iter();
            work.extend(inner.flat_map(|argument| facts.of_kind(file, argument.value, Kind::Optimizer)));
        }
    }
    let made = facts.creations.iter().filter(|made| {
        made.kind == Kind::Optimizer
            && !made.derived
            && job.runs(made.file, made.call)
            && (everything || wanted.contains(&made.object))
    });
    made.filter_map(|made| {
        // Of several classes that one call may make all are scaled alike; the first by name is told.
        let classes = facts.called_symbols(made.file, made.call);
        let class = classes.filter(|symbol| scaled(symbol).next().is_some());
        let class = class.min_by_key(|symbol| symbol.name()).or_else(|| own.get(&made.object).copied())?;
        Some(Optimizer { made, class })
    })
    .collect()
}

/// The optimizers of the project's own classes, with the library's class whose parameters their calls give; none where a
/// constructor of the project's own does not get the rate by its name there.
pub(super) fn of_own_classes<'c>(job: &Job<'c>) -> Vec<(&'c Creation, Option<&'c Symbol>)> {
    let facts = job.facts;
    let made = facts
        .creations
        .iter()
        .filter(|made| made.kind == Kind::Optimizer && !made.derived && job.runs(made.file, made.call));
    let of_own = |made: &'c Creation| {
        let Object::Instance(class, _) = facts.solution.object(made.object) else { return None };
        let base = facts.library_base(class).filter(|base| scaled(base).next().is_some())?;
        let is_named = || scaled(base).any(|name| keyword(job, made.file, made, name).is_some());
        let is_plain = facts.method(class, CONSTRUCTOR).is_none();
        Some((made, (is_plain || is_named()).then_some(base)))
    };
    made.filter_map(of_own).collect()
}

/// The method that a class is called as.
const CONSTRUCTOR: &str = "__init__";

/// The calls that make optimizers for loops of which nobody knows the class: `tf.keras.optimizers.get(settings)`.
pub(super) fn of_unknown_class(job: &Job<'_>) -> Vec<(FileId, CallId)> {
    let facts = job.facts;
    let loops = job.program.loops.iter().chain(&job.program.steps_of_fit);
    let stepping: FxHashSet<ObjectId> = loops.flat_map(|own| own.optimizers.iter().copied()).collect();
    let made = facts.creations.iter().filter(|made| {
        made.kind == Kind::Optimizer
            && !made.derived
            && job.runs(made.file, made.call)
            && stepping.contains(&made.object)
    });
    // What the program writes down, a name or a dictionary, is seen there.
    let is_chosen = |made: &&Creation| {
        let mut symbols = facts.called_symbols(made.file, made.call).peekable();
        let makes = |symbol: &Symbol| *symbol.role() == Role::Function && scaled(symbol).next().is_none();
        let mut given = facts.module(made.file).call(made.call).arguments.iter();
        symbols.peek().is_some()
            && symbols.all(makes)
            && given.any(|own| facts.is_unknown(made.file, own.value))
    };
    made.filter(is_chosen).map(|made| (made.file, made.call)).collect()
}

/// The parameters of a class that grow with the number of ranks.
pub(in crate::distribute) fn scaled(class: &Symbol) -> impl Iterator<Item = &str> {
    class.scaled().filter(|(_, scaling)| *scaling == Scaling::Multiply).map(|(name, _)| name)
}

/// What a creation gives for a parameter of its class.
pub(in crate::distribute) fn given<'c>(
    job: &Job<'c>,
    made: &Creation,
    class: &Symbol,
    parameter: &str,
) -> Option<&'c Argument> {
    job.facts.argument(made.file, job.facts.module(made.file).call(made.call), class, parameter)
}

/// The keyword argument of this name, also one that the class does not list.
pub(super) fn keyword<'c>(job: &Job<'c>, file: FileId, made: &Creation, name: &str) -> Option<&'c Argument> {
    let module = job.facts.module(file);
    module
        .call(made.call)
        .arguments
        .iter()
        .find(|argument| matches!(argument.passing, Passing::Keyword(own) if module.names.text(own) == name))
}

/// Whether a call unpacks arguments, so that it can't be seen what it gives.
pub(super) fn unpacks(job: &Job<'_>, made: &Creation) -> bool {
    let call = job.facts.module(made.file).call(made.call);
    call.arguments.iter().any(|argument| matches!(argument.passing, Passing::Spread | Passing::Merge))
}

/// The calls of functions that a rate is computed by from an initial one: `tf.train.exponential_decay(0.1, ...)`.
pub(in crate::distribute) fn decays<'c>(job: &Job<'c>, place: Place) -> Vec<(FileId, CallId, &'c Symbol)> {
    let facts = job.facts;
    let all = job.common.decays(facts);
    if all.is_empty() {
        return Vec::new();
    }
    let behind = facts.influence().backwards(&[place], |_| false);
    let is_behind = |file: FileId, call| behind.contains(&(file, facts.module(file).call(call).result));
    let found = all.iter().filter(|&&(file, call)| is_behind(file, call));
    found.filter_map(|&(file, call)| Some((file, call, decay(facts, file, call)?))).collect()
}

/// All calls of such functions in a project, in their order.
pub(in crate::distribute) fn all_decays(facts: &Facts<'_>) -> Vec<(FileId, CallId)> {
    let calls_in = |file| (0..facts.module(file).calls.len()).map(move |call| (file, CallId::new(call)));
    let all = facts.modules.files().flat_map(calls_in);
    all.filter(|&(file, call)| decay(facts, file, call).is_some()).collect()
}

fn decay<'c>(facts: &Facts<'c>, file: FileId, call: CallId) -> Option<&'c Symbol> {
    let mut symbols = facts.called_symbols(file, call);
    symbols.find(|symbol| *symbol.role() == Role::Function && scaled(symbol).next().is_some())
}
