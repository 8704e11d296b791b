//! `--baseline` and `--write-baseline`: what is known is not said, and what is gone is.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fs;
use std::path::Path;

use support::{Run, folder, run};

/// Three warnings, each with another text.
const THREE: &str = "\
a = 1  # hvdlint: ignore -- no list
def f():
    b = 2  # hvdlint: ignore[] -- no list
c = 3  # hvdlint: ignore[nothing] -- no such check
";

fn check(folder: &Path, arguments: &[&str]) -> Run {
    run(folder, &[&["check", "--baseline", "known.txt", "--output", "concise"], arguments].concat())
}

fn write(folder: &Path) -> Run {
    let written = check(folder, &["--write-baseline"]);
    assert_eq!((written.status, written.stdout.as_str()), (0, ""), "{written:#?}");
    written
}

fn entries(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("known.txt")).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn what_is_known_is_not_reported_and_what_is_new_is() {
    let project = folder(&[("train.py", THREE)]);
    let written = write(project.path());
    assert_eq!(written.stderr, "known.txt: 3 entries\n");
    assert!(entries(project.path()).is_sorted());
    assert_eq!(entries(project.path()).len(), 3);
    assert_eq!(check(project.path(), &[]).status, 0);

    let moved = format!("# above\n\n\n{THREE}");
    fs::write(project.path().join("train.py"), &moved).unwrap();
    let run = check(project.path(), &[]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "lines above change nothing");

    fs::write(project.path().join("train.py"), format!("{moved}d = 4  # hvdlint: ignore -- new\n")).unwrap();
    let run = check(project.path(), &[]);
    assert_eq!((run.status, run.stdout.lines().count()), (1, 1), "{run:#?}");
    assert!(run.stdout.starts_with("train.py:8:8:"), "{run:#?}");
}

#[test]
fn stale_entries_are_reported_where_they_stand_and_pruned() {
    let project = folder(&[("train.py", THREE), ("other.py", "x = 1  # hvdlint: ignore -- no list\n")]);
    write(project.path());
    let fewer: String =
        THREE.lines().filter(|line| !line.contains("[nothing]")).flat_map(|line| [line, "\n"]).collect();
    fs::write(project.path().join("train.py"), fewer).unwrap();
    fs::remove_file(project.path().join("other.py")).unwrap();
    let run = check(project.path(), &[]);
    assert_eq!((run.status, run.stdout.lines().count()), (1, 2), "{run:#?}");
    assert!(run.stdout.contains("known.txt:3:1: warning[stale-baseline-entry] `unused-suppression` in `other.py` is no more (HVD903)"), "{run:#?}");
    for format in ["full", "json", "sarif", "github", "gitlab", "junit", "rdjson"] {
        let output = check(project.path(), &["--output", format]).stdout;
        assert!(output.contains("known.txt"), "{format}: {output}");
    }
    assert_eq!(check(project.path(), &["--ignore", "stale-baseline-entry"]).status, 0);
    assert_eq!(write(project.path()).stderr, "known.txt: 2 entries; 2 stale taken out\n");
    assert_eq!(check(project.path(), &[]).status, 0);
}

#[test]
fn a_run_on_a_part_leaves_the_rest_of_the_baseline_alone() {
    let project = folder(&[("a.py", THREE), ("b.py", THREE), ("hvdlint.toml", "")]);
    write(project.path());
    let all = entries(project.path());
    for name in ["a.py", "b.py"] {
        fs::write(project.path().join(name), "x = 1\n").unwrap();
    }
    let part = check(project.path(), &["a.py"]);
    assert_eq!(part.stdout.lines().count(), 3, "{part:#?}");
    assert!(!part.stdout.contains("b.py"), "{part:#?}");
    assert_eq!(check(project.path(), &["a.py", "--write-baseline"]).status, 0);
    assert_eq!(entries(project.path()), all[3..], "the entries of b.py are not looked at");
}

#[test]
fn entries_of_checks_that_are_not_selected_are_not_stale() {
    let project = folder(&[(
        "train.py",
        "import tensorflow as tf\ndef f():\n    import numpy\nf()\nmodel = tf.keras.Sequential()\nmodel.compile('sgd', 'mse')\nmodel.fit(tf.ones([1, 1]))\n",
    )]);
    let first = run(project.path(), &["check", "--output", "concise"]);
    assert!(first.stdout.contains("HVD001") && first.stdout.contains("HVD20"), "{first:#?}");
    write(project.path());
    assert_eq!(check(project.path(), &["--select", "unused-suppression,stale-baseline-entry"]).stdout, "");
    let all = entries(project.path());
    check(project.path(), &["--select", "restriction", "--write-baseline"]);
    assert_eq!(entries(project.path()), all, "what is hidden is kept");
}

#[test]
fn a_file_that_does_not_parse_is_always_said_and_makes_nothing_stale() {
    let project = folder(&[("train.py", THREE)]);
    write(project.path());
    fs::write(project.path().join("train.py"), "def broken(:\n").unwrap();
    let run = check(project.path(), &["--write-baseline"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("invalid-syntax") && !run.stdout.contains("stale"), "{run:#?}");
    assert_eq!(entries(project.path()).len(), 3);
}

#[test]
fn the_configuration_names_the_baseline() {
    let project = folder(&[("train.py", THREE), ("conf/x.toml", "baseline = \"known.txt\"\n")]);
    let arguments =
        |more: &[&str]| run(project.path(), &[&["check", "--config", "conf/x.toml"], more].concat());
    let missing = arguments(&[]);
    assert_eq!(missing.status, 2);
    assert!(missing.stderr.contains("known.txt` doesn't exist"), "{missing:#?}");
    assert!(missing.stderr.contains("--write-baseline"), "{missing:#?}");
    assert_eq!(arguments(&["--write-baseline"]).status, 0);
    assert!(project.path().join("conf/known.txt").exists(), "it stands beside the configuration");
    let summary = arguments(&[]).stdout;
    assert_eq!(summary, "All is well: nothing to report in 1 file; 3 in the baseline\n");
}

#[test]
fn a_baseline_without_a_file_or_with_a_broken_line_is_an_error() {
    let project = folder(&[("train.py", THREE), ("known.txt", "# heading\nnonsense\n")]);
    let nowhere = run(project.path(), &["check", "--write-baseline"]);
    assert_eq!(nowhere.status, 2);
    assert!(nowhere.stderr.contains("--baseline FILE"), "{nowhere:#?}");
    let broken = check(project.path(), &[]);
    assert_eq!(broken.status, 2);
    assert!(broken.stderr.contains("known.txt:2:1"), "{broken:#?}");
}

#[test]
fn what_is_known_is_not_fixed() {
    let project = folder(&[("train.py", "x = 1  # hvdlint: ignore[HVD001] -- nothing to ignore\n")]);
    write(project.path());
    assert_eq!(check(project.path(), &["--fix"]).status, 0);
    let text = fs::read_to_string(project.path().join("train.py")).unwrap();
    assert!(text.contains("ignore[HVD001]"), "{text}");
}
