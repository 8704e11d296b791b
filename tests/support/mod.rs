//! What the harnesses share: folders of files, the fixtures, and the program in a known environment.
#![allow(dead_code, reason = "each harness uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hvdlint::analysis;
use hvdlint::checks::{CHECKS, RULES};
use hvdlint::examine::{Examined, Ignores, Wishes};
use hvdlint::finding::{Applicability, Confidence};
use hvdlint::fix::mend;
use hvdlint::project::{ConfigSource, OpenOptions, Project, SelectOptions, Selection};
use tempfile::TempDir;

/// Texts by their names.
pub type Files = BTreeMap<String, String>;

/// What the fixes that are at least so safe make of the files, in memory; only those of the selected checks.
pub fn mended(files: &Files, least: Applicability, select: Option<&str>) -> Files {
    let root = Path::new("/nowhere");
    let overlay = files.iter().map(|(name, text)| (root.join(name), text.clone())).collect();
    let options =
        OpenOptions { config: ConfigSource::Isolated, rules: RULES, overlay, ..OpenOptions::default() };
    let paths: Vec<_> = files.keys().map(|name| root.join(name)).collect();
    let project = Project::open(&paths, &options).unwrap();
    let choice = SelectOptions {
        select: select.map(|list| list.split(',').map(str::to_owned).collect()),
        ..SelectOptions::default()
    };
    let selection = Selection::new(project.config(), &choice, RULES).unwrap();
    let work = |library: &_| {
        let wishes = Wishes {
            checks: CHECKS,
            library,
            selection: &selection,
            strict: false,
            confidence: Confidence::Certain,
            ignores: Ignores::Obeyed,
            baseline: None,
            progress: None,
        };
        mend(Examined::new(project.clone(), wishes), wishes, least, None)
    };
    let mended = analysis::with_library(&project, work).unwrap();
    let mut after = files.clone();
    for change in mended.changes {
        let path = &project.file(change.file).path;
        let name = files.keys().find(|name| root.join(name) == *path).unwrap();
        after.insert(name.clone(), String::from_utf8(change.after).unwrap());
    }
    after
}

/// What a run gave.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Standard output, parsed.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

/// The program, with nothing in its environment that changes what it prints.
pub fn hvdlint() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_hvdlint"));
    for name in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RAYON_NUM_THREADS"] {
        command.env_remove(name);
    }
    for name in ["SERVER_URL", "REPOSITORY", "SHA", "REF_NAME", "HEAD_REF"] {
        command.env_remove(format!("GITHUB_{name}"));
    }
    command.env("COLUMNS", "100");
    command
}

/// What the program does in `folder`.
pub fn run(folder: &Path, arguments: &[&str]) -> Run {
    finish(hvdlint().current_dir(folder).args(arguments))
}

/// Runs a command to its end.
pub fn finish(command: &mut assert_cmd::Command) -> Run {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let status = output.status.code().unwrap_or_else(|| panic!("a signal ended it: {output:?}"));
    Run { status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A folder with these files.
pub fn folder<Text: AsRef<[u8]>>(files: &[(&str, Text)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The package's own folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders in `fixtures/`, by name.
pub fn fixtures() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(root().join("fixtures")).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), path);
    let mut found: Vec<_> = entries.filter(|path| path.is_dir()).map(named).collect();
    found.sort();
    found
}

/// Copies a folder out of the repository, so that it is a project of its own.
pub fn copy_of(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_into(folder, copy.path());
    copy
}

fn copy_into(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_into(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The findings of a project's ranks and traced code, as `path:line code`, with the least confidence.
pub fn found(files: &[(&str, &str)], confidence: &str) -> Vec<String> {
    let project = folder(files);
    let arguments =
        ["check", "--isolated", "--select", "ranks,graph", "--confidence", confidence, "--output", "json"];
    let report = run(project.path(), &arguments).json();
    let findings = report["findings"].as_array().unwrap();
    let shown = findings.iter().map(|own| {
        let path = own["path"].as_str().unwrap();
        format!("{path}:{} {}", own["start"]["line"], own["code"].as_str().unwrap())
    });
    shown.collect()
}
