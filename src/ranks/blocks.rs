//! What stands in the blocks of a program's scopes, and which blocks a branch decides on.

use rustc_hash::FxHashMap;

use crate::program::{Caller, Facts};
use crate::project::FileId;
use crate::semantic::{
    BlockId, BranchKind, CallId, Dependence, ScopeId, StatementId, StatementKind, Value, ValueId,
};
use crate::syntax::TextRange;

/// What a block executes, in the order of evaluation.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The calls; those in an argument before the one that is given it.
    pub calls: Vec<CallId>,
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

/// The blocks of all scopes that programs reach.
#[derive(Debug, Default)]
pub struct Blocks {
    scopes: FxHashMap<Caller, ScopeBlocks>,
    /// Where a value is the condition of a branch.
    conditions: FxHashMap<(FileId, ValueId), Vec<(Caller, BlockId)>>,
    /// The values of conditional expressions and the like in each file, by where they end.
    choices: FxHashMap<FileId, Vec<(TextRange, ValueId)>>,
    /// The chains of `and` and `or`.
    junctions: FxHashMap<(FileId, TextRange), BranchKind>,
}

static NOTHING: Contents =
    Contents { calls: Vec::new(), definitions: Vec::new(), stores: Vec::new(), leaves: Vec::new() };

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
        for index in 0..module.scopes.len() {
            let scope = ScopeId::new(index);
            let control = facts.control(caller(scope));
            let own = self.scopes.entry(caller(scope)).or_default();
            for (index, block) in module.scope(scope).flow.blocks.iter().enumerate() {
                let id = BlockId::new(index);
                for &Dependence { branch, arm } in control.direct(id) {
                    own.decided.entry(branch).or_default().push((id, arm));
                }
                if let Some(branch) = block.branch
                    && matches!(branch.kind, BranchKind::And | BranchKind::Or)
                {
                    self.junctions.insert((file, branch.range), branch.kind);
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
        let mut calls: Vec<CallId> = (0..module.calls.len()).map(CallId::new).collect();
        calls.sort_by_key(|&call| (module.call(call).range.end(), std::cmp::Reverse(call)));
        for call in calls {
            let data = module.call(call);
            self.contents(caller(data.scope), data.block).calls.push(call);
        }
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
        let around = choices[from..].iter().find(|(range, _)| range.contains_range(test));
        around.map(|&(_, value)| value)
    }

    /// Whether the expression at a range is a chain of `and` or one of `or`.
    #[must_use]
    pub fn junction(&self, file: FileId, range: TextRange) -> Option<BranchKind> {
        self.junctions.get(&(file, range)).copied()
    }

    /// The blocks that run or not depending on how a branch goes, itself excluded, each once.
    #[must_use]
    pub fn region(&self, caller: Caller, branch: BlockId) -> Vec<BlockId> {
        let Some(own) = self.scopes.get(&caller) else { return Vec::new() };
        let mut found: Vec<BlockId> = Vec::new();
        let mut seen: rustc_hash::FxHashSet<BlockId> = std::iter::once(branch).collect();
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
