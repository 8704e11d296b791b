//! SARIF from outside: its fixes do what `--fix` does, its limits hold, and it says where the source comes from.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use serde_json::Value;
use support::{Files, copy_of, finish, fixtures, folder, hvdlint, run};

fn log(folder: &Path, arguments: &[&str]) -> Value {
    run(folder, &[&["check", "--isolated", "--output", "sarif"], arguments].concat()).json()
}

fn number(region: &Value, key: &str) -> usize {
    usize::try_from(region[key].as_u64().unwrap()).unwrap()
}

/// The byte of a line and a UTF-16 column, both from 1.
fn byte(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let mut units = 1;
    for (at, letter) in text[start..].char_indices() {
        if units == column {
            return start + at;
        }
        units += letter.len_utf16();
    }
    assert_eq!(units, column, "the column is in the text");
    text.len()
}

/// The files after all fixes of the log, each replacement made once.
fn applied(log: &Value, folder: &Path) -> Files {
    let mut edits: BTreeMap<String, Vec<(usize, usize, String)>> = BTreeMap::new();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let fixes = result["fixes"].as_array().map_or(&[][..], Vec::as_slice);
        assert!(fixes.len() <= 1);
        for change in fixes.iter().flat_map(|fix| fix["artifactChanges"].as_array().unwrap()) {
            let uri = change["artifactLocation"]["uri"].as_str().unwrap();
            let text = fs::read_to_string(folder.join(uri)).unwrap();
            for replacement in change["replacements"].as_array().unwrap() {
                let region = &replacement["deletedRegion"];
                let start = byte(&text, number(region, "startLine"), number(region, "startColumn"));
                let end = byte(&text, number(region, "endLine"), number(region, "endColumn"));
                let content = replacement["insertedContent"]["text"].as_str().unwrap().to_owned();
                let own = edits.entry(uri.to_owned()).or_default();
                let edit = (start, end, content);
                if !own.contains(&edit) {
                    own.push(edit);
                }
            }
        }
    }
    let mut files = Files::new();
    for (uri, mut own) in edits {
        let mut text = fs::read_to_string(folder.join(&uri)).unwrap();
        own.sort_by_key(|(start, end, _)| (*start, start != end));
        for (start, end, content) in own.into_iter().rev() {
            text.replace_range(start..end, &content);
        }
        files.insert(uri, text);
    }
    files
}

/// Fixes enable others, with `--fix` as here.
fn mended_by_log(folder: &Path, arguments: &[&str]) {
    for _ in 0..10 {
        let files = applied(&log(folder, arguments), folder);
        if files.is_empty() {
            return;
        }
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    panic!("the fixes of a log never end");
}

fn texts(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
            }
        }
    }
    files
}

#[test]
fn the_fixes_of_a_log_do_what_fix_does() {
    // Every third, and those whose fixes contradict each other or are refused.
    let special = [
        "fit-steps",
        "refused-own-loss-elsewhere",
        "refused-python-2",
        "refused-shared-helper",
        "train-on-batch-gan",
    ];
    let chosen = fixtures()
        .into_par_iter()
        .enumerate()
        .filter(|(index, (name, _))| index % 3 == 0 || special.contains(&name.as_str()));
    let changed = chosen.filter(|(_, (name, path))| {
        let (by_log, by_fix) = (copy_of(path), copy_of(path));
        let before = texts(by_log.path());
        mended_by_log(by_log.path(), &[]);
        run(by_fix.path(), &["check", "--isolated", "--fix"]);
        let after = texts(by_fix.path());
        assert_eq!(texts(by_log.path()), after, "{name}");
        after != before
    });
    let changed = changed.count();
    assert!(changed > 20, "{changed} fixtures are changed");
}

#[test]
fn the_fixes_of_a_log_are_right_between_wide_characters_tabs_and_crlf() {
    let text = "import tensorflow as tf\r\ne = '🙂é'; K = 1  # hvdlint: ignore[HVD001] -- 🙂\r\nif e:\r\n\tx = '🙂'  # hvdlint: ignore[HVD001] -- 🙂\r\n\t# hvdlint: ignore[HVD001] -- 🙂\r\n\ty = 2\r\n";
    let (by_log, by_fix) = (folder(&[("a b.py", text)]), folder(&[("ab.py", text)]));
    let log = log(by_log.path(), &[]);
    let mended: Vec<String> = applied(
        &{
            let mut log = log;
            let uri = "/runs/0/results";
            for result in log.pointer_mut(uri).unwrap().as_array_mut().unwrap() {
                result["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"] = "a b.py".into();
            }
            log
        },
        by_log.path(),
    )
    .into_values()
    .collect();
    run(by_fix.path(), &["check", "--isolated", "--fix"]);
    assert_eq!(mended, [fs::read_to_string(by_fix.path().join("ab.py")).unwrap()]);
}

