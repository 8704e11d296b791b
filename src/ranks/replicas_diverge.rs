//! After the broadcast all ranks hold the same model, and they keep it the same.

mod alike;
mod applied;
mod behind;
mod calls;
mod first_turn;
mod hooks;
mod reads;
mod report;
mod spent;
mod told;
mod turns;
mod weights;

use rustc_hash::{FxHashMap, FxHashSet};

use super::change::{Change, Changes, Culprit, State, join, part, then};
use super::model::Model;
use super::values::{Cause, Difference, Read};
use super::{callbacks, out_of_step, ranks_check};
use crate::api::{Kind, Symbol};
use crate::finding::{Confidence, Finding, Location};
use crate::program::{Caller, ObjectId, Program, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{BlockId, Branch, BranchKind, CallId, Flow, Module};
use crate::syntax::TextSize;

use alike::Alike;
use spent::FirstFits;
use told::Closed;

ranks_check!("HVD302", "replicas-diverge", Error, check);

fn check(model: &Model<'_>) -> Vec<Finding> {
    let mut found = callbacks::diverging(model);
    let Some(mut replicas) = Replicas::new(model) else { return found };
    let scopes = replicas.follow();
    let mut seen = FxHashSet::default();
    for &program in &model.programs {
        let changes = changes_of(program, &scopes);
        for (&object, &change) in &changes {
            let Some(culprit) = change.apply(State::Equal).culprit() else { continue };
            if !replicas.is_made_in(program, object) {
                continue;
            }
            let finding = replicas.finding(program, object, culprit);
            if seen.insert(finding.primary.location) {
                found.push(finding);
            }
        }
    }
    found
}

/// What the programs read of variables that differ there, as far as nobody knew before.
pub(super) fn reads_that_differ(model: &Model<'_>) -> Vec<Read> {
    Replicas::new(model).map_or_else(Vec::new, |mut replicas| replicas.reads())
}

/// What a program does, with what the import of its modules does.
fn changes_of(program: &Program, scopes: &FxHashMap<Caller, Changes>) -> Changes {
    let mut files = program.files();
    files.sort_by_key(|&file| (file == program.entry, file));
    let tops = files.into_iter().filter_map(|file| scopes.get(&Caller { file, scope: Module::TOP }));
    tops.fold(Changes::new(), |all, next| then(&all, next))
}

/// How often a loop is gone through at most.
const TURNS: usize = 6;

/// How far the calls of functions are followed back.
const DEPTH: usize = 8;

/// How a variable comes to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It is made of what differs: random weights are each rank's own.
    Begins(Cause),
    /// It is assigned a value that differs.
    Assigned(Difference),
    /// It is changed by some ranks only.
    Changed,
}

/// What should be equal on all ranks: trained models, their optimizers, variables.
struct Replicas<'m, 'c> {
    model: &'m Model<'c>,
    objects: Vec<ObjectId>,
    numbers: FxHashMap<ObjectId, usize>,
    /// Beside an optimizer, the attributes that are no variables of it: its rate, which no broadcast of its variables
    /// makes equal.
    settings: FxHashMap<usize, usize>,
    trained: FxHashSet<ObjectId>,
    /// The models and optimizers of the loops that a call belongs to.
    steps: FxHashMap<(FileId, CallId), Vec<usize>>,
    /// What the `train_step` of a model trains that `fit` runs.
    parts: Vec<usize>,
    /// Whether a callback broadcasts what a step trains, as far as somebody asked before.
    broadcast_steps: FxHashMap<(FileId, CallId), bool>,
    /// The class of lists of callbacks.
    list_of_callbacks: Option<&'m Symbol>,
    /// The scopes whose code comes to a step.
    training: FxHashSet<Caller>,
    culprits: Vec<(Location, Manner)>,
    /// Those that load weights from files.
    loads: FxHashSet<Culprit>,
    /// What the blocks of functions do in which a parameter decides.
    told: FxHashMap<Caller, Vec<Changes>>,
    first_fits: FirstFits,
    alike: Alike,
    /// For the first of several calls that train alike what is said to blame for all of them.
    of_alike: FxHashMap<(FileId, CallId), Culprit>,
}

/// Whether several ranks make an object: what a single one makes for itself, or none, has no replicas.
fn has_replicas(model: &Model<'_>, object: ObjectId) -> bool {
    model.facts.made_at(object).is_none_or(|(file, call)| {
        let call = model.facts.module(file).call(call);
        let caller = Caller { file, scope: call.scope };
        !model.unreached.is_block(caller, call.block) && !model.guard(caller, call.block).is_one()
    })
}

