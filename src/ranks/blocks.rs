//! What stands in the blocks of a program's scopes, and which blocks a branch decides on.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Caller, Facts};
use crate::project::FileId;
use crate::semantic::{
    BlockId, Branch, BranchKind, CallId, Dependence, Flow, Module, ScopeId, Statement, StatementId,
    StatementKind, Value, ValueId, Variable,
};
use crate::syntax::{TextRange, TextSize};

/// What a block executes, in the order of evaluation.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The calls; those in an argument before the one that is given it.
    pub calls: Vec<CallId>,
    /// What is evaluated so that the language calls functions of the project.
    pub implied: Vec<ValueId>,
    /// The definitions: indices into the module's.
    pub definitions: Vec<u32>,
    /// The stores into attributes and items: indices into the module's.
    pub stores: Vec<u32>,
    /// The `return` and `raise` statements.
    pub leaves: Vec<StatementId>,
}

/// A scope's blocks.
#[derive(Debug, Default)]
struct ScopeBlocks {
    contents: FxHashMap<BlockId, Contents>,
    /// For each block that branches the blocks that it decides on by itself, with the arm.
    decided: FxHashMap<BlockId, Vec<(BlockId, usize)>>,
}

/// Behind a test end at most so many others before the conditional expression that it belongs to.
const NEAR: usize = 64;

/// A read under the name of a variable: whose code, and in which block.
type Reading = (Variable, Caller, BlockId);

/// The blocks of all scopes that programs reach.
#[derive(Debug, Default)]
pub struct Blocks {
    scopes: FxHashMap<Caller, ScopeBlocks>,
    /// Where a value is the condition of a branch.
    conditions: FxHashMap<(FileId, ValueId), Vec<(Caller, BlockId)>>,
    /// The values of conditional expressions and the like in each file, by where they end.
    choices: FxHashMap<FileId, Vec<(TextRange, ValueId)>>,
    /// What decides between the parts of conditional expressions.
    tests: FxHashMap<(FileId, ValueId), Vec<ValueId>>,
    /// The variables that hold a value which merges several definitions.
    merged: FxHashMap<(FileId, ValueId), Vec<Variable>>,
    /// Where values are read under names.
    reads: FxHashMap<(FileId, ValueId), Vec<Reading>>,
}

/// The blocks of each scope that end in an exception.
fn raising_blocks(module: &Module) -> FxHashMap<ScopeId, FxHashSet<BlockId>> {
    let mut raising: FxHashMap<ScopeId, FxHashSet<BlockId>> = FxHashMap::default();
    for raise in module.statements.iter().filter(|own| own.kind == StatementKind::Raise) {
        if module.scope(raise.scope).flow.blocks[raise.block.index()].successors.is_empty() {
            raising.entry(raise.scope).or_default().insert(raise.block);
        }
    }
    raising
}

/// A flow without the ways that end in one of these blocks, by an exception: ranks that fail decide nothing for those
/// that go on.
fn without_failures(flow: &Flow, raising: &FxHashSet<BlockId>) -> Flow {
    let is_end = |block: BlockId| flow.blocks[block.index()].successors.is_empty();
    let all = || (0..flow.blocks.len()).map(BlockId::new);
    let mut before = vec![Vec::new(); flow.blocks.len()];
    for block in all() {
        for next in &flow.blocks[block.index()].successors {
            before[next.index()].push(block);
        }
    }
    // What goes on comes to another end, or turns in a loop for ever.
    let mut goes_on = vec![false; flow.blocks.len()];
    let mut work: Vec<BlockId> = all().filter(|&block| is_end(block) && !raising.contains(&block)).collect();
    let turns = |component: &Vec<BlockId>| {
        component.len() > 1 || flow.blocks[component[0].index()].successors.contains(&component[0])
    };
    work.extend(flow.components().into_iter().filter(turns).flatten());
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut goes_on[block.index()], true) {
            work.extend(&before[block.index()]);
        }
    }
    let mut blocks = flow.blocks.clone();
    for block in &mut blocks {
        let kept = block.successors.iter().copied().find(|next| goes_on[next.index()]);
        for next in &mut block.successors {
            if let Some(kept) = kept.filter(|_| !goes_on[next.index()]) {
                *next = kept;
            }
        }
    }
    Flow::new(blocks)
}

static NOTHING: Contents = Contents {
    calls: Vec::new(),
    implied: Vec::new(),
    definitions: Vec::new(),
    stores: Vec::new(),
    leaves: Vec::new(),
};

