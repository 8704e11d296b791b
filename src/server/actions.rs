//! What can be done about a finding: its fix, a comment that suppresses it, and the distribution of its program.

use std::path::Path;

use lsp_types::{CodeAction, CodeActionKind, Range, Uri};
use serde::{Deserialize, Serialize};

use super::client::{DISTRIBUTE_KIND, FIX_ALL_KIND};
use super::places::touches;
use super::said::Said;
use super::state::State;
use crate::checks::{RULES, tool};
use crate::examine::{Examined, Trainer};
use crate::finding::{Applicability, Finding, Group};
use crate::fix::{self, Cause, Change, Refusal};
use crate::project::{FileId, SelectOptions, Selection};
use crate::suppression;

/// What an action is to do, kept by the client until the action is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Deed {
    /// Apply the fix of a finding.
    Fix(String),
    /// Suppress a finding by a comment.
    Ignore(String),
    /// Apply all safe fixes in the file that are right by themselves.
    FixAll,
    /// Distribute the program whose entry module has this path below the project's root.
    Distribute(String),
}

/// What an action is to do, and in which document it was offered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Data {
    pub(super) uri: Uri,
    pub(super) deed: Deed,
}

/// The actions in a range of a document, without their edits. `only` are the kinds that are asked for.
pub(super) fn offered(
    state: &State,
    path: &Path,
    uri: &Uri,
    range: Range,
    only: Option<&[CodeActionKind]>,
) -> Vec<CodeAction> {
    let said = state.said(path);
    let action = |title: String, kind: CodeActionKind, deed: Deed| CodeAction {
        title,
        kind: Some(kind),
        data: serde_json::to_value(Data { uri: uri.clone(), deed }).ok(),
        ..CodeAction::default()
    };
    let mut actions = Vec::new();
    let mut distributed = Vec::new();
    let here = said.iter().filter(|said| touches(said.diagnostic.range, range));
    for Said { finding, fingerprint, diagnostic, .. } in here {
        let about = |mut action: CodeAction| {
            action.diagnostics = Some(vec![diagnostic.clone()]);
            action
        };
        if let Some(fix) = &finding.fix {
            let is_safe = fix.applicability == Applicability::Safe;
            let quick = match fix.unit {
                None => {
                    let risk = if is_safe { "" } else { UNSAFE };
                    let title = format!("{}{risk}", sentence(&fix.message));
                    Some(action(title, CodeActionKind::QUICKFIX, Deed::Fix(fingerprint.clone())))
                }
                Some(entry) if !distributed.contains(&entry) => {
                    distributed.push(entry);
                    let title = distribution_title(state, entry);
                    let deed = Deed::Distribute(state.project().file(entry).relative.clone());
                    Some(action(title, CodeActionKind::QUICKFIX, deed))
                }
                Some(_) => None,
            };
            if let Some(quick) = quick {
                actions.push(about(CodeAction { is_preferred: is_safe.then_some(true), ..quick }));
            }
        }
        if can_be_ignored(finding) {
            let title = format!("Ignore {} here", finding.rule.name);
            actions.push(about(action(title, CodeActionKind::QUICKFIX, Deed::Ignore(fingerprint.clone()))));
        }
    }
    if said.iter().any(|said| is_fixed_by_itself(&said.finding)) {
        actions.push(action("Apply all safe fixes of hvdlint".to_owned(), FIX_ALL_KIND, Deed::FixAll));
    }
    for trainer in state.trainers_of(path).filter(|trainer| is_to_be_distributed(state, trainer)) {
        let title = distribution_title(state, trainer.entry);
        let deed = Deed::Distribute(state.project().file(trainer.entry).relative.clone());
        actions.push(action(title, DISTRIBUTE_KIND, deed));
    }
    actions.retain(|action| {
        let kind = action.kind.as_ref().map_or("", CodeActionKind::as_str);
        only.is_none_or(|only| only.iter().any(|wanted| is_within(kind, wanted.as_str())))
    });
    actions
}

/// What is said of a fix that may change what the program does.
const UNSAFE: &str = " (unsafe)";

/// Whether a kind is another or one of its parts: `source.fixAll` covers `source.fixAll.hvdlint`.
fn is_within(kind: &str, wanted: &str) -> bool {
    kind.strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || wanted.is_empty())
}

/// Comments suppress neither what does not parse nor what is said of comments.
fn can_be_ignored(finding: &Finding) -> bool {
    finding.rule.group != Group::Tool
}

fn is_fixed_by_itself(finding: &Finding) -> bool {
    finding.rule.group != Group::Distribution
        && finding
            .fix
            .as_ref()
            .is_some_and(|fix| fix.unit.is_none() && fix.applicability == Applicability::Safe)
}

