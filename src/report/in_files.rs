//! A report as machines read it: notebooks are the files that they are on the disk, and no cells.

use std::sync::Arc;

use super::{Report, Reported, Sources};
use crate::finding::{Edit, Finding, Fix, Label, Location, SpanRange};
use crate::project::{Document, Documents, Notebook};

/// The report with the places and edits of notebooks moved to where they are in their files, and with documents that
/// hold what the files hold. `None` where there is no notebook.
pub(super) fn in_files(report: &Report, sources: &Sources<'_>) -> Option<(Report, Documents)> {
    let documents = sources.documents();
    if documents.values().all(|document| document.notebook.is_none()) {
        return None;
    }
    let moved = Moved { documents };
    let mut report = report.clone();
    for Reported { finding, .. } in &mut report.findings {
        moved.finding(finding);
    }
    for (Reported { finding, .. }, _) in &mut report.suppressed {
        moved.finding(finding);
    }
    let document = |document: &Document| match &document.notebook {
        None => document.clone(),
        Some(notebook) => Document { text: Arc::clone(notebook.file()), notebook: None, ..document.clone() },
    };
    Some((report, documents.iter().map(|(&file, own)| (file, document(own))).collect()))
}

/// What moves places.
#[derive(Clone, Copy)]
struct Moved<'a> {
    documents: &'a Documents,
}

impl<'a> Moved<'a> {
    fn finding(self, finding: &mut Finding) {
        self.label(&mut finding.primary);
        for label in finding.labels.iter_mut().chain(&mut finding.flow) {
            self.label(label);
        }
        finding.fix = finding.fix.take().and_then(|fix| self.fix(fix));
    }

    fn label(self, label: &mut Label) {
        if let Some(notebook) = self.notebook(label.location) {
            let range = label.location.range;
            label.location =
                placed(label.location, notebook.in_file(range.start as usize..range.end as usize));
        }
    }

    /// A change that leaves its cell can't be made in the file.
    fn fix(self, fix: Fix) -> Option<Fix> {
        let edits = fix.edits.iter().map(|edit| self.edit(edit)).collect::<Option<Vec<Edit>>>()?;
        Some(Fix { edits, ..fix })
    }

    fn edit(self, edit: &Edit) -> Option<Edit> {
        let Some(notebook) = self.notebook(edit.location) else { return Some(edit.clone()) };
        let range = edit.location.range;
        let (place, content) =
            notebook.edit_in_file(range.start as usize..range.end as usize, &edit.content)?;
        Some(Edit { location: placed(edit.location, place), content })
    }

    fn notebook(self, location: Location) -> Option<&'a Notebook> {
        self.documents.get(&location.file)?.notebook.as_deref()
    }
}

fn placed(location: Location, bytes: std::ops::Range<usize>) -> Location {
    let byte = |byte: usize| u32::try_from(byte).expect("a file is smaller than 4 GB");
    Location { range: SpanRange { start: byte(bytes.start), end: byte(bytes.end) }, ..location }
}
