//! `hvdlint explain`.

use std::io;

use crate::checks::RULES;
use crate::cli::{ExplainArgs, GlobalArgs};
use crate::report::explain::{self, Terminal};

pub(super) fn run(arguments: &ExplainArgs, global: &GlobalArgs) -> anyhow::Result<u8> {
    let terminal = Terminal { width: super::width(), color: super::color(global) };
    let mut stdout = io::stdout().lock();
    match &arguments.check {
        Some(check) => explain::page(explain::find(RULES, check)?, terminal, &mut stdout)?,
        None => explain::list(RULES, terminal, &mut stdout)?,
    }
    Ok(super::CLEAN)
}