/// Whether a program lacks something that it needs to train with Horovod.
fn is_to_be_distributed(state: &State, trainer: &Trainer) -> bool {
    let files = trainer.files.iter().map(|&file| state.project().file(file).path.as_path());
    files.flat_map(|path| state.said(path)).any(|said| said.finding.rule.group == Group::Distribution)
}

fn distribution_title(state: &State, entry: FileId) -> String {
    let files = state.project().files().iter();
    let mut fixes = files
        .flat_map(|file| state.said(&file.path))
        .filter_map(|said| said.finding.fix.as_ref())
        .filter(|fix| fix.unit == Some(entry));
    let risk = if fixes.any(|fix| fix.applicability == Applicability::Unsafe) { UNSAFE } else { "" };
    format!("Distribute {} with Horovod{risk}", state.project().file(entry).relative)
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// What doing it makes of the files, proved as `hvdlint check --fix` does it.
///
/// # Errors
///
/// Why it can't be done: a clause.
pub(super) fn done(state: &State, path: &Path, deed: &Deed) -> Result<Vec<Change>, String> {
    let file = state.project().find_located(path).ok_or("the file is not part of the project any more")?.id;
    match deed {
        Deed::Fix(fingerprint) => {
            let examined = state.around(file, state.project().clone(), state.selection());
            let finding = finding(&examined, fingerprint)?;
            let wishes = state.wishes(state.selection());
            fix::mend_one(&examined, wishes, finding).map_err(|refusal| refusal.reason)
        }
        Deed::Ignore(fingerprint) => {
            let examined = state.around(file, state.project().clone(), state.selection());
            let mut finding = finding(&examined, fingerprint)?.clone();
            let text = examined.documents.get(&file).ok_or("the file can't be read")?;
            let module = examined.modules.get(file);
            let statements: Vec<_> = module.statements.iter().map(|statement| statement.header).collect();
            finding.fix = Some(suppression::insertion(&finding, &text.text, &statements));
            let wishes = state.wishes(state.selection());
            fix::mend_one(&examined, wishes, &finding).map_err(|refusal| refusal.reason)
        }
        Deed::FixAll => {
            let options = SelectOptions {
                ignore: vec![Group::Distribution.name().to_owned()],
                ..SelectOptions::default()
            };
            let selection = Selection::new(state.project().config(), &options, RULES)
                .expect("the group is one of the rules'");
            let examined = state.around(file, state.project().reporting(&[file]), &selection);
            let mended = fix::mend(examined, state.wishes(&selection), Applicability::Safe, None);
            if mended.changes.is_empty() { Err(refused(&mended.refusals)) } else { Ok(mended.changes) }
        }
        Deed::Distribute(entry) => {
            let trainer =
                state.trainers_of(path).find(|own| state.project().file(own.entry).relative == *entry);
            distributed(state, trainer.ok_or("the program does not train any more")?)
        }
    }
}

fn finding<'e>(examined: &'e Examined, fingerprint: &str) -> Result<&'e Finding, String> {
    let mut all = examined.report.findings.iter();
    let found = all.find(|reported| reported.fingerprint == fingerprint);
    Ok(&found.ok_or("the finding is gone")?.finding)
}

/// All that a program needs, or nothing: half of it would train wrongly.
fn distributed(state: &State, trainer: &Trainer) -> Result<Vec<Change>, String> {
    let selection = state.selection();
    let project = state.project().reporting(&trainer.files);
    let examined = state.around(trainer.entry, project, selection);
    let units = examined.report.findings.iter().filter_map(|reported| reported.finding.fix.as_ref());
    let least = units.filter(|fix| fix.unit == Some(trainer.entry)).map(|fix| fix.applicability).min();
    let mended = fix::mend(examined, state.wishes(selection), least.unwrap_or(Applicability::Safe), None);
    let of_program = |finding: &Finding| trainer.files.contains(&finding.primary.location.file);
    let left = mended.examined.report.findings.iter().map(|reported| &reported.finding).find(|finding| {
        finding.rule.group == Group::Distribution
            || finding.rule.code == tool::INVALID_SYNTAX.code && of_program(finding)
    });
    match left {
        Some(left) if mended.refusals.is_empty() => {
            let place = &state.project().file(left.primary.location.file).relative;
            Err(format!("{} in {place} has no fix: {}", left.rule.name, left.message))
        }
        Some(_) => Err(refused(&mended.refusals)),
        None if mended.changes.is_empty() => Err("there is nothing to change".to_owned()),
        None => Ok(mended.changes),
    }
}

fn refused(refusals: &[Refusal]) -> String {
    let worst = refusals.iter().max_by_key(|refusal| refusal.cause == Cause::File);
    worst.map_or_else(
        || "there is nothing to change".to_owned(),
        |refusal| {
            format!("the fix of {} at {} is left out: {}", refusal.check, refusal.place, refusal.reason)
        },
    )
}
