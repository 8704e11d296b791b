//! Qualified names: `a`, `a.b`, `a[0]`, `a[i].b`, each one thing that can be read and changed.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::syntax::ast::{Expr, Number};

/// A qualified name, an index into [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

impl Name {
    /// The place of the name in a set of bits.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a source has fewer than 2^32 names"))
    }
}

/// What a qualified name is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part<'a> {
    /// `a`
    Symbol(&'a str),
    /// The `0` of `a[0]`, as Python prints it.
    Literal(String),
    /// `a.b`
    Attribute(Name, &'a str),
    /// `a[b]`
    Item(Name, Name),
}

/// The qualified names of a function, each once.
#[derive(Clone, Debug, Default)]
pub struct Names<'a> {
    parts: Vec<Part<'a>>,
    index: FxHashMap<Part<'a>, Name>,
}

impl<'a> Names<'a> {
    pub(super) fn intern(&mut self, part: Part<'a>) -> Name {
        let next = Name::new(self.parts.len());
        *self.index.entry(part).or_insert_with_key(|part| {
            self.parts.push(part.clone());
            next
        })
    }

    /// The names that a name hangs on: `a.b` and `a` of `a.b.c`.
    pub(super) fn owners(&self, name: Name) -> impl Iterator<Item = Name> + '_ {
        let owner = |name: Name| match self.parts[name.index()] {
            Part::Attribute(base, _) | Part::Item(base, _) => Some(base),
            Part::Symbol(_) | Part::Literal(_) => None,
        };
        std::iter::successors(owner(name), move |&name| owner(name))
    }

    /// Whether `name` is an attribute of the plain name `self`.
    pub(super) fn is_of_self(&self, name: Name) -> bool {
        matches!(self.parts[name.index()], Part::Attribute(base, _)
            if self.parts[base.index()] == Part::Symbol("self"))
    }

    /// The name as it is written, with single spaces and quotes.
    #[must_use]
    pub fn text(&self, name: Name) -> String {
        match &self.parts[name.index()] {
            Part::Symbol(text) => (*text).to_owned(),
            Part::Literal(text) => text.clone(),
            Part::Attribute(base, attribute) => format!("{}.{attribute}", self.text(*base)),
            Part::Item(base, key) => format!("{}[{}]", self.text(*base), self.text(*key)),
        }
    }
}

/// A literal that can be a key of a qualified name, as Python prints it; strings stand in single quotes, whatever they hold.
pub(super) fn literal(expression: &Expr) -> Option<String> {
    Some(match expression {
        Expr::StringLiteral(string) => format!("'{}'", string.value.to_str()),
        Expr::BytesLiteral(bytes) => printed_bytes(bytes.value.bytes()),
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(number) => number.to_string(),
            Number::Float(number) => printed_float(*number),
            Number::Complex { imag, .. } => format!("{}j", printed_float(*imag).trim_end_matches(".0")),
        },
        Expr::BooleanLiteral(truth) => if truth.value { "True" } else { "False" }.to_owned(),
        Expr::NoneLiteral(_) => "None".to_owned(),
        _ => return None,
    })
}

/// Bytes as Python prints them.
fn printed_bytes(bytes: impl Iterator<Item = u8>) -> String {
    let bytes: Vec<u8> = bytes.collect();
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut text = format!("b{quote}");
    for &byte in &bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' if char::from(byte) == quote => text.extend(['\\', quote]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => _ = write!(text, "\\x{byte:02x}"),
        }
    }
    text.push(quote);
    text
}

/// A float as Python prints it: the shortest digits that read back, with an exponent from 1e16 on and below 1e-4.
fn printed_float(number: f64) -> String {
    if number.is_infinite() {
        return "inf".to_owned();
    }
    let shortest = format!("{number:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number == 0.0 || (-4..16).contains(&exponent) {
        return format!("{number:?}");
    }
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::{printed_bytes, printed_float};

    #[test]
    fn floats_are_printed_as_python_prints_them() {
        let printed = [0.0, 1.5, 1e5, 1e15, 1e16, 1.25e22, 0.0001, 0.00001, 1.5e-10].map(printed_float);
        let expected = [
            "0.0",
            "1.5",
            "100000.0",
            "1000000000000000.0",
            "1e+16",
            "1.25e+22",
            "0.0001",
            "1e-05",
            "1.5e-10",
        ];
        assert_eq!(printed, expected);
    }

    #[test]
    fn bytes_are_printed_as_python_prints_them() {
        assert_eq!(printed_bytes(b"it's\n\x00".iter().copied()), "b\"it's\\n\\x00\"");
        assert_eq!(printed_bytes(b"'\"".iter().copied()), "b'\\'\"'");
    }
}
