//! Sets suppressed findings aside, and finds the suppressions that did nothing.

use std::collections::BTreeSet;

use super::{Fault, Name, Suppression, Suppressions};
use crate::checks::tool::UNUSED_SUPPRESSION;
use crate::finding::{Applicability, Edit, Finding, Fix, Location, Rule};
use crate::project::FileId;
use crate::report::explain::find;
use crate::syntax::TextRange;

/// The checks that exist, and those that ran: a suppression of a check that did not run is not unused.
#[derive(Clone, Copy)]
pub struct Checks<'a> {
    /// All of them.
    pub known: &'a [&'static Rule],
    /// Whether this one ran.
    pub ran: &'a dyn Fn(&Rule) -> bool,
}

/// What becomes of the findings.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// Not suppressed.
    pub kept: Vec<Finding>,
    /// Suppressed, with the reason.
    pub suppressed: Vec<(Finding, String)>,
    /// What is wrong with the suppressions themselves; not in `kept`, and not suppressible by a comment. Empty
    /// where `unused-suppression` did not run.
    pub unused: Vec<Finding>,
}

/// Where a name stands in a list; findings mark it as used.
type Used = BTreeSet<(FileId, u32)>;

/// Applies each file's suppressions to the findings whose primary place begins in what they concern. Give it all
/// findings, also those of low confidence that are hidden later: they too make a suppression used.
#[must_use]
pub fn apply(findings: Vec<Finding>, suppressions: &Suppressions, checks: Checks<'_>) -> Applied {
    let mut used = Used::new();
    let mut applied = Applied::default();
    for finding in findings {
        match reason(&finding, suppressions, &mut used) {
            Some(reason) => applied.suppressed.push((finding, reason)),
            None => applied.kept.push(finding),
        }
    }
    if (checks.ran)(&UNUSED_SUPPRESSION) {
        for (&file, here) in suppressions {
            for suppression in here {
                applied.unused.extend(complaints(suppression, file, checks, &used));
            }
        }
    }
    applied
}

/// The reason of the first suppression that concerns the finding; all that do are used.
fn reason(finding: &Finding, suppressions: &Suppressions, used: &mut Used) -> Option<String> {
    let location = finding.primary.location;
    let names_it =
        |name: &&Name| name.text == finding.rule.name || name.text.eq_ignore_ascii_case(finding.rule.code);
    let mut reason = None;
    for suppression in suppressions.get(&location.file)? {
        if suppression.fault.is_some() || !suppression.scope.covers(location) {
            continue;
        }
        for name in suppression.names.iter().filter(names_it) {
            used.insert((location.file, name.range.start().to_u32()));
            reason.get_or_insert_with(|| suppression.reason.clone());
        }
    }
    reason
}

fn complaints(suppression: &Suppression, file: FileId, checks: Checks<'_>, used: &Used) -> Vec<Finding> {
    let complaint = |range: TextRange, message: String| {
        Finding::new(&UNUSED_SUPPRESSION, UNUSED_SUPPRESSION.level, Location::new(file, range), message)
    };
    if let Some(fault) = suppression.fault {
        let mut finding = complaint(suppression.range, fault.to_string());
        if fault == Fault::NoStatement {
            finding.fix = Some(deletion(suppression, file));
            return vec![
                finding.help("put it at the end of a statement's first or last line, or directly above it"),
            ];
        }
        return vec![finding.help("write `# hvdlint: ignore[check-name] -- reason`")];
    }

    let mut findings = Vec::new();
    let mut unused: Vec<&Name> = Vec::new();
    for name in &suppression.names {
        match find(checks.known, &name.text) {
            Err(unknown) => findings
                .push(complaint(name.range, unknown.to_string()).help("`hvdlint explain` lists the checks")),
            Ok(rule) if (checks.ran)(rule) && !used.contains(&(file, name.range.start().to_u32())) => {
                unused.push(name);
            }
            Ok(_) => {}
        }
    }
    if let [first, ..] = unused.as_slice() {
        let list: Vec<String> = unused.iter().map(|name| format!("`{}`", name.text)).collect();
        let message = format!("there is nothing to suppress for {}", list.join(", "));
        let all = unused.len() == suppression.names.len();
        let mut finding = complaint(if all { suppression.range } else { first.range }, message);
        finding.fix =
            Some(if all { deletion(suppression, file) } else { shorter_list(suppression, &unused, file) });
        findings.push(finding);
    }
    findings
}

fn deletion(suppression: &Suppression, file: FileId) -> Fix {
    let edit = Edit { location: Location::new(file, suppression.deletion), content: String::new() };
    Fix {
        applicability: Applicability::Safe,
        message: "delete the suppression".to_owned(),
        edits: vec![edit],
        unit: None,
    }
}

fn shorter_list(suppression: &Suppression, unused: &[&Name], file: FileId) -> Fix {
    let ranges = suppression.names.iter().map(|name| name.range);
    let list = ranges.reduce(TextRange::cover).unwrap_or(suppression.range);
    let kept: Vec<&str> = suppression
        .names
        .iter()
        .filter(|name| !unused.contains(name))
        .map(|name| name.text.as_str())
        .collect();
    let edit = Edit { location: Location::new(file, list), content: kept.join(", ") };
    let names: Vec<String> = unused.iter().map(|name| format!("`{}`", name.text)).collect();
    let message = format!("take {} out of the list", names.join(", "));
    Fix { applicability: Applicability::Safe, message, edits: vec![edit], unit: None }
}
