//! The repository's own rules: what a new check, page or file has to have.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use hvdlint::checks::{CHECKS, RULES};
use hvdlint::finding::{Group, Rule};
use support::{folder, root, run};

/// A file longer than this has more than one concern.
const LONGEST: usize = 500;

/// The files below a folder of the repository with this ending.
fn files(place: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut work = vec![root().join(place)];
    while let Some(path) = work.pop() {
        if path.is_dir() {
            work.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// Whether a file of `src` holds tests of its neighbour.
fn is_test(path: &Path) -> bool {
    let name = shown(path);
    name.ends_with("/tests.rs") || name.contains("/tests/")
}

fn none(failures: &[String]) {
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn each_page_has_a_rule_and_each_rule_its_page() {
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let pages: BTreeSet<String> = files("checks", "md").into_iter().map(stem).collect();
    let rules: BTreeSet<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(pages, rules);
    for rule in RULES {
        let page = fs::read_to_string(root().join(format!("checks/{}.md", rule.name))).unwrap();
        assert_eq!(rule.page, page, "{}", rule.name);
    }
}

#[test]
fn names_and_codes_are_unique_and_well_formed() {
    let mut failures = Vec::new();
    let mut known = BTreeSet::new();
    for rule in RULES {
        let Rule { code, name, group, .. } = rule;
        if !known.insert(*code) || !known.insert(*name) {
            failures.push(format!("{code} or {name} is there twice"));
        }
        if !name.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase()) {
            failures.push(format!("{name} is not in kebab-case"));
        }
        let hundred = match group {
            Group::Restriction => "HVD0",
            Group::TrainingLoop => "HVD1",
            Group::Distribution => "HVD2",
            Group::Ranks => "HVD3",
            Group::Graph => "HVD4",
            Group::Tool => "HVD9",
        };
        if !code.starts_with(hundred) || code.len() != 6 {
            failures.push(format!("{code} is no code of the group {}", group.name()));
        }
    }
    for check in CHECKS {
        if !RULES.iter().any(|rule| rule.code == check.rule.code) {
            failures.push(format!("{} is not in RULES", check.rule.name));
        }
        let file = format!("src/checks/{}.rs", check.rule.name.replace('-', "_"));
        if !root().join(&file).is_file() {
            failures.push(format!("{} is not in {file}", check.rule.name));
        }
    }
    none(&failures);
}

#[test]
fn pages_begin_with_what_their_rules_say() {
    let mut failures = Vec::new();
    for rule in RULES {
        let Rule { code, name, group, level, page } = rule;
        let mut wanted = vec![format!("# {name}")];
        if *group != Group::Tool {
            wanted.push(format!("- Code: `{code}`"));
            wanted.push(format!("- Group: `{}`", group.name()));
        }
        if !page.starts_with(&wanted[0]) {
            failures.push(format!("checks/{name}.md: the title is not the name"));
        }
        for line in wanted {
            if !page.lines().any(|own| own == line) {
                failures.push(format!("checks/{name}.md: there is no line `{line}`"));
            }
        }
        let levels = page.lines().find_map(|line| line.strip_prefix("- Levels: "));
        if levels.is_some_and(|levels| !levels.contains(&level.to_string())) {
            failures.push(format!("checks/{name}.md: the level {level} is not among those of the page"));
        }
    }
    none(&failures);
}

#[test]
fn pages_have_three_examples_of_each_kind() {
    let mut failures = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.group != Group::Tool) {
        for kind in ["reported", "accepted"] {
            let fence = format!("```python {kind}");
            let count = rule.page.lines().filter(|line| line.starts_with(&fence)).count();
            if count < 3 {
                failures.push(format!("checks/{}.md: {count} {kind} examples", rule.name));
            }
        }
    }
    none(&failures);
}

/// The programs in a page: each the files of one block.
fn examples(page: &str) -> Vec<Vec<(String, String)>> {
    let mut found = Vec::new();
    for block in page.split("\n```python ").skip(1) {
        let code = block.split("\n```").next().unwrap();
        let mut files = vec![("train.py".to_owned(), String::new())];
        for line in code.lines().skip(1) {
            if let Some(name) = line.strip_prefix("# file: ") {
                files.push((name.trim().to_owned(), String::new()));
            } else {
                writeln!(files.last_mut().unwrap().1, "{line}").unwrap();
            }
        }
        found.push(files);
    }
    found
}

/// All findings of a project, as JSON values.
fn findings(place: &Path) -> Vec<serde_json::Value> {
    let arguments =
        ["check", "--strict", "--confidence", "possible", "--no-ignores", "--output", "json", "."];
    run(place, &arguments).json()["findings"].as_array().unwrap().clone()
}

#[test]
fn messages_keep_their_form() {
    let mut all = findings(&root().join("fixtures"));
    for rule in RULES {
        // What is said is asked here, and not where: the examples of a page may be one project.
        let examples = examples(rule.page).into_iter().enumerate();
        let files: Vec<(String, String)> = examples
            .flat_map(|(number, files)| {
                files.into_iter().map(move |(name, text)| (format!("example{number}/{name}"), text))
            })
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        if !files.is_empty() {
            all.extend(findings(folder(&files).path()));
        }
    }
    let mut failures = BTreeSet::new();
    let mut say = |finding: &serde_json::Value, what: &str, text: &str| {
        failures.insert(format!("{}: {what}: {text}", finding["name"].as_str().unwrap()));
    };
    for finding in &all {
        let message = finding["message"].as_str().unwrap();
        if message.starts_with(char::is_uppercase) {
            say(finding, "the message begins with a capital", message);
        }
        if message.ends_with(['.', '!']) || message.contains('\n') {
            say(finding, "the message is no clause", message);
        }
        if message.matches('`').count() % 2 == 1 {
            say(finding, "a backtick is alone", message);
        }
        for label in finding["labels"].as_array().unwrap().iter().chain(finding["flow"].as_array().unwrap()) {
            let text = label["message"].as_str().unwrap();
            if text.is_empty() || text.ends_with('.') || text.split_whitespace().count() > 8 {
                say(finding, "the label is not two to five words or so", text);
            }
        }
        if let Some(help) = finding["help"].as_str()
            && (help.ends_with('.') || help.starts_with(char::is_uppercase))
        {
            say(finding, "the help is no clause", help);
        }
        for note in finding["notes"].as_array().unwrap() {
            let note = note.as_str().unwrap();
            if note.is_empty() {
                say(finding, "the note is empty", note);
            }
        }
    }
    assert!(CHECKS.is_empty() || all.len() > 50, "only {} findings", all.len());
    none(&failures.into_iter().collect::<Vec<_>>());
}

#[test]
fn each_check_is_found_in_its_fixture() {
    let mut failures = Vec::new();
    for check in CHECKS {
        let name = check.rule.name;
        let expected =
            fs::read_to_string(root().join(format!("fixtures/{name}/expected.txt"))).unwrap_or_default();
        if !expected.contains(&format!("[{name}]")) {
            failures.push(format!("fixtures/{name}/expected.txt does not have {name}"));
        }
    }
    none(&failures);
}

#[test]
fn source_files_are_short() {
    let mut failures = Vec::new();
    for path in files("src", "rs").into_iter().filter(|path| !is_test(path)) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > LONGEST && !LONG.contains(&shown(&path).as_str()) {
            failures.push(format!("{}: {lines} lines", shown(&path)));
        }
    }
    none(&failures);
}

/// Files that are longer for now. Take them out when they are split; add none.
const LONG: &[&str] = &["src/program/facts.rs", "src/program/solver/mod.rs", "src/semantic/module.rs"];

#[test]
fn source_files_begin_with_what_they_are() {
    let failures: Vec<String> = files("src", "rs")
        .into_iter()
        .filter(|path| !is_test(path))
        .chain(files("tests", "rs"))
        .chain(files("benches", "rs"))
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//! "))
        .map(|path| format!("{} has no module documentation", shown(&path)))
        .collect();
    none(&failures);
}

#[test]
fn source_files_take_no_short_cuts() {
    let cuts = ["unwrap()", "todo!", "dbg!", "unimplemented!", "#[allow(", "println!"].map(str::to_owned);
    let mut failures = Vec::new();
    for path in files("src", "rs").into_iter().filter(|path| !is_test(path)) {
        let text = fs::read_to_string(&path).unwrap();
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            for cut in cuts.iter().filter(|cut| code.contains(cut.as_str())) {
                failures.push(format!("{}:{}: {cut}", shown(&path), index + 1));
            }
        }
    }
    none(&failures);
}

