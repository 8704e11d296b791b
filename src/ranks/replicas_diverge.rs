//! After the broadcast all ranks hold the same model, and they keep it the same.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::change::{Change, Changes, Culprit, State, join, part, then};
use super::model::Model;
use super::values::{Cause, Difference};
use super::{callbacks, out_of_step, ranks_check};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Finding, Label, Level, Location};
use crate::program::{Caller, ObjectId, Place, Program, TrainingLoop, way};
use crate::project::FileId;
use crate::semantic::{
    BlockId, Branch, BranchKind, CallId, CallKind, Flow, Module, Passing, StatementId, StatementKind, Store,
    StoreKey, Value,
};

ranks_check!("HVD302", "replicas-diverge", Error, check);

fn check(model: &Model<'_>) -> Vec<Finding> {
    let mut found = callbacks::diverging(model);
    let Some(mut replicas) = Replicas::new(model) else { return found };
    let scopes = replicas.follow();
    let mut seen = FxHashSet::default();
    for &program in &model.programs {
        let changes = replicas.of_program(program, &scopes);
        for (&object, &change) in &changes {
            let State::Differs(Some(culprit)) = change.apply(State::Equal) else { continue };
            let finding = replicas.finding(program, object, culprit);
            if seen.insert(finding.primary.location) {
                found.push(finding);
            }
        }
    }
    found
}

/// How often a loop is gone through at most.
const TURNS: usize = 6;

/// How a variable comes to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It is made with random numbers of each rank's own.
    Begins,
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
    trained: FxHashSet<ObjectId>,
    /// The models and optimizers of the loops that a call belongs to.
    steps: FxHashMap<(FileId, CallId), Vec<usize>>,
    /// What the `train_step` of a model trains that `fit` runs.
    parts: Vec<usize>,
    culprits: Vec<(Location, Manner)>,
}

impl<'m, 'c> Replicas<'m, 'c> {
    fn new(model: &'m Model<'c>) -> Option<Self> {
        let mut own = Self {
            model,
            objects: Vec::new(),
            numbers: FxHashMap::default(),
            trained: FxHashSet::default(),
            steps: FxHashMap::default(),
            parts: Vec::new(),
            culprits: Vec::new(),
        };
        for training in model.programs.iter().flat_map(|program| loops(program)) {
            let objects: Vec<ObjectId> =
                training.models.iter().chain(&training.optimizers).copied().collect();
            let numbers: Vec<usize> = objects.iter().map(|&object| own.number(object)).collect();
            own.trained.extend(objects);
            for &step in training.steps.iter().chain(&training.by_hand) {
                own.steps.entry(step).or_default().extend(&numbers);
            }
            own.steps.entry((training.caller.file, training.call)).or_default().extend(&numbers);
        }
        for training in model.programs.iter().flat_map(|program| &program.steps_of_fit) {
            let objects = training.models.iter().chain(&training.optimizers);
            own.parts.extend(objects.filter_map(|object| own.numbers.get(object).copied()));
        }
        for made in &model.facts.creations {
            if made.kind == Kind::Variable && !made.derived && model.files.contains(&made.file) {
                own.number(made.object);
            }
        }
        (!own.objects.is_empty()).then_some(own)
    }

    fn number(&mut self, object: ObjectId) -> usize {
        let next = self.objects.len();
        *self.numbers.entry(object).or_insert_with(|| {
            self.objects.push(object);
            next
        })
    }

    fn culprit(&mut self, at: Location, manner: Manner) -> Culprit {
        self.culprits.push((at, manner));
        u32::try_from(self.culprits.len() - 1).expect("fewer changes than 2^32")
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
        let order = loops_of(flow);
        let together = self.settled(caller, &own, &order, None);
        let mut apart = self.settled(caller, &own, &order, Some(&together));
        apart[Flow::ENTRY.index()].take().unwrap_or_default()
    }

