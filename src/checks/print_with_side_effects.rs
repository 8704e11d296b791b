//! An argument of `print` changes the state of the program.

use super::{Context, check, training};
use crate::api::{Effect, Kind};
use crate::finding::{Confidence, Finding, Fix, Level, Location};
use crate::normalise;
use crate::program::{Caller, Doing, Facts, Making, Object};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Container, SideEffect};
use crate::syntax::TextRange;

check!("HVD004", "print-with-side-effects", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    // Where a program trains, nobody lets one rank alone print in the others. A library may be anybody's.
    let training = facts.files_of_training();
    let is_guarded = |file: &FileId| context.strict || training.is_empty() || training.contains(file);
    let mut findings = Vec::new();
    for file in facts.files().filter(is_guarded) {
        let calls = &facts.module(file).calls;
        for index in (0..calls.len()).filter(|&index| is_print(facts, file, CallId::new(index))) {
            let print = &calls[index];
            let effects = side_effects(context, file, index);
            let fix = fix(context, file, print, &effects);
            let worst = effects.into_iter().max_by_key(|effect| (effect.confidence, effect.level));
            findings.extend(worst.map(|effect| {
                let confidence = effect.confidence;
                Finding { confidence, fix, ..finding(facts, file, print, &effect) }
            }));
        }
    }
    findings
}

/// Whether a call can only be one of the built-in `print`.
fn is_print(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let print = facts.solution.names.find("print");
    let edges = facts.callees(file, call);
    let is_builtin = |object| matches!(object, Object::Builtin(name) if Some(name) == print);
    !edges.is_empty() && edges.iter().all(|edge| is_builtin(facts.solution.object(edge.callee)))
}

/// Something that an argument does.
struct Found {
    level: Level,
    confidence: Confidence,
    what: &'static str,
    /// What does it: `` `next` in an argument ``.
    who: String,
    /// The expression in the argument.
    range: TextRange,
    /// Where it is done, if not there.
    at: Option<Location>,
}

/// What the arguments do, in the order of the source; the last of several with the same level is the first one.
fn side_effects(context: Context<'_>, file: FileId, print_index: usize) -> Vec<Found> {
    let facts = context.facts;
    let module = facts.module(file);
    let print = &module.calls[print_index];
    let within =
        |range: TextRange| print.arguments.iter().any(|argument| argument.range.contains_range(range));
    let mut found = Vec::new();
    for &(effect, range) in module.side_effects.iter().filter(|(_, range)| within(*range)) {
        let what = match effect {
            SideEffect::Walrus => "assigns a variable",
            SideEffect::Await => "awaits",
            SideEffect::Yield => "yields",
        };
        let (level, confidence) = (context.warning(), Confidence::Certain);
        found.push(Found { level, confidence, what, who: "an argument".to_owned(), range, at: None });
    }
    // The calls in a call's arguments follow it.
    let following = module.calls.iter().enumerate().skip(print_index + 1);
    for (index, call) in following.take_while(|(_, call)| call.range.start() < print.range.end()) {
        if call.scope == print.scope && within(call.range) {
            let id = CallId::new(index);
            let name = || training::called(facts, file, id);
            if let Some(what) = facts.making(file, id).map(makes) {
                let who = name().map_or("an argument".to_owned(), |name| format!("`{name}` in an argument"));
                let (level, confidence) = (Level::Error, Confidence::Certain);
                found.push(Found { level, confidence, what, who, range: call.range, at: None });
            }
            let doings = facts.doings(file, id, print.range);
            found.extend(doings.iter().filter_map(|doing| {
                let (level, what, confidence) = match describe(context, doing) {
                    Some((level, what)) => (level, what, Confidence::Certain),
                    None if doing.perhaps.is_empty() => return None,
                    None => (Level::Error, "may run a training operation", Confidence::Possible),
                };
                let place = doing.edge.call.map(|id| facts.module(doing.edge.caller.file).call(id).range);
                let at = place.map(|range| facts.location(doing.edge.caller.file, range));
                let at = at.filter(|&at| at != facts.location(file, call.range));
                let who = name().map_or("an argument".to_owned(), |name| format!("`{name}` in an argument"));
                Some(Found { level, confidence, what, who, range: call.range, at })
            }));
        }
    }
    // `print(list(map(train, rates)))`
    for &(_, at, function) in facts.mapped_calls(file) {
        let own = module.value(at);
        let effects = facts.effects().of_scope(facts.code_of(function)).effects;
        let trains = [Effect::Trains, Effect::AppliesGradients, Effect::Minimizes];
        if own.scope == print.scope
            && within(own.range)
            && trains.into_iter().any(|own| effects.contains(own))
        {
            let (level, confidence) = (Level::Error, Confidence::Certain);
            let (what, who) = ("makes a training step", "an argument".to_owned());
            found.push(Found { level, confidence, what, who, range: own.range, at: None });
        }
    }
    found.sort_by_key(|effect| std::cmp::Reverse(effect.range.start()));
    found
}

