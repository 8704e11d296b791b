//! The proof that a change is good: what it fixes is gone, and nothing new is found.
//!
//! A finding of the changed text is an old one where it stands at the same place, moved by the edits, or else where
//! check, file, scope and text are the same: a statement may have been moved. A fix of a restriction may show what
//! distribution needs: that is no fault of it. What the model of the ranks is sure of is one whatever is fixed.

use super::edits::Edits;
use crate::checks::tool;
use crate::examine::Examined;
use crate::finding::{Confidence, Finding, Group, Level};
use crate::project::{Documents, FileId};

/// What the findings after a change say about it.
#[derive(Clone, Copy, Debug)]
pub enum Verdict<'f> {
    /// What was to be fixed is gone, and nothing new is found.
    Good,
    /// This finding was to be fixed and is still there.
    Remains(&'f Finding),
    /// This finding was not there before.
    New(&'f Finding),
}

/// The findings of a state of the project, with the texts that they point into.
#[derive(Clone, Copy, Debug)]
pub struct State<'f> {
    /// Those that no comment suppresses.
    pub standing: &'f [Finding],
    /// The texts.
    pub documents: &'f Documents,
}

impl<'f> State<'f> {
    /// The state that an examined project is in.
    #[must_use]
    pub fn of(examined: &'f Examined) -> Self {
        Self { standing: &examined.standing, documents: &examined.documents }
    }
}

/// Compares two states. `fixed` are the findings of `before` that `edits` should remove.
#[must_use]
pub fn verdict<'f>(before: State<'f>, after: State<'f>, edits: &Edits, fixed: &[&'f Finding]) -> Verdict<'f> {
    // Those that stay come first, so that an equal one is taken for one of them.
    let is_fixed = |finding: &Finding| fixed.iter().any(|fixed| is_same(fixed, finding));
    let (mut old, mut gone): (Vec<&Finding>, Vec<&Finding>) =
        before.standing.iter().partition(|finding| !is_fixed(finding));
    let staying = old.len();
    old.append(&mut gone);
    let mut matched = vec![false; old.len()];

    let mut moved: Vec<&Finding> = Vec::new();
    for finding in after.standing {
        let here = |(index, other): (usize, &&Finding)| !matched[index] && is_here(other, finding, edits);
        match old.iter().enumerate().position(here) {
            Some(index) => matched[index] = true,
            None => moved.push(finding),
        }
    }
    let stage = fixed.iter().map(|finding| finding.rule.group.stage()).max();
    for finding in moved {
        let own = Identity::of(finding, after.documents);
        let like = |(index, other): (usize, &&Finding)| {
            !matched[index]
                && other.rule.code == finding.rule.code
                && Identity::of(other, before.documents) == own
        };
        match old.iter().enumerate().position(like) {
            Some(index) => matched[index] = true,
            // A suppression that has lost its finding is no fault of the change.
            None if finding.rule.code == tool::UNUSED_SUPPRESSION.code => {}
            // What only a distributed program is asked, and nobody can answer for sure.
            None if finding.confidence == Confidence::Possible
                && finding.rule.group == Group::Distribution => {}
            // The model of the ranks refuses what it proves to be wrong at any stage, also what happens to do no harm, which is
            // a note; what it can't decide is no fault.
            None if finding.rule.group == Group::Ranks => {
                let is_sure = finding.confidence == Confidence::Certain || finding.forbids_fixes;
                if is_sure || finding.level == Level::Note {
                    return Verdict::New(finding);
                }
            }
            // What the next stage asks for may show only now.
            None if stage.is_some_and(|stage| finding.rule.group.stage() > stage) => {}
            // What was there unsaid, as an optimizer that had no name; it keeps no program from being distributed.
            None if stage.is_some_and(|stage| finding.rule.group.stage() < stage)
                && finding.level != Level::Error => {}
            None => return Verdict::New(finding),
        }
    }
    let remaining = (staying..old.len()).find(|&index| matched[index]);
    remaining.map_or(Verdict::Good, |index| Verdict::Remains(old[index]))
}

/// Whether two findings of one state are one: reports carry copies.
#[must_use]
pub fn is_same(a: &Finding, b: &Finding) -> bool {
    a.rule.code == b.rule.code && a.primary.location == b.primary.location && a.message == b.message
}

/// Whether `new` stands where the edits have moved `old`.
fn is_here(old: &Finding, new: &Finding, edits: &Edits) -> bool {
    let (was, is) = (old.primary.location, new.primary.location);
    if old.rule.code != new.rule.code || was.file != is.file {
        return false;
    }
    let (start, end) = (edits.moved(was.file, was.range.start), edits.moved(was.file, was.range.end));
    (start.0..=start.1).contains(&is.range.start) && (end.0..=end.1).contains(&is.range.end)
}

/// What a finding is about, wherever it stands.
#[derive(PartialEq, Eq)]
struct Identity<'f> {
    file: FileId,
    scope: &'f str,
    /// Without the lengths of its white space.
    snippet: Vec<&'f str>,
}

