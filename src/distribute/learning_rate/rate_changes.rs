//! Learning rates that are set while the program trains: assigned to the optimizer, or by a function of the epoch.

use super::super::callback::{MODEL, is_of_callback};
use super::super::job::Job;
use super::super::obstacles::is_conditional;
use super::super::obstacles::own_results::depends;
use super::super::ranked::knows_size;
use super::super::step::Step;
use super::rates::{self, Optimizer};
use crate::api::{Calls, Effect, Kind};
use crate::finding::{Finding, Rule};
use crate::program::{Caller, Creation, FunctionRef, Literal, Object, Place, code};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, ParameterKind, StatementId, StoreKey, Value, ValueId};
use crate::syntax::TextRange;

/// The assignments and functions that set an absolute rate. One that follows from the rate before is right as it is.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule, optimizers: &[Optimizer<'_>]) -> Vec<Step> {
    let mut found = assigned(job, rule, optimizers);
    found.extend(assigned_by_call(job, rule, optimizers));
    found.extend(scheduled(job, rule));
    found
}

fn finding(job: &Job<'_>, rule: &'static Rule, file: FileId, range: TextRange) -> Finding {
    let message = "the learning rate is set to a value that does not grow with the number of ranks";
    Step::missing(rule, job.facts.location(file, range), message)
        .here("the rate for one rank")
        .help("multiply the rate by the number of ranks: `* hvd.size()`")
}

/// Whether a value is the attribute of an optimizer that holds its rate.
fn is_rate(job: &Job<'_>, file: FileId, value: ValueId, optimizers: &[Optimizer<'_>]) -> bool {
    match job.facts.module(file).value(value).value {
        Value::Attribute { base, name, .. } => {
            holds_rate(job, file, base, job.facts.module(file).names.text(name), optimizers)
        }
        _ => false,
    }
}

/// Whether the attribute of a value holds the rate: it has the name of a scaled parameter, or the former one.
fn holds_rate(job: &Job<'_>, file: FileId, base: ValueId, name: &str, optimizers: &[Optimizer<'_>]) -> bool {
    let named = optimizers.iter().any(|own| rates::scaled(own.class).any(|own| own == name));
    let is_rate = named || name == super::FORMER_NAME;
    is_rate && job.facts.may_be(file, base, Kind::Optimizer)
        || (is_rate || name == RATE) && is_optimizer_of_model(job, file, base)
}

/// The attribute of Keras' optimizers that holds the rate, and that of its models that holds the optimizer.
const RATE: &str = "learning_rate";
const OPTIMIZER: &str = "optimizer";

/// Whether a value is the optimizer that a model was compiled with: `model.optimizer`, or `self.model.optimizer` in a
/// callback.
fn is_optimizer_of_model(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let attribute = |value: ValueId, wanted: &str| match module.value(value).value {
        Value::Attribute { base, name, .. } => (module.names.text(name) == wanted).then_some(base),
        _ => None,
    };
    attribute(value, OPTIMIZER).is_some_and(|model| {
        facts.may_be(file, model, Kind::Model)
            || attribute(model, MODEL).is_some_and(|own| is_callback_itself(job, file, own))
    })
}

/// Whether a value is the first parameter of a method of a class of callbacks.
fn is_callback_itself(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let Value::Parameter(function, 0) = job.facts.module(file).value(value).value else { return false };
    is_of_callback(job, FunctionRef { file, function })
}

/// Whether a rate follows from one that an optimizer has, which has grown already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// It does not.
    None,
    /// What is written for it reads the other.
    Always,
    /// It is one of several values, or comes from elsewhere.
    Sometimes,
}

