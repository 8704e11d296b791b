//! The compact form of one module: all that the analysis keeps once the syntax tree is dropped.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::binder::{self, Binding};
use super::binding::{Definition, Store, Use};
use super::call::Call;
use super::flow::{Block, Branch, BranchKind, Flow};
use super::function::{Class, Function};
use super::id::{BlockId, CallId, ClassId, FunctionId, ImportId, NameId, ScopeId, StatementId, ValueId};
use super::import::Import;
use super::names::Names;
use super::scope::{Scope, ScopeKind, Symbol};
use super::statement::{Clause, Statement, StatementKind};
use super::value::{BuiltinType, Evaluation, Method, Operator, Value, Variable};
use crate::syntax::{TextRange, TextSize};

/// Things that expressions do beside calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SideEffect {
    /// `name := value`
    Walrus,
    /// `await`
    Await,
    /// `yield`
    Yield,
}

/// `value is None`, or `value is not None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoneTest {
    /// What is compared.
    pub value: ValueId,
    /// What the comparison is if the value is `None`.
    pub if_none: bool,
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub range: TextRange,
    /// Python 2 knows such a statement.
    pub is_of_python_2: bool,
}

/// A module's compact form.
#[derive(Clone, Debug)]
pub struct Module {
    /// Names and string constants.
    pub names: Names,
    /// Scopes; the first is the module's own.
    pub scopes: Vec<Scope>,
    /// Values in the order of evaluation.
    pub values: Vec<Evaluation>,
    /// Statements in source order.
    pub statements: Vec<Statement>,
    /// Bindings.
    pub definitions: Vec<Definition>,
    /// For each variable that other scopes see, its definitions that they can see: indices into `definitions`.
    pub shared: FxHashMap<Variable, Vec<u32>>,
    /// Readings.
    pub uses: Vec<Use>,
    /// Stores into attributes and items.
    pub stores: Vec<Store>,
    /// Calls.
    pub calls: Vec<Call>,
    /// Functions and lambdas.
    pub functions: Vec<Function>,
    /// Classes.
    pub classes: Vec<Class>,
    /// Imports.
    pub imports: Vec<Import>,
    /// `with` statements' managers, with their statements.
    pub managers: Vec<(ValueId, StatementId)>,
    /// The clauses behind the first of `if` statements, by statement and in order.
    pub clauses: Vec<Clause>,
    /// The numbers of the literals that are no integers, by their values.
    pub floats: Vec<(ValueId, f64)>,
    /// The comparisons with `None` by identity, by their values.
    pub none_tests: Vec<(ValueId, NoneTest)>,
    /// The conditions of `assert` statements.
    pub asserts: Vec<(ValueId, StatementId)>,
    /// What f-strings write with a format of their own: `f"{x:.2f}"`.
    pub formatted: Vec<(ValueId, TextRange)>,
    /// The texts of f-strings by their values, with `{}` for each value that they insert.
    pub templates: Vec<(ValueId, NameId)>,
    /// The assignment expressions, awaits and yields.
    pub side_effects: Vec<(SideEffect, TextRange)>,
    /// The names in `__all__`, if it is a literal.
    pub all: Option<Vec<NameId>>,
    /// Comments that speak to this tool.
    pub comments: Vec<TextRange>,
    /// Syntax errors.
    pub errors: Vec<SyntaxError>,
    pub(super) bindings: OnceLock<Vec<Binding>>,
    pub(super) junctions: OnceLock<FxHashMap<TextRange, BranchKind>>,
}

impl Module {
    /// The module's own scope.
    pub const TOP: ScopeId = ScopeId::FIRST;

