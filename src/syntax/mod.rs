//! The parser's room: everything that names the parser's crates, so that their unstable interface
//! touches one place.
//!
//! Positions are byte offsets into the decoded source text (`TextSize`, `TextRange`); people's positions
//! (1-based lines, columns in Unicode code points) are made at the edge by [`LineIndex`].

use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

pub use ruff_python_ast as ast;
pub use ruff_python_stdlib::sys::{is_builtin_module, is_known_standard_library};
pub use ruff_source_file::LineIndex;
pub use ruff_text_size::{Ranged, TextRange, TextSize};

/// Runs `work` with enough stack for one more level of nesting: chains of fifty thousand operators are deep.
pub fn with_stack<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, work)
}

/// Parses a module. Never fails: what does not parse is in the result's errors.
#[must_use]
pub fn parse(source: &str) -> Parsed<ast::ModModule> {
    parse_unchecked(source, ParseOptions::from(Mode::Module))
        .try_into_module()
        .expect("parsing in module mode gives a module")
}

/// The length of `text` in bytes; files over 4 GB are refused before they come here.
#[must_use]
pub fn text_size(text: &str) -> TextSize {
    TextSize::try_from(text.len()).expect("sources are smaller than 4 GB")
}

/// The comments that contain `needle`.
#[must_use]
pub fn comments_with(parsed: &Parsed<ast::ModModule>, source: &str, needle: &str) -> Vec<TextRange> {
    let tokens = parsed.tokens().iter();
    tokens
        .filter(|token| {
            token.kind() == ast::token::TokenKind::Comment && source[token.range()].contains(needle)
        })
        .map(Ranged::range)
        .collect()
}

/// Whether `name` is always defined: `print`, `ValueError`.
#[must_use]
pub fn is_python_builtin(name: &str) -> bool {
    ruff_python_stdlib::builtins::is_python_builtin(name, 14, false)
}
