//! What a configuration says, and what is said about a broken one.

use std::path::Path;

use hvdlint::finding::{Confidence, Group, Level, Rule};
use hvdlint::project::{ApiKind, Config, ConfigError, LevelSetting};

static IMPORT: Rule = Rule {
    code: "HVD001",
    name: "import-not-at-top",
    group: Group::Restriction,
    level: Level::Error,
    page: "",
};

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, Path::new("hvdlint.toml"), &[&IMPORT])
}

fn message(text: &str) -> String {
    show(&parse(text).expect_err("a broken configuration"))
}

fn show(error: &ConfigError) -> String {
    format!("{error}\nhelp: {}", error.help)
}

const FULL: &str = r#"
select = ["ALL"]
ignore = ["HVD001"]
extend-select = ["restriction"]
strict = true
confidence = "possible"
exclude = ["old"]
extend-exclude = ["*_pb2.py"]
entry = ["train", "examples/main.py"]
baseline = "known.txt"
framework = "horovod"

[levels]
import-not-at-top = "note"
HVD0 = "off"

[per-file-ignores]
"tests/**" = ["HVD001"]

[[api]]
name = "tensorflow_addons.optimizers.LAMB"
kind = "optimizer"
base = "tensorflow.keras.optimizers.Optimizer"
parameters = ["learning_rate"]
"#;

#[test]
fn every_key_is_read() {
    let config = parse(FULL).expect("a valid configuration");
    let texts = |selectors: &[hvdlint::project::Selector]| -> Vec<String> {
        selectors.iter().map(ToString::to_string).collect()
    };
    assert_eq!(config.select.as_deref().map(texts), Some(vec!["ALL".to_owned()]));
    assert_eq!(texts(&config.ignore), ["HVD001"]);
    assert_eq!(texts(&config.extend_select), ["restriction"]);
    assert!(config.strict);
    assert_eq!(config.confidence, Confidence::Possible);
    assert_eq!(
        (config.exclude.as_slice(), config.extend_exclude.as_slice()),
        (&["old".to_owned()][..], &["*_pb2.py".to_owned()][..])
    );
    assert_eq!(config.entry, ["train", "examples/main.py"]);
    let levels: Vec<LevelSetting> = config.levels.iter().map(|(_, level)| *level).collect();
    assert_eq!(levels, [LevelSetting::At(Level::Note), LevelSetting::Off]);
    assert_eq!(config.per_file_ignores[0].pattern, "tests/**");
    assert_eq!(config.baseline.as_deref(), Some(Path::new("known.txt")));
    let row = &config.api[0];
    assert_eq!((row.name.as_str(), row.kind), ("tensorflow_addons.optimizers.LAMB", ApiKind::Optimizer));
    assert_eq!(
        (row.base.as_deref(), row.returns.as_deref()),
        (Some("tensorflow.keras.optimizers.Optimizer"), None)
    );
    assert_eq!(row.parameters, ["learning_rate"]);
}

#[test]
fn a_configuration_survives_being_written() {
    for text in [FULL, ""] {
        let written = parse(text).expect("a valid configuration").to_toml();
        assert_eq!(parse(&written).expect("what was written").to_toml(), written);
    }
    assert!(parse("").expect("an empty configuration").to_toml().contains("confidence = \"certain\""));
}

#[test]
fn pyproject_has_a_table_or_nothing() {
    let parse = |text| Config::parse(text, Path::new("a/pyproject.toml"), &[&IMPORT]);
    assert!(parse("[tool.hvdlint]\nstrict = true\n").expect("a table").strict);
    assert!(!parse("[tool.ruff]\nstrict = true\n").expect("another tool's").strict);
    assert!(parse("this is no TOML").is_ok(), "nobody asked us");
    let error = parse("[tool]\nhvdlint = 1\n").expect_err("no table");
    assert_eq!(error.what, "`tool.hvdlint` must be a table, and here is a number");
    let error = parse("[tool.hvdlint]\napi = [1]\n").expect_err("no row");
    assert_eq!(error.help, "write `[[tool.hvdlint.api]]`");
    let error = parse("[project]\nname = \"x\"\n\n[tool.hvdlint]\n  strikt = true\n").expect_err("a typo");
    assert_eq!((error.line, error.column, error.help.as_str()), (5, 3, "did you mean `strict`?"));
}

