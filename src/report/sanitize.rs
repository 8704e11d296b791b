//! Text that is safe to show on a terminal: no control characters, and line ends that every renderer counts alike.
//!
//! Source code and file names come from strangers; an escape sequence in them must not reach the terminal.

use std::borrow::Cow;
use std::ops::Range;

/// What is shown instead of a character that must not be shown; `None` where it may.
fn substitute(character: char) -> Option<char> {
    match character {
        '\n' | '\t' => None,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)),
        '\x7f' => Some('\u{2421}'),
        // C1 controls (among them a second form of ESC [) and what reorders the text around it.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

/// `text` with visible stand-ins for control characters; line feeds and tabs stay.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(|character| substitute(character).is_some()) {
        Cow::Owned(text.chars().map(|character| substitute(character).unwrap_or(character)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// [`visible`], on one line.
pub(super) fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        Cow::Borrowed(text) if !text.contains('\n') => Cow::Borrowed(text),
        text => Cow::Owned(text.replace('\n', "\u{240a}")),
    }
}

/// A source text made visible, in which places of the original can be found again.
#[derive(Clone, Debug)]
pub(super) struct Visible {
    /// Lines end at LF only.
    pub(super) text: String,
    /// For every place behind which the lengths differ: the byte in the original, the byte here.
    anchors: Vec<(usize, usize)>,
}

impl Visible {
    pub(super) fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut anchors = Vec::new();
        let mut characters = original.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let shown = match character {
                '\r' if characters.peek().is_some_and(|(_, next)| *next == '\n') => None,
                '\r' => Some('\n'),
                other => Some(substitute(other).unwrap_or(other)),
            };
            text.extend(shown);
            if shown.map_or(0, char::len_utf8) != character.len_utf8() {
                anchors.push((at + character.len_utf8(), text.len()));
            }
        }
        Self { text, anchors }
    }

    /// Where a range of the original is found.
    pub(super) fn range(&self, original: Range<usize>) -> Range<usize> {
        self.byte(original.start)..self.byte(original.end)
    }

    fn byte(&self, original: usize) -> usize {
        let next = self.anchors.partition_point(|(anchor, _)| *anchor <= original);
        let byte = match next.checked_sub(1).map(|last| self.anchors[last]) {
            Some((anchor, here)) => here + (original - anchor),
            None => original,
        };
        self.text.floor_char_boundary(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(visible("a\x1b[31m\u{9b}\u{202e}\x07\x7f\tb\n"), "a␛[31m\u{fffd}\u{fffd}␇␡\tb\n");
        assert_eq!(visible_line("a\r\nb"), "a␍␊b");
        assert!(matches!(visible_line("plain — 名"), Cow::Borrowed(_)));
    }

    #[test]
    fn places_are_found_again() {
        let original = "a\r\n\x1bb\rc🙂\u{9b}d";
        let shown = Visible::new(original);
        assert_eq!(shown.text, "a\n␛b\nc🙂\u{fffd}d");
        for needle in ["a", "b", "c", "🙂", "d"] {
            let start = original.find(needle).expect("is there");
            assert_eq!(&shown.text[shown.range(start..start + needle.len())], needle);
        }
        let escape = original.find('\x1b').expect("is there");
        assert_eq!(&shown.text[shown.range(escape..escape + 1)], "␛");
    }
}
