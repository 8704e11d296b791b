//! Changes of expressions.

use super::text::Text;
use crate::finding::Edit;
use crate::syntax::{TextRange, TextSize, TokenKind};

impl Text<'_> {
    /// `expression * factor`.
    #[must_use]
    pub fn multiply(&self, expression: TextRange, factor: &str) -> Vec<Edit> {
        self.operate(expression, &format!(" * {factor}"))
    }

    /// `expression // divisor`.
    #[must_use]
    pub fn divide(&self, expression: TextRange, divisor: &str) -> Vec<Edit> {
        self.operate(expression, &format!(" // {divisor}"))
    }

    /// `expression + term`.
    #[must_use]
    pub fn add(&self, expression: TextRange, term: &str) -> Vec<Edit> {
        self.operate(expression, &format!(" + {term}"))
    }

    /// An operator behind an expression, which gets parentheses if it binds less.
    fn operate(&self, expression: TextRange, operation: &str) -> Vec<Edit> {
        if self.binds_like_a_product(expression) {
            return vec![self.insert(expression.end(), operation)];
        }
        self.wrap(expression, "(", &format!("){operation}"))
    }

    /// Puts text in front of an expression and behind it.
    #[must_use]
    pub fn wrap(&self, expression: TextRange, before: &str, behind: &str) -> Vec<Edit> {
        vec![self.insert(expression.start(), before), self.insert(expression.end(), behind)]
    }

    /// Whether a further factor can follow the expression without parentheses around it.
    #[must_use]
    pub fn binds_like_a_product(&self, expression: TextRange) -> bool {
        let mut depth = 0_usize;
        self.tokens(expression).iter().enumerate().all(|(index, (kind, _))| match kind {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                depth += 1;
                true
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                depth = depth.saturating_sub(1);
                true
            }
            _ if depth > 0 => true,
            // A sign in front of the first factor.
            TokenKind::Minus | TokenKind::Plus => index == 0,
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None
            | TokenKind::Dot
            | TokenKind::Star
            | TokenKind::DoubleStar
            | TokenKind::Slash
            | TokenKind::DoubleSlash
            | TokenKind::Percent => true,
            _ => false,
        })
    }

    /// The name that begins at a position.
    #[must_use]
    pub fn name_at(&self, at: TextSize) -> Option<TextRange> {
        let token = self.tokens(TextRange::at(at, TextSize::from(1))).first()?;
        (token.0 == TokenKind::Name).then_some(token.1)
    }

    /// The right-hand side of an assignment, given its statement and its only target.
    #[must_use]
    pub fn assigned_expression(&self, statement: TextRange, target: TextRange) -> Option<TextRange> {
        let behind = self.tokens(TextRange::new(target.end(), statement.end()));
        match behind {
            [(TokenKind::Equal, _), (_, first), ..] => Some(TextRange::new(first.start(), statement.end())),
            _ => None,
        }
    }

    /// What a `return` statement returns.
    #[must_use]
    pub fn returned_expression(&self, statement: TextRange) -> Option<TextRange> {
        let start = self.tokens(statement).get(1)?.1.start();
        Some(TextRange::new(start, statement.end()))
    }

    /// Whether an expression is a name followed by attributes and constant subscripts.
    #[must_use]
    pub fn is_chain(&self, expression: TextRange) -> bool {
        let tokens = self.tokens(expression);
        let fits = |(kind, _): &(TokenKind, TextRange)| {
            matches!(
                kind,
                TokenKind::Name
                    | TokenKind::Dot
                    | TokenKind::Lsqb
                    | TokenKind::Rsqb
                    | TokenKind::String
                    | TokenKind::Int
            )
        };
        let begins = tokens
            .first()
            .is_some_and(|(kind, range)| *kind == TokenKind::Name && range.start() == expression.start());
        // A name within brackets could mean something else elsewhere.
        let subscripts = tokens.windows(2).all(|pair| {
            pair[0].0 != TokenKind::Lsqb || matches!(pair[1].0, TokenKind::String | TokenKind::Int)
        });
        begins && subscripts && tokens.iter().all(fits)
    }

    /// The elements of a list or of a tuple in parentheses; `None` for another expression.
    #[must_use]
    pub fn elements(&self, expression: TextRange) -> Option<Vec<TextRange>> {
        let (&(opening, first), tokens) = self.tokens(expression).split_first()?;
        let is_display =
            matches!(opening, TokenKind::Lsqb | TokenKind::Lpar) && first.start() == expression.start();
        let (_, inside) = tokens.split_last().filter(|_| is_display)?;
        let mut depth = 0_usize;
        let mut parts = vec![None];
        for &(kind, range) in inside {
            match kind {
                TokenKind::Lsqb | TokenKind::Lpar | TokenKind::Lbrace => depth += 1,
                TokenKind::Rsqb | TokenKind::Rpar | TokenKind::Rbrace => depth = depth.checked_sub(1)?,
                TokenKind::Comma if depth == 0 => {
                    parts.push(None);
                    continue;
                }
                TokenKind::Comment | TokenKind::NonLogicalNewline => continue,
                _ => {}
            }
            let part = parts.last_mut()?;
            *part = Some(part.map_or(range, |own: TextRange| own.cover(range)));
        }
        Some(parts.into_iter().flatten().collect())
    }

    /// The expression's text, in parentheses if it binds less than a product.
    #[must_use]
    pub fn as_factor(&self, expression: TextRange) -> String {
        let text = self.slice(expression);
        if self.binds_like_a_product(expression) { text.to_owned() } else { format!("({text})") }
    }
}
