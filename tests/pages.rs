//! Each check's page is executed: what it says is reported is reported, at the line and level that it says, and
//! what it says is accepted is accepted.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use hvdlint::checks::{CHECKS, Check};
use hvdlint::finding::{Confidence, Level};
use hvdlint::project::{ConfigSource, OpenOptions, Project};
use hvdlint::{analysis, report};

/// A fenced block of a page.
struct Example {
    /// 1-based line of its first line of code in the page.
    line: usize,
    words: Vec<String>,
    files: Vec<(String, String)>,
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```python ") else { continue };
        let words = info.split_whitespace().map(str::to_owned).collect();
        let mut files = vec![("train.py".to_owned(), String::new())];
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
            if let Some(name) = line.strip_prefix("# file: ") {
                if files[0].1.is_empty() {
                    files.clear();
                }
                files.push((name.trim().to_owned(), String::new()));
            } else {
                let text = &mut files.last_mut().unwrap().1;
                text.push_str(line);
                text.push('\n');
            }
        }
        examples.push(Example { line: number + 2, words, files });
    }
    examples
}

fn expected(example: &Example) -> Vec<(String, usize, String)> {
    let mut expected = Vec::new();
    for (name, text) in &example.files {
        for (index, line) in text.lines().enumerate() {
            if let Some((_, level)) = line.split_once("# reported: ") {
                let level = level.split_whitespace().next().unwrap();
                expected.push((name.clone(), index + 1, level.to_owned()));
            }
        }
    }
    expected.sort();
    expected
}

fn actual(check: &Check, example: &Example, folder: &Path) -> Vec<(String, usize, String)> {
    for (name, text) in &example.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let options = OpenOptions { config: ConfigSource::Isolated, ..OpenOptions::default() };
    let project = Project::open(&[folder.to_owned()], &options).unwrap();
    let has = |word: &str| example.words.iter().any(|own| own == word);
    let findings = analysis::with_facts(&project, |facts| analysis::findings(&project, facts, has("strict"))).unwrap();
    let documents =
        project.files().iter().map(|file| (file.id, project.document(file.id).unwrap())).collect();
    let sources = report::Sources::new(&documents);
    let mut found: Vec<(String, usize, String)> = findings
        .iter()
        .filter(|finding| finding.rule.name == check.rule.name)
        .filter(|finding| finding.confidence == Confidence::Certain || has("possible"))
        .filter(|finding| finding.level > Level::Note)
        .map(|finding| {
            let location = finding.primary.location;
            let line = sources.span(location).start.line;
            (sources.path(location.file).to_owned(), line, finding.level.to_string())
        })
        .collect();
    found.sort();
    found
}

fn run(check: &Check) -> Vec<String> {
    let mut failures = Vec::new();
    let examples = examples(check.rule.page);
    for kind in ["reported", "accepted"] {
        let count = examples.iter().filter(|example| example.words[0] == kind).count();
        if count < 3 {
            failures.push(format!("checks/{}.md: {count} {kind} examples", check.rule.name));
        }
    }
    for example in &examples {
        let folder = tempfile::tempdir().unwrap();
        let (expected, actual) = (expected(example), actual(check, example, folder.path()));
        let says_so = expected.is_empty() == (example.words[0] == "accepted");
        if expected != actual || !says_so {
            failures.push(format!(
                "checks/{}.md:{}: expected {expected:?}, found {actual:?}",
                check.rule.name, example.line
            ));
        }
    }
    failures
}

#[test]
fn pages_tell_the_truth() {
    let only = std::env::var("CHECK").ok();
    let failures: Vec<String> = CHECKS
        .iter()
        .filter(|check| only.as_deref().is_none_or(|only| only == check.rule.name))
        .flat_map(|check| run(check))
        .collect();
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}
