//! Which scope owns each name: Python's scoping rules, decided before any code is read.
//!
//! Comprehensions and type parameter lists are *inline* scopes: their names are their own, but their code runs
//! within the scope around them, which keeps their symbols.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Symbol;
use super::id::{NameId, ScopeId};
use super::names::Names;
use super::value::Variable;
use crate::syntax::ast::visitor::{self, Visitor};
use crate::syntax::ast::{self, Expr, ExprContext, Pattern, Stmt};
use crate::syntax::{TextRange, TextSize, with_stack};

/// A lexical scope, inline ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LexicalId(u32);

/// What opened a lexical scope; with its position this identifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Opener {
    Module,
    Function,
    Lambda,
    Class,
    Comprehension,
    TypeParameters,
}

#[derive(Debug)]
struct Lexical {
    opener: Opener,
    parent: Option<LexicalId>,
    home: ScopeId,
    bound: FxHashMap<NameId, u32>,
    globals: FxHashSet<NameId>,
    nonlocals: FxHashSet<NameId>,
}

/// What is known of a scope before its code is read.
#[derive(Debug, Default)]
pub(super) struct Home {
    pub symbols: Vec<Symbol>,
    /// Attribute names that the scope's code stores to.
    pub stored_attributes: FxHashSet<NameId>,
    /// The scope's code stores to an item of something.
    pub stores_items: bool,
}

/// About how much of each there is in a module: the room that its compact form needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    pub statements: usize,
    pub definitions: usize,
    pub uses: usize,
    pub calls: usize,
}

/// The scopes of a module and what they bind.
#[derive(Debug)]
pub(super) struct Symbols {
    lexical: Vec<Lexical>,
    openers: FxHashMap<(Opener, TextSize, TextSize), LexicalId>,
    pub homes: Vec<Home>,
    pub census: Census,
}

/// Whose variable a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// The scope's own, or an inline scope's.
    Local(Variable),
    /// Another scope's.
    Outer(Variable),
    /// Nobody's: a built-in, or brought by a star import.
    Free,
}

impl Symbols {
    pub const MODULE: LexicalId = LexicalId(0);

    /// Reads the scopes of a module.
    pub fn collect(body: &[Stmt], names: &mut Names) -> Self {
        let mut collector = Collector {
            names,
            symbols: Self {
                lexical: Vec::new(),
                openers: FxHashMap::default(),
                homes: Vec::new(),
                census: Census::default(),
            },
            stack: Vec::new(),
            uses: Vec::new(),
        };
        collector.open(Opener::Module, TextRange::default());
        collector.visit_body(body);
        let Collector { mut symbols, uses, .. } = collector;
        symbols.census.uses += uses.len();
        for (lexical, name, binds) in uses {
            if let Resolution::Outer(variable) = symbols.resolve(lexical, name) {
                let symbol = &mut symbols.homes[variable.scope.index()].symbols[variable.symbol as usize];
                if binds { symbol.rebound = true } else { symbol.captured = true }
            }
        }
        symbols
    }

    /// The scope that `opener` opened at `range`.
    pub fn at(&self, opener: Opener, range: TextRange) -> LexicalId {
        self.openers[&(opener, range.start(), range.end())]
    }

    /// The scope whose code `lexical` is.
    pub fn home(&self, lexical: LexicalId) -> ScopeId {
        self.lexical[lexical.0 as usize].home
    }

    /// Whose variable `name` is where `lexical` mentions it.
    pub fn resolve(&self, lexical: LexicalId, name: NameId) -> Resolution {
        let start = &self.lexical[lexical.0 as usize];
        let home = start.home;
        let found = |scope: &Lexical, symbol: u32| {
            let variable = Variable { scope: scope.home, symbol };
            if scope.home == home { Resolution::Local(variable) } else { Resolution::Outer(variable) }
        };
        let mut next = Some(lexical);
        let mut inside = true;
        while let Some(id) = next {
            let scope = &self.lexical[id.0 as usize];
            let visible = inside || scope.opener != Opener::Class;
            if visible && scope.globals.contains(&name) {
                let module = &self.lexical[0];
                return module.bound.get(&name).map_or(Resolution::Free, |&symbol| found(module, symbol));
            }
            if visible
                && !scope.nonlocals.contains(&name)
                && let Some(&symbol) = scope.bound.get(&name)
            {
                return found(scope, symbol);
            }
            // A class's names are seen by its own code alone, not by comprehensions or functions in it.
            inside = inside && matches!(scope.opener, Opener::TypeParameters);
            next = scope.parent;
        }
        Resolution::Free
    }
}

