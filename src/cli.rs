//! The command line: what can be asked of hvdlint, and in which words.
//!
//! Definitions only; the help texts here are the manual. The names are a contract with scripts.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::finding::{Confidence, Level};
use crate::report::Format;

/// Find the training loops of TensorFlow programs, and what keeps them from training on many GPUs with Horovod.
#[derive(Debug, Parser)]
#[command(name = "hvdlint", version, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  hvdlint check                      check the current directory
  hvdlint check train.py             check one program, with the project around it in view
  hvdlint explain HVD005             read what a check wants, and why
  hvdlint loops                      list the training loops, models, optimizers and datasets

Exit status:
  0  nothing to report, or everything fixed
  1  findings
  2  the job could not be done: bad option or configuration, unreadable input, no Python file

Environment:
  NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE     decide with `--color auto`")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options that every command has.
    #[command(flatten)]
    pub global: GlobalArgs,
}

/// Options that every command has.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// When to use colors
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", global = true)]
    pub color: ColorChoice,
    /// Print findings and errors only
    #[arg(short, long, conflicts_with = "verbose", global = true)]
    pub quiet: bool,
    /// Say what is being done, how long it takes, and what `check` proves of programs on several ranks
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Use this many threads; the result is the same with any number [default: one for each core]
    #[arg(long, value_name = "N", global = true)]
    pub threads: Option<NonZeroUsize>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report what the checks find
    Check(Box<CheckArgs>),
    /// Explain a check, or list all
    Explain(ExplainArgs),
    /// List programs with their training loops, models, optimizers and datasets
    Loops(LoopsArgs),
    /// Draw who calls, extends or imports whom
    #[command(subcommand)]
    Graph(GraphCommand),
    /// Serve an editor: the language server protocol on standard input and output
    Server,
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
    /// Look at what the analyses see, to compare it with other analyses
    #[command(subcommand, hide = true)]
    Debug(DebugCommand),
}

/// `hvdlint check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  hvdlint check --select restriction            only the checks of a group
  hvdlint check --ignore HVD001 src             all but one, in a folder
  hvdlint check --output concise                a line for each finding
  hvdlint check --output full --output sarif=report.sarif
  hvdlint check --diff train.py                 look at what --fix would change
  hvdlint check --fix train.py                  change it
  hvdlint check --baseline known.txt --write-baseline
  hvdlint check --baseline known.txt            only what is new
  cat train.py | hvdlint check - --stdin-filename train.py

LIST is names, codes, beginnings of codes (HVD1) or groups, with commas between, or ALL. The narrower word wins.

