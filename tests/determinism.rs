//! The same project gives the same bytes: whatever the number of threads, run after run, from any folder.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use rayon::prelude::*;
use support::{Run, copy_of, fixtures, root, run};

const QUESTIONS: [&[&str]; 9] = [
    &["check", "--strict", "--confidence", "possible", "--output", "full"],
    &["check", "--strict", "--confidence", "possible", "--output", "concise"],
    &["check", "--strict", "--confidence", "possible", "--output", "json"],
    &["check", "--strict", "--confidence", "possible", "--output", "sarif"],
    &["loops", "--output", "json"],
    &["loops", "--output", "full"],
    &["graph", "calls", "--format", "json"],
    &["graph", "calls", "--format", "dot"],
    &["graph", "imports", "--format", "mermaid"],
];

/// Asks about some of the fixtures together; `.ci/run` asks about all of them, but for the formats that offer fixes.
fn ask(question: &[&str], threads: &str) -> Run {
    let folders: Vec<String> =
        fixtures().into_iter().step_by(14).map(|(name, _)| format!("fixtures/{name}")).collect();
    let mut arguments = [question, &["--threads", threads]].concat();
    arguments.extend(folders.iter().map(String::as_str));
    let answer = run(root(), &arguments);
    assert!(answer.status < 2, "{answer:#?}");
    answer
}

#[test]
fn neither_the_number_of_threads_nor_the_run_shows() {
    QUESTIONS.par_iter().for_each(|question| {
        let one = ask(question, "1");
        assert!(one == ask(question, "2"), "{question:?} differs with 2 threads");
        assert!(one == ask(question, "2"), "{question:?} differs from run to run");
    });
}

#[test]
fn the_current_folder_does_not_show() {
    let elsewhere = tempfile::tempdir().unwrap();
    for (name, folder) in fixtures().into_iter().step_by(30) {
        let copy = copy_of(&folder);
        for question in [QUESTIONS[2], QUESTIONS[4], QUESTIONS[6]] {
            let path = copy.path().to_str().unwrap();
            let here = run(copy.path(), &[question, &["."]].concat());
            let there = run(elsewhere.path(), &[question, &[path]].concat());
            assert!(here == there, "{question:?} of {name} differs in another folder");
        }
    }
}
