//! All formats tell the same: one list of findings, each with its check, path and line.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{folder, run};

/// Check, path and line.
type Row = (String, String, usize);

/// Finds the rows in what a format has written.
type Reader = fn(&str) -> Vec<Row>;

const FORMATS: [&str; 8] = ["concise", "full", "json", "sarif", "github", "gitlab", "junit", "rdjson"];

/// A project with a finding for each of several checks in every one of many files.
fn project() -> tempfile::TempDir {
    let mut files = Vec::new();
    for number in 0..55 {
        let mut text = "import tensorflow as tf\n".to_owned();
        writeln!(text, "e = '🙂'; model{number} = tf.keras.Sequential([tf.keras.layers.Dense(1)])").unwrap();
        text.push_str("data = tf.data.Dataset.range(8).batch(2)\nother = data\noptimizer = tf.keras.optimizers.SGD(0.1)\n");
        writeln!(text, "model{number}.compile(optimizer, 'mse')").unwrap();
        writeln!(text, "model{number}.fit(data,\n    epochs=3)\nprint('a', optimizer)").unwrap();
        text.push_str("unused = 1  # hvdlint: ignore -- no list\nwith open('out.txt', 'w') as file:\n    file.write('x')\n");
        if number % 10 == 0 {
            text.push_str("def broken(:\n    pass\n");
        }
        files.push((format!("my pkg/50%, a:b/m{number}.py"), text));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    folder(&files)
}

/// What every format has written.
fn outputs(folder: &Path) -> BTreeMap<&'static str, String> {
    let mut arguments = vec!["check".to_owned(), "--confidence".to_owned(), "possible".to_owned()];
    arguments.extend(FORMATS.iter().map(|format| format!("--output={format}=out.{format}")));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = run(folder, &arguments);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (1, "", ""));
    let read =
        |format: &&'static str| (*format, fs::read_to_string(folder.join(format!("out.{format}"))).unwrap());
    FORMATS.iter().map(read).collect()
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// `%20` as a blank.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&tail[..2]).unwrap(), 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// `path:line:column`, from behind, because a path may have colons.
fn place(text: &str) -> (String, usize) {
    let mut parts = text.rsplitn(3, ':');
    let (_, line, path) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    (path.to_owned(), line.parse().unwrap())
}

fn json(output: &str) -> Vec<Row> {
    let log: Value = serde_json::from_str(output).unwrap();
    let row =
        |finding: &Value| (text(&finding["name"]), text(&finding["path"]), number(&finding["start"]["line"]));
    log["findings"].as_array().unwrap().iter().map(row).collect()
}

