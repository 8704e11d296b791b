//! `hvdlint check`.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use anyhow::Context as _;

use crate::analysis;
use crate::checks::{RULES, tool};
use crate::cli::{CheckArgs, GlobalArgs, Output, OutputFormat};
use crate::finding::{Confidence, Finding};
use crate::program::Facts;
use crate::project::{Document, Documents, Project, SelectOptions, Selection, StandardInput, decode};
use crate::report::{self, Format, Report, Sources};
use crate::suppression::{self, Checks, Suppressions};

pub(super) fn run(arguments: &CheckArgs, global: &GlobalArgs) -> anyhow::Result<u8> {
    let mut options = super::options(&arguments.config, global);
    options.force_exclude = arguments.force_exclude;
    options.report_all = arguments.project;
    if arguments.paths.iter().any(|path| path == Path::new("-")) {
        options.stdin = Some(standard_input(arguments)?);
    }
    let project = super::open(&arguments.paths, &options, global)?;
    let config = project.config();
    let choice = SelectOptions {
        select: arguments.select.clone(),
        ignore: arguments.ignore.clone(),
        extend_select: arguments.extend_select.clone(),
    };
    let selection = Selection::new(config, &choice, RULES)?;
    let strict = arguments.strict || config.strict;
    let confidence = arguments.confidence.unwrap_or(config.confidence);
    let (found, documents, suppressions) = analysis::with_facts(&project, |facts| {
        super::warn(&facts.modules.problems, global)?;
        let found = analysis::findings(&project, facts, strict);
        let documents = documents(&project, facts, &found);
        let suppressions = suppressions(facts, &documents);
        anyhow::Ok((found, documents, suppressions))
    })??;
    let outcome = Outcome { project: &project, selection: &selection, confidence, documents: &documents };
    let report = outcome.report(found, &suppressions, arguments.no_ignores);
    let worst = report.findings.iter().map(|reported| reported.finding.level).max();
    let status = match worst {
        Some(level) if level >= arguments.fail_on && !arguments.exit_zero => super::FINDINGS,
        _ => super::CLEAN,
    };
    write(arguments, global, &report, &documents, status)?;
    Ok(status)
}

fn standard_input(arguments: &CheckArgs) -> anyhow::Result<StandardInput> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("standard input can't be read")?;
    let text = decode(bytes).map_err(|error| anyhow::anyhow!("standard input: {}", error.what))?;
    Ok(StandardInput { filename: arguments.stdin_filename.clone(), text })
}

/// The texts that findings and suppressions point into.
fn documents(project: &Project, facts: &Facts<'_>, findings: &[Finding]) -> Documents {
    let mut files: Vec<_> =
        facts.modules.files().filter(|&file| !facts.module(file).comments.is_empty()).collect();
    for finding in findings {
        files.push(finding.primary.location.file);
        files.extend(finding.labels.iter().chain(&finding.flow).map(|label| label.location.file));
    }
    files.sort_unstable();
    files.dedup();
    let document = |file| {
        let gone = || Document { path: project.file(file).relative.clone(), text: "".into() };
        (file, project.document(file).unwrap_or_else(gone))
    };
    files.into_iter().map(document).collect()
}

fn suppressions(facts: &Facts<'_>, documents: &Documents) -> Suppressions {
    let mut found = Suppressions::new();
    for file in facts.modules.files() {
        let module = facts.module(file);
        if module.comments.is_empty() {
            continue;
        }
        let statements: Vec<_> = module.statements.iter().map(|statement| statement.header).collect();
        let text = &documents[&file].text;
        found.insert(file, suppression::parse(text, &module.comments, &statements));
    }
    found
}

/// What decides which findings are reported.
struct Outcome<'a> {
    project: &'a Project,
    selection: &'a Selection,
    confidence: Confidence,
    documents: &'a Documents,
}

impl Outcome<'_> {
    fn report(&self, found: Vec<Finding>, suppressions: &Suppressions, no_ignores: bool) -> Report {
        let relative = |finding: &Finding| &self.project.file(finding.primary.location.file).relative;
        let selected = |finding: &Finding| {
            // What does not parse is always said: nothing else is sure then.
            finding.rule.code == tool::INVALID_SYNTAX.code
                || self.selection.applies(finding.rule, relative(finding))
        };
        let chosen: Vec<Finding> = found
            .into_iter()
            .filter(selected)
            .map(|mut finding| {
                finding.level = self.selection.level(finding.rule, finding.level);
                finding
            })
            .collect();
        let ran = |rule: &crate::finding::Rule| self.selection.is_enabled(rule);
        let (kept, suppressed) = if no_ignores {
            (chosen, Vec::new())
        } else {
            let applied = suppression::apply(chosen, suppressions, Checks { known: RULES, ran: &ran });
            let unused = applied.unused.into_iter().filter(|finding| selected(finding));
            (applied.kept.into_iter().chain(unused).collect(), applied.suppressed)
        };
        let shown = |finding: &Finding| finding.confidence >= self.confidence && self.is_reported(finding);
        let kept = kept.into_iter().filter(shown).collect();
        let suppressed = suppressed.into_iter().filter(|(finding, _)| shown(finding)).collect();
        Report::new(kept, suppressed, self.project.reported().count(), self.documents)
    }

    /// A finding is reported when one of its places is in the paths that the user gave.
    fn is_reported(&self, finding: &Finding) -> bool {
        let places = finding.labels.iter().chain(&finding.flow).chain([&finding.primary]);
        places.into_iter().any(|label| self.project.file(label.location.file).reported)
    }
}

fn write(
    arguments: &CheckArgs,
    global: &GlobalArgs,
    report: &Report,
    documents: &Documents,
    status: u8,
) -> anyhow::Result<()> {
    let sources = Sources::new(documents);
    let default = [Output { format: OutputFormat::Full, file: None }];
    let outputs = if arguments.output.is_empty() { &default[..] } else { &arguments.output };
    for output in outputs {
        let format = match output.format {
            OutputFormat::Full => Format::Full,
            OutputFormat::Concise => Format::Concise,
            OutputFormat::Json => Format::Json,
            OutputFormat::Sarif => Format::Sarif,
        };
        let options = report::Options {
            color: output.file.is_none() && super::color(global),
            show_suppressed: arguments.show_suppressed,
            exit_code: Some(status),
            source_control: None,
        };
        if let Some(path) = &output.file {
            let file = File::create(path).with_context(|| format!("{} can't be written", path.display()))?;
            let mut out = BufWriter::new(file);
            report::write(format, report, &sources, &options, &mut out)?;
            out.flush()?;
        } else if !(global.quiet && report.findings.is_empty() && format == Format::Full) {
            let mut out = BufWriter::new(io::stdout().lock());
            report::write(format, report, &sources, &options, &mut out)?;
            out.flush()?;
        }
    }
    if arguments.statistics {
        report::write_statistics(report, &mut io::stdout().lock())?;
    }
    Ok(())
}