impl<'m, 'c> Replicas<'m, 'c> {
    fn new(model: &'m Model<'c>) -> Option<Self> {
        let mut own = Self {
            model,
            objects: Vec::new(),
            numbers: FxHashMap::default(),
            settings: FxHashMap::default(),
            trained: FxHashSet::default(),
            steps: FxHashMap::default(),
            parts: Vec::new(),
            broadcast_steps: FxHashMap::default(),
            list_of_callbacks: model.facts.library.lookup(hooks::LIST),
            training: FxHashSet::default(),
            culprits: Vec::new(),
            loads: FxHashSet::default(),
            told: FxHashMap::default(),
            first_fits: FirstFits::new(model, model.programs.iter().flat_map(|own| &own.loops)),
            alike: Alike::default(),
            of_alike: FxHashMap::default(),
        };
        for &program in &model.programs {
            for training in loops(model, program) {
                // Ranks that average weights step with optimizers of their own.
                let are_own = model.facts.averages_weights(program, training);
                // One that a name stands for is made with its model.
                let is_made = |own: &&ObjectId| model.facts.made_at(**own).is_some();
                let optimizers = training.optimizers.iter().filter(|own| !are_own && is_made(own));
                let objects = training.models.iter().chain(optimizers).copied();
                let objects: Vec<ObjectId> = objects.filter(|&object| has_replicas(model, object)).collect();
                let numbers: Vec<usize> = objects.iter().map(|&object| own.number(object)).collect();
                own.trained.extend(objects);
                for &step in training.steps.iter().chain(&training.by_hand) {
                    own.steps.entry(step).or_default().extend(&numbers);
                }
                own.steps.entry((training.caller.file, training.call)).or_default().extend(&numbers);
            }
        }
        own.alike = Alike::new(model, &own.steps);
        for training in model.programs.iter().flat_map(|program| &program.steps_of_fit) {
            let objects = training.models.iter().chain(&training.optimizers);
            own.parts.extend(objects.filter_map(|object| own.numbers.get(object).copied()));
        }
        for made in &model.facts.creations {
            // What a layer or a metric makes by a method of its own is a part of it.
            let maker = model.facts.receiver(made.file, model.facts.module(made.file).call(made.call));
            let is_part = || {
                let kinds = [Kind::Layer, Kind::Model, Kind::Metric];
                maker
                    .is_some_and(|maker| kinds.iter().any(|&kind| model.facts.may_be(made.file, maker, kind)))
            };
            if made.kind == Kind::Variable
                && !made.derived
                && model.files.contains(&made.file)
                && !is_part()
                && has_replicas(model, made.object)
            {
                own.number(made.object);
            }
        }
        for number in 0..own.objects.len() {
            if model.facts.kind(own.objects[number]) == Some(Kind::Optimizer) {
                own.settings.insert(number, own.objects.len());
                own.objects.push(own.objects[number]);
            }
        }
        own.trained.extend(own.sources_of_averages());
        own.training = own.scopes_that_train();
        (!own.objects.is_empty()).then_some(own)
    }

    fn number(&mut self, object: ObjectId) -> usize {
        let next = self.objects.len();
        *self.numbers.entry(object).or_insert_with(|| {
            self.objects.push(object);
            next
        })
    }

    /// Whether a program runs the code that makes an object: what a function does to its parameter it does to the
    /// objects of other programs, too, such as the tests'.
    fn is_made_in(&self, program: &Program, object: usize) -> bool {
        let made = self.model.facts.made_at(self.objects[object]);
        made.is_none_or(|(file, call)| {
            let module = self.model.facts.module(file);
            program.reached.contains(&Caller { file, scope: module.code_scope(module.call(call).scope) })
        })
    }

    fn culprit(&mut self, at: Location, manner: Manner) -> Culprit {
        self.culprits.push((at, manner));
        u32::try_from(self.culprits.len() - 1).expect("fewer changes than 2^32")
    }

    /// The steps that models make of themselves, in a `train_step`, where a call trains them.
    fn steps_of_fit(&self, file: FileId, call: CallId) -> Vec<(FileId, CallId)> {
        let trained = self.steps.get(&(file, call)).map_or(&[][..], Vec::as_slice);
        let is_trained = |own: &ObjectId| self.numbers.get(own).is_some_and(|own| trained.contains(own));
        let own = self.model.programs.iter().flat_map(|program| &program.steps_of_fit);
        let own = own.filter(|own| own.models.iter().chain(&own.optimizers).any(is_trained));
        own.flat_map(|own| own.steps.iter().chain(&own.by_hand).copied().chain([(own.caller.file, own.call)]))
            .collect()
    }

