//! What a shell runs: lines of notebooks, `!unzip data.zip`, and what `os.system` is given.

use crate::finding::Location;
use crate::program::Facts;
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{CallId, StatementId};

/// The functions that run a command.
const RUNNING: [&str; 6] = [
    "os.popen",
    "os.system",
    "subprocess.Popen",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.run",
];

/// The commands that change files.
const CHANGING: [&str; 24] = [
    "7z", "aws", "cp", "curl", "ffmpeg", "gdown", "git", "gsutil", "gunzip", "gzip", "kaggle", "ln", "mkdir",
    "mv", "rm", "rmdir", "rsync", "tar", "touch", "unrar", "unxz", "unzip", "wget", "zip",
];

/// What may stand in front of a command.
const LEADING: [&str; 2] = ["sudo", "time"];

/// A statement of a notebook that is a line for the shell, or all lines of a cell.
pub(super) struct ShellLine<'t> {
    pub(super) statement: StatementId,
    pub(super) line: &'t str,
    pub(super) place: Location,
    /// It is a cell, in which no Python can stand: `%%bash`.
    pub(super) is_cell: bool,
}

/// Magics that make a cell one for the shell.
const SHELLS: [&str; 6] = ["!", "bash", "script", "sh", "sx", "system"];

/// Those of a file, in its order.
pub(super) fn of_notebook(text: Text<'_>) -> impl Iterator<Item = ShellLine<'_>> {
    let statements = (0..text.module.statements.len()).map(StatementId::new);
    statements.filter_map(move |statement| {
        let (command, range) = text.command(text.module.statement(statement).range.start())?;
        let place = Location::new(text.file, range);
        if let Some(cell) = command.strip_prefix("%%") {
            let (header, line) = cell.split_once('\n')?;
            let is_shell = header.split_whitespace().next().is_some_and(|magic| SHELLS.contains(&magic));
            return is_shell.then_some(ShellLine { statement, line, place, is_cell: true });
        }
        // `%cp a b` is `!cp a b`; other magics are called like no command.
        let line = command.trim_start_matches(['!', '%']);
        Some(ShellLine { statement, line, place, is_cell: false })
    })
}

/// Whether a call runs a command.
pub(super) fn runs_command(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    facts.called_symbols(file, call).any(|own| RUNNING.contains(&own.name()))
}

/// Whether one of the commands of a line changes files, or what it prints goes into one.
pub(super) fn changes_files(line: &str) -> bool {
    let line = line.replace("\\\n", " ");
    redirects(&line)
        || line.split([';', '|', '&', '(', ')', '\n']).any(|command| {
            let is_leading = |word: &&str| LEADING.contains(word) || word.contains('=');
            let first = command.split_whitespace().find(|word| !is_leading(word));
            first.is_some_and(|word| CHANGING.contains(&word))
        })
}

/// Whether what a command prints goes into a file: `python evaluate.py > results.txt`.
fn redirects(line: &str) -> bool {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            ('>', None) => {
                let target = line[at + 1..].trim_start_matches('>').trim_start();
                // Another stream, nothing, or a version: `2>&1`, `> /dev/null`, `tensorflow>=2.0`.
                if !target.is_empty() && !target.starts_with(['&', '=']) && !target.starts_with("/dev/") {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether a line installs packages, `pip install tensorflow`: what is imported behind it may be another version.
pub(super) fn installs_packages(line: &str) -> bool {
    line.split_whitespace().any(|word| word == "install")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_of_a_line_counts() {
        assert!(changes_files("wget -q https://example.com/x.zip"));
        assert!(changes_files("cd data && unzip -q x.zip # all of it"));
        assert!(changes_files("cat a.txt | sudo tar x"));
        assert!(changes_files("(cd data; unzip x.zip)"));
        assert!(changes_files("(rm -r data)"));
        assert!(changes_files("LANG=C \\\n  mkdir -p data"));
        assert!(changes_files("python evaluate.py > results.txt"));
        assert!(changes_files("echo done >> log.txt"));
        assert!(!changes_files("python evaluate.py > /dev/null 2>&1"));
        assert!(!changes_files("awk '$1 > 5' table.txt"));
        assert!(!changes_files("pip install tensorflow>=2.0"));
        assert!(!changes_files("ls data; nvidia-smi"));
        assert!(!changes_files("pip install wget"));
    }

    #[test]
    fn packages_are_installed_by_that_word() {
        assert!(installs_packages("pip install -q tensorflow"));
        assert!(!installs_packages("wget https://example.com/install.sh"));
    }
}
