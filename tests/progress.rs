//! The progress bar: shown to people at a terminal who have waited, and gone before anything else is printed.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use support::folder;
use tempfile::TempDir;

/// What a terminal is sent by `check` with these options.
fn terminal(folder: &Path, options: &str) -> String {
    let program = env!("CARGO_BIN_EXE_hvdlint");
    // `script` runs a command on a terminal of its own.
    let output = Command::new("script")
        .args([
            "--quiet",
            "--return",
            "--command",
            &format!("'{program}' check --threads 1 {options}"),
            "/dev/null",
        ])
        .current_dir(folder)
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A project of 40 files that this machine needs well over a second for, and what a terminal shows of its check.
fn project_that_lasts() -> (TempDir, String) {
    let names: Vec<String> = (0..40).map(|number| format!("m{number:02}.py")).collect();
    for functions in [700, 2_800, 11_200, 44_800] {
        let text = "def f(x):\n    return [x + y for y in range(10)]\n".repeat(functions);
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
        let project = folder(&files);
        let start = Instant::now();
        let shown = terminal(project.path(), "");
        if start.elapsed() > Duration::from_secs(2) {
            return (project, shown);
        }
    }
    panic!("3.5 million lines take less than two seconds")
}

#[test]
fn a_run_of_seconds_shows_a_bar_and_clears_it() {
    let (project, shown) = project_that_lasts();
    assert!(shown.contains("/40 files, "), "{shown:?}");
    let (_, behind) = shown.rsplit_once("/40 files, ").unwrap();
    assert!(behind.contains("\u{1b}[2K"), "the bar is cleared: {behind:?}");
    assert!(behind.contains("All is well"), "and then comes the report: {behind:?}");
    assert!(!terminal(project.path(), "--quiet").contains(" files, "), "not when it has to be quiet");
}

#[test]
fn a_short_run_shows_none() {
    let project = folder(&[("train.py", "x = 1\n")]);
    let shown = terminal(project.path(), "");
    assert!(shown.contains("All is well") && !shown.contains("reading"), "{shown:?}");
}
