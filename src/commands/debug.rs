//! `hvdlint debug`: what the analyses see.

use std::io::{self, Write};

use super::Mistake;
use crate::cli::{ConfigArgs, DataflowArgs, GlobalArgs};
use crate::graph::dataflow;

pub(super) fn dataflow(arguments: &DataflowArgs, global: &GlobalArgs) -> anyhow::Result<u8> {
    let isolated = ConfigArgs { config: None, isolated: true };
    let project = super::open(&arguments.paths, &super::options(&isolated, global), global)?;
    super::warn(project.problems(), global)?;
    let (mut stdout, mut stderr) = (io::stdout().lock(), io::stderr().lock());
    let (mut done, mut failed) = (0, 0);
    for path in &arguments.paths {
        let shown = path.display();
        let file = project.find(path).ok_or_else(|| Mistake {
            what: format!("{shown} is not a Python file of the project"),
            help: "name the files, not their folders".to_owned(),
        })?;
        let dump = project.read(file.id).ok().and_then(|text| dataflow::dump(&shown.to_string(), &text));
        let Some(dump) = dump else {
            writeln!(stderr, "# {shown}: it does not parse")?;
            continue;
        };
        for function in &dump.functions {
            serde_json::to_writer(&mut stdout, function)?;
            writeln!(stdout)?;
        }
        for (line, name, reason) in &dump.refused {
            writeln!(stderr, "# {shown}:{line} {name}: {}", reason.words())?;
        }
        done += dump.functions.len();
        failed += dump.refused.len();
    }
    writeln!(stderr, "# functions {done} failed {failed}")?;
    Ok(super::CLEAN)
}
