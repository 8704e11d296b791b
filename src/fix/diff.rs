//! The unified diff of a file, as `patch -p1` and `git apply` take it.
//!
//! It is made of bytes: a file in another encoding gives a diff in that encoding, and a carriage return is part of
//! its line.

use std::fmt::Write;
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

/// So many lines around a change are shown.
const CONTEXT: usize = 3;

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The name of a file.
    File,
    /// Where the lines stand.
    Hunk,
    /// In both.
    Context,
    /// Before only.
    Removed,
    /// After only.
    Added,
    /// The line above ends without a line feed.
    NoEnd,
}

/// A line of a diff, without its line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: LineKind,
    /// The line with its sign.
    pub bytes: Vec<u8>,
}

/// The lines of the diff of a file; none where nothing changes. `path` is relative to the project root, with `/`.
#[must_use]
pub fn diff(path: &str, before: &[u8], after: &[u8]) -> Vec<Line> {
    let (old, new) = (lines(before), lines(after));
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    let hunks = group_diff_ops(operations, CONTEXT);
    let mut out = Vec::new();
    if hunks.iter().flatten().all(|operation| operation.tag() == DiffTag::Equal) {
        return out;
    }
    let mut line = |kind, bytes: Vec<u8>| out.push(Line { kind, bytes });
    line(LineKind::File, format!("--- {}", name("a", path)).into_bytes());
    line(LineKind::File, format!("+++ {}", name("b", path)).into_bytes());
    for hunk in &hunks {
        line(LineKind::Hunk, header(hunk).into_bytes());
        for operation in hunk {
            let mut part = |kind, sign: u8, lines: &[&[u8]]| {
                for text in lines {
                    let whole = text.strip_suffix(b"\n");
                    line(kind, [&[sign], whole.unwrap_or(text)].concat());
                    if whole.is_none() {
                        line(LineKind::NoEnd, b"\\ No newline at end of file".to_vec());
                    }
                }
            };
            match operation.tag() {
                DiffTag::Equal => part(LineKind::Context, b' ', &old[operation.old_range()]),
                DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                    part(LineKind::Removed, b'-', &old[operation.old_range()]);
                    part(LineKind::Added, b'+', &new[operation.new_range()]);
                }
            }
        }
    }
    out
}

/// The lines with their ends: for these tools a line ends at LF alone.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn header(hunk: &[DiffOp]) -> String {
    let range = |side: fn(&DiffOp) -> Range<usize>| {
        let start = hunk.first().map_or(0, |operation| side(operation).start);
        let end = hunk.last().map_or(0, |operation| side(operation).end);
        match end - start {
            // An empty range is named by the line in front of it.
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            length => format!("{},{length}", start + 1),
        }
    };
    format!("@@ -{} +{} @@", range(DiffOp::old_range), range(DiffOp::new_range))
}

/// The file's name as git writes it: in quotes where it has characters that could be misread, with a tab behind it
/// where it has blanks.
fn name(side: &str, path: &str) -> String {
    let path = format!("{side}/{path}");
    let is_plain = |character: char| !character.is_control() && !matches!(character, '"' | '\\');
    if path.chars().all(is_plain) {
        let tab = if path.contains(' ') { "\t" } else { "" };
        return format!("{path}{tab}");
    }
    let mut quoted = String::from("\"");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b'\n' => quoted.push_str("\\n"),
            b'\t' => quoted.push_str("\\t"),
            0x20..=0x7e => quoted.push(char::from(byte)),
            _ => write!(quoted, "\\{byte:03o}").expect("a string takes all"),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, before: &str, after: &str) -> String {
        let lines = diff(path, before.as_bytes(), after.as_bytes());
        let lines = lines.into_iter().map(|line| String::from_utf8(line.bytes).expect("UTF-8"));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n";
        let after = before.replace("2\n3\n", "2\nnew\n3\n").replace("18\n", "");
        insta::assert_snapshot!(shown("a.py", before, &after), @"
        --- a/a.py
        +++ b/a.py
        @@ -1,5 +1,6 @@
         1
         2
        +new
         3
         4
         5
        @@ -15,6 +16,5 @@
         15
         16
         17
        -18
         19
         20
        ");
    }

    #[test]
    fn a_missing_line_end_is_said() {
        insta::assert_snapshot!(shown("a.py", "x\ny", "x\nz"), @r"
        --- a/a.py
        +++ b/a.py
        @@ -1,2 +1,2 @@
         x
        -y
        \ No newline at end of file
        +z
        \ No newline at end of file
        ");
    }

    #[test]
    fn an_empty_side_is_named_by_the_line_in_front() {
        assert_eq!(shown("a.py", "x\n", ""), "--- a/a.py\n+++ b/a.py\n@@ -1 +0,0 @@\n-x");
        assert_eq!(shown("a.py", "", "x\n"), "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+x");
        assert_eq!(shown("a.py", "x\n", "x\n"), "");
    }

    #[test]
    fn carriage_returns_belong_to_their_lines() {
        assert_eq!(shown("a.py", "x\r\n", "y\r\n"), "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\r\n+y\r");
    }

    #[test]
    fn strange_names_are_written_as_git_does() {
        assert_eq!(name("a", "my file.py"), "a/my file.py\t");
        assert_eq!(name("b", "a\"b\\c\u{e9}\n.py"), "\"b/a\\\"b\\\\c\\303\\251\\n.py\"");
        assert_eq!(name("b", "\u{e9}.py"), "b/\u{e9}.py");
    }
}
