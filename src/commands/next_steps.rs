//! What is left to people where a fix has distributed a program: to start it, and to decide what each rank trains on.

use std::io::{self, Write};
use std::path::Path;

use crate::distribute::DATA;
use crate::examine::{Distribution, Examined, Trainer};
use crate::project::FileId;
use crate::report::Sources;

/// Tells how the programs are started that the fixes have distributed, and which of their loops go through all of the data
/// on each rank. `before` are the programs as they were, and `changed` the files that are not.
pub(super) fn tell(
    before: &[Trainer],
    examined: &Examined,
    changed: &[FileId],
    out: &mut dyn Write,
) -> io::Result<()> {
    let sources = Sources::new(&examined.documents);
    let is_distributed = |own: &&Trainer| {
        own.distribution == Distribution::Settled
            && own.files.iter().any(|file| changed.contains(file))
            && before.iter().any(|old| old.entry == own.entry && old.distribution == Distribution::Offered)
    };
    for program in examined.trainers.iter().filter(is_distributed) {
        let path = &examined.project.file(program.entry).relative;
        writeln!(out, "hvdlint: {path} is distributed; start it with {}", start(path))?;
        let is_of_data = |code: &str| code == DATA.rule.code;
        let of_program =
            examined.standing.iter().filter(|own| program.files.contains(&own.primary.location.file));
        for finding in of_program.filter(|own| is_of_data(own.rule.code)) {
            let place = sources.page_and_line(finding.primary.location);
            writeln!(out, "  note: {place}: {} ({})", finding.message, finding.rule.name)?;
            if let Some(help) = &finding.help {
                writeln!(out, "  help: {help}")?;
            }
        }
    }
    Ok(())
}

/// The command that starts a program on several ranks.
fn start(path: &str) -> String {
    let program = Path::new(path);
    let script = program.with_extension("py");
    let run = format!("`horovodrun -np 2 python {}`", quoted(&script.to_string_lossy()));
    if program.extension().is_some_and(|own| own == "ipynb") {
        format!("`jupyter nbconvert --to script {}` and {run}", quoted(path))
    } else {
        run
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
            "`jupyter nbconvert --to script 'my work.ipynb'` and `horovodrun -np 2 python 'my work.py'`"
        );
    }
}
