//! `hvdlint completions`.

use std::io;

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};

pub(super) fn run(arguments: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "hvdlint", &mut script);
    io::Write::write_all(&mut io::stdout().lock(), &script)?;
    Ok(super::CLEAN)
}