struct Collector<'a> {
    names: &'a mut Names,
    symbols: Symbols,
    stack: Vec<LexicalId>,
    /// Where a name is mentioned, and whether it is bound there.
    uses: Vec<(LexicalId, NameId, bool)>,
}

impl Collector<'_> {
    fn open(&mut self, opener: Opener, range: TextRange) {
        let id = LexicalId(u32::try_from(self.symbols.lexical.len()).expect("fewer scopes than bytes"));
        let parent = self.stack.last().copied();
        let inline = matches!(opener, Opener::Comprehension | Opener::TypeParameters);
        let home = match parent {
            Some(parent) if inline => self.symbols.home(parent),
            _ => {
                self.symbols.homes.push(Home::default());
                ScopeId::new(self.symbols.homes.len() - 1)
            }
        };
        self.symbols.lexical.push(Lexical {
            opener,
            parent,
            home,
            bound: FxHashMap::default(),
            globals: FxHashSet::default(),
            nonlocals: FxHashSet::default(),
        });
        self.symbols.openers.insert((opener, range.start(), range.end()), id);
        self.stack.push(id);
    }

    fn current(&self) -> LexicalId {
        *self.stack.last().expect("the module's scope is open")
    }

    fn home(&mut self) -> &mut Home {
        let home = self.symbols.home(self.current());
        &mut self.symbols.homes[home.index()]
    }

    fn bind(&mut self, name: &str) {
        let name = self.names.intern(name);
        self.bind_in(self.current(), name);
    }

    fn bind_in(&mut self, id: LexicalId, name: NameId) {
        self.symbols.census.definitions += 1;
        let scope = &self.symbols.lexical[id.0 as usize];
        if scope.globals.contains(&name) {
            self.declare(Symbols::MODULE, name);
            self.uses.push((id, name, true));
        } else if scope.nonlocals.contains(&name) {
            self.uses.push((id, name, true));
        } else {
            self.declare(id, name);
        }
    }

    fn declare(&mut self, id: LexicalId, name: NameId) {
        let home = self.symbols.home(id);
        let symbols = &mut self.symbols.homes[home.index()].symbols;
        self.symbols.lexical[id.0 as usize].bound.entry(name).or_insert_with(|| {
            symbols.push(Symbol { name, captured: false, rebound: false });
            u32::try_from(symbols.len() - 1).expect("fewer symbols than bytes")
        });
    }

    /// The scope that an assignment expression binds in: the nearest that is no comprehension.
    fn walrus_scope(&self) -> LexicalId {
        let is_comprehension =
            |id: &&LexicalId| self.symbols.lexical[id.0 as usize].opener == Opener::Comprehension;
        *self.stack.iter().rev().find(|id| !is_comprehension(id)).expect("the module's scope is open")
    }

    fn parameters(&mut self, parameters: &ast::Parameters) {
        for parameter in parameters {
            self.bind(parameter.name().as_str());
        }
    }

    fn defaults(&mut self, parameters: &ast::Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                self.visit_expr(default);
            }
        }
    }

    fn annotations(&mut self, parameters: &ast::Parameters, returns: Option<&Expr>) {
        for parameter in parameters {
            if let Some(annotation) = parameter.annotation() {
                self.visit_expr(annotation);
            }
        }
        if let Some(returns) = returns {
            self.visit_expr(returns);
        }
    }

    fn type_parameters(&mut self, parameters: Option<&ast::TypeParams>) -> bool {
        let Some(parameters) = parameters else { return false };
        self.open(Opener::TypeParameters, parameters.range);
        for parameter in &parameters.type_params {
            self.bind(parameter.name().as_str());
        }
        for parameter in &parameters.type_params {
            visitor::walk_type_param(self, parameter);
        }
        true
    }

    fn comprehension(&mut self, range: TextRange, generators: &[ast::Comprehension], results: &[&Expr]) {
        let Some((first, rest)) = generators.split_first() else { return };
        self.visit_expr(&first.iter);
        self.open(Opener::Comprehension, range);
        self.visit_expr(&first.target);
        first.ifs.iter().for_each(|test| self.visit_expr(test));
        for generator in rest {
            self.visit_expr(&generator.iter);
            self.visit_expr(&generator.target);
            generator.ifs.iter().for_each(|test| self.visit_expr(test));
        }
        for result in results {
            self.visit_expr(result);
        }
        self.stack.pop();
    }
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.symbols.census.statements += 1;
        match statement {
            Stmt::FunctionDef(function) => {
                self.symbols.census.calls += function.decorator_list.len();
                function.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                self.defaults(&function.parameters);
                self.bind(&function.name);
                let typed = self.type_parameters(function.type_params.as_deref());
                self.annotations(&function.parameters, function.returns.as_deref());
                self.open(Opener::Function, function.range);
                self.parameters(&function.parameters);
                self.visit_body(&function.body);
                self.stack.pop();
                if typed {
                    self.stack.pop();
                }
            }
            Stmt::ClassDef(class) => {
                self.symbols.census.calls += class.decorator_list.len();
                class.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                self.bind(&class.name);
                let typed = self.type_parameters(class.type_params.as_deref());
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.open(Opener::Class, class.range);
                self.visit_body(&class.body);
                self.stack.pop();
                if typed {
                    self.stack.pop();
                }
            }
            Stmt::TypeAlias(alias) => {
                self.visit_expr(&alias.name);
                let typed = self.type_parameters(alias.type_params.as_deref());
                self.visit_expr(&alias.value);
                if typed {
                    self.stack.pop();
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.bind(name.split('.').next().unwrap_or(name));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    if &alias.name != "*" {
                        self.bind(alias.asname.as_ref().unwrap_or(&alias.name));
                    }
                }
            }
            Stmt::Global(global) => {
                for name in &global.names {
                    let name = self.names.intern(name);
                    let current = self.current();
                    if current != Symbols::MODULE {
                        let own = &mut self.symbols.lexical[current.0 as usize];
                        own.globals.insert(name);
                        // `import os` may stand in front of `global os`.
                        if own.bound.contains_key(&name) {
                            self.declare(Symbols::MODULE, name);
                            self.uses.push((current, name, true));
                        }
                    }
                }
            }
            Stmt::Nonlocal(nonlocal) => {
                for name in &nonlocal.names {
                    let name = self.names.intern(name);
                    let current = self.current();
                    self.symbols.lexical[current.0 as usize].nonlocals.insert(name);
                }
            }
            Stmt::Try(try_statement) => {
                self.visit_body(&try_statement.body);
                for ast::ExceptHandler::ExceptHandler(handler) in &try_statement.handlers {
                    if let Some(class) = &handler.type_ {
                        self.visit_expr(class);
                    }
                    if let Some(name) = &handler.name {
                        self.bind(name);
                        // The end of the clause deletes it.
                        self.symbols.census.definitions += 1;
                    }
                    self.visit_body(&handler.body);
                }
                self.visit_body(&try_statement.orelse);
                self.visit_body(&try_statement.finalbody);
            }
            Stmt::AugAssign(_) => {
                // Its target is read, too.
                self.symbols.census.uses += 1;
                visitor::walk_stmt(self, statement);
            }
            Stmt::Raise(_) => {
                self.symbols.census.calls += 1;
                visitor::walk_stmt(self, statement);
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        with_stack(|| match expression {
            Expr::Name(name) => {
                if name.ctx == ExprContext::Load {
                    let id = self.names.intern(&name.id);
                    self.uses.push((self.current(), id, false));
                } else {
                    // What is deleted is read.
                    self.symbols.census.uses += usize::from(name.ctx == ExprContext::Del);
                    self.bind(&name.id);
                }
            }
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                if let Expr::Name(target) = &*named.target {
                    let name = self.names.intern(&target.id);
                    self.bind_in(self.walrus_scope(), name);
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
                self.open(Opener::Lambda, lambda.range);
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.visit_expr(&lambda.body);
                self.stack.pop();
            }
            Expr::ListComp(ast::ExprListComp { range, elt, generators, .. })
            | Expr::SetComp(ast::ExprSetComp { range, elt, generators, .. })
            | Expr::Generator(ast::ExprGenerator { range, elt, generators, .. }) => {
                self.comprehension(*range, generators, &[elt]);
            }
            Expr::DictComp(comprehension) => {
                let mut results = vec![&*comprehension.value];
                results.extend(comprehension.key.as_deref());
                self.comprehension(comprehension.range, &comprehension.generators, &results);
            }
            Expr::Attribute(attribute) => {
                if attribute.ctx != ExprContext::Load {
                    let name = self.names.intern(&attribute.attr);
                    self.home().stored_attributes.insert(name);
                }
                self.visit_expr(&attribute.value);
            }
            Expr::Subscript(subscript) => {
                if subscript.ctx != ExprContext::Load {
                    self.home().stores_items = true;
                }
                visitor::walk_expr(self, expression);
            }
            Expr::Call(_) => {
                self.symbols.census.calls += 1;
                visitor::walk_expr(self, expression);
            }
            _ => visitor::walk_expr(self, expression),
        });
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchAs(ast::PatternMatchAs { name: Some(name), .. })
            | Pattern::MatchStar(ast::PatternMatchStar { name: Some(name), .. })
            | Pattern::MatchMapping(ast::PatternMatchMapping { rest: Some(name), .. }) => self.bind(name),
            _ => {}
        }
        with_stack(|| visitor::walk_pattern(self, pattern));
    }
}
