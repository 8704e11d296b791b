//! All ranks take part in the same collectives, in the same order: otherwise some wait for the others for ever, or
//! get the numbers of another question.

mod called;
mod stopped;
mod turns;
mod unequal;
mod unseen;

use rustc_hash::{FxHashMap, FxHashSet};

use super::comms::{Comms, Parting, Way};
use super::model::Model;
use super::values::{Cause, Difference};
use super::{callbacks, layer_names, layer_sizes, ranks_check};
use crate::api::Effect;
use crate::finding::{Confidence, Finding, Label, Level, Location};
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{BlockId, Branch, BranchKind, Element, Value, ValueId};

pub(super) use stopped::turns_differ;

ranks_check!("HVD301", "ranks-out-of-step", Error, check);

fn check(model: &Model<'_>) -> Vec<Finding> {
    let callers = model.callers();
    let behind = Behind::new(model);
    let mut found = Vec::new();
    // Several branches may part the ranks at one place.
    let mut told: FxHashSet<Location> = FxHashSet::default();
    for caller in callers {
        let flow = &model.facts.module(caller.file).scope(caller.scope).flow;
        for (index, block) in flow.blocks.iter().enumerate() {
            let id = BlockId::new(index);
            if flow.is_reachable(id) && block.successors.len() > 1 && !model.unreached.is_block(caller, id) {
                let finding = parting(model, caller, id, block.branch, behind.follows(caller));
                let finding = finding.or_else(|| turns::disordered(model, caller, id, block.branch));
                found.extend(finding.filter(|own| told.insert(own.primary.location)));
            }
        }
        let blocks = (0..flow.blocks.len()).map(BlockId::new);
        for block in blocks.filter(|&block| !model.unreached.is_block(caller, block)) {
            for &call in &model.blocks.of(caller, block).calls {
                found.extend(unequal::finding(model, caller, call));
                let parting = called::finding(model, caller, call, behind.follows(caller))
                    .or_else(|| turns::exhausted(model, caller, call));
                found.extend(parting.filter(|own| told.insert(own.primary.location)));
            }
        }
    }
    found.extend(callbacks::out_of_step(model));
    found.extend(layer_names::out_of_step(model));
    found.extend(layer_sizes::out_of_step(model));
    found
}

/// The scopes behind whose return something is communicated.
pub(super) struct Behind(FxHashSet<Caller>);

impl Behind {
    pub(super) fn new(model: &Model<'_>) -> Self {
        Self(following(model, &model.comms, &model.callers()))
    }

    fn follows(&self, caller: Caller) -> bool {
        self.0.contains(&caller)
    }
}

fn following(model: &Model<'_>, comms: &Comms, callers: &[Caller]) -> FxHashSet<Caller> {
    let mut returns_to: FxHashMap<Caller, Vec<Caller>> = FxHashMap::default();
    let mut work = Vec::new();
    for &caller in callers {
        let flow = &model.facts.module(caller.file).scope(caller.scope).flow;
        for (index, block) in flow.blocks.iter().enumerate() {
            let id = BlockId::new(index);
            let calls = &model.blocks.of(caller, id).calls;
            let communicates_after = block
                .successors
                .iter()
                .filter_map(|&next| comms.way(caller, next))
                .any(|way| comms.communicates(way.node));
            let mut after = communicates_after;
            for &call in calls.iter().rev() {
                let functions: Vec<Caller> = model
                    .facts
                    .called_functions(caller.file, call)
                    .map(|function| model.facts.code_of(function))
                    .collect();
                for &code in &functions {
                    returns_to.entry(caller).or_default().push(code);
                    if after {
                        work.push(code);
                    }
                }
                after |= functions
                    .iter()
                    .filter_map(|&code| comms.of_scope(code))
                    .any(|body| comms.communicates(body))
                    || model.facts.called_symbols(caller.file, call).any(|own| own.has(Effect::Collective));
            }
        }
    }
    let mut found = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if found.insert(caller) {
            work.extend(returns_to.get(&caller).into_iter().flatten());
        }
    }
    found
}

