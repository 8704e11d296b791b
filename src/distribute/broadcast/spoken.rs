//! How code names the variables that it steps, and how a caller names the same ones.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use crate::api::Kind;
use crate::program::{Caller, ClassRef, Object, ObjectId, Place};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{
    Argument, Call, CallId, Element, FunctionId, Module, Passing, ScopeId, ScopeKind, Value, ValueId,
    Variable,
};
use crate::syntax::{TextRange, TextSize};

/// A variable followed by attributes and constant subscripts: `self.model`, `nets["g"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    file: FileId,
    variable: Variable,
    text: String,
}

/// What variables are named by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spoken {
    /// All of a model or layer.
    Model(Chain),
    /// The state of an optimizer.
    Optimizer(Chain),
    /// Each a variable.
    Each(Vec<Chain>),
    /// A collection of variables.
    All(Chain),
    /// Any other expression for a collection of variables.
    Text(String),
}

impl Spoken {
    /// The expression of a list for `broadcast_variables`. The variables of optimizers are asked for by a call, which
    /// old and new classes allow.
    pub(super) fn expression(&self) -> String {
        match self {
            Self::Model(chain) => format!("{}.variables", chain.text),
            Self::Optimizer(chain) => format!("{}.variables()", chain.text),
            Self::Each(chains) => {
                let names: Vec<&str> = chains.iter().map(|chain| chain.text.as_str()).collect();
                format!("[{}]", names.join(", "))
            }
            Self::All(chain) => format!("list({})", chain.text),
            Self::Text(text) => format!("list({text})"),
        }
    }

    /// Models first, then optimizers: the order in which people write it.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Model(_) => 0,
            Self::Optimizer(_) => 2,
            _ => 1,
        }
    }

    /// What the same variables are called where `call` calls the code of `callee`; `None` if the caller has no name
    /// for them.
    pub(super) fn at_call(&self, job: &Job<'_>, callee: Caller, file: FileId, call: CallId) -> Option<Self> {
        let translate = |chain: &Chain| chain.at_call(job, callee, file, call);
        Some(match self {
            Self::Model(chain) => Self::Model(translate(chain)?),
            Self::Optimizer(chain) => Self::Optimizer(translate(chain)?),
            Self::All(chain) => {
                let handed = chain.handed(job, callee, file, call);
                // Those of a model that are not trained have to be equal, too.
                handed
                    .and_then(|own| Self::of_model(job, file, own))
                    .or_else(|| translate(chain).map(Self::All))?
            }
            Self::Each(chains) => Self::Each(chains.iter().map(translate).collect::<Option<_>>()?),
            Self::Text(_) => return None,
        })
    }

    /// Whether these may be the variables of several models or optimizers where code is called that takes them as a
    /// parameter.
    pub(super) fn may_be_several(&self, job: &Job<'_>, code: Caller) -> bool {
        match self {
            Self::Model(chain) | Self::Optimizer(chain) => chain.may_be_several(job, code),
            Self::All(chain) => chain.parameter(job, code).is_some(),
            Self::Each(chains) => chains.iter().any(|own| own.parameter(job, code).is_some()),
            Self::Text(_) => false,
        }
    }

    /// Whether these are the variables of others with each turn of a loop: `for model in models`.
    pub(super) fn changes_within(&self, job: &Job<'_>, range: TextRange) -> bool {
        match self {
            Self::Model(chain) | Self::Optimizer(chain) => chain.changes_within(job, range),
            _ => false,
        }
    }

    /// The optimizer that a method is called on.
    pub(super) fn optimizer(job: &Job<'_>, file: FileId, call: &Call) -> Option<Self> {
        Some(Self::Optimizer(receiver(job.text(file)?, call)?))
    }

    /// A model that a method is called on, and the optimizer that it was compiled with.
    pub(super) fn compiled(job: &Job<'_>, file: FileId, call: &Call) -> Option<[Self; 2]> {
        let model = receiver(job.text(file)?, call)?;
        let optimizer = Chain { text: format!("{}.optimizer", model.text), ..model.clone() };
        Some([Self::Model(model), Self::Optimizer(optimizer)])
    }

    /// What another model is called where this one is known, if code elsewhere names both by the receivers of two
    /// calls: `agent.target` beside `agent.model`, for `self.target` and `self.model`.
    pub(super) fn beside(&self, text: Text<'_>, model: &Call, other: &Call) -> Option<Self> {
        self.named_beside(text, &receiver(text, model)?, &receiver(text, other)?)
    }

    /// The same, if code elsewhere names both by the variables that it asks for at two places: `zip(self.model.weights,
    /// self.target.weights)`.
    pub(super) fn beside_variables(
        &self,
        text: Text<'_>,
        model: TextRange,
        other: TextRange,
    ) -> Option<Self> {
        let owner = |range: TextRange| {
            let whole = chain(text, range)?;
            let (owner, _) = whole.text.rsplit_once('.')?;
            Some(Chain { text: owner.to_owned(), ..whole.clone() })
        };
        self.named_beside(text, &owner(model)?, &owner(other)?)
    }

    /// The same, if both are parameters of the code that names this one.
    pub(super) fn beside_handed(&self, module: &Module, model: Variable, other: Variable) -> Option<Self> {
        let Self::Model(known) = self else { return None };
        let is_it = known.variable == model && known.text == module.variable_name(model);
        let text = module.variable_name(other).to_owned();
        is_it.then(|| Self::Model(Chain { variable: other, text, ..known.clone() }))
    }

    /// The same, if code elsewhere calls both: `target(x)` beside `model(x)`.
    pub(super) fn beside_called(&self, text: Text<'_>, model: &Call, other: &Call) -> Option<Self> {
        let (model, other) = (chain(text, model.callee_range)?, chain(text, other.callee_range)?);
        self.named_beside(text, &model, &other)
    }

    fn named_beside(&self, text: Text<'_>, model: &Chain, other: &Chain) -> Option<Self> {
        let Self::Model(known) = self else { return None };
        if *model == *known {
            return (model.variable.scope == other.variable.scope).then(|| Self::Model(other.clone()));
        }
        if model.variable != other.variable {
            return None;
        }
        let root = text.module.variable_name(model.variable);
        let owner = known.text.strip_suffix(model.text.strip_prefix(root)?)?;
        let attributes = other.text.strip_prefix(root)?;
        Some(Self::Model(Chain { text: format!("{owner}{attributes}"), ..known.clone() }))
    }

    /// The model whose variables an argument gives, if it is one.
    fn of_model(job: &Job<'_>, file: FileId, argument: &Argument) -> Option<Self> {
        let mut parts = Parts::default();
        decompose(job, job.text(file)?, argument.value, argument.range, &mut parts)?;
        let mut found = parts.found;
        found.pop().filter(|own| found.is_empty() && matches!(own, Self::Model(_)))
    }

    /// The variables that an argument gives: whole models where it takes a model's variables.
    pub(super) fn of_argument(job: &Job<'_>, file: FileId, argument: &Argument) -> Option<Vec<Self>> {
        let text = job.text(file)?;
        let mut parts = Parts::default();
        if decompose(job, text, argument.value, argument.range, &mut parts).is_some() {
            return Some(parts.found);
        }
        let chain = chain(text, argument.range);
        if job.facts.may_be(file, argument.value, Kind::Variable) {
            return Some(vec![Self::Each(vec![chain?])]);
        }
        Some(vec![match chain {
            Some(chain) => Self::All(chain),
            None => Self::Text(text.slice(argument.range).to_owned()),
        }])
    }
}