#[test]
fn only_fixes_and_reports_write_to_the_disk() {
    let words = [
        "File::create",
        "fs::write",
        "OpenOptions::new",
        "fs::rename",
        "persist(",
        "tempfile::",
        "remove_file",
    ];
    let mut failures = Vec::new();
    for path in files("src", "rs").into_iter().filter(|path| !is_test(path)) {
        let may = shown(&path).starts_with("src/fix/") || shown(&path) == "src/commands/check.rs";
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        failures.extend(
            words
                .iter()
                .filter(|word| !may && code.contains(**word))
                .map(|word| format!("{}: {word}", shown(&path))),
        );
    }
    none(&failures);
}

#[test]
fn only_the_syntax_room_names_the_parser() {
    let failures: Vec<String> = files("src", "rs")
        .into_iter()
        .filter(|path| !shown(path).starts_with("src/syntax/"))
        .filter(|path| fs::read_to_string(path).unwrap().contains("ruff_"))
        .map(|path| format!("{} names a crate of the parser", shown(&path)))
        .collect();
    none(&failures);
}

#[test]
fn files_speak_of_the_project_only() {
    // Put together, so that this file does not have them.
    let words = [["TO", "DO"], ["FIX", "ME"], ["X", "XX"], ["/wo", "rk/"], ["/tmp", "/wt"], ["/ro", "ot/"]]
        .map(|parts| parts.concat());
    let mut failures = Vec::new();
    let all = ["src", "checks", "tests", "benches", "fixtures"];
    let paths =
        all.iter().flat_map(|place| ["rs", "md", "py", "txt", "toml"].map(|ending| files(place, ending)));
    for path in paths.flatten().chain(["README.md", "Cargo.toml"].map(|name| root().join(name))) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        for (index, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(word.as_str())) {
                failures.push(format!("{}:{}: {word}", shown(&path), index + 1));
            }
        }
    }
    none(&failures);
}
