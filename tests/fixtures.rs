//! The whole programs in `fixtures/` have the findings and the training loops that are written beside them.
//! All that differ are told at once.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use hvdlint::checks::{CHECKS, RULES};
use hvdlint::finding::Group;
use rayon::prelude::*;
use serde_json::{Value, json};
use support::{copy_of, fixtures, run};

/// `path:line: level[name]` of each finding, sorted.
fn findings(folder: &Path) -> String {
    let copy = copy_of(folder);
    let groups = "restriction,training-loop,ranks,graph";
    let arguments = ["check", "--select", groups, "--output", "concise"];
    let run = run(copy.path(), &arguments);
    let mut lines: Vec<String> = run.stdout.lines().map(without_column_and_message).collect();
    lines.sort();
    let mut text = lines.join("\n");
    text.push_str(if lines.is_empty() { "" } else { "\n" });
    if run.status != i32::from(!lines.is_empty()) || !run.stderr.is_empty() {
        writeln!(text, "exit status {}, {}", run.status, run.stderr).unwrap();
    }
    text
}

fn without_column_and_message(line: &str) -> String {
    let (place, finding) = line.split_once(": ").unwrap();
    let (place, _column) = place.rsplit_once(':').unwrap();
    let (name, _message) = finding.split_once(' ').unwrap();
    format!("{place}: {name}")
}

/// The pattern and the loops of each program that trains.
fn loops(folder: &Path) -> Vec<Value> {
    let copy = copy_of(folder);
    let programs = run(copy.path(), &["loops", "--output", "json"]).json();
    let described = |program: &Value| {
        let place = |own: &Value| json!({"path": own["path"], "line": own["line"], "kind": own["kind"]});
        let mut loops: Vec<Value> = program["loops"].as_array().unwrap().iter().map(place).collect();
        loops.sort_by_key(Value::to_string);
        json!({"pattern": program["pattern"], "loops": loops})
    };
    let programs = programs["programs"].as_array().unwrap();
    let mut found: Vec<Value> =
        programs.iter().filter(|program| program["pattern"] != "none").map(described).collect();
    found.sort_by_key(Value::to_string);
    found
}

fn expected_loops(folder: &Path) -> Vec<Value> {
    let value: Value = serde_json::from_str(&fs::read_to_string(folder.join("loops.json")).unwrap()).unwrap();
    let mut programs = if let Value::Array(programs) = value { programs } else { vec![value] };
    for program in &mut programs {
        program["loops"].as_array_mut().unwrap().sort_by_key(Value::to_string);
    }
    programs.sort_by_key(Value::to_string);
    programs
}

/// What differs, as lines with `-` for what is missing and `+` for what is too much.
fn difference(name: &str, expected: &str, found: &str) -> String {
    let mut text = format!("{name}:\n");
    for change in similar::TextDiff::from_lines(expected, found).iter_all_changes() {
        if change.tag() != similar::ChangeTag::Equal {
            write!(text, "  {}{change}", change.tag()).unwrap();
        }
    }
    text
}

#[test]
fn programs_have_the_expected_findings() {
    // Without checks there is nothing to find.
    if CHECKS.is_empty() {
        return;
    }
    let compare = |(name, folder): (String, PathBuf)| {
        let expected = fs::read_to_string(folder.join("expected.txt")).unwrap();
        let found = findings(&folder);
        if expected == found { String::new() } else { difference(&name, &expected, &found) }
    };
    let differences: String = fixtures().into_par_iter().map(compare).collect();
    assert!(differences.is_empty(), "\n{differences}");
}

/// The programs whose faults only the ranks or the graph see.
fn is_of_ranks_or_graph(name: &str) -> bool {
    name.starts_with("ranks-") || name.starts_with("graph-")
}

#[test]
fn what_fixing_makes_of_programs_is_accepted_by_the_ranks_and_the_graph() {
    let asked = |(name, folder): &(String, PathBuf)| -> Option<String> {
        let copy = copy_of(folder);
        let fixed = run(copy.path(), &["check", "--fix", "--output", "json"]).json();
        if fixed["summary"]["fixed"] == 0 {
            return None;
        }
        let mut rejected = String::new();
        let arguments = ["check", "--select", "ranks,graph", "--output", "json"];
        for finding in run(copy.path(), &arguments).json()["findings"].as_array().unwrap() {
            let (rule, path, line) = (&finding["name"], &finding["path"], &finding["start"]["line"]);
            writeln!(rejected, "{name}: {path}:{line} {rule}").unwrap();
        }
        Some(rejected)
    };
    let own: Vec<_> = fixtures().into_iter().filter(|(name, _)| !is_of_ranks_or_graph(name)).collect();
    let changed: Vec<String> = own.par_iter().filter_map(asked).collect();
    let rejected = changed.concat();
    assert!(rejected.is_empty(), "\n{rejected}");
    assert!(changed.len() > 60, "only {} programs are changed", changed.len());
}

#[test]
fn programs_have_the_expected_training_loops() {
    let text = |value: &[Value]| serde_json::to_string_pretty(value).unwrap() + "\n";
    let compare = |(name, folder): (String, PathBuf)| {
        let (expected, found) = (expected_loops(&folder), loops(&folder));
        if expected == found { String::new() } else { difference(&name, &text(&expected), &text(&found)) }
    };
    let differences: String = fixtures().into_par_iter().map(compare).collect();
    assert!(differences.is_empty(), "\n{differences}");
}

#[test]
fn each_program_says_what_is_expected() {
    let missing: Vec<String> = fixtures()
        .into_iter()
        .flat_map(|(name, folder)| {
            ["expected.txt", "loops.json"].map(|file| (name.clone(), folder.join(file)))
        })
        .filter(|(_, path)| !path.is_file())
        .map(|(name, path)| format!("{name} has no {}", path.file_name().unwrap().display()))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The ranks and the graph have programs with several faults each, which take two files and a call to see.
#[test]
fn each_check_of_the_ranks_and_the_graph_is_expected_in_a_program() {
    let expected: Vec<String> = fixtures()
        .into_iter()
        .filter(|(name, _)| is_of_ranks_or_graph(name))
        .map(|(_, folder)| fs::read_to_string(folder.join("expected.txt")).unwrap())
        .collect();
    let missing: Vec<&str> = RULES
        .iter()
        .filter(|rule| matches!(rule.group, Group::Ranks | Group::Graph))
        .map(|rule| rule.name)
        .filter(|name| !expected.iter().any(|own| own.contains(&format!("[{name}]"))))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn each_check_of_a_program_has_a_fixture() {
    let names: Vec<String> = fixtures().into_iter().map(|(name, _)| name).collect();
    let missing: Vec<&str> = CHECKS
        .iter()
        .map(|check| check.rule.name)
        .filter(|name| !names.iter().any(|own| own == name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