    /// All bindings but imports, functions, classes and parameters, in source order. They are found when they are first
    /// asked for, and remain as long as the module does: in the language server from edit to edit.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        self.bindings.get_or_init(|| binder::bindings(self))
    }

    /// Whether the expression at a range is a chain of `and` or one of `or`; found and kept as the bindings are.
    #[must_use]
    pub fn junction(&self, range: TextRange) -> Option<BranchKind> {
        let junctions = self.junctions.get_or_init(|| {
            let branches =
                self.scopes.iter().flat_map(|scope| &scope.flow.blocks).filter_map(|own| own.branch);
            let joins = branches.filter(|own| matches!(own.kind, BranchKind::And | BranchKind::Or));
            joins.map(|own| (own.range, own.kind)).collect()
        });
        junctions.get(&range).copied()
    }

    /// The text of an f-string, with `{}` for each value that it inserts.
    #[must_use]
    pub fn template(&self, id: ValueId) -> Option<&str> {
        let index = self.templates.binary_search_by_key(&id, |&(own, _)| own).ok()?;
        Some(self.names.text(self.templates[index].1))
    }

    /// Whether a branch asks `__name__ == "__main__"`.
    #[must_use]
    pub fn is_main_guard(&self, branch: &Branch) -> bool {
        branch.kind == BranchKind::If
            && branch.condition.is_some_and(|condition| self.asks_for_main(condition))
    }

    fn asks_for_main(&self, condition: ValueId) -> bool {
        let Value::Operator { operator: Operator::Compare(Method::EQ), left, right } =
            self.value(condition).value
        else {
            return false;
        };
        let is_name = |value: ValueId| match self.value(value).value {
            Value::Free(name) => self.names.text(name) == "__name__",
            _ => false,
        };
        is_name(left) || is_name(right)
    }

    /// Whether some of the module runs only if it is run itself.
    #[must_use]
    pub fn has_main_guard(&self) -> bool {
        self.scope(Self::TOP).flow.blocks.iter().any(|block| self.ends_with_main_guard(block))
    }

    fn ends_with_main_guard(&self, block: &Block) -> bool {
        block.branch.is_some_and(|branch| self.is_main_guard(&branch))
    }

    /// What is left of the module where others import it: control does not reach what stands under
    /// `if __name__ == "__main__"`. Nothing if all is left.
    #[must_use]
    pub fn when_imported(&self) -> Option<Self> {
        if !self.has_main_guard() {
            return None;
        }
        let mut blocks = self.scope(Self::TOP).flow.blocks.clone();
        for block in blocks.iter_mut().filter(|block| self.ends_with_main_guard(block)) {
            block.successors.remove(0);
            block.branch = None;
        }
        let mut imported = self.clone();
        imported.scopes[Self::TOP.index()].flow = Flow::new(blocks);
        Some(imported)
    }

    /// The scope `id`.
    #[must_use]
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.index()]
    }

    /// The value `id`.
    #[must_use]
    pub fn value(&self, id: ValueId) -> &Evaluation {
        &self.values[id.index()]
    }

    /// The number that a literal is, if it is no integer.
    #[must_use]
    pub fn float(&self, id: ValueId) -> Option<f64> {
        let index = self.floats.binary_search_by_key(&id, |&(own, _)| own).ok()?;
        Some(self.floats[index].1)
    }

    /// Whether a value is the slice `:` among others, `table[:, 0]`, which takes everything.
    #[must_use]
    pub fn is_whole_slice(&self, id: ValueId) -> bool {
        let own = self.value(id);
        // A limit or a step would make it longer than its colon.
        matches!(own.value, Value::Instance(BuiltinType::Slice)) && own.range.len() == TextSize::of(':')
    }

    /// The values that a join puts together, also by way of others: in a loop one may put itself together of itself. What is no
    /// join stands for itself.
    #[must_use]
    pub fn joined(&self, id: ValueId) -> Vec<ValueId> {
        let (mut found, mut seen, mut work) = (Vec::new(), FxHashSet::default(), vec![id]);
        while let Some(value) = work.pop() {
            match &self.value(value).value {
                Value::Phi(parts) if seen.insert(value) => work.extend(parts),
                Value::Phi(_) => {}
                _ => found.push(value),
            }
        }
        found
    }

    /// What a comparison with `None` asks, if the value is one.
    #[must_use]
    pub fn none_test(&self, id: ValueId) -> Option<NoneTest> {
        let index = self.none_tests.binary_search_by_key(&id, |&(own, _)| own).ok()?;
        Some(self.none_tests[index].1)
    }

    /// The statement `id`.
    #[must_use]
    pub fn statement(&self, id: StatementId) -> &Statement {
        &self.statements[id.index()]
    }

    /// The call `id`.
    #[must_use]
    pub fn call(&self, id: CallId) -> &Call {
        &self.calls[id.index()]
    }

    /// The function `id`.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// The class `id`.
    #[must_use]
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.index()]
    }

    /// The import `id`.
    #[must_use]
    pub fn import(&self, id: ImportId) -> &Import {
        &self.imports[id.index()]
    }

    /// A variable's name.
    #[must_use]
    pub fn variable_name(&self, variable: Variable) -> &str {
        self.names.text(self.symbol(variable).name)
    }

    /// A variable's symbol.
    #[must_use]
    pub fn symbol(&self, variable: Variable) -> Symbol {
        self.scope(variable.scope).symbols[variable.symbol as usize]
    }

    /// The definitions of a variable that other scopes see.
    pub fn shared_definitions(&self, variable: Variable) -> impl Iterator<Item = &Definition> {
        self.shared.get(&variable).into_iter().flatten().map(|&index| &self.definitions[index as usize])
    }

    /// The nearest scope around `scope`, itself included, that is code of its own: a function, a lambda or the
    /// module. A class body runs as part of it.
    ///
    /// # Panics
    ///
    /// Never: a class stands in a scope.
    #[must_use]
    pub fn code_scope(&self, mut scope: ScopeId) -> ScopeId {
        while let ScopeKind::Class(_) = self.scope(scope).kind {
            scope = self.scope(scope).parent.expect("a class stands in a scope");
        }
        scope
    }

    /// The scope that is code of its own in which a statement runs, and the block of it: that of the class statement for what
    /// stands in a class body.
    #[must_use]
    pub fn code_block(&self, statement: StatementId) -> (ScopeId, BlockId) {
        let around = std::iter::once(statement).chain(self.ancestor_ids(statement));
        let mut own = around.map(|id| self.statement(id));
        let runs = |own: &&Statement| !matches!(self.scope(own.scope).kind, ScopeKind::Class(_));
        let own = own.find(runs).unwrap_or_else(|| self.statement(statement));
        (own.scope, own.block)
    }

    /// The statements around `statement`, from the inside, itself excluded.
    pub fn ancestors(&self, statement: StatementId) -> impl Iterator<Item = &Statement> {
        self.ancestor_ids(statement).map(|id| self.statement(id))
    }

    /// The innermost statement around a piece of code.
    #[must_use]
    pub fn statement_around(&self, range: TextRange) -> Option<StatementId> {
        // Statements stand in the order of the source: it is the last one that begins before.
        let next = self.statements.partition_point(|own| own.range.start() <= range.start());
        next.checked_sub(1).map(StatementId::new)
    }

    /// The statements within a compound statement, those of other scopes included.
    pub fn statements_below(&self, statement: StatementId) -> impl Iterator<Item = &Statement> {
        let range = self.statement(statement).range;
        self.statements[statement.index() + 1..].iter().take_while(move |own| range.contains_range(own.range))
    }

    /// The clauses of an `if` statement behind the first.
    #[must_use]
    pub fn clauses_of(&self, statement: StatementId) -> &[Clause] {
        let first = self.clauses.partition_point(|clause| clause.statement < statement);
        let own = &self.clauses[first..];
        &own[..own.partition_point(|clause| clause.statement == statement)]
    }

    /// Whether one run of the code makes at most one of two statements: they stand in different branches of an `if`.
    #[must_use]
    pub fn exclude_each_other(&self, one: StatementId, other: StatementId) -> bool {
        let around: Vec<StatementId> = self.ancestor_ids(one).collect();
        let Some(common) = self.ancestor_ids(other).find(|id| around.contains(id)) else { return false };
        let clauses = self.clauses_of(common);
        let branch = |id: StatementId| {
            let start = self.statement(id).range.start();
            clauses.partition_point(|clause| clause.range.start() <= start)
        };
        self.statement(common).kind == StatementKind::If && branch(one) != branch(other)
    }

    /// Whether an exception is raised in a block of a scope.
    #[must_use]
    pub fn raises(&self, scope: ScopeId, block: BlockId) -> bool {
        let is_here = |own: &Statement| own.scope == scope && own.block == block;
        self.statements.iter().any(|own| own.kind == StatementKind::Raise && is_here(own))
    }

    /// The ids of the statements around `statement`, from the inside, itself excluded.
    pub fn ancestor_ids(&self, statement: StatementId) -> impl Iterator<Item = StatementId> {
        std::iter::successors(self.statement(statement).parent, |&id| self.statement(id).parent)
    }

    /// The managers of the `with` statements around `statement`.
    pub fn managers_around(&self, statement: StatementId) -> impl Iterator<Item = ValueId> {
        self.ancestor_ids(statement).flat_map(|around| self.managers_of(around))
    }

    /// The managers of a `with` statement; none of another.
    pub fn managers_of(&self, statement: StatementId) -> impl Iterator<Item = ValueId> {
        let own = self.managers.partition_point(|&(_, id)| id < statement);
        let managers = self.managers[own..].iter().take_while(move |&&(_, id)| id == statement);
        managers.map(|&(manager, _)| manager)
    }
}
