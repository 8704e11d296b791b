//! What holds for the fixes of every program: they parse, are final, keep every comment, and respect how a file is
//! written.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hvdlint::checks::RULES;
use hvdlint::{semantic, syntax};
use support::{fixtures, folder, run};

type Files = BTreeMap<String, String>;

fn python_files(place: &Path, prefix: &str, found: &mut Files) {
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            python_files(&path, &format!("{name}/"), found);
        } else if name.ends_with(".py") {
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

/// What all fixes make of the files.
fn fixed(files: &Files, arguments: &[&str]) -> Files {
    let given: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let project = folder(&given);
    let answer = run(project.path(), &[&["check", "--isolated", "--fix"], arguments].concat());
    assert!(answer.status < 2, "{answer:#?}");
    let mut found = Files::new();
    python_files(project.path(), "", &mut found);
    found
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

#[test]
fn fixes_parse_are_final_and_keep_comments() {
    let mut changed = 0;
    for (name, files) in programs() {
        for arguments in [&[][..], &["--unsafe-fixes"], &["--strict"]] {
            let after = fixed(&files, arguments);
            changed += usize::from(after != files);
            for (file, text) in &after {
                let before = &files[file];
                let errors = |text: &str| semantic::analyse(text).errors.len();
                assert!(errors(text) <= errors(before), "{name} {arguments:?} {file}:\n{text}");
                if arguments.is_empty() {
                    assert_eq!(lost(before, text), [] as [String; 0], "{name} {file}:\n{text}");
                }
            }
            assert_eq!(fixed(&after, arguments), after, "{name} {arguments:?}: a second time changes more");
        }
    }
    assert!(changed > 50, "only {changed} programs are changed");
}

#[test]
fn line_ends_and_missing_ones_are_kept() {
    for (name, files) in programs() {
        if files.values().any(|text| text.contains("\\\n")) {
            continue;
        }
        let map = |files: &Files, how: fn(&str) -> String| -> Files {
            files.iter().map(|(name, text)| (name.clone(), how(text))).collect()
        };
        let after = fixed(&files, &["--unsafe-fixes"]);
        let windows: fn(&str) -> String = |text| text.replace('\n', "\r\n");
        assert_eq!(fixed(&map(&files, windows), &["--unsafe-fixes"]), map(&after, windows), "{name}: CR LF");
    }
}
