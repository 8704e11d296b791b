//! SARIF 2.1.0 for code scanning: one run, relative URIs, nothing that differs from run to run.

mod line_hash;
mod place;
mod result;
mod rules;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Message, ResultColumnKind, Run, Sarif, Tool, Version, VersionControlDetails,
};

use super::{Options, Report, SourceControl, Sources};
use result::Results;
use rules::Rules;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// What relative URIs are relative to.
const ROOT: &str = "%SRCROOT%";

/// Writes one log and a line feed.
pub(super) fn write(
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &log(report, sources, options))?;
    writeln!(out)
}

fn log(report: &Report, sources: &Sources<'_>, options: &Options) -> Sarif {
    let suppressed = if options.show_suppressed { report.suppressed.as_slice() } else { &[] };
    let shown = report.findings.iter().chain(suppressed.iter().map(|(reported, _)| reported));
    let rules = Rules::of(shown.map(|reported| reported.finding.rule));
    let results = Results::new(sources, &rules).of(report, options.show_suppressed);
    let run = Run::builder()
        .tool(Tool::builder().driver(rules.driver()).build())
        .invocations(vec![invocation(options)])
        .original_uri_base_ids(BTreeMap::from([(ROOT.to_owned(), root())]))
        .column_kind(json!(ResultColumnKind::UnicodeCodePoints))
        .newline_sequences(["\r\n", "\n", "\r"].map(str::to_owned).to_vec())
        .results(results);
    let run = match &options.source_control {
        Some(source) => run.version_control_provenance(vec![provenance(source)]).build(),
        None => run.build(),
    };
    Sarif::builder().schema(SCHEMA).version(json!(Version::V2_1_0)).runs(vec![run]).build()
}

fn invocation(options: &Options) -> Invocation {
    let mut invocation = Invocation::builder().execution_successful(true).build();
    invocation.exit_code = options.exit_code.map(i64::from);
    invocation
}

/// Without a URI: an absolute one would tell the name of a user and differ from machine to machine.
fn root() -> ArtifactLocation {
    let description = Message { text: Some("The root of the project.".to_owned()), ..Message::default() };
    ArtifactLocation { description: Some(description), ..ArtifactLocation::default() }
}

fn provenance(source: &SourceControl) -> VersionControlDetails {
    let root = ArtifactLocation { uri_base_id: Some(ROOT.to_owned()), ..ArtifactLocation::default() };
    let mut details = VersionControlDetails::builder()
        .repository_uri(source.repository_uri.clone())
        .mapped_to(root)
        .build();
    details.revision_id.clone_from(&source.revision);
    details.branch.clone_from(&source.branch);
    details
}

#[cfg(test)]
mod tests;
