//! The code of a cell and where each byte of it stands in the file: in one JSON string or in a list of them.

use std::fmt::Write;
use std::ops::Range;

use serde_json::value::RawValue;

use super::Escapes;

/// A cell's code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// As it is executed.
    pub(super) text: String,
    form: Form,
    /// What the text is made of, in its order.
    pieces: Vec<Piece>,
    /// Where in the file the code begins.
    begin: usize,
}

/// How the code is written.
#[derive(Debug, PartialEq, Eq)]
enum Form {
    /// As a string.
    String,
    /// As a list of strings; what stands between the quotes of two.
    List(String),
    /// As `[]`: new code needs quotes.
    EmptyList,
}

/// A stretch of code that is written as it is, or one character that is written as an escape.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    text: Range<usize>,
    file: Range<usize>,
}

impl Source {
    /// Reads a JSON value; `None` where it is neither a string nor a list of strings.
    pub(super) fn read(file: &str, value: Range<usize>) -> Option<Self> {
        let mut source =
            Self { text: String::new(), form: Form::String, pieces: Vec::new(), begin: value.start + 1 };
        if file[value.clone()].starts_with('"') {
            source.add(file, value);
            return Some(source);
        }
        let literals: Vec<&RawValue> = serde_json::from_str(&file[value.clone()]).ok()?;
        if literals.iter().any(|literal| !literal.get().starts_with('"')) {
            return None;
        }
        // Each is a part of `file`, borrowed from it.
        let place = |literal: &&RawValue| {
            let start = literal.get().as_ptr() as usize - file.as_ptr() as usize;
            start..start + literal.get().len()
        };
        let places: Vec<Range<usize>> = literals.iter().map(place).collect();
        source.form = match places.as_slice() {
            [] => Form::EmptyList,
            [only] => match &file[value.start + 1..only.start] {
                "" => Form::List(", ".to_owned()),
                indentation => Form::List(format!(",{indentation}")),
            },
            [first, second, ..] => Form::List(file[first.end..second.start].to_owned()),
        };
        source.begin = places.first().unwrap_or(&value).start + 1;
        for place in places {
            source.add(file, place);
        }
        Some(source)
    }

    /// Adds the text of a JSON string.
    fn add(&mut self, file: &str, literal: Range<usize>) {
        let (mut at, end) = (literal.start + 1, literal.end - 1);
        while at < end {
            let plain = file[at..end].find('\\').unwrap_or(end - at);
            if plain > 0 {
                self.push(&file[at..at + plain], at..at + plain);
                at += plain;
            } else {
                let (character, length) = unescape(&file[at..end]);
                self.push(character.encode_utf8(&mut [0; 4]), at..at + length);
                at += length;
            }
        }
    }

    fn push(&mut self, text: &str, file: Range<usize>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(Piece { text: start..self.text.len(), file });
    }

    /// Where in the file the byte `at` of the text begins: where one string ends and another begins, in the other.
    pub(super) fn start(&self, at: usize) -> usize {
        self.place(self.pieces.partition_point(|piece| piece.text.start <= at), at)
    }

    /// Where in the file the text before the byte `at` ends.
    pub(super) fn end(&self, at: usize) -> usize {
        self.place(self.pieces.partition_point(|piece| piece.text.start < at), at)
    }

    /// The place of the byte `at` in the piece before the one with this index.
    fn place(&self, next: usize, at: usize) -> usize {
        let Some(piece) = next.checked_sub(1).map(|index| &self.pieces[index]) else { return self.begin };
        // An escape is longer than what it stands for.
        let is_escape = piece.text.len() != piece.file.len();
        if at >= piece.text.end {
            piece.file.end
        } else if is_escape {
            piece.file.start
        } else {
            piece.file.start + (at - piece.text.start)
        }
    }

    /// A change of the text as a change of the file.
    pub(super) fn edit(
        &self,
        range: Range<usize>,
        content: &str,
        escapes: Escapes,
    ) -> (Range<usize>, String) {
        let between = match &self.form {
            Form::String => None,
            Form::List(between) => Some(between.as_str()),
            Form::EmptyList => Some(", "),
        };
        let is_last = range.end == self.text.len();
        let mut written = String::with_capacity(content.len() + 8);
        for (at, character) in content.char_indices() {
            escape(character, escapes, &mut written);
            // Each line is a string, but behind the last line end there is none.
            let goes_on = !is_last || at + 1 < content.len();
            if let (Some(between), '\n', true) = (between, character, goes_on) {
                write!(written, "\"{between}\"").expect("a string takes all");
            }
        }
        if self.form == Form::EmptyList && !written.is_empty() {
            written = format!("\"{written}\"");
        }
        (self.start(range.start)..self.start(range.end), written)
    }
}

/// The character that an escape stands for, and the length of the escape. Half of a pair stands for none.
fn unescape(text: &str) -> (char, usize) {
    let unit = |at: usize| u32::from_str_radix(text.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    match text.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\x08', 2),
        Some(b'f') => ('\x0c', 2),
        Some(b'u') => {
            let (code, length) = match (unit(0), unit(6)) {
                (Some(high @ 0xd800..0xdc00), Some(low @ 0xdc00..0xe000)) => {
                    (Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)), 12)
                }
                (code, _) => (code, 6),
            };
            (code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER), length)
        }
        Some(&itself) => (char::from(itself), 2),
        None => (char::REPLACEMENT_CHARACTER, 1),
    }
}

fn escape(character: char, escapes: Escapes, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        other if other < ' ' || (escapes == Escapes::AllButAscii && !other.is_ascii()) => {
            for unit in other.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a string takes all");
            }
        }
        other => out.push(other),
    }
}
