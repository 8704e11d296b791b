//! Call graphs of small packages, exactly: what runs of them call, as `callgraph.json` says.
//!
//! Each case is a folder `tests/callgraph/<category>/<case>`. The graph has the calls that the source shows; for
//! operators, properties and contexts also those that the language makes where nothing looks like a call. With
//! `UPDATE_CALLGRAPHS=1` the files are written anew, to be read with care.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hvdlint::analysis;
use hvdlint::program::{Adjacency, Via, adjacency};
use hvdlint::project::{ConfigSource, OpenOptions, Project};

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn graph(case: &Path, via: Via) -> Adjacency {
    let options = OpenOptions {
        config: ConfigSource::Isolated,
        package: Some(case.to_owned()),
        ..OpenOptions::default()
    };
    let project = Project::open(&[case.to_owned()], &options).unwrap();
    assert!(!project.files().is_empty(), "{} has no files", case.display());
    analysis::with_facts(&project, |facts| adjacency(facts.modules, &facts.solution, via)).unwrap()
}

fn edges(graph: &Adjacency) -> BTreeSet<(String, String)> {
    let pairs = graph.iter().flat_map(|(from, to)| to.iter().map(move |to| (from.clone(), to.clone())));
    pairs.collect()
}

#[test]
fn graphs_are_exactly_what_runs_call() {
    let update = std::env::var_os("UPDATE_CALLGRAPHS").is_some();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/callgraph");
    let mut differences = String::new();
    let mut count = 0;
    for category in folders(&root) {
        let name = category.file_name().unwrap().to_str().unwrap().to_owned();
        let via = if matches!(&*name, "async" | "operators" | "properties" | "with") {
            Via::Operator
        } else {
            Via::Protocol
        };
        for case in folders(&category) {
            count += 1;
            let actual = graph(&case, via);
            let path = case.join("callgraph.json");
            if update {
                fs::write(&path, serde_json::to_string_pretty(&actual).unwrap() + "\n").unwrap();
                continue;
            }
            let expected: Adjacency = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            if actual == expected {
                continue;
            }
            differences += &format!("{name}/{}\n", case.file_name().unwrap().display());
            let (actual_edges, expected_edges) = (edges(&actual), edges(&expected));
            for (from, to) in actual_edges.difference(&expected_edges) {
                differences += &format!("  + {from} -> {to}\n");
            }
            for (from, to) in expected_edges.difference(&actual_edges) {
                differences += &format!("  - {from} -> {to}\n");
            }
            for node in expected.keys().filter(|node| !actual.contains_key(*node)) {
                differences += &format!("  - node {node}\n");
            }
            for node in actual.keys().filter(|node| !expected.contains_key(*node)) {
                differences += &format!("  + node {node}\n");
            }
        }
    }
    assert!(count >= 90, "only {count} cases");
    assert!(differences.is_empty(), "\n{differences}");
}
