//! A function that trains is assigned to a variable, stored or passed as an argument.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::{Context, check};
use crate::api::{Calls, Effect, Returns};
use crate::finding::{Finding, Level};
use crate::program::{Caller, Facts, FunctionRef, Travel, code};
use crate::project::FileId;
use crate::semantic::{
    Argument, CallId, CallKind, DefinitionKind, Element, FunctionId, Module, Use as Reading, Value, ValueId,
};
use crate::syntax::TextRange;

check!("HVD104", "training-function-as-value", TrainingLoop, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let carriers = if context.strict { None } else { Some(carriers(facts)) };
    if carriers.as_ref().is_some_and(FxHashSet::is_empty) {
        return Vec::new();
    }
    let travel = facts.travel();
    let mut findings = Vec::new();
    for file in facts.files() {
        let mut places = FxHashSet::default();
        for mention in mentions(facts, travel, file) {
            let function = mention.function;
            if carriers.as_ref().is_none_or(|carriers| carriers.contains(&function))
                && places.insert(mention.range)
            {
                findings.push(finding(context, file, &mention));
            }
        }
    }
    findings
}

/// The functions that carry a training loop, themselves or through what they call.
fn carriers(facts: &Facts<'_>) -> FxHashSet<FunctionRef> {
    let loops = facts.programs.iter().flat_map(|program| &program.loops);
    let mut work: Vec<Caller> = loops.map(|own| own.caller).collect();
    let mut found = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if let Some(function) = facts.function_of(caller)
            && found.insert(function)
        {
            work.extend(facts.incoming(function).iter().map(|edge| edge.caller));
        }
    }
    found
}

/// What is done with a function that is not called.
#[derive(Clone, Copy)]
enum Use {
    Assigned,
    Stored,
    Element,
    Passed,
    Returned,
}

/// A place where a function is used otherwise than by a call.
struct Mention {
    function: FunctionRef,
    range: TextRange,
    scope: crate::semantic::ScopeId,
    manner: Use,
    /// Nobody knows where it is called.
    lost: bool,
}

fn mentions(facts: &Facts<'_>, travel: &Travel, file: FileId) -> Vec<Mention> {
    let module = facts.module(file);
    let named = Named::new(facts, file);
    let mut found = Vec::new();
    for definition in &module.definitions {
        let assigns = matches!(
            definition.kind,
            DefinitionKind::Assignment | DefinitionKind::Unpacking | DefinitionKind::Walrus
        );
        if let Some(statement) = definition.statement.filter(|_| assigns) {
            let around = module.statement(statement).range;
            found.extend(named.mention(definition.value, around, Use::Assigned, || false));
        }
    }
    for store in &module.stores {
        let around = module.statement(store.statement).range;
        found.extend(named.mention(store.value, around, Use::Stored, || false));
    }
    for (index, evaluation) in module.values.iter().enumerate() {
        if let Value::Display(_, elements) = &evaluation.value {
            let objects = facts.solution.values(file, ValueId::new(index));
            let lost = || objects.iter().any(|&object| travel.loses_elements(object));
            for element in elements {
                let (Element::At(_, value) | Element::Any(value) | Element::Key(_, value)) = *element else {
                    continue;
                };
                found.extend(named.mention(value, evaluation.range, Use::Element, lost));
            }
        }
    }
    for (index, call) in module.calls.iter().enumerate() {
        for argument in &call.arguments {
            if call.kind == CallKind::Expression
                && named.function(argument.value).is_some()
                && !is_run_in_place(facts, file, CallId::new(index), argument)
            {
                let lost = || {
                    facts.loses_arguments(file, CallId::new(index))
                        || goes_on(facts, travel, file, CallId::new(index), argument)
                };
                found.extend(named.mention(argument.value, argument.range, Use::Passed, lost));
            }
        }
    }
    for (index, function) in module.functions.iter().enumerate() {
        let own = FunctionRef { file, function: FunctionId::new(index) };
        if function.statement.is_some() && !is_decorator(facts, own) {
            for &value in &function.returns {
                let around = module.scope(function.scope).range;
                found.extend(named.mention(value, around, Use::Returned, || false));
            }
        }
    }
    found.sort_by_key(|mention| (mention.range.start(), !mention.lost));
    found
}

/// The names of functions in one module.
struct Named<'f, 'a> {
    facts: &'f Facts<'a>,
    file: FileId,
    module: &'a Module,
    /// The readings of variables, by their values.
    uses: OnceCell<Vec<&'a Reading>>,
}

impl<'f, 'a> Named<'f, 'a> {
    fn new(facts: &'f Facts<'a>, file: FileId) -> Self {
        Self { facts, file, module: facts.module(file), uses: OnceCell::new() }
    }

