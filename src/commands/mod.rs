//! The commands: from arguments to what is printed and the exit status.

mod baseline;
mod check;
mod completions;
mod debug;
mod explain;
mod fixes;
mod graph;
mod loops;
mod man;
mod picture;
mod progress;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::checks::RULES;
use crate::cli::{Cli, Command, ConfigArgs, ConfigCommand, DebugCommand, GlobalArgs, resolve_color};
use crate::project::{
    ConfigError, ConfigSource, FileProblem, OpenOptions, Project, ProjectError, UnknownCheck, config,
};
use crate::server::End;

/// Long chains of operators make deep trees; dropping one needs the stack.
const STACK: usize = 16 << 20;

/// Exit status: the job was done and there is nothing to report.
const CLEAN: u8 = 0;
/// Exit status: findings remain.
const FINDINGS: u8 = 1;
/// Exit status: the job could not be done.
const FAILED: u8 = 2;

/// Runs the program with the process' arguments.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut pool = rayon::ThreadPoolBuilder::new().stack_size(STACK);
    if let Some(threads) = cli.global.threads {
        pool = pool.num_threads(threads.get());
    }
    let status = match pool.build() {
        Ok(pool) => pool.install(|| run(cli)),
        Err(error) => Err(anyhow::anyhow!("no threads could be started: {error}")),
    };
    match status {
        Ok(status) => ExitCode::from(status),
        // A reader that has seen enough, such as `head`, is no failure.
        Err(error) if is_broken_pipe(&error) => ExitCode::from(CLEAN),
        Err(error) => {
            let mut stderr = io::stderr().lock();
            _ = writeln!(stderr, "hvdlint: error: {error}");
            for cause in error.chain().skip(1) {
                _ = writeln!(stderr, "  because {cause}");
            }
            if let Some(help) = help(&error) {
                _ = writeln!(stderr, "  help: {help}");
            }
            ExitCode::from(FAILED)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn help(error: &anyhow::Error) -> Option<String> {
    let project = error.downcast_ref::<ProjectError>().map(ProjectError::help);
    let choice = error.downcast_ref::<UnknownCheck>().map(|error| error.help.clone());
    let file = error.downcast_ref::<ConfigError>().map(|error| error.help.clone());
    let own = error.downcast_ref::<Mistake>().map(|error| error.help.clone());
    project.or(choice).or(file).or(own).filter(|help| !help.is_empty())
}

/// A wish that can't be granted.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
struct Mistake {
    /// A clause.
    what: String,
    /// What to do, in the imperative.
    help: String,
}

fn run(cli: Cli) -> anyhow::Result<u8> {
    let global = &cli.global;
    match cli.command {
        Command::Check(arguments) => check::run(&arguments, global),
        Command::Explain(arguments) => explain::run(&arguments, global),
        Command::Loops(arguments) => loops::run(&arguments, global),
        Command::Graph(command) => graph::run(&command, global),
        Command::Server => server(),
        Command::Config(ConfigCommand::Show(arguments)) => {
            let project = open(&arguments.paths, &options(&arguments.config, global), global)?;
            write!(io::stdout().lock(), "{}", project.config().explained())?;
            Ok(CLEAN)
        }
        Command::Config(ConfigCommand::Schema) => {
            let mut stdout = io::stdout().lock();
            serde_json::to_writer_pretty(&mut stdout, &config::schema(RULES))?;
            writeln!(stdout)?;
            Ok(CLEAN)
        }
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Debug(DebugCommand::Dataflow(arguments)) => debug::dataflow(&arguments, global),
    }
}

/// Serves an editor until it says `exit`.
fn server() -> anyhow::Result<u8> {
    // A client that leaves without `shutdown` is told so, as the protocol asks.
    Ok(match crate::server::stdio(STACK)? {
        End::Orderly => CLEAN,
        End::Abrupt => FINDINGS,
    })
}

/// Whether standard output gets colors.
fn color(global: &GlobalArgs) -> bool {
    resolve_color(global.color, io::stdout().is_terminal(), |name| std::env::var_os(name))
}

fn options(config: &ConfigArgs, global: &GlobalArgs) -> OpenOptions {
    OpenOptions {
        config: match &config.config {
            Some(file) => ConfigSource::File(file.clone()),
            None if config.isolated => ConfigSource::Isolated,
            None => ConfigSource::Discover,
        },
        rules: RULES,
        threads: global.threads.map_or(0, std::num::NonZeroUsize::get),
        ..OpenOptions::default()
    }
}

fn open(paths: &[PathBuf], options: &OpenOptions, global: &GlobalArgs) -> anyhow::Result<Project> {
    let project = Project::open(paths, options)?;
    project.require_reported()?;
    if global.verbose > 0 {
        let files = project.files().len();
        writeln!(io::stderr().lock(), "hvdlint: {files} Python files in {}", project.root().display())?;
    }
    Ok(project)
}

/// Tells about files that could not be had.
fn warn(problems: &[FileProblem], global: &GlobalArgs) -> io::Result<()> {
    if global.quiet {
        return Ok(());
    }
    let mut stderr = io::stderr().lock();
    for problem in problems {
        writeln!(stderr, "hvdlint: warning: {}: {}", problem.path.display(), problem.what)?;
        writeln!(stderr, "  help: {}", problem.help)?;
    }
    Ok(())
}

/// The width that text is wrapped to.
fn width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(100).clamp(40, 120)
}