    /// What happens from each block on; `together` has what happens if all ranks decide alike, when they may not.
    fn settled(
        &self,
        caller: Caller,
        own: &[Changes],
        order: &[Vec<BlockId>],
        together: Option<&[Option<Changes>]>,
    ) -> Vec<Option<Changes>> {
        let mut behind: Vec<Option<Changes>> = vec![None; own.len()];
        for component in order {
            for _ in 0..TURNS {
                let mut is_stable = true;
                for &block in component {
                    // What leads to itself alone is known when the loop's end is.
                    let Some(mut changes) = self.joined(caller, block, &behind, together) else { continue };
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
        behind: &[Option<Changes>],
        together: Option<&[Option<Changes>]>,
    ) -> Option<Changes> {
        let model = self.model;
        let block = &model.facts.module(caller.file).scope(caller.scope).flow.blocks[id.index()];
        let arms = block.successors.iter().filter(|next| behind[next.index()].is_some());
        let arms: Vec<BlockId> = arms.copied().collect();
        let Some((&first, others)) = arms.split_first() else {
            return block.successors.is_empty().then(Changes::new);
        };
        let known =
            |changes: &'_ [Option<Changes>], arm: BlockId| changes[arm.index()].clone().unwrap_or_default();
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
                Some(together) => part(&joined, &other, &known(together, first), &known(together, arm)),
                None if joined == other => joined,
                None => join(&joined, &other),
            };
        }
        Some(joined)
    }

    /// Whether some ranks may go one way at a branch and some another, and still come to the end.
    fn may_part(&self, caller: Caller, id: BlockId, branch: &Branch) -> bool {
        let Some(condition) = branch.condition else { return false };
        let place = (caller.file, condition);
        let difference = match branch.kind {
            BranchKind::For => self.model.values.length(place),
            _ => self.model.difference(place),
        };
        difference.is_some_and(|own| own.cause != Cause::Files) && !out_of_step::parts(self.model, caller, id)
    }

    fn of_block(&mut self, caller: Caller, block: BlockId, scopes: &FxHashMap<Caller, Changes>) -> Changes {
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
        let mut changes = Changes::new();
        for (_, call, store) in all {
            if let Some(call) = call {
                for next in self.of_call(caller.file, call, scopes) {
                    changes = then(&changes, &next);
                }
            }
            if let Some(store) = store
                && let Some(next) = self.of_store(caller.file, &module.stores[store as usize])
            {
                changes = then(&changes, &next);
            }
        }
        changes
    }

    fn of_call(&mut self, file: FileId, id: CallId, scopes: &FxHashMap<Caller, Changes>) -> Vec<Changes> {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        if call.kind == CallKind::Decorator {
            return Vec::new();
        }
        let mut found = Vec::new();
        let bodies = facts.callees(file, id).iter().filter(|edge| !self.model.only_wraps(edge));
        let bodies = bodies.filter_map(|edge| crate::program::code(facts.solution.object(edge.callee)));
        let mut bodies = bodies.filter_map(|function| scopes.get(&facts.code_of(function)));
        if let Some(first) = bodies.next() {
            found.push(bodies.fold(first.clone(), |joined, body| join(&joined, body)));
        }
        let symbols: Vec<&Symbol> = facts.called_symbols(file, id).collect();
        for symbol in &symbols {
            found.extend(self.of_symbol(file, id, symbol));
        }
        if symbols.is_empty() {
            found.extend(self.of_unknown(file, id));
        }
        if let Some(steps) = self.steps.get(&(file, id)).cloned() {
            let broadcasts = self.is_broadcast_by_callback(file, id);
            let culprit = self.culprit(self.model.at_call(file, id), Manner::Changed);
            if broadcasts {
                // A `train_step` of the model's own trains parts of it.
                let parts = self.parts.iter().chain(&steps);
                found.push(parts.map(|&object| (object, Change::EQUAL)).collect());
            }
            found.push(steps.iter().map(|&object| (object, Change::touching(culprit))).collect());
        }
        // Made here; a wrapped optimizer begins anew.
        let made: Vec<usize> = facts
            .solution
            .values(file, call.result)
            .iter()
            .filter(|&&object| facts.made_at(object) == Some((file, id)))
            .filter_map(|object| self.numbers.get(object).copied())
            .collect();
        for object in made {
            let change = self.beginning(file, id, object, &symbols);
            found.push(std::iter::once((object, change)).collect());
        }
        found
    }

    /// How an object begins.
    fn beginning(&mut self, file: FileId, id: CallId, object: usize, symbols: &[&Symbol]) -> Change {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        let at = self.model.at_call(file, id);
        let by_rank = call.arguments.iter().find_map(|argument| {
            self.model.difference((file, argument.value)).filter(|own| own.cause == Cause::Rank)
        });
        match facts.kind(self.objects[object]) {
            Some(Kind::Model | Kind::Layer) => {
                let is_loaded = symbols.iter().any(|symbol| {
                    symbol.has(Effect::LoadsModel)
                        || symbol.has(Effect::LoadsWeights)
                        || symbol.has(Effect::ReadsFile)
                });
                if is_loaded || self.model.seeds.cover_weights(facts, file) {
                    Change::EQUAL
                } else {
                    Change::differing(self.culprit(at, Manner::Begins))
                }
            }
            Some(Kind::Variable) => {
                let initial =
                    call.arguments.first().and_then(|first| self.model.difference((file, first.value)));
                match initial.filter(|own| own.cause != Cause::Files) {
                    Some(_) => Change::differing(self.culprit(at, Manner::Begins)),
                    None => Change::EQUAL,
                }
            }
            _ => match by_rank {
                Some(own) => Change::differing(self.culprit(at, Manner::Assigned(own))),
                None => Change::EQUAL,
            },
        }
    }

    /// What a call of the library does to variables.
    fn of_symbol(&mut self, file: FileId, id: CallId, symbol: &Symbol) -> Option<Changes> {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        let given = || call.arguments.iter().map(|argument| (file, argument.value)).collect::<Vec<Place>>();
        let all_equal =
            |objects: Vec<usize>| objects.into_iter().map(|object| (object, Change::EQUAL)).collect();
        if symbol.has(Effect::Broadcasts) && symbol.has(Effect::UpdatesState) {
            let mut from = given();
            if symbol.parameters().len() < 2 {
                return Some(all_equal((0..self.objects.len()).collect()));
            }
            from.extend(facts.receiver(file, call).map(|receiver| (file, receiver)));
            return Some(all_equal(self.behind(&from)));
        }
        // A state of elastic training, a hook: it broadcasts what it is given when training starts.
        if symbol.is_class() && facts.library.member_effects(symbol).contains(Effect::Broadcasts) {
            return Some(all_equal(self.behind(&given())));
        }
        let receiver = facts.receiver(file, call)?;
        let changed = facts
            .solution
            .values(file, receiver)
            .iter()
            .filter_map(|object| self.numbers.get(object).copied());
        let mut changed: Vec<usize> = changed.collect();
        let at = self.model.at_call(file, id);
        let worst =
            given().into_iter().filter_map(|place| self.model.difference(place)).max_by_key(|own| own.cause);
        let worst = worst.filter(|own| own.cause != Cause::Files);
        if symbol.has(Effect::LoadsWeights)
            || symbol.parameter("weights").is_some() && symbol.has(Effect::UpdatesState)
        {
            if changed.is_empty() {
                // `checkpoint.restore(path)`
                changed = self.behind(&[(file, receiver)]);
            }
            return Some(self.assigned(&changed, worst, at, true));
        }
        if !symbol.has(Effect::UpdatesState)
            || symbol.has(Effect::Trains)
            || symbol.has(Effect::AppliesGradients)
        {
            return None;
        }
        let is_variable = |own: &ObjectId| facts.kind(*own) == Some(Kind::Variable);
        if facts.solution.values(file, receiver).iter().any(is_variable) && !changed.is_empty() {
            let replaces = symbol.parameter("value").is_some() && changed.len() == 1;
            return Some(self.assigned(&changed, worst, at, replaces));
        }
        None
    }

    /// `optimizer.learning_rate.assign(rate)`: a method of variables, of something that an optimizer has.
    fn of_unknown(&mut self, file: FileId, id: CallId) -> Option<Changes> {
        let facts = self.model.facts;
        let module = facts.module(file);
        let call = module.call(id);
        let Value::Attribute { base: receiver, name, .. } = module.value(call.callee).value else {
            return None;
        };
        let Value::Attribute { base, .. } = module.value(receiver).value else { return None };
        let method = facts.library.lookup(&format!("tensorflow.Variable.{}", module.names.text(name)))?;
        let given = call.arguments.iter().filter_map(|own| self.model.difference((file, own.value)));
        let worst = given.max_by_key(|own| own.cause).filter(|own| own.cause != Cause::Files)?;
        let owners = facts.of_kind(file, base, Kind::Optimizer);
        let owners: Vec<usize> = owners.iter().filter_map(|own| self.numbers.get(own).copied()).collect();
        let at = self.model.at_call(file, id);
        (method.has(Effect::UpdatesState) && !owners.is_empty())
            .then(|| self.assigned(&owners, Some(worst), at, false))
    }

    /// `optimizer.learning_rate = rate`
    fn of_store(&mut self, file: FileId, store: &Store) -> Option<Changes> {
        let facts = self.model.facts;
        let StoreKey::Attribute(_) = store.key else { return None };
        let own = self.model.difference((file, store.value)).filter(|own| own.cause != Cause::Files)?;
        let owners = facts.of_kind(file, store.base, Kind::Optimizer);
        let owners: Vec<usize> =
            owners.iter().filter_map(|object| self.numbers.get(object).copied()).collect();
        let at = facts.location(file, facts.module(file).statement(store.statement).range);
        (!owners.is_empty()).then(|| self.assigned(&owners, Some(own), at, false))
    }

    fn assigned(
        &mut self,
        objects: &[usize],
        worst: Option<Difference>,
        at: Location,
        replaces: bool,
    ) -> Changes {
        let change = match worst {
            Some(own) => Change::differing(self.culprit(at, Manner::Assigned(own))),
            None => {
                let culprit = self.culprit(at, Manner::Changed);
                if replaces { Change::assigning(culprit) } else { Change::touching(culprit) }
            }
        };
        objects.iter().map(|&object| (object, change)).collect()
    }

    /// The replicas that values are computed from.
    fn behind(&self, places: &[Place]) -> Vec<usize> {
        let facts = self.model.facts;
        let of = |(file, value): Place| {
            facts.solution.values(file, value).iter().filter_map(|own| self.numbers.get(own).copied())
        };
        let behind = facts.influence().backwards(places, |place| of(place).next().is_some());
        let mut found: Vec<usize> = behind.into_iter().flat_map(of).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn is_broadcast_by_callback(&self, file: FileId, id: CallId) -> bool {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        let given =
            facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, "callbacks"));
        let spread =
            call.arguments.iter().filter(|own| matches!(own.passing, Passing::Spread | Passing::Merge));
        let given: Vec<Place> =
            given.into_iter().chain(spread).map(|argument| (file, argument.value)).collect();
        let behind = facts.influence().backwards(&given, |_| false);
        behind.into_iter().any(|(file, value)| {
            facts.is_unknown(file, value) && given.contains(&(file, value))
                || facts.objects(file, value).any(|(object, own)| {
                    facts.kind(object) == Some(Kind::Callback)
                        && facts.symbol(own).is_some_and(|symbol| {
                            facts.library.hook_effects(symbol).contains(Effect::Broadcasts)
                        })
                })
        })
    }