/// The parts of a list of variables that have been found, and the names that have been looked up for them.
#[derive(Default)]
struct Parts {
    found: Vec<Spoken>,
    seen: FxHashSet<ValueId>,
}

/// The parts of a list of variables; `None` if it is made in another way.
fn decompose(
    job: &Job<'_>,
    text: Text<'_>,
    value: ValueId,
    written: TextRange,
    parts: &mut Parts,
) -> Option<()> {
    let facts = job.facts;
    let evaluation = text.module.value(value);
    let is_here = written.contains_range(evaluation.range);
    match &evaluation.value {
        Value::Attribute { base, .. } => {
            if !has_variables(job, text.file, *base) {
                return None;
            }
            let whole = chain(text, evaluation.range)?;
            if !is_here && !whole.is_bound_once(text) {
                return None;
            }
            let (owner, _) = whole.text.rsplit_once('.')?;
            parts.found.push(Spoken::Model(Chain { text: owner.to_owned(), ..whole.clone() }));
        }
        // `chosen`, which is bound in one place.
        Value::Cell(variable) => {
            // `chosen = chosen[1:]`
            if !parts.seen.insert(value) {
                return None;
            }
            let mut bound = text.module.definitions.iter().filter(|own| own.variable == *variable);
            let only = bound.next().filter(|_| bound.next().is_none())?;
            let range = text.module.value(only.value).range;
            decompose(job, text, only.value, range, parts)?;
        }
        // Those of a model that are not trained have to be equal, too: `model.trainable_variables[-2:]`.
        Value::Slice { base, .. } => decompose(job, text, *base, written, parts)?,
        Value::Display(_, elements)
            if let [Element::Any(element)] = **elements
                && let Value::Iteration(base) = text.module.value(element).value =>
        {
            decompose(job, text, base, written, parts)?;
        }
        Value::Operator { left, right, .. }
            if is_here || evaluation.scope != crate::semantic::Module::TOP =>
        {
            let range = if is_here { written } else { evaluation.range };
            decompose(job, text, *left, range, parts)?;
            decompose(job, text, *right, range, parts)?;
        }
        Value::Display(_, elements) if is_here => {
            let mut each = Vec::new();
            for element in elements {
                match element {
                    Element::At(_, value) if facts.may_be(text.file, *value, Kind::Variable) => {
                        each.push(named(text, written, *value)?);
                    }
                    Element::Spread(value) => decompose(job, text, *value, written, parts)?,
                    _ => return None,
                }
            }
            if !each.is_empty() {
                parts.found.push(Spoken::Each(each));
            }
        }
        _ => return None,
    }
    Some(())
}

