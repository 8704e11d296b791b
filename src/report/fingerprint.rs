//! The identity of a finding: what stays the same when the code around it moves.

use std::collections::HashMap;

use crate::finding::Finding;
use crate::project::Documents;

/// The fingerprints of `findings`, in their order: 32 hexadecimal digits made of the check's name, the path, the
/// enclosing scope, the text at the primary place with its white space folded, and an ordinal among findings in
/// which all of these are equal. No line number takes part, so lines added above change nothing.
///
/// The ordinal makes this a function of the whole list: pass all findings, in canonical order.
pub fn fingerprints<'f>(
    findings: impl IntoIterator<Item = &'f Finding>,
    documents: &Documents,
) -> Vec<String> {
    let mut seen: HashMap<blake3::Hash, u64> = HashMap::new();
    findings
        .into_iter()
        .map(|finding| {
            let identity = identity(finding, documents);
            let ordinal = seen.entry(identity.finalize()).or_insert(0);
            let digest = identity.clone().update(&ordinal.to_le_bytes()).finalize();
            *ordinal += 1;
            digest.to_hex()[..32].to_owned()
        })
        .collect()
}

fn identity(finding: &Finding, documents: &Documents) -> blake3::Hasher {
    let location = finding.primary.location;
    let document = documents.get(&location.file).expect("every location points into one of the documents");
    let range = location.range.start as usize..location.range.end as usize;
    let snippet: Vec<&str> = document.text.get(range).unwrap_or_default().split_whitespace().collect();
    let mut hasher = blake3::Hasher::new();
    for part in [finding.rule.name, &document.path, &finding.scope, &snippet.join(" ")] {
        // The length keeps ("a", "bc") and ("ab", "c") apart.
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher
}

#[cfg(test)]
mod tests {
    use crate::finding::Finding;
    use crate::project::Documents;
    use crate::report::Report;
    use crate::report::testing::{ALIASED, ASSIGNED, documents, finding, nth};

    fn prints(documents: &Documents, findings: Vec<Finding>) -> Vec<String> {
        let report = Report::new(findings, Vec::new(), 1, documents);
        report.findings.into_iter().map(|reported| reported.fingerprint).collect()
    }

    #[test]
    fn lines_above_and_white_space_inside_change_nothing() {
        let before = documents(&[("a.py", "opt = Adam(1, 2)\n")]);
        let after = documents(&[("a.py", "# new\n\n\nopt = Adam(1,\n     2)\n")]);
        assert_eq!(
            prints(&before, vec![finding(&before, &ALIASED, "a.py", "Adam(1, 2)", "m")]),
            prints(&after, vec![finding(&after, &ALIASED, "a.py", "Adam(1,\n     2)", "other words")]),
        );
    }

    #[test]
    fn check_path_scope_text_and_ordinal_tell_findings_apart() {
        let documents = documents(&[("a.py", "Adam()\nAdam()\nSGD()\n"), ("b.py", "Adam()\n")]);
        let here = |path, needle| finding(&documents, &ALIASED, path, needle, "m");
        let mut second = here("a.py", "Adam()");
        second.primary.location = nth(&documents, "a.py", "Adam()", 1);
        let all = vec![
            here("a.py", "Adam()"),
            second,
            here("a.py", "SGD()"),
            here("b.py", "Adam()"),
            finding(&documents, &ASSIGNED, "a.py", "Adam()", "m"),
            here("a.py", "Adam()").in_scope("train"),
        ];
        let mut prints = prints(&documents, all);
        assert!(prints.iter().all(|print| print.len() == 32 && print.bytes().all(|b| b.is_ascii_hexdigit())));
        prints.sort();
        prints.dedup();
        assert_eq!(prints.len(), 6);
    }

    #[test]
    fn suppressing_one_of_two_equal_findings_leaves_the_other_its_fingerprint() {
        let documents = documents(&[("a.py", "Adam()\nAdam()\n")]);
        let first = finding(&documents, &ALIASED, "a.py", "Adam()", "m");
        let mut second = first.clone();
        second.primary.location = nth(&documents, "a.py", "Adam()", 1);
        let both = prints(&documents, vec![first.clone(), second.clone()]);
        let report = Report::new(vec![second], vec![(first, "known".to_owned())], 1, &documents);
        assert_eq!(report.findings[0].fingerprint, both[1]);
        assert_eq!(report.suppressed[0].0.fingerprint, both[0]);
    }
}
