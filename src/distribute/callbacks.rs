//! Each call of `fit` begins with the variables of rank 0.
//!
//! The seed's rule `fit` (section 2.3), but with one list that begins with the broadcast, and with the program's own
//! callbacks where they belong: those that act on metrics act on averages, on all ranks.

use super::broadcast::sent::is_broadcast;
use super::callback::{Acts, Handed, Ranks, hooks};
use super::distribution_rule;
use super::job::Job;
use super::keras::{Given, written};
use super::optimizer::forms;
use super::step::Step;
use super::untracked::untracked;
use crate::api::{Effect, Kind};
use crate::finding::{Confidence, Edit, Finding};
use crate::program::{Literal, Object, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::ranks::{has_callback_that_may_broadcast, has_unknown_callback};
use crate::rewrite::Text;
use crate::semantic::{Argument, CallId, Container, Element, Value};
use crate::syntax::{TextRange, TextSize, text_size};

distribution_rule!("HVD207", "fit-without-broadcast", steps);

fn steps(job: &Job<'_>) -> Vec<Step> {
    let loops = job.program.loops.iter();
    loops
        .filter(|own| job.is_fit(own))
        .filter(|own| !forms::is_of_others(job, own))
        .filter_map(|own| step(job, own))
        .collect()
}

/// Whether a loop has a step to make that puts its callbacks into a new list.
pub(super) fn makes_list(job: &Job<'_>, own: &TrainingLoop) -> bool {
    step(job, own).is_some()
}

/// Why a callback that nobody knows stands in the way.
const UNKNOWN: &str = "It can't be seen what all of the callbacks are: one that writes belongs on rank 0, and one that decides by metrics \
                       behind their average.";

/// Why weights that a callback keeps differ.
const KEEPS_OWN: &str = "A callback copies the weights when training begins, before the first batch, behind which they are broadcast: each \
     rank would put back copies of its own.";

/// Why the callback that broadcasts is not enough.
const UNTRACKED: &str = "The step trains a model that is no attribute of the one that `fit` is called on: the callback broadcasts the \
     variables of attributes alone.";

/// Why a callback can't be left to all ranks, nor to one.
const SAVES_ON_ALL: &str = "One of the callbacks saves the model, which rank 0 alone should do, and acts on the training, which all ranks \
     have to do: give each a callback of its own.";

fn step(job: &Job<'_>, own: &TrainingLoop) -> Option<Step> {
    let handed = Handed::of(job, own)?;
    let acts: Vec<Acts> = handed.callbacks.iter().map(|&callback| Acts::of(job, callback)).collect();
    let broadcasts = acts.iter().any(|acts| acts.effects.contains(Effect::Broadcasts));
    let wants_average = !averages(&acts) && want_average(&acts);
    if broadcasts || is_broadcast(job, own) {
        return if wants_average { average(job, own, &handed) } else { None };
    }
    let is_unseen = match handed.given {
        Given::Nothing => false,
        Given::Hidden => true,
        Given::Argument(argument) => job.facts.is_unknown(own.caller.file, argument.value),
    };
    if job.program.already_distributed && (is_unseen || has_callback_that_may_broadcast(job.facts, own)) {
        return None;
    }
    let finding = finding(job, own);
    let file = own.caller.file;
    for (acts, &callback) in acts.iter().zip(&handed.callbacks) {
        if acts.stops_alone() {
            return Some(decides_alone(job, own, callback, &OF_NAN));
        }
        if acts.steers_alone() {
            return Some(decides_alone(job, own, callback, &OF_RANK));
        }
        if acts.saves_on_all() {
            return Some(Step::blocked(finding, SAVES_ON_ALL));
        }
    }
    if !job.program.already_distributed
        && matches!(handed.given, Given::Argument(_))
        && has_unknown_callback(job.facts, own)
    {
        return Some(Step::blocked(finding, UNKNOWN));
    }
    if let Some((of, call)) = untracked(job, own) {
        let made = job.at_call(of, call);
        return Some(Step::blocked(finding.label(made, "trained, and no part of the model"), UNTRACKED));
    }
    if let Some((of, call)) = kept_weights(job, &handed) {
        let copied = job.at_call(of, call);
        return Some(Step::blocked(finding.label(copied, "copies what is not broadcast yet"), KEEPS_OWN));
    }
    let text = job.text(file)?;
    let (hvd, import) = job.horovod_keras(file);
    let mut new = vec![format!("{hvd}.callbacks.BroadcastGlobalVariablesCallback(0)")];
    if wants_average || is_unseen {
        new.push(format!("{hvd}.callbacks.MetricAverageCallback()"));
    }
    let first = new.join(", ");
    let mut uses = vec![import];
    let edits = match handed.given {
        Given::Hidden => {
            let reason = "The callbacks may be among the arguments that `*` or `**` gives.";
            return Some(Step::blocked(finding, reason));
        }
        Given::Nothing => {
            vec![text.append_argument(text.module.call(own.call), &format!("callbacks=[{first}]"))]
        }
        Given::Argument(argument) => match form(job, text, argument) {
            Form::None => vec![text.replace(argument.range, format!("[{first}]"))],
            Form::Display { at, in_front, behind } => {
                let between =
                    if in_front.is_empty() { ", ".to_owned() } else { format!("{behind}{in_front}") };
                let added = format!("{in_front}{}{behind}", new.join(&between));
                vec![text.insert(at, added)]
            }
            Form::Tuple(open, close) => {
                vec![text.replace(open, format!("[{first}, ")), text.replace(close, "]")]
            }
            Form::List { parenthesised: false } => {
                vec![text.insert(argument.range.start(), format!("[{first}] + "))]
            }
            Form::List { parenthesised: true } => text.wrap(argument.range, &format!("[{first}] + ("), ")"),
            Form::Elements => text.wrap(argument.range, &format!("[{first}, *"), "]"),
            Form::One(Ranks::First) => {
                let (rank, import) = job.horovod(file);
                uses.push(import);
                let behind = format!("] if {rank}.rank() == 0 else [])]");
                text.wrap(argument.range, &format!("[{first}, *(["), &behind)
            }
            Form::One(_) => text.wrap(argument.range, &format!("[{first}, "), "]"),
            Form::Any { parenthesised } => {
                let (open, close) = if parenthesised { ("(", ")") } else { ("", "") };
                text.wrap(argument.range, &format!("[{first}, {open}"), &format!("{close} or []]"))
            }
            Form::Unfit => {
                let reason = "A `CallbackList` can't be put into a list of callbacks: give `fit` a list.";
                return Some(Step::blocked(finding, reason));
            }
        },
    };
    Some(Step::change(finding, "broadcast the variables by a callback", edits, uses))
}

/// Whether one of some callbacks averages the metrics of an epoch.
fn averages(all: &[Acts]) -> bool {
    all.iter().any(|acts| acts.effects.contains(Effect::Averages))
}

/// Whether one of some callbacks acts on the metrics of an epoch.
fn want_average(all: &[Acts]) -> bool {
    all.iter().any(|acts| acts.acts_on_metrics())
}

/// The metrics that hooks of the program are given as they are on each rank: of an epoch, where nothing averages them.
pub(super) fn unaveraged_metrics(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let given = job.program.loops.iter().filter(|own| job.is_fit(own)).filter_map(|own| Handed::of(job, own));
    let mut found = Vec::new();
    for handed in given {
        let acts: Vec<Acts> = handed.callbacks.iter().map(|&callback| Acts::of(job, callback)).collect();
        if averages(&acts) || want_average(&acts) {
            continue;
        }
        let classes = handed.callbacks.iter().filter_map(|&own| match facts.solution.object(own) {
            Object::Instance(class, _) => Some(class),
            _ => None,
        });
        for (file, hook) in classes.flat_map(|class| hooks(facts, class)) {
            let metrics = facts.module(file).function(hook).parameters.last();
            found.extend(metrics.map(|own| (file, own.value)));
        }
    }
    found
}

/// Where a callback copies the weights of the model before the first batch, if one of its hooks sets weights.
fn kept_weights(job: &Job<'_>, handed: &Handed<'_>) -> Option<(FileId, CallId)> {
    let facts = job.facts;
    let library = facts.library;
    let model = library.lookup("tensorflow.keras.Model")?;
    for &callback in &handed.callbacks {
        let Object::Instance(class, _) = facts.solution.object(callback) else { continue };
        let mut copied = None;
        let mut sets = false;
        for (file, function) in hooks(facts, class) {
            let module = facts.module(file);
            let data = module.function(function);
            let is_early = module.names.text(data.name) == TRAIN_BEGIN;
            let calls = module.calls.iter().enumerate().filter(|(_, call)| call.scope == data.scope);
            for (index, call) in calls {
                let Value::Attribute { name, .. } = module.value(call.callee).value else { continue };
                let Some(method) = library.member(model, module.names.text(name)) else { continue };
                if is_early && method.has(Effect::CopiesWeights) {
                    copied = copied.or(Some((file, CallId::new(index))));
                }
                sets |= method.parameter("weights").is_some() && method.has(Effect::UpdatesState);
            }
        }
        if sets && copied.is_some() {
            return copied;
        }
    }
    None
}

/// The hook that Keras calls before the first batch.
const TRAIN_BEGIN: &str = "on_train_begin";

/// How a callback decides for its own rank.
struct Alone {
    message: &'static str,
    here: &'static str,
    help: &'static str,
    reason: &'static str,
}

const OF_NAN: Alone = Alone {
    message: "this callback ends the training of the rank whose own loss is no number",
    here: "stops one rank",
    help: "take it out, or stop by a metric of the epoch, as `EarlyStopping` does",
    reason: "The other ranks would wait for it for ever.",
};

const OF_RANK: Alone = Alone {
    message: "this callback changes the training by what its own rank finds",
    here: "the ranks would decide differently",
    help: "decide by a metric of the epoch, which `MetricAverageCallback` averages",
    reason: "Nothing averages what a batch gives, or what a callback evaluates itself.",
};

/// A callback that changes or ends the training of one rank.
fn decides_alone(job: &Job<'_>, own: &TrainingLoop, callback: ObjectId, alone: &Alone) -> Step {
    let fit = job.facts.location(own.caller.file, own.range);
    let made = job.facts.made_at(callback).map_or(fit, |(file, call)| job.at_call(file, call));
    let finding = Step::missing(&RULE.rule, made, alone.message)
        .here(alone.here)
        .help(alone.help)
        .label(fit, "trained here");
    Step::blocked(finding, alone.reason)
}

fn finding(job: &Job<'_>, own: &TrainingLoop) -> Finding {
    Step::missing(
        &RULE.rule,
        job.facts.location(own.caller.file, own.range),
        "the ranks begin with different variables, and no callback makes them equal",
    )
    .here("each rank begins with its own")
    .help("put `hvd.callbacks.BroadcastGlobalVariablesCallback(0)` first among the callbacks")
    .in_scope(job.facts.scope_name(own.caller))
}

/// How the callbacks are given.
enum Form {
    /// `None`.
    None,
    /// A list that is written out: where something can be put into it, and what stands around that.
    Display { at: TextSize, in_front: String, behind: String },
    /// A tuple that is written out: its parentheses.
    Tuple(TextRange, TextRange),
    /// An expression for a list.
    List { parenthesised: bool },
    /// An expression for a list or a tuple.
    Elements,
    /// A single callback.
    One(Ranks),
    /// Anything that `fit` takes.
    Any { parenthesised: bool },
    /// Something that no list can hold.
    Unfit,
}

fn form(job: &Job<'_>, text: Text<'_>, argument: &Argument) -> Form {
    let facts = job.facts;
    let file = text.file;
    let evaluation = text.module.value(argument.value);
    let is_here = argument.range.contains_range(evaluation.range);
    if let Value::Display(Container::List, elements) = &evaluation.value
        && is_here
        && !elements.iter().any(|element| matches!(element, Element::Any(_)))
    {
        return display(text, evaluation.range);
    }
    if let Value::Display(Container::Tuple, elements) = &evaluation.value
        && is_here
        && !elements.is_empty()
        && text.slice(evaluation.range).starts_with('(')
    {
        let one = TextSize::from(1);
        let (start, end) = (evaluation.range.start(), evaluation.range.end());
        return Form::Tuple(TextRange::new(start, start + one), TextRange::new(end - one, end));
    }
    let parenthesised = !text.binds_like_a_product(argument.range);
    let objects: Vec<(crate::program::ObjectId, Object)> = facts.objects(file, argument.value).collect();
    let all =
        |wanted: &dyn Fn(Object) -> bool| !objects.is_empty() && objects.iter().all(|&(_, own)| wanted(own));
    let list = facts.library.lookup("tensorflow.keras.callbacks.CallbackList");
    if objects.iter().any(|&(_, own)| facts.symbol(own).is_some_and(|own| Some(own) == list)) {
        return Form::Unfit;
    }
    if all(&|own| own == Object::Literal(Literal::None)) {
        return Form::None;
    }
    if all(&|own| matches!(own, Object::Container(Container::List, _))) {
        return Form::List { parenthesised };
    }
    if all(&|own| matches!(own, Object::Container(Container::List | Container::Tuple, _))) {
        return if parenthesised && !is_here { Form::Any { parenthesised } } else { Form::Elements };
    }
    if objects.iter().all(|&(id, _)| facts.kind(id) == Some(Kind::Callback)) && !objects.is_empty() {
        let writes = objects.iter().all(|&(id, _)| Acts::of(job, id).ranks() == Ranks::First);
        return Form::One(if writes { Ranks::First } else { Ranks::All });
    }
    Form::Any { parenthesised }
}

/// Where new elements of a list that is written out stand: where its own ones stand on lines of their own, so do the
/// new ones, in front of comments but behind one on the first line.
fn display(text: Text<'_>, list: TextRange) -> Form {
    let inside = &text.slice(list)[1..];
    let open = list.start() + TextSize::from(1);
    let first = inside.trim_start();
    if first.starts_with(']') {
        return Form::Display { at: open, in_front: String::new(), behind: String::new() };
    }
    let line = inside.find(['\n', '\r']).unwrap_or(inside.len());
    let is_blank = inside[..line].trim().is_empty() || inside[..line].trim_start().starts_with('#');
    if !is_blank {
        return Form::Display { at: open, in_front: String::new(), behind: ", ".to_owned() };
    }
    let rest = inside[line..].trim_start_matches(['\n', '\r']);
    let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
    Form::Display {
        at: open + text_size(&inside[..line]),
        in_front: format!("{}{indentation}", text.newline()),
        behind: ",".to_owned(),
    }
}

/// The step that averages the metrics in front of the first callback that acts on them, in a list that is written
/// out and has the broadcast already.
fn average(job: &Job<'_>, own: &TrainingLoop, handed: &Handed<'_>) -> Option<Step> {
    let facts = job.facts;
    let mut places: Vec<(FileId, TextRange)> = Vec::new();
    let mut is_sure = false;
    for &(file, value) in &handed.behind {
        let module = facts.module(file);
        let evaluation = module.value(value);
        let Value::Display(Container::List, elements) = &evaluation.value else { continue };
        for element in elements {
            let Element::At(_, value) = *element else { continue };
            let callbacks = facts.of_kind(file, value, Kind::Callback);
            let any = |acts: &dyn Fn(Acts) -> bool| callbacks.iter().any(|&id| acts(Acts::of(job, id)));
            let is_alone = || {
                let at = facts.location(file, evaluation.range);
                let caller = facts.code_at(at);
                facts.block_at(caller, at).is_some_and(|block| job.is_block_alone(caller, block))
            };
            if any(&Acts::acts_on_metrics) && !is_alone() {
                is_sure |= any(&Acts::surely_acts_on_metrics);
                places.extend(written(module, evaluation.range, value).map(|place| (file, place)));
            }
        }
    }
    let &(file, place) = places.iter().min_by_key(|(file, place)| (*file, place.start()))?;
    let text = job.text(file)?;
    let (hvd, import) = job.horovod_keras(file);
    let edit: Edit = text.insert(place.start(), format!("{hvd}.callbacks.MetricAverageCallback(), "));
    let finding = Step::missing(
        &RULE.rule,
        facts.location(file, place),
        "this callback changes the training by the metrics of its own rank",
    )
    .here("the ranks would decide differently")
    .help("put `hvd.callbacks.MetricAverageCallback()` in front of it")
    .label(facts.location(own.caller.file, own.range), "trained here")
    // Who distributed the program by hand knows what the callback does.
    .confidence(if is_sure { Confidence::Certain } else { job.taste() });
    Some(Step::change(finding, "average the metrics first", vec![edit], vec![import]))
}
