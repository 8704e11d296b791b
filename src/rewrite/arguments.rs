//! Changes of a call's arguments.

use super::text::Text;
use crate::finding::Edit;
use crate::semantic::Call;
use crate::syntax::{TextRange, TokenKind};

impl Text<'_> {
    /// Adds an argument behind the last one; a trailing comma stays the last thing.
    #[must_use]
    pub fn append_argument(&self, call: &Call, argument: &str) -> Edit {
        let inside = TextRange::new(call.callee_range.end(), call.range.end());
        let tokens = self.tokens(inside);
        let meaningful = |kind: TokenKind| {
            !matches!(kind, TokenKind::Comment | TokenKind::NonLogicalNewline | TokenKind::Newline)
        };
        let close = tokens.iter().rposition(|(kind, _)| *kind == TokenKind::Rpar);
        let last = close.and_then(|close| tokens[..close].iter().rfind(|(kind, _)| meaningful(*kind)));
        match last {
            Some((TokenKind::Comma, comma)) => {
                // `f(a, )` and the like: in front of the comma, so that it stays the last.
                self.insert(comma.start(), format!(", {argument}"))
            }
            Some((_, token)) if !call.arguments.is_empty() => {
                self.insert(token.end(), format!(", {argument}"))
            }
            Some((_, open)) => self.insert(open.end(), argument),
            None => self.insert(call.range.end(), format!("({argument})")),
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