fn sarif(output: &str) -> Vec<Row> {
    let log: Value = serde_json::from_str(output).unwrap();
    let run = &log["runs"][0];
    let row = |result: &Value| {
        let rule = &run["tool"]["driver"]["rules"][number(&result["ruleIndex"])];
        assert_eq!(rule["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        let uri = decoded(place["artifactLocation"]["uri"].as_str().unwrap());
        (kebab(rule["name"].as_str().unwrap()), uri, number(&place["region"]["startLine"]))
    };
    run["results"].as_array().unwrap().iter().map(row).collect()
}

fn kebab(pascal: &str) -> String {
    let mut name = String::new();
    for letter in pascal.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

fn gitlab(output: &str) -> Vec<Row> {
    let issues: Value = serde_json::from_str(output).unwrap();
    let row = |issue: &Value| {
        let location = &issue["location"];
        (text(&issue["check_name"]), text(&location["path"]), number(&location["lines"]["begin"]))
    };
    issues.as_array().unwrap().iter().map(row).collect()
}

fn rdjson(output: &str) -> Vec<Row> {
    let log: Value = serde_json::from_str(output).unwrap();
    let row = |one: &Value| {
        let location = &one["location"];
        (text(&one["code"]["value"]), text(&location["path"]), number(&location["range"]["start"]["line"]))
    };
    log["diagnostics"].as_array().unwrap().iter().map(row).collect()
}

fn github(output: &str) -> Vec<Row> {
    let row = |line: &str| {
        let (_, rest) = line.split_once(" title=").unwrap();
        let (properties, _) = rest.split_once("::").unwrap();
        let mut parts =
            properties.split(',').map(|part| part.split_once('=').map_or(part, |(_, value)| value));
        let title = parts.next().unwrap().split(' ').nth(1).unwrap().to_owned();
        (title, decoded(parts.next().unwrap()), parts.next().unwrap().parse().unwrap())
    };
    output.lines().map(row).collect()
}

fn junit(output: &str) -> Vec<Row> {
    let attribute = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let row = |line: &str| {
        let name = attribute(line, "testcase name");
        let (check, at) = name.split_once(' ').unwrap();
        let line_number = at.rsplit(' ').next().unwrap().split(':').next().unwrap().parse().unwrap();
        (check.to_owned(), attribute(line, "classname"), line_number)
    };
    output.lines().filter(|line| line.contains("<testcase ")).map(row).collect()
}

fn concise(output: &str) -> Vec<Row> {
    let row = |line: &str| {
        let (head, rest) = line.split_once('[').unwrap();
        let (path, line) = place(head.rsplit_once(": ").unwrap().0);
        (rest.split_once(']').unwrap().0.to_owned(), path, line)
    };
    output.lines().map(row).collect()
}

/// The first place below each heading.
fn full(output: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut check = None;
    for line in output.lines() {
        let heads = ["error[", "warning[", "note["].iter().find_map(|head| line.strip_prefix(head));
        if let Some(rest) = heads {
            check = Some(rest.split_once(']').unwrap().0.to_owned());
        } else if let Some(at) = line.trim_start().strip_prefix("┌─ ")
            && let Some(check) = check.take()
        {
            let (path, line) = place(at);
            rows.push((check, path, line));
        }
    }
    rows
}

#[test]
fn all_formats_agree_on_five_hundred_findings() {
    let project = project();
    let outputs = outputs(project.path());
    let expected = sorted(json(&outputs["json"]));
    assert!(expected.len() >= 500, "{}", expected.len());
    let checks: std::collections::BTreeSet<&String> = expected.iter().map(|(check, _, _)| check).collect();
    assert!(checks.len() >= 6, "{checks:?}");
    let readers: [(&str, Reader); 7] = [
        ("concise", concise),
        ("full", full),
        ("sarif", sarif),
        ("github", github),
        ("gitlab", gitlab),
        ("junit", junit),
        ("rdjson", rdjson),
    ];
    for (format, read) in readers {
        let rows = sorted(read(&outputs[format]));
        assert_eq!(rows.len(), expected.len(), "{format}");
        let different = rows.iter().zip(&expected).find(|(own, other)| own != other);
        assert_eq!(different, None, "{format}");
    }
}

#[test]
fn fingerprints_are_unique_and_the_same_in_every_format() {
    let project = project();
    let outputs = outputs(project.path());
    let log: Value = serde_json::from_str(&outputs["json"]).unwrap();
    let mut prints: Vec<String> =
        log["findings"].as_array().unwrap().iter().map(|finding| text(&finding["fingerprint"])).collect();
    prints.sort();
    let all = prints.len();
    let issues: Value = serde_json::from_str(&outputs["gitlab"]).unwrap();
    let mut others: Vec<String> =
        issues.as_array().unwrap().iter().map(|issue| text(&issue["fingerprint"])).collect();
    others.sort();
    assert_eq!(prints, others);
    prints.dedup();
    assert_eq!(prints.len(), all);
}

#[test]
fn the_bytes_are_the_same_from_any_folder_and_in_any_checkout() {
    let (one, two) = (project(), project());
    let from_root = outputs(one.path());
    assert_eq!(from_root, outputs(two.path()));
    for format in FORMATS {
        let folder = two.path().join("my pkg");
        let output = format!("--output={format}=out.{format}");
        let status = run(&folder, &["check", "..", "--confidence", "possible", &output]).status;
        assert_eq!(status, 1);
        let inner = fs::read_to_string(folder.join(format!("out.{format}"))).unwrap();
        assert_eq!(inner, from_root[format], "{format}");
    }
}

#[test]
fn platforms_are_told_paths_from_the_root_of_the_repository() {
    let project =
        folder(&[("ml/hvdlint.toml", ""), ("ml/train.py", "def broken(:\n    pass\n"), (".git/HEAD", "")]);
    for (format, path) in [
        ("concise", "train.py"),
        ("full", "train.py"),
        ("json", "\"train.py\""),
        ("sarif", "\"ml/train.py\""),
        ("github", "=ml/train.py,"),
        ("gitlab", "\"ml/train.py\""),
        ("junit", "\"ml/train.py\""),
        ("rdjson", "\"ml/train.py\""),
    ] {
        let output = run(project.path(), &["check", "ml", "--output", format]).stdout;
        assert!(output.contains(path), "{format}: {output}");
        assert_eq!(output.contains("ml/train.py"), path.contains("ml/"), "{format}: {output}");
    }
}
