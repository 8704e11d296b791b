//! Lists and generators that get another number of elements on the way: `mine.append(file)` under a condition on the
//! rank, `yield batch` in a loop over a shard.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::blocks::Blocks;
use super::super::values::{Cause, Difference};
use super::equal_parts::Parts;
use crate::api::{Effect, Symbol};
use crate::program::{CallEdge, Caller, Facts, FunctionRef, Object, Place};
use crate::project::FileId;
use crate::semantic::{
    BlockId, BranchKind, Call, CallId, Container, Flow, FunctionId, Method, Operator, SideEffect, StoreKey,
    Value, ValueId,
};
use crate::syntax::TextRange;

/// How far it is followed where a value comes from.
const STEPS: u32 = 4;

/// Where lists and generators get their elements.
#[derive(Debug, Default)]
pub(super) struct Growing {
    steps: BTreeMap<Caller, Vec<Step>>,
    /// The generators that hand on all that others yield: `yield from files`.
    handing_on: FxHashMap<Place, Vec<Place>>,
}

/// The generator that a call of its function makes: what is iterated over where `__iter__` is one.
fn generated(facts: &Facts<'_>, edge: &CallEdge) -> Option<Place> {
    let file = edge.caller.file;
    let module = facts.module(file);
    match (edge.call, edge.at) {
        (Some(call), _) => Some((file, module.call(call).result)),
        (None, Some(at)) => match module.value(at).value {
            Value::Iteration(base) => Some((file, base)),
            _ => None,
        },
        (None, None) => None,
    }
}

/// A place in the code where there is an element more or less.
#[derive(Debug)]
struct Step {
    block: BlockId,
    of: Vec<Place>,
    /// It is a generator, which is longer for it at once.
    yields: bool,
}

impl Growing {
    pub(super) fn new(facts: &Facts<'_>, files: impl Iterator<Item = FileId>) -> Self {
        let mut own = Self::default();
        for file in files {
            own.add_lists(facts, file);
            own.add_sums(facts, file);
            own.add_entries(facts, file);
            own.add_arrays(facts, file);
            own.add_generators(facts, file);
        }
        own
    }

    fn add_lists(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        let extend = facts.library.lookup("builtins.list.extend");
        for (index, call) in module.calls.iter().enumerate() {
            let Some(list) = facts.receiver(file, call) else { continue };
            let Some(method) = resizing_method(facts, file, CallId::new(index)) else { continue };
            let caller = Caller { file, scope: module.code_scope(call.scope) };
            let of = origins(facts, (file, list));
            if let Some(more) = call.arguments.first().filter(|_| Some(method) == extend) {
                self.handing_on.entry((file, more.value)).or_default().extend(&of);
            }
            let step = Step { block: call.block, of, yields: false };
            self.steps.entry(caller).or_default().push(step);
        }
    }

    /// `images += [flipped]`, `images = images + [flipped]`
    fn add_sums(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        for (index, own) in module.values.iter().enumerate() {
            let Value::Operator { operator, left, right } = own.value else { continue };
            let sum = ValueId::new(index);
            let of = match operator {
                Operator::InPlace(Method::ADD) => origins(facts, (file, left)),
                Operator::Binary(Method::ADD) if is_made_of(facts, file, vec![left, right], sum) => {
                    Vec::new()
                }
                _ => continue,
            };
            let is_list = |own: Object| matches!(own, Object::Container(Container::List, _));
            let is_list = |side: ValueId| facts.objects(file, side).any(|(_, own)| is_list(own));
            let Some(statement) = module.statement_around(own.range).filter(|_| is_list(right)) else {
                continue;
            };
            let statement = module.statement(statement);
            let caller = Caller { file, scope: module.code_scope(statement.scope) };
            self.handing_on.entry((file, right)).or_default().extend(&of);
            let of = of.into_iter().chain([(file, sum)]).collect();
            let step = Step { block: statement.block, of, yields: false };
            self.steps.entry(caller).or_default().push(step);
        }
    }

    /// Entries of dictionaries, under keys that are not written: `found[name] = image`.
    fn add_entries(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        for store in &module.stores {
            let StoreKey::Item(key) = store.key else { continue };
            let is_dictionary = |own: &Object| matches!(own, Object::Container(Container::Dict, _));
            let is_written = matches!(module.value(key).value, Value::Constant(_));
            if is_written || !facts.objects(file, store.base).any(|(_, own)| is_dictionary(&own)) {
                continue;
            }
            let caller = Caller { file, scope: module.code_scope(store.scope) };
            let block = module.statement(store.statement).block;
            let step = Step { block, of: origins(facts, (file, store.base)), yields: false };
            self.steps.entry(caller).or_default().push(step);
        }
    }

