//! How a text is laid out: lines, their indentation, and what else stands on them.

use super::text::Text;
use crate::syntax::{TextRange, TextSize, TokenKind};

impl Text<'_> {
    /// Where the line that holds `at` begins.
    pub(super) fn line_start(&self, at: TextSize) -> TextSize {
        let before = &self.text()[..at.to_usize()];
        let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        size(start)
    }

    /// Where the line that holds `at` ends, in front of its line end.
    pub(super) fn line_end(&self, at: TextSize) -> TextSize {
        let behind = &self.text()[at.to_usize()..];
        at + size(behind.find(['\n', '\r']).unwrap_or(behind.len()))
    }

    /// Where the line behind the one that ends at `end` begins.
    pub(super) fn next_line(&self, end: TextSize) -> TextSize {
        let behind = &self.text()[end.to_usize()..];
        let length = if behind.starts_with("\r\n") { 2 } else { usize::from(!behind.is_empty()) };
        end + size(length)
    }

    /// The white space that the line of `at` begins with.
    pub(super) fn line_indentation(&self, at: TextSize) -> &str {
        let line = &self.text()[self.line_start(at).to_usize()..];
        &line[..line.len() - line.trim_start_matches([' ', '\t', '\x0c']).len()]
    }

    /// Whether nothing but white space stands in front of `at` on its line.
    pub(super) fn starts_line(&self, at: TextSize) -> bool {
        self.text()[self.line_start(at).to_usize()..at.to_usize()].trim().is_empty()
    }

    /// The comment that fills the line above the one of `at`, with the same indentation.
    pub(super) fn comment_above(&self, at: TextSize) -> Option<TextSize> {
        if !self.starts_line(at) {
            return None;
        }
        let before = &self.text()[..self.line_start(at).to_usize()];
        let end = before.strip_suffix("\r\n").or_else(|| before.strip_suffix(['\n', '\r']))?.len();
        let start = self.line_start(size(end));
        let own = self.line_indentation(at);
        let above = start + size(own.len());
        let tokens = self.tokens(TextRange::new(start, size(end)));
        let is_comment =
            matches!(tokens.first(), Some((TokenKind::Comment, range)) if range.start() == above);
        (is_comment && self.line_indentation(start) == own).then_some(above)
    }

    /// The starts of the lines that begin within a range and can be indented: not those inside a string, nor
    /// empty ones.
    pub(super) fn indentable_lines(&self, range: TextRange) -> Vec<TextSize> {
        let strings: Vec<TextRange> =
            self.tokens(range).iter().filter(|(kind, _)| is_string(*kind)).map(|&(_, token)| token).collect();
        let mut lines = Vec::new();
        let mut end = self.line_end(range.start());
        while end < range.end() {
            let start = self.next_line(end);
            end = self.line_end(start);
            let blank = self.text()[start.to_usize()..end.to_usize()].trim().is_empty();
            let after = strings.partition_point(|string| string.start() < start);
            let inside = after.checked_sub(1).is_some_and(|before| strings[before].end() > start);
            if start < range.end() && !blank && !inside {
                lines.push(start);
            }
        }
        lines
    }
}

/// Whether a token is a string or a part of one, whose text must not change.
fn is_string(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle)
}

/// A length in bytes.
pub(super) fn size(length: usize) -> TextSize {
    TextSize::try_from(length).expect("sources are smaller than 4 GB")
}
