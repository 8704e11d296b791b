//! From a project to its facts and findings.

use crate::api::{Library, RowError};
use crate::checks::{CHECKS, Context, tool};
use crate::finding::{Confidence, Finding, Level, Location};
use crate::program::{Facts, Hierarchy, Modules};
use crate::project::{ApiKind, ApiRow, Project};

/// Analyses `project` and gives its facts to `work`.
///
/// # Errors
///
/// A row of the configuration's `api` can't be read.
pub fn with_facts<R>(project: &Project, work: impl FnOnce(&Facts<'_>) -> R) -> Result<R, RowError> {
    let own;
    let library = if project.config().api.is_empty() {
        Library::builtin()
    } else {
        own = Library::with_rows(&rows(&project.config().api))?;
        &own
    };
    let modules = Modules::load(project);
    let hierarchy = Hierarchy::new(&modules, library);
    let facts = Facts::new(&modules, &hierarchy, library, &project.config().entry);
    Ok(work(&facts))
}

/// What the checks find, in no order: nothing is selected, suppressed or hidden yet.
#[must_use]
pub fn findings(facts: &Facts<'_>, strict: bool) -> Vec<Finding> {
    let context = Context { facts, strict };
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| (check.run)(context)).collect();
    findings.extend(syntax_errors(facts));
    findings
}

/// The first syntax error of each file that a training program has or that can't be read as text.
fn syntax_errors(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in facts.modules.files() {
        if let Some(error) = facts.module(file).errors.first() {
            let location = Location::new(file, error.range);
            let finding = Finding::new(&tool::INVALID_SYNTAX, Level::Error, location, error.message.clone());
            found.push(finding.confidence(Confidence::Certain));
        }
    }
    found
}

/// The configuration's rows in the form of the library's tables.
fn rows(rows: &[ApiRow]) -> String {
    let _ = ApiKind::Optimizer;
    rows.iter().map(|row| format!("{row:?}\n")).collect()
}
