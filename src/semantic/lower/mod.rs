//! From the syntax tree to the compact form, in one walk in the order of evaluation.

mod assignments;
mod branches;
mod definitions;
mod displays;
mod expression;
mod finish;
mod functions;
mod parts;
mod pattern;
mod statement;
mod variables;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::flow::{Branch, BranchKind, Flow};
use super::id::{BlockId, ClassId, FunctionId, NameId, ScopeId, StatementId, ValueId};
use super::names::Names;
use super::ssa::{Content, Key, Place, Ssa};
use super::symbols::{LexicalId, Symbols};
use super::value::{Constant, Evaluation, Value, Variable};
use super::{Module, Scope, ScopeKind, Suite, SyntaxError};
use crate::syntax::{self, TextRange};

/// How many bytes of source there are for each value in plain code; with comments there are more.
const VALUE_BYTES: usize = 32;

/// The compact form of a module.
pub(super) fn module(source: &str) -> Module {
    let parsed = syntax::parse(source);
    let mut names = Names::default();
    let symbols = Symbols::collect(parsed.suite(), &mut names);
    let mut lowering = Lowering::new(source, names, symbols);
    let range = TextRange::up_to(syntax::text_size(source));
    lowering.enter(Module::TOP, Symbols::MODULE, ScopeKind::Module, None, String::new(), range);
    lowering.suite(parsed.suite(), Suite::Body);
    lowering.leave();
    lowering.module.comments = syntax::comments_with(&parsed, source, "hvdlint");
    lowering.module.errors.extend(parsed.errors().iter().map(|error| SyntaxError {
        message: clause(&error.error.to_string()),
        range: error.location,
        is_of_python_2: syntax::is_of_python_2(error),
    }));
    let handlers = syntax::handlers_of_python_2(&parsed);
    lowering.module.errors.extend(handlers.map(|(message, range)| SyntaxError {
        message,
        range,
        is_of_python_2: true,
    }));
    lowering.module.errors.sort_by_key(|error| error.range.start());
    // Those of the statements in a clause come before the next one.
    lowering.module.clauses.sort_by_key(|clause| (clause.statement, clause.range.start()));
    lowering.finish()
}

/// The parser's sentence as messages are written: it begins with a small letter and has no final period.
fn clause(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}

/// A scope whose code is being read.
struct Frame {
    scope: ScopeId,
    /// The scope's own lexical scope and the inline ones that are open.
    lexical: Vec<LexicalId>,
    ssa: Ssa,
    block: BlockId,
    /// Control can come here, as far as the syntax tells.
    alive: bool,
    parent: Option<StatementId>,
    suite: Suite,
    statement: StatementId,
    function: Option<FunctionId>,
    class: Option<ClassId>,
    loops: Vec<Loop>,
    finals: Vec<Vec<BlockId>>,
    lambdas: u32,
    /// How many calls have been read: what may look at variables from outside.
    calls: u32,
    /// The latest definition of each variable, the block and the number of calls then.
    latest: Vec<Option<(usize, BlockId, u32)>>,
    /// Containers that no other code has, with the keys that are known of them.
    own: FxHashMap<ValueId, Vec<Key>>,
}

struct Loop {
    header: BlockId,
    exit: BlockId,
    /// How many `finally` suites were pending around the loop.
    finals: usize,
}

struct Lowering<'a> {
    source: &'a str,
    symbols: Symbols,
    module: Module,
    frames: Vec<Frame>,
    /// The forms of scopes that have been read, for their memory.
    spare: Vec<Ssa>,
    constants: FxHashMap<Constant, ValueId>,
    cells: FxHashMap<Variable, ValueId>,
    free: FxHashMap<NameId, ValueId>,
    unbound: ValueId,
    phis: Vec<ValueId>,
    /// φs of parts of objects that some path knows nothing of.
    lost: Vec<ValueId>,
    order: u32,
}

impl<'a> Lowering<'a> {
    fn new(source: &'a str, names: Names, symbols: Symbols) -> Self {
        let nowhere = TextRange::default();
        let mut values = Vec::with_capacity(source.len() / VALUE_BYTES + 1);
        values.push(Evaluation { value: Value::Unbound, range: nowhere, scope: Module::TOP });
        let census = symbols.census;
        let scopes = (0..symbols.homes.len())
            .map(|index| Scope {
                kind: ScopeKind::Module,
                parent: None,
                qualified_name: String::new(),
                range: nowhere,
                symbols: symbols.homes[index].symbols.clone(),
                flow: Flow::default(),
                exports: FxHashMap::default(),
            })
            .collect();
        Self {
            source,
            symbols,
            module: Module {
                names,
                scopes,
                values,
                statements: Vec::with_capacity(census.statements),
                definitions: Vec::with_capacity(census.definitions),
                shared: FxHashMap::default(),
                uses: Vec::with_capacity(census.uses),
                stores: Vec::new(),
                calls: Vec::with_capacity(census.calls),
                functions: Vec::new(),
                classes: Vec::new(),
                imports: Vec::new(),
                managers: Vec::new(),
                clauses: Vec::new(),
                asserts: Vec::new(),
                formatted: Vec::new(),
                templates: Vec::new(),
                floats: Vec::new(),
                none_tests: Vec::new(),
                side_effects: Vec::new(),
                all: None,
                comments: Vec::new(),
                errors: Vec::new(),
                bindings: OnceLock::new(),
                junctions: OnceLock::new(),
            },
            frames: Vec::new(),
            spare: Vec::new(),
            constants: FxHashMap::default(),
            cells: FxHashMap::default(),
            free: FxHashMap::default(),
            unbound: ValueId::FIRST,
            phis: Vec::new(),
            lost: Vec::new(),
            order: 0,
        }
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a scope is open while its code is read")
    }

