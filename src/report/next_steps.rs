//! What is left to people where a fix has distributed a program: to start it, and to decide what each rank trains on.

use std::io::{self, Write};
use std::path::Path;

use super::Sources;
use super::sanitize::visible_line;
use crate::finding::Finding;

/// A program that fixes have distributed.
#[derive(Debug)]
pub struct Distributed<'a> {
    /// Where the module that is run lies, relative to the project's root.
    pub path: &'a str,
    /// What is said of the data that its ranks train on.
    pub data: Vec<&'a Finding>,
}

/// Tells how a program is started, and what is left to decide of its data.
///
/// # Errors
///
/// `out` can't be written to.
pub fn show(program: &Distributed<'_>, sources: &Sources<'_>, out: &mut dyn Write) -> io::Result<()> {
    let path = visible_line(program.path);
    writeln!(out, "hvdlint: {path} is distributed; start it with {}", visible_line(&start(program.path)))?;
    show_data(program, sources, out)
}

/// Tells what would be left to decide of the data, if the fixes that are shown were made.
///
/// # Errors
///
/// `out` can't be written to.
pub fn foresee(program: &Distributed<'_>, sources: &Sources<'_>, out: &mut dyn Write) -> io::Result<()> {
    if program.data.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "hvdlint: {} would be distributed; what its ranks train on is left to decide",
        visible_line(program.path)
    )?;
    show_data(program, sources, out)
}

fn show_data(program: &Distributed<'_>, sources: &Sources<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in &program.data {
        let place = sources.page_and_line(finding.primary.location);
        writeln!(out, "  note: {}: {} ({})", visible_line(&place), finding.message, finding.rule.name)?;
        if let Some(help) = &finding.help {
            writeln!(out, "  help: {help}")?;
        }
    }
    Ok(())
}

/// The command that starts a program on several ranks.
fn start(path: &str) -> String {
    let program = Path::new(path);
    let script = program.with_extension("py");
    let script = script.to_string_lossy();
    let script = quoted(&script);
    if program.extension().is_some_and(|own| own == "ipynb") {
        // What begins with `!` or `%` becomes a call that only IPython knows.
        let convert = format!("jupyter nbconvert --to script {}", quoted(path));
        format!("`{convert}` and `horovodrun -np 2 ipython {script}`")
    } else {
        format!("`horovodrun -np 2 python {script}`")
    }
}

/// A path as a word of a shell.
fn quoted(path: &str) -> String {
    let is_plain = |own: char| own.is_alphanumeric() || matches!(own, '/' | '.' | '-' | '_' | '+');
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::start;

    #[test]
    fn a_command_can_be_pasted() {
        assert_eq!(start("a/train.py"), "`horovodrun -np 2 python a/train.py`");
        assert_eq!(start("it's.py"), r"`horovodrun -np 2 python 'it'\''s.py'`");
        assert_eq!(
            start("my work.ipynb"),
            "`jupyter nbconvert --to script 'my work.ipynb'` and `horovodrun -np 2 ipython 'my work.py'`"
        );
    }
}
