//! Edits of one text: their order, which of them contradict each other, and where they move what stands around them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::finding::{Edit, Location, SpanRange};
use crate::project::FileId;

/// The edits of several files, in order, each once, none contradicting another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    files: BTreeMap<FileId, Vec<Replacement>>,
}

/// One edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What is replaced; empty to insert.
    pub range: SpanRange,
    /// What stands there afterwards.
    pub content: String,
}

impl Replacement {
    /// The same, with its file.
    #[must_use]
    pub fn to_edit(&self, file: FileId) -> Edit {
        Edit { location: Location { file, range: self.range }, content: self.content.clone() }
    }

    fn is_insertion(&self) -> bool {
        self.range.start == self.range.end
    }

    /// By place; where something is inserted in front of what is replaced, the insertion comes first.
    fn order(&self, other: &Self) -> Ordering {
        let key = |own: &Self| (own.range.start, !own.is_insertion());
        key(self).cmp(&key(other))
    }

    /// Whether both can't be made. Insertions contradict nothing but what replaces both of their neighbours.
    fn contradicts(&self, other: &Self) -> bool {
        let (a, b) = (self.range, other.range);
        self != other && a.start < b.end && b.start < a.end
    }
}

impl Edits {
    /// Where the byte of the changed text stood before; what is new stood where it was put.
    #[must_use]
    pub fn origin(&self, file: FileId, byte: u32) -> u32 {
        let mut gained = 0_i64;
        for edit in self.of(file) {
            let start = i64::from(edit.range.start) + gained;
            let length = i64::try_from(edit.content.len()).unwrap_or(i64::MAX);
            if i64::from(byte) < start {
                break;
            }
            if i64::from(byte) < start + length {
                return edit.range.start;
            }
            gained += length - i64::from(edit.range.end - edit.range.start);
        }
        u32::try_from(i64::from(byte) - gained).unwrap_or(byte)
    }

    /// The edits of one change, or `None` where they contradict each other. At one place, insertions keep their order.
    #[must_use]
    pub fn new<'e>(edits: impl IntoIterator<Item = &'e Edit>) -> Option<Self> {
        let mut all = Self::default();
        for edit in edits {
            let one = Replacement { range: edit.location.range, content: edit.content.clone() };
            let own = all.files.entry(edit.location.file).or_default();
            if own.iter().any(|other| other.contradicts(&one)) {
                return None;
            }
            insert(own, one);
        }
        Some(all)
    }

    /// These edits with those of another change behind them; `None` where they contradict each other. What both do
    /// is done once.
    #[must_use]
    pub fn with(&self, other: &Self) -> Option<Self> {
        let mut all = self.clone();
        for (&file, edits) in &other.files {
            let own = all.files.entry(file).or_default();
            if edits.iter().any(|edit| own.iter().any(|other| other.contradicts(edit))) {
                return None;
            }
            for edit in edits {
                insert(own, edit.clone());
            }
        }
        Some(all)
    }

    /// The files that change.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.files.keys().copied()
    }

    /// The edits of a file, in order.
    #[must_use]
    pub fn of(&self, file: FileId) -> &[Replacement] {
        self.files.get(&file).map_or(&[], Vec::as_slice)
    }

    /// The first place that changes.
    #[must_use]
    pub fn start(&self) -> Option<(FileId, u32)> {
        let (&file, edits) = self.files.iter().next()?;
        Some((file, edits.first()?.range.start))
    }

    /// The text of a file after its edits; `None` where an edit lies outside of it or within a character.
    #[must_use]
    pub fn apply(&self, file: FileId, text: &str) -> Option<String> {
        let edits = self.of(file);
        let added: usize = edits.iter().map(|edit| edit.content.len()).sum();
        let mut changed = String::with_capacity(text.len() + added);
        let mut done = 0;
        for edit in edits {
            changed.push_str(text.get(done..edit.range.start as usize)?);
            changed.push_str(&edit.content);
            done = edit.range.end as usize;
        }
        changed.push_str(text.get(done..)?);
        Some(changed)
    }

    /// Where the place in front of a byte is after the edits: between the two, which differ where something is
    /// inserted at the place, and within what is replaced.
    #[must_use]
    pub fn moved(&self, file: FileId, byte: u32) -> (u32, u32) {
        let mut shift = 0_i64;
        let mut least = None;
        let place = |place: i64| u32::try_from(place).unwrap_or(u32::MAX);
        for edit in self.of(file) {
            let SpanRange { start, end } = edit.range;
            if start > byte || (start == byte && end > byte) {
                break;
            }
            let length = i64::try_from(edit.content.len()).unwrap_or(i64::MAX);
            if start < byte && byte < end {
                let start = i64::from(start) + shift;
                return (place(start), place(start + length));
            }
            if start == byte {
                least.get_or_insert(i64::from(byte) + shift);
            }
            shift += length - i64::from(end - start);
        }
        let most = i64::from(byte) + shift;
        (place(least.unwrap_or(most)), place(most))
    }
}

