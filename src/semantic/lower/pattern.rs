//! The patterns of `match`.

use super::super::DefinitionKind;
use super::super::id::ValueId;
use super::super::value::{Method, Operator, Role, Value};
use super::Lowering;
use crate::syntax::ast::{self, Pattern};
use crate::syntax::{Ranged, with_stack};

impl Lowering<'_> {
    /// Binds what `pattern` captures of `subject`.
    pub(super) fn pattern(&mut self, pattern: &Pattern, subject: ValueId) {
        with_stack(|| self.match_pattern(pattern, subject));
    }

    /// Whether `subject` is what a `case` compares it with.
    pub(super) fn case_value(&mut self, pattern: &ast::PatternMatchValue, subject: ValueId) -> ValueId {
        let right = self.expression(&pattern.value, Role::Operand);
        let operator = Operator::Compare(Method::EQ);
        self.push(Value::Operator { operator, left: subject, right }, pattern.range)
    }

    fn match_pattern(&mut self, pattern: &Pattern, subject: ValueId) {
        match pattern {
            Pattern::MatchValue(value) => {
                self.expression(&value.value, Role::Operand);
            }
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(sequence) => self.match_sequence(sequence, subject),
            Pattern::MatchStar(star) => {
                if let Some(name) = &star.name {
                    self.define(name, subject, DefinitionKind::Capture, name.range);
                }
            }
            Pattern::MatchMapping(mapping) => {
                for (key, pattern) in mapping.keys.iter().zip(&mapping.patterns) {
                    let key = self.expression(key, Role::Operand);
                    let item = self.push(Value::Item { base: subject, key, narrowed: None }, pattern.range());
                    self.pattern(pattern, item);
                }
                if let Some(rest) = &mapping.rest {
                    let value = self.push(Value::Unknown, rest.range);
                    self.define(rest, value, DefinitionKind::Capture, rest.range);
                }
            }
            Pattern::MatchClass(class) => {
                self.expression(&class.cls, Role::Operand);
                for pattern in &class.arguments.patterns {
                    let part = self.push(Value::Unknown, pattern.range());
                    self.pattern(pattern, part);
                }
                for keyword in &class.arguments.keywords {
                    let name = self.module.names.intern(&keyword.attr);
                    let value = Value::Attribute { base: subject, name, narrowed: None };
                    let part = self.push(value, keyword.range);
                    self.pattern(&keyword.pattern, part);
                }
            }
            Pattern::MatchAs(capture) => {
                if let Some(pattern) = &capture.pattern {
                    self.pattern(pattern, subject);
                }
                if let Some(name) = &capture.name {
                    self.define(name, subject, DefinitionKind::Capture, name.range);
                }
            }
            Pattern::MatchOr(alternatives) => {
                // Each alternative binds the same names; one of them has matched.
                let (fork, from, alive) =
                    (self.current().block, self.current().ssa.now(), self.current().alive);
                let mut ends = Vec::new();
                for pattern in &alternatives.patterns {
                    let block = self.frame().ssa.after(fork);
                    self.resume(block, alive);
                    self.pattern(pattern, subject);
                    ends.push(self.end());
                }
                self.join(fork, from, &ends);
            }
        }
    }

    fn match_sequence(&mut self, sequence: &ast::PatternMatchSequence, subject: ValueId) {
        let mut starred_before = false;
        for (index, pattern) in (0..).zip(&sequence.patterns) {
            let starred = pattern.is_match_star();
            starred_before |= starred;
            let index = (!starred_before || starred).then_some(index);
            let part = self.push(Value::Unpack { base: subject, index, starred }, pattern.range());
            self.pattern(pattern, part);
        }
    }
}