#[test]
fn there_are_at_most_five_thousand_results_and_the_worst_stay() {
    let comment = "x = 1  # hvdlint: ignore -- no list\n".repeat(60);
    let mut files: Vec<(String, String)> =
        (0..90).map(|number| (format!("m{number:02}.py"), comment.clone())).collect();
    files.push(("z.py".to_owned(), "def broken(:\n    pass\n".to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let project = folder(&files);
    let log = log(project.path(), &[]);
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 5_000);
    assert_eq!(results.last().unwrap()["ruleId"], "HVD901", "an error is worth more than a warning");
    let said = &run["invocations"][0]["toolExecutionNotifications"];
    let texts: Vec<&str> =
        said.as_array().unwrap().iter().map(|one| one["message"]["text"].as_str().unwrap()).collect();
    assert_eq!(
        texts,
        ["A part of 'z.py' could not be read.", "'401' results of the lowest levels are left out."]
    );
}

#[test]
fn the_line_hash_is_that_of_the_file_with_its_byte_order_mark() {
    let hash = |bytes: &[u8]| {
        let project = folder(&[("a.py", bytes)]);
        let log = log(project.path(), &[]);
        log["runs"][0]["results"][0]["partialFingerprints"]["primaryLocationLineHash"].clone()
    };
    let plain = b"x = 1  # hvdlint: ignore -- no list\n";
    let with_mark = [b"\xef\xbb\xbf".as_slice(), plain].concat();
    assert_ne!(hash(plain), hash(&with_mark), "the mark is a character of the first line");
}

#[test]
fn the_category_is_set_only_when_it_is_given() {
    let project = folder(&[("a.py", "x = 1\n")]);
    assert!(log(project.path(), &[])["runs"][0].get("automationDetails").is_none());
    for name in ["gpu", "gpu/"] {
        let log = log(project.path(), &["--sarif-category", name]);
        assert_eq!(log["runs"][0]["automationDetails"]["id"], "gpu/");
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"];
    let status = Command::new("git").current_dir(folder).args(identity).args(arguments).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

#[test]
fn the_log_says_which_revision_it_is_about() {
    let project = folder(&[("ml/hvdlint.toml", ""), ("ml/a.py", "x = 1\n")]);
    git(project.path(), &["init", "--quiet", "--initial-branch", "topic"]);
    let provenance = |environment: &[(&str, &str)]| {
        let mut command = hvdlint();
        command.current_dir(project.path()).args(["check", "ml", "--output", "sarif"]);
        finish(command.envs(environment.iter().copied())).json()["runs"][0]["versionControlProvenance"]
            .clone()
    };
    assert_eq!(provenance(&[]), Value::Null, "a repository without a remote has no address");
    git(project.path(), &["remote", "add", "origin", "https://me:secret@example.com/o/r.git"]);
    git(project.path(), &["add", "."]);
    git(project.path(), &["commit", "--quiet", "--message", "one"]);
    let own = provenance(&[]);
    assert_eq!(own[0]["repositoryUri"], "https://example.com/o/r");
    assert_eq!(own[0]["branch"], "topic");
    assert_eq!(own[0]["revisionId"].as_str().unwrap().len(), 40);
    assert_eq!(own[0]["mappedTo"]["uriBaseId"], "%SRCROOT%");
    let runner = [
        ("GITHUB_SERVER_URL", "https://example.com"),
        ("GITHUB_REPOSITORY", "o/r"),
        ("GITHUB_SHA", "0123"),
        ("GITHUB_REF_NAME", "7/merge"),
        ("GITHUB_HEAD_REF", "feature"),
    ];
    assert_eq!(provenance(&runner)[0]["branch"], "feature", "a runner's checkout is on no branch");
    let elsewhere = [("GITHUB_SERVER_URL", "https://example.com"), ("GITHUB_REPOSITORY", "other/one")];
    assert_eq!(provenance(&elsewhere), own, "the checkout is of another repository");
}

#[test]
fn the_fixes_of_a_log_are_right_in_notebooks() {
    let source = |lines: &[&str]| serde_json::json!({"cell_type": "code", "metadata": {}, "outputs": [], "source": lines});
    let cells = [
        source(&["%matplotlib inline\n", "import tensorflow as tf"]),
        source(&["net = tf.keras.Sequential([])\n", "net.compile('sgd', 'mse')"]),
        source(&[
            "x = '🙂'; print(x)\n",
            "for epoch in range(2):\n",
            "\tprint('\\t🙂')\n",
            "\tnet.fit([1.0], [1.0])",
        ]),
    ];
    let book = serde_json::json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    let book = serde_json::to_string_pretty(&book).unwrap();
    let (by_log, by_fix) = (folder(&[("book.ipynb", &book)]), folder(&[("book.ipynb", &book)]));
    mended_by_log(by_log.path(), &[]);
    run(by_fix.path(), &["check", "--isolated", "--fix"]);
    let after = |folder: &Path| fs::read_to_string(folder.join("book.ipynb")).unwrap();
    assert_ne!(after(by_fix.path()), book);
    assert_eq!(after(by_log.path()), after(by_fix.path()));
}