/// Whether the rate that an optimizer is made with follows from one that an optimizer has.
pub(super) fn following(
    job: &Job<'_>,
    file: FileId,
    rate: &Argument,
    optimizers: &[Optimizer<'_>],
) -> Following {
    let behind = job.facts.influence().backwards(&[(file, rate.value)], |_| false);
    let mut read =
        behind.into_iter().filter(|&(file, value)| is_rate(job, file, value, optimizers)).peekable();
    if read.peek().is_none() {
        return Following::None;
    }
    let is_here =
        |(of, value): Place| of == file && rate.range.contains_range(job.facts.module(of).value(value).range);
    if read.any(is_here) { Following::Always } else { Following::Sometimes }
}

/// Whether a new rate is computed from the rate before.
fn is_relative(job: &Job<'_>, file: FileId, value: ValueId, optimizers: &[Optimizer<'_>]) -> bool {
    let behind = job.facts.influence().backwards(&[(file, value)], |_| false);
    behind.into_iter().any(|(file, value)| is_rate(job, file, value, optimizers))
}

/// Why a rate can't be scaled.
pub(super) const OF_OWN_RESULTS: &str = "This rank's own results, or what it draws, decide what its optimizer does: each rank would go on in another way.";

/// Why rates of two kinds can't be told apart.
const OF_BOTH: &str = "It gives rates of its own, and rates that follow from the one before: multiply the former by the number of ranks.";

/// Whether a value is a variable, perhaps one of Keras' own: `K.variable(0.01)`.
fn makes_variable(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let facts = job.facts;
    let of_keras = facts.library.lookup("tensorflow.keras.backend.variable");
    let is_of_keras = match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(|own| Some(own) == of_keras),
        _ => false,
    };
    is_of_keras || facts.may_be(file, value, Kind::Variable)
}

/// Why a rate that is put into a variable stays as it is.
const OF_VARIABLE: &str =
    "It is a variable, and what is multiplied is none: multiply what it begins with by the number of ranks.";

/// Whether a function of the program that gives a new rate returns some that do not follow from the rate before.
fn is_absolute_too(job: &Job<'_>, (file, value): Place, optimizers: &[Optimizer<'_>]) -> bool {
    let facts = job.facts;
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    facts.called_functions(file, call).any(|function| {
        let data = facts.module(function.file).function(function.function);
        let rates: Vec<Place> = data.parameters.iter().map(|own| (function.file, own.value)).collect();
        let given = facts.influence().backwards(&rates, |_| false);
        let follows = |value: ValueId| {
            let behind = facts.influence().backwards(&[(function.file, value)], |_| false);
            behind.iter().any(|place| given.contains(place) && is_rate(job, place.0, place.1, optimizers))
        };
        let mut returned = data.returns.iter().flat_map(|&value| ways(job, function.file, value));
        let is_absolute = |value: ValueId| !follows(value) && !knows_size(job, &[(function.file, value)]);
        returned.any(is_absolute)
    })
}

/// Whether this rank's own results decide whether a statement is come to.
fn is_chosen(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    let module = job.facts.module(file);
    let (scope, block) = module.code_block(statement);
    let here = (Caller { file, scope }, block, module.statement(statement).range);
    let ways = job.facts.leading_to(vec![here], |edge| job.facts.is_run(job.program, edge));
    ways.iter().any(|&(caller, block, _)| is_conditional(job, caller, block))
}