Exit status:
  0  nothing to report, or everything fixed
  1  findings of the level of --fail-on or above; with --diff also: there is a difference
  2  the job could not be done, or a file could not be changed")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct CheckArgs {
    /// Files and folders to report on; the project around them is analysed whole; `-` is standard input
    #[arg(value_name = "PATHS", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// Print as full, concise, json, sarif, github, gitlab, junit or rdjson, or write that to FILE; can be repeated
    /// [default: full]
    #[arg(long, value_name = "FORMAT[=FILE]", help_heading = "Output")]
    pub output: Vec<Output>,
    /// The category of a SARIF log, where several logs are uploaded for one commit
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub sarif_category: Option<String>,
    /// Count the findings of each check
    #[arg(long, help_heading = "Output")]
    pub statistics: bool,
    /// Show suppressed findings too, with their reasons
    #[arg(long, help_heading = "Output")]
    pub show_suppressed: bool,

    /// Apply safe fixes; report what remains
    #[arg(long, help_heading = "Fixes")]
    pub fix: bool,
    /// Let --fix and --diff use fixes too that may change what the program does, or lose a comment
    #[arg(long, help_heading = "Fixes")]
    pub unsafe_fixes: bool,
    /// Print what --fix would change, for `patch -p1` and `git apply`, and change nothing
    #[arg(long, help_heading = "Fixes")]
    pub diff: bool,

    /// Run these checks, whatever the configuration selects and ignores
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Choice of checks")]
    pub select: Option<Vec<String>>,
    /// Don't run these checks
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Choice of checks")]
    pub ignore: Vec<String>,
    /// Run these checks in addition
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Choice of checks")]
    pub extend_select: Vec<String>,
    /// Take every restriction to the letter, also where the analysis could cope
    #[arg(long, help_heading = "Choice of checks")]
    pub strict: bool,
    /// Report findings of this confidence and above [default: certain]
    #[arg(long, value_name = "CONFIDENCE", value_parser = confidence(), help_heading = "Choice of checks")]
    pub confidence: Option<Confidence>,
    /// Report findings that comments in the source suppress
    #[arg(long, help_heading = "Choice of checks")]
    pub no_ignores: bool,
    /// Don't report the findings that FILE knows; report its entries that are stale
    #[arg(long, value_name = "FILE", help_heading = "Choice of checks")]
    pub baseline: Option<PathBuf>,
    /// Write what is found to the baseline, and take stale entries out
    #[arg(long, conflicts_with_all = ["fix", "diff"], help_heading = "Choice of checks")]
    pub write_baseline: bool,

    #[command(flatten)]
    #[expect(missing_docs, reason = "a comment would become the help of the whole command")]
    pub config: ConfigArgs,
    /// Leave excluded files out even when they are named
    #[arg(long, help_heading = "Files and configuration")]
    pub force_exclude: bool,
    /// Analyse standard input as if it were this file
    #[arg(long, value_name = "FILE", help_heading = "Files and configuration")]
    pub stdin_filename: Option<PathBuf>,
    /// Report on the whole project, whatever PATHS are
    #[arg(long, help_heading = "Files and configuration")]
    pub project: bool,

    /// Exit with 1 if there is a finding of this level or above
    #[arg(long, value_name = "LEVEL", value_parser = level(), default_value = "warning", help_heading = "Exit status")]
    pub fail_on: Level,
    /// Exit with 0 whatever is found
    #[arg(long, conflicts_with = "fail_on", help_heading = "Exit status")]
    pub exit_zero: bool,
}

/// Which configuration applies.
#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    /// Use this configuration and no other
    #[arg(long, value_name = "FILE", conflicts_with = "isolated", help_heading = "Files and configuration")]
    pub config: Option<PathBuf>,
    /// Use no configuration
    #[arg(long, help_heading = "Files and configuration")]
    pub isolated: bool,
}

/// `hvdlint explain`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  hvdlint explain                       list the checks
  hvdlint explain HVD005                by code
  hvdlint explain import-not-at-top     by name")]
pub struct ExplainArgs {
    /// Name or code of a check
    pub check: Option<String>,
}

/// `hvdlint loops`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  hvdlint loops                         of the current directory
  hvdlint loops --output json src       for a script")]
pub struct LoopsArgs {
    /// Files and folders to report on
    #[arg(value_name = "PATHS", default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Print for people or for programs, or draw
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: LoopsFormat,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a comment would become the help of the whole command")]
    pub config: ConfigArgs,
}

/// `hvdlint graph`.
#[derive(Clone, Debug, Subcommand)]
pub enum GraphCommand {
    /// Which function calls which
    Calls(GraphArgs),
    /// Which class extends which
    Classes(GraphArgs),
    /// Which module imports which
    Imports(GraphArgs),
}

/// What every graph takes.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  hvdlint graph calls --format json --package src src/train.py
  hvdlint graph imports --format svg > imports.svg")]
pub struct GraphArgs {
    /// Files and folders whose part of the graph is drawn
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// An adjacency map, or a drawing
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: GraphFormat,
    /// The folder that module names are relative to [default: the project's root]
    #[arg(long, value_name = "DIR")]
    pub package: Option<PathBuf>,
    /// Draw all of a big graph, and not only what is around training loops
    #[arg(long)]
    pub all: bool,
}

