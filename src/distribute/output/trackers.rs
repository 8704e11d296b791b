//! What records the run of a program with a service, `wandb.init(project="digits")`, does so on rank 0. The other ranks read what it
//! was given back from it, `wandb.config.epochs`, so that they start it too, switched off.

use super::super::job::Job;
use super::super::keras::{Given, given};
use super::super::ranked::{is_for_one_rank, reads_rank};
use super::super::started::runs_started;
use super::super::step::Step;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::CallId;

/// The parameter of what records a run that says whether it does.
const MODE: &str = "mode";

/// What it is given to record nothing.
const OFF: &str = "'disabled'";

/// The steps of `output-on-every-rank` that switch them off.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let started = job.calls().filter_map(|(file, call)| Some((file, call, tracker(job, file, call)?)));
    started.filter_map(|(file, call, symbol)| step(job, rule, file, call, symbol)).collect()
}

/// The symbol by which a call starts to record the run.
pub(super) fn tracker<'c>(job: &Job<'c>, file: FileId, call: CallId) -> Option<&'c Symbol> {
    job.facts.called_symbols(file, call).find(|own| own.has(Effect::DisabledByMode))
}

fn step(job: &Job<'_>, rule: &'static Rule, file: FileId, call: CallId, symbol: &Symbol) -> Option<Step> {
    if is_for_one_rank(job, file, call) || !runs_started(job, file, call) {
        return None;
    }
    let finding = Step::missing(rule, job.at_call(file, call), "every rank records the run")
        .here("recorded by each rank")
        .help("let rank 0 record it: `mode=None if hvd.rank() == 0 else 'disabled'`")
        .in_scope(job.scope_of(file, call));
    let text = job.text(file)?;
    let data = text.module.call(call);
    let code = job.code(file, data.scope);
    let is_first = code.is_first();
    let edits = match given(job, file, call, symbol, MODE) {
        Given::Hidden => {
            return Some(Step::blocked(
                finding,
                "Whether it records may be among the arguments that `*` or `**` gives.",
            ));
        }
        Given::Nothing => {
            vec![text.append_argument(data, &format!("{MODE}=None if {is_first} else {OFF}"))]
        }
        Given::Argument(own) if reads_rank(job, file, own.value) => return None,
        Given::Argument(own) => text.wrap(own.range, "(", &format!(") if {is_first} else {OFF}")),
    };
    Some(code.step(Step::change(finding, "record it on rank 0 only", edits, vec![code.import])))
}
