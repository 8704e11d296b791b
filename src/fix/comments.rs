//! The comment guard: a fix that would lose a comment is not safe.

use crate::finding::{Finding, Fix, SpanRange};
use crate::project::{Documents, FileId};
use crate::syntax;

/// Whether the fix of `finding` takes away a comment that none of its edits brings back. A comment that the finding
/// is about, such as a suppression, may go.
pub(super) fn loses_a_comment(finding: &Finding, fix: &Fix, comments: &Comments<'_>) -> bool {
    let mut lost: Vec<&str> = Vec::new();
    for edit in &fix.edits {
        let file = edit.location.file;
        for &(comment, text) in comments.of(file) {
            let own = finding.primary.location;
            let is_about_it =
                own.file == file && comment.start <= own.range.start && own.range.end <= comment.end;
            let replaced = edit.location.range;
            if replaced.start < comment.end && comment.start < replaced.end && !is_about_it {
                lost.push(text);
            }
        }
    }
    // Each place that brings a comment back makes up for one that is lost.
    lost.sort_unstable();
    lost.chunk_by(|a, b| a == b).any(|same| {
        let kept: usize = fix.edits.iter().map(|edit| edit.content.matches(same[0]).count()).sum();
        kept < same.len()
    })
}

/// The comments of the files that fixes replace something in.
pub(super) struct Comments<'d> {
    files: std::collections::BTreeMap<FileId, Vec<(SpanRange, &'d str)>>,
}

impl<'d> Comments<'d> {
    /// Reads the comments of the files that the fixes of `findings` replace something in.
    pub(super) fn read(findings: &[Finding], documents: &'d Documents) -> Self {
        let edits = findings.iter().filter_map(|finding| finding.fix.as_ref()).flat_map(|fix| &fix.edits);
        let mut files: Vec<FileId> = edits
            .filter(|edit| edit.location.range.start < edit.location.range.end)
            .map(|edit| edit.location.file)
            .collect();
        files.sort_unstable();
        files.dedup();
        let read = |file: FileId| {
            let text: &'d str = documents.get(&file).map_or("", |document| &document.text);
            let comments = syntax::comments(text).into_iter();
            let comments = comments.map(|range| (range.into(), text[range].trim_end())).collect();
            (file, comments)
        };
        Self { files: files.into_iter().map(read).collect() }
    }

    fn of(&self, file: FileId) -> &[(SpanRange, &'d str)] {
        self.files.get(&file).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use crate::finding::{Applicability, Edit, Finding, Fix};
    use crate::fix::settle;
    use crate::project::Documents;
    use crate::report::testing::{ASSIGNED, at, documents, finding};

    const TEXT: &str = "x = f(  # why\n    a,\n)  # done\ny = 1  # done\nz = '# why'\n";

    /// How a fix with these edits is settled: needle and content.
    fn settled(primary: &str, edits: &[(&str, &str)]) -> Applicability {
        let documents: Documents = documents(&[("a.py", TEXT)]);
        let edits = edits.iter().map(|(needle, content)| Edit {
            location: at(&documents, "a.py", needle),
            content: (*content).to_owned(),
        });
        let fix = Fix {
            applicability: Applicability::Safe,
            message: "m".to_owned(),
            edits: edits.collect(),
            unit: None,
        };
        let mut findings: Vec<Finding> =
            vec![finding(&documents, &ASSIGNED, "a.py", primary, "m").mended_by(fix)];
        settle(&mut findings, &documents);
        findings[0].fix.as_ref().expect("has a fix").applicability
    }

    #[test]
    fn a_lost_comment_makes_a_fix_unsafe() {
        assert_eq!(settled("x", &[("f(  # why\n    a,\n)", "f(a)")]), Applicability::Unsafe);
        assert_eq!(settled("x", &[("# why", "")]), Applicability::Unsafe);
        assert_eq!(settled("x", &[("why\n    a", "a")]), Applicability::Unsafe, "a part of it is lost");
    }

    #[test]
    fn a_comment_that_is_written_again_is_kept() {
        assert_eq!(settled("x", &[("f(  # why\n    a,\n)", "f(a)  # why")]), Applicability::Safe);
        assert_eq!(
            settled("x", &[("x =", "# why\nx ="), ("f(  # why\n    a,\n)", "f(a)")]),
            Applicability::Safe
        );
        let both = [(")  # done\ny = 1  # done", ")\ny = 1  # done")];
        assert_eq!(settled("x", &both), Applicability::Unsafe, "one of two equal ones is lost");
        assert_eq!(
            settled("x", &[(")  # done\ny = 1  # done", ")  # done; # done\ny = 1")]),
            Applicability::Safe
        );
    }

    #[test]
    fn what_is_no_comment_or_not_replaced_is_no_loss() {
        assert_eq!(settled("x", &[("'# why'", "''")]), Applicability::Safe, "a string");
        assert_eq!(settled("x", &[("x = f(", "x = g("), ("    a,", "    b,")]), Applicability::Safe);
    }

    #[test]
    fn a_comment_that_is_reported_may_go() {
        assert_eq!(settled("# why", &[("  # why", "")]), Applicability::Safe);
        assert_eq!(settled("why", &[("# why", "")]), Applicability::Safe);
        assert_eq!(settled("f(  # why", &[("f(  # why", "f(")]), Applicability::Unsafe, "code is reported");
    }
}