    /// What a program does, with what the import of its modules does.
    fn of_program(&self, program: &Program, scopes: &FxHashMap<Caller, Changes>) -> Changes {
        let mut files = program.files();
        files.sort_by_key(|&file| (file == program.entry, file));
        let tops = files.into_iter().filter_map(|file| scopes.get(&Caller { file, scope: Module::TOP }));
        tops.fold(Changes::new(), |all, next| then(&all, next))
    }

    fn finding(&self, program: &Program, object: usize, culprit: Culprit) -> Finding {
        let (at, manner) = self.culprits[culprit as usize];
        let own = self.objects[object];
        let model = self.model;
        let what = match model.facts.kind(own) {
            Some(Kind::Model | Kind::Layer) => "the model",
            Some(Kind::Optimizer) => "the optimizer",
            _ => "the variable",
        };
        let (primary, message, level, help) = match manner {
            Manner::Begins => {
                let training = loops(program).find(|training| training.models.contains(&own));
                let primary = training.map_or(at, |training| self.place_of_training(program, training));
                let message = format!(
                    "{what} begins with other values on each rank, and no broadcast makes them equal"
                );
                (
                    primary,
                    message,
                    Level::Error,
                    "broadcast the variables of rank 0 before they are relied on",
                )
            }
            Manner::Assigned(own) => {
                let level = if own.cause == Cause::Rank { Level::Error } else { Level::Warning };
                let message = format!("{what} gets another value on each rank");
                (at, message, level, "assign a value that is equal on all ranks, or broadcast it behind")
            }
            Manner::Changed => {
                let message =
                    format!("{what} is changed by some ranks only, and nothing makes them equal again");
                (at, message, Level::Error, "change it on all ranks, or broadcast the variables behind it")
            }
        };
        let level = if self.trained.contains(&own) { level } else { Level::Warning };
        let scope = scope_at(model, primary);
        let mut finding = Finding::new(&CHECK.rule, level, primary, message)
            .here("differs between ranks")
            .help(help)
            .in_scope(model.facts.scope_name(scope));
        let made = model.facts.made_at(own).map(|(file, call)| model.at_call(file, call));
        if let Some(made) = made {
            finding.flow.push(Label { location: made, message: "each rank makes its own".to_owned() });
            if made != primary {
                finding = finding.label(made, "each rank makes its own");
            }
        }
        if let Manner::Assigned(own) = manner {
            let origin = out_of_step::source(model, own);
            finding.flow.push(origin.clone());
            if origin.location != primary {
                finding = finding.label(origin.location, origin.message);
            }
        }
        finding.flow.push(Label { location: primary, message: "differs from here on".to_owned() });
        finding
    }