/// Adds an edit behind those of its place, unless it is there already.
fn insert(edits: &mut Vec<Replacement>, edit: Replacement) {
    if !edits.contains(&edit) {
        let at = edits.partition_point(|other| other.order(&edit) != Ordering::Greater);
        edits.insert(at, edit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: u32, end: u32, content: &str) -> Edit {
        Edit {
            location: Location { file: FileId(0), range: SpanRange { start, end } },
            content: content.to_owned(),
        }
    }

    fn edits(list: &[(u32, u32, &str)]) -> Option<Edits> {
        let list: Vec<Edit> = list.iter().map(|&(start, end, content)| edit(start, end, content)).collect();
        Edits::new(&list)
    }

    fn applied(text: &str, list: &[(u32, u32, &str)]) -> String {
        let edits = edits(list).expect("no contradiction");
        edits.apply(FileId(0), text).expect("lies in the text")
    }

    #[test]
    fn edits_are_made_in_the_order_of_their_places() {
        assert_eq!(applied("abcdef", &[(4, 5, "E"), (1, 2, ""), (0, 0, ">")]), ">acdEf");
        assert_eq!(applied("é\r\n", &[(4, 4, "x\r\n"), (0, 2, "e")]), "e\r\nx\r\n");
    }

    #[test]
    fn insertions_at_one_place_keep_their_order_and_stand_in_front_of_what_is_replaced() {
        assert_eq!(applied("abc", &[(1, 1, "1"), (1, 1, "2")]), "a12bc");
        assert_eq!(applied("abc", &[(1, 2, "B"), (1, 1, "1")]), "a1Bc");
        assert_eq!(applied("abc", &[(1, 1, "1"), (0, 1, "A")]), "A1bc");
    }

    #[test]
    fn a_place_of_the_changed_text_is_found_in_the_one_before() {
        // abcdef -> >>acXYf
        let edits = edits(&[(0, 0, ">>"), (1, 2, ""), (3, 5, "XY")]).expect("no contradiction");
        let origins: Vec<u32> = (0..8).map(|byte| edits.origin(FileId(0), byte)).collect();
        assert_eq!(origins, [0, 0, 0, 2, 3, 3, 5, 6]);
        assert_eq!(edits.origin(FileId(1), 3), 3, "another file");
    }

    #[test]
    fn what_is_the_same_is_done_once() {
        assert_eq!(
            applied("ab", &[(0, 0, "import x\n"), (0, 0, "import x\n"), (1, 2, ""), (1, 2, "")]),
            "import x\na"
        );
        let one = edits(&[(0, 0, "import x\n"), (1, 1, "1")]).expect("no contradiction");
        let two = edits(&[(0, 0, "import x\n"), (1, 1, "2")]).expect("no contradiction");
        let both = one.with(&two).expect("no contradiction");
        assert_eq!(both.apply(FileId(0), "ab").as_deref(), Some("import x\na12b"));
    }

    #[test]
    fn what_overlaps_is_a_contradiction() {
        for (a, b) in [((0, 3), (2, 4)), ((0, 3), (1, 2)), ((0, 3), (0, 2)), ((0, 3), (2, 2))] {
            assert_eq!(edits(&[(a.0, a.1, "x"), (b.0, b.1, "y")]), None, "{a:?} {b:?}");
            assert_eq!(edits(&[(b.0, b.1, "y"), (a.0, a.1, "x")]), None, "{b:?} {a:?}");
        }
        for (a, b) in [((0, 3), (3, 4)), ((0, 3), (3, 3)), ((1, 3), (1, 1)), ((1, 1), (1, 1))] {
            assert!(edits(&[(a.0, a.1, "x"), (b.0, b.1, "y")]).is_some(), "{a:?} {b:?}");
        }
        assert_eq!(edits(&[(0, 3, "x"), (0, 3, "y")]), None, "two contents for one place");
    }

    #[test]
    fn other_files_are_no_contradiction() {
        let mut other = edit(0, 3, "y");
        other.location.file = FileId(1);
        let edits = Edits::new(&[edit(0, 3, "x"), other]).expect("no contradiction");
        assert_eq!(edits.files().collect::<Vec<_>>(), [FileId(0), FileId(1)]);
        assert_eq!(edits.apply(FileId(1), "abcd").as_deref(), Some("yd"));
        assert_eq!(edits.start(), Some((FileId(0), 0)));
    }

    #[test]
    fn an_edit_outside_of_the_text_is_refused() {
        for (start, end) in [(3, 4), (1, 2), (0, 1)] {
            let edits = edits(&[(start, end, "x")]).expect("no contradiction");
            assert_eq!(edits.apply(FileId(0), "é "), None, "{start}..{end}");
        }
    }

    #[test]
    fn places_move_with_what_is_in_front_of_them() {
        let edits = edits(&[(2, 2, "xx"), (4, 6, "y"), (8, 9, "")]).expect("no contradiction");
        // 0123456789 becomes 01xx23y679.
        let moved = |byte| edits.moved(FileId(0), byte);
        assert_eq!(moved(1), (1, 1));
        assert_eq!(moved(2), (2, 4), "before or behind the insertion");
        assert_eq!(moved(3), (5, 5));
        assert_eq!(moved(4), (6, 6));
        assert_eq!(moved(5), (6, 7), "somewhere in what replaces it");
        assert_eq!(moved(6), (7, 7));
        assert_eq!(moved(7), (8, 8));
        assert_eq!(moved(8), (9, 9));
        assert_eq!(moved(9), (9, 9));
        assert_eq!(edits.moved(FileId(1), 7), (7, 7));
    }
}
