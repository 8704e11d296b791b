//! Statements.

use super::super::flow::{BranchKind, Stretch};
use super::super::id::{BlockId, ClassId, FunctionId, ImportId, StatementId, ValueId};
use super::super::module::{
    CallKind, Class, DefinitionKind, Function, Import, Imported, Module, ScopeKind, Statement, StatementKind,
    StoreKey, Suite,
};
use super::super::symbols::Opener;
use super::super::value::{BuiltinType, Constant, Element, Method, Operator, Role, Value};
use super::expression::header_range;
use super::{Loop, Lowering};
use crate::syntax::ast::{self, Expr, Stmt};
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
    fn inner(&mut self, parent: StatementId, body: &[Stmt], suite: Suite) {
        let before = self.frame().parent.replace(parent);
        self.suite(body, suite);
        self.frame().parent = before;
        self.frame().statement = parent;
    }

    fn record(&mut self, kind: StatementKind, range: TextRange, header: TextRange) -> StatementId {
        let id = StatementId::new(self.module.statements.len());
        let frame = self.frame();
        frame.statement = id;
        let (parent, suite, scope, block) = (frame.parent, frame.suite, frame.scope, frame.block);
        self.module.statements.push(Statement { kind, range, header, parent, suite, scope, block });
        id
    }

    fn simple(&mut self, kind: StatementKind, statement: &Stmt) -> StatementId {
        self.record(kind, statement.range(), statement.range())
    }

    fn compound(&mut self, kind: StatementKind, statement: &Stmt, body: &[Stmt]) -> StatementId {
        let range = statement.range();
        let header = header_range(range.start(), self.source, body);
        self.record(kind, range, header)
    }

    fn statement(&mut self, statement: &Stmt) {
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
                self.simple(StatementKind::Assert, statement);
                self.expression(&assert.test, Role::Condition);
                if let Some(message) = &assert.msg {
                    self.expression(message, Role::Operand);
                }
            }
            Stmt::Import(import) => self.import(statement, import),
            Stmt::ImportFrom(import) => self.import_from(statement, import),
            Stmt::Global(_) | Stmt::Nonlocal(_) => {
                self.simple(StatementKind::ScopeDeclaration, statement);
            }
            Stmt::Expr(expression) => {
                let docstring = expression.value.is_string_literal_expr();
                self.simple(StatementKind::Expression { docstring }, statement);
                self.expression(&expression.value, Role::Statement);
            }
            Stmt::TypeAlias(alias) => {
                self.simple(StatementKind::Other, statement);
                let value = self.push(Value::Unknown, alias.range);
                self.target(&alias.name, value, DefinitionKind::Assignment);
            }
            Stmt::Break(_) => {
                self.simple(StatementKind::Other, statement);
                self.jump(|target| target.exit);
            }
            Stmt::Continue(_) => {
                self.simple(StatementKind::Other, statement);
                self.jump(|target| target.header);
            }
            Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => {
                self.simple(StatementKind::Other, statement);
            }
        }
    }

    // ---- assignments ----

    fn assign(&mut self, statement: &Stmt, assign: &ast::StmtAssign) {
        let simple = matches!(assign.targets[..], [Expr::Name(_)]);
        self.simple(StatementKind::Assign { simple }, statement);
        // `a, b = c, d` passes the values through without a tuple that anybody could see.
        if let [Expr::Tuple(targets)] = &assign.targets[..]
            && let Expr::Tuple(values) = &*assign.value
            && targets.elts.len() == values.elts.len()
            && !targets.elts.iter().chain(&values.elts).any(Expr::is_starred_expr)
        {
            self.parallel(&targets.elts, &values.elts);
            return;
        }
        let value = self.expression(&assign.value, if simple { Role::Assigned } else { Role::Stored });
        let kind = if simple || !matches!(assign.targets[..], [_]) {
            DefinitionKind::Assignment
        } else {
            DefinitionKind::Unpacking
        };
        for target in &assign.targets {
            self.target(target, value, kind);
        }
        if simple
            && let Expr::Name(name) = &assign.targets[0]
            && name.id == "__all__"
            && self.current().scope == Module::TOP
        {
            self.module.all = self.literal_names(value);
        }
    }

    fn parallel(&mut self, targets: &[Expr], values: &[Expr]) {
        let values: Vec<ValueId> = values.iter().map(|value| self.expression(value, Role::Stored)).collect();
        for (target, value) in targets.iter().zip(values) {
            self.target(target, value, DefinitionKind::Unpacking);
        }
    }

    fn literal_names(&self, value: ValueId) -> Option<Vec<super::super::id::NameId>> {
        let Value::Display(_, elements) = &self.module.value(value).value else { return None };
        elements
            .iter()
            .map(|element| match element {
                Element::At(_, value) => match self.module.value(*value).value {
                    Value::Constant(Constant::Str(name)) => Some(name),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    }

    fn augmented_assign(&mut self, statement: &Stmt, assign: &ast::StmtAugAssign) {
        self.simple(StatementKind::AugmentedAssign, statement);
        // The target's object and key are evaluated once, for reading and for storing.
        let place = match &*assign.target {
            Expr::Attribute(attribute) => Some(self.attribute_place(attribute)),
            Expr::Subscript(subscript) => Some(self.item_place(subscript)),
            _ => None,
        };
        let left = match (place, &*assign.target) {
            (Some((base, _)), Expr::Attribute(attribute)) => {
                self.load_attribute(base, attribute, Role::Operand)
            }
            (Some((base, StoreKey::Item(key))), Expr::Subscript(subscript)) => {
                self.load_item(base, key, subscript.range)
            }
            (Some((base, _)), _) => self.push(Value::Slice { base, bounds: None }, assign.target.range()),
            (None, target) => self.expression(target, Role::Operand),
        };
        let right = self.expression(&assign.value, Role::Operand);
        let operator = Operator::InPlace(Method::of(assign.op));
        let value = self.push(Value::Operator { operator, left, right }, assign.range);
        if let Expr::Name(name) = &*assign.target
            && name.id == "__all__"
            && self.current().scope == Module::TOP
        {
            let more = self.literal_names(right);
            self.module.all = self.module.all.take().zip(more).map(|(all, more)| [all, more].concat());
        }
        self.escape(left);
        match place {
            Some((base, key)) => self.store(base, key, value, assign.target.range()),
            None => self.target(&assign.target, value, DefinitionKind::Augmented),
        }
    }

    fn delete(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => {
                self.read(&name.id, name.range);
                let unbound = self.unbound;
                self.define(&name.id, unbound, DefinitionKind::Deletion, name.range);
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|element| self.delete(element));
            }
            Expr::Attribute(attribute) => {
                let base = self.expression(&attribute.value, Role::Receiver);
                let unknown = self.push(Value::Unknown, attribute.range);
                self.store_part(base, None, unknown);
            }
            Expr::Subscript(subscript) => {
                let base = self.expression(&subscript.value, Role::Receiver);
                self.expression(&subscript.slice, Role::Operand);
                let unknown = self.push(Value::Unknown, subscript.range);
                self.store_part(base, None, unknown);
            }
            _ => {}
        }
    }

    // ---- branches and loops ----

    fn if_statement(&mut self, statement: &Stmt, if_statement: &ast::StmtIf) {
        let id = self.compound(StatementKind::If, statement, &if_statement.body);
        let from = self.current().ssa.now();
        let test = self.expression(&if_statement.test, Role::Condition);
        self.branch(BranchKind::If, Some(test), if_statement.test.range());
        let fork = self.current().block;
        let alive = self.current().alive;
        let mut ends = Vec::new();
        let mut last = Some(fork);
        let then = self.frame().ssa.after(fork);
        self.resume(then, alive);
        self.inner(id, &if_statement.body, Suite::Body);
        ends.push(self.end());
        for clause in &if_statement.elif_else_clauses {
            let Some(before) = last else { break };
            let block = self.frame().ssa.after(before);
            self.resume(block, alive);
            last = None;
            if let Some(test) = &clause.test {
                let condition = self.expression(test, Role::Condition);
                self.branch(BranchKind::If, Some(condition), test.range());
                let condition_block = self.current().block;
                last = Some(condition_block);
                let body = self.frame().ssa.after(condition_block);
                self.resume(body, alive);
            }
            self.inner(id, &clause.body, Suite::Alternative);
            ends.push(self.end());
        }
        ends.push(last.filter(|_| alive));
        self.join(fork, from, &ends);
    }

    fn for_statement(&mut self, statement: &Stmt, for_statement: &ast::StmtFor) {
        let id = self.compound(StatementKind::For, statement, &for_statement.body);
        let iterable = self.expression(&for_statement.iter, Role::Iterated);
        let (header, from, before) = self.loop_header();
        self.branch(BranchKind::For, Some(iterable), for_statement.iter.range());
        let exit = self.frame().ssa.merge(before, from);
        let alive = self.current().alive;
        let body = self.frame().ssa.after(header);
        self.resume(body, alive);
        let item = self.push(Value::Iteration(iterable), for_statement.iter.range());
        self.target(&for_statement.target, item, DefinitionKind::Loop);
        self.loop_body(id, header, exit, &for_statement.body);
        self.loop_end(id, header, exit, alive, &for_statement.orelse);
    }

    fn while_statement(&mut self, statement: &Stmt, while_statement: &ast::StmtWhile) {
        let id = self.compound(StatementKind::While, statement, &while_statement.body);
        let (header, from, before) = self.loop_header();
        let test = self.expression(&while_statement.test, Role::Condition);
        let endless =
            matches!(self.module.value(test).value, Value::Constant(Constant::Bool(true) | Constant::Int(1)));
        if !endless {
            self.branch(BranchKind::While, Some(test), while_statement.test.range());
        }
        let condition = self.current().block;
        let exit = self.frame().ssa.merge(before, from);
        let alive = self.current().alive;
        let body = self.frame().ssa.after(condition);
        self.resume(body, alive);
        self.loop_body(id, header, exit, &while_statement.body);
        self.loop_end(id, condition, exit, alive && !endless, &while_statement.orelse);
    }

    /// A loop's header with the time and the block in front of it.
    fn loop_header(&mut self) -> (BlockId, u32, BlockId) {
        let (before, from, alive) = (self.current().block, self.current().ssa.now(), self.current().alive);
        let frame = self.frame();
        let header = frame.ssa.merge(before, from);
        frame.ssa.join(header, before);
        self.resume(header, alive);
        (header, from, before)
    }

    fn loop_body(&mut self, id: StatementId, header: BlockId, exit: BlockId, body: &[Stmt]) {
        let finals = self.current().finals.len();
        self.frame().loops.push(Loop { header, exit, finals });
        self.inner(id, body, Suite::Body);
        let frame = self.frame();
        frame.loops.pop();
        if frame.alive {
            frame.ssa.join(header, frame.block);
        }
        frame.ssa.close(header);
    }

    /// Leaves a loop from `condition` through its `else` suite.
    fn loop_end(&mut self, id: StatementId, condition: BlockId, exit: BlockId, ends: bool, orelse: &[Stmt]) {
        let after = if ends { self.frame().ssa.after(condition) } else { condition };
        self.resume(after, ends);
        self.inner(id, orelse, Suite::Alternative);
        if let Some(end) = self.end() {
            self.frame().ssa.join(exit, end);
        }
        let frame = self.frame();
        frame.ssa.close(exit);
        let alive = frame.ssa.is_joined(exit);
        self.resume(exit, alive);
    }

    /// `break` and `continue`, which run the pending `finally` suites of the loop first.
    fn jump(&mut self, target: impl Fn(&Loop) -> BlockId) {
        let frame = self.frame();
        if let Some(around) = frame.loops.last()
            && frame.alive
        {
            let target = target(around);
            if frame.finals.len() > around.finals {
                frame.finals.last_mut().expect("there is a pending one").push(target);
            }
            // Even with a `finally` between: or what the jump skips would not seem to depend on what leads here.
            frame.ssa.join(target, frame.block);
        }
        self.stop();
    }

    fn match_statement(&mut self, statement: &Stmt, match_statement: &ast::StmtMatch) {
        let first = match_statement.cases.first().map_or(&[][..], |case| &case.body);
        let id = self.compound(StatementKind::Match, statement, first);
        let subject = self.expression(&match_statement.subject, Role::Condition);
        let (fork, from, alive) = (self.current().block, self.current().ssa.now(), self.current().alive);
        let mut ends = Vec::new();
        let mut last = Some(fork);
        for (index, case) in match_statement.cases.iter().enumerate() {
            let Some(before) = last else {
                // An irrefutable case stands in front: this one is never tried.
                self.stop();
                self.pattern(&case.pattern, subject);
                if let Some(guard) = &case.guard {
                    self.expression(guard, Role::Condition);
                }
                self.inner(id, &case.body, Suite::Alternative);
                continue;
            };
            let certain = case.guard.is_none() && case.pattern.is_irrefutable();
            let frame = self.frame();
            frame.block = before;
            if !certain {
                self.branch(BranchKind::Match, Some(subject), match_statement.subject.range());
            }
            let block = self.frame().ssa.after(before);
            self.resume(block, alive);
            self.pattern(&case.pattern, subject);
            let mut failed = before;
            if let Some(guard) = &case.guard {
                let condition = self.expression(guard, Role::Condition);
                self.branch(BranchKind::If, Some(condition), guard.range());
                failed = self.current().block;
                let body = self.frame().ssa.after(failed);
                self.resume(body, alive);
            }
            self.inner(id, &case.body, if index == 0 { Suite::Body } else { Suite::Alternative });
            ends.push(self.end());
            if certain {
                last = None;
            } else if failed == before {
                last = Some(self.frame().ssa.after(before));
            } else {
                // Without a match, or with a match and a false guard.
                let next = self.frame().ssa.merge(before, from);
                self.frame().ssa.join(next, before);
                self.frame().ssa.join(next, failed);
                self.frame().ssa.close(next);
                last = Some(next);
            }
        }
        ends.push(last.filter(|_| alive));
        self.join(fork, from, &ends);
    }

    fn try_statement(&mut self, statement: &Stmt, try_statement: &ast::StmtTry) {
        let id = self.compound(StatementKind::Try, statement, &try_statement.body);
        let (fork, from, alive) = (self.current().block, self.current().ssa.now(), self.current().alive);
        let keyword = TextRange::at(try_statement.range.start(), 3.into());
        self.branch(BranchKind::Try, None, keyword);
        let finally = !try_statement.finalbody.is_empty();
        if finally {
            self.frame().finals.push(Vec::new());
        }
        let body = self.frame().ssa.after(fork);
        self.resume(body, alive);
        let first = self.order + 1;
        self.inner(id, &try_statement.body, Suite::Body);
        let stretch = Stretch { from: first, to: self.order + 1 };
        let body_end = self.end();
        let handlers: Vec<BlockId> =
            try_statement.handlers.iter().map(|_| self.frame().ssa.exception(fork, from, stretch)).collect();
        self.resume(body_end.unwrap_or(fork), body_end.is_some());
        self.inner(id, &try_statement.orelse, Suite::Alternative);
        let mut ends = vec![self.end()];
        for (ast::ExceptHandler::ExceptHandler(handler), block) in try_statement.handlers.iter().zip(handlers)
        {
            self.resume(block, alive);
            self.handler(id, handler);
            ends.push(self.end());
        }
        self.join(fork, from, &ends);
        if finally {
            let targets = self.frame().finals.pop().expect("pushed above");
            let normal = self.end();
            let begin = self.order + 1;
            let entry = self.frame().ssa.exception(fork, from, Stretch { from: first, to: begin });
            if let Some(normal) = normal {
                self.frame().ssa.blocks[normal.index()].successors.push(entry);
            }
            let begun = self.current().ssa.now();
            self.resume(entry, alive);
            self.inner(id, &try_statement.finalbody, Suite::Finally);
            let end = self.end();
            if let Some(end) = end {
                self.leave_finally(&targets, end);
            }
            match (normal, end) {
                (Some(normal), Some(end)) => {
                    let stretch = Stretch { from: begin, to: self.order + 1 };
                    let after = self.frame().ssa.after_finally(normal, end, begun, stretch);
                    self.resume(after, true);
                }
                _ => self.stop(),
            }
        }
    }

    /// Continues the jumps that a `finally` suite interrupted.
    fn leave_finally(&mut self, targets: &[BlockId], end: BlockId) {
        let frame = self.frame();
        for &target in targets {
            let finals = frame
                .loops
                .iter()
                .rev()
                .find(|around| around.header == target || around.exit == target)
                .map_or(0, |around| around.finals);
            if frame.finals.len() > finals {
                frame.finals.last_mut().expect("there is a pending one").push(target);
            }
            frame.ssa.join(target, end);
        }
    }

    fn handler(&mut self, id: StatementId, handler: &ast::ExceptHandlerExceptHandler) {
        let caught = match &handler.type_ {
            Some(classes) => {
                let classes = self.expression(classes, Role::Operand);
                self.push(Value::Caught(classes), handler.range)
            }
            None => self.push(Value::Instance(BuiltinType::Exception), handler.range),
        };
        if let Some(name) = &handler.name {
            self.define(name, caught, DefinitionKind::Handler, name.range);
        }
        self.inner(id, &handler.body, Suite::Handler);
        if let Some(name) = &handler.name
            && self.current().alive
        {
            let unbound = self.unbound;
            self.define(name, unbound, DefinitionKind::Deletion, name.range);
        }
    }

    // ---- definitions ----

    fn decorators(&mut self, decorators: &[ast::Decorator]) -> Vec<(ValueId, TextRange)> {
        decorators
            .iter()
            .map(|decorator| {
                (self.expression(&decorator.expression, Role::Decorator), decorator.expression.range())
            })
            .collect()
    }

    fn type_parameters(&mut self, parameters: Option<&ast::TypeParams>) {
        let Some(parameters) = parameters else { return };
        self.open_lexical(Opener::TypeParameters, parameters.range);
        for parameter in &parameters.type_params {
            let value = self.push(Value::Unknown, parameter.range());
            self.define(parameter.name(), value, DefinitionKind::Parameter, parameter.name().range);
        }
    }

    fn function_definition(&mut self, statement: &Stmt, function: &ast::StmtFunctionDef) {
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

    fn class_definition(&mut self, statement: &Stmt, class: &ast::StmtClassDef) {
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

    // ---- imports ----

    fn import(&mut self, statement: &Stmt, import: &ast::StmtImport) {
        let id = self.simple(StatementKind::Import { future: false }, statement);
        for alias in &import.names {
            let what = if alias.asname.is_some() { Imported::Module } else { Imported::Root };
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            let name = bound.as_str().split('.').next().unwrap_or_default().to_owned();
            let value = self.import_value(0, &alias.name, what, alias.range, id);
            self.define(&name, value, DefinitionKind::Import, bound.range);
        }
    }

    fn import_from(&mut self, statement: &Stmt, import: &ast::StmtImportFrom) {
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

    fn import_value(
        &mut self,
        level: u32,
        module: &str,
        what: Imported,
        range: TextRange,
        statement: StatementId,
    ) -> ValueId {
        let id = ImportId::new(self.module.imports.len());
        self.module.imports.push(Import { level, module: module.into(), what, range, statement });
        self.push(Value::Import(id), range)
    }
}
