//! Errors of a step that the program survives and goes on training: the rank that one happens on is a step behind the
//! others, or makes other ones.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::handlers::{Handler, catching};
use super::obstacle;
use crate::finding::Rule;
use crate::program::{CallEdge, Spot};
use crate::semantic::StatementId;

/// The handlers of errors behind which training goes on.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let is_run = |edge: &CallEdge| facts.is_run(job.program, edge);
    let trained = OnceCell::new();
    let goes_on = |handler: &Handler| {
        let trained: &Vec<Spot> = trained.get_or_init(|| {
            let mut calls: Vec<_> = job.leading_to_steps().calls.iter().copied().collect();
            calls.sort_unstable();
            facts.leading_to(calls.into_iter().map(|call| facts.spot(call)).collect(), is_run)
        });
        let behind = facts.leading_to(vec![handler.goes_on], is_run);
        behind.iter().any(|&here| trained.iter().any(|&then| facts.leads(here, then)))
    };
    let survived = around_steps(job)
        .into_iter()
        .filter(|handler| !is_of_all_ranks(job, handler) && !handler.gives_up(job) && goes_on(handler));
    let step = |handler: Handler| {
        let message = "training goes on behind an error of a step, which may happen on one rank alone";
        let finding = obstacle(rule, facts.location(handler.file, handler.keyword), message)
            .label(job.at_header(handler.file, handler.catching), "around steps of training")
            .help("let the error end the program: Horovod ends it on all ranks then");
        let reason = "The rank that fails would leave steps out, or make others, and the ranks wait for each other for ever.";
        Step::blocked(finding, reason)
    };
    survived.map(step).collect()
}

/// The handlers of what steps of training may raise.
fn around_steps(job: &Job<'_>) -> Vec<Handler> {
    let facts = job.facts;
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = facts.module(file);
        let mut seen: FxHashSet<StatementId> = FxHashSet::default();
        for id in job.calls_in(file) {
            if !job.comes_to_step(file, id) {
                continue;
            }
            let mut around = catching(job, file, module.call(id).statement);
            while let Some(own) = around.filter(|&own| seen.insert(own)) {
                found.extend(Handler::of(job, file, own));
                around = catching(job, file, own);
            }
        }
    }
    found
}

/// Whether it catches only what comes to all ranks alike.
fn is_of_all_ranks(job: &Job<'_>, handler: &Handler) -> bool {
    let facts = job.facts;
    let caught: Vec<_> =
        handler.classes.iter().flat_map(|&classes| facts.elements(handler.file, classes)).collect();
    let is_alike = |object| facts.symbol(object).is_some_and(|own| facts.library.is_raised_on_all_ranks(own));
    !caught.is_empty() && caught.iter().all(|&id| is_alike(facts.solution.object(id)))
}