    fn uses(&self, value: ValueId) -> &[&'a Reading] {
        let uses = self.uses.get_or_init(|| {
            let mut uses: Vec<&Reading> = self.module.uses.iter().collect();
            uses.sort_by_key(|reading| reading.value);
            uses
        });
        let start = uses.partition_point(|reading| reading.value < value);
        let count = uses[start..].partition_point(|reading| reading.value == value);
        &uses[start..start + count]
    }

    /// The function that a value is, if it is one by its own name.
    fn function(&self, value: ValueId) -> Option<FunctionRef> {
        let by_name = match self.module.value(value).value {
            Value::Function(_) | Value::Cell(_) | Value::Import(_) | Value::Attribute { .. } => true,
            Value::Call(call) => self.module.call(call).kind == CallKind::Decorator,
            _ => false,
        };
        let mut objects = self.facts.objects(self.file, value).filter(|_| by_name);
        objects.find_map(|(_, object)| code(object))
    }

    /// The mention of a function by its own name within a range, if that is what a value is.
    fn mention(
        &self,
        value: ValueId,
        around: TextRange,
        manner: Use,
        lost: impl FnOnce() -> bool,
    ) -> Option<Mention> {
        let function = self.function(value)?;
        let own = self.module.value(value);
        let is_place = matches!(own.value, Value::Attribute { .. }) || self.is_lambda(value);
        let (range, scope) = if is_place && around.contains_range(own.range) {
            (own.range, own.scope)
        } else {
            let mut uses = self.uses(value).iter();
            let reading = uses.find(|reading| around.contains_range(reading.range))?;
            (reading.range, reading.scope)
        };
        Some(Mention { function, range, scope, manner, lost: lost() })
    }

    fn is_lambda(&self, value: ValueId) -> bool {
        match self.module.value(value).value {
            Value::Function(function) => self.module.function(function).statement.is_none(),
            _ => false,
        }
    }
}

/// Whether a library is known to run or wrap the function right there: `app.run(main)`, `horovod.run(main)`,
/// `tf.function(step)`.
fn is_run_in_place(facts: &Facts<'_>, file: FileId, id: CallId, argument: &Argument) -> bool {
    let call = facts.module(file).call(id);
    facts.called_symbols(file, id).any(|symbol| {
        let is = |name: &str| {
            facts.argument(file, call, symbol, name).is_some_and(|given| given.range == argument.range)
        };
        let runs = |calls: &Calls| matches!(calls, Calls::Argument(name) if is(name));
        match symbol.returns() {
            Returns::Wrapped(name) | Returns::ResultOf(name) => is(name),
            Returns::Decorator => true,
            _ => (symbol.has(Effect::Exits) || facts.is_launcher(symbol)) && symbol.calls().iter().any(runs),
        }
    })
}

/// Whether a function of the project gives its argument to something that nobody knows.
fn goes_on(facts: &Facts<'_>, travel: &Travel, file: FileId, call: CallId, argument: &Argument) -> bool {
    let given = facts.solution.values(file, argument.value);
    facts.called_functions(file, call).any(|function| {
        facts.module(function.file).function(function.function).parameters.iter().any(|parameter| {
            travel.loses(facts, (function.file, parameter.value))
                && facts
                    .solution
                    .values(function.file, parameter.value)
                    .iter()
                    .any(|object| given.contains(object))
        })
    })
}

/// Whether a function of the project is only applied as a decorator.
fn is_decorator(facts: &Facts<'_>, function: FunctionRef) -> bool {
    let edges = facts.incoming(function);
    let decorates = |edge: &crate::program::CallEdge| {
        edge.call.is_some_and(|call| facts.is_decorator(edge.caller.file, call))
    };
    !edges.is_empty() && edges.iter().all(decorates)
}

fn finding(context: Context<'_>, file: FileId, mention: &Mention) -> Finding {
    let facts = context.facts;
    let module = facts.module(mention.function.file);
    let function = module.function(mention.function.function);
    let is_lambda = function.statement.is_none();
    let what = match (is_lambda, context.strict) {
        (true, false) => "a lambda that trains".to_owned(),
        (true, true) => "a lambda".to_owned(),
        (false, _) => format!("function `{}`", module.scope(function.scope).qualified_name),
    };
    let trains = if is_lambda || context.strict { "" } else { ", which trains," };
    let done = match mention.manner {
        Use::Assigned => "is assigned to a variable",
        Use::Stored => "is stored",
        Use::Element => "is put into a container",
        Use::Passed => "is passed as an argument",
        Use::Returned => "is returned",
    };
    let level = if mention.lost { Level::Error } else { context.warning() };
    let location = facts.location(file, mention.range);
    let finding = Finding::new(&CHECK.rule, level, location, format!("{what}{trains} {done}"))
        .here(if mention.lost { "its calls are not known" } else { "used as a value" })
        .help("call the function by its name, and pass on what it works with instead")
        .in_scope(facts.scope_name(Caller { file, scope: mention.scope }));
    if is_lambda {
        return finding;
    }
    finding.label(facts.location(mention.function.file, function.range), "defined here")
}