    /// The loop that makes the steps, as a reader sees it: the statement that repeats them.
    fn place_of_training(&self, program: &Program, training: &TrainingLoop) -> Location {
        let facts = self.model.facts;
        let header = |file: FileId, statement: StatementId| {
            let module = facts.module(file);
            let scope = module.statement(statement).scope;
            module
                .ancestor_ids(statement)
                .find(|&id| {
                    let around = module.statement(id);
                    around.scope == scope && matches!(around.kind, StatementKind::For | StatementKind::While)
                })
                .map(|id| facts.location(file, module.statement(id).header))
        };
        let own = header(training.caller.file, training.statement);
        own.or_else(|| {
            way(facts, program, training.caller).into_iter().rev().find_map(|edge| {
                let module = facts.module(edge.caller.file);
                header(edge.caller.file, module.call(edge.call?).statement)
            })
        })
        .unwrap_or_else(|| facts.location(training.caller.file, training.range))
    }
}

fn loops(program: &Program) -> impl Iterator<Item = &TrainingLoop> {
    program.loops.iter().chain(&program.steps_of_fit)
}

/// The innermost scope around a place.
fn scope_at(model: &Model<'_>, at: Location) -> Caller {
    let module = model.facts.module(at.file);
    let statements = module.statements.iter().filter(|own| own.range.contains_range(at.text_range()));
    let innermost = statements.min_by_key(|own| own.range.len());
    Caller { file: at.file, scope: innermost.map_or(Module::TOP, |own| own.scope) }
}

/// The blocks in the order in which what follows them is known: those of a loop together, behind what follows it.
fn loops_of(flow: &Flow) -> Vec<Vec<BlockId>> {
    let mut graph = DiGraph::<(), ()>::with_capacity(flow.blocks.len(), flow.blocks.len() * 2);
    for _ in &flow.blocks {
        graph.add_node(());
    }
    for (index, block) in flow.blocks.iter().enumerate() {
        for next in &block.successors {
            graph.add_edge(NodeIndex::new(index), NodeIndex::new(next.index()), ());
        }
    }
    let components = tarjan_scc(&graph).into_iter();
    components.map(|nodes| nodes.into_iter().map(|node| BlockId::new(node.index())).collect()).collect()
}
