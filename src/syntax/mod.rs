//! The parser's room: everything that names the parser's crates, so that their unstable interface
//! touches one place.
//!
//! Positions are byte offsets into the decoded source text (`TextSize`, `TextRange`); people's positions
//! (1-based lines, columns in Unicode code points) are made at the edge by [`LineIndex`].

mod ipython;

use ruff_python_parser::{
    Mode, ParseError, ParseErrorType, ParseOptions, Parsed, UnsupportedSyntaxError,
    UnsupportedSyntaxErrorKind, parse_unchecked,
};

pub use ipython::{Command, CommandKind, Commands, ipython_commands, parses};
pub use ruff_python_ast as ast;
pub use ruff_python_stdlib::sys::{is_builtin_module, is_known_standard_library};
pub use ruff_source_file::LineIndex;
pub use ruff_text_size::{Ranged, TextRange, TextSize};

/// Runs `work` with enough stack for one more level of nesting: chains of fifty thousand operators are deep.
pub fn with_stack<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, work)
}

/// Runs `work` with a stack for the deepest syntax tree that `source` can have: parsing and dropping a tree take a
/// few frames for each level, and a level takes at least a byte of one logical line.
pub fn with_stack_for<R>(source: &str, work: impl FnOnce() -> R) -> R {
    /// What a level may cost, in bytes of stack.
    const LEVEL: usize = 1024;
    /// Address space only; memory is used as far as the tree is deep.
    const LARGEST: usize = 1 << 30;
    let stack = longest_logical_line(source).saturating_mul(LEVEL).clamp(1 << 20, LARGEST);
    stacker::maybe_grow(stack, stack, work)
}

/// The length in bytes of the longest line, where brackets join lines. Brackets in strings and comments count too:
/// the result may be too large.
fn longest_logical_line(source: &str) -> usize {
    let (mut longest, mut start, mut depth) = (0, 0, 0_usize);
    for (at, &byte) in source.as_bytes().iter().enumerate() {
        // Most bytes are none of these, and to find that out takes one look.
        match MARKS[usize::from(byte)] {
            Mark::Opens => depth += 1,
            Mark::Closes => depth = depth.saturating_sub(1),
            Mark::Ends if depth == 0 => {
                longest = longest.max(at - start);
                start = at + 1;
            }
            Mark::None | Mark::Ends => {}
        }
    }
    longest.max(source.len() - start)
}

/// What a byte does to a logical line.
#[derive(Clone, Copy)]
enum Mark {
    None,
    Opens,
    Closes,
    Ends,
}

/// The marks of all bytes.
const MARKS: [Mark; 256] = {
    let mut marks = [Mark::None; 256];
    marks[b'(' as usize] = Mark::Opens;
    marks[b'[' as usize] = Mark::Opens;
    marks[b'{' as usize] = Mark::Opens;
    marks[b')' as usize] = Mark::Closes;
    marks[b']' as usize] = Mark::Closes;
    marks[b'}' as usize] = Mark::Closes;
    marks[b'\n' as usize] = Mark::Ends;
    marks[b'\r' as usize] = Mark::Ends;
    marks
};

/// Parses a module. Never fails: what does not parse is in the result's errors.
#[must_use]
pub fn parse(source: &str) -> Parsed<ast::ModModule> {
    parse_unchecked(source, ParseOptions::from(Mode::Module))
        .try_into_module()
        .expect("parsing in module mode gives a module")
}

/// Whether an error is that of a statement of Python 2, `print "text"`: two statements on a line.
#[must_use]
pub fn is_of_python_2(error: &ParseError) -> bool {
    matches!(error.error, ParseErrorType::SimpleStatementsOnSameLine)
}

/// The handlers of Python 2, `except Error, error:`, and what is wrong with them. From Python 3.14 on they mean something else.
pub fn handlers_of_python_2(
    parsed: &Parsed<ast::ModModule>,
) -> impl Iterator<Item = (String, TextRange)> + '_ {
    let is_handler =
        |own: &&UnsupportedSyntaxError| own.kind == UnsupportedSyntaxErrorKind::UnparenthesizedExceptionTypes;
    let handlers = parsed.unsupported_syntax_errors().iter().filter(is_handler);
    handlers.map(|own| ("multiple exception types must be parenthesized".to_owned(), own.range))
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

/// The comments of a module, in its order.
#[must_use]
pub fn comments(source: &str) -> Vec<TextRange> {
    with_stack_for(source, || comments_with(&parse(source), source, ""))
}

/// Whether `name` is always defined: `print`, `ValueError`.
#[must_use]
pub fn is_python_builtin(name: &str) -> bool {
    ruff_python_stdlib::builtins::is_python_builtin(name, 14, false)
}

/// What a token is.
pub use ruff_python_ast::token::TokenKind;

/// The tokens of a module in order, comments included.
#[must_use]
pub fn tokens(source: &str) -> Vec<(TokenKind, TextRange)> {
    with_stack_for(source, || {
        parse(source).tokens().iter().map(|token| (token.kind(), token.range())).collect()
    })
}
