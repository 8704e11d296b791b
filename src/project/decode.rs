//! Turns a file's bytes into text the way Python does: UTF-8 unless the first two lines declare another encoding.
//!
//! The declaration is that of PEP 263. Python's names of encodings are not quite those of the web, which
//! `encoding_rs` knows; the differences that occur in practice are mapped here.

use std::ops::Range;

use encoding_rs::{DecoderResult, Encoding};

use super::{FileKind, Notebook};

/// What some editors put in front of UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why bytes are not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecodable {
    /// One lower-case clause.
    pub what: String,
    /// What to do, in the imperative.
    pub help: String,
    /// Where the first bad bytes are: an offset in bytes into `text`.
    pub offset: usize,
    /// The text with U+FFFD in place of what can't be decoded.
    pub text: String,
}

/// What is analysed of a file of this kind.
///
/// # Errors
///
/// As those of [`decode`]; or the file is no notebook.
pub fn decode_as(kind: FileKind, bytes: Vec<u8>) -> Result<String, Undecodable> {
    match kind {
        FileKind::Source | FileKind::Stub => decode(bytes),
        FileKind::Notebook => Ok(notebook(&bytes)?.text().to_string()),
    }
}

/// Reads a notebook, which is always UTF-8.
pub(super) fn notebook(bytes: &[u8]) -> Result<Notebook, Undecodable> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    Notebook::parse(utf8(bytes.to_vec())?.into())
}

/// The text of a Python file, without its byte order mark; line endings and NUL bytes are kept.
///
/// # Errors
///
/// The bytes aren't valid in the declared encoding, or nobody knows the declared encoding.
pub fn decode(mut bytes: Vec<u8>) -> Result<String, Undecodable> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..3);
        return utf8(bytes);
    }
    let Some(range) = declared_encoding(&bytes) else { return utf8(bytes) };
    let label = String::from_utf8_lossy(&bytes[range.clone()]).into_owned();
    match Codec::of(&label) {
        Some(Codec::Utf8) => utf8(bytes),
        Some(Codec::Latin1) => Ok(encoding_rs::mem::decode_latin1(&bytes).into_owned()),
        Some(Codec::Ascii) => ascii(bytes),
        Some(Codec::Other(encoding)) => other(&bytes, encoding, &label),
        None => Err(Undecodable {
            what: format!("the encoding `{label}` is not known"),
            help: "save the file as UTF-8 and remove the encoding line".into(),
            offset: range.start,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        }),
    }
}

fn utf8(bytes: Vec<u8>) -> Result<String, Undecodable> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let byte = bytes[offset];
        let help = if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            "save the file as UTF-8; it looks like UTF-16, which Python doesn't read"
        } else {
            "save the file as UTF-8, or declare its encoding in the first line, as in `# coding: latin-1`"
        };
        Undecodable {
            what: format!("the file is not UTF-8: invalid byte 0x{byte:02x}"),
            help: help.into(),
            offset,
            text: String::from_utf8_lossy(bytes).into_owned(),
        }
    })
}

fn ascii(bytes: Vec<u8>) -> Result<String, Undecodable> {
    let bad = bytes.iter().position(|byte| !byte.is_ascii());
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    match bad {
        None => Ok(text),
        Some(offset) => Err(Undecodable {
            what: "the file declares to be ASCII and isn't".into(),
            help: "declare the encoding that the file is in, as in `# coding: utf-8`".into(),
            offset,
            text,
        }),
    }
}

fn other(bytes: &[u8], encoding: &'static Encoding, label: &str) -> Result<String, Undecodable> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let capacity = decoder.max_utf8_buffer_length_without_replacement(bytes.len());
    let mut text = String::with_capacity(capacity.unwrap_or_default());
    let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, true);
    if result == DecoderResult::InputEmpty {
        return Ok(text);
    }
    Err(Undecodable {
        what: format!("the file declares to be `{label}` and isn't"),
        help: "declare the encoding that the file is in, as in `# coding: utf-8`".into(),
        offset: text.len(),
        text: encoding.decode_without_bom_handling(bytes).0.into_owned(),
    })
}