/// The finding of a branch behind which ranks part.
fn parting(
    model: &Model<'_>,
    caller: Caller,
    id: BlockId,
    branch: Option<Branch>,
    follows: bool,
) -> Option<Finding> {
    let branch = branch?;
    if joins_behind(model, caller, &branch) {
        return None;
    }
    let own = difference(model, caller, id, &branch)?;
    let is_traced = model.traced.contains(&caller);
    let condition = (caller.file, branch.condition?);
    let keeps = |way: &Way| !model.comms.only_fails(*way) || model.is_on_rank(condition);
    let mut ways = reached_arms(model, caller, id).filter(keeps);
    let (one, other) = (ways.next()?, ways.next()?);
    let parting = model.comms.parting(one, other, is_traced, follows)?;
    if model.comms.is_settled(caller, id) {
        return None;
    }
    let finding = finding(model, caller, &branch, own, parting);
    let is_unseen = unseen::may_be_in_step(model, caller, id);
    Some(if is_unseen { finding.confidence(Confidence::Possible) } else { finding })
}

/// Whether ranks that leave a loop earlier take part in what the others communicate there: `hvd.join()` behind it.
fn joins_behind(model: &Model<'_>, caller: Caller, branch: &Branch) -> bool {
    let module = model.facts.module(caller.file);
    let end = module.statement(branch.statement).range.end();
    matches!(branch.kind, BranchKind::For | BranchKind::While)
        && model.facts.calls_with(Effect::Joins).any(|(file, call)| {
            let call = model.facts.module(file).call(call);
            file == caller.file && call.scope == caller.scope && call.range.start() >= end
        })
}

/// The ways behind the arms of a branch that some of several ranks go to.
fn reached_arms(model: &Model<'_>, caller: Caller, id: BlockId) -> impl Iterator<Item = Way> {
    let ways = model.comms.arms(caller, id).iter().copied().enumerate();
    ways.filter(move |&(arm, _)| !model.unreached.is_arm(caller, id, arm)).map(|(_, way)| way)
}

/// A branch where ranks would part that went different ways.
pub(super) struct Decision {
    pub(super) caller: Caller,
    pub(super) branch: Branch,
    /// Why they may, as far as is known.
    pub(super) difference: Option<Difference>,
    /// They would only part from ranks that fail.
    pub(super) only_fails: bool,
}

impl Decision {
    /// What a block decides; `None` if it does not matter which way a rank goes.
    pub(super) fn of(model: &Model<'_>, caller: Caller, id: BlockId, behind: &Behind) -> Option<Self> {
        let branch = model.facts.module(caller.file).scope(caller.scope).flow.blocks[id.index()].branch?;
        if model.facts.is_main_guard(caller.file, &branch) || model.unreached.is_block(caller, id) {
            return None;
        }
        let parts = |ways: &[Way]| {
            !model.comms.is_settled(caller, id)
                && ways.iter().skip(1).any(|&way| {
                    let is_traced = model.traced.contains(&caller);
                    model.comms.parting(ways[0], way, is_traced, behind.follows(caller)).is_some()
                })
        };
        let arms: Vec<Way> = reached_arms(model, caller, id).collect();
        let meant: Vec<Way> = arms.iter().copied().filter(|&way| !model.comms.only_fails(way)).collect();
        let difference = difference(model, caller, id, &branch);
        let only_fails = !parts(&meant);
        parts(&arms).then_some(Self { caller, branch, difference, only_fails })
    }
}

/// Whether ranks part at a branch in what they communicate: they go no further together.
#[must_use]
pub(super) fn parts(model: &Model<'_>, caller: Caller, id: BlockId) -> bool {
    let branch = model.facts.module(caller.file).scope(caller.scope).flow.blocks[id.index()].branch;
    parting(model, caller, id, branch, false).is_some()
}

/// Why a branch may go another way on another rank.
fn difference(model: &Model<'_>, caller: Caller, id: BlockId, branch: &Branch) -> Option<Difference> {
    let condition = branch.condition?;
    let file = caller.file;
    let own = match branch.kind {
        BranchKind::For if is_written_out(model, file, condition) => None,
        BranchKind::For => turns_differ(model, caller, id, condition),
        BranchKind::Try | BranchKind::Assert => None,
        _ => model.difference((file, condition)),
    };
    own.filter(|&own| model.among_ranks(own))
}

