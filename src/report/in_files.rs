//! A report as machines read it: notebooks are the files that they are on the disk, and no cells.

use std::sync::Arc;

use super::{Options, Report, Reported, Sources};
use crate::finding::{Edit, Finding, Fix, Label, Location, SpanRange};
use crate::project::{Document, Documents, Notebook};

/// What machines are told.
pub(super) struct InFiles {
    pub(super) report: Report,
    pub(super) documents: Documents,
    pub(super) options: Options,
}

/// The report with the places and edits of notebooks moved to where they are in their files, and with documents that
/// hold what the files hold. `None` where there is no notebook.
pub(super) fn in_files(report: &Report, sources: &Sources<'_>, options: &Options) -> Option<InFiles> {
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
    let offers = options.offers.moved(|place| moved.location(place), |edit| moved.edit(edit));
    Some(InFiles {
        report,
        options: Options { offers, ..options.clone() },
        documents: documents.iter().map(|(&file, own)| (file, document(own))).collect(),
    })
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
        label.location = self.location(label.location);
    }

    fn location(self, location: Location) -> Location {
        let range = location.range.start as usize..location.range.end as usize;
        match self.notebook(location) {
            Some(notebook) => placed(location, notebook.in_file(range)),
            None => location,
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
