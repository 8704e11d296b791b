//! Learning rates that are set while the program trains: assigned to the optimizer, or by a function of the epoch.

use super::job::Job;
use super::ranked::knows_size;
use super::rates::{self, Optimizer};
use super::step::Step;
use crate::api::{Calls, Effect, Kind};
use crate::finding::{Finding, Rule};
use crate::program::{Creation, FunctionRef, code};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, ParameterKind, StoreKey, Value, ValueId};
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
    (named || name == super::learning_rate::FORMER_NAME) && job.facts.may_be(file, base, Kind::Optimizer)
}

/// Whether a new rate is computed from the rate before.
fn is_relative(job: &Job<'_>, file: FileId, value: ValueId, optimizers: &[Optimizer<'_>]) -> bool {
    let behind = job.facts.influence().backwards(&[(file, value)], |_| false);
    behind.into_iter().any(|(file, value)| is_rate(job, file, value, optimizers))
}

fn scale(
    job: &Job<'_>,
    rule: &'static Rule,
    file: FileId,
    (value, range): (ValueId, TextRange),
    optimizers: &[Optimizer<'_>],
) -> Option<Step> {
    if knows_size(job, &[(file, value)]) || is_relative(job, file, value, optimizers) {
        return None;
    }
    if job.facts.may_be(file, value, Kind::Schedule) {
        return None;
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
            found.extend(scale(job, rule, file, (store.value, range), optimizers));
        }
    }
    found
}

/// `optimizer.learning_rate.assign(0.01)`, `K.set_value(optimizer.lr, 0.01)`
fn assigned_by_call(job: &Job<'_>, rule: &'static Rule, optimizers: &[Optimizer<'_>]) -> Vec<Step> {
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let call = job.facts.module(file).call(id);
        let of_rate = job.facts.receiver(file, call).is_some_and(|own| is_rate(job, file, own, optimizers));
        let new: Option<&Argument> = if of_rate {
            call.arguments.first().filter(|_| sets(job, file, id))
        } else {
            match call.arguments.as_slice() {
                [rate, new] if is_rate(job, file, rate.value, optimizers) && sets(job, file, id) => Some(new),
                _ => None,
            }
        };
        if let Some(new) = new {
            found.extend(scale(job, rule, file, (new.value, new.range), optimizers));
        }
    }
    found
}

/// Whether a call changes what it is made on or given; the method of an unknown object may be that of a variable.
fn sets(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let variable = facts.library.lookup("tensorflow.Variable");
    let callee = &facts.module(file).value(facts.module(file).call(call).callee).value;
    let of_variable = match (callee, variable) {
        (Value::Attribute { name, .. }, Some(variable)) => facts
            .library
            .member(variable, facts.module(file).names.text(*name))
            .is_some_and(|method| method.has(Effect::UpdatesState)),
        _ => false,
    };
    of_variable || facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::UpdatesState))
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
    if functions.iter().any(|&function| follows_rate(job, function)) {
        return None;
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
    let behind = format!("(epoch) * {hvd}.size()");
    let edits = if text.is_chain(argument.range) {
        text.wrap(argument.range, "lambda epoch: ", &behind)
    } else {
        text.wrap(argument.range, "lambda epoch: (", &format!("){behind}"))
    };
    Some(Step::change(finding, "scale the rate of each epoch", edits, vec![import]))
}

/// Whether a function of the epoch and the rate before makes use of the rate.
fn follows_rate(job: &Job<'_>, function: FunctionRef) -> bool {
    let data = job.facts.module(function.file).function(function.function);
    let mut parameters: Vec<_> = data
        .parameters
        .iter()
        .filter(|own| matches!(own.kind, ParameterKind::Ordinary | ParameterKind::PositionalOnly))
        .collect();
    if data.class.is_some() && !parameters.is_empty() {
        parameters.remove(0);
    }
    let Some(rate) = parameters.get(1) else { return false };
    let influenced = job.facts.influence().forwards(&[(function.file, rate.value)], |_| false);
    data.returns.iter().any(|&value| value == rate.value || influenced.contains(&(function.file, value)))
}
