//! `hvdlint check --baseline` and `--write-baseline`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Mistake;
use super::check::{Job, create};
use crate::baseline::Baseline;
use crate::cli::CheckArgs;
use crate::examine::{Examined, Wishes};
use crate::project::{Project, read_text};

/// The file that the options name, or the configuration.
fn file(arguments: &CheckArgs, project: &Project) -> Option<PathBuf> {
    arguments.baseline.clone().or_else(|| project.config().baseline_file())
}

/// Reads the baseline, if there is to be one. One that is about to be written may be missing.
pub(super) fn open(arguments: &CheckArgs, project: &Project) -> anyhow::Result<Option<Baseline>> {
    let Some(path) = file(arguments, project) else { return Ok(None) };
    if !path.exists() {
        if arguments.write_baseline {
            return Ok(None);
        }
        let what = format!("the baseline `{}` doesn't exist", path.display());
        let help = "make it with --write-baseline".to_owned();
        return Err(Mistake { what, help }.into());
    }
    Ok(Some(Baseline::parse(&read_text(&path)?, &path, name(&path, project))?))
}

/// What reports call the file: its path from the project's root, where it is below that.
fn name(path: &Path, project: &Project) -> String {
    let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let relative = absolute.strip_prefix(project.root()).unwrap_or(path);
    let names = relative.iter().map(|name| name.to_string_lossy());
    names.collect::<Vec<_>>().join("/")
}

/// Writes what is found to the baseline, and reports what can't be known.
pub(super) fn write(job: Job<'_>, examined: Examined) -> anyhow::Result<u8> {
    let Job { arguments, global, wishes, .. } = job;
    let path = file(arguments, &examined.project).ok_or_else(|| Mistake {
        what: "there is no baseline to write".to_owned(),
        help: "name the file with --baseline FILE, or with `baseline` in the configuration".to_owned(),
    })?;
    let text = examined.baseline(wishes.baseline);
    let stale = wishes.baseline.map_or(0, |old| examined.stale(old));
    let mut out = create(&path)?;
    out.write_all(text.as_bytes())?;
    out.flush()?;
    if !global.quiet {
        let known = text.lines().filter(|line| !line.starts_with('#')).count();
        let entries = if known == 1 { "1 entry".to_owned() } else { format!("{known} entries") };
        let mut said = format!("{}: {entries}", path.display());
        if stale > 0 {
            said = format!("{said}; {stale} stale taken out");
        }
        writeln!(io::stderr().lock(), "{said}")?;
    }
    let written = Baseline::parse(&text, &path, name(&path, &examined.project))?;
    let wishes = Wishes { baseline: Some(&written), ..wishes };
    let Examined { project, modules, .. } = examined;
    let examined = Examined::of(project, modules, wishes);
    let status = job.status(&examined.report);
    job.write(&examined, &examined.report, status, &mut io::stdout().lock())?;
    Ok(status)
}
