//! Bars that show progress, `tqdm(batches)`, are shown by rank 0 only.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::keras::{Given, given};
use super::super::ranked::{is_for_one_rank, reads_rank};
use super::super::started::runs_started;
use super::super::step::Step;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::program::{Literal, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// The parameter of what shows progress that switches it off.
const OFF: &str = "disable";

/// The steps of `output-on-every-rank` that switch bars off.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let bars = job.calls().filter_map(|(file, call)| {
        let symbol = facts.called_symbols(file, call).find(|&own| is_bar(own))?;
        Some((file, call, symbol))
    });
    let bars: Vec<_> = bars.collect();
    let counted = if bars.is_empty() { FxHashSet::default() } else { counted_on(job) };
    bars.into_iter().filter_map(|bar| step(job, rule, bar, &counted)).collect()
}

fn step(
    job: &Job<'_>,
    rule: &'static Rule,
    (file, call, symbol): (FileId, CallId, &Symbol),
    counted: &FxHashSet<ObjectId>,
) -> Option<Step> {
    let facts = job.facts;
    let bar = facts.solution.values(file, facts.module(file).call(call).result);
    // A function of the program's own need not take it.
    let are_all = facts
        .callees(file, call)
        .iter()
        .all(|own| facts.symbol(facts.solution.object(own.callee)).is_some_and(is_bar));
    if !are_all || bar.iter().any(|own| counted.contains(own)) {
        return None;
    }
    let text = job.text(file)?;
    let data = text.module.call(call);
    let code = job.code(file, data.scope);
    let is_other = code.is_other();
    let edit = match given(job, file, call, symbol, OFF) {
        Given::Hidden => return None,
        Given::Nothing => text.append_argument(data, &format!("{OFF}={is_other}")),
        Given::Argument(argument) => {
            let mut objects = facts.objects(file, argument.value);
            let is_always = objects.any(|(_, own)| own == Object::Literal(Literal::Bool(true)));
            if is_always || reads_rank(job, file, argument.value) {
                return None;
            }
            text.replace(argument.range, format!("{} or {is_other}", text.as_factor(argument.range)))
        }
    };
    if is_for_one_rank(job, file, call) || !runs_started(job, file, call) {
        return None;
    }
    let finding = Step::missing(rule, job.at_call(file, call), "every rank shows its progress")
        .here("shown by each rank")
        .help("let rank 0 show it: `disable=hvd.rank() != 0`")
        .in_scope(job.scope_of(file, call))
        .confidence(job.taste());
    Some(code.step(Step::change(finding, "show it on rank 0 only", vec![edit], vec![code.import])))
}

fn is_bar(symbol: &Symbol) -> bool {
    symbol.has(Effect::Prints) && symbol.parameter(OFF).is_some()
}

/// What the program asks how far it is: a bar that is switched off does not count.
fn counted_on(job: &Job<'_>) -> FxHashSet<ObjectId> {
    let facts = job.facts;
    let mut found = FxHashSet::default();
    for file in job.program.files() {
        let module = facts.module(file);
        for own in &module.values {
            if let Value::Attribute { base, name, .. } = own.value
                && COUNTS.contains(&module.names.text(name))
            {
                let known = facts.objects(file, base).filter(|(_, own)| *own != Object::Unknown);
                found.extend(known.map(|(own, _)| own));
            }
        }
    }
    found
}

/// The attributes of bars that tell how far they are, or that a bar which is switched off does not have.
const COUNTS: [&str; 12] = [
    "avg_time",
    "bar_format",
    "desc",
    "dynamic_ncols",
    "format_dict",
    "last_print_n",
    "last_print_t",
    "n",
    "postfix",
    "smoothing",
    "start_t",
    "unit",
];