    fn current(&self) -> &Frame {
        self.frames.last().expect("a scope is open while its code is read")
    }

    fn enter(
        &mut self,
        scope: ScopeId,
        lexical: LexicalId,
        kind: ScopeKind,
        parent: Option<ScopeId>,
        qualified_name: String,
        range: TextRange,
    ) {
        let entry = &mut self.module.scopes[scope.index()];
        entry.kind = kind;
        entry.parent = parent;
        entry.qualified_name = qualified_name;
        entry.range = range;
        let (function, class) = match kind {
            ScopeKind::Module => (None, None),
            ScopeKind::Function(function) | ScopeKind::Lambda(function) => (Some(function), None),
            ScopeKind::Class(class) => (None, Some(class)),
        };
        let mut ssa = self.spare.pop().unwrap_or_default();
        let block = ssa.entry();
        let around = self.frames.last();
        let statement = around.map_or(StatementId::FIRST, |frame| frame.statement);
        let parent = around.and_then(|frame| frame.parent);
        self.frames.push(Frame {
            scope,
            lexical: vec![lexical],
            ssa,
            block,
            alive: true,
            parent,
            suite: Suite::Body,
            statement,
            function,
            class,
            loops: Vec::new(),
            finals: Vec::new(),
            lambdas: 0,
            calls: 0,
            latest: vec![None; self.symbols.homes[scope.index()].symbols.len()],
            own: FxHashMap::default(),
        });
    }

    /// Ends the open scope: finds what its φs join and what it exports.
    fn leave(&mut self) {
        let (scope, block) = (self.current().scope, self.current().block);
        if matches!(self.module.scopes[scope.index()].kind, ScopeKind::Module | ScopeKind::Class(_)) {
            for index in 0..self.module.scopes[scope.index()].symbols.len() {
                let symbol = self.module.scopes[scope.index()].symbols[index];
                let variable =
                    Variable { scope, symbol: u32::try_from(index).expect("fewer symbols than bytes") };
                let value = if self.current().alive {
                    self.variable_at(block, variable)
                } else {
                    self.any_definition(variable)
                };
                if value != self.unbound {
                    self.module.scopes[scope.index()].exports.insert(symbol.name, value);
                }
            }
        }
        while let Some((block, place, phi)) = self.frame().ssa.next_pending() {
            let (blocks, carried) = self.current().ssa.operands(block, place);
            let mut operands = Vec::new();
            let mut whole = true;
            for content in carried {
                match content {
                    Content::Value(value) => operands.push(value),
                    _ => whole = false,
                }
            }
            for block in blocks {
                match self.content_at(block, place) {
                    Some(value) => operands.push(value),
                    None => whole = false,
                }
            }
            operands.sort_unstable();
            operands.dedup();
            if !whole {
                self.lost.push(phi);
            }
            self.module.values[phi.index()].value = Value::Phi(operands.into());
        }
        let frame = self.frames.pop().expect("the scope was open");
        let mut ssa = frame.ssa;
        self.module.scopes[scope.index()].flow = Flow::new(ssa.finish());
        self.spare.push(ssa);
    }

    fn push(&mut self, value: Value, range: TextRange) -> ValueId {
        let scope = self.current().scope;
        self.module.values.push(Evaluation { value, range, scope });
        ValueId::new(self.module.values.len() - 1)
    }

    fn constant(&mut self, constant: Constant, range: TextRange) -> ValueId {
        if let Some(&value) = self.constants.get(&constant) {
            return value;
        }
        let value = self.push(Value::Constant(constant), range);
        self.constants.insert(constant, value);
        value
    }

    fn text_constant(&mut self, text: &str, range: TextRange) -> ValueId {
        let name = self.module.names.intern(text);
        self.constant(Constant::Str(name), range)
    }

    fn cell(&mut self, variable: Variable) -> ValueId {
        if let Some(&value) = self.cells.get(&variable) {
            return value;
        }
        let value = self.push(Value::Cell(variable), TextRange::default());
        self.cells.insert(variable, value);
        value
    }

    fn free(&mut self, name: NameId) -> ValueId {
        if let Some(&value) = self.free.get(&name) {
            return value;
        }
        let value = self.push(Value::Free(name), TextRange::default());
        self.free.insert(name, value);
        value
    }

    // ---- control flow ----

    fn branch(&mut self, kind: BranchKind, condition: Option<ValueId>, range: TextRange) {
        let frame = self.frame();
        let branch = Branch { kind, condition, range, statement: frame.statement };
        frame.ssa.blocks[frame.block.index()].branch = Some(branch);
    }

    /// Control ends here: what follows is not reached.
    fn stop(&mut self) {
        let frame = self.frame();
        frame.alive = false;
        frame.block = frame.ssa.unreachable();
    }

    /// Goes on in `block`.
    fn resume(&mut self, block: BlockId, alive: bool) {
        let frame = self.frame();
        frame.alive = alive;
        frame.block = if alive { block } else { frame.ssa.unreachable() };
    }

    /// Goes on where the living among `ends` join; their paths parted at `fork` at time `from`.
    fn join(&mut self, fork: BlockId, from: u32, ends: &[Option<BlockId>]) {
        let frame = self.frame();
        let merge = frame.ssa.merge(fork, from);
        let mut alive = false;
        for end in ends.iter().flatten() {
            alive = true;
            frame.ssa.join(merge, *end);
        }
        frame.ssa.close(merge);
        self.resume(merge, alive);
    }

    /// The current block if control reaches it.
    fn end(&self) -> Option<BlockId> {
        self.current().alive.then_some(self.current().block)
    }
}
