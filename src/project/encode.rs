//! The way back from changed text to bytes: in the encoding that the file had, with its byte order mark.

use std::borrow::Cow;

use encoding_rs::Encoding;
use thiserror::Error;

use super::FileKind;
use super::decode::{BYTE_ORDER_MARK, Codec, declared_encoding, decode, notebook};

/// Why changed text can't be written in the encoding of its file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unencodable {
    /// The encoding lacks a character.
    #[error("the file's encoding has no character for {0:?}")]
    Character(char),
    /// The bytes would not be read as this text: the line that declares the encoding has changed or moved.
    #[error("the change would move the line that declares the file's encoding")]
    Declaration,
    /// The encoding has several ways to write a text, and the file uses one that can't be had back.
    #[error("the file's encoding can't be written back without changing other bytes")]
    Ambiguous,
    /// Code would leave its cell.
    #[error("the change goes over the border between two cells of the notebook")]
    Cells,
    /// A magic or shell command would be lost.
    #[error("the change would remove a command of IPython")]
    Command,
}

/// The bytes of a file of this kind, as [`encode`] gives them for Python files; of a notebook everything but the
/// changed code stays as it is in `original`.
///
/// # Errors
///
/// As those of [`encode`]; or the text is not that of the notebook's cells.
pub fn encode_as(kind: FileKind, text: &str, original: &[u8]) -> Result<Vec<u8>, Unencodable> {
    if kind != FileKind::Notebook {
        return encode(text, original);
    }
    let changed = notebook(original).map_err(|_| Unencodable::Cells)?.with_text(text)?;
    let mark = if original.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { b"" };
    Ok([mark, changed.file().as_bytes()].concat())
}

/// The bytes of `text`, which takes the place of the text of a file with the bytes `original`. What is equal in the
/// texts is equal in the bytes.
///
/// # Errors
///
/// The encoding of `original` can't take the text, or the text would not be read back as it is.
pub fn encode(text: &str, original: &[u8]) -> Result<Vec<u8>, Unencodable> {
    let bytes = encoded(text, original)?;
    if decode(bytes.clone()).as_deref() != Ok(text) {
        return Err(Unencodable::Declaration);
    }
    Ok(bytes)
}

fn encoded(text: &str, original: &[u8]) -> Result<Vec<u8>, Unencodable> {
    if original.starts_with(BYTE_ORDER_MARK) {
        return Ok([BYTE_ORDER_MARK, text.as_bytes()].concat());
    }
    let codec = declared_encoding(original)
        .and_then(|label| Codec::of(&String::from_utf8_lossy(&original[label])))
        .unwrap_or(Codec::Utf8);
    match codec {
        Codec::Utf8 => Ok(text.as_bytes().to_vec()),
        Codec::Ascii => match text.chars().find(|character| !character.is_ascii()) {
            None => Ok(text.as_bytes().to_vec()),
            Some(character) => Err(Unencodable::Character(character)),
        },
        Codec::Latin1 => text
            .chars()
            .map(|character| {
                u8::try_from(u32::from(character)).map_err(|_| Unencodable::Character(character))
            })
            .collect(),
        Codec::Other(encoding) => {
            let bytes = exactly(encoding, text).ok_or_else(|| {
                let bad = |character: &char| exactly(encoding, character.encode_utf8(&mut [0; 4])).is_none();
                text.chars().find(bad).map_or(Unencodable::Ambiguous, Unencodable::Character)
            })?;
            let before = decode(original.to_vec()).map_err(|_| Unencodable::Ambiguous)?;
            if exactly(encoding, &before).as_deref() != Some(original) {
                return Err(Unencodable::Ambiguous);
            }
            Ok(Cow::into_owned(bytes))
        }
    }
}

/// The text in an encoding; `None` where that lacks a character.
fn exactly<'t>(encoding: &'static Encoding, text: &'t str) -> Option<Cow<'t, [u8]>> {
    match encoding.encode(text) {
        (bytes, used, false) if used == encoding => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(original: &[u8], from: &str, to: &str) -> Result<Vec<u8>, Unencodable> {
        let text = decode(original.to_vec()).expect("decodable");
        assert!(text.contains(from), "the text has {from:?}");
        encode(&text.replacen(from, to, 1), original)
    }

    #[test]
    fn what_is_not_changed_keeps_its_bytes() {
        let cases: [&[u8]; 9] = [
            b"x = 1\r\n# \xc3\xa9\r\n",
            b"\xef\xbb\xbfx = 1\n# \xc3\xa9",
            b"# coding: latin-1\nx = 1 # \xe9\x80\r",
            b"# coding: cp1252\nx = 1 # \x80\n",
            b"# coding: gbk\nx = 1 # \xc4\xe3\n",
            b"# coding: shift_jis\nx = 1 # \x82\xa0\n",
            b"# coding: ascii\nx = 1",
            b"# coding: utf-8\nx = 1 # \xc3\xa9\n",
            b"# coding: koi8-r\nx = 1\0\x0c\n",
        ];
        for original in cases {
            let expected: Vec<u8> = {
                let at = original.windows(5).position(|part| part == b"x = 1").expect("is there");
                [&original[..at], b"yy = 2", &original[at + 5..]].concat()
            };
            assert_eq!(replaced(original, "x = 1", "yy = 2"), Ok(expected), "{}", original.escape_ascii());
        }
    }

    #[test]
    fn a_character_that_the_encoding_lacks_is_refused() {
        for label in ["latin-1", "ascii", "cp1252"] {
            let original = format!("# coding: {label}\nx = 1\n").into_bytes();
            assert_eq!(
                replaced(&original, "= 1", "= '\u{4f60}'"),
                Err(Unencodable::Character('\u{4f60}')),
                "{label}"
            );
        }
        assert_eq!(
            replaced(b"# coding: latin-1\nx = 1\n", "= 1", "= '\u{e9}'"),
            Ok(b"# coding: latin-1\nx = '\xe9'\n".to_vec())
        );
    }

    #[test]
    fn the_line_that_declares_the_encoding_stays_one() {
        let original = b"# coding: latin-1\n# \xe9\n";
        assert_eq!(
            replaced(original, "# coding", "import os\nimport sys\n# coding"),
            Err(Unencodable::Declaration)
        );
        assert_eq!(replaced(original, "latin-1", "utf-8"), Err(Unencodable::Declaration));
    }
}
