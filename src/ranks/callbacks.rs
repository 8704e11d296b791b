//! The callbacks that `fit` is given: which ranks run them, and what they do to the others.

mod filtered;
mod listed;
mod of_one_rank;
mod own;

use rustc_hash::FxHashSet;

use super::guards::{Atom, Guard, Literal};
use super::model::Model;
use super::values::Cause;
use super::write_on_every_rank::{Inputs, is_read_alike};
use super::{out_of_step, replicas_diverge, write_on_every_rank};
use crate::api::{Effect, EffectSet};
use crate::distribute::{Acts, Common, Handed, Job, Ranks};
use crate::finding::{Confidence, Finding, Label, Level, Rule};
use crate::program::{Caller, Facts, LoopKind, Object, ObjectId, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{Argument, BlockId, CallId, Element, Passing, ScopeId, Value, ValueId};
use crate::syntax::TextRange;
pub(super) use filtered::leaves_out;
pub(super) use of_one_rank::of_one_rank;
use own::Own;
pub(super) use own::broadcasts;

/// A callback of a call of `fit`.
struct Given {
    /// What its hooks do.
    effects: EffectSet,
    ranks: Ranks,
    /// What the project's own code in it does.
    own: Own,
    /// Its call, and where it is put among the callbacks under a condition.
    at: (FileId, CallId),
    guard: Guard,
    /// A class of the project's that asks which rank it is on.
    knows_ranks: bool,
    /// The program may leave it out on some ranks, by what it says of itself.
    is_filtered: bool,
}

/// The callbacks that make ranks leave `fit` at different times, or communicate alone.
pub(super) fn out_of_step(model: &Model<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (own, callbacks) in fits(model) {
        let communicates = model.fit_communicates(own.caller.file, own.call);
        let averages = |callback: &Given| callback.effects.contains(Effect::Averages);
        if let Some(average) = callbacks.iter().find(|callback| averages(callback)) {
            found.extend(validates_on_some(model, own, average));
        }
        for callback in &callbacks {
            let stops = callback.effects.contains(Effect::StopsTraining) || callback.own.stops;
            let shares = callback.effects.contains(Effect::Collective) || callback.own.shares;
            if differs(callback) && shares {
                let message = "not all ranks have this callback, which communicates with all of them";
                let help = "give it to all ranks";
                found.push(guarded(model, own, callback, &out_of_step::CHECK.rule, message, help));
            } else if differs(callback) && resumes(callback) && communicates {
                let message = "only some ranks go on at the epoch that this callback kept";
                let help = "give it to all ranks, each with a directory of its own";
                found.push(guarded(model, own, callback, &out_of_step::CHECK.rule, message, help));
            } else if differs(callback) && stops && communicates {
                let message = "not all ranks stop training when this callback does";
                let help = "give it to all ranks, behind `hvd.callbacks.MetricAverageCallback()`";
                found.push(guarded(model, own, callback, &out_of_step::CHECK.rule, message, help));
            } else if stops && communicates && decides_alone(model, own, callback, &callbacks) {
                let finding = alone(
                    model,
                    own,
                    callback,
                    &out_of_step::CHECK.rule,
                    "each rank stops training by its own metrics",
                );
                found.push(finding);
            }
        }
    }
    found
}

/// A call of `fit` that averages the metrics of all ranks, of which some have none of data to validate with.
fn validates_on_some(model: &Model<'_>, own: &TrainingLoop, average: &Given) -> Option<Finding> {
    let facts = model.facts;
    let file = own.caller.file;
    let given = validation_data(facts, own)?;
    let place = model.origins((file, given.value)).last()?;
    let difference = model.difference(place).filter(|own| own.cause == Cause::Rank)?;
    let Value::Phi(parts) = &facts.module(place.0).value(place.1).value else { return None };
    let without = parts.iter().filter(|&&part| facts.is_none(place.0, part)).count();
    if without == 0 || without == parts.len() {
        return None;
    }
    let location = facts.location(file, given.range);
    let averaged = model.at_call(average.at.0, average.at.1);
    let origin = out_of_step::source(model, difference);
    let message = "not all ranks have these metrics, and all of them average what they have";
    let mut finding = Finding::new(&out_of_step::CHECK.rule, Level::Error, location, message)
        .here("only some ranks validate")
        .label(averaged, "averages each metric")
        .help("validate on all ranks")
        .in_scope(facts.scope_name(own.caller));
    finding.flow = vec![
        origin,
        Label { location, message: "only some ranks validate".to_owned() },
        Label { location: averaged, message: "averages each metric".to_owned() },
    ];
    Some(finding)
}

/// The callbacks that change the training of some ranks only.
pub(super) fn diverging(model: &Model<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (own, callbacks) in fits(model) {
        for callback in &callbacks {
            let steers = callback.effects.contains(Effect::SteersTraining)
                && !callback.effects.contains(Effect::StopsTraining)
                && !callback.effects.contains(Effect::Collective);
            let is_out_of_step = resumes(callback) && model.fit_communicates(own.caller.file, own.call);
            if differs(callback) && steers && !is_out_of_step {
                let message = "this callback changes the training of some ranks only";
                let help = "give it to all ranks";
                found.push(guarded(model, own, callback, &replicas_diverge::CHECK.rule, message, help));
            } else if steers && decides_alone(model, own, callback, &callbacks) {
                let message = "each rank changes its training by its own metrics";
                found.push(alone(model, own, callback, &replicas_diverge::CHECK.rule, message));
            }
        }
    }
    found
}

/// The callbacks with which every rank writes the same files.
pub(super) fn writing(model: &Model<'_>, inputs: &Inputs) -> Vec<Finding> {
    let mut found = Vec::new();
    for (own, callbacks) in fits(model) {
        // The callbacks of a rank that trains alone run on it alone.
        if model.guard(own.caller, own.block).is_one() {
            continue;
        }
        for callback in &callbacks {
            let (file, call) = callback.at;
            let made = model.facts.module(file).call(call);
            let maker = Caller { file, scope: made.scope };
            let is_alike = |own: &Argument| is_read_alike(model, inputs, maker, (file, own.value));
            let has_own_path = !made.arguments.iter().all(is_alike);
            if callback.ranks == Ranks::All
                || !callback.guard.is_all()
                || has_own_path
                || callback.knows_ranks
            {
                continue;
            }
            let location = model.at_call(file, call);
            let sureness = if callback.is_filtered { Confidence::Possible } else { Confidence::Certain };
            let mut finding = Finding::new(
                &write_on_every_rank::CHECK.rule,
                Level::Warning,
                location,
                "every rank writes the files of this callback",
            )
            .confidence(sureness)
            .here("each rank writes")
            .label(model.facts.location(own.caller.file, own.range), "each rank runs it")
            .help("give it to rank 0 only: `if hvd.rank() == 0: callbacks.append(...)`")
            .in_scope(model.scope_of(file, call));
            finding.flow = vec![
                Label { location, message: "made on each rank".to_owned() },
                Label {
                    location: model.facts.location(own.caller.file, own.range),
                    message: "run on each rank".to_owned(),
                },
            ];
            found.push(finding);
        }
    }
    found
}

/// Whether some of the callbacks that a call of `fit` is given can't be followed, or are of a library that nobody knows.
pub(crate) fn are_unknown(facts: &Facts<'_>, own: &TrainingLoop) -> bool {
    is_any(facts, own, |file, value| facts.is_unknown(file, value) || facts.may_be_foreign(file, value))
}

/// Whether one of the callbacks that a call of `fit` is given may broadcast though that can't be seen: it can't be followed,
/// or a library that nobody knows makes it of Horovod or of the rank to broadcast from.
pub(crate) fn may_broadcast(facts: &Facts<'_>, own: &TrainingLoop) -> bool {
    is_any(facts, own, |file, value| facts.is_unknown(file, value) || is_told_of_horovod(facts, file, value))
}

/// The parameter of Horovod's own callback that says which rank to broadcast from.
const ROOT: &str = "root_rank";

/// Whether a library that nobody knows makes a value of Horovod's module, or of the rank to broadcast from.
fn is_told_of_horovod(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    let is_horovod = |(_, object): (ObjectId, Object)| {
        facts.symbol(object).is_some_and(|own| own.is_module() && own.package() == HOROVOD)
    };
    facts.objects(file, value).any(|(id, object)| {
        matches!(object, Object::Created(..))
            && facts.symbol(object).is_none()
            && facts.made_at(id).is_some_and(|(of, made)| {
                let module = facts.module(of);
                module.call(made).arguments.iter().any(|own| match own.passing {
                    Passing::Keyword(name) if module.names.text(name) == ROOT => true,
                    _ => facts.objects(of, own.value).any(is_horovod),
                })
            })
    })
}

/// The package of Horovod.
const HOROVOD: &str = "horovod";

/// Whether something is so of what a call of `fit` is given for its callbacks, or of one of them.
fn is_any(facts: &Facts<'_>, own: &TrainingLoop, is: impl Fn(FileId, ValueId) -> bool) -> bool {
    let file = own.caller.file;
    let call = facts.module(file).call(own.call);
    let mut takers =
        facts.called_symbols(file, own.call).filter(|symbol| symbol.parameter("callbacks").is_some());
    let Some(symbol) = takers.next() else { return false };
    let Some(given) = facts.argument(file, call, symbol, "callbacks") else {
        return call.arguments.iter().any(|own| matches!(own.passing, Passing::Spread | Passing::Merge));
    };
    is(file, given.value)
        || facts.objects(file, given.value).any(|(_, object)| {
            let Object::Container(_, node) = object else { return false };
            facts.solution.origin(node).is_some_and(|(file, list)| {
                let Value::Display(_, elements) = &facts.module(file).value(list).value else { return false };
                elements.iter().any(|element| match *element {
                    Element::At(_, value) | Element::Any(value) => is(file, value),
                    _ => false,
                })
            })
        })
}

/// Whether only some ranks have a callback.
fn differs(callback: &Given) -> bool {
    !callback.guard.is_all()
}

/// Whether a callback begins where an earlier run was interrupted, at its weights and its epoch.
fn resumes(callback: &Given) -> bool {
    [Effect::LoadsWeights, Effect::SteersTraining].into_iter().all(|own| callback.effects.contains(own))
}

/// Whether a callback decides by metrics that are not averaged: there is no average, or it comes later.
fn decides_alone(model: &Model<'_>, own: &TrainingLoop, callback: &Given, all: &[Given]) -> bool {
    let monitored = monitored(model, callback);
    if !callback.guard.is_all() || !(callback.own.stops_by_metrics || monitored.is_some()) {
        return false;
    }
    let mut averages = all.iter().filter(|other| other.effects.contains(Effect::Averages));
    match averages.next() {
        // Data to validate with may well be the same on all ranks.
        None => {
            callback.own.stops_by_metrics
                || monitored.is_some_and(|metric| !is_of_validation(&metric) || validates_on_part(model, own))
        }
        Some(average) => listed::comes_later(model.facts, average.at, callback.at),
    }
}

/// Whether each rank validates with a part of the data that its number chooses.
fn validates_on_part(model: &Model<'_>, own: &TrainingLoop) -> bool {
    let facts = model.facts;
    validation_data(facts, own).is_some_and(|given| {
        let whole = (own.caller.file, given.value);
        let mut parts = std::iter::once(whole).chain(facts.influence().operands(whole));
        parts.any(|part| {
            model.difference(part).is_some_and(|own| facts.gives(own.source, &[Effect::ReadsRank]))
        })
    })
}

/// What a call of `fit` is given to validate with.
fn validation_data<'f>(facts: &Facts<'f>, own: &TrainingLoop) -> Option<&'f Argument> {
    let file = own.caller.file;
    let call = facts.module(file).call(own.call);
    let mut symbols = facts.called_symbols(file, own.call);
    symbols.find_map(|symbol| facts.argument(file, call, symbol, "validation_data"))
}