impl Blocks {
    /// The blocks of these scopes, and of all others in their files.
    #[must_use]
    pub fn new(facts: &Facts<'_>, files: &[FileId]) -> Self {
        let mut blocks = Self::default();
        for &file in files {
            blocks.add(facts, file);
        }
        blocks
    }

    fn add(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        let caller = |scope| Caller { file, scope };
        let raising = raising_blocks(module);
        for index in 0..module.scopes.len() {
            let scope = ScopeId::new(index);
            let flow = &module.scope(scope).flow;
            let going_on =
                raising.get(&scope).map(|raising| without_failures(flow, raising).control_dependence());
            let control = going_on.as_ref().unwrap_or_else(|| facts.control(caller(scope)));
            let own = self.scopes.entry(caller(scope)).or_default();
            for (index, block) in flow.blocks.iter().enumerate() {
                let id = BlockId::new(index);
                for &Dependence { branch, arm } in control.direct(id) {
                    own.decided.entry(branch).or_default().push((id, arm));
                }
                if let Some(condition) = block.branch.and_then(|branch| branch.condition) {
                    self.conditions.entry((file, condition)).or_default().push((caller(scope), id));
                }
            }
        }
        let values = (0..).map(ValueId::new).zip(&module.values);
        let choices = values.filter(|(_, own)| matches!(own.value, Value::Phi(_)) && !own.range.is_empty());
        let mut choices: Vec<(TextRange, ValueId)> = choices.map(|(id, own)| (own.range, id)).collect();
        choices.sort_by_key(|(range, _)| (range.end(), std::cmp::Reverse(range.start())));
        self.choices.insert(file, choices);
        self.name_merged(file, module);
        for block in module.scopes.iter().flat_map(|scope| &scope.flow.blocks) {
            if let Some(Branch { kind: BranchKind::If, condition: Some(test), range, statement }) =
                block.branch
                && module.statement(statement).kind != StatementKind::If
                && let Some(choice) = self.choice_around(file, range)
            {
                self.tests.entry((file, choice)).or_default().push(test);
            }
        }
        let mut calls: Vec<CallId> = (0..module.calls.len()).map(CallId::new).collect();
        calls.sort_by_key(|&call| (module.call(call).range.end(), std::cmp::Reverse(call)));
        for call in calls {
            let data = module.call(call);
            self.contents(caller(data.scope), data.block).calls.push(call);
        }
        self.add_implied(facts, file);
        for (index, definition) in (0..).zip(&module.definitions) {
            self.contents(caller(definition.scope), definition.block).definitions.push(index);
        }
        for (index, store) in (0..).zip(&module.stores) {
            let block = module.statement(store.statement).block;
            self.contents(caller(store.scope), block).stores.push(index);
        }
        for (index, statement) in module.statements.iter().enumerate() {
            if matches!(statement.kind, StatementKind::Return | StatementKind::Raise) {
                let leaves = &mut self.contents(caller(statement.scope), statement.block).leaves;
                leaves.push(StatementId::new(index));
            }
        }
    }

    /// Finds where the language calls functions: in the block of the name that such an expression begins with, else in
    /// that of its statement.
    fn add_implied(&mut self, facts: &Facts<'_>, file: FileId) {
        let mut implied: Vec<ValueId> = facts.implied_calls(file).iter().map(|own| own.1).collect();
        if implied.is_empty() {
            return;
        }
        let module = facts.module(file);
        implied.dedup();
        implied.sort_by_key(|&value| module.value(value).range.end());
        let begun: FxHashMap<(ScopeId, TextSize), BlockId> =
            module.uses.iter().map(|own| ((own.scope, own.range.start()), own.block)).collect();
        for value in implied {
            let own = module.value(value);
            let around = || {
                let is_before = |statement: &Statement| statement.range.start() <= own.range.start();
                let last = module.statements.partition_point(is_before).checked_sub(1)?;
                Some(module.statements[last].block)
            };
            if let Some(block) = begun.get(&(own.scope, own.range.start())).copied().or_else(around) {
                self.contents(Caller { file, scope: own.scope }, block).implied.push(value);
            }
        }
    }

