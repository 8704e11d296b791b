//! What the README shows is what the program prints. With `UPDATE=1` the file is rewritten.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fmt::Write;
use std::fs;

use hvdlint::checks::RULES;
use hvdlint::finding::Rule;
use hvdlint::project::Config;
use support::{root, run};

/// The text with its outputs and tables made anew.
fn current(readme: &str) -> String {
    let mut text = String::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        writeln!(text, "{line}").unwrap();
        if let Some(command) = comment(line, "output: ") {
            let fence = lines.next().unwrap_or_default();
            assert!(["```text", "```mermaid"].contains(&fence), "a block of text follows `{line}`");
            assert!(lines.by_ref().any(|line| line == "```"), "the block after `{line}` ends");
            writeln!(text, "{fence}\n{}```", output(command)).unwrap();
        } else if comment(line, "table: ") == Some("checks") {
            assert!(lines.by_ref().any(|line| line == "<!-- end -->"), "the table ends");
            writeln!(text, "{}<!-- end -->", table()).unwrap();
        }
    }
    text
}

fn comment<'t>(line: &'t str, kind: &str) -> Option<&'t str> {
    line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.strip_prefix(kind)
}

fn output(command: &str) -> String {
    let run = run(root(), &command.split(' ').collect::<Vec<_>>());
    assert!(run.status < 2, "{run:#?}");
    let lines = run.stdout.trim_end().lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

fn table() -> String {
    let mut text = "| code | name | group | what it reports |\n|---|---|---|---|\n".to_owned();
    let mut rules = RULES.to_vec();
    rules.sort_by_key(|rule| rule.code);
    for rule in rules {
        let Rule { code, name, group, .. } = rule;
        writeln!(text, "| {code} | [{name}](checks/{name}.md) | {} | {} |", group.name(), summary(rule))
            .unwrap();
    }
    text
}

/// The first paragraph of the page.
fn summary(rule: &Rule) -> String {
    let lines =
        rule.page.lines().skip(1).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

#[test]
fn outputs_and_tables_are_current() {
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let current = current(&readme);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, current).unwrap();
    } else {
        assert!(
            readme == current,
            "README.md is not current; `UPDATE=1 cargo test --test readme` rewrites it"
        );
    }
}

#[test]
fn the_table_of_keys_is_complete() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme.split_once("<!-- table: keys -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- end -->").unwrap();
    let mut keys: Vec<&str> = table
        .lines()
        .skip(2)
        .map(|line| line.split('`').nth(1).expect("a row begins with its key"))
        .collect();
    keys.sort_unstable();
    let config = Config::default().to_toml();
    let simple = config.lines().filter_map(|line| Some(line.split_once(" = ")?.0));
    let tables = config.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
    let mut known: Vec<&str> = simple.chain(tables).chain(["select", "baseline"]).collect();
    known.sort_unstable();
    assert_eq!(keys, known);
}

#[test]
fn links_lead_somewhere() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for part in readme.split("](").skip(1) {
        let (target, _) = part.split_once(')').unwrap();
        assert!(target.starts_with("https://") || root().join(target).exists(), "{target}");
    }
}