/// The metric that a callback of the library watches.
fn monitored(model: &Model<'_>, callback: &Given) -> Option<String> {
    let (file, call) = callback.at;
    if !callback.effects.contains(Effect::ReadsMetrics) {
        return None;
    }
    let data = model.facts.module(file).call(call);
    let symbols = model.facts.called_symbols(file, call);
    let mut monitors = symbols.filter_map(|symbol| match model.facts.argument(file, data, symbol, MONITOR) {
        Some(argument) => model.text((file, argument.value)),
        None => symbol.parameter(MONITOR)?.default().map(str::to_owned),
    });
    monitors.next().map(|monitor| monitor.trim_matches(['\'', '"']).to_owned())
}

/// Whether a metric is of data to validate with.
fn is_of_validation(metric: &str) -> bool {
    metric.starts_with(OF_VALIDATION)
}

/// The parameter that names the metric which a callback decides by.
const MONITOR: &str = "monitor";
/// How the names of metrics of validation data begin.
const OF_VALIDATION: &str = "val";

fn guarded(
    model: &Model<'_>,
    own: &TrainingLoop,
    callback: &Given,
    rule: &'static Rule,
    message: &str,
    help: &str,
) -> Finding {
    let (file, call) = callback.at;
    let is_number = callback.guard.0.iter().any(|literal| matches!(literal.atom, Atom::Is(..)));
    let level = if is_number { Level::Error } else { Level::Warning };
    let of_rank = |literal: &Literal| matches!(literal.atom, Atom::Is(..) | Atom::True(_, Cause::Rank));
    let sureness =
        if callback.guard.0.iter().any(of_rank) { Confidence::Certain } else { Confidence::Possible };
    let location = model.at_call(file, call);
    let fit = model.facts.location(own.caller.file, own.range);
    let mut finding = Finding::new(rule, level, location, message)
        .confidence(sureness)
        .here("only some ranks have it")
        .label(fit, "all ranks train")
        .help(help)
        .in_scope(model.scope_of(file, call));
    finding.flow = vec![
        Label { location, message: "only some ranks have it".to_owned() },
        Label { location: fit, message: "all ranks train".to_owned() },
    ];
    finding
}

