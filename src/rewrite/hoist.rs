//! Changes that take an expression out of its statement, or a name out of a text.

use super::text::Text;
use crate::finding::Edit;
use crate::semantic::StatementId;
use crate::syntax::{TextRange, TokenKind};

impl Text<'_> {
    /// Gives names to expressions of a statement, in the order of the source: each is assigned on a line of its own in
    /// front of the statement. The stretch from the statement to the last expression is replaced as a whole, so that
    /// two such changes of one statement contradict each other: they would choose the same name.
    #[must_use]
    pub fn hoist(&self, statement: StatementId, named: &[(TextRange, &str)]) -> Vec<Edit> {
        self.hoist_with(statement, named, &[])
    }

    /// The same, with more lines between the assignments and the statement.
    #[must_use]
    pub fn hoist_with(
        &self,
        statement: StatementId,
        named: &[(TextRange, &str)],
        more: &[&str],
    ) -> Vec<Edit> {
        let start = self.module.statement(statement).range.start();
        let indentation = self.indentation(statement);
        let (mut lines, mut rest, mut done) = (String::new(), String::new(), start);
        for &(range, name) in named {
            let expression = self.slice(range);
            let expression = if self.is_one_line(range) { expression } else { &format!("({expression})") };
            lines.extend([name, " = ", expression, self.newline(), &indentation]);
            rest.extend([self.slice(TextRange::new(done, range.start())), name]);
            done = range.end();
        }
        for line in more {
            lines.extend([line, self.newline(), &indentation]);
        }
        let mut edits = self.unfold(statement);
        edits.push(self.replace(TextRange::new(start, done), lines + &rest));
        edits
    }

    /// Whether an expression can be a statement: its line ends are within brackets.
    fn is_one_line(&self, expression: TextRange) -> bool {
        let mut depth = 0_usize;
        self.tokens(expression).iter().all(|(kind, _)| {
            match kind {
                TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => depth += 1,
                TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > 0 || *kind != TokenKind::NonLogicalNewline
        })
    }

    /// Where a name stands in the code; not behind a dot, and not as the name of an argument.
    #[must_use]
    pub fn places_of(&self, name: &str) -> Vec<TextRange> {
        let mut found = Vec::new();
        let mut depth = 0_usize;
        for (index, &(kind, range)) in self.lexed.tokens().iter().enumerate() {
            match kind {
                TokenKind::Lpar => depth += 1,
                TokenKind::Rpar => depth = depth.saturating_sub(1),
                TokenKind::Name if self.slice(range) == name => {
                    let kind_at = |index: usize| self.lexed.tokens().get(index).map(|(kind, _)| *kind);
                    let is_member = index > 0 && kind_at(index - 1) == Some(TokenKind::Dot);
                    let is_keyword = depth > 0 && kind_at(index + 1) == Some(TokenKind::Equal);
                    if !is_member && !is_keyword {
                        found.push(range);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Whether an f-string shows the text of an expression beside its value: `f"{x = }"`.
    #[must_use]
    pub fn is_shown_as_text(&self, expression: TextRange) -> bool {
        let rest = self.text()[expression.end().to_usize()..].trim_start();
        let rest = rest.strip_prefix('=').map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['}', '!', ':']))
    }

    /// Whether a statement is just `name = value`: no type, no second target, no parentheses.
    #[must_use]
    pub fn is_plain_assignment(&self, statement: StatementId, name: TextRange, value: TextRange) -> bool {
        let range = self.module.statement(statement).range;
        range.start() == name.start()
            && range.end() == value.end()
            && name.end() <= value.start()
            && self.slice(TextRange::new(name.end(), value.start())).trim() == "="
    }
}
