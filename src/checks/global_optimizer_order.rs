//! Global optimizers that are bound below the functions that use them, or bound again.

use super::global_bindings::{
    Binding, Elsewhere, Reading, bindings, is_before, outermost_function, stores_into_modules,
    uses_in_functions,
};
use super::{Context, check};
use crate::api::{Effect, Kind};
use crate::finding::{Finding, Label, Level, Location};
use crate::program::Facts;
use crate::project::FileId;
use crate::semantic::{Module, ScopeKind, Value, Variable};

check!("HVD009", "global-optimizer-order", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let elsewhere = stores_into_modules(facts, Kind::Optimizer);
    let is_concerned = |file: &FileId| {
        let has_own = facts.has_any(*file, |kind| kind == Kind::Optimizer);
        has_own || elsewhere.keys().any(|(other, _)| other == file)
    };
    facts.files().filter(is_concerned).flat_map(|file| late_bindings(context, file, &elsewhere)).collect()
}

fn late_bindings(context: Context<'_>, file: FileId, elsewhere: &Elsewhere<'_>) -> Vec<Finding> {
    let module = context.facts.module(file);
    let bindings = bindings(context.facts, file, Kind::Optimizer, elsewhere);
    let mut variables: Vec<Variable> = bindings.keys().copied().collect();
    variables.sort_unstable();
    let mut findings = Vec::new();
    for variable in variables {
        let uses = uses_in_functions(module, variable);
        for binding in &bindings[&variable] {
            findings.extend(late_binding(context, file, variable, binding, &bindings[&variable], &uses));
        }
    }
    findings
}

fn late_binding(
    context: Context<'_>,
    file: FileId,
    variable: Variable,
    binding: &Binding,
    all: &[Binding],
    uses: &[Reading],
) -> Option<Finding> {
    let facts = context.facts;
    let module = facts.module(file);
    let is_here = binding.caller.file == file;
    let own = if is_here { outermost_function(module, binding.caller.scope) } else { None };
    // A function that makes the optimizer and uses it waits for nobody.
    let first = uses.iter().find(|reading| Some(reading.function) != own)?;
    if binding.is_of_module(file) && binding.range.start() < first.begins {
        return None;
    }
    let earlier = all.iter().find(|other| is_changed_by(module, file, other, binding));
    // Its initialisation is one offence, with all its branches and the distributed form of what it makes.
    let is_part = if earlier.is_some() {
        let is_in_order = |other: &Binding| other.is_of_module(file) && other.range.start() < first.begins;
        !all.iter().any(is_in_order) && makes_distributed_form(facts, binding)
    } else {
        let mut branches = all.iter().filter(|other| other.caller == binding.caller);
        is_here && binding.range.start() < first.begins
            || branches.next().is_some_and(|other| other.location() != binding.location())
    };
    if is_part {
        return None;
    }
    let name = module.variable_name(variable);
    let function = &module.scope(first.function).qualified_name;
    let message = match earlier {
        Some(_) => format!("the global optimizer `{name}` is bound again after its initialisation"),
        None if is_here => {
            format!("the global optimizer `{name}` is bound below `{function}`, which uses it")
        }
        None => format!("the global optimizer `{name}` is bound by another module than that of `{function}`"),
    };
    let level = if earlier.is_some() { Level::Error } else { context.warning() };
    let mut finding = Finding::new(&CHECK.rule, level, binding.location(), message)
        .here(if earlier.is_some() { "bound again here" } else { "bound here" })
        .in_scope(facts.scope_name(binding.caller));
    if let Some(earlier) = earlier {
        let label =
            if earlier.location() == binding.location() { "at each turn" } else { "an earlier binding" };
        finding = finding
            .label(earlier.location(), label)
            .note(format!(
                "The fixes for `{name}` are withheld: which optimizer a function uses depends on when it is called."
            ))
            .help("change the learning rate of the first optimizer, or use a schedule, instead of replacing it");
    } else {
        finding = finding
            .help(format!("move the binding of `{name}` above `{function}`, or pass the optimizer to it"));
    }
    finding.flow = flow(facts, file, first, binding, all);
    let header = match module.scope(first.function).kind {
        ScopeKind::Function(function) => {
            module.function(function).statement.map(|id| module.statement(id).header)
        }
        _ => None,
    };
    let header = header.unwrap_or(module.scope(first.function).range);
    Some(
        finding
            .label(Location::new(file, header), "a function that uses it")
            .label(Location::new(file, first.range), "used here"),
    )
}

/// From the training loop that steps with one of the optimizers to its use and its binding.
fn flow(facts: &Facts<'_>, file: FileId, first: &Reading, binding: &Binding, all: &[Binding]) -> Vec<Label> {
    let optimizers: Vec<_> =
        all.iter().flat_map(|other| facts.of_kind(other.caller.file, other.value, Kind::Optimizer)).collect();
    let mut loops = facts.programs.iter().flat_map(|program| &program.loops);
    let Some(training) = loops.find(|own| own.optimizers.iter().any(|object| optimizers.contains(object)))
    else {
        return Vec::new();
    };
    let step = |location: Location, message: &str| Label { location, message: message.to_owned() };
    vec![
        step(Location::new(training.caller.file, training.range), "the training loop"),
        step(Location::new(file, first.range), "the optimizer is used"),
        step(binding.location(), "the optimizer is bound"),
    ]
}

/// Whether the variable may hold `first`'s optimizer when `second` binds it.
fn is_changed_by(module: &Module, file: FileId, first: &Binding, second: &Binding) -> bool {
    match (first.is_of_module(file), second.is_of_module(file)) {
        (true, true) => is_before(module, first, second),
        (true, false) => true,
        (false, true) => false,
        // Of several functions that bind it the first is its initialisation.
        (false, false) => first.location() < second.location() && first.caller != second.caller,
    }
}

/// Whether the binding wraps an optimizer for Horovod.
fn makes_distributed_form(facts: &Facts<'_>, binding: &Binding) -> bool {
    let file = binding.caller.file;
    matches!(facts.module(file).value(binding.value).value, Value::Call(call)
        if facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes)))
}