    /// The step that a call makes in all that it trains.
    fn step(&mut self, file: FileId, call: CallId) -> Change {
        let mut steps = std::iter::once((file, call)).chain(self.steps_of_fit(file, call));
        if let Some(((file, call), difference)) =
            steps.find_map(|(file, call)| Some(((file, call), self.applied(file, call)?)))
        {
            let at = self.model.at_call(file, call);
            return Change::parting(self.culprit(at, Manner::Assigned(difference)));
        }
        let at = self.model.at_call(file, call);
        let Some(first) = self.alike.first(file, call) else {
            return Change::touching(self.culprit(at, Manner::Changed));
        };
        let known = self.of_alike.get(&(file, first)).copied();
        let culprit = known.unwrap_or_else(|| self.culprit(at, Manner::Changed));
        self.of_alike.insert((file, first), culprit);
        Change::touching_alike(culprit)
    }

    /// What the code of each scope does, those that are called first.
    fn follow(&mut self) -> FxHashMap<Caller, Changes> {
        let mut scopes: FxHashMap<Caller, Changes> = FxHashMap::default();
        for &caller in &self.model.comms.order {
            let changes = self.of_scope(caller, &scopes);
            if !changes.is_empty() {
                scopes.insert(caller, changes);
            }
        }
        scopes
    }

    fn of_scope(&mut self, caller: Caller, scopes: &FxHashMap<Caller, Changes>) -> Changes {
        let flow = &self.model.facts.module(caller.file).scope(caller.scope).flow;
        let own: Vec<Changes> =
            (0..flow.blocks.len()).map(|block| self.of_block(caller, BlockId::new(block), scopes)).collect();
        if own.iter().all(Changes::is_empty) {
            return Changes::new();
        }
        let changes = self.summary(caller, &own, &[]);
        if self.is_told(caller) {
            self.told.insert(caller, own);
        }
        changes
    }

    /// What a scope does, given what its blocks do, where control does not take some arms of its branches.
    fn summary(&self, caller: Caller, own: &[Changes], closed: &[Closed]) -> Changes {
        let order = self.model.facts.module(caller.file).scope(caller.scope).flow.components();
        let together = self.settled(caller, own, &order, None, closed);
        let mut apart = self.settled(caller, own, &order, Some(&together), closed);
        apart[Flow::ENTRY.index()].take().unwrap_or_default()
    }

    /// What happens from each block on; `together` has what happens if all ranks decide alike, when they may not.
    fn settled(
        &self,
        caller: Caller,
        own: &[Changes],
        order: &[Vec<BlockId>],
        together: Option<&[Option<Changes>]>,
        closed: &[Closed],
    ) -> Vec<Option<Changes>> {
        let mut behind: Vec<Option<Changes>> = vec![None; own.len()];
        for component in order {
            for _ in 0..TURNS {
                let mut is_stable = true;
                for &block in component {
                    // What leads to itself alone is known when the loop's end is.
                    let Some(mut changes) = self.joined(caller, block, own, &behind, together, closed) else {
                        continue;
                    };
                    if together.is_some() && (component.len() > 1 || self.is_run_each_turn(caller)) {
                        let parted = self.parted_each_turn(caller, block, own);
                        if !parted.is_empty() {
                            changes = then(&parted, &changes);
                        }
                    }
                    if !own[block.index()].is_empty() {
                        changes = then(&own[block.index()], &changes);
                    }
                    if behind[block.index()].as_ref() != Some(&changes) {
                        is_stable = false;
                        behind[block.index()] = Some(changes);
                    }
                }
                if is_stable || component.len() == 1 {
                    break;
                }
            }
        }
        behind
    }