fn alone(
    model: &Model<'_>,
    own: &TrainingLoop,
    callback: &Given,
    rule: &'static Rule,
    message: &str,
) -> Finding {
    let (file, call) = callback.at;
    let location = model.at_call(file, call);
    let fit = model.facts.location(own.caller.file, own.range);
    let mut finding = Finding::new(rule, Level::Warning, location, message)
        .here("decides by this rank's metrics")
        .label(fit, "all ranks train together")
        .help("put `hvd.callbacks.MetricAverageCallback()` in front of it")
        .in_scope(model.scope_of(file, call));
    finding.flow = vec![
        Label { location: fit, message: "each rank has metrics of its own".to_owned() },
        Label { location, message: "decides by them".to_owned() },
    ];
    finding
}

/// The calls of `fit` with their callbacks.
fn fits<'m>(model: &'m Model<'_>) -> Vec<(&'m TrainingLoop, Vec<Given>)> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let common = Common::default();
    for &program in &model.programs {
        let Some(job) = Job::new(model.facts, model.texts, program, &model.traced, &common) else { continue };
        for own in program.loops.iter().filter(|own| own.kind == LoopKind::KerasFit) {
            if !seen.insert((own.caller.file, own.call)) || model.unreached.is_loop(model.facts, own) {
                continue;
            }
            let Some(handed) = Handed::of(&job, own) else { continue };
            let given =
                handed.callbacks.iter().filter_map(|&object| given(model, &job, own, &handed, object));
            found.push((own, given.collect()));
        }
    }
    found
}

