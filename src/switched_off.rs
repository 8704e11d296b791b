//! What is found in code that settings of the source switch off, `DEBUG = False`, or that nobody calls: as it stands, no
//! run comes there. Where they switch off the start of Horovod, a program has no ranks.

use crate::api::Effect;
use crate::finding::{Confidence, Finding, Group, Location};
use crate::program::{Caller, Facts, Program, Settings, Unreached};
use crate::semantic::BlockId;

/// Takes certainty from what is found between ranks or in graphs on a way through such code: people edit
/// settings and call what they have written, and then it may come true.
pub fn doubt(facts: &Facts<'_>, findings: &mut [Finding]) {
    let mut findings = findings.iter_mut().filter(|own| own.is_certain_of_runs()).peekable();
    if findings.peek().is_none() {
        return;
    }
    let settings = Settings::new(facts);
    let scopes: Vec<Caller> = facts.scopes().collect();
    let closes = |caller: Caller, block: BlockId, arm: usize| settings.closes(caller, block, arm);
    let off = Unreached::behind(facts, &scopes, closes, |_| true).and_uncalled(facts, &facts.uncalled());
    let starting: Vec<&Program> =
        facts.programs.iter().filter(|own| !is_start_off(facts, &off, own)).collect();
    for finding in findings {
        let way = finding.flow.iter().map(|step| step.location);
        if std::iter::once(finding.primary.location).chain(way).any(|at| is_off(facts, &off, at))
            || is_traced_off(facts, &off, finding)
            || is_without_ranks(facts, &starting, finding)
        {
            finding.confidence = Confidence::Possible;
        }
    }
}

/// Whether everything with which a program starts Horovod is switched off: `USE_HOROVOD = False`.
fn is_start_off(facts: &Facts<'_>, off: &Unreached, program: &Program) -> bool {
    let mut starts = facts
        .calls_with(Effect::Initializes)
        .map(|(file, call)| (file, facts.module(file).call(call)))
        .filter(|(file, call)| program.reached.contains(&Caller { file: *file, scope: call.scope }))
        .peekable();
    starts.peek().is_some() && starts.all(|(file, call)| is_off(facts, off, facts.location(file, call.range)))
}

/// Whether a finding is about the ranks of programs none of which starts Horovod.
fn is_without_ranks(facts: &Facts<'_>, starting: &[&Program], finding: &Finding) -> bool {
    if finding.rule.group != Group::Ranks {
        return false;
    }
    let caller = facts.code_at(finding.primary.location);
    let is_reached = |program: &Program| program.reached.contains(&caller);
    facts.programs.iter().any(is_reached) && !starting.iter().any(|program| is_reached(program))
}

/// Whether the code that a finding in a graph is about is traced by such code alone: `if USE_GRAPH: step =
/// tf.function(step)`.
fn is_traced_off(facts: &Facts<'_>, off: &Unreached, finding: &Finding) -> bool {
    if finding.rule.group != Group::Graph {
        return false;
    }
    let tracers = facts.tracing().tracers(facts.code_at(finding.primary.location));
    let mut places =
        tracers.iter().map(|&(file, call)| facts.location(file, facts.module(file).call(call).range));
    !tracers.is_empty() && places.all(|at| is_off(facts, off, at))
}

fn is_off(facts: &Facts<'_>, off: &Unreached, at: Location) -> bool {
    let caller = facts.code_at(at);
    off.is_scope(caller)
        || off.is_partly(caller)
            && facts.block_at(caller, at).is_some_and(|block| off.is_block(caller, block))
}
