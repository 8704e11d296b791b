//! From a project to its facts and findings.

use rayon::prelude::*;

use crate::api::{Library, RowError};
use crate::cancellation::Cancellation;
use crate::checks::{self, CHECKS, Check, Context, tool};
use crate::distribute;
use crate::finding::{Confidence, Finding, Level, Location};
use crate::graph;
use crate::isolation;
use crate::program::{Facts, Hierarchy, Modules};
use crate::project::{ApiKind, ApiRow, ConfigError, Project};
use crate::ranks;
use crate::rewrite::Texts;
use crate::switched_off;
use crate::syntax::TextRange;

/// Analyses `project` and gives its facts to `work`.
///
/// # Errors
///
/// A row of the configuration's `api` can't be read.
pub fn with_facts<R>(project: &Project, work: impl FnOnce(&Facts<'_>) -> R) -> Result<R, ConfigError> {
    with_library(project, |library| with_modules(&Modules::load(project), project, library, work))
}

/// Gives to `work` what is known of libraries: the tables, with the rows of the project's configuration.
///
/// # Errors
///
/// A row of the configuration's `api` can't be read.
pub fn with_library<R>(project: &Project, work: impl FnOnce(&Library) -> R) -> Result<R, ConfigError> {
    Ok(work(own_library(project)?.as_ref().unwrap_or(Library::builtin())))
}

/// What is known of libraries with the rows of the project's configuration; nothing where it has none.
///
/// # Errors
///
/// A row of the configuration's `api` can't be read.
pub fn own_library(project: &Project) -> Result<Option<Library>, ConfigError> {
    let rows = &project.config().api;
    let Some(last) = rows.last() else { return Ok(None) };
    let at_its_row = |error: RowError| {
        let row = rows.get(error.line.saturating_sub(1)).unwrap_or(last);
        row.place
            .saying(error.message, "give qualified names of classes that are known, or add rows for them")
    };
    Library::with_rows(&table(rows)).map(Some).map_err(at_its_row)
}

/// Links the modules of `project` and gives the facts to `work`.
pub fn with_modules<R>(
    modules: &Modules,
    project: &Project,
    library: &Library,
    work: impl FnOnce(&Facts<'_>) -> R,
) -> R {
    with_entries(modules, library, &project.config().entry, work)
}

/// The same, with the names of the modules that are run; where there are none, they are found.
pub fn with_entries<R>(
    modules: &Modules,
    library: &Library,
    entries: &[String],
    work: impl FnOnce(&Facts<'_>) -> R,
) -> R {
    let hierarchy = Hierarchy::new(modules, library);
    work(&Facts::new(modules, &hierarchy, library, entries))
}

/// What the checks find, in no order: nothing is selected, suppressed or hidden yet.
#[must_use]
pub fn findings(project: &Project, facts: &Facts<'_>, strict: bool) -> Vec<Finding> {
    findings_of(CHECKS, project, facts, strict)
}

/// What these checks find, what programs need to be distributed and to stay in step, and what does not parse.
#[must_use]
pub fn findings_of(checks: &[&Check], project: &Project, facts: &Facts<'_>, strict: bool) -> Vec<Finding> {
    findings_unless(checks, project, facts, strict, Cancellation::NEVER).unwrap_or_default()
}

/// The same, or nothing as soon as nobody wants to know any more.
#[must_use]
pub fn findings_unless(
    checks: &[&Check],
    project: &Project,
    facts: &Facts<'_>,
    strict: bool,
    cancellation: Cancellation<'_>,
) -> Option<Vec<Finding>> {
    let texts = Texts::new(project, facts.modules);
    let context = Context { project, facts, texts: &texts, strict, cancellation };
    let mut findings = findings_together(checks, context);
    isolation::doubt(context, &mut findings);
    findings.extend(syntax_errors(project, facts));
    (!cancellation.is_requested()).then_some(findings)
}

/// What is found where all programs are looked at together.
fn findings_together(checks: &[&Check], context: Context<'_>) -> Vec<Finding> {
    // Nothing that a check finds depends on another, but distribution is refused where restrictions are violated.
    let restricted = || {
        let run = |check: &&Check| context.unless_cancelled(|| (check.run)(context));
        let mut findings: Vec<Finding> = checks.par_iter().flat_map_iter(run).collect();
        findings.extend(distribute::findings(context, &findings));
        if !context.strict {
            checks::doubt_in_distributed(context.facts, &mut findings);
        }
        findings
    };
    with_findings_of_runs(context, restricted)
}

/// What is found between ranks and in graphs alone: what does not depend on how a program is distributed.
#[must_use]
pub fn findings_of_runs(context: Context<'_>) -> Vec<Finding> {
    with_findings_of_runs(context, || distribute::findings_between_ranks(context))
}

/// Adds to findings what the model of the ranks and the graphs show, which are looked at meanwhile.
fn with_findings_of_runs(context: Context<'_>, others: impl FnOnce() -> Vec<Finding> + Send) -> Vec<Finding> {
    let facts = context.facts;
    let of_ranks = || ranks::findings(context);
    let of_graphs = || graph::findings(context);
    let (mut findings, (of_ranks, of_graphs)) = rayon::join(others, || rayon::join(of_ranks, of_graphs));
    findings.extend(of_ranks);
    ranks::apart::doubt(facts, &mut findings);
    findings.extend(of_graphs);
    switched_off::doubt(facts, &mut findings);
    findings
}

/// The first syntax error of each file, or the place from which it can't be decoded.
fn syntax_errors(project: &Project, facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let undecodable = facts.modules.undecodable.iter().map(|(file, problem)| {
        let text = project.document(*file).map(|document| document.text).unwrap_or_default();
        let location = Location::new(*file, character(&text, problem.offset.unwrap_or_default()));
        Finding::new(&tool::INVALID_SYNTAX, Level::Error, location, problem.what.clone())
            .help(problem.help.clone())
    });
    found.extend(undecodable);
    for file in facts.modules.files() {
        if let Some(error) = facts.module(file).errors.first() {
            let location = Location::new(file, error.range);
            let finding = Finding::new(&tool::INVALID_SYNTAX, Level::Error, location, error.message.clone());
            found.push(finding.confidence(Confidence::Certain));
        }
    }
    found
}

/// The character at a byte, or the last one where the text ends.
fn character(text: &str, at: usize) -> TextRange {
    let last = text.char_indices().next_back().map_or(0, |(last, _)| last);
    let start = text.floor_char_boundary(at).min(last);
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    let byte = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX).into();
    TextRange::new(byte(start), byte(start + length))
}

/// The configuration's rows in the form of the library's tables, a line each.
fn table(rows: &[ApiRow]) -> String {
    rows.iter().map(table_row).collect::<Vec<_>>().join("\n")
}

fn table_row(row: &ApiRow) -> String {
    let ApiRow { name, base, returns, parameters, .. } = row;
    let parameters =
        if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
    let (class, kind) = match row.kind {
        ApiKind::Optimizer => ("tensorflow.keras.optimizers.Optimizer", " : optimizer"),
        ApiKind::Model => ("tensorflow.keras.Model", " : model"),
        ApiKind::Dataset => ("tensorflow.data.Dataset", " : dataset"),
        ApiKind::Callback => ("tensorflow.keras.callbacks.Callback", " : callback"),
        ApiKind::Collective | ApiKind::FileWriter => ("", ""),
    };
    let result = returns.as_ref().map(|class| format!(" -> {class}")).unwrap_or_default();
    match row.kind {
        ApiKind::Collective => format!("def {name}{parameters}{result} ! collective agrees"),
        ApiKind::FileWriter => format!("def {name}{parameters}{result} ! writes-file"),
        // A function that makes one.
        _ if returns.is_some() => format!("def {name}{parameters}{result}"),
        _ => format!("class {name}{parameters} < {}{kind}", base.as_deref().unwrap_or(class)),
    }
}