fn given(
    model: &Model<'_>,
    job: &Job<'_>,
    own: &TrainingLoop,
    handed: &Handed<'_>,
    object: ObjectId,
) -> Option<Given> {
    let at = model.facts.made_at(object)?;
    let made = model.facts.module(at.0).call(at.1);
    if model.unreached.is_block(Caller { file: at.0, scope: made.scope }, made.block) {
        return None;
    }
    let acts = Acts::of(job, object);
    let guard = entry_guard(model, own, handed, object, at)?;
    let is_filtered = filtered::may_be_left_out(model, handed, object);
    let (knows_ranks, own) = (own::knows_ranks(model, object), Own::of(model, object));
    Some(Given { effects: acts.effects, ranks: acts.ranks(), own, at, guard, knows_ranks, is_filtered })
}

/// Which ranks put a callback among those of `fit`, as compared with those that train; `None` if none of several does.
fn entry_guard(
    model: &Model<'_>,
    own: &TrainingLoop,
    handed: &Handed<'_>,
    object: ObjectId,
    (file, call): (FileId, CallId),
) -> Option<Guard> {
    let facts = model.facts;
    let may_be = |file: FileId, value| facts.solution.values(file, value).contains(&object);
    let mut entries = vec![(file, facts.module(file).call(call).scope, facts.module(file).call(call).range)];
    let mut later = Vec::new();
    for &(file, value) in &handed.behind {
        let module = facts.module(file);
        let evaluation = module.value(value);
        if let Value::Display(_, elements) = &evaluation.value
            && elements.iter().any(|element| match *element {
                Element::At(_, value) | Element::Any(value) => may_be(file, value),
                _ => false,
            })
        {
            later.push((file, evaluation.scope, evaluation.range));
        }
    }
    let files: FxHashSet<FileId> = handed.behind.iter().map(|&(file, _)| file).collect();
    for &file in &files {
        for (index, data) in facts.module(file).calls.iter().enumerate() {
            let keeps = facts
                .callees(file, CallId::new(index))
                .iter()
                .any(|edge| matches!(facts.solution.object(edge.callee), Object::BuiltinMethod(..)));
            if keeps
                && facts.receiver(file, data).is_some_and(|list| handed.behind.contains(&(file, list)))
                && data.arguments.iter().any(|argument| may_be(file, argument.value))
            {
                later.push((file, data.scope, data.range));
            }
        }
    }
    // What is made under a condition is put there under it; what is made before may still be.
    if !later.is_empty() && guard_at(model, entries[0]).is_none_or(|guard| guard.is_all()) {
        entries = later;
    }
    let evaluated: Vec<(Caller, BlockId)> =
        entries.into_iter().filter_map(|entry| evaluated_at(model, entry)).collect();
    let is_reached = |&&(caller, block): &&(Caller, BlockId)| !model.unreached.is_block(caller, block);
    let mut guards = evaluated.iter().filter(is_reached).map(|&(caller, block)| model.guard(caller, block));
    let Some(first) = guards.next() else { return evaluated.is_empty().then(Guard::default) };
    let joined = guards
        .fold(first, |joined, other| Guard(joined.0.into_iter().filter(|own| other.implies(own)).collect()));
    let training = model.guard(own.caller, own.block);
    Some(Guard(joined.0.into_iter().filter(|literal| !training.implies(literal)).collect()))
}

/// What is known of the ranks that evaluate an expression.
fn guard_at(model: &Model<'_>, expression: (FileId, ScopeId, TextRange)) -> Option<Guard> {
    evaluated_at(model, expression).map(|(caller, block)| model.guard(caller, block))
}

/// The block that evaluates an expression.
fn evaluated_at(
    model: &Model<'_>,
    (file, scope, range): (FileId, ScopeId, TextRange),
) -> Option<(Caller, BlockId)> {
    let module = model.facts.module(file);
    let calls = module.calls.iter().filter(|call| range.contains_range(call.range) && call.scope == scope);
    let uses = module.uses.iter().filter(|own| range.contains_range(own.range) && own.scope == scope);
    let block = calls.map(|call| call.block).chain(uses.map(|own| own.block)).next()?;
    Some((Caller { file, scope }, block))
}