    /// What happens behind a block.
    fn joined(
        &self,
        caller: Caller,
        id: BlockId,
        own: &[Changes],
        behind: &[Option<Changes>],
        together: Option<&[Option<Changes>]>,
        closed: &[Closed],
    ) -> Option<Changes> {
        let model = self.model;
        let block = &model.facts.module(caller.file).scope(caller.scope).flow.blocks[id.index()];
        let several = block
            .successors
            .iter()
            .enumerate()
            .filter(|&(arm, _)| !model.unreached.is_arm(caller, id, arm) && !closed.contains(&(id, arm)));
        let arms = several.map(|(_, next)| next).filter(|next| behind[next.index()].is_some());
        let mut arms: Vec<BlockId> = arms.copied().collect();
        // A rank that fails is not one that others differ from.
        let fails =
            |arm: &BlockId| model.comms.way(caller, *arm).is_some_and(|way| model.comms.only_fails(way));
        if !arms.iter().all(fails) {
            arms.retain(|arm| !fails(arm));
        }
        let Some((&first, others)) = arms.split_first() else {
            return block.successors.is_empty().then(Changes::new);
        };
        let known = |changes: &'_ [Option<Changes>], arm: BlockId| {
            let first_turn = self.first_turn(caller, id, arm).and_then(|body| changes[body.index()].as_ref());
            match first_turn {
                Some(body) => then(&own[arm.index()], body),
                None => changes[arm.index()].clone().unwrap_or_default(),
            }
        };
        let mut joined = known(behind, first);
        let Some(branch) = block.branch else { return Some(joined) };
        // Exceptions are no part of what is meant to happen.
        if branch.kind == BranchKind::Try || model.facts.is_main_guard(caller.file, &branch) {
            return Some(joined);
        }
        let apart = together.filter(|_| self.may_part(caller, id, &branch));
        for &arm in others {
            let other = known(behind, arm);
            joined = match apart {
                Some(together) => {
                    let mut parted = part(&joined, &other, &known(together, first), &known(together, arm));
                    let alike = join(&joined, &other);
                    let settled = self.assigned_each_turn(caller, id, own).into_iter();
                    parted.extend(settled.filter_map(|object| Some((object, *alike.get(&object)?))));
                    parted
                }
                None if joined == other => joined,
                None => join(&joined, &other),
            };
        }
        Some(joined)
    }

    /// Whether some ranks may go one way at a branch and some another, and still come to the end.
    fn may_part(&self, caller: Caller, id: BlockId, branch: &Branch) -> bool {
        self.parts_by(caller, id, branch).is_some()
    }

    /// Why some ranks may go one way at a branch and some another, and still come to the end.
    fn parts_by(&self, caller: Caller, id: BlockId, branch: &Branch) -> Option<Difference> {
        let place = (caller.file, branch.condition?);
        let difference = match branch.kind {
            BranchKind::For => out_of_step::turns_differ(self.model, caller, id, place.1),
            _ => self.model.difference(place),
        };
        let is_sure = |own: Difference| match branch.kind {
            BranchKind::For => !own.cause.is_weak(),
            _ => self.model.sureness(place, own.cause) == Confidence::Certain,
        };
        difference.filter(|&own| {
            is_sure(own) && self.model.among_ranks(own) && !out_of_step::parts(self.model, caller, id)
        })
    }

    fn of_block(&mut self, caller: Caller, block: BlockId, scopes: &FxHashMap<Caller, Changes>) -> Changes {
        let events = self.events(caller, block, scopes);
        events.into_iter().fold(Changes::new(), |changes, (_, next)| then(&changes, &next))
    }

    /// What a block does, each with where it is done.
    fn events(
        &mut self,
        caller: Caller,
        block: BlockId,
        scopes: &FxHashMap<Caller, Changes>,
    ) -> Vec<(TextSize, Changes)> {
        let model = self.model;
        let module = model.facts.module(caller.file);
        let contents = model.blocks.of(caller, block);
        let calls = contents.calls.iter().map(|&call| (module.call(call).range.end(), Some(call), None));
        let stores = contents.stores.iter().map(|&store| {
            let statement = module.statement(module.stores[store as usize].statement);
            (statement.range.end(), None, Some(store))
        });
        let mut all: Vec<_> = calls.chain(stores).collect();
        all.sort_by_key(|&(end, ..)| end);
        let mut events = Vec::new();
        for (end, call, store) in all {
            if let Some(call) = call {
                events.extend(self.of_call(caller.file, call, scopes).into_iter().map(|next| (end, next)));
            }
            if let Some(store) = store
                && let Some(next) = self.of_store(caller.file, &module.stores[store as usize])
            {
                events.push((end, next));
            }
        }
        events
    }
}

/// The loops that several ranks come to; not those that something else distributes.
fn loops<'p>(model: &Model<'_>, program: &'p Program) -> impl Iterator<Item = &'p TrainingLoop> {
    let is_run = |own: &&TrainingLoop| {
        !model.unreached.is_loop(model.facts, own) && !model.facts.is_distributed_elsewhere(own)
    };
    program.loops.iter().chain(&program.steps_of_fit).filter(is_run)
}
