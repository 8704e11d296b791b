//! What is found in code that settings of the source switch off, `DEBUG = False`, that nobody calls, or behind the end of the
//! program: as it stands, no run comes there. Where they switch off the start of Horovod, a program has no ranks.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::api::{Effect, Symbol};
use crate::finding::{Confidence, Finding, Group, Location};
use crate::program::{Caller, Facts, Program, Settings, Unreached};
use crate::project::FileId;
use crate::semantic::{BlockId, Call, CallKind};
use crate::syntax::TextSize;

/// Takes certainty from what is found between ranks or in graphs on a way through such code: people edit
/// settings and call what they have written, and then it may come true.
pub fn doubt(facts: &Facts<'_>, findings: &mut [Finding]) {
    let mut findings = findings.iter_mut().filter(|own| own.is_certain_of_runs()).peekable();
    if findings.peek().is_none() {
        return;
    }
    let ends = Ends::new(facts);
    let settings = Settings::new(facts);
    let scopes: Vec<Caller> = facts.scopes().collect();
    let closes = |caller: Caller, block: BlockId, arm: usize| {
        ends.of(caller, block).is_some() || settings.closes(caller, block, arm)
    };
    let off = Unreached::behind(facts, &scopes, closes, |_| true).and_uncalled(facts, &facts.uncalled());
    let runs = Runs::of_starting(facts, &settings);
    for finding in findings {
        if is_on_way(facts, &off, finding)
            || ends.stand_before(facts, finding.primary.location)
            || is_traced_off(facts, &off, finding)
            || finding.rule.group == Group::Ranks && !runs.may_have(facts, &off, finding)
        {
            finding.confidence = Confidence::Possible;
        }
    }
}

/// Where programs end, `sys.exit()`, with nothing behind in the same block.
struct Ends(FxHashMap<(Caller, BlockId), TextSize>);

impl Ends {
    fn new(facts: &Facts<'_>) -> Self {
        let mut found = FxHashMap::default();
        for (file, id) in facts.calls_with(Effect::Exits) {
            let call = facts.module(file).call(id);
            // What is handed a function comes back to the program first; `os.kill` may mean another process.
            let ends = |own: &Symbol| {
                let is_told_more = !own.calls().is_empty() || own.parameters().len() > 1;
                own.has(Effect::Exits) && !own.is_class() && !is_told_more
            };
            let is_sure = !facts.callees(file, id).is_empty() && facts.called_symbols(file, id).all(ends);
            if is_sure && call.kind == CallKind::Expression {
                found.insert((Caller { file, scope: call.scope }, call.block), call.range.end());
            }
        }
        Self(found)
    }

    /// Where a block ends the program.
    fn of(&self, caller: Caller, block: BlockId) -> Option<TextSize> {
        self.0.get(&(caller, block)).copied()
    }

    /// Whether the program has ended when it would come to a place in the same block.
    fn stand_before(&self, facts: &Facts<'_>, at: Location) -> bool {
        let caller = facts.code_at(at);
        let block = facts.block_at(caller, at).filter(|_| !self.0.is_empty());
        block.and_then(|block| self.of(caller, block)).is_some_and(|end| end <= at.text_range().start())
    }
}

/// Whether a way on which something happens leads through code that is switched off.
fn is_on_way(facts: &Facts<'_>, off: &Unreached, finding: &Finding) -> bool {
    let way = finding.flow.iter().map(|step| step.location);
    std::iter::once(finding.primary.location).chain(way).any(|at| is_off(facts, off, at))
}

/// The programs that start Horovod, each with what its own settings switch off: what other programs alone pass to the code
/// that they share is none of them.
struct Runs<'s, 'f, 'a> {
    settings: &'s Settings<'f, 'a>,
    programs: Vec<(&'f Program, OnceCell<Unreached>)>,
}

impl<'s, 'f, 'a> Runs<'s, 'f, 'a> {
    fn of_starting(facts: &'f Facts<'a>, settings: &'s Settings<'f, 'a>) -> Self {
        let programs = facts.programs.iter().filter(|own| own.already_distributed);
        Self { settings, programs: programs.map(|own| (own, OnceCell::new())).collect() }
    }

    /// Whether what is found between the ranks may happen in one of the programs, or in none of them.
    fn may_have(&self, facts: &Facts<'_>, off: &Unreached, finding: &Finding) -> bool {
        let caller = facts.code_at(finding.primary.location);
        let mut having =
            self.programs.iter().filter(|(program, _)| program.reached.contains(&caller)).peekable();
        having.peek().is_none()
            || having.any(|(program, own)| {
                !is_start_off(facts, off, program) && {
                    let own = own.get_or_init(|| self.off(facts, program));
                    !is_start_off(facts, own, program) && !is_on_way(facts, own, finding)
                }
            })
    }

    /// What the program's own settings switch off.
    fn off(&self, facts: &Facts<'_>, program: &'f Program) -> Unreached {
        let settings = self.settings.of_program(program);
        let mut scopes: Vec<Caller> = program.reached.iter().copied().collect();
        scopes.sort_unstable();
        let closes = |caller: Caller, block: BlockId, arm: usize| settings.closes(caller, block, arm);
        Unreached::behind(facts, &scopes, closes, |edge| facts.is_run(program, edge))
    }
}

/// Whether everything with which a program starts Horovod is switched off: `USE_HOROVOD = False`; where it leaves that to others, all
/// that it does with it.
fn is_start_off(facts: &Facts<'_>, off: &Unreached, program: &Program) -> bool {
    let made = |effect: Effect| {
        let calls = facts.calls_with(effect).map(|(file, call)| (file, facts.module(file).call(call)));
        calls.filter(|(file, call)| program.reached.contains(&Caller { file: *file, scope: call.scope }))
    };
    let mut calls: Vec<(FileId, &Call)> = made(Effect::Initializes).collect();
    if calls.is_empty() {
        calls = [Effect::Collective, Effect::Broadcasts, Effect::Distributes]
            .into_iter()
            .flat_map(made)
            .collect();
    }
    let is_call_off = |&(file, call): &(FileId, &Call)| is_off(facts, off, facts.location(file, call.range));
    !calls.is_empty() && calls.iter().all(is_call_off)
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
