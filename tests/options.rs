//! Every option of the command line has a test that uses it, and a help text.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::fs;

use clap::CommandFactory;
use hvdlint::cli::Cli;
use support::root;

/// All commands, with those below them.
fn commands(command: &clap::Command) -> Vec<&clap::Command> {
    let below = command.get_subcommands().flat_map(commands);
    std::iter::once(command).chain(below).collect()
}

#[test]
fn every_option_is_used_by_a_test_and_explained() {
    let mut tests = String::new();
    for entry in fs::read_dir(root().join("tests")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            tests.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    let program = Cli::command();
    let mut count = 0;
    for command in commands(&program) {
        for option in command.get_arguments() {
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{} of `{}`", option.get_id(), command.get_name());
            let Some(long) = option.get_long() else { continue };
            let used = ['"', ' ', '='].iter().any(|end| tests.contains(&format!("\"--{long}{end}")));
            let spoken = tests.contains(&format!(" --{long} "));
            assert!(used || spoken, "no test uses --{long} of `{}`", command.get_name());
            count += 1;
        }
    }
    assert!(count > 25, "{count} options");
}

#[test]
fn commands_with_options_have_examples() {
    let program = Cli::command();
    for command in commands(&program) {
        let has_own = command.get_arguments().any(|argument| !argument.is_global_set());
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(!has_own || help.contains("Examples:"), "`{}` shows no example", command.get_name());
    }
}