fn scale(
    job: &Job<'_>,
    rule: &'static Rule,
    (file, statement): (FileId, StatementId),
    (value, range): (ValueId, TextRange),
    optimizers: &[Optimizer<'_>],
) -> Option<Step> {
    let is_own = || depends(job, (file, value)) || is_chosen(job, file, statement);
    if !job.program.already_distributed && is_own() {
        return Some(Step::blocked(finding(job, rule, file, range), OF_OWN_RESULTS));
    }
    if knows_size(job, &[(file, value)]) {
        return None;
    }
    if is_relative(job, file, value, optimizers) {
        let is_mixed = !job.program.already_distributed && is_absolute_too(job, (file, value), optimizers);
        return is_mixed.then(|| Step::blocked(finding(job, rule, file, range), OF_BOTH));
    }
    if job.facts.may_be(file, value, Kind::Schedule) {
        return None;
    }
    if makes_variable(job, file, value) && !job.program.already_distributed {
        return Some(Step::blocked(finding(job, rule, file, range), OF_VARIABLE));
    }
    let (hvd, import) = job.horovod(file);
    let edits = job.text(file)?.multiply(range, &format!("{hvd}.size()"));
    Some(Step::change(finding(job, rule, file, range), "scale the learning rate", edits, vec![import]))
}

/// `optimizer.learning_rate = 0.01`
fn assigned(job: &Job<'_>, rule: &'static Rule, optimizers: &[Optimizer<'_>]) -> Vec<Step> {
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = job.facts.module(file);
        for store in &module.stores {
            let StoreKey::Attribute(name) = store.key else { continue };
            if !holds_rate(job, file, store.base, module.names.text(name), optimizers) {
                continue;
            }
            let statement = module.statement(store.statement);
            let Some(text) = job.text(file) else { continue };
            // The whole right-hand side.
            let Some(range) = text.assigned_expression(statement.range, store.range) else { continue };
            found.extend(scale(job, rule, (file, store.statement), (store.value, range), optimizers));
        }
    }
    found
}

/// `optimizer.learning_rate.assign(0.01)`, `K.set_value(optimizer.lr, 0.01)`, `setattr(optimizer, "lr", 0.01)`
fn assigned_by_call(job: &Job<'_>, rule: &'static Rule, optimizers: &[Optimizer<'_>]) -> Vec<Step> {
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let call = job.facts.module(file).call(id);
        let of_rate = job.facts.receiver(file, call).is_some_and(|own| is_rate(job, file, own, optimizers));
        let has_rate = |base: ValueId, name: &Argument| {
            text_of(job, file, name.value).is_some_and(|name| holds_rate(job, file, base, name, optimizers))
        };
        let new: Option<&Argument> = if of_rate {
            call.arguments.first().filter(|_| sets(job, file, id))
        } else {
            match call.arguments.as_slice() {
                [rate, new] if is_rate(job, file, rate.value, optimizers) && sets(job, file, id) => Some(new),
                // `optimizer._set_hyper("learning_rate", 0.01)`
                [name, new] if sets(job, file, id) => {
                    let own = job.facts.receiver(file, call);
                    own.is_some_and(|own| has_rate(own, name)).then_some(new)
                }
                [base, name, new] if job.facts.calls_builtin(file, id, "builtins.setattr") => {
                    has_rate(base.value, name).then_some(new)
                }
                _ => None,
            }
        };
        if let Some(new) = new {
            found.extend(scale(job, rule, (file, call.statement), (new.value, new.range), optimizers));
        }
    }
    found
}

/// The text that a value is.
fn text_of<'j>(job: &'j Job<'_>, file: FileId, value: ValueId) -> Option<&'j str> {
    job.facts.objects(file, value).find_map(|(_, own)| match own {
        Object::Literal(Literal::Str(text)) => Some(job.facts.solution.names.text(text)),
        _ => None,
    })
}

/// Whether a call changes what it is made on or given; the method of an unknown object may be that of a variable.
pub(in crate::distribute) fn sets(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    assigns(job, file, call)
        || job.facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::UpdatesState))
}

/// Whether a call is of a method by which variables are changed, by its name: `variable.assign(value)`.
pub(in crate::distribute) fn assigns(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let variable = facts.library.lookup("tensorflow.Variable");
    let callee = &facts.module(file).value(facts.module(file).call(call).callee).value;
    match (callee, variable) {
        (Value::Attribute { name, .. }, Some(variable)) => facts
            .library
            .member(variable, facts.module(file).names.text(*name))
            .is_some_and(|method| method.has(Effect::UpdatesState)),
        _ => false,
    }
}

/// Callbacks that ask a function for the rate of each epoch.
fn scheduled(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let callbacks =
        facts.creations.iter().filter(|made| made.kind == Kind::Callback && job.runs(made.file, made.call));
    callbacks.filter_map(|made| scheduler(job, rule, made)).collect()
}

