//! Each check's page is executed: what it says is reported is reported, at the line and level that it says, what it
//! says is accepted is accepted, and what it shows as fixed is what `--fix` makes of the example before.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::path::Path;

use hvdlint::checks::RULES;
use hvdlint::finding::{Confidence, Group, Level, Rule};
use hvdlint::project::{ConfigSource, OpenOptions, Project};
use hvdlint::{analysis, report};
use rayon::prelude::*;

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

fn actual(rule: &Rule, example: &Example, folder: &Path) -> Vec<(String, usize, String)> {
    for (name, text) in &example.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let options = OpenOptions { config: ConfigSource::Isolated, ..OpenOptions::default() };
    let project = Project::open(&[folder.to_owned()], &options).unwrap();
    let has = |word: &str| example.words.iter().any(|own| own == word);
    let findings =
        analysis::with_facts(&project, |facts| analysis::findings(&project, facts, has("strict"))).unwrap();
    let documents =
        project.files().iter().map(|file| (file.id, project.document(file.id).unwrap())).collect();
    let sources = report::Sources::new(&documents);
    let mut found: Vec<(String, usize, String)> = findings
        .iter()
        .filter(|finding| finding.rule.name == rule.name)
        .filter(|finding| finding.confidence == Confidence::Certain || has("possible"))
        .filter(|finding| finding.level > Level::Note || has("possible"))
        .map(|finding| {
            let location = finding.primary.location;
            let line = sources.span(location).start.line;
            (sources.path(location.file).to_owned(), line, finding.level.to_string())
        })
        .collect();
    found.sort();
    found
}

fn run(rule: &Rule) -> Vec<String> {
    let mut failures = Vec::new();
    let examples = examples(rule.page);
    for kind in ["reported", "accepted"] {
        let count = examples.iter().filter(|example| example.words[0] == kind).count();
        if count < 3 {
            failures.push(format!("checks/{}.md: {count} {kind} examples", rule.name));
        }
    }
    for example in examples.iter().filter(|example| example.words[0] != "fixed") {
        let folder = tempfile::tempdir().unwrap();
        let (expected, actual) = (expected(example), actual(rule, example, folder.path()));
        let says_so = expected.is_empty() == (example.words[0] == "accepted");
        if expected != actual || !says_so {
            failures.push(format!(
                "checks/{}.md:{}: expected {expected:?}, found {actual:?}",
                rule.name, example.line
            ));
        }
    }
    failures
}

/// The files of an example without the words about what is reported.
fn bare(example: &Example) -> Vec<(String, String)> {
    let text = |text: &String| -> String {
        text.lines().flat_map(|line| [line.split("  # reported: ").next().unwrap(), "\n"]).collect()
    };
    example.files.iter().map(|(name, own)| (name.clone(), text(own))).collect()
}

/// What they become. The steps of a distribution are right only together, so that all of them are made.
fn fixed(rule: &Rule, example: &Example, more: &[&str]) -> Vec<(String, String)> {
    let files = bare(example);
    let given: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = support::folder(&given);
    let selected = if rule.group == Group::Distribution { rule.group.name() } else { rule.name };
    let doubt: &[&str] =
        if example.words.iter().any(|word| word == "possible") { &["--confidence", "possible"] } else { &[] };
    let arguments = [&["check", "--fix", "--isolated", "--select", selected], doubt, more].concat();
    let run = support::run(folder.path(), &arguments);
    assert!(run.status < 2, "{run:#?}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    files.iter().map(|(name, _)| (name.clone(), read(name))).collect()
}

fn run_fixes(rule: &Rule) -> Vec<String> {
    let mut failures = Vec::new();
    let examples = examples(rule.page);
    let page = format!("checks/{}.md", rule.name);
    let mut is_fixed_somewhere = false;
    for (index, example) in examples.iter().enumerate() {
        if example.words[0] == "fixed" {
            let is_unsafe = example.words.iter().any(|word| word == "unsafe");
            let before = &examples[index - 1];
            assert_eq!(before.words[0], "reported", "{page}:{}: it follows what it is made of", example.line);
            let mut actual = fixed(rule, before, if is_unsafe { &["--unsafe-fixes"] } else { &[] });
            // A page shows the files that change.
            actual.retain(|(name, _)| example.files.iter().any(|(shown, _)| shown == name));
            if actual != example.files {
                let text: Vec<_> =
                    actual.iter().map(|(name, text)| format!("# file: {name}\n{text}")).collect();
                failures.push(format!("{page}:{}: it becomes\n{}", example.line, text.join("")));
            }
            if is_unsafe && fixed(rule, before, &[]) == fixed(rule, before, &["--unsafe-fixes"]) {
                failures.push(format!("{page}:{}: nothing of it is unsafe", example.line));
            }
            is_fixed_somewhere = true;
        }
    }
    if !is_fixed_somewhere {
        let is_changed = |example: &&Example| fixed(rule, example, &["--unsafe-fixes"]) != bare(example);
        if let Some(example) =
            examples.iter().filter(|example| example.words[0] == "reported").find(is_changed)
        {
            failures.push(format!("{page}:{}: the fix is not shown", example.line));
        }
    }
    failures
}

/// The rules that look at programs.
fn with_examples() -> impl ParallelIterator<Item = &'static Rule> {
    RULES.par_iter().copied().filter(|rule| rule.group != Group::Tool)
}

#[test]
fn pages_show_what_is_fixed() {
    let only = std::env::var("CHECK").ok();
    let failures: Vec<String> = with_examples()
        .filter(|rule| only.as_deref().is_none_or(|only| only == rule.name))
        .flat_map_iter(run_fixes)
        .collect();
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn pages_tell_the_truth() {
    let only = std::env::var("CHECK").ok();
    let failures: Vec<String> = with_examples()
        .filter(|rule| only.as_deref().is_none_or(|only| only == rule.name))
        .flat_map_iter(run)
        .collect();
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}