    /// Arrays that a loop puts together anew: `rows = np.vstack((rows, row))`.
    fn add_arrays(&mut self, facts: &Facts<'_>, file: FileId) {
        let joining = JOINING.map(|name| facts.library.lookup(name));
        let module = facts.module(file);
        for (index, call) in module.calls.iter().enumerate() {
            let id = CallId::new(index);
            if facts.called_symbols(file, id).any(|own| joining.contains(&Some(own)))
                && is_part_of_itself(facts, file, call)
            {
                let caller = Caller { file, scope: module.code_scope(call.scope) };
                let step = Step { block: call.block, of: vec![(file, call.result)], yields: false };
                self.steps.entry(caller).or_default().push(step);
            }
        }
    }

    fn add_generators(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        let yields = module.side_effects.iter().filter(|(effect, _)| *effect == SideEffect::Yield);
        let yields: FxHashSet<TextRange> = yields.map(|&(_, range)| range).collect();
        if yields.is_empty() {
            return;
        }
        let mut made: FxHashMap<Caller, Vec<Place>> = FxHashMap::default();
        for (index, function) in module.functions.iter().enumerate().filter(|(_, own)| own.generator) {
            let own = FunctionRef { file, function: FunctionId::new(index) };
            let results: Vec<Place> =
                facts.incoming(own).iter().filter_map(|edge| generated(facts, edge)).collect();
            for &value in &function.yields {
                let yielded = module.value(value);
                if let Value::Iteration(base) = yielded.value
                    && yields.contains(&yielded.range)
                {
                    self.handing_on.entry((file, base)).or_default().extend(&results);
                }
            }
            made.insert(facts.code_of(own), results);
        }
        for range in yields {
            let Some(around) = module.statement_around(range) else { continue };
            let statement = module.statement(around);
            let caller = Caller { file, scope: module.code_scope(statement.scope) };
            let flow = &module.scope(caller.scope).flow;
            // What is yielded without end is as long on all ranks.
            if let Some(results) = made.get(&caller).filter(|_| flow.comes_to_end(statement.block)) {
                let step = Step { block: statement.block, of: results.clone(), yields: true };
                self.steps.entry(caller).or_default().push(step);
            }
        }
    }

    /// What is longer on some ranks because conditions on the rank decide on its elements.
    pub(super) fn decided(&self, parts: Parts<'_, '_>) -> Vec<(Place, Difference)> {
        let Parts { facts, blocks, values } = parts;
        let mut found = Vec::new();
        for (&caller, steps) in &self.steps {
            let flow = &facts.module(caller.file).scope(caller.scope).flow;
            for (index, block) in flow.blocks.iter().enumerate() {
                let condition = block.branch.filter(|own| own.kind.outcome(0).is_some());
                let Some(condition) = condition.and_then(|own| own.condition) else { continue };
                let own = values.difference((caller.file, condition));
                if let Some(mut own) = own.filter(|own| own.is_drawn(facts))
                    && !parts.is_dealt_evenly(caller.file, condition)
                {
                    let branch = BlockId::new(index);
                    if may_be_even(facts, (caller.file, condition)) {
                        own.cause = Cause::Cut;
                    }
                    let is_meant = !facts.gives(own.source, &[Effect::DrawsRandom]);
                    let apart = apart(blocks, caller, branch, steps, flow, is_meant);
                    found.extend(apart.into_iter().map(|place| (place, own)));
                }
            }
        }
        found
    }

    /// What has another length because that of a value differs: what gets an element in each turn of a loop over it, and
    /// the generators that hand on what it has. With it whether that is sure: a loop that may be left earlier may make as
    /// many turns on all ranks, and a batch that is yielded when it is full may be one of as many.
    pub(super) fn following(
        &self,
        facts: &Facts<'_>,
        blocks: &Blocks,
        place: Place,
    ) -> impl Iterator<Item = (Place, bool)> {
        let handed = self.handing_on.get(&place).into_iter().flatten().map(|&own| (own, true));
        let decided = blocks.decided_by(place).iter();
        let in_turns = decided.filter_map(move |&(caller, head)| {
            let steps = self.steps.get(&caller)?;
            let flow = &facts.module(caller.file).scope(caller.scope).flow;
            let branch = flow.blocks[head.index()].branch?;
            if branch.kind != BranchKind::For {
                return None;
            }
            let turns: FxHashSet<BlockId> = blocks.region(caller, head).into_iter().collect();
            let stays = |next: &BlockId| *next == head || turns.contains(next);
            let is_left = turns.iter().any(|block| !flow.blocks[block.index()].successors.iter().all(stays));
            let is_turn = |block: BlockId| {
                let branch = flow.blocks[block.index()].branch;
                branch.is_some_and(|own| own.kind == BranchKind::For)
            };
            let longer = steps.iter().filter(|step| turns.contains(&step.block)).flat_map(|step| {
                let mut around = facts.control(caller).of(step.block).into_iter();
                let each_turn = around.all(|own| own != head && !turns.contains(&own) || is_turn(own));
                step.of.iter().map(move |&own| (own, !is_left && each_turn))
            });
            Some(longer.collect::<Vec<_>>())
        });
        handed.chain(in_turns.flatten())
    }
}

