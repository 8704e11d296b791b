//! What formats for code hosting platforms share: paths from the repository's root.

use super::{Columns, Options, Report, Reported, Sources, Span};
use crate::finding::{Finding, Location};
use crate::project::FileId;

/// A report as a platform reads it.
#[derive(Clone, Copy)]
pub(super) struct Platform<'a> {
    pub(super) report: &'a Report,
    pub(super) sources: &'a Sources<'a>,
    pub(super) folder: &'a str,
}

impl<'a> Platform<'a> {
    pub(super) fn new(report: &'a Report, sources: &'a Sources<'a>, options: &'a Options) -> Self {
        Self { report, sources, folder: &options.folder }
    }

    /// Relative to the repository's root, with `/`.
    pub(super) fn path(self, file: FileId) -> String {
        format!("{}{}", self.folder, self.sources.path(file))
    }

    pub(super) fn path_of(self, finding: &Finding) -> String {
        self.path(finding.primary.location.file)
    }

    /// Lines and columns in code points.
    pub(super) fn span(self, location: Location) -> Span {
        self.sources.machine_span(location, Columns::CodePoints)
    }

    pub(super) fn findings(self) -> impl Iterator<Item = &'a Reported> {
        self.report.findings.iter()
    }
}

/// The message, and what to do, each on a line.
pub(super) fn text(finding: &Finding) -> String {
    match &finding.help {
        Some(help) => format!("{}\nhelp: {help}", finding.message),
        None => finding.message.clone(),
    }
}