fn scheduler(job: &Job<'_>, rule: &'static Rule, made: &Creation) -> Option<Step> {
    let facts = job.facts;
    let class = facts.called_symbols(made.file, made.call).find(|symbol| {
        symbol.is_class() && facts.library.hook_effects(symbol).contains(Effect::SteersTraining)
    })?;
    let parameter = class.calls().iter().find_map(|calls| match calls {
        Calls::Argument(name) => Some(name.as_ref()),
        _ => None,
    })?;
    // Horovod's own scales a rate that it is given.
    if rates::scaled(class).next().is_some() {
        return None;
    }
    let argument = rates::given(job, made, class, parameter)?;
    let functions: Vec<FunctionRef> =
        facts.objects(made.file, argument.value).filter_map(|(_, object)| code(object)).collect();
    let finding = finding(job, rule, made.file, argument.range);
    if functions.is_empty() {
        let reason = "The function that gives the rate can't be followed.";
        return Some(Step::blocked(finding, reason));
    }
    let (following, absolute) = returned_rates(job, &functions);
    if !following.is_empty() {
        let is_mixed = !absolute.is_empty() && !knows_size(job, &absolute);
        return is_mixed.then(|| Step::blocked(finding, OF_BOTH));
    }
    let returned: Vec<_> = functions
        .iter()
        .flat_map(|function| {
            let data = facts.module(function.file).function(function.function);
            data.returns.iter().map(|&value| (function.file, value))
        })
        .collect();
    if knows_size(job, &returned) || knows_size(job, &[(made.file, argument.value)]) {
        return None;
    }
    let text = job.text(made.file)?;
    let (hvd, import) = job.horovod(made.file);
    // Keras gives both to a function that takes both.
    let given = if functions.iter().any(|&own| needs_rate(job, own)) { "epoch, rate" } else { "epoch" };
    let behind = format!("({given}) * {hvd}.size()");
    let edits = if text.is_chain(argument.range) {
        text.wrap(argument.range, &format!("lambda {given}: "), &behind)
    } else {
        text.wrap(argument.range, &format!("lambda {given}: ("), &format!("){behind}"))
    };
    Some(Step::change(finding, "scale the rate of each epoch", edits, vec![import]))
}

/// What functions of the epoch and the rate before return: what follows from the rate, and what doesn't.
fn returned_rates(job: &Job<'_>, functions: &[FunctionRef]) -> (Vec<Place>, Vec<Place>) {
    let returned = functions.iter().flat_map(|&function| {
        let data = job.facts.module(function.file).function(function.function);
        let rate = rate_before(job, function);
        let influenced = rate.map(|rate| job.facts.influence().forwards(&[rate], |_| false));
        let ways = data.returns.iter().flat_map(move |&value| ways(job, function.file, value));
        ways.map(move |value| {
            let place = (function.file, value);
            let follows = rate == Some(place) || influenced.as_ref().is_some_and(|own| own.contains(&place));
            (place, follows)
        })
    });
    let (following, absolute): (Vec<_>, Vec<_>) = returned.partition(|&(_, follows)| follows);
    let places = |own: Vec<(Place, bool)>| own.into_iter().map(|(place, _)| place).collect();
    (places(following), places(absolute))
}

/// The operands of `a if b else c`, or the value itself.
fn ways(job: &Job<'_>, file: FileId, value: ValueId) -> Vec<ValueId> {
    match &job.facts.module(file).value(value).value {
        Value::Phi(parts) => parts.to_vec(),
        _ => vec![value],
    }
}

/// Whether a function can't be called without the rate before.
fn needs_rate(job: &Job<'_>, function: FunctionRef) -> bool {
    let data = job.facts.module(function.file).function(function.function);
    let rate = rate_before(job, function);
    data.parameters.iter().any(|own| Some((function.file, own.value)) == rate && own.default.is_none())
}

/// The parameter for the rate before of a function that is asked for a rate.
fn rate_before(job: &Job<'_>, function: FunctionRef) -> Option<Place> {
    let data = job.facts.module(function.file).function(function.function);
    let of_object = usize::from(data.class.is_some());
    let mut parameters = data
        .parameters
        .iter()
        .filter(|own| matches!(own.kind, ParameterKind::Ordinary | ParameterKind::PositionalOnly));
    parameters.nth(of_object + 1).map(|rate| (function.file, rate.value))
}