/// Whether a value has all its variables under one name: a model, a layer, or another module of TensorFlow that leaves that to
/// TensorFlow.
fn has_variables(job: &Job<'_>, file: FileId, owner: ValueId) -> bool {
    let facts = job.facts;
    let is_module = |class: ClassRef| {
        facts.library_base(class).is_some_and(|own| own.name() == MODULE)
            && ALL_VARIABLES.iter().all(|name| facts.method(class, name).is_none())
    };
    facts.may_be(file, owner, Kind::Model)
        || facts.may_be(file, owner, Kind::Layer)
        || facts
            .objects(file, owner)
            .any(|(_, own)| matches!(own, Object::Instance(class, _) if is_module(class)))
}

/// The class of modules, and the attributes that tell its variables.
const MODULE: &str = "tensorflow.Module";
const ALL_VARIABLES: [&str; 2] = ["variables", "trainable_variables"];

/// The name by which a value is read within a range.
fn named(text: Text<'_>, within: TextRange, value: ValueId) -> Option<Chain> {
    let evaluation = text.module.value(value);
    if within.contains_range(evaluation.range)
        && let Some(chain) = chain(text, evaluation.range)
    {
        return Some(chain);
    }
    let reading = text
        .module
        .uses
        .iter()
        .find(|reading| reading.value == value && within.contains_range(reading.range))?;
    chain(text, reading.range)
}

/// What a method is called on.
fn receiver(text: Text<'_>, call: &Call) -> Option<Chain> {
    let callee = text.slice(call.callee_range);
    let length = callee.rfind('.')?;
    let end = call.callee_range.start() + TextSize::try_from(length).ok()?;
    chain(text, TextRange::new(call.callee_range.start(), end))
}

/// The chain that stands at a place.
fn chain(text: Text<'_>, range: TextRange) -> Option<Chain> {
    if !text.is_chain(range) {
        return None;
    }
    let index = text.module.uses.binary_search_by_key(&range.start(), |reading| reading.range.start());
    let reading = match index {
        Ok(index) => &text.module.uses[index],
        // Uses are in the order of evaluation, which is not always that of the source.
        Err(_) => text.module.uses.iter().find(|reading| reading.range.start() == range.start())?,
    };
    Some(Chain { file: text.file, variable: reading.variable?, text: text.slice(range).to_owned() })
}

impl Chain {
    /// Whether its variable is bound in one place only, so that it means the same everywhere.
    fn is_bound_once(&self, text: Text<'_>) -> bool {
        let mut bindings =
            text.module.definitions.iter().filter(|definition| definition.variable == self.variable);
        bindings.next().is_some() && bindings.next().is_none()
    }

    /// The parameter of code that its variable is.
    fn parameter(&self, job: &Job<'_>, code: Caller) -> Option<ValueId> {
        let module = job.facts.module(self.file);
        let ScopeKind::Function(function) = module.scope(self.variable.scope).kind else { return None };
        let name = module.variable_name(self.variable);
        let mut parameters = module.function(function).parameters.iter();
        let own = parameters.find(|own| module.names.text(own.name) == name)?;
        (self.file == code.file && self.variable.scope == code.scope).then_some(own.value)
    }

    /// Whether its variable is a parameter of code that stands for several objects which the program makes.
    fn may_be_several(&self, job: &Job<'_>, code: Caller) -> bool {
        let parameter = self.parameter(job, code);
        parameter.is_some_and(|parameter| made_in(job, (self.file, parameter)).count() > 1)
    }