/// Whether a value is a list whose elements stand in the source; those of an empty one come later.
pub(super) fn is_written_out(model: &Model<'_>, file: FileId, value: ValueId) -> bool {
    matches!(
        &model.facts.module(file).value(value).value,
        Value::Display(_, elements)
            if !elements.is_empty() && elements.iter().all(|own| matches!(own, Element::At(..)))
    )
}

fn finding(model: &Model<'_>, caller: Caller, branch: &Branch, own: Difference, parting: Parting) -> Finding {
    let facts = model.facts;
    let at_branch = facts.location(caller.file, branch.range);
    let first = parting.one.or(parting.other);
    let is_loop = matches!(branch.kind, BranchKind::For | BranchKind::While);
    let statement = facts.module(caller.file).statement(branch.statement).range;
    let is_inside = first.is_some_and(|site| statement.contains_range(site.text_range()));
    // A guard on the rank is meant, and the collective is the mistake; otherwise the condition is.
    let primary = match first {
        Some(site) if !is_loop && (own.cause == Cause::Rank || !is_inside && site > at_branch) => site,
        _ => at_branch,
    };
    let message = if is_loop {
        "the ranks make different numbers of turns, and each turn communicates"
    } else if parting.mixes {
        "the ranks come to different collectives of one kind, and get each other's values"
    } else if own.cause == Cause::Rank {
        "not all ranks take part in this, and those that do wait for the others"
    } else {
        "the ranks may decide differently, and those that communicate wait for the others"
    };
    let level = if own.cause == Cause::Rank { Level::Error } else { Level::Warning };
    let mut finding = Finding::new(&CHECK.rule, level, primary, message).in_scope(facts.scope_name(caller));
    let mut flow =
        vec![source(model, own), Label { location: at_branch, message: "decides here".to_owned() }];
    if primary != at_branch {
        finding = finding.label(at_branch, "ranks part here");
    }
    finding = finding.here(if primary == at_branch { "ranks part here" } else { "some ranks come here" });
    for (site, what) in [(parting.one, "one rank communicates"), (parting.other, "another rank communicates")]
    {
        if let Some(location) = site {
            flow.push(Label { location, message: what.to_owned() });
            if location != primary {
                finding = finding.label(location, what);
            }
        }
    }
    let origin = source(model, own);
    if origin.location != at_branch && origin.location != primary {
        finding = finding.label(origin.location, origin.message);
    }
    finding.flow = flow;
    let sureness = match branch.condition {
        _ if model.exchanges_in(caller) && own.cause != Cause::Rank => Confidence::Possible,
        Some(condition) if branch.kind != BranchKind::For => {
            model.sureness((caller.file, condition), own.cause)
        }
        _ if own.cause.is_weak() => Confidence::Possible,
        _ => Confidence::Certain,
    };
    let is_from_elsewhere = branch.kind != BranchKind::For
        && branch.condition.is_some_and(|condition| model.comes_from_elsewhere((caller.file, condition)));
    finding = finding.confidence(if is_from_elsewhere { Confidence::Possible } else { sureness });
    finding.forbids_fixes = is_from_elsewhere && sureness == Confidence::Certain;
    finding.help(help(own.cause, is_loop))
}

fn help(cause: Cause, is_loop: bool) -> &'static str {
    match (cause, is_loop) {
        (Cause::Rank, false) => "take the collective out of the condition, so that all ranks come to it",
        (_, true) => {
            "give all ranks the same number of turns, for example by `take` with a number that all share"
        }
        _ => "decide by a value that is equal on all ranks, such as an `hvd.allreduce` of it",
    }
}

/// Where a difference comes from.
pub(super) fn source(model: &Model<'_>, own: Difference) -> Label {
    let (file, value) = own.source;
    let location = model.facts.location(file, model.facts.module(file).value(value).range);
    let what = if model.facts.gives(own.source, &[Effect::ReadsRank, Effect::ReadsLocalRank]) {
        "each rank has its own number"
    } else {
        match own.cause {
            Cause::Files => "may be another file",
            _ => "differs between ranks",
        }
    };
    Label { location, message: what.to_owned() }
}
