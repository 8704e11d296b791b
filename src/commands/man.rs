//! `hvdlint man`.

use std::io::{self, Write};

use clap::CommandFactory;

use crate::cli::{Cli, ManArgs};

pub(super) fn run(arguments: &ManArgs) -> anyhow::Result<u8> {
    let mut program = Cli::command();
    program.build();
    let page = match &arguments.command {
        None => program,
        Some(name) => program
            .get_subcommands()
            .find(|command| command.get_name() == name)
            .cloned()
            .ok_or_else(|| anyhow::anyhow!("there is no command `{name}`"))?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    io::stdout().lock().write_all(&text)?;
    Ok(super::CLEAN)
}
