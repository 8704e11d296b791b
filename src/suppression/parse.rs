//! Reads the directives out of a file's comments.

use super::{Fault, Name, Scope, Suppression};
use crate::syntax::{TextRange, TextSize};

const TOOL: &str = "hvdlint:";

/// The suppressions in `text`, in its order.
///
/// `comments` are the ranges of its comments, from `#` to the end of the line. `statements` are the ranges of all
/// statements, nested ones too; a compound statement is given with the range of its header, from its first
/// decorator where it has any. Both are in the order of the text.
#[must_use]
pub fn parse(text: &str, comments: &[TextRange], statements: &[TextRange]) -> Vec<Suppression> {
    let mut suppressions = Vec::new();
    for &comment in comments {
        let start = comment.start().to_usize();
        for directive in directives(&text[start..comment.end().to_usize()], start) {
            suppressions.push(suppression(text, comment, directive, comments, statements));
        }
    }
    suppressions
}

/// A stretch of a comment, in bytes of the file, whose `#` is followed by the tool's name.
#[derive(Clone, Copy)]
struct Directive {
    start: usize,
    end: usize,
}

/// Splits a comment at each blank-enclosed `#`: comments for several tools share a line. `#123` in a reason stays.
fn directives(comment: &str, offset: usize) -> Vec<Directive> {
    let bytes = comment.as_bytes();
    let is_blank = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_whitespace);
    let begins = |at: usize| {
        bytes[at] == b'#'
            && (at == 0 || (is_blank(at - 1) && (is_blank(at + 1) || names_tool(&comment[at..]))))
    };
    let mut starts: Vec<usize> = (0..bytes.len()).filter(|at| begins(*at)).collect();
    starts.push(bytes.len());
    starts
        .windows(2)
        .filter(|part| names_tool(&comment[part[0]..part[1]]))
        .map(|part| Directive {
            start: offset + part[0],
            end: offset + part[0] + comment[part[0]..part[1]].trim_end().len(),
        })
        .collect()
}

fn names_tool(comment: &str) -> bool {
    comment.trim_start_matches('#').trim_start().starts_with(TOOL)
}

fn suppression(
    text: &str,
    comment: TextRange,
    directive: Directive,
    comments: &[TextRange],
    statements: &[TextRange],
) -> Suppression {
    let body = Body::read(&text[directive.start..directive.end], directive.start);
    let scope =
        if body.whole_file { Scope::File } else { statements_at(text, comment, comments, statements) };
    let fault = body.fault.or_else(|| {
        matches!(&scope, Scope::Statements(ranges) if ranges.is_empty()).then_some(Fault::NoStatement)
    });
    Suppression {
        range: range(directive.start, directive.end),
        deletion: deletion(text, comment, directive),
        scope,
        names: body.names,
        reason: body.reason,
        fault,
    }
}

/// What a directive says.
#[derive(Default)]
struct Body {
    whole_file: bool,
    names: Vec<Name>,
    reason: String,
    fault: Option<Fault>,
}

impl Body {
    fn read(directive: &str, offset: usize) -> Self {
        let mut body = Self::default();
        body.fault = body.fill(directive, offset).err();
        body
    }

    fn fill(&mut self, directive: &str, offset: usize) -> Result<(), Fault> {
        let (_, rest) = directive.split_once(TOOL).ok_or(Fault::UnknownDirective)?;
        let rest = rest.trim_start();
        let word_end = rest.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(rest.len());
        // `ignore--reason` has no blank before the reason.
        let (word, rest) = rest.split_at(rest.find("--").map_or(word_end, |dashes| word_end.min(dashes)));
        self.whole_file = match word {
            "ignore" => false,
            "ignore-file" => true,
            _ => return Err(Fault::UnknownDirective),
        };
        let list = rest.trim_start().strip_prefix('[').ok_or(Fault::NoNames)?;
        let list_start = offset + directive.len() - list.len();
        let (list, rest) = list.split_once(']').ok_or(Fault::Unclosed)?;
        self.names = names(list, list_start);
        if self.names.is_empty() {
            return Err(Fault::NoNames);
        }
        let reason = rest.trim_start().strip_prefix("--").unwrap_or_default().trim();
        if reason.is_empty() {
            return Err(Fault::NoReason);
        }
        reason.clone_into(&mut self.reason);
        Ok(())
    }
}

fn names(list: &str, offset: usize) -> Vec<Name> {
    let mut names = Vec::new();
    let mut at = 0;
    for part in list.split(',') {
        let name = part.trim();
        if !name.is_empty() {
            let start = offset + at + (part.len() - part.trim_start().len());
            names.push(Name { text: name.to_owned(), range: range(start, start + name.len()) });
        }
        at += part.len() + 1;
    }
    names
}

/// The statements that a comment belongs to: behind code, those that begin or end on its line; alone on its line,
/// those that begin on the next line that is no comment.
fn statements_at(text: &str, comment: TextRange, comments: &[TextRange], statements: &[TextRange]) -> Scope {
    let line = line_around(text, comment.start().to_usize());
    let on = |line: (usize, usize), at: TextSize| (line.0..=line.1).contains(&at.to_usize());
    let ranges = if is_alone(text, comment) {
        let below = line_below(text, line, comments);
        statements.iter().filter(|range| below.is_some_and(|line| on(line, range.start()))).copied().collect()
    } else {
        let touches = |range: &&TextRange| on(line, range.start()) || on(line, range.end());
        statements.iter().filter(touches).copied().collect()
    };
    Scope::Statements(ranges)
}

/// The first line below that does not consist of a comment.
fn line_below(text: &str, mut line: (usize, usize), comments: &[TextRange]) -> Option<(usize, usize)> {
    loop {
        let next = line.1 + line_end_len(&text[line.1..]);
        if next == line.1 {
            return None;
        }
        line = line_around(text, next);
        let code = line.0 + blanks(&text[line.0..line.1]);
        let is_comment = comments.binary_search_by_key(&code, |comment| comment.start().to_usize()).is_ok();
        if !is_comment {
            return Some(line);
        }
    }
}

fn is_alone(text: &str, comment: TextRange) -> bool {
    let (start, _) = line_around(text, comment.start().to_usize());
    text[start..comment.start().to_usize()].trim().is_empty()
}

/// What goes when the directive goes.
fn deletion(text: &str, comment: TextRange, directive: Directive) -> TextRange {
    let (line_start, line_end) = line_around(text, directive.start);
    let begins_comment = directive.start == comment.start().to_usize();
    let behind = directive.end + blanks(&text[directive.end..line_end]);
    if begins_comment && behind < line_end {
        // Another tool's comment follows and moves up.
        return range(directive.start, behind);
    }
    if begins_comment && is_alone(text, comment) {
        return range(line_start, line_end + line_end_len(&text[line_end..]));
    }
    let kept = text[line_start..directive.start].trim_end_matches([' ', '\t']).len();
    range(line_start + kept, if behind < line_end { directive.end } else { line_end })
}

/// The line around a byte, without its end.
fn line_around(text: &str, at: usize) -> (usize, usize) {
    let start = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let end = text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end);
    (start, end)
}

/// The length of the line end that `text` begins with.
fn line_end_len(text: &str) -> usize {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn range(start: usize, end: usize) -> TextRange {
    let size = |byte| TextSize::new(u32::try_from(byte).expect("a document is smaller than 4 GiB"));
    TextRange::new(size(start), size(end))
}
