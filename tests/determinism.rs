//! The same project gives the same bytes: whatever the number of threads, run after run, from any folder.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use support::{Run, fixtures, root, run};

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

fn ask(question: &[&str], threads: &str) -> Run {
    let answer = run(root(), &[question, &["--threads", threads, "fixtures"]].concat());
    assert!(answer.status < 2, "{answer:#?}");
    answer
}

#[test]
fn the_number_of_threads_does_not_show() {
    for question in QUESTIONS {
        let one = ask(question, "1");
        assert!(one == ask(question, "2"), "{question:?} differs with 2 threads");
    }
}

#[test]
fn two_runs_are_the_same() {
    for question in QUESTIONS {
        assert!(ask(question, "7") == ask(question, "7"), "{question:?} differs from run to run");
    }
}

#[test]
fn the_current_folder_does_not_show() {
    let elsewhere = tempfile::tempdir().unwrap();
    // Each question is about the whole repository, whatever the folder.
    for (name, folder) in fixtures().into_iter().step_by(20) {
        for question in [QUESTIONS[2], QUESTIONS[4], QUESTIONS[6]] {
            let path = folder.to_str().unwrap();
            let here = run(&folder, &[question, &["."]].concat());
            let there = run(elsewhere.path(), &[question, &[path]].concat());
            assert!(here == there, "{question:?} of {name} differs in another folder");
        }
    }
}
