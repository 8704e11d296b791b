//! Changes that are right only together: what formats offer to apply.

use std::collections::BTreeMap;

use super::Report;
use crate::finding::{Applicability, Fix};
use crate::fix::Edits;
use crate::project::FileId;

/// The safe fixes of each unit that is reported whole.
#[derive(Debug, Default)]
pub struct Units<'r> {
    members: BTreeMap<FileId, Vec<&'r Fix>>,
}

impl<'r> Units<'r> {
    /// The units of a report.
    #[must_use]
    pub fn of(report: &'r Report) -> Self {
        let mut fixes: Vec<_> = report
            .findings
            .iter()
            .filter_map(|reported| Some((reported.finding.rule.code, reported.finding.fix.as_ref()?)))
            .collect();
        // As `--fix` puts them together.
        fixes.sort_by_key(|(code, _)| *code);
        let mut members: BTreeMap<FileId, Vec<&Fix>> = BTreeMap::new();
        for (_, fix) in fixes {
            if let Some(unit) = fix.unit.filter(|unit| !report.incomplete.contains(unit)) {
                members.entry(unit).or_default().push(fix);
            }
        }
        Self { members }
    }

    /// The words for a change and its edits: those of the fix, or of all fixes of its unit. `None` where it must not
    /// be applied without a look at it.
    #[must_use]
    pub fn change(&self, fix: &Fix) -> Option<(String, Edits)> {
        if fix.applicability != Applicability::Safe {
            return None;
        }
        let Some(unit) = fix.unit else { return Some((fix.message.clone(), Edits::new(&fix.edits)?)) };
        let members = self.members.get(&unit)?;
        let edits = Edits::new(members.iter().flat_map(|fix| &fix.edits))?;
        let message = match members.len() - 1 {
            0 => fix.message.clone(),
            1 => format!("{}, and make the other change that belongs to it", fix.message),
            others => format!("{}, and make the {others} other changes that belong to it", fix.message),
        };
        Some((message, edits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::project::Documents;
    use crate::report::Standing;
    use crate::report::testing::{ASSIGNED, at, documents, finding, replace};

    fn member(documents: &Documents, needle: &str, applicability: Applicability) -> Finding {
        let mut fix = replace(at(documents, "a.py", needle), &needle.to_uppercase());
        (fix.unit, fix.applicability) = (Some(FileId(0)), applicability);
        finding(documents, &ASSIGNED, "a.py", needle, "m").mended_by(fix)
    }

    fn changed(applicability: Applicability, second: Standing) -> Option<String> {
        let documents = documents(&[("a.py", "one two")]);
        let all = vec![
            (member(&documents, "one", applicability), Standing::Reported),
            (member(&documents, "two", applicability), second),
        ];
        let report = Report::of(all, 1, &documents);
        let first = report.findings[0].finding.fix.as_ref().expect("it has a fix");
        let (_, edits) = Units::of(&report).change(first)?;
        edits.apply(FileId(0), &documents[&FileId(0)].text)
    }

    #[test]
    fn a_unit_is_offered_whole_or_not_at_all() {
        let safe = Applicability::Safe;
        assert_eq!(changed(safe, Standing::Reported).as_deref(), Some("ONE TWO"));
        assert_eq!(changed(safe, Standing::Hidden), None, "one of its findings is not to be fixed");
        assert_eq!(changed(safe, Standing::Suppressed("r".to_owned())), None);
        assert_eq!(changed(Applicability::Unsafe, Standing::Reported), None);
    }
}
