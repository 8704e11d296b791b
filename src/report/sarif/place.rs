//! Places in SARIF: encoded URIs, regions with their text, and the lines around them.

use std::fmt::Write as _;

use serde_sarif::sarif::{
    ArtifactContent, ArtifactLocation, Location as SarifLocation, LogicalLocation, Message, PhysicalLocation,
    Region,
};

use super::ROOT;
use crate::finding::Location;
use crate::project::FileId;
use crate::report::Sources;

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

/// The file, relative to the project's root.
pub(super) fn artifact(file: FileId, sources: &Sources<'_>) -> ArtifactLocation {
    ArtifactLocation {
        uri: Some(uri(sources.path(file))),
        uri_base_id: Some(ROOT.to_owned()),
        ..ArtifactLocation::default()
    }
}

/// Lines and columns; 64 bits hold any of them.
pub(super) fn region(location: Location, sources: &Sources<'_>) -> Region {
    let number = |number: usize| i64::try_from(number).ok();
    let span = sources.span(location);
    Region {
        start_line: number(span.start.line),
        start_column: number(span.start.column),
        end_line: number(span.end.line),
        end_column: number(span.end.column),
        ..Region::default()
    }
}

fn region_with_text(location: Location, sources: &Sources<'_>) -> Region {
    let text = sources.snippet(location);
    let snippet = ArtifactContent { text: Some(text.to_owned()), ..ArtifactContent::default() };
    Region { snippet: (!text.is_empty()).then_some(snippet), ..region(location, sources) }
}

/// One more line on either side; `None` where the region is the whole file, as it has to be a proper superset.
fn context(location: Location, sources: &Sources<'_>) -> Option<Region> {
    let span = sources.span(location);
    let last = sources.line(location.file, span.end.line + 1).map_or(span.end.line, |_| span.end.line + 1);
    let first = sources.line(location.file, span.start.line.saturating_sub(1).max(1))?;
    let end = sources.line(location.file, last)?.end;
    let around = Location {
        file: location.file,
        range: crate::finding::SpanRange {
            start: u32::try_from(first.start).ok()?.min(location.range.start),
            end: u32::try_from(end).ok()?.max(location.range.end),
        },
    };
    (around != location).then(|| region_with_text(around, sources))
}

/// A location with all that a reader shows of it.
pub(super) fn location(location: Location, message: Option<String>, sources: &Sources<'_>) -> SarifLocation {
    let physical = PhysicalLocation {
        artifact_location: Some(artifact(location.file, sources)),
        region: Some(region_with_text(location, sources)),
        context_region: context(location, sources),
        ..PhysicalLocation::default()
    };
    SarifLocation {
        physical_location: Some(physical),
        message: message.map(|text| Message { text: Some(text), ..Message::default() }),
        ..SarifLocation::default()
    }
}

/// The enclosing function or class; nothing at module level.
pub(super) fn logical(scope: &str) -> Option<Vec<LogicalLocation>> {
    let name = LogicalLocation { fully_qualified_name: Some(scope.to_owned()), ..LogicalLocation::default() };
    (!scope.is_empty()).then(|| vec![name])
}
