//! The command line's definition.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use hvdlint::cli::{CheckArgs, Cli, ColorChoice, Command, Output, resolve_color};
use hvdlint::finding::{Confidence, Level};
use hvdlint::report::Format;

fn check(arguments: &str) -> CheckArgs {
    match Cli::try_parse_from(arguments.split(' ')).expect("a valid command line").command {
        Command::Check(arguments) => *arguments,
        command => panic!("not `check`: {command:?}"),
    }
}

fn error(arguments: &str) -> ErrorKind {
    Cli::try_parse_from(arguments.split(' ')).expect_err("an invalid command line").kind()
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn check_has_defaults() {
    let arguments = check("hvdlint check");
    assert_eq!(arguments.paths, [PathBuf::from(".")]);
    assert_eq!(arguments.output, []);
    assert_eq!((arguments.select, arguments.fail_on, arguments.confidence), (None, Level::Warning, None));
}

#[test]
fn lists_have_commas_and_repeat() {
    let arguments = check("hvdlint check --select HVD001,restriction --select HVD1 --ignore a,b src - x.py");
    assert_eq!(arguments.select.unwrap_or_default(), ["HVD001", "restriction", "HVD1"]);
    assert_eq!(arguments.ignore, ["a", "b"]);
    assert_eq!(arguments.paths, ["src", "-", "x.py"].map(PathBuf::from));
}

#[test]
fn an_output_is_a_format_and_maybe_a_file() {
    let arguments = check("hvdlint check --output full --output sarif=out/a=b.sarif");
    assert_eq!(
        arguments.output,
        [
            Output { format: Format::Full, file: None },
            Output { format: Format::Sarif, file: Some("out/a=b.sarif".into()) },
        ]
    );
    assert_eq!("json=".parse::<Output>(), Err("no file name after `=`".into()));
    let message = "xml=f".parse::<Output>().expect_err("no such format");
    assert_eq!(
        message,
        "`xml` is not a format; the formats are `full`, `concise`, `json`, `sarif`, `github`, `gitlab`, `junit`, `rdjson`"
    );
}

#[test]
fn levels_and_confidences_are_words() {
    assert_eq!(check("hvdlint check --fail-on note").fail_on, Level::Note);
    assert_eq!(check("hvdlint check --confidence possible").confidence, Some(Confidence::Possible));
    assert_eq!(error("hvdlint check --fail-on info"), ErrorKind::InvalidValue);
}

#[test]
fn what_contradicts_itself_is_refused() {
    assert_eq!(error("hvdlint check --isolated --config a.toml"), ErrorKind::ArgumentConflict);
    assert_eq!(error("hvdlint check --exit-zero --fail-on note"), ErrorKind::ArgumentConflict);
    assert_eq!(error("hvdlint check -q -v"), ErrorKind::ArgumentConflict);
    assert_eq!(error("hvdlint check --threads 0"), ErrorKind::ValueValidation);
    assert_eq!(check("hvdlint check --exit-zero").fail_on, Level::Warning, "a default is no contradiction");
}

#[test]
fn the_other_commands_parse() {
    for line in [
        "hvdlint explain",
        "hvdlint explain HVD005 --color never",
        "hvdlint loops a b --output json",
        "hvdlint graph calls --format json --package dir dir/a.py",
        "hvdlint -v graph classes --format mermaid",
        "hvdlint --threads 2 graph imports --format svg",
        "hvdlint config show",
        "hvdlint completions zsh",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
    }
}

#[test]
fn every_option_has_help_and_every_command_fits() {
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
        }
        commands.extend(command.get_subcommands().cloned());
    }
}

#[test]
fn the_option_decides_on_color_before_the_environment() {
    let env = |name: &str| (name == "NO_COLOR").then(|| "1".into());
    assert!(resolve_color(ColorChoice::Always, false, env));
    assert!(!resolve_color(ColorChoice::Never, true, |_| Some("1".into())));
}

#[test]
fn the_environment_decides_on_color_before_the_terminal() {
    let cases = [
        ("", true, true),
        ("", false, false),
        ("NO_COLOR=1", true, false),
        ("NO_COLOR=", true, true),
        ("NO_COLOR=1 FORCE_COLOR=1", true, false),
        ("FORCE_COLOR=1", false, true),
        ("FORCE_COLOR=0", true, false),
        ("CLICOLOR_FORCE=1", false, true),
        ("CLICOLOR_FORCE=0", true, true),
        ("CLICOLOR=0", true, false),
        ("CLICOLOR=1", false, false),
        ("CLICOLOR=0 CLICOLOR_FORCE=1", false, true),
        ("TERM=dumb", true, false),
    ];
    for (variables, is_terminal, expected) in cases {
        let pairs = variables.split_whitespace().filter_map(|pair| pair.split_once('='));
        let env = |name: &str| pairs.clone().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        let color = resolve_color(ColorChoice::Auto, is_terminal, env);
        assert_eq!(color, expected, "{variables} {is_terminal}");
    }
}
