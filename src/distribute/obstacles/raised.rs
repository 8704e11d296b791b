//! Exceptions that a rank raises because of its own results and that the program catches: they end a loop, or leave out
//! steps, on that rank alone. One that nobody catches ends all ranks.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::job::Job;
use super::super::step::Step;
use super::handlers::{Handler, catching};
use super::{is_conditional, obstacle};
use crate::finding::Rule;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{CallKind, StatementId, StatementKind, ValueId};

/// A statement with its file.
type Site = (FileId, StatementId);

/// How many of the statements that raise what one statement catches are shown besides the first.
const SHOWN: usize = 2;

/// The exceptions that part the ranks of a program, told together where they are caught.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let raises = Raises::new(job);
    let mut caught: BTreeMap<Site, Vec<Site>> = BTreeMap::new();
    for file in job.program.files() {
        let module = job.facts.module(file);
        for (index, statement) in module.statements.iter().enumerate() {
            if statement.kind != StatementKind::Raise {
                continue;
            }
            let raise = (file, StatementId::new(index));
            let (scope, block) = module.code_block(raise.1);
            let caller = Caller { file, scope };
            if !job.program.reached.contains(&caller) || !is_conditional(job, caller, block) {
                continue;
            }
            if let Some(catching) = raises.caught(raise) {
                caught.entry(catching).or_default().push(raise);
            }
        }
    }
    caught.into_iter().map(|(catching, raised)| step(job, rule, catching, &raised)).collect()
}

/// The step of what one statement catches of these.
fn step(job: &Job<'_>, rule: &'static Rule, (in_file, catching): Site, raised: &[Site]) -> Step {
    let message = "whether the program goes on training depends on this rank's own results";
    let header = |&(file, raise): &Site| job.at_header(file, raise);
    let mut finding = obstacle(rule, header(&raised[0]), message)
        .label(job.at_header(in_file, catching), "caught here")
        .help("decide by something that is equal on all ranks, such as the number of the step");
    for other in raised.iter().skip(1).take(SHOWN) {
        finding = finding.label(header(other), "so is this");
    }
    let more = raised.len().saturating_sub(1 + SHOWN);
    match more {
        0 => {}
        1 => finding.notes.push("What one more statement raises is caught there, too.".to_owned()),
        _ => finding.notes.push(format!("What {more} more statements raise is caught there, too.")),
    }
    Step::blocked(
        finding,
        "One rank would leave the loop by the exception, and the others wait for it for ever.",
    )
}

/// What the statements of a program raise.
struct Raises<'j, 'a> {
    job: &'j Job<'a>,
    /// A bare `raise` has none: it raises again what was caught.
    values: FxHashMap<Site, ValueId>,
}

/// An exception on its way out of the code that raised it.
struct Escaping {
    /// How far it has come: the statement that raised it, or one that called code which didn't catch it.
    at: Site,
    /// The statement that raised it.
    raise: Site,
}

impl<'j, 'a> Raises<'j, 'a> {
    fn new(job: &'j Job<'a>) -> Self {
        let values = job.program.files().into_iter().flat_map(|file| {
            let raised = job.facts.module(file).calls.iter().filter(|own| own.kind == CallKind::Raise);
            raised.map(move |own| ((file, own.statement), own.callee))
        });
        Self { job, values: values.collect() }
    }

    /// The statement that catches what another one raises, if that changes which steps are made.
    fn caught(&self, raise: Site) -> Option<Site> {
        let (job, facts) = (self.job, self.job.facts);
        let mut seen: FxHashSet<(Caller, Site)> = FxHashSet::default();
        let mut work = vec![Escaping { at: raise, raise }];
        while let Some(Escaping { at: (file, statement), raise: by }) = work.pop() {
            let module = facts.module(file);
            let caller = Caller { file, scope: module.code_scope(module.statement(statement).scope) };
            if let Some((catching, handlers)) = self.met((file, statement), by) {
                let (passing, surviving): (Vec<Handler>, Vec<Handler>) =
                    handlers.into_iter().partition(|own| own.raises_again(job));
                // Within the same code the raising is a way out of the loop like others.
                if (file, statement) != raise && parts(job, caller, catching, &surviving) {
                    return Some((file, catching));
                }
                for again in passing.iter().flat_map(|own| own.raising(job)) {
                    let is_another = self.values.contains_key(&(file, again));
                    let raise = if is_another { (file, again) } else { by };
                    work.push(Escaping { at: (file, catching), raise });
                }
            } else if seen.insert((caller, by))
                && let Some(function) = facts.function_of(caller)
            {
                let edges = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge));
                work.extend(edges.filter_map(|edge| {
                    let call = facts.module(edge.caller.file).call(edge.call?);
                    Some(Escaping { at: (edge.caller.file, call.statement), raise: by })
                }));
            }
        }
        None
    }

    /// The nearest statement around a place that may catch what another one raises, with its handlers that do.
    fn met(&self, (file, statement): Site, raise: Site) -> Option<(StatementId, Vec<Handler>)> {
        let raised = self.values.get(&raise).map(|&value| (raise.0, value));
        let mut around = catching(self.job, file, statement);
        while let Some(own) = around {
            let mut handlers = Handler::of(self.job, file, own);
            handlers.retain(|handler| handler.may_catch(self.job, raised));
            if !handlers.is_empty() {
                return Some((own, handlers));
            }
            around = catching(self.job, file, own);
        }
        None
    }
}

/// Whether steps of training stand in a statement that catches, so that they end with it, or a handler goes elsewhere than on
/// behind it.
fn parts(job: &Job<'_>, caller: Caller, catching: StatementId, handlers: &[Handler]) -> bool {
    let module = job.facts.module(caller.file);
    let within = module.statement(catching).range;
    let mut calls = job.calls_in(caller.file).filter(|&id| within.contains_range(module.call(id).range));
    !handlers.is_empty() && calls.any(|id| job.comes_to_step(caller.file, id))
        || handlers.iter().any(|own| own.leaves(job))
}
