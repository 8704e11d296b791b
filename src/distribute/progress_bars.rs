//! Bars that show progress, `tqdm(batches)`, are shown by rank 0 only.

use super::job::Job;
use super::keras::{Given, given};
use super::ranked::{is_for_one_rank, reads_rank};
use super::started::runs_started;
use super::step::Step;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::program::{Literal, Object};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The parameter of what shows progress that switches it off.
const OFF: &str = "disable";

/// The steps of `output-on-every-rank` that switch bars off.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    job.calls().filter_map(|(file, call)| step(job, rule, file, call)).collect()
}

fn step(job: &Job<'_>, rule: &'static Rule, file: FileId, call: CallId) -> Option<Step> {
    let facts = job.facts;
    let symbol = facts.called_symbols(file, call).find(|&own| is_bar(own))?;
    // A function of the program's own need not take it.
    let are_all = facts
        .callees(file, call)
        .iter()
        .all(|own| facts.symbol(facts.solution.object(own.callee)).is_some_and(is_bar));
    if !are_all || is_counted_on(job, file, facts.module(file).call(call).result) {
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

/// Whether the program asks a bar how far it is: one that is switched off does not count.
fn is_counted_on(job: &Job<'_>, file: FileId, bar: ValueId) -> bool {
    let facts = job.facts;
    let made = facts.solution.values(file, bar);
    let module = facts.module(file);
    module.values.iter().any(|own| match own.value {
        Value::Attribute { base, name, .. } => {
            COUNTS.contains(&module.names.text(name))
                && facts.solution.values(file, base).iter().any(|own| made.contains(own))
        }
        _ => false,
    })
}

/// The attributes of bars that tell how far they are.
const COUNTS: [&str; 3] = ["n", "format_dict", "last_print_n"];
