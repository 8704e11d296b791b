//! SARIF 2.1.0 for code scanning: one run, relative URIs, nothing that differs from run to run.

mod fixes;
mod line_hash;
mod message;
mod notifications;
mod place;
mod result;
mod rules;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Message, Notification, ResultColumnKind, Run, RunAutomationDetails, Sarif,
    Tool, Version, VersionControlDetails,
};

use super::{Options, Report, SourceControl, Sources};
use message::Worded;
use notifications::Notifications;
use place::Places;
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
    let places = Places { sources, folder: &options.folder };
    let shown = result::shown(report, options.show_suppressed, places);
    let suppressed = if options.show_suppressed { report.suppressed.len() } else { 0 };
    let notifications = Notifications::of(report, report.findings.len() + suppressed, places);
    let messages =
        shown.iter().map(|(reported, _)| (reported.finding.rule, Worded::of(&reported.finding, places)));
    let rules = Rules::of(messages);
    let results = Results::new(places, &rules, &options.offers).of(&shown, options.show_suppressed);
    let mut run = Run::builder()
        .tool(Tool::builder().driver(rules.driver(notifications.descriptors)).build())
        .invocations(vec![invocation(options, notifications.list)])
        .original_uri_base_ids(BTreeMap::from([(ROOT.to_owned(), root())]))
        .column_kind(json!(ResultColumnKind::Utf16CodeUnits))
        .newline_sequences(["\r\n", "\n", "\r"].map(str::to_owned).to_vec())
        .results(results)
        .build();
    run.version_control_provenance = options.source_control.as_ref().map(|source| vec![provenance(source)]);
    // Without one, `upload-sarif` sets its own.
    run.automation_details = options.sarif_category.as_deref().map(category);
    Sarif::builder().schema(SCHEMA).version(json!(Version::V2_1_0)).runs(vec![run]).build()
}

/// GitHub takes for the category what stands before the last slash.
fn category(name: &str) -> RunAutomationDetails {
    let id = format!("{}/", name.trim_end_matches('/'));
    RunAutomationDetails { id: Some(id), ..RunAutomationDetails::default() }
}

/// Without times, machine and folder, which differ from run to run.
fn invocation(options: &Options, notifications: Vec<Notification>) -> Invocation {
    let mut invocation = Invocation::builder().execution_successful(true).build();
    invocation.exit_code = options.exit_code.map(i64::from);
    invocation.tool_execution_notifications = (!notifications.is_empty()).then_some(notifications);
    invocation
}

/// Without a URI: an absolute one would tell the name of a user and differ from machine to machine.
fn root() -> ArtifactLocation {
    let description = Message { text: Some("The root of the repository.".to_owned()), ..Message::default() };
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
