//! Places in SARIF: encoded URIs, regions with their text, and the lines around them.

use std::fmt::Write as _;
use std::ops::Range;

use serde_sarif::sarif::{
    ArtifactContent, ArtifactLocation, Location as SarifLocation, LogicalLocation, Message, PhysicalLocation,
    Region,
};

use super::ROOT;
use crate::finding::Location;
use crate::project::FileId;
use crate::report::{Columns, Sources};

/// A relative URI for a path with `/`: everything but unreserved characters is percent-encoded.
pub(super) fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into());
            }
            other => write!(uri, "%{other:02X}").expect("a string takes all"),
        }
    }
    uri
}

/// The reported files as SARIF names them.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) sources: &'a Sources<'a>,
    /// The folder of the project within its repository; empty, or with a `/` at its end.
    pub(super) folder: &'a str,
}

impl Places<'_> {
    pub(super) fn uri(self, file: FileId) -> String {
        uri(&format!("{}{}", self.folder, self.sources.path(file)))
    }

    /// The file, relative to the repository's root.
    pub(super) fn artifact(self, file: FileId) -> ArtifactLocation {
        ArtifactLocation {
            uri: Some(self.uri(file)),
            uri_base_id: Some(ROOT.to_owned()),
            ..ArtifactLocation::default()
        }
    }

    /// Lines and columns; 64 bits hold any of them.
    pub(super) fn region(self, file: FileId, bytes: Range<usize>) -> Region {
        let number = |number: usize| i64::try_from(number).ok();
        let span = self.sources.span_of_bytes(file, bytes, Columns::Utf16);
        Region {
            start_line: number(span.start.line),
            start_column: number(span.start.column),
            end_line: number(span.end.line),
            end_column: number(span.end.column),
            ..Region::default()
        }
    }

    fn region_with_text(self, file: FileId, bytes: Range<usize>) -> Region {
        let text = &self.sources.text(file)[bytes.clone()];
        let snippet = ArtifactContent { text: Some(text.to_owned()), ..ArtifactContent::default() };
        Region { snippet: (!text.is_empty()).then_some(snippet), ..self.region(file, bytes) }
    }

    /// One more line on either side; `None` where the region is the whole file, as it has to be a proper superset.
    fn context(self, file: FileId, bytes: &Range<usize>) -> Option<Region> {
        let Self { sources, .. } = self;
        let span = sources.span_of_bytes(file, bytes.clone(), Columns::Bytes);
        let first = sources.line(file, span.start.line.saturating_sub(1).max(1))?;
        let below = sources.line(file, span.end.line + 1);
        let last = below.or_else(|| sources.line(file, span.end.line))?;
        let around = first.start.min(bytes.start)..last.end.max(bytes.end);
        (around != *bytes).then(|| self.region_with_text(file, around))
    }

    /// A location with all that a reader shows of it.
    pub(super) fn location(self, location: Location, message: Option<String>) -> SarifLocation {
        let bytes = self.sources.bytes(location);
        let physical = PhysicalLocation {
            artifact_location: Some(self.artifact(location.file)),
            context_region: self.context(location.file, &bytes),
            region: Some(self.region_with_text(location.file, bytes)),
            ..PhysicalLocation::default()
        };
        SarifLocation {
            physical_location: Some(physical),
            message: message.map(|text| Message { text: Some(text), ..Message::default() }),
            ..SarifLocation::default()
        }
    }
}

/// The enclosing function or class; nothing at module level.
pub(super) fn logical(scope: &str) -> Option<Vec<LogicalLocation>> {
    let name = LogicalLocation { fully_qualified_name: Some(scope.to_owned()), ..LogicalLocation::default() };
    (!scope.is_empty()).then(|| vec![name])
}
