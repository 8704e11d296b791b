//! Changes of files as the edits that an editor makes.

use std::path::Path;

use lsp_types::{
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextEdit, Uri,
    WorkspaceEdit,
};
use similar::{DiffOp, TextDiff};

use super::client::Client;
use super::documents::Documents;
use super::places::Lines;
use crate::finding::SpanRange;
use crate::fix::Change;
use crate::project::{Project, decode};

/// One edit over all changed files.
///
/// # Errors
///
/// A file's text or URI can't be had: a clause.
pub(super) fn workspace_edit(
    changes: &[Change],
    project: &Project,
    documents: &Documents,
    client: Client,
    uri: &dyn Fn(&Path) -> Option<Uri>,
) -> Result<WorkspaceEdit, String> {
    let mut edits = Vec::new();
    for change in changes {
        let path = &project.file(change.file).path;
        let uri = uri(path).ok_or("its path can't be written as a URI")?;
        let text = |bytes: &[u8]| decode(bytes.to_vec()).map_err(|problem| problem.what);
        let version = documents.get(path).map(|document| document.version);
        let text_document = OptionalVersionedTextDocumentIdentifier { uri, version };
        let own = text_edits(&text(&change.before)?, &text(&change.after)?, client);
        edits.push(TextDocumentEdit { text_document, edits: own.into_iter().map(OneOf::Left).collect() });
    }
    if client.versioned_edits {
        return Ok(WorkspaceEdit {
            document_changes: Some(DocumentChanges::Edits(edits)),
            ..WorkspaceEdit::default()
        });
    }
    let plain = edits.into_iter().map(|edit| {
        let own = edit.edits.into_iter().map(|edit| match edit {
            OneOf::Left(edit) => edit,
            OneOf::Right(annotated) => annotated.text_edit,
        });
        (edit.text_document.uri, own.collect())
    });
    Ok(WorkspaceEdit { changes: Some(plain.collect()), ..WorkspaceEdit::default() })
}

/// The edits that make one text of another, line by line.
fn text_edits(before: &str, after: &str, client: Client) -> Vec<TextEdit> {
    let diff = TextDiff::from_lines(before, after);
    let starts = |lines: &[&str]| {
        let mut ends = vec![0];
        for line in lines {
            ends.push(ends[ends.len() - 1] + line.len());
        }
        ends
    };
    let old_lines: Vec<&str> = diff.iter_old_slices().collect();
    let new_lines: Vec<&str> = diff.iter_new_slices().collect();
    let (old, new) = (starts(&old_lines), starts(&new_lines));
    let lines = Lines::new(before, client.encoding);
    let number = |byte: usize| u32::try_from(byte).expect("documents are smaller than 4 GiB");
    let changed = diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changed
        .map(|op| {
            let (from, to) = (op.old_range(), op.new_range());
            let span = SpanRange { start: number(old[from.start]), end: number(old[from.end]) };
            TextEdit { range: lines.range(span), new_text: after[new[to.start]..new[to.end]].to_owned() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range};

    use super::*;

    fn edits(before: &str, after: &str) -> Vec<TextEdit> {
        text_edits(before, after, Client::default())
    }

    #[test]
    fn only_changed_lines_are_replaced() {
        let range = |a, b, c, d| Range::new(Position::new(a, b), Position::new(c, d));
        assert_eq!(
            edits("a\nb\nc\n", "a\nc\n"),
            [TextEdit { range: range(1, 0, 2, 0), new_text: String::new() }]
        );
        let inserted = TextEdit { range: range(1, 0, 1, 0), new_text: "x\r\n".to_owned() };
        assert_eq!(edits("a\r\nb\r\n", "a\r\nx\r\nb\r\n"), [inserted]);
        assert_eq!(edits("🙂", "y"), [TextEdit { range: range(0, 0, 0, 2), new_text: "y".to_owned() }]);
        assert_eq!(edits("same\n", "same\n"), []);
    }
}
