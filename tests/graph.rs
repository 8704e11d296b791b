//! Cases that ran eagerly and traced: what differs is found, on the line that `AutoGraph` names, and what does not is
//! not reported. `GRAPH_CASES` names the folder that has them, with `expected.json`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::run;

/// What of a hundred has to be so.
struct Share {
    name: &'static str,
    good: usize,
    all: usize,
    others: Vec<String>,
}

impl Share {
    fn new(name: &'static str) -> Self {
        Self { name, good: 0, all: 0, others: Vec::new() }
    }

    fn add(&mut self, case: &str, is_good: bool) {
        self.all += 1;
        if is_good {
            self.good += 1;
        } else {
            self.others.push(case.to_owned());
        }
    }

    fn is_at_least(&self, percent: usize) -> bool {
        println!("{}: {} of {}, not {:?}", self.name, self.good, self.all, self.others);
        self.good * 100 >= percent * self.all
    }
}

/// The lines of the findings in a file.
fn lines(folder: &Path, file: &str) -> Vec<u64> {
    let arguments = ["check", "--isolated", "--select", "graph", "--output", "json", file];
    let report = run(folder, &arguments).json();
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["start"]["line"].as_u64().unwrap()).collect()
}

#[test]
#[ignore = "needs programs with verdicts of real runs: GRAPH_CASES=FOLDER cargo test --test graph -- --ignored --nocapture"]
fn what_differs_when_traced_is_found() {
    let folder = std::env::var_os("GRAPH_CASES").expect("GRAPH_CASES names the folder that has the programs");
    let folder = Path::new(&folder);
    let cases: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
    let mut silent = Share::new("diverge silently and are found");
    let mut raising = Share::new("raise and are found");
    let mut same = Share::new("are correct and not reported");
    let mut placed = Share::new("have the line");
    for case in cases.as_array().unwrap() {
        let (file, name) = (case["file"].as_str().unwrap(), case["case"].as_str().unwrap());
        let found = lines(folder, file);
        match case["verdict"].as_str().unwrap() {
            "SILENT" => silent.add(name, !found.is_empty()),
            "GRAPH_ERR" => raising.add(name, !found.is_empty()),
            "SAME" => same.add(name, found.is_empty()),
            _ => {}
        }
        if let Some(line) = case["autograph_line"].as_u64()
            && !found.is_empty()
        {
            placed.add(name, found.contains(&line));
        }
    }
    assert!(
        silent.is_at_least(90) & raising.is_at_least(80) & same.is_at_least(98) & placed.is_at_least(100)
    );
}