    /// Finds the variables of merged values: those under whose names they are read, by themselves or merged again.
    fn name_merged(&mut self, file: FileId, module: &Module) {
        for own in &module.uses {
            let reader = Caller { file, scope: own.scope };
            let read = own.variable.map(|variable| (variable, reader, own.block));
            self.reads.entry((file, own.value)).or_default().extend(read);
        }
        let read = module.uses.iter().filter_map(|own| Some((own.value, own.variable?)));
        let mut work: Vec<(ValueId, Variable)> = read.collect();
        while let Some((value, variable)) = work.pop() {
            let Value::Phi(parts) = &module.value(value).value else { continue };
            let names = self.merged.entry((file, value)).or_default();
            if module.value(value).range.is_empty() && !names.contains(&variable) {
                names.push(variable);
                work.extend(parts.iter().map(|&part| (part, variable)));
            }
        }
    }

    /// The variables that hold a value which merges several definitions, as far as it is read under their names.
    #[must_use]
    pub fn names_of(&self, place: (FileId, ValueId)) -> &[Variable] {
        self.merged.get(&place).map_or(&[], Vec::as_slice)
    }

    /// The blocks that read a value under the name of a variable, each with the scope whose code it is.
    pub fn readers(
        &self,
        place: (FileId, ValueId),
        variable: Variable,
    ) -> impl Iterator<Item = (Caller, BlockId)> + '_ {
        let reads = self.reads.get(&place).into_iter().flatten();
        reads.filter(move |read| read.0 == variable).map(|&(_, reader, block)| (reader, block))
    }

    fn contents(&mut self, caller: Caller, block: BlockId) -> &mut Contents {
        self.scopes.entry(caller).or_default().contents.entry(block).or_default()
    }

    /// What a block executes.
    #[must_use]
    pub fn of(&self, caller: Caller, block: BlockId) -> &Contents {
        self.scopes.get(&caller).and_then(|own| own.contents.get(&block)).unwrap_or(&NOTHING)
    }

    /// The branches that a value decides.
    #[must_use]
    pub fn decided_by(&self, place: (FileId, ValueId)) -> &[(Caller, BlockId)] {
        self.conditions.get(&place).map_or(&[], Vec::as_slice)
    }

    /// The merged value of the conditional expression or chain of `and` and `or` whose test stands at `test`.
    #[must_use]
    pub fn choice_around(&self, file: FileId, test: TextRange) -> Option<ValueId> {
        let choices = self.choices.get(&file)?;
        let from = choices.partition_point(|(range, _)| range.end() <= test.end());
        let around = choices[from..].iter().take(NEAR).find(|(range, _)| range.contains_range(test));
        around.map(|&(_, value)| value)
    }

    /// What decides between the parts of a merged value, if it is that of a conditional expression.
    #[must_use]
    pub fn tests(&self, place: (FileId, ValueId)) -> &[ValueId] {
        self.tests.get(&place).map_or(&[], Vec::as_slice)
    }

    /// The blocks that run or not depending on how a branch goes, itself excluded, each once.
    #[must_use]
    pub fn region(&self, caller: Caller, branch: BlockId) -> Vec<BlockId> {
        let Some(own) = self.scopes.get(&caller) else { return Vec::new() };
        let mut found: Vec<BlockId> = Vec::new();
        let mut seen: FxHashSet<BlockId> = std::iter::once(branch).collect();
        let mut work = vec![branch];
        while let Some(at) = work.pop() {
            for &(block, _) in own.decided.get(&at).into_iter().flatten() {
                if seen.insert(block) {
                    found.push(block);
                    work.push(block);
                }
            }
        }
        found
    }

    /// The blocks that run or not depending on how a branch goes, each with the arms under which it runs, as bits.
    #[must_use]
    pub fn sides(&self, caller: Caller, branch: BlockId) -> FxHashMap<BlockId, u64> {
        let Some(own) = self.scopes.get(&caller) else { return FxHashMap::default() };
        let mut sides: FxHashMap<BlockId, u64> = FxHashMap::default();
        let mut work: Vec<(BlockId, u64)> = Vec::new();
        for &(block, arm) in own.decided.get(&branch).into_iter().flatten() {
            work.push((block, 1 << arm.min(63)));
        }
        while let Some((block, arms)) = work.pop() {
            let known = sides.entry(block).or_default();
            if *known | arms != *known {
                *known |= arms;
                let next = own.decided.get(&block).filter(|_| block != branch).into_iter().flatten();
                work.extend(next.map(|&(next, _)| (next, arms)));
            }
        }
        sides
    }
}