    /// Whether its variable is bound to several objects in a stretch of code.
    fn changes_within(&self, job: &Job<'_>, range: TextRange) -> bool {
        let definitions = job.facts.module(self.file).definitions.iter();
        let bound =
            definitions.filter(|own| own.variable == self.variable && range.contains_range(own.range));
        let objects: FxHashSet<ObjectId> =
            bound.flat_map(|own| made_in(job, (self.file, own.value))).collect();
        objects.len() > 1
    }

    /// What a call gives for it, if it is a parameter of the function that is called.
    fn handed<'j>(&self, job: &Job<'j>, callee: Caller, file: FileId, call: CallId) -> Option<&'j Argument> {
        self.parameter(job, callee)?;
        let module = job.facts.module(self.file);
        let ScopeKind::Function(function) = module.scope(callee.scope).kind else { return None };
        let name = module.variable_name(self.variable);
        let mut parameters = module.function(function).parameters.iter();
        let position = parameters.position(|own| module.names.text(own.name) == name)?;
        let call = job.facts.module(file).call(call);
        let position = position.checked_sub(is_method(job, (self.file, function), file, call).into())?;
        (self.text == name).then(|| given_for(job, name, position, file, call))?
    }

    fn at_call(&self, job: &Job<'_>, callee: Caller, file: FileId, call: CallId) -> Option<Self> {
        let module = job.facts.module(self.file);
        let caller = Caller { file, scope: job.facts.module(file).call(call).scope };
        if self.variable.scope != callee.scope {
            let sees = file == self.file && is_within(job, caller, self.variable.scope);
            return sees.then(|| self.clone());
        }
        let ScopeKind::Function(function) = module.scope(callee.scope).kind else { return None };
        let text = job.text(self.file)?;
        if !self.is_bound_once(text) {
            return None;
        }
        let root = module.variable_name(self.variable);
        let rest = self.text.strip_prefix(root)?;
        let argument = argument_for(job, self.file, function, root, file, call)?;
        Some(Self { text: format!("{}{rest}", argument.text), ..argument })
    }
}

/// What a call gives for a parameter of the function that it calls.
fn argument_for(
    job: &Job<'_>,
    of: FileId,
    function: FunctionId,
    parameter: &str,
    file: FileId,
    call: CallId,
) -> Option<Chain> {
    let module = job.facts.module(of);
    let data = module.function(function);
    let position = data.parameters.iter().position(|own| module.names.text(own.name) == parameter)?;
    let text = job.text(file)?;
    let call = job.facts.module(file).call(call);
    let is_method = is_method(job, (of, function), file, call);
    if is_method && position == 0 {
        return receiver(text, call);
    }
    given_for(job, parameter, position - usize::from(is_method), file, call)
        .and_then(|own| chain(text, own.range))
}

/// Whether a call gives its receiver for the first parameter of a function.
fn is_method(job: &Job<'_>, (of, function): (FileId, FunctionId), file: FileId, call: &Call) -> bool {
    let data = job.facts.module(of).function(function);
    data.class.is_some() && data.decorators.is_empty() || is_bound(job, file, call)
}

/// The argument of a call for a parameter, by name or at a position.
fn given_for<'c>(
    job: &Job<'_>,
    parameter: &str,
    position: usize,
    file: FileId,
    call: &'c Call,
) -> Option<&'c Argument> {
    let names = &job.facts.module(file).names;
    let keyword = call
        .arguments
        .iter()
        .find(|argument| matches!(argument.passing, Passing::Keyword(name) if names.text(name) == parameter));
    keyword.or_else(|| {
        let positional = call.arguments.iter().take_while(|own| own.passing == Passing::Positional);
        positional.clone().nth(position)
    })
}

/// The objects that a value may be and that the program makes.
fn made_in<'j>(job: &'j Job<'_>, (file, value): Place) -> impl Iterator<Item = ObjectId> + 'j {
    let objects = job.facts.solution.values(file, value).iter().copied();
    objects.filter(|&own| job.facts.made_at(own).is_some_and(|(file, call)| job.runs(file, call)))
}

/// Whether a call's callee is a method bound to its receiver.
fn is_bound(job: &Job<'_>, file: FileId, call: &Call) -> bool {
    let Some(receiver) = job.facts.receiver(file, call) else { return false };
    job.facts
        .objects(file, receiver)
        .any(|(_, object)| matches!(object, crate::program::Object::Instance(..)))
}

/// Whether code of a scope sees the variables of another one.
fn is_within(job: &Job<'_>, caller: Caller, scope: ScopeId) -> bool {
    let module = job.facts.module(caller.file);
    let mut around = Some(caller.scope);
    while let Some(own) = around {
        if own == scope {
            return true;
        }
        around = module.scope(own).parent;
    }
    false
}