impl<'f> Identity<'f> {
    fn of(finding: &'f Finding, documents: &'f Documents) -> Self {
        let location = finding.primary.location;
        let range = location.range.start as usize..location.range.end as usize;
        let text = documents.get(&location.file).and_then(|document| document.text.get(range));
        let snippet = text.unwrap_or_default().split_whitespace().collect();
        Self { file: location.file, scope: &finding.scope, snippet }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Edit;
    use crate::report::testing::{ALIASED, ASSIGNED, documents, finding, nth};

    /// Findings at the given needles of a text.
    fn found(documents: &Documents, needles: &[(&str, usize)]) -> Vec<Finding> {
        let at = |&(needle, n): &(&str, usize)| {
            let mut finding = finding(documents, &ASSIGNED, "a.py", needle, "m");
            finding.primary.location = nth(documents, "a.py", needle, n);
            finding
        };
        needles.iter().map(at).collect()
    }

    /// What is said of a change that fixes the first finding before.
    fn said(
        (text, needles): (&str, &[(&str, usize)]),
        (from, to): (&str, &str),
        after: &[(&str, usize)],
    ) -> String {
        let before_texts = documents(&[("a.py", text)]);
        let location = nth(&before_texts, "a.py", from, 0);
        let edits = Edits::new(&[Edit { location, content: to.to_owned() }]).expect("one edit");
        let changed = edits.apply(FileId(0), text).expect("lies in the text");
        let after_texts = documents(&[("a.py", changed.as_str())]);
        let (before, after) = (found(&before_texts, needles), found(&after_texts, after));
        let before = State { standing: &before, documents: &before_texts };
        let after = State { standing: &after, documents: &after_texts };
        match verdict(before, after, &edits, &[&before.standing[0]]) {
            Verdict::Good => "good".to_owned(),
            Verdict::Remains(_) => "remains".to_owned(),
            Verdict::New(finding) => {
                let range = finding.primary.location.range;
                format!("new: {}", &changed[range.start as usize..range.end as usize])
            }
        }
    }

    #[test]
    fn what_is_gone_is_fixed_and_what_stays_is_not_new() {
        let before: (&str, &[_]) = ("one = a\ntwo = a\n", &[("one", 0), ("two", 0)]);
        assert_eq!(said(before, ("one", "1"), &[("two", 0)]), "good");
        assert_eq!(said(before, ("one", "1"), &[]), "good");
    }

    #[test]
    fn what_is_still_there_is_not_fixed() {
        let before: (&str, &[_]) = ("one = a\ntwo = a\n", &[("one", 0), ("two", 0)]);
        assert_eq!(said(before, ("two", "2"), &[("one", 0)]), "remains");
        assert_eq!(said(before, ("one", "one"), &[("one", 0), ("two", 0)]), "remains");
        assert_eq!(
            said(before, ("one = a\ntwo", "two = a\none"), &[("one", 0), ("two", 0)]),
            "remains",
            "moved"
        );
    }

    #[test]
    fn one_of_two_equal_findings_can_be_fixed() {
        let before: (&str, &[_]) = ("one\none\n", &[("one", 0), ("one", 1)]);
        assert_eq!(said(before, ("one", "1"), &[("one", 0)]), "good");
    }

    #[test]
    fn what_was_not_there_is_new() {
        let before: (&str, &[_]) = ("one = a\ntwo = a\n", &[("one", 0)]);
        assert_eq!(said(before, ("one", "1"), &[("two", 0)]), "new: two");
        assert_eq!(said(before, ("one", "new"), &[("new", 0)]), "remains", "at its place");
        assert_eq!(said(before, ("two", "one"), &[("one", 0), ("one", 1)]), "new: one");
    }

    #[test]
    fn a_finding_whose_text_changes_or_moves_is_the_same() {
        let before: (&str, &[_]) = ("one = f(a)\ntwo = f(b)\n", &[("one", 0), ("f(b)", 0)]);
        assert_eq!(said(before, ("b", "b * 2"), &[("f(b * 2)", 0)]), "good");
        assert_eq!(said(before, ("two = f(b)", "f(\n  b)\ntwo = 2"), &[("f(\n  b)", 0)]), "new: f(\n  b)");
        assert_eq!(said(before, ("two = f(b)", "new = f(b)\ntwo = new"), &[("f(b)", 0)]), "good");
    }

    #[test]
    fn what_distribution_needs_may_show_when_a_restriction_is_kept() {
        static NEEDED: crate::finding::Rule = crate::finding::Rule {
            code: "HVD299",
            name: "needed",
            group: crate::finding::Group::Distribution,
            level: crate::finding::Level::Warning,
            page: "",
        };
        let texts = documents(&[("a.py", "one\n")]);
        let restriction = [finding(&texts, &ASSIGNED, "a.py", "one", "m")];
        let needed = [finding(&texts, &NEEDED, "a.py", "one", "m")];
        let edits = Edits::default();
        let state = |standing| State { standing, documents: &texts };
        let (form, distribution) = (state(&restriction), state(&needed));
        assert!(matches!(verdict(form, distribution, &edits, &[&restriction[0]]), Verdict::Good));
        assert!(matches!(verdict(distribution, form, &edits, &[&needed[0]]), Verdict::New(_)));
        // A restriction that is only warned of keeps no program from being distributed.
        let warning = [finding(&texts, &ALIASED, "a.py", "one", "m")];
        assert!(matches!(verdict(distribution, state(&warning), &edits, &[&needed[0]]), Verdict::Good));
    }

    #[test]
    fn another_check_at_the_same_place_is_new() {
        let texts = documents(&[("a.py", "one\n")]);
        let before = [finding(&texts, &ASSIGNED, "a.py", "one", "m")];
        let after = [finding(&texts, &ALIASED, "a.py", "one", "m")];
        let edits = Edits::default();
        let state = |standing| State { standing, documents: &texts };
        assert!(matches!(verdict(state(&before), state(&after), &edits, &[&before[0]]), Verdict::New(_)));
        assert!(matches!(verdict(state(&before), state(&before), &edits, &[]), Verdict::Good));
    }
}
