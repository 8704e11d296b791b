//! Changes of a call's arguments.

use super::text::Text;
use crate::finding::Edit;
use crate::semantic::Call;
use crate::syntax::{TextRange, TokenKind};

impl Text<'_> {
    /// Adds an argument behind the last one, on a line of its own if that has one; a trailing comma stays the last
    /// thing.
    #[must_use]
    pub fn append_argument(&self, call: &Call, argument: &str) -> Edit {
        let inside = TextRange::new(call.callee_range.end(), call.range.end());
        let tokens = self.tokens(inside);
        let meaningful = |kind: TokenKind| {
            !matches!(kind, TokenKind::Comment | TokenKind::NonLogicalNewline | TokenKind::Newline)
        };
        let close = tokens.iter().rposition(|(kind, _)| *kind == TokenKind::Rpar);
        let last = close.and_then(|close| tokens[..close].iter().rfind(|(kind, _)| meaningful(*kind)));
        let separator = self.separator(call, tokens);
        match last {
            Some((TokenKind::Comma, comma)) => {
                // `f(a, )` and the like: in front of the comma, so that it stays the last.
                self.insert(comma.start(), format!("{separator}{argument}"))
            }
            Some((_, token)) if !call.arguments.is_empty() => {
                self.insert(token.end(), format!("{separator}{argument}"))
            }
            Some((_, open)) => self.insert(open.end(), argument),
            None => self.insert(call.range.end(), format!("({argument})")),
        }
    }

    /// What parts a new argument from the last one: a comma, and where that begins its line a line end. A comment
    /// behind it stays on its line.
    fn separator(&self, call: &Call, tokens: &[(TokenKind, TextRange)]) -> String {
        let Some(last) = call.arguments.last() else { return String::new() };
        let start = self.with_keyword(call, last.range).start();
        let is_commented = tokens
            .iter()
            .skip_while(|(_, token)| token.start() < last.range.end())
            .any(|(kind, _)| *kind == TokenKind::Comment);
        if self.starts_line(start) && !is_commented {
            format!(",{}{}", self.newline(), self.line_indentation(start))
        } else {
            ", ".to_owned()
        }
    }

    /// Puts an argument in front of all others.
    #[must_use]
    pub fn prepend_argument(&self, call: &Call, argument: &str) -> Edit {
        let inside = TextRange::new(call.callee_range.end(), call.range.end());
        let open = self.tokens(inside).iter().find(|(kind, _)| *kind == TokenKind::Lpar);
        let at = open.map_or(call.range.end(), |(_, open)| open.end());
        let separator = if call.arguments.is_empty() { "" } else { ", " };
        self.insert(at, format!("{argument}{separator}"))
    }

    /// The range of an argument with its keyword: `name=value`.
    #[must_use]
    pub fn with_keyword(&self, call: &Call, value: TextRange) -> TextRange {
        let before = self.tokens(TextRange::new(call.callee_range.end(), value.start()));
        let mut tokens = before.iter().rev().filter(|(kind, _)| {
            !matches!(kind, TokenKind::Comment | TokenKind::NonLogicalNewline | TokenKind::Lpar)
        });
        match (tokens.next(), tokens.next()) {
            (Some((TokenKind::Equal, _)), Some((TokenKind::Name, name))) => {
                TextRange::new(name.start(), value.end())
            }
            _ => value,
        }
    }
}
