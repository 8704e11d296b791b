//! The texts that are open in the editor, saved or not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, Uri};
use rustc_hash::FxHashMap;

use super::paths::Place;
use super::places::{Encoding, Lines};

/// A document that is open.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// As the client writes it.
    pub(super) uri: Uri,
    /// Grows with each change.
    pub(super) version: i32,
    /// With the line endings of the editor.
    pub(super) text: Arc<str>,
    /// Where it is.
    pub(super) place: Place,
}

impl Document {
    /// Makes changes, each in the text that the one before it has left.
    pub(super) fn change(
        &mut self,
        changes: Vec<TextDocumentContentChangeEvent>,
        version: i32,
        encoding: Encoding,
    ) {
        self.version = version;
        let mut text = self.text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let lines = Lines::new(&text, encoding);
                    let (start, end) = (lines.byte(range.start), lines.byte(range.end));
                    text.replace_range(start..end.max(start), &change.text);
                }
            }
        }
        self.text = text.into();
    }
}

/// All open documents, by path.
#[derive(Debug, Default)]
pub(super) struct Documents {
    list: FxHashMap<PathBuf, Document>,
}

impl Documents {
    pub(super) fn open(&mut self, document: Document) {
        self.list.insert(document.place.path().to_owned(), document);
    }

    pub(super) fn close(&mut self, path: &Path) -> Option<Document> {
        self.list.remove(path)
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Document> {
        self.list.get(path)
    }

    pub(super) fn get_mut(&mut self, path: &Path) -> Option<&mut Document> {
        self.list.get_mut(path)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &Document)> {
        self.list.iter().map(|(path, document)| (path.as_path(), document))
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range};

    use super::*;

    fn changed(text: &str, changes: &[(Option<[u32; 4]>, &str)]) -> String {
        let uri: Uri = "file:///a.py".parse().expect("a URI");
        let place = Place::of(&uri).expect("a place");
        let mut document = Document { uri, version: 1, text: text.into(), place };
        let event = |&(range, text): &(Option<[u32; 4]>, &str)| TextDocumentContentChangeEvent {
            range: range.map(|[a, b, c, d]| Range::new(Position::new(a, b), Position::new(c, d))),
            range_length: None,
            text: text.to_owned(),
        };
        document.change(changes.iter().map(event).collect(), 2, Encoding::Utf16);
        assert_eq!(document.version, 2);
        document.text.to_string()
    }

    #[test]
    fn changes_are_made_one_after_the_other() {
        assert_eq!(changed("one\ntwo\n", &[(Some([0, 0, 1, 0]), ""), (Some([0, 3, 0, 3]), "!")]), "two!\n");
        assert_eq!(changed("one\n", &[(None, "🙂x"), (Some([0, 2, 0, 3]), "y")]), "🙂y");
    }

    #[test]
    fn changes_outside_of_the_text_do_no_harm() {
        assert_eq!(changed("one", &[(Some([7, 0, 9, 0]), "!")]), "one!");
        assert_eq!(changed("one", &[(Some([0, 2, 0, 1]), "!")]), "on!e", "an end before the start");
    }
}