/// What a call makes that other ranks would not have.
fn makes(making: Making) -> &'static str {
    match making {
        Making::Layers => "makes layers, which Keras numbers",
        Making::Variables => "makes the variables of a layer",
        Making::Operations => "adds operations to the graph, which TensorFlow numbers",
    }
}

/// How bad it is, and what it is; `None` if it is no side effect.
fn describe(context: Context<'_>, doing: &Doing) -> Option<(Level, &'static str)> {
    let has = |effect| doing.effects.contains(effect);
    let tensors = [Kind::Optimizer, Kind::Variable, Kind::Metric, Kind::Model, Kind::Layer];
    let of_training = doing.subject.is_some_and(|kind| tensors.contains(&kind));
    let of_session = matches!(doing.subject, Some(Kind::Session | Kind::MonitoredSession));
    let error = if has(Effect::Trains) || has(Effect::AppliesGradients) || has(Effect::Minimizes) {
        "makes a training step"
    } else if of_session && has(Effect::UpdatesState) {
        "runs a training operation"
    } else if of_session && has(Effect::TakesGradients) {
        "takes gradients, which all ranks average"
    } else if has(Effect::Collective) {
        "waits for all processes"
    } else if has(Effect::DrawsRandom) {
        "draws random numbers"
    } else if has(Effect::ConsumesIterator) && has(Effect::UpdatesState) {
        "advances an iterator"
    } else if has(Effect::UpdatesState) && of_training {
        "updates a variable or a metric"
    } else {
        let what = if has(Effect::UpdatesState) || has(Effect::SeedsRandom) {
            "changes an object"
        } else if has(Effect::WritesFile) || has(Effect::WritesSummary) {
            "writes a file"
        } else if has(Effect::ReadsInput) {
            "reads input"
        } else if doing.unknown && context.strict && is_named(context.facts, doing) {
            "calls an unknown function"
        } else {
            return None;
        };
        return Some((context.warning(), what));
    };
    Some((Level::Error, error))
}

/// Whether it is a function that a library exports: a method of an object that nobody knows is none.
fn is_named(facts: &Facts<'_>, doing: &Doing) -> bool {
    match facts.solution.object(doing.edge.callee) {
        Object::External(external) => !facts.solution.externals.get(external).path.is_empty(),
        _ => false,
    }
}

/// All that the arguments do is done in front of the `print`.
fn fix(context: Context<'_>, file: FileId, print: &Call, effects: &[Found]) -> Option<Fix> {
    let ranges: Vec<TextRange> = effects.iter().map(|effect| effect.range).collect();
    if ranges.iter().any(|&range| is_lazy(context.facts, file, range)) {
        return None;
    }
    normalise::hoist(context, file, print.statement, &ranges, "value")
}

/// Whether a call does what it does only when somebody asks for its elements: `map(train, rates)`, a generator.
fn is_lazy(facts: &Facts<'_>, file: FileId, range: TextRange) -> bool {
    let iterator = facts.library.lookup("builtins.iterator");
    let is_iterator = |own: Object| match own {
        Object::Container(Container::Generator, _) => true,
        own => facts
            .symbol(own)
            .zip(iterator)
            .is_some_and(|(own, iterator)| facts.library.is_subclass(own, iterator)),
    };
    let mut calls = facts.module(file).calls.iter().filter(|own| own.range == range);
    calls.any(|own| facts.objects(file, own.result).any(|(_, own)| is_iterator(own)))
}

fn finding(facts: &Facts<'_>, file: FileId, print: &Call, effect: &Found) -> Finding {
    let location = facts.location(file, effect.range);
    let message = format!("{} of `print` {}", effect.who, effect.what);
    let mut finding = Finding::new(&CHECK.rule, effect.level, location, message)
        .here(effect.what)
        .label(facts.location(file, print.callee_range), "will run on one rank")
        .help("compute the value in a variable before the `print`, then print the variable")
        .in_scope(facts.scope_name(Caller { file, scope: print.scope }));
    if let Some(at) = effect.at {
        finding = finding.label(at, "done here");
    }
    finding
}
