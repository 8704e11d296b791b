//! The compact form of one module: all that the analysis keeps once the syntax tree is dropped.

use rustc_hash::FxHashMap;

use super::flow::Flow;
use super::id::{BlockId, CallId, ClassId, FunctionId, ImportId, NameId, ScopeId, StatementId, ValueId};
use super::names::Names;
use super::value::{Evaluation, Role, Variable};
use crate::syntax::TextRange;

/// What kind of code a scope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    /// The module itself.
    Module,
    /// A `def`.
    Function(FunctionId),
    /// A lambda.
    Lambda(FunctionId),
    /// A class body.
    Class(ClassId),
}

/// A variable's name and how it is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: NameId,
    /// Another scope reads it.
    pub captured: bool,
    /// Another scope binds it, by `global` or `nonlocal`.
    pub rebound: bool,
}

/// A scope with its variables and control flow.
#[derive(Debug)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// The scope around it.
    pub parent: Option<ScopeId>,
    /// `Trainer.step`, `main.<lambda1>`; empty for the module.
    pub qualified_name: String,
    /// The whole of it, in bytes.
    pub range: TextRange,
    /// Its variables.
    pub symbols: Vec<Symbol>,
    /// Basic blocks and branches.
    pub flow: Flow,
    /// The variables' values where the scope ends; only for modules and classes.
    pub exports: FxHashMap<NameId, ValueId>,
}

/// A statement's kind, as far as a question is asked about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// `def`
    Function,
    /// `class`
    Class,
    /// `return`
    Return,
    /// `del`
    Delete,
    /// `a = b`, with one plain name as its target?
    Assign {
        /// Exactly one target, and it is a plain name.
        simple: bool,
    },
    /// `a += b`
    AugmentedAssign,
    /// `for`
    For,
    /// `while`
    While,
    /// `if`
    If,
    /// `with`
    With,
    /// `match`
    Match,
    /// `raise`
    Raise,
    /// `try`
    Try,
    /// `assert`
    Assert,
    /// `import` and `from ... import`
    Import {
        /// It names `__future__`.
        future: bool,
    },
    /// `global` and `nonlocal`
    ScopeDeclaration,
    /// An expression statement.
    Expression {
        /// It is a string literal alone.
        docstring: bool,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `pass`, `type X = ...`.
    Other,
}

/// An `elif` or `else` of an `if` statement.
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    /// The `if`.
    pub statement: StatementId,
    /// All of it, from its keyword on.
    pub range: TextRange,
    /// The condition; `else` has none.
    pub test: Option<TextRange>,
}

/// Which suite of its parent a statement stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suite {
    /// The only or first one.
    Body,
    /// `else`, `elif`, or a later `case`.
    Alternative,
    /// `except`.
    Handler,
    /// `finally`.
    Finally,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// All of it, in bytes.
    pub range: TextRange,
    /// Up to the colon for a compound statement, else all of it; decorators included.
    pub header: TextRange,
    /// The compound statement that it stands in, within the same scope or around it.
    pub parent: Option<StatementId>,
    /// Where in its parent.
    pub suite: Suite,
    /// The scope that executes it.
    pub scope: ScopeId,
    /// The block that executes it.
    pub block: BlockId,
}

/// What binds a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// `name = ...`, the only target.
    Assignment,
    /// A target among several, or inside a tuple.
    Unpacking,
    /// `name += ...`
    Augmented,
    /// `name := ...`
    Walrus,
    /// `for name in`, also in comprehensions.
    Loop,
    /// `with ... as name`
    With,
    /// An import.
    Import,
    /// `def`
    Function,
    /// `class`
    Class,
    /// A parameter.
    Parameter,
    /// `except ... as name`
    Handler,
    /// A capture in `match`.
    Capture,
    /// `del name`, and the end of an `except ... as name` clause.
    Deletion,
}

/// A binding of a variable.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What is bound.
    pub variable: Variable,
    /// To what.
    pub value: ValueId,
    /// By what.
    pub kind: DefinitionKind,
    /// Where its name stands.
    pub range: TextRange,
    /// In which statement; `None` for parameters.
    pub statement: Option<StatementId>,
    /// The scope whose code binds it: the variable's own unless `global` or `nonlocal` is in play.
    pub scope: ScopeId,
    /// The block, of `scope`.
    pub block: BlockId,
    /// Position in the order of evaluation, among uses and definitions.
    pub order: u32,
    /// No other scope can see it: it is overwritten in the same block before anything is called.
    pub hidden: bool,
}

/// A reading of a variable.
#[derive(Clone, Debug)]
pub struct Use {
    /// What is read.
    pub variable: Option<Variable>,
    /// What it may be.
    pub value: ValueId,
    /// Where.
    pub range: TextRange,
    /// The scope whose code reads it.
    pub scope: ScopeId,
    /// The block, of `scope`.
    pub block: BlockId,
    /// Position in the order of evaluation, among uses and definitions.
    pub order: u32,
}

/// The key of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKey {
    /// `base.name = ...`
    Attribute(NameId),
    /// `base[key] = ...`
    Item(ValueId),
    /// `base[a:b] = ...`
    Slice,
}