/// Where the declared encoding's name is (PEP 263): in a comment on the first line, or on the second when the first
/// holds nothing but a comment.
pub(super) fn declared_encoding(bytes: &[u8]) -> Option<Range<usize>> {
    let mut start = 0;
    for _ in 0..2 {
        let rest = &bytes[start..];
        let end = start + rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let line = &bytes[start..end];
        let text = line.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\x0c'));
        match text {
            Some(column) if line[column] != b'#' => return None,
            Some(column) => {
                if let Some(range) = encoding_in_comment(&line[column..]) {
                    return Some(start + column + range.start..start + column + range.end);
                }
            }
            None => {}
        }
        start = match &bytes[end..] {
            [b'\r', b'\n', ..] => end + 2,
            [_, ..] => end + 1,
            [] => return None,
        };
    }
    None
}

/// `coding[:=][ \t]*([-_.a-zA-Z0-9]+)` in a comment.
fn encoding_in_comment(comment: &[u8]) -> Option<Range<usize>> {
    const KEYWORD: &[u8] = b"coding";
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (0..comment.len().saturating_sub(KEYWORD.len())).find_map(|at| {
        let rest = comment[at..].strip_prefix(KEYWORD)?;
        if !matches!(rest[0], b':' | b'=') {
            return None;
        }
        let blank = rest[1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let start = at + KEYWORD.len() + 1 + blank;
        let length = comment[start..].iter().take_while(|byte| is_label(byte)).count();
        (length > 0).then_some(start..start + length)
    })
}

/// An encoding, as far as Python and the web know it by different names.
pub(super) enum Codec {
    Utf8,
    Latin1,
    Ascii,
    Other(&'static Encoding),
}

impl Codec {
    /// What Python means by `label`; editors' suffixes for line endings, as in `utf-8-unix`, mean nothing.
    pub(super) fn of(label: &str) -> Option<Self> {
        let label = label.to_ascii_lowercase().replace('_', "-");
        let label =
            ["-unix", "-dos", "-mac"].iter().find_map(|end| label.strip_suffix(end)).unwrap_or(&label);
        let web = match label {
            "utf-8" | "utf8" | "u8" | "utf" | "cp65001" | "utf-8-sig" => return Some(Self::Utf8),
            // The web takes Latin-1 for Windows-1252; Python doesn't.
            "latin-1" | "latin1" | "latin" | "l1" | "iso-8859-1" | "iso8859-1" | "iso-latin-1" | "8859"
            | "cp819" => return Some(Self::Latin1),
            // Python looks at the beginning only: `# -*-encoding:utf-8-*-`.
            _ if label.starts_with("utf-8-") => return Some(Self::Utf8),
            _ if ["latin-1-", "iso-8859-1-", "iso-latin-1-"].iter().any(|own| label.starts_with(own)) => {
                return Some(Self::Latin1);
            }
            "ascii" | "us-ascii" | "646" => return Some(Self::Ascii),
            "cp932" | "ms-kanji" | "sjis" | "s-jis" | "shiftjis" => "shift_jis",
            "eucjp" | "ujis" => "euc-jp",
            "cp936" | "ms936" | "euc-cn" | "euccn" => "gbk",
            "cp949" | "uhc" | "euckr" => "euc-kr",
            "cp950" => "big5",
            "latin-9" | "latin9" => "iso-8859-15",
            "mac-roman" | "macroman" => "macintosh",
            other => other,
        };
        let encoding = Encoding::for_label_no_replacement(web.as_bytes())?;
        // No such file could have had a readable encoding line.
        let is_utf16 = encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE;
        (!is_utf16).then_some(Self::Other(encoding))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        decode(bytes.to_vec()).expect("decodable")
    }

    #[test]
    fn utf8_is_the_default_and_the_byte_order_mark_goes() {
        assert_eq!(text("é = 1\n".as_bytes()), "é = 1\n");
        assert_eq!(text("\u{feff}x = 1\n".as_bytes()), "x = 1\n");
        assert_eq!(text(b""), "");
        assert_eq!(text("\u{feff}".as_bytes()), "");
    }

    #[test]
    fn bytes_that_are_no_line_or_text_of_python_are_kept() {
        for source in ["a\r\nb\r\n", "a\rb\r", "if x:\n\ty\n", "a\0b\n", "print 'two'\n", "\x0cx\n"] {
            assert_eq!(text(source.as_bytes()), source);
        }
    }

    #[test]
    fn an_encoding_line_is_obeyed() {
        let cases: [(&[u8], &str); 15] = [
            (b"# -*- coding: latin-1 -*-\n\xe9\n", "é"),
            (b"# coding=ISO_8859-1\n\x80\n", "\u{80}"),
            (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n\x80\n", "€"),
            (b"\n# coding: iso-8859-15\n\xa4\n", "€"),
            (b"# coding: latin-1-unix\r\n\xe9\r\n", "é"),
            (b"# coding: gbk\n\xc4\xe3\n", "你"),
            (b"# coding: gb2312\n\xc4\xe3\n", "你"),
            (b"# coding: cp936\r\xc4\xe3\r", "你"),
            (b"# coding: shift_jis\n\x82\xa0\n", "あ"),
            (b"# coding: cp932\n\x82\xa0\n", "あ"),
            (b"# coding: euc_jp\n\xa4\xa2\n", "あ"),
            (b"# coding: koi8-r\n\xc1\n", "а"),
            (b"# coding: utf8\n\xc3\xa9\n", "é"),
            (b"# -*-encoding:utf-8-*-\n\xc3\xa9\n", "é"),
            (b"\t# coding:utf-8-sig\n\xc3\xa9\n", "é"),
        ];
        for (bytes, expected) in cases {
            let text = text(bytes);
            let line = text.trim_end().rsplit(['\n', '\r']).next();
            assert_eq!(line, Some(expected), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn only_a_comment_on_the_first_two_lines_declares() {
        for source in
            ["x = 1\n# coding: latin-1\né\n", "\n\n# coding: latin-1\né\n", "s = 'coding: latin-1 é'\n"]
        {
            assert_eq!(text(source.as_bytes()), source);
        }
        for source in ["# coding", "# coding:", "# coding: ", "#", "# recoding it\n"] {
            assert_eq!(text(source.as_bytes()), source);
        }
    }

    #[test]
    fn bad_bytes_have_an_offset_into_the_replaced_text() {
        let problem = decode(b"\xef\xbb\xbfa = 1\nb = '\xe9'\n".to_vec()).expect_err("not UTF-8");
        assert_eq!(problem.what, "the file is not UTF-8: invalid byte 0xe9");
        assert!(problem.text[problem.offset..].starts_with('\u{fffd}'), "{problem:?}");

        let problem = decode("# coding: shift_jis\n'あ'".as_bytes().to_vec()).expect_err("not Shift JIS");
        assert_eq!(problem.what, "the file declares to be `shift_jis` and isn't");
        assert!(problem.text.is_char_boundary(problem.offset));

        let problem = decode("# coding: ascii\n'é'".as_bytes().to_vec()).expect_err("not ASCII");
        assert_eq!(problem.text.get(problem.offset..), Some("é'"));
    }

    #[test]
    fn an_unknown_encoding_is_pointed_at() {
        for label in ["klingon", "utf-16", "undefined"] {
            let problem = decode(format!("#!python\n# coding: {label}\n").into_bytes()).expect_err("unknown");
            assert_eq!(problem.what, format!("the encoding `{label}` is not known"));
            assert_eq!(&problem.text[problem.offset..], format!("{label}\n"));
        }
        let problem = decode(b"\xff\xfex\0".to_vec()).expect_err("UTF-16");
        assert!(problem.help.contains("UTF-16"), "{}", problem.help);
    }
}
