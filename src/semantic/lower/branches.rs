//! Branches, loops, `match` and `try`.

use super::super::flow::{BranchKind, Stretch};
use super::super::id::{BlockId, StatementId};
use super::super::value::{BuiltinType, Constant, Role, Value};
use super::super::{Clause, DefinitionKind, StatementKind, Suite};
use super::{Loop, Lowering};
use crate::syntax::ast::{self, Stmt};
use crate::syntax::{Ranged, TextRange};

impl Lowering<'_> {
    pub(super) fn if_statement(&mut self, statement: &Stmt, if_statement: &ast::StmtIf) {
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
            let test = clause.test.as_ref().map(Ranged::range);
            self.module.clauses.push(Clause { statement: id, range: clause.range, test });
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

    pub(super) fn for_statement(&mut self, statement: &Stmt, for_statement: &ast::StmtFor) {
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

    pub(super) fn while_statement(&mut self, statement: &Stmt, while_statement: &ast::StmtWhile) {
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
    pub(super) fn loop_header(&mut self) -> (BlockId, u32, BlockId) {
        let (before, from, alive) = (self.current().block, self.current().ssa.now(), self.current().alive);
        let frame = self.frame();
        let header = frame.ssa.merge(before, from);
        frame.ssa.join(header, before);
        self.resume(header, alive);
        (header, from, before)
    }

    pub(super) fn loop_body(&mut self, id: StatementId, header: BlockId, exit: BlockId, body: &[Stmt]) {
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
    pub(super) fn loop_end(
        &mut self,
        id: StatementId,
        condition: BlockId,
        exit: BlockId,
        ends: bool,
        orelse: &[Stmt],
    ) {
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
    pub(super) fn jump(&mut self, target: impl Fn(&Loop) -> BlockId) {
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

    pub(super) fn match_statement(&mut self, statement: &Stmt, match_statement: &ast::StmtMatch) {
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
            let compared = case.pattern.as_match_value().filter(|_| alive);
            if let Some(value) = compared {
                let condition = self.case_value(value, subject);
                self.branch(BranchKind::Case, Some(condition), match_statement.subject.range());
            } else if !certain {
                self.branch(BranchKind::Match, Some(subject), match_statement.subject.range());
            }
            let block = self.frame().ssa.after(before);
            self.resume(block, alive);
            if compared.is_none() {
                self.pattern(&case.pattern, subject);
            }
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

    pub(super) fn try_statement(&mut self, statement: &Stmt, try_statement: &ast::StmtTry) {
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
            let entered = self.current().ssa.now();
            self.resume(entry, alive);
            self.inner(id, &try_statement.finalbody, Suite::Finally);
            let end = self.end();
            if let Some(end) = end {
                self.leave_finally(&targets, end);
            }
            match (normal, end) {
                (Some(normal), Some(end)) => {
                    let stretch = Stretch { from: begin, to: self.order + 1 };
                    let after = self.frame().ssa.after_finally(normal, end, entered, stretch);
                    self.resume(after, true);
                }
                _ => self.stop(),
            }
        }
    }

    /// Continues the jumps that a `finally` suite interrupted.
    pub(super) fn leave_finally(&mut self, targets: &[BlockId], end: BlockId) {
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

    pub(super) fn handler(&mut self, id: StatementId, handler: &ast::ExceptHandlerExceptHandler) {
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
}
