//! Statements.

use super::super::id::StatementId;
use super::super::module::SyntaxError;
use super::super::symbols::Resolution;
use super::super::value::{BuiltinType, Constant, Role, Value};
use super::super::{CallKind, DefinitionKind, Statement, StatementKind, Suite};
use super::Lowering;
use super::expression::header_range;
use crate::syntax::ast::{Expr, Identifier, Stmt, StmtGlobal, StmtNonlocal};
use crate::syntax::{Ranged, TextRange, with_stack};

impl Lowering<'_> {
    /// The statements of a suite, of the statement that is the current parent.
    pub(super) fn suite(&mut self, body: &[Stmt], suite: Suite) {
        let before = std::mem::replace(&mut self.frame().suite, suite);
        for statement in body {
            with_stack(|| self.statement(statement));
        }
        self.frame().suite = before;
    }

    /// The suite of a compound statement.
    pub(super) fn inner(&mut self, parent: StatementId, body: &[Stmt], suite: Suite) {
        let before = self.frame().parent.replace(parent);
        self.suite(body, suite);
        self.frame().parent = before;
        self.frame().statement = parent;
    }

    /// What `global` and `nonlocal` name must not have been used before in the same code: Python compiles no such file.
    fn declare(&mut self, names: &[Identifier]) {
        let scope = self.current().scope;
        let start = self.module.scope(scope).range.start();
        for name in names {
            let id = self.module.names.intern(name);
            let (Resolution::Local(variable) | Resolution::Outer(variable)) = self.resolve(id) else {
                continue;
            };
            let uses = self.module.uses.iter().rev().map(|own| (own.scope, own.variable, own.range));
            let is_used = uses
                .take_while(|(.., range)| range.start() >= start)
                .any(|(of, used, _)| of == scope && used == Some(variable));
            // An import may stand in front, which CPython's symbol table does not ask for.
            let definitions =
                self.module.definitions.iter().rev().filter(|own| own.kind != DefinitionKind::Import);
            let is_bound = definitions
                .take_while(|own| own.range.start() >= start)
                .any(|own| own.scope == scope && own.variable == variable);
            if is_used || is_bound {
                self.module.errors.push(SyntaxError {
                    message: format!("`{name}` is used in front of its declaration"),
                    range: name.range(),
                    is_of_python_2: false,
                });
            }
        }
    }

    pub(super) fn record(&mut self, kind: StatementKind, range: TextRange, header: TextRange) -> StatementId {
        let id = StatementId::new(self.module.statements.len());
        let frame = self.frame();
        frame.statement = id;
        let (parent, suite, scope, block) = (frame.parent, frame.suite, frame.scope, frame.block);
        self.module.statements.push(Statement { kind, range, header, parent, suite, scope, block });
        id
    }

    pub(super) fn simple(&mut self, kind: StatementKind, statement: &Stmt) -> StatementId {
        self.record(kind, statement.range(), statement.range())
    }

    pub(super) fn compound(&mut self, kind: StatementKind, statement: &Stmt, body: &[Stmt]) -> StatementId {
        let range = statement.range();
        let header = header_range(range.start(), self.source, body);
        self.record(kind, range, header)
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.function_definition(statement, function),
            Stmt::ClassDef(class) => self.class_definition(statement, class),
            Stmt::Return(returned) => {
                self.simple(StatementKind::Return, statement);
                let value = match &returned.value {
                    Some(value) => self.expression(value, Role::Returned),
                    None => self.constant(Constant::None, returned.range),
                };
                if let Some(function) = self.current().function
                    && self.current().alive
                {
                    self.module.functions[function.index()].returns.push(value);
                }
                self.stop();
            }
            Stmt::Delete(delete) => {
                self.simple(StatementKind::Delete, statement);
                delete.targets.iter().for_each(|target| self.delete(target));
            }
            Stmt::Assign(assign) => self.assign(statement, assign),
            Stmt::AugAssign(assign) => self.augmented_assign(statement, assign),
            Stmt::AnnAssign(assign) => {
                let simple = assign.target.is_name_expr() && assign.value.is_some();
                self.simple(StatementKind::Assign { simple }, statement);
                self.expression(&assign.annotation, Role::Operand);
                if let (Some(class), Expr::Name(name)) = (self.current().class, &*assign.target) {
                    let name = self.module.names.intern(&name.id);
                    self.module.classes[class.index()].annotated.push(name);
                }
                if let Some(value) = &assign.value {
                    let role = if simple { Role::Assigned } else { Role::Stored };
                    let value = self.expression(value, role);
                    self.target(&assign.target, value, DefinitionKind::Assignment);
                }
            }
            Stmt::For(for_statement) => self.for_statement(statement, for_statement),
            Stmt::While(while_statement) => self.while_statement(statement, while_statement),
            Stmt::If(if_statement) => self.if_statement(statement, if_statement),
            Stmt::With(with) => {
                let id = self.compound(StatementKind::With, statement, &with.body);
                for item in &with.items {
                    let manager = self.expression(&item.context_expr, Role::Managed);
                    self.module.managers.push((manager, id));
                    let value = self.push(Value::Enter(manager), item.context_expr.range());
                    self.push(Value::Leave(manager), item.context_expr.range());
                    if let Some(target) = &item.optional_vars {
                        self.target(target, value, DefinitionKind::With);
                    }
                }
                self.inner(id, &with.body, Suite::Body);
            }
            Stmt::Match(match_statement) => self.match_statement(statement, match_statement),
            Stmt::Raise(raise) => {
                self.simple(StatementKind::Raise, statement);
                if let Some(exception) = &raise.exc {
                    let value = self.expression(exception, Role::Stored);
                    // Raising a class makes an instance of it; raising an instance does not.
                    let id = self.reserve_call(exception.range());
                    self.call(id, value, exception.range(), Vec::new(), CallKind::Raise, Role::Operand);
                }
                if let Some(cause) = &raise.cause {
                    self.expression(cause, Role::Stored);
                }
                self.stop();
            }
            Stmt::Try(try_statement) => self.try_statement(statement, try_statement),
            Stmt::Assert(assert) => {
                let id = self.simple(StatementKind::Assert, statement);
                let condition = self.expression(&assert.test, Role::Condition);
                self.module.asserts.push((condition, id));
                if let Some(message) = &assert.msg {
                    self.expression(message, Role::Operand);
                }
            }
            Stmt::Import(import) => self.import(statement, import),
            Stmt::ImportFrom(import) => self.import_from(statement, import),
            Stmt::Global(StmtGlobal { names, .. }) | Stmt::Nonlocal(StmtNonlocal { names, .. }) => {
                self.simple(StatementKind::ScopeDeclaration, statement);
                self.declare(names);
            }
            // What stands for a command of a notebook, and all else that does nothing.
            Stmt::Expr(expression) if expression.value.is_number_literal_expr() => {
                self.simple(StatementKind::Other, statement);
            }
            Stmt::Expr(expression) => {
                let docstring = expression.value.is_string_literal_expr();
                self.simple(StatementKind::Expression { docstring }, statement);
                if docstring {
                    // Docstrings are most of the text in strings, and nobody reads them.
                    self.push(Value::Instance(BuiltinType::Str), expression.value.range());
                } else {
                    self.expression(&expression.value, Role::Statement);
                }
            }
            Stmt::TypeAlias(alias) => {
                self.simple(StatementKind::Other, statement);
                let value = self.push(Value::Unknown, alias.range);
                self.target(&alias.name, value, DefinitionKind::Assignment);
            }
            Stmt::Break(_) => {
                self.simple(StatementKind::Break, statement);
                self.jump(|target| target.exit);
            }
            Stmt::Continue(_) => {
                self.simple(StatementKind::Continue, statement);
                self.jump(|target| target.header);
            }
            Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => {
                self.simple(StatementKind::Other, statement);
            }
        }
    }
}
