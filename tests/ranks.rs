//! Programs that ran on several ranks: what went wrong there is found, on a line that says why, and what went well is not
//! reported. `RANKS_CASES` names the folder that has them, with `expected.json`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::run;

/// The property that a check of the group decides.
fn property(code: &str) -> Option<&'static str> {
    match code {
        "HVD301" => Some("P1"),
        "HVD302" | "HVD303" | "HVD304" => Some("P2"),
        "HVD305" => Some("P3"),
        "HVD306" => Some("P4"),
        _ => None,
    }
}

/// The properties that a program is said to break, each with the line.
fn broken(folder: &Path, file: &str) -> Vec<(&'static str, u64)> {
    let arguments = ["check", "--isolated", "--select", "ranks", "--output", "json", file];
    let report = run(folder, &arguments).json();
    let findings = report["findings"].as_array().unwrap();
    let of = |finding: &Value| {
        Some((property(finding["code"].as_str().unwrap())?, finding["start"]["line"].as_u64().unwrap()))
    };
    findings.iter().filter_map(of).collect()
}

#[test]
#[ignore = "needs programs with verdicts of real runs: RANKS_CASES=FOLDER cargo test --test ranks -- --ignored --nocapture"]
fn what_goes_wrong_on_several_ranks_is_found() {
    let folder = std::env::var_os("RANKS_CASES").expect("RANKS_CASES names the folder that has the programs");
    let folder = Path::new(&folder);
    let cases: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    let (mut bad, mut good) = (0, 0);
    for case in cases.as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let found = broken(folder, file);
        let lines: Vec<u64> =
            case["lines"].as_array().unwrap().iter().map(|line| line.as_u64().unwrap()).collect();
        // What completes from submissions that don't belong together is out of step, too.
        let wanted: Vec<&str> = case["properties"]
            .as_array()
            .unwrap()
            .iter()
            .map(|property| &property.as_str().unwrap()[..2])
            .map(|property| if property == "P5" { "P1" } else { property })
            .collect();
        let is_right = match case["verdict"].as_str().unwrap() {
            "bad" => {
                bad += 1;
                found.iter().any(|(property, line)| wanted.contains(property) && lines.contains(line))
            }
            "good" => {
                good += 1;
                found.is_empty()
            }
            _ => true,
        };
        if !is_right {
            wrong.push(format!("{file}: wanted {wanted:?} in {lines:?}, found {found:?}"));
        }
    }
    println!("{bad} bad and {good} good programs, not {wrong:#?}");
    assert!(wrong.is_empty());
}