#[test]
fn an_unknown_key_is_shown_and_mended() {
    insta::assert_snapshot!(message("strict = true\nselct = [\"HVD001\"]\n"), @r#"
    there is no key `selct`
     --> hvdlint.toml:2:1
      |
    2 | selct = ["HVD001"]
      | ^^^^^
    help: did you mean `select`?
    "#);
    insta::assert_snapshot!(message("plugins = []"), @"
    there is no key `plugins`
     --> hvdlint.toml:1:1
      |
    1 | plugins = []
      | ^^^^^^^
    help: remove it; the keys are api, baseline, confidence, entry, exclude, extend-exclude, extend-select, framework, ignore, levels, per-file-ignores, select, strict
    ");
    insta::assert_snapshot!(message("[[api]]\nname = 'x'\nkinds = 'model'\n"), @r#"
    there is no key `kinds`
     --> hvdlint.toml:3:1
      |
    3 | kinds = 'model'
      | ^^^^^
    help: did you mean `kind`?
    "#);
    insta::assert_snapshot!(message("[tool.hvdlint]\nstrict = true\n"), @r#"
    there is no table `tool` in this file
     --> hvdlint.toml:1:2
      |
    1 | [tool.hvdlint]
      |  ^^^^
    help: let the keys stand at the top; `[tool.hvdlint]` is for pyproject.toml
    "#);
}

#[test]
fn an_unknown_check_is_shown_and_mended() {
    insta::assert_snapshot!(message("ignore = [\n  \"HVD001\",\n  \"import-not-at-the-top\",\n]\n"), @r#"
    there is no check, code or group `import-not-at-the-top`
     --> hvdlint.toml:3:3
      |
    3 |   "import-not-at-the-top",
      |   ^^^^^^^^^^^^^^^^^^^^^^^
    help: did you mean `import-not-at-top`?
    "#);
    insta::assert_snapshot!(message("levels = { HVD01 = \"error\" }"), @r#"
    there is no check, code or group `HVD01`
     --> hvdlint.toml:1:12
      |
    1 | levels = { HVD01 = "error" }
      |            ^^^^^
    help: did you mean `HVD001`?
    "#);
    insta::assert_snapshot!(message("[per-file-ignores]\n'é' = ['E501']\n"), @r#"
    there is no check, code or group `E501`
     --> hvdlint.toml:2:8
      |
    2 | 'é' = ['E501']
      |        ^^^^^^
    help: run `hvdlint explain` for the list of checks
    "#);
}

#[test]
fn a_wrong_type_is_shown_with_an_example() {
    insta::assert_snapshot!(message("strict = \"yes\""), @r#"
    `strict` must be true or false, and here is a string
     --> hvdlint.toml:1:10
      |
    1 | strict = "yes"
      |          ^^^^^
    help: write `strict = true`
    "#);
    insta::assert_snapshot!(message("select = \"HVD001\""), @r#"
    `select` must be a list of strings, and here is a string
     --> hvdlint.toml:1:10
      |
    1 | select = "HVD001"
      |          ^^^^^^^^
    help: write `select = ["..."]`
    "#);
    insta::assert_snapshot!(message("exclude = [\"a\", 1]"), @r#"
    `exclude` must be a list of strings, and here is a number
     --> hvdlint.toml:1:17
      |
    1 | exclude = ["a", 1]
      |                 ^
    help: write `exclude = ["..."]`
    "#);
    insta::assert_snapshot!(message("levels = [\"HVD001\"]"), @r#"
    `levels` must be a table, and here is a list
     --> hvdlint.toml:1:10
      |
    1 | levels = ["HVD001"]
      |          ^^^^^^^^^^
    help: write `[levels]`
    "#);
    insta::assert_snapshot!(message("api = 'x'"), @r#"
    `api` must be a list of tables, and here is a string
     --> hvdlint.toml:1:7
      |
    1 | api = 'x'
      |       ^^^
    help: write `[[api]]`
    "#);
}

#[test]
fn a_wrong_value_is_shown_with_the_right_ones() {
    insta::assert_snapshot!(message("confidence = \"possibel\""), @r#"
    `possibel` is not a value of `confidence`
     --> hvdlint.toml:1:14
      |
    1 | confidence = "possibel"
      |              ^^^^^^^^^^
    help: did you mean `possible`?
    "#);
    insta::assert_snapshot!(message("framework = \"torch\""), @r#"
    `torch` is not a value of `framework`
     --> hvdlint.toml:1:13
      |
    1 | framework = "torch"
      |             ^^^^^^^
    help: write `horovod`
    "#);
    insta::assert_snapshot!(message("levels.HVD001 = \"fatal\""), @r#"
    `fatal` is not a value of `levels.HVD001`
     --> hvdlint.toml:1:17
      |
    1 | levels.HVD001 = "fatal"
      |                 ^^^^^^^
    help: write `error` or `warning` or `note` or `off`
    "#);
    insta::assert_snapshot!(message("exclude = [\"a[b\"]"), @r#"
    `a[b` is not a path pattern: unclosed character class; missing ']'
     --> hvdlint.toml:1:12
      |
    1 | exclude = ["a[b"]
      |            ^^^^^
    help: write a pattern as in .gitignore, such as `tests/*_old.py`
    "#);
    insta::assert_snapshot!(message("[[api]]\nname = 'x'\n"), @r#"
    the row has no `kind`
     --> hvdlint.toml:1:1
      |
    1 | [[api]]
      | ^^^^^^^
    help: add `kind = "..."`
    "#);
}

#[test]
fn what_is_no_toml_is_shown() {
    insta::assert_snapshot!(message("strict = true\nselect = [\n"), @r#"
    unclosed array, expected `]`
     --> hvdlint.toml:2:11
      |
    2 | select = [
      |           ^
    help: mend the TOML; see https://toml.io for its rules
    "#);
    insta::assert_snapshot!(message("strict = true\nstrict = false\n"), @r#"
    duplicate key
     --> hvdlint.toml:2:1
      |
    2 | strict = false
      | ^^^^^^
    help: mend the TOML; see https://toml.io for its rules
    "#);
    insta::assert_snapshot!(message("strict = maybe"), @r#"
    string values must be quoted, expected literal string
     --> hvdlint.toml:1:10
      |
    1 | strict = maybe
      |          ^^^^^
    help: mend the TOML; see https://toml.io for its rules
    "#);
}

#[test]
fn the_first_mistake_of_the_file_is_shown() {
    let error = parse("strict = 1\nignore = 2\n").expect_err("two mistakes");
    assert_eq!(error.line, 1);
}