/// `hvdlint debug`.
#[derive(Debug, Subcommand)]
pub enum DebugCommand {
    /// The data flow of each function as `AutoGraph` sees it, a line of JSON for each
    Dataflow(DataflowArgs),
}

/// `hvdlint debug dataflow`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  hvdlint debug dataflow train.py
  hvdlint debug dataflow src/*.py > dataflow.jsonl")]
pub struct DataflowArgs {
    /// Python files
    #[arg(value_name = "FILES", required = true)]
    pub paths: Vec<PathBuf>,
}

/// `hvdlint config`.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the configuration that applies, with defaults, and where it comes from
    Show(ConfigShowArgs),
    /// Print the JSON schema of the configuration, for editors
    Schema,
}

/// `hvdlint config show`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  hvdlint config show                   what applies in the current directory
  hvdlint config show --config ci.toml  what that file means")]
pub struct ConfigShowArgs {
    /// Files and folders whose configuration is meant
    #[arg(value_name = "PATHS", default_value = ".")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a comment would become the help of the whole command")]
    pub config: ConfigArgs,
}

/// `hvdlint completions`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  hvdlint completions bash > ~/.local/share/bash-completion/completions/hvdlint
  hvdlint completions fish > ~/.config/fish/completions/hvdlint.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `hvdlint man`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  hvdlint man | man -l -
  hvdlint man check > ~/.local/share/man/man1/hvdlint-check.1")]
pub struct ManArgs {
    /// The page of a command
    pub command: Option<String>,
}

/// A report's format, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// How findings are written.
    pub format: Format,
    /// Standard output where it is missing.
    pub file: Option<PathBuf>,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (format, file) = match text.split_once('=') {
            Some((_, "")) => return Err("no file name after `=`".into()),
            Some((format, file)) => (format, Some(file.into())),
            None => (text, None),
        };
        let names = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|value| format!("`{}`", value.get_name())).collect();
        match Format::from_str(format, false) {
            Ok(format) => Ok(Self { format, file }),
            Err(_) => Err(format!("`{format}` is not a format; the formats are {}", names.join(", "))),
        }
    }
}

/// How loops are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LoopsFormat {
    /// For people.
    #[default]
    Full,
    /// One JSON document.
    Json,
    /// A drawing for Graphviz.
    Dot,
    /// A Mermaid flowchart, for Markdown.
    Mermaid,
    /// A picture, drawn by Graphviz.
    Svg,
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// An adjacency map of qualified names.
    #[default]
    Json,
    /// For Graphviz.
    Dot,
    /// For Markdown.
    Mermaid,
    /// A drawing.
    Svg,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Into files and pipes, too.
    Always,
    /// Plain text.
    Never,
}

fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["error", "warning", "note"]).map(|name| match name.as_str() {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => Level::Note,
    })
}

fn confidence() -> impl TypedValueParser<Value = Confidence> {
    PossibleValuesParser::new(["certain", "possible"]).map(|name| match name.as_str() {
        "certain" => Confidence::Certain,
        _ => Confidence::Possible,
    })
}

/// Whether output has colors. `--color always` and `never` are obeyed. With `auto` the environment decides
/// (<https://no-color.org>, <https://force-color.org>, <https://bixense.com/clicolors>, in this order), then whether
/// the stream is a terminal that knows colors.
pub fn resolve_color(choice: ColorChoice, is_terminal: bool, env: impl Fn(&str) -> Option<OsString>) -> bool {
    match choice {
        ColorChoice::Always => return true,
        ColorChoice::Never => return false,
        ColorChoice::Auto => {}
    }
    let value = |name| env(name).filter(|value| !value.is_empty());
    if value("NO_COLOR").is_some() {
        return false;
    }
    let forced = value("FORCE_COLOR").or_else(|| value("CLICOLOR_FORCE").filter(|value| value != "0"));
    match forced {
        Some(value) => value != "0" && value != "false",
        None => {
            is_terminal
                && value("CLICOLOR").is_none_or(|value| value != "0")
                && value("TERM").is_none_or(|term| term != "dumb")
        }
    }
}
