//! Call graphs of small packages, exactly: what runs of them call, as `callgraph.json` says.
//!
//! Each case is a folder `tests/callgraph/<category>/<case>`. The graph has the calls that the source shows; for
//! operators, properties and contexts also those that the language makes where nothing looks like a call. With
//! `UPDATE_CALLGRAPHS=1` the files are written anew, to be read with care.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
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

fn open(case: &Path) -> Project {
    let options = OpenOptions {
        config: ConfigSource::Isolated,
        package: Some(case.to_owned()),
        ..OpenOptions::default()
    };
    let project = Project::open(&[case.to_owned()], &options).unwrap();
    assert!(!project.files().is_empty(), "{} has no files", case.display());
    project
}

fn graph(project: &Project, via: Via) -> Adjacency {
    analysis::with_facts(project, |facts| adjacency(facts.modules, &facts.solution, via)).unwrap()
}

/// The graph that a user is shown: that of the calls which a reader of the sources sees.
fn shown(package: &Path) -> Adjacency {
    let mut command = assert_cmd::Command::cargo_bin("hvdlint").unwrap();
    command.args(["graph", "calls", "--format", "json", "--package"]).args([package, package]);
    serde_json::from_slice(&command.assert().success().get_output().stdout).unwrap()
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
            let actual = graph(&open(&case), via);
            let path = case.join("callgraph.json");
            if update {
                fs::write(&path, serde_json::to_string_pretty(&actual).unwrap() + "\n").unwrap();
                continue;
            }
            let expected: Adjacency = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            if actual == expected {
                continue;
            }
            let _ = writeln!(differences, "{name}/{}", case.file_name().unwrap().display());
            let (actual_edges, expected_edges) = (edges(&actual), edges(&expected));
            for (from, to) in actual_edges.difference(&expected_edges) {
                let _ = writeln!(differences, "  + {from} -> {to}");
            }
            for (from, to) in expected_edges.difference(&actual_edges) {
                let _ = writeln!(differences, "  - {from} -> {to}");
            }
            for node in expected.keys().filter(|node| !actual.contains_key(*node)) {
                let _ = writeln!(differences, "  - node {node}");
            }
            for node in actual.keys().filter(|node| !expected.contains_key(*node)) {
                let _ = writeln!(differences, "  + node {node}");
            }
        }
    }
    assert!(count >= 90, "only {count} cases");
    assert!(differences.is_empty(), "\n{differences}");
}

/// The macro-benchmark of Salis et al., "`PyCG`" (2021): whole projects with call graphs that people wrote by hand. The
/// folder in `CALLGRAPH_PROJECTS` has one for each project, with its `callgraph.json`. Only edges within a project
/// count. `macro_errata.json` lists calls that stand in the sources and that the written graphs lack, with the reason.
#[test]
#[ignore = "the projects are others': CALLGRAPH_PROJECTS=FOLDER"]
fn graphs_of_whole_projects_are_near_to_what_people_wrote() {
    let projects = PathBuf::from(std::env::var_os("CALLGRAPH_PROJECTS").expect("CALLGRAPH_PROJECTS"));
    let errata = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/callgraph/macro_errata.json");
    let errata: BTreeMap<String, BTreeMap<String, Vec<(String, String)>>> =
        serde_json::from_str(&fs::read_to_string(errata).unwrap()).unwrap();
    let (mut right, mut extra, mut lacking, mut missing) = (0, 0, 0, 0);
    for folder in folders(&projects) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let project = open(&folder);
        let actual = shown(&folder);
        let expected: Adjacency =
            serde_json::from_str(&fs::read_to_string(folder.join("callgraph.json")).unwrap()).unwrap();
        let modules: BTreeSet<&str> = project.files().iter().map(|file| file.name.as_str()).collect();
        let is_own = |function: &str| {
            let mut prefixes = function.match_indices('.').map(|(end, _)| &function[..end]).chain([function]);
            prefixes.any(|prefix| modules.contains(prefix))
        };
        let within = |graph: &Adjacency| {
            edges(graph).into_iter().filter(|(from, to)| is_own(from) && is_own(to)).collect::<BTreeSet<_>>()
        };
        let (actual_edges, expected_edges) = (within(&actual), within(&expected));
        let reasons = errata.get(name).into_iter().flatten();
        let told: BTreeSet<_> = reasons.flat_map(|(_, edges)| edges).collect();
        assert!(told.iter().all(|edge| !expected_edges.contains(*edge)), "{name}: an erratum is none");
        right += actual_edges.intersection(&expected_edges).count();
        missing += expected_edges.difference(&actual_edges).count();
        for edge in actual_edges.difference(&expected_edges) {
            if told.contains(edge) {
                lacking += 1;
            } else {
                println!("{name}: + {} -> {}", edge.0, edge.1);
                extra += 1;
            }
        }
    }
    println!("{right} right, {missing} missing, {extra} extra and {lacking} that the written graphs lack");
    assert!(right * 100 >= (right + missing) * 88, "recall");
    assert!((right + lacking) * 100 >= (right + lacking + extra) * 98, "precision");
}
