//! `fit`, `evaluate`, `predict` and callbacks tell what they do on rank 0 only.

use super::super::job::Job;
use super::super::keras::{Given, given};
use super::super::ranked::{is_for_one_rank, reads_rank};
use super::super::started::runs_started;
use super::super::step::Step;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Rule;
use crate::program::{Literal, Object};
use crate::project::FileId;
use crate::semantic::{Argument, CallId};

/// The steps of `output-on-every-rank` that set `verbose`.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    job.calls().filter_map(|(file, call)| step(job, rule, file, call)).collect()
}

fn step(job: &Job<'_>, rule: &'static Rule, file: FileId, call: CallId) -> Option<Step> {
    let facts = job.facts;
    let data = facts.module(file).call(call);
    // A model may have a layer of this name instead, `self.predict = Dense(10)`, which takes no such argument.
    let is_of_model = || {
        facts.receiver(file, data).is_some_and(|receiver| facts.may_be(file, receiver, Kind::Model))
            && !facts.may_be(file, data.callee, Kind::Layer)
    };
    let symbol = facts.called_symbols(file, call).find(|symbol| {
        let shows = symbol.has(Effect::Prints) && is_of_model() || is_callback_of_all(job, symbol);
        shows && symbol.parameter("verbose").is_some()
    })?;
    let text = job.text(file)?;
    let code = job.code(file, data.scope);
    let is_first = code.is_first();
    let edit = match given(job, file, call, symbol, "verbose") {
        Given::Hidden => return None,
        Given::Nothing if !shows_by_itself(symbol) => return None,
        Given::Nothing => text.append_argument(data, &format!("verbose=1 if {is_first} else 0")),
        Given::Argument(argument) => {
            if is_silent(job, file, argument) || reads_rank(job, file, argument.value) {
                return None;
            }
            let shown = text.as_factor(argument.range);
            text.replace(argument.range, format!("{shown} if {is_first} else 0"))
        }
    };
    if is_for_one_rank(job, file, call) || !runs_started(job, file, call) {
        return None;
    }
    let message = if symbol.is_class() {
        "every rank tells what this callback does"
    } else {
        "every rank shows the progress of this call"
    };
    let finding = Step::missing(rule, job.at_call(file, call), message)
        .here("shown by each rank")
        .help("let rank 0 show it: `verbose=1 if hvd.rank() == 0 else 0`")
        .in_scope(job.scope_of(file, call))
        .confidence(job.taste());
    Some(code.step(Step::change(finding, "show it on rank 0 only", vec![edit], vec![code.import])))
}

/// Whether a class is that of callbacks which run on all ranks: those that write run on rank 0 alone.
fn is_callback_of_all(job: &Job<'_>, symbol: &Symbol) -> bool {
    let library = job.facts.library;
    symbol.is_class()
        && library.kind_of_class(symbol) == Kind::Callback
        && !library.hook_effects(symbol).contains(Effect::WritesFile)
}

/// Whether a call shows its progress if nothing is said.
fn shows_by_itself(symbol: &Symbol) -> bool {
    symbol
        .parameter("verbose")
        .and_then(|parameter| parameter.default())
        .is_some_and(|default| default != "0")
}

/// Whether `verbose` is surely 0.
fn is_silent(job: &Job<'_>, file: FileId, argument: &Argument) -> bool {
    let mut objects = job.facts.objects(file, argument.value).peekable();
    objects.peek().is_some()
        && objects
            .all(|(_, object)| matches!(object, Object::Literal(Literal::Int(0) | Literal::Bool(false))))
}
