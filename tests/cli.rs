//! The program from outside: what it prints, and the status that it ends with.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use support::{finish, folder, hvdlint, root, run};

/// A warning: the comment names no check.
const WARNING: &str = "x = 1  # hvdlint: ignore -- no list\n";
/// An error that can be had without any check.
const ERROR: &str = "def broken(:\n    pass\n";
const CLEAN: &str = "x = 1\n";

#[test]
fn the_status_is_the_same_in_every_format() {
    let cases = [(CLEAN, 0), (WARNING, 1), (ERROR, 1)];
    for format in ["full", "concise", "json", "sarif", "github", "gitlab", "junit", "rdjson"] {
        for (text, status) in cases {
            let project = folder(&[("train.py", text)]);
            let run = run(project.path(), &["check", "--output", format]);
            assert_eq!(run.status, status, "{format}: {text}\n{run:#?}");
            assert_eq!(run.stderr, "", "{format}: {text}");
        }
        let run = run(root(), &["check", "--output", format, "no/such/folder"]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{format}");
    }
}

#[test]
fn nothing_to_say_is_said() {
    let project = folder(&[("train.py", CLEAN)]);
    let run = run(project.path(), &["check"]);
    assert_eq!(run.stdout, "All is well: nothing to report in 1 file\n");
}

#[test]
fn a_missing_path_is_an_error_with_help() {
    let run = run(root(), &["check", "trian.py"]);
    assert_eq!(run.status, 2);
    assert_eq!(
        run.stderr,
        "hvdlint: error: `trian.py` doesn't exist\n  help: check the spelling; paths are relative to the current \
         directory\n"
    );
}

#[test]
fn a_folder_without_python_is_an_error() {
    let project = folder(&[("notes.txt", "")]);
    let run = run(project.path(), &["check"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("there is no Python file in"), "{run:#?}");
    assert!(run.stderr.contains("help: "), "{run:#?}");
}

#[test]
fn a_folder_with_the_name_of_a_file_is_a_folder() {
    let project = folder(&[("x.py/inner.py", ERROR), ("y.py", CLEAN)]);
    for path in [".", "x.py"] {
        let run = run(project.path(), &["check", "--output", "concise", path]);
        assert_eq!(run.status, 1, "{run:#?}");
        assert!(run.stdout.contains("inner.py:1:"), "{run:#?}");
    }
}

#[test]
fn an_unknown_option_is_an_error_with_a_suggestion() {
    let run = run(root(), &["check", "--selct", "ALL"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("--select"), "{run:#?}");
}

#[test]
fn an_unknown_check_is_an_error_with_a_suggestion() {
    let project = folder(&[("train.py", CLEAN)]);
    let select = run(project.path(), &["check", "--select", "invalid-sytnax"]);
    assert_eq!(select.status, 2);
    assert!(select.stderr.contains("did you mean `invalid-syntax`?"), "{select:#?}");
    let explain = run(project.path(), &["explain", "invalid-sytnax"]);
    assert_eq!(explain.status, 2);
    assert!(explain.stderr.contains("did you mean `invalid-syntax`?"), "{explain:#?}");
}

#[test]
fn a_mistake_in_the_configuration_is_shown_with_its_line() {
    let cases = [
        ("[tool.hvdlint]\nstrikt = true\n", "strict"),
        ("[tool.hvdlint]\nignore = [\"invalid-sytnax\"]\n", "invalid-syntax"),
        ("[tool.hvdlint]\nconfidence = \"sure\"\n", "certain"),
        ("[tool.hvdlint\n", "pyproject.toml:1"),
    ];
    for (text, wanted) in cases {
        let project = folder(&[("train.py", CLEAN), ("pyproject.toml", text)]);
        let run = run(project.path(), &["check"]);
        assert_eq!(run.status, 2, "{text}");
        assert!(run.stderr.contains("pyproject.toml:"), "{text}: {run:#?}");
        assert!(run.stderr.contains(wanted), "{text}: {run:#?}");
    }
}

#[test]
fn rows_of_the_configuration_teach_names() {
    let text = "[[tool.hvdlint.api]]\nname = \"own.Lamb\"\nkind = \"optimizer\"\n";
    let train = "import tensorflow as tf\nfrom own import Lamb\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n\
                 model.compile(optimizer=Lamb(0.1), loss='mse')\nmodel.fit(tf.ones([8, 4]), tf.ones([8, 1]))\n";
    let taught = folder(&[("train.py", train), ("pyproject.toml", text)]);
    let program = &run(taught.path(), &["loops", "--output", "json"]).json()["programs"][0];
    assert_eq!(program["optimizers"][0]["class"], "own.Lamb", "{program:#}");
    let untaught = folder(&[("train.py", train)]);
    let program = &run(untaught.path(), &["loops", "--output", "json"]).json()["programs"][0];
    assert_eq!(program["optimizers"], serde_json::json!([]), "a class that nobody knows is no optimizer");

    let unknown = text.replace("kind = \"optimizer\"", "kind = \"optimizer\"\nbase = \"own.Nothing\"");
    let project = folder(&[("train.py", train), ("pyproject.toml", &unknown)]);
    let run = run(project.path(), &["check"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("no row is the class `own.Nothing`"), "{run:#?}");
    assert!(run.stderr.contains("pyproject.toml:1:"), "{run:#?}");
}

#[test]
fn every_kind_of_row_is_honoured_by_the_checks() {
    let row = |name: &str, more: &str| format!("[[api]]\nname = \"own.{name}\"\nkind = {more}\n");
    let rows = [
        row("Lamb", "\"optimizer\""),
        row("Net", "\"model\""),
        row("load", "\"dataset\"\nreturns = \"tensorflow.data.Dataset\""),
        row("keep", "\"file-writer\""),
    ];
    let train = "import own\nimport tensorflow as tf\ndata = own.load()\nother = data\nnet = own.Net()\n\
                 net.compile(optimizer=own.Lamb(0.1), loss='mse')\nnet.fit(data)\nown.keep(net, 'file')\n";
    let found = |rows: &str| {
        let project = folder(&[("train.py", train), ("hvdlint.toml", rows)]);
        run(project.path(), &["check", "--output", "concise"]).stdout
    };
    let all = found(&rows.concat());
    for wanted in [
        "train.py:4:1: warning[object-not-assigned-once] variable `other` is a second name of the dataset",
        "train.py:6:23: warning[optimizer-not-distributed]",
        "train.py:7:1: warning[fit-without-broadcast]",
        "train.py:8:1: warning[output-on-every-rank] every rank writes the same file",
    ] {
        assert!(all.contains(wanted), "{wanted}\n{all}");
    }
    let without = |index: usize| {
        let others =
            rows.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, row)| row.as_str());
        found(&others.collect::<String>())
    };
    assert!(!without(0).contains("the gradients of this optimizer"), "{}", without(0));
    assert!(!without(1).contains("fit-without-broadcast"), "without a model nothing trains: {}", without(1));
    assert!(!without(2).contains("the dataset"), "{}", without(2));
    assert!(!without(3).contains("the same file"), "{}", without(3));
}

#[test]
fn levels_and_files_can_be_chosen_for_a_check() {
    let warnings = |configuration: &str, path: &str| {
        let project = folder(&[("a.py", WARNING), ("tests/b.py", WARNING), ("hvdlint.toml", configuration)]);
        let run = run(project.path(), &["check", "--output", "concise", path]);
        (
            run.status,
            run.stdout.lines().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect::<Vec<_>>(),
        )
    };
    let warning = "warning[unused-suppression]".to_owned();
    assert_eq!(warnings("", "."), (1, vec![warning.clone(), warning.clone()]));
    assert_eq!(warnings("levels = { HVD902 = \"off\" }", "."), (0, vec![]));
    assert_eq!(
        warnings("levels = { unused-suppression = \"note\" }", "a.py"),
        (0, vec!["note[unused-suppression]".to_owned()])
    );
    assert_eq!(warnings("per-file-ignores = { \"tests/**\" = [\"tool\"] }", "."), (1, vec![warning.clone()]));
    assert_eq!(warnings("extend-exclude = [\"tests\"]", "."), (1, vec![warning]));
}

#[test]
fn standard_input_is_analysed_under_its_name() {
    let project = folder(&[("other.py", CLEAN), ("hvdlint.toml", "")]);
    let given = |arguments: &[&str], text: &str| {
        finish(hvdlint().current_dir(project.path()).args(arguments).write_stdin(text))
    };
    let named = given(&["check", "-", "--stdin-filename", "pkg/train.py", "--output", "concise"], ERROR);
    assert_eq!(named.status, 1);
    assert!(named.stdout.starts_with("pkg/train.py:1:"), "{named:#?}");
    let unnamed = given(&["check", "-", "--output", "concise"], ERROR);
    assert_eq!(unnamed.status, 1);
    assert!(unnamed.stdout.starts_with("<stdin>:1:"), "{unnamed:#?}");
    assert_eq!(given(&["check", "-"], "").status, 0, "nothing is a program");
}

#[test]
fn standard_input_stands_in_for_the_file_of_its_name() {
    let project = folder(&[("train.py", ERROR)]);
    let mut command = hvdlint();
    command
        .current_dir(project.path())
        .args(["check", "-", "--stdin-filename", "train.py"])
        .write_stdin(CLEAN);
    assert_eq!(finish(&mut command).status, 0);
}

#[test]
fn checks_can_be_chosen() {
    let project = folder(&[("train.py", WARNING)]);
    let status = |arguments: &[&str]| run(project.path(), &[&["check"], arguments].concat()).status;
    assert_eq!(status(&["--select", "tool"]), 1);
    assert_eq!(status(&["--select", "HVD902"]), 1);
    assert_eq!(status(&["--select", "HVD9", "--ignore", "unused-suppression"]), 0, "the narrower word wins");
    assert_eq!(status(&["--select", "HVD901"]), 0);
    assert_eq!(status(&["--select", "HVD901", "--extend-select", "HVD902"]), 1);
    assert_eq!(status(&["--ignore", "ALL"]), 0);
}

#[test]
fn what_does_not_parse_is_said_whatever_is_chosen() {
    let project = folder(&[("train.py", ERROR)]);
    let run = run(project.path(), &["check", "--select", "unused-suppression"]);
    assert_eq!(run.status, 1);
}

#[test]
fn the_level_that_fails_can_be_chosen() {
    let status = |text: &str, arguments: &[&str]| {
        let project = folder(&[("train.py", text)]);
        let run = run(project.path(), &[&["check", "--output", "concise"], arguments].concat());
        assert_ne!(run.stdout, "", "findings are shown whatever fails");
        run.status
    };
    assert_eq!(status(WARNING, &["--fail-on", "error"]), 0);
    assert_eq!(status(WARNING, &["--fail-on", "warning"]), 1);
    assert_eq!(status(ERROR, &["--fail-on", "error"]), 1);
    assert_eq!(status(ERROR, &["--exit-zero"]), 0);
}

#[test]
fn findings_can_be_counted() {
    let project = folder(&[("a.py", WARNING), ("b.py", WARNING), ("c.py", ERROR)]);
    let run = run(project.path(), &["check", "--output", "concise", "--statistics"]);
    assert!(run.stdout.contains("2  HVD902  unused-suppression"), "{run:#?}");
    assert!(run.stdout.contains("1  HVD901  invalid-syntax"), "{run:#?}");
}

#[test]
fn suppressed_findings_are_hidden_shown_or_counted_as_findings() {
    let text = format!("# hvdlint: ignore-file[invalid-syntax] -- a template\n{ERROR}");
    let project = folder(&[("train.py", text)]);
    let hidden = run(project.path(), &["check"]);
    assert_eq!(hidden.status, 0, "{hidden:#?}");
    let shown = run(project.path(), &["check", "--show-suppressed"]);
    assert_eq!(shown.status, 0);
    assert!(shown.stdout.contains("suppressed[invalid-syntax]"), "{shown:#?}");
    assert!(shown.stdout.contains("a template"), "{shown:#?}");
    let ignored = run(project.path(), &["check", "--no-ignores", "--output", "concise"]);
    assert_eq!(ignored.status, 1);
    assert_eq!(ignored.stdout.lines().count(), 1, "an unused comment is no fault then: {ignored:#?}");
}

#[test]
fn several_outputs_are_written_at_once() {
    let project = folder(&[("train.py", ERROR)]);
    let arguments =
        ["check", "--output", "concise", "--output", "json=out.json", "--output", "sarif=out.sarif"];
    let run = run(project.path(), &arguments);
    assert_eq!(run.status, 1);
    assert_eq!(run.stdout.lines().count(), 1, "{run:#?}");
    for name in ["out.json", "out.sarif"] {
        let text = fs::read_to_string(project.path().join(name)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(value.is_object(), "{name}");
    }
}

#[test]
fn an_output_that_can_t_be_written_is_an_error() {
    let project = folder(&[("train.py", CLEAN)]);
    let run = run(project.path(), &["check", "--output", "json=no/such/folder/out.json"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("no/such/folder/out.json"), "{run:#?}");
}

#[test]
fn quiet_prints_findings_only() {
    let clean = folder(&[("train.py", CLEAN)]);
    let quiet = run(clean.path(), &["check", "-q"]);
    assert_eq!((quiet.status, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    let broken = folder(&[("train.py", ERROR)]);
    assert!(run(broken.path(), &["check", "-q"]).stdout.contains("invalid-syntax"));
}

#[test]
fn a_verbose_run_says_what_it_does_and_how_long_it_takes() {
    let project = folder(&[("train.py", ERROR)]);
    let verbose = run(project.path(), &["check", "--verbose"]);
    assert!(verbose.stderr.contains("hvdlint: 1 Python files in "), "{verbose:#?}");
    assert!(verbose.stderr.contains("hvdlint: found 1 in 0."), "{verbose:#?}");
    assert_eq!(run(project.path(), &["check", "--verbose", "--quiet"]).status, 2);
}

#[test]
fn colors_follow_the_option_then_the_environment() {
    let project = folder(&[("train.py", ERROR)]);
    let is_colored = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = hvdlint();
        command.current_dir(project.path()).arg("check").args(arguments).envs(environment.iter().copied());
        finish(&mut command).stdout.contains('\u{1b}')
    };
    assert!(!is_colored(&[], &[]), "a pipe has no colors");
    assert!(is_colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!is_colored(&["--color", "never"], &[("FORCE_COLOR", "1")]));
    assert!(is_colored(&[], &[("FORCE_COLOR", "1")]));
    assert!(!is_colored(&[], &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]));
    assert!(!is_colored(&["--output", "json"], &[("FORCE_COLOR", "1")]), "machines read no colors");
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let files: Vec<(String, &str)> = (0..400).map(|index| (format!("m{index}.py"), ERROR)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let project = folder(&files);
    let mut child = Command::new(env!("CARGO_BIN_EXE_hvdlint"))
        .current_dir(project.path())
        .args(["check"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
}

#[test]
fn only_given_paths_are_reported_unless_the_project_is_asked_for() {
    let project = folder(&[("a.py", ERROR), ("b.py", ERROR), ("hvdlint.toml", "")]);
    let lines = |arguments: &[&str]| {
        run(project.path(), &[&["check", "--output", "concise"], arguments].concat()).stdout.lines().count()
    };
    assert_eq!(lines(&["a.py"]), 1);
    assert_eq!(lines(&["a.py", "--project"]), 2);
}

#[test]
fn excluded_files_are_left_out_even_by_name_when_forced() {
    let project = folder(&[("a.py", ERROR), ("b.py", CLEAN), ("hvdlint.toml", "exclude = [\"a.py\"]")]);
    let status = |arguments: &[&str]| run(project.path(), &[&["check"], arguments].concat()).status;
    assert_eq!(status(&["."]), 0);
    assert_eq!(status(&["a.py"]), 1, "a file that is named is meant");
    assert_eq!(status(&["a.py", "--force-exclude"]), 0);
    assert_eq!(status(&[".", "--isolated"]), 1);
}

#[test]
fn loops_are_listed_for_people_and_for_programs() {
    let project = support::copy_of(&root().join("fixtures/mnist"));
    let full = run(project.path(), &["loops"]);
    assert_eq!(full.status, 0);
    assert!(full.stdout.starts_with("train.py: gradient-tape\n"), "{full:#?}");
    assert!(full.stdout.contains("called at train.py:"), "{full:#?}");

    let value = run(project.path(), &["loops", "--output", "json"]).json();
    assert_eq!(value["version"], 1);
    let programs = value["programs"].as_array().unwrap();
    assert_eq!(programs.len(), 1, "{value:#}");
    let program = programs[0].as_object().unwrap();
    let wanted = [
        "entry",
        "pattern",
        "already_distributed",
        "loops",
        "models",
        "optimizers",
        "datasets",
        "distributable",
        "blocked_by",
    ];
    for key in wanted {
        assert!(program.contains_key(key), "{key} is missing: {value:#}");
    }
    assert_eq!(program["entry"], "train.py");
    assert_eq!(program["already_distributed"], false);
    for key in ["path", "line", "function", "kind"] {
        assert!(program["loops"][0].get(key).is_some(), "{key} is missing: {value:#}");
    }
    assert!(
        ["models", "optimizers", "datasets"].iter().all(|key| !program[*key].as_array().unwrap().is_empty())
    );
    assert_eq!(program["distributable"], program["blocked_by"].as_array().unwrap().is_empty());
}

#[test]
fn a_program_is_blocked_by_what_check_reports() {
    // Whether a stranger's `as_dataset` makes a dataset is only possible.
    let program = r#"
import os
import sys
import tensorflow as tf
import tensorflow_datasets as tfds

def load():
    if not os.path.exists("digits"):
        sys.exit()
    data = tfds.builder("mnist").as_dataset(split="train")
    return data

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(load())
"#;
    let blocked_by = |configuration: &str| {
        let project = folder(&[("train.py", program), ("hvdlint.toml", configuration)]);
        run(project.path(), &["loops", "--output", "json"]).json()["programs"][0]["blocked_by"].clone()
    };
    assert_eq!(blocked_by(""), serde_json::json!([]));
    assert_eq!(blocked_by("confidence = \"possible\""), serde_json::json!(["HVD007"]));
}

#[test]
fn a_program_that_uses_horovod_is_said_to() {
    let project = support::copy_of(&root().join("fixtures/clean-horovod"));
    let value = run(project.path(), &["loops", "--output", "json"]).json();
    assert_eq!(value["programs"][0]["already_distributed"], true, "{value:#}");
}

#[test]
fn no_training_loop_is_said() {
    let project = folder(&[("train.py", CLEAN)]);
    let run = run(project.path(), &["loops"]);
    assert_eq!((run.status, run.stdout.contains("No training loop found")), (0, true), "{run:#?}");
}

#[test]
fn graphs_are_written_in_every_format() {
    let project = support::copy_of(&root().join("fixtures/clean-trainer"));
    for (kind, key, value) in [
        ("calls", "main", "main.main"),
        ("classes", "trainer.ImageTrainer", "trainer.Trainer"),
        ("imports", "main", "trainer"),
    ] {
        let json = run(project.path(), &["graph", kind, "--format", "json"]).json();
        let targets = json[key].as_array().unwrap_or_else(|| panic!("{kind}: no {key} in {json:#}"));
        assert!(targets.iter().any(|target| target == value), "{kind}: {json:#}");
        let dot = run(project.path(), &["graph", kind, "--format", "dot"]);
        assert!(dot.stdout.starts_with("digraph"), "{dot:#?}");
        let mermaid = run(project.path(), &["graph", kind, "--format", "mermaid"]);
        assert!(mermaid.stdout.contains("flowchart"), "{mermaid:#?}");
    }
}

#[test]
fn a_graph_is_about_the_given_files_and_what_they_import() {
    let project = folder(&[
        ("hvdlint.toml", ""),
        ("a.py", "import b\nb.f()\n"),
        ("b.py", "def f():\n    pass\n"),
        ("c.py", "def g():\n    print(1)\n"),
    ]);
    let json = run(project.path(), &["graph", "calls", "a.py"]).json();
    assert_eq!(json, serde_json::json!({"a": ["b.f"], "b": [], "b.f": []}));
}

#[test]
fn names_in_a_graph_are_relative_to_the_package() {
    let project = folder(&[("src/pkg/__init__.py", ""), ("src/pkg/a.py", "def f():\n    pass\nf()\n")]);
    let json = run(project.path(), &["graph", "calls", "--package", "src", "src/pkg/a.py"]).json();
    assert_eq!(json["pkg.a"], serde_json::json!(["pkg.a.f"]), "{json:#}");
}

#[test]
fn a_picture_needs_graphviz_and_says_so() {
    let project = support::copy_of(&root().join("fixtures/mnist"));
    if Command::new("dot").arg("-V").output().is_ok() {
        let drawn = run(project.path(), &["graph", "calls", "--format", "svg"]);
        assert_eq!(drawn.status, 0);
        assert!(drawn.stdout.contains("<svg"), "{drawn:#?}");
    }
    let mut command = hvdlint();
    command
        .current_dir(project.path())
        .args(["graph", "calls", "--format", "svg"])
        .env("PATH", project.path());
    let missing = finish(&mut command);
    assert_eq!(missing.status, 2);
    assert!(missing.stderr.contains("Graphviz") && missing.stderr.contains("help: "), "{missing:#?}");
}

#[test]
fn a_page_is_explained_by_name_or_code_and_all_are_listed() {
    let by_name = run(root(), &["explain", "unused-suppression"]);
    assert_eq!(by_name.status, 0);
    assert!(by_name.stdout.contains("HVD902"), "{by_name:#?}");
    assert_eq!(run(root(), &["explain", "HVD902"]), by_name);
    assert_eq!(run(root(), &["explain", "hvd902"]), by_name);
    let list = run(root(), &["explain"]).stdout;
    for rule in hvdlint::checks::RULES {
        assert!(list.contains(rule.name) && list.contains(rule.code), "{} is not in the list", rule.name);
    }
}

#[test]
fn shells_get_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = run(root(), &["completions", shell]);
        assert_eq!(run.status, 0);
        assert!(run.stdout.contains("hvdlint"), "{shell}");
    }
}

#[test]
fn the_configuration_is_shown_with_its_origin() {
    let project = folder(&[("train.py", CLEAN), ("hvdlint.toml", "strict = true\n")]);
    let shown = run(project.path(), &["config", "show"]);
    assert_eq!(shown.status, 0);
    assert!(shown.stdout.contains("hvdlint.toml") && shown.stdout.contains("strict = true"), "{shown:#?}");
    let isolated = run(project.path(), &["config", "show", "--isolated"]);
    assert!(isolated.stdout.contains("strict = false  # default"), "{isolated:#?}");
    assert!(shown.stdout.contains("confidence = \"certain\"  # default\n"), "{shown:#?}");
    assert!(shown.stdout.contains("strict = true\n"), "a key of the file is no default: {shown:#?}");
}

#[test]
fn the_schema_of_the_configuration_is_printed() {
    let schema = run(root(), &["config", "schema"]).json();
    let keys: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, hvdlint::project::config::KEYS.map(|key| key.name));
    let checks = schema["definitions"]["check"]["anyOf"][0]["enum"].as_array().unwrap();
    for word in ["ALL", "restriction", "HVD005", "import-not-at-top"] {
        assert!(checks.iter().any(|check| check == word), "{word}");
    }
}

#[test]
fn manual_pages_are_printed() {
    let page = run(root(), &["man"]);
    assert_eq!((page.status, page.stderr.as_str()), (0, ""));
    assert!(page.stdout.contains(".TH hvdlint 1"), "{page:#?}");
    let check = run(root(), &["man", "check"]);
    assert!(check.stdout.contains("unsafe\\-fixes"), "{check:#?}");
    let unknown = run(root(), &["man", "chekc"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.stderr.contains("there is no command `chekc`"), "{unknown:#?}");
}

#[test]
fn what_is_shown_as_configuration_can_be_read_back() {
    let project = folder(&[("train.py", CLEAN), ("hvdlint.toml", "strict = true\nexclude = [\"a b\"]\n")]);
    let shown = run(project.path(), &["config", "show"]).stdout;
    fs::write(project.path().join("again.toml"), &shown).unwrap();
    let again = run(project.path(), &["config", "show", "--config", "again.toml"]);
    assert_eq!(again.status, 0, "{again:#?}");
    let values = |text: &str| -> Vec<String> {
        text.lines().skip(1).map(|line| line.trim_end_matches("  # default").to_owned()).collect()
    };
    assert_eq!(values(&again.stdout), values(&shown));
}