/// What gets more elements on one side of a branch than on the other.
fn apart(
    blocks: &Blocks,
    caller: Caller,
    branch: BlockId,
    steps: &[Step],
    flow: &Flow,
    is_meant: bool,
) -> Vec<Place> {
    let sides = blocks.sides(caller, branch);
    let mut counts: BTreeMap<Place, [u32; 2]> = BTreeMap::new();
    // What is dealt out in a loop is a shard; a list of callbacks has one more on some ranks, and that is meant.
    let counts_all = !is_meant || flow.leads(branch, branch);
    for step in steps.iter().filter(|step| step.yields || counts_all) {
        let arm = match sides.get(&step.block) {
            Some(1) => 0,
            Some(2) => 1,
            _ => continue,
        };
        for &place in &step.of {
            counts.entry(place).or_default()[arm] += 1;
        }
    }
    counts.into_iter().filter(|(_, [one, other])| one != other).map(|(place, _)| place).collect()
}

/// Whether a condition may hold as often on all ranks: a batch that is full is one of as many, most likely, and elements
/// that say themselves which rank they are for, `device.task == hvd.rank()`, may be as many for each.
fn may_be_even(facts: &Facts<'_>, (file, condition): Place) -> bool {
    let module = facts.module(file);
    let parts = match &module.value(condition).value {
        Value::Phi(parts) => parts,
        _ => std::slice::from_ref(&condition),
    };
    let compares = |part: ValueId| match module.value(part).value {
        Value::Operator { operator: Operator::Compare(_), left, right } => Some([left, right]),
        _ => None,
    };
    parts.iter().filter_map(|&part| compares(part)).flatten().any(|side| match module.value(side).value {
        Value::Attribute { base, .. } | Value::Item { base, .. } => is_element(facts, (file, base), STEPS),
        _ => facts.gives((file, side), &[Effect::Measures]),
    })
}

/// Whether a value is computed from an element that a loop goes through.
fn is_element(facts: &Facts<'_>, place: Place, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    matches!(facts.module(place.0).value(place.1).value, Value::Iteration(_))
        || facts.influence().operands(place).take(8).any(|own| is_element(facts, own, steps))
}

/// What puts arrays together.
const JOINING: [&str; 6] = [
    "numpy.append",
    "numpy.concatenate",
    "numpy.hstack",
    "numpy.vstack",
    "pandas.concat",
    "tensorflow.concat",
];

/// Whether a call is given what it returned in the turn before.
fn is_part_of_itself(facts: &Facts<'_>, file: FileId, call: &Call) -> bool {
    let module = facts.module(file);
    let mut parts: Vec<ValueId> = Vec::new();
    for argument in &call.arguments {
        match &module.value(argument.value).value {
            Value::Display(_, elements) => parts.extend(elements.iter().filter_map(|own| own.written_out())),
            _ => parts.push(argument.value),
        }
    }
    is_made_of(facts, file, parts, call.result)
}

/// Whether values may be what was computed in the turn before.
fn is_made_of(facts: &Facts<'_>, file: FileId, mut work: Vec<ValueId>, before: ValueId) -> bool {
    let module = facts.module(file);
    let mut seen = FxHashSet::default();
    while let Some(value) = work.pop() {
        if value == before {
            return true;
        }
        if let Value::Phi(parts) = &module.value(value).value
            && seen.insert(value)
        {
            work.extend(parts);
        }
    }
    false
}

/// The method of a list by which a call changes how many elements the list has.
fn resizing_method<'f>(facts: &'f Facts<'_>, file: FileId, call: CallId) -> Option<&'f Symbol> {
    let methods = facts.callees(file, call).iter().filter_map(|edge| facts.builtin_method(edge.callee));
    let of_lists = methods.filter(|&(receiver, _)| facts.builtin_class(receiver) == Some("list"));
    let mut of_lists = of_lists.map(|(_, method)| method);
    of_lists.find(|method| method.has(Effect::Resizes))
}

/// The displays and calls that make a list or a dictionary.
fn origins(facts: &Facts<'_>, place: Place) -> Vec<Place> {
    let mut found = Vec::new();
    add_origins(facts, place, STEPS, &mut found);
    found
}

fn add_origins(facts: &Facts<'_>, place: Place, steps: u32, found: &mut Vec<Place>) {
    let Some(steps) = steps.checked_sub(1) else { return };
    let (file, value) = place;
    match facts.module(file).value(value).value {
        Value::Display(Container::List | Container::Dict, _) | Value::Call(_) => found.push(place),
        Value::Phi(_) | Value::Cell(_) | Value::Import(_) => {
            let operands = facts.influence().operands(place);
            operands.take(8).for_each(|own| add_origins(facts, own, steps, found));
        }
        Value::Attribute { base, .. } => {
            let stored = facts.influence().operands(place).filter(|&own| own != (file, base));
            stored.take(8).for_each(|own| add_origins(facts, own, steps, found));
        }
        _ => {}
    }
}
