//! The rates of a schedule grow with the number of ranks; the optimizer that takes the schedule is not scaled again.
//!
//! The seed's rules for `LearningRateSchedule`, `PiecewiseConstantDecay` and `exponential_decay` (section 2.3). A
//! schedule can't be multiplied: its initial rate, or what a class of the program's own returns, is. The steps that it counts are
//! divided where those of the program are (`horovod.md`, L6).

use rustc_hash::FxHashSet;

use super::distribution_rule;
use super::job::Job;
use super::learning_rate::rates;
use super::learning_rate::shared_rates::{self, Shared};
use super::ranked::knows_size;
use super::step::Step;
use super::steps::are_all_divided;
use crate::api::{Kind, Symbol};
use crate::finding::{Edit, Finding};
use crate::program::{ClassRef, Object, ObjectId, Place};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{
    Argument, CallId, Container, Element, Passing, ScopeKind, StatementKind, Value, ValueId,
};
use crate::syntax::TextRange;

distribution_rule!("HVD203", "schedule-not-scaled", steps);

fn steps(job: &Job<'_>) -> Vec<Step> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let schedules = schedules(job);
    let shared = shared(job);
    for &schedule in &schedules {
        let step = match job.facts.solution.object(schedule) {
            Object::Instance(class, _) => own(job, schedule, class, &schedules),
            _ => job.facts.creation(schedule).and_then(|made| {
                let mut classes = job.facts.called_symbols(made.file, made.call);
                let class = classes.find(|symbol| rates::scaled(symbol).next().is_some())?;
                of_library(job, made.file, made.call, class, &shared)
            }),
        };
        if let Some(step) = step
            && seen.insert(step.finding.primary.location)
        {
            found.push(step);
        }
    }
    for optimizer in rates::stepping(job) {
        for parameter in rates::scaled(optimizer.class) {
            let rate = rates::given(job, optimizer.made, optimizer.class, parameter);
            let decays =
                rate.map_or_else(Vec::new, |rate| rates::decays(job, (optimizer.made.file, rate.value)));
            let decays = decays
                .into_iter()
                .filter_map(|(file, call, decay)| of_library(job, file, call, decay, &shared));
            found.extend(decays.filter(|step| seen.insert(step.finding.primary.location)));
        }
    }
    found
}

/// The numbers that optimizers step by where no schedule is made of them.
fn shared(job: &Job<'_>) -> Vec<Shared> {
    let mut found = Vec::new();
    for optimizer in rates::stepping(job) {
        for parameter in rates::scaled(optimizer.class) {
            if let Some(argument) = rates::given(job, optimizer.made, optimizer.class, parameter) {
                found.extend(shared_rates::shared(job, (optimizer.made.file, argument.value)));
            }
        }
    }
    found
}

