//! `hvdlint debug dataflow` says of each function what TensorFlow's own analyses say of it.
//!
//! `tests/dataflow/functions.py` has every statement and expression; `tests/dataflow/recorded.jsonl` is what TensorFlow
//! 2.15.1 says about it. Where TensorFlow is installed, it is asked itself, about the fixtures too:
//!
//! ```text
//! HVDLINT_TENSORFLOW_PYTHON=.../bin/python cargo test --test dataflow -- --ignored --nocapture
//! ```
//!
//! `HVDLINT_DATAFLOW_PROGRAMS=FOLDER` adds the Python files of a folder, `UPDATE=1` records anew.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{hvdlint, root};

const FUNCTIONS: &str = "tests/dataflow/functions.py";
const RECORDED: &str = "tests/dataflow/recorded.jsonl";

/// What one side says.
#[derive(Debug)]
struct Said {
    /// What it says of each function, named `FILE:LINE NAME`.
    functions: BTreeMap<String, Value>,
    /// The functions and files that it can't analyse.
    refused: BTreeSet<String>,
}

impl Said {
    fn new(stdout: &str, stderr: &str) -> Self {
        let named = |line: &str| {
            let said: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| said[key].as_str().unwrap().to_owned();
            (format!("{}:{} {}", text("file"), said["line"], text("function")), said)
        };
        let reason = |line: &str| Some(line.strip_prefix("# ")?.split_once(": ")?.0.to_owned());
        Self {
            functions: stdout.lines().map(named).collect(),
            refused: stderr.lines().filter_map(reason).collect(),
        }
    }

    /// Leaves out the files that a side can't parse: the versions of Python differ.
    fn without(&mut self, files: &BTreeSet<String>) {
        let is_in =
            |name: &str| files.iter().any(|file| name == file || name.starts_with(&format!("{file}:")));
        self.functions.retain(|name, _| !is_in(name));
        self.refused.retain(|name| !is_in(name));
    }
}

fn ours(files: &[String]) -> Said {
    let output = hvdlint().args(["debug", "dataflow"]).args(files).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Said::new(&String::from_utf8_lossy(&output.stdout), &String::from_utf8_lossy(&output.stderr))
}

fn python_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "py") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The statements of both sides, and how many of them are said alike.
fn compare(ours: &Said, theirs: &Said) -> (usize, usize, String) {
    let (mut all, mut alike, mut differences) = (0, 0, String::new());
    let rows = |said: &Value| said["statements"].as_array().unwrap().clone();
    for (name, their) in &theirs.functions {
        let Some(our) = ours.functions.get(name) else {
            _ = writeln!(differences, "{name} is missing");
            continue;
        };
        if our["cfg"] != their["cfg"] {
            _ = writeln!(differences, "{name}: cfg\n  {}\n  {}", our["cfg"], their["cfg"]);
        }
        let (own, other) = (rows(our), rows(their));
        all += own.len().max(other.len());
        alike += own.iter().zip(&other).filter(|(own, other)| own == other).count();
        for (own, other) in own.iter().zip(&other).filter(|(own, other)| own != other) {
            _ = writeln!(differences, "{name}\n  {own}\n  {other}");
        }
        if own.len() != other.len() {
            _ = writeln!(differences, "{name}: {} statements, and not {}", own.len(), other.len());
        }
    }
    for name in ours.functions.keys().filter(|name| !theirs.functions.contains_key(*name)) {
        _ = writeln!(differences, "{name} is too much");
    }
    for name in ours.refused.symmetric_difference(&theirs.refused) {
        _ = writeln!(differences, "{name} is refused by one side only");
    }
    (all, alike, differences)
}

#[test]
fn each_construct_is_seen_as_tensorflow_sees_it() {
    let ours = ours(&[FUNCTIONS.to_owned()]);
    let refused: Vec<_> = ours.refused.iter().map(|name| name.rsplit(' ').next().unwrap()).collect();
    assert!(refused.iter().all(|name| name.starts_with("refused_") || *name == "inner"), "{refused:?}");
    assert_eq!(refused.len(), 9, "{refused:?}");
    let mut recorded = Said::new(&fs::read_to_string(root().join(RECORDED)).unwrap(), "");
    recorded.refused.clone_from(&ours.refused);
    let (all, alike, differences) = compare(&ours, &recorded);
    assert!(differences.is_empty() && all == alike && all > 300, "{alike} of {all}\n{differences}");
}

#[test]
#[ignore = "needs TensorFlow: HVDLINT_TENSORFLOW_PYTHON names a Python that has it"]
fn tensorflow_says_the_same() {
    let python = std::env::var_os("HVDLINT_TENSORFLOW_PYTHON").expect("HVDLINT_TENSORFLOW_PYTHON is not set");
    let mut files = python_files(&root().join("fixtures"));
    if let Some(folder) = std::env::var_os("HVDLINT_DATAFLOW_PROGRAMS") {
        files.extend(python_files(&fs::canonicalize(folder).unwrap()));
    }
    let inside = |file: &PathBuf| file.strip_prefix(root()).unwrap_or(file).to_string_lossy().into_owned();
    let files: Vec<String> = [FUNCTIONS.to_owned()].into_iter().chain(files.iter().map(inside)).collect();

    let mut command = Command::new(python);
    command.arg("tests/dataflow/dump.py").args(&files).current_dir(root());
    let output = command.env("TF_CPP_MIN_LOG_LEVEL", "3").output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{stderr}");
    if std::env::var_os("UPDATE").is_some() {
        let is_recorded = |line: &&str| line.contains(&format!("\"file\": \"{FUNCTIONS}\""));
        let lines: Vec<&str> = stdout.lines().filter(is_recorded).collect();
        fs::write(root().join(RECORDED), lines.join("\n") + "\n").unwrap();
    }

    let (mut ours, mut theirs) = (ours(&files), Said::new(&stdout, &stderr));
    let unparsed: BTreeSet<String> =
        ours.refused.union(&theirs.refused).filter(|name| files.contains(name)).cloned().collect();
    ours.without(&unparsed);
    theirs.without(&unparsed);
    let (all, alike, differences) = compare(&ours, &theirs);
    let (functions, refused) = (theirs.functions.len(), theirs.refused.len());
    println!(
        "{functions} functions and {refused} refused ones in {} files, {} files do not parse: {alike} of {all} statements alike",
        files.len(),
        unparsed.len()
    );
    assert!(differences.is_empty() && all == alike && all > 1000, "{alike} of {all}\n{differences}");
}
