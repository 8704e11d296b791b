//! Positions as editors count them: lines from 0, and characters in the units that were agreed on.

use lsp_types::{Position, PositionEncodingKind, Range};

use crate::finding::SpanRange;
use crate::syntax::{LineIndex, TextSize};

/// In which units the characters of a line are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16, which every client understands.
    #[default]
    Utf16,
    /// Code points.
    Utf32,
}

impl Encoding {
    /// The best of those that a client offers: bytes cost nothing to count.
    pub(super) fn agreed(offered: &[PositionEncodingKind]) -> Self {
        let known = [
            (PositionEncodingKind::UTF8, Self::Utf8),
            (PositionEncodingKind::UTF16, Self::Utf16),
            (PositionEncodingKind::UTF32, Self::Utf32),
        ];
        let found = known.into_iter().find(|(kind, _)| offered.contains(kind));
        found.map_or(Self::default(), |(_, encoding)| encoding)
    }

    /// The protocol's name.
    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, char: char) -> usize {
        match self {
            Self::Utf8 => char.len_utf8(),
            Self::Utf16 => char.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// A text whose bytes have lines and characters.
pub(super) struct Lines<'t> {
    text: &'t str,
    index: LineIndex,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        Self { text, index: LineIndex::from_source_text(text), encoding }
    }

    /// The position of a byte; one inside a character or behind the text is moved to the nearest place before it.
    pub(super) fn position(&self, byte: usize) -> Position {
        let byte = self.text.floor_char_boundary(byte);
        let line = self.starts().partition_point(|start| start.to_usize() <= byte) - 1;
        let before = &self.text[self.starts()[line].to_usize()..byte];
        let character: usize = before.chars().map(|char| self.encoding.width(char)).sum();
        let number = |count: usize| u32::try_from(count).expect("documents are smaller than 4 GiB");
        Position::new(number(line), number(character))
    }

    /// The positions of a range of bytes.
    pub(super) fn range(&self, span: SpanRange) -> Range {
        let (start, end) = (span.start as usize, span.end as usize);
        Range::new(self.position(start), self.position(end.max(start)))
    }

    /// The byte of a position. Behind the end of a line it is the line's end, behind the last line that of the text.
    pub(super) fn byte(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(start) = self.starts().get(line).map(TextSize::to_usize) else {
            return self.text.len();
        };
        let end = self.starts().get(line + 1).map_or(self.text.len(), TextSize::to_usize);
        let line = self.text[start..end].trim_end_matches(['\r', '\n']);
        let mut left = position.character as usize;
        for (at, char) in line.char_indices() {
            let width = self.encoding.width(char);
            if left < width {
                return start + at;
            }
            left -= width;
        }
        start + line.len()
    }

    fn starts(&self) -> &[TextSize] {
        self.index.line_starts()
    }
}

/// Whether a range has a position, its end included: a cursor stands between two characters.
pub(super) fn contains(range: Range, position: Position) -> bool {
    range.start <= position && position <= range.end
}

/// Whether two ranges have a place in common.
pub(super) fn touches(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "é = '🙂'; x\r\n\rlast";

    #[test]
    fn characters_are_counted_as_agreed() {
        let x = TEXT.find('x').expect("it is there");
        for (encoding, character) in [(Encoding::Utf8, 13), (Encoding::Utf16, 10), (Encoding::Utf32, 9)] {
            let lines = Lines::new(TEXT, encoding);
            assert_eq!(lines.position(x), Position::new(0, character), "{encoding:?}");
            assert_eq!(lines.byte(Position::new(0, character)), x, "{encoding:?}");
        }
    }

    #[test]
    fn every_place_between_characters_is_found_again() {
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let lines = Lines::new(TEXT, encoding);
            let places = (0..=TEXT.len()).filter(|&byte| TEXT.is_char_boundary(byte));
            // Between CR and LF nothing can stand.
            for byte in
                places.filter(|&byte| !TEXT[..byte].ends_with('\r') || TEXT[byte..].starts_with("last"))
            {
                assert_eq!(lines.byte(lines.position(byte)), byte, "{encoding:?}");
            }
        }
    }

    #[test]
    fn what_lies_outside_is_moved_into_the_text() {
        let lines = Lines::new(TEXT, Encoding::Utf16);
        assert_eq!(lines.byte(Position::new(0, 99)), TEXT.find('\r').expect("it is there"));
        assert_eq!(lines.byte(Position::new(0, 6)), TEXT.find('🙂').expect("it is there"), "half a pair");
        assert_eq!(lines.byte(Position::new(99, 0)), TEXT.len());
        assert_eq!(lines.position(999), Position::new(2, 4));
        assert_eq!(lines.position(1), Position::new(0, 0), "half a character");
    }

    #[test]
    fn bytes_are_preferred_and_utf_16_is_the_default() {
        let agreed = |kinds: &[PositionEncodingKind]| Encoding::agreed(kinds).kind();
        assert_eq!(agreed(&[]), PositionEncodingKind::UTF16);
        assert_eq!(
            agreed(&[PositionEncodingKind::UTF16, PositionEncodingKind::UTF8]),
            PositionEncodingKind::UTF8
        );
        assert_eq!(agreed(&[PositionEncodingKind::UTF32]), PositionEncodingKind::UTF32);
        assert_eq!(agreed(&[PositionEncodingKind::new("ebcdic")]), PositionEncodingKind::UTF16);
    }
}