/// The schedules that optimizers take; one inside of another is scaled with it.
fn schedules(job: &Job<'_>) -> Vec<ObjectId> {
    let facts = job.facts;
    let mut found: Vec<ObjectId> = Vec::new();
    for optimizer in rates::stepping(job) {
        for parameter in rates::scaled(optimizer.class) {
            if let Some(argument) = rates::given(job, optimizer.made, optimizer.class, parameter) {
                found.extend(facts.of_kind(optimizer.made.file, argument.value, Kind::Schedule));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn finding(job: &Job<'_>, file: FileId, call: CallId) -> Finding {
    let message = "the rates of the schedule do not grow with the number of ranks";
    Step::missing(&RULE.rule, job.at_call(file, call), message)
        .here("rates for one rank")
        .help("multiply the initial rate by the number of ranks: `* hvd.size()`")
        .in_scope(job.scope_of(file, call))
}

/// A schedule of the library: the arguments that are rates.
fn of_library(job: &Job<'_>, file: FileId, call: CallId, class: &Symbol, shared: &[Shared]) -> Option<Step> {
    let facts = job.facts;
    let finding = finding(job, file, call);
    let call = facts.module(file).call(call);
    let code = job.code(file, call.scope);
    if call.arguments.iter().any(|argument| matches!(argument.passing, Passing::Spread | Passing::Merge)) {
        let reason =
            "Its arguments are unpacked from another object, so that it can't be seen where the rate is.";
        return Some(Step::blocked(finding, reason));
    }
    let text = job.text(file)?;
    let size = code.size();
    let mut edits: Vec<Edit> = Vec::new();
    for parameter in rates::scaled(class) {
        match facts.argument(file, call, class, parameter) {
            Some(argument) if knows_size(job, &[(file, argument.value)]) => return None,
            // It grows where it is bound.
            Some(argument) if shared.iter().any(|own| own.is_given(job, file, argument)) => {}
            Some(argument) => {
                edits.extend(scaled(job, text, parameter, argument, &size));
            }
            None => {
                let default = class.parameter(parameter).and_then(|parameter| parameter.default());
                if let Some(value) = default.filter(|value| value.parse::<f64>().is_ok()) {
                    edits.push(text.append_argument(call, &format!("{parameter}={value} * {size}")));
                }
            }
        }
    }
    if edits.is_empty() {
        return None;
    }
    let counts = COUNTS.iter().filter_map(|&name| Some((name, facts.argument(file, call, class, name)?)));
    let counts: Vec<_> = counts.filter(|(_, own)| !knows_size(job, &[(file, own.value)])).collect();
    if !counts.is_empty() && are_all_divided(job) {
        let shared_out = |(name, count)| shared_out(job, text, name, count, &size);
        edits.extend(counts.into_iter().flat_map(shared_out));
    }
    Some(code.step(Step::change(finding, "scale the rates of the schedule", edits, vec![code.import])))
}

/// The parameters for numbers of steps, in which a schedule has to come as far on a share of them.
const COUNTS: [&str; 4] = ["decay_steps", "first_decay_steps", "warmup_steps", "boundaries"];

/// The one of them that may be 0.
const WARMUP: &str = "warmup_steps";

/// A number of steps, or each of a list of them, for a share of all steps.
fn shared_out(job: &Job<'_>, text: Text<'_>, name: &str, count: &Argument, size: &str) -> Vec<Edit> {
    if is_list(job, text, name, count.value) {
        return text.wrap(count.range, &format!("[step // {size} for step in "), "]");
    }
    let least = if name == WARMUP { "" } else { " or 1" };
    vec![text.replace(count.range, format!("{} // {size}{least}", text.as_factor(count.range)))]
}

/// Whether an argument is a list, as far as is seen, or for a parameter that takes no number.
fn is_list(job: &Job<'_>, text: Text<'_>, name: &str, value: ValueId) -> bool {
    let is_list = |(_, object)| matches!(object, Object::Container(Container::List | Container::Tuple, _));
    LISTS.contains(&name) || job.facts.objects(text.file, value).any(is_list)
}

/// The parameters of schedules that take lists only.
const LISTS: [&str; 2] = ["boundaries", "values"];

/// A rate, or each of a list of rates.
fn scaled(job: &Job<'_>, text: Text<'_>, name: &str, rate: &Argument, size: &str) -> Vec<Edit> {
    let (value, range) = (rate.value, rate.range);
    if !is_list(job, text, name, value) {
        return text.multiply(range, size);
    }
    if let Value::Display(_, elements) = &text.module.value(value).value {
        let places: Option<Vec<TextRange>> = elements
            .iter()
            .map(|element| match element {
                Element::At(_, value) => {
                    let place = text.module.value(*value).range;
                    range.contains_range(place).then_some(place)
                }
                _ => None,
            })
            .collect();
        if let Some(places) = places {
            return places.into_iter().flat_map(|place| text.multiply(place, size)).collect();
        }
    }
    text.wrap(range, &format!("[rate * {size} for rate in "), "]")
}

/// A schedule of the program's own: what its `__call__` returns; `all` are those that optimizers take.
fn own(job: &Job<'_>, schedule: ObjectId, class: ClassRef, all: &[ObjectId]) -> Option<Step> {
    let facts = job.facts;
    let made = facts.creation(schedule)?;
    let finding = finding(job, made.file, made.call);
    let arguments = &facts.module(made.file).call(made.call).arguments;
    let given: Vec<_> = arguments.iter().map(|argument| (made.file, argument.value)).collect();
    if knows_size(job, &given) {
        return None;
    }
    let is_within = |&(file, value): &Place| facts.objects(file, value).any(|(id, _)| all.contains(&id));
    if given.iter().any(is_within) {
        let reason = "It goes on with another schedule, by which an optimizer may also step alone: the rates of that would \
                      grow twice.";
        return Some(Step::blocked(finding, reason));
    }
    let module = facts.module(class.file);
    let body = module.class(class.class).scope;
    let call = module.functions.iter().find(|function| {
        function.class == Some(class.class)
            && module.names.text(function.name) == "__call__"
            && module.scope(function.scope).parent == Some(body)
    });
    let Some(call) = call else {
        let reason = "The class of the schedule has no `__call__` of its own whose result could be scaled.";
        return Some(Step::blocked(finding, reason));
    };
    let returned: Vec<_> = call.returns.iter().map(|&value| (class.file, value)).collect();
    if knows_size(job, &returned) {
        return None;
    }
    let text = job.text(class.file)?;
    let code = job.code(class.file, call.scope);
    assert!(matches!(module.scope(call.scope).kind, ScopeKind::Function(_)), "a method is a function");
    let statements = module
        .statements
        .iter()
        .filter(|statement| statement.kind == StatementKind::Return && statement.scope == call.scope);
    let edits: Vec<Edit> = statements
        .filter_map(|statement| text.returned_expression(statement.range))
        .flat_map(|range| text.multiply(range, &code.size()))
        .collect();
    let finding = finding.help("multiply what the schedule's `__call__` returns by the number of ranks");
    if edits.is_empty() {
        return None;
    }
    Some(code.step(Step::change(finding, "scale what the schedule returns", edits, vec![code.import])))
}