/// `base.name = value`, `base[key] = value`.
#[derive(Clone, Debug)]
pub struct Store {
    /// Into what.
    pub base: ValueId,
    /// Under which key.
    pub key: StoreKey,
    /// What.
    pub value: ValueId,
    /// The target.
    pub range: TextRange,
    /// In which statement.
    pub statement: StatementId,
    /// Whose code does it.
    pub scope: ScopeId,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// By position.
    Positional,
    /// By name.
    Keyword(NameId),
    /// `*args`
    Spread,
    /// `**kwargs`
    Merge,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its value.
    pub value: ValueId,
    /// How it is passed.
    pub passing: Passing,
    /// The argument's expression, without the keyword.
    pub range: TextRange,
}

/// What makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// A call expression.
    Expression,
    /// A decorator.
    Decorator,
    /// `raise C`, which makes an instance.
    Raise,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: ValueId,
    /// With what.
    pub arguments: Vec<Argument>,
    /// What makes it.
    pub kind: CallKind,
    /// What happens to its result.
    pub role: Role,
    /// The result.
    pub result: ValueId,
    /// The whole call, in bytes.
    pub range: TextRange,
    /// The callee's expression.
    pub callee_range: TextRange,
    /// In which statement.
    pub statement: StatementId,
    /// Whose code calls.
    pub scope: ScopeId,
    /// The block, of `scope`.
    pub block: BlockId,
}

/// How an argument reaches a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterKind {
    /// In front of `/`.
    PositionalOnly,
    /// An ordinary one.
    Ordinary,
    /// `*args`
    Variadic,
    /// Behind `*`.
    KeywordOnly,
    /// `**kwargs`
    Keywords,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: NameId,
    /// How it is passed.
    pub kind: ParameterKind,
    /// Its value within the function.
    pub value: ValueId,
    /// Its default, evaluated where the function is defined.
    pub default: Option<ValueId>,
    /// Its annotation, evaluated where the function is defined.
    pub annotation: Option<ValueId>,
    /// Where its name stands.
    pub range: TextRange,
}

/// A function or lambda.
#[derive(Debug)]
pub struct Function {
    /// Its own scope.
    pub scope: ScopeId,
    /// Its name; `<lambda1>` for lambdas.
    pub name: NameId,
    /// Where its name stands; a lambda's whole range.
    pub range: TextRange,
    /// In order: positional-only, ordinary, variadic, keyword-only, keywords.
    pub parameters: Vec<Parameter>,
    /// What it may return, statement by statement.
    pub returns: Vec<ValueId>,
    /// What it may yield, `yield from` as `Iteration`.
    pub yields: Vec<ValueId>,
    /// It contains `yield`.
    pub generator: bool,
    /// `async def`.
    pub asynchronous: bool,
    /// The class whose body defines it.
    pub class: Option<ClassId>,
    /// Its value before decorators.
    pub value: ValueId,
    /// The decorators as written, outermost first.
    pub decorators: Vec<ValueId>,
    /// The statement; `None` for lambdas.
    pub statement: Option<StatementId>,
}

/// A class.
#[derive(Debug)]
pub struct Class {
    /// Its body's scope.
    pub scope: ScopeId,
    /// Its name.
    pub name: NameId,
    /// Where its name stands.
    pub range: TextRange,
    /// Base classes in order.
    pub bases: Vec<ValueId>,
    /// The names that its body annotates, in order: the fields of a data class.
    pub annotated: Vec<NameId>,
    /// Its value before decorators.
    pub value: ValueId,
    /// The decorators as written, outermost first.
    pub decorators: Vec<ValueId>,
    /// The statement.
    pub statement: StatementId,
}

/// An imported thing: one alias of an import statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// How many dots stand in front.
    pub level: u32,
    /// The dotted module name; may be empty after dots.
    pub module: Box<str>,
    /// What is taken from the module: nothing (`import m`), a name, or everything.
    pub what: Imported,
    /// The alias, in bytes.
    pub range: TextRange,
    /// The statement.
    pub statement: StatementId,
}

/// What an import takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Imported {
    /// `import a.b.c`: binds `a`.
    Root,
    /// `import a.b.c as d`: binds the last module.
    Module,
    /// `from a import name`.
    Name(NameId),
    /// `from a import *`.
    Star,
}

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

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub range: TextRange,
}

/// A module's compact form.
#[derive(Debug)]
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
    /// The clauses behind the first of `if` statements, those of one statement in order.
    pub clauses: Vec<Clause>,
    /// The conditions of `assert` statements.
    pub asserts: Vec<(ValueId, StatementId)>,
    /// What f-strings write with a format of their own: `f"{x:.2f}"`.
    pub formatted: Vec<(ValueId, TextRange)>,
    /// The assignment expressions, awaits and yields.
    pub side_effects: Vec<(SideEffect, TextRange)>,
    /// The names in `__all__`, if it is a literal.
    pub all: Option<Vec<NameId>>,
    /// Comments that speak to this tool.
    pub comments: Vec<TextRange>,
    /// Syntax errors.
    pub errors: Vec<SyntaxError>,
}

impl Module {
    /// The module's own scope.
    pub const TOP: ScopeId = ScopeId(0);

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

    /// The statements around `statement`, from the inside, itself excluded.
    pub fn ancestors(&self, statement: StatementId) -> impl Iterator<Item = &Statement> {
        self.ancestor_ids(statement).map(|id| self.statement(id))
    }

    /// The ids of the statements around `statement`, from the inside, itself excluded.
    pub fn ancestor_ids(&self, statement: StatementId) -> impl Iterator<Item = StatementId> {
        std::iter::successors(self.statement(statement).parent, |&id| self.statement(id).parent)
    }
}
