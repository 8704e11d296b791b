//! Definitions of functions and classes, and imports.

use super::super::id::{ClassId, FunctionId, ImportId, StatementId, ValueId};
use super::super::symbols::Opener;
use super::super::value::{Constant, Role, Value};
use super::super::{Class, DefinitionKind, Function, Import, Imported, ScopeKind, StatementKind, Suite};
use super::Lowering;
use crate::syntax::ast::{self, Expr, Stmt};
use crate::syntax::{Ranged, TextRange};

impl Lowering<'_> {
    pub(super) fn decorators(&mut self, decorators: &[ast::Decorator]) -> Vec<(ValueId, TextRange)> {
        decorators
            .iter()
            .map(|decorator| {
                (self.expression(&decorator.expression, Role::Decorator), decorator.expression.range())
            })
            .collect()
    }

    pub(super) fn type_parameters(&mut self, parameters: Option<&ast::TypeParams>) {
        let Some(parameters) = parameters else { return };
        self.open_lexical(Opener::TypeParameters, parameters.range);
        for parameter in &parameters.type_params {
            let value = self.push(Value::Unknown, parameter.range());
            self.define(parameter.name(), value, DefinitionKind::Parameter, parameter.name().range);
        }
    }

    pub(super) fn function_definition(&mut self, statement: &Stmt, function: &ast::StmtFunctionDef) {
        let statement_id = self.compound(StatementKind::Function, statement, &function.body);
        let decorators = self.decorators(&function.decorator_list);
        let depth = self.current().lexical.len();
        self.type_parameters(function.type_params.as_deref());
        let parameters = self.parameters(&function.parameters);
        if let Some(returns) = &function.returns {
            self.expression(returns, Role::Operand);
        }
        let id = FunctionId::new(self.module.functions.len());
        let value = self.push(Value::Function(id), function.name.range);
        let name = self.module.names.intern(&function.name);
        let qualified = self.qualified(&function.name);
        let lexical = self.symbols.at(Opener::Function, function.range);
        let scope = self.symbols.home(lexical);
        self.module.functions.push(Function {
            scope,
            name,
            range: function.name.range,
            parameters,
            returns: Vec::new(),
            yields: Vec::new(),
            generator: false,
            asynchronous: function.is_async,
            class: self.current().class,
            value,
            decorators: decorators.iter().map(|&(value, _)| value).collect(),
            statement: Some(statement_id),
        });
        let parent = self.current().scope;
        self.enter(scope, lexical, ScopeKind::Function(id), Some(parent), qualified, function.range);
        self.bind_parameters(id);
        self.inner(statement_id, &function.body, Suite::Body);
        if self.current().alive {
            let none = self.constant(Constant::None, function.range);
            self.module.functions[id.index()].returns.push(none);
        }
        self.leave();
        self.frame().lexical.truncate(depth);
        let decorated = self.decorate(value, &decorators);
        self.define(&function.name, decorated, DefinitionKind::Function, function.name.range);
    }

    pub(super) fn class_definition(&mut self, statement: &Stmt, class: &ast::StmtClassDef) {
        let statement_id = self.compound(StatementKind::Class, statement, &class.body);
        let decorators = self.decorators(&class.decorator_list);
        let depth = self.current().lexical.len();
        self.type_parameters(class.type_params.as_deref());
        let mut bases = Vec::new();
        if let Some(arguments) = &class.arguments {
            for base in &arguments.args {
                let value = match base {
                    Expr::Starred(starred) => {
                        self.expression(&starred.value, Role::Operand);
                        self.push(Value::Unknown, base.range())
                    }
                    _ => self.expression(base, Role::Operand),
                };
                bases.push(value);
            }
            for keyword in &arguments.keywords {
                self.expression(&keyword.value, Role::Operand);
            }
        }
        let id = ClassId::new(self.module.classes.len());
        let value = self.push(Value::Class(id), class.name.range);
        let name = self.module.names.intern(&class.name);
        let qualified = self.qualified(&class.name);
        let lexical = self.symbols.at(Opener::Class, class.range);
        let scope = self.symbols.home(lexical);
        self.module.classes.push(Class {
            scope,
            name,
            range: class.name.range,
            bases,
            annotated: Vec::new(),
            value,
            decorators: decorators.iter().map(|&(value, _)| value).collect(),
            statement: statement_id,
        });
        let parent = self.current().scope;
        self.enter(scope, lexical, ScopeKind::Class(id), Some(parent), qualified, class.range);
        self.inner(statement_id, &class.body, Suite::Body);
        self.leave();
        // The body has run: its calls may have changed what other code can reach.
        self.change(super::Place::Memory);
        self.frame().calls += 1;
        self.frame().lexical.truncate(depth);
        let decorated = self.decorate(value, &decorators);
        self.define(&class.name, decorated, DefinitionKind::Class, class.name.range);
    }

    pub(super) fn import(&mut self, statement: &Stmt, import: &ast::StmtImport) {
        let id = self.simple(StatementKind::Import { future: false }, statement);
        for alias in &import.names {
            let what = if alias.asname.is_some() { Imported::Module } else { Imported::Root };
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            let name = bound.as_str().split('.').next().unwrap_or_default().to_owned();
            let value = self.import_value(0, &alias.name, what, alias.range, id);
            self.define(&name, value, DefinitionKind::Import, bound.range);
        }
    }

    pub(super) fn import_from(&mut self, statement: &Stmt, import: &ast::StmtImportFrom) {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        let future = module == "__future__" && import.level == 0;
        let id = self.simple(StatementKind::Import { future }, statement);
        for alias in &import.names {
            if &alias.name == "*" {
                self.import_value(import.level, module, Imported::Star, alias.range, id);
                continue;
            }
            let name = self.module.names.intern(&alias.name);
            let value = self.import_value(import.level, module, Imported::Name(name), alias.range, id);
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            self.define(bound, value, DefinitionKind::Import, bound.range);
        }
    }

    pub(super) fn import_value(
        &mut self,
        level: u32,
        module: &str,
        what: Imported,
        range: TextRange,
        statement: StatementId,
    ) -> ValueId {
        let id = ImportId::new(self.module.imports.len());
        self.module.imports.push(Import { id, level, module: module.into(), what, range, statement });
        self.push(Value::Import(id), range)
    }
}
