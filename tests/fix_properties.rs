//! What holds for the fixes of every program: they parse, are final, keep every comment, and respect how a file is
//! written.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fs;
use std::path::Path;

use hvdlint::checks::RULES;
use hvdlint::finding::Applicability;
use hvdlint::{semantic, syntax};
use rayon::prelude::*;
use support::{Files, fixtures, mended, root};

fn python_files(place: &Path, prefix: &str, found: &mut Files) {
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            python_files(&path, &format!("{name}/"), found);
        } else if path.extension().is_some_and(|ending| ending == "py") {
            found.insert(name, fs::read_to_string(path).unwrap());
        }
    }
}

/// The fixtures, and the examples of all pages.
fn programs() -> Vec<(String, Files)> {
    let mut programs = Vec::new();
    for (name, place) in fixtures() {
        let mut files = Files::new();
        python_files(&place, "", &mut files);
        programs.push((name, files));
    }
    for rule in RULES {
        for (number, block) in rule.page.split("\n```python ").skip(1).enumerate() {
            let code = block.split("\n```").next().unwrap();
            let mut files = Files::new();
            let mut name = "train.py".to_owned();
            for line in code.lines().skip(1) {
                if let Some(next) = line.strip_prefix("# file: ") {
                    next.trim().clone_into(&mut name);
                } else {
                    let text = files.entry(name.clone()).or_default();
                    text.push_str(line);
                    text.push('\n');
                }
            }
            programs.push((format!("{} {number}", rule.name), files));
        }
    }
    programs
}

fn comments(text: &str) -> Vec<&str> {
    let mut comments: Vec<&str> =
        syntax::comments(text).into_iter().map(|range| text[range].trim_end()).collect();
    comments.sort_unstable();
    comments
}

/// The files in which the comments of `before` are not all in `after`.
fn lost(before: &str, after: &str) -> Vec<String> {
    let mut kept = comments(after);
    let is_lost = |comment: &&str| match kept.iter().position(|other| other == comment) {
        Some(at) => {
            kept.remove(at);
            false
        }
        None => !comment.contains("hvdlint:"),
    };
    comments(before).into_iter().filter(is_lost).map(str::to_owned).collect()
}

/// Panics unless the fixes that are at least so safe hold what is promised of them; whether they change something.
fn changes(name: &str, files: &Files, least: Applicability) -> bool {
    let after = mended(files, least, None);
    if after == *files {
        let is_run_distributed = root().join("fixtures").join(name).join("run.json").exists();
        assert!(!is_run_distributed, "{name} {least:?}: it stays as it is");
        return false;
    }
    for (file, text) in &after {
        let before = &files[file];
        let errors = |text: &str| semantic::analyse(text).errors.len();
        assert!(errors(text) <= errors(before), "{name} {least:?} {file}:\n{text}");
        if least == Applicability::Safe {
            assert_eq!(lost(before, text), [] as [String; 0], "{name} {file}:\n{text}");
        }
    }
    assert_eq!(mended(&after, least, None), after, "{name} {least:?}: a second time changes more");
    if least == Applicability::Unsafe && !files.values().any(|text| text.contains('\r')) {
        let windows = |files: &Files| -> Files {
            files.iter().map(|(name, text)| (name.clone(), text.replace('\n', "\r\n"))).collect()
        };
        assert_eq!(mended(&windows(files), least, None), windows(&after), "{name}: other line ends");
    }
    true
}

#[test]
fn fixes_parse_are_final_and_keep_comments_and_line_ends() {
    let changed: usize = programs()
        .par_iter()
        .flat_map_iter(|(name, files)| {
            [Applicability::Safe, Applicability::Unsafe].map(|least| changes(name, files, least))
        })
        .map(usize::from)
        .sum();
    assert!(changed > 100, "only {changed} programs are changed");
}
