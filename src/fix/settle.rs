//! How safe a fix really is: the comment guard, and the weakest member of a unit.

use std::collections::BTreeMap;

use super::comments::{Comments, loses_a_comment};
use crate::finding::{Applicability, Finding};
use crate::project::{Documents, FileId};

/// Lowers the applicability of fixes that would lose a comment, and makes each unit as safe as the least safe of its
/// fixes. Give it all findings: a unit may have members that are not reported.
pub fn settle(findings: &mut [Finding], documents: &Documents) {
    let comments = Comments::read(findings, documents);
    let mut units: BTreeMap<FileId, Applicability> = BTreeMap::new();
    for finding in &mut *findings {
        let Some(mut fix) = finding.fix.take() else { continue };
        if loses_a_comment(finding, &fix, &comments) {
            fix.applicability = Applicability::Unsafe;
        }
        if let Some(unit) = fix.unit {
            let least = units.entry(unit).or_insert(fix.applicability);
            *least = fix.applicability.min(*least);
        }
        finding.fix = Some(fix);
    }
    for fix in findings.iter_mut().filter_map(|finding| finding.fix.as_mut()) {
        if let Some(&least) = fix.unit.and_then(|unit| units.get(&unit)) {
            fix.applicability = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{ASSIGNED, at, documents, finding, replace};

    #[test]
    fn a_unit_is_as_safe_as_its_least_safe_fix() {
        let documents = documents(&[("a.py", "one two three # c\n")]);
        let mut findings: Vec<Finding> =
            [("one", Some(0)), ("three # c", Some(0)), ("two", Some(1)), ("one", None)]
                .into_iter()
                .map(|(needle, unit)| {
                    let mut fix = replace(at(&documents, "a.py", needle), "x");
                    fix.unit = unit.map(FileId);
                    finding(&documents, &ASSIGNED, "a.py", needle, "m").mended_by(fix)
                })
                .collect();
        settle(&mut findings, &documents);
        let settled: Vec<_> =
            findings.iter().filter_map(|finding| finding.fix.as_ref()).map(|fix| fix.applicability).collect();
        let (safe, not) = (Applicability::Safe, Applicability::Unsafe);
        assert_eq!(settled, [not, not, safe, safe]);
    }
}
