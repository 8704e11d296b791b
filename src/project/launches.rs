//! How the scripts and documents of a project start its programs: several ranks by a launcher, or one process.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use rustc_hash::{FxHashMap, FxHashSet};

use super::requirements::{DOCUMENTS, SCRIPTS, entries, text};
use super::{FileId, Project, SourceFile};

/// The commands that start several processes.
const LAUNCHERS: [&str; 12] = [
    "aprun",
    "horovodrun",
    "ibrun",
    "jsrun",
    "mpiexec",
    "mpiexec.hydra",
    "mpirun",
    "mpiexec_mpt",
    "mpirun_rsh",
    "orterun",
    "prun",
    "srun",
];

/// The options of launchers for the number of processes.
const NUMBERS: [&str; 5] = ["--ntasks", "--np", "-n", "-np", "-num-proc"];

/// What stands in front of a command and leaves it one process: other commands, words of the shell, and its prompt.
const IN_FRONT: [&str; 17] = [
    "!", "$", "%", "(", "do", "elif", "else", "env", "exec", "if", "nice", "nohup", "sudo", "then", "time",
    "while", "{",
];

/// What the scripts and documents of a project say of its programs.
#[derive(Clone, Debug, Default)]
pub(super) struct Launches {
    /// Those that are started as one process, and never otherwise.
    alone: FxHashSet<FileId>,
}

impl Project {
    /// Whether the project's scripts and documents start a program as one process only, while they start others by a
    /// launcher, as `mpirun -np 4 python train.py` does. They are read when this is first asked.
    #[must_use]
    pub fn is_started_alone(&self, program: FileId) -> bool {
        self.launches.get_or_init(|| Launches::read(self)).alone.contains(&program)
    }
}

impl Launches {
    fn read(project: &Project) -> Self {
        let scripts: Vec<(PathBuf, String)> = scripts_around(project)
            .into_iter()
            .filter_map(|path| Some((path.clone(), text(&path)?)))
            .collect();
        let is_launcher =
            |text: &str| text.split(|own: char| !is_of_word(own)).any(|own| LAUNCHERS.contains(&own));
        if !scripts.iter().any(|(_, text)| is_launcher(text)) {
            return Self::default();
        }
        let commands: Vec<(&Path, Command)> = scripts
            .iter()
            .flat_map(|(path, text)| told_by(path, text).into_iter().map(move |own| (path.as_path(), own)))
            .collect();
        // A script that a launcher starts is run by each rank.
        let by_ranks: FxHashSet<&str> = commands
            .iter()
            .filter(|(_, own)| !own.is_alone && is_script(&own.program))
            .filter_map(|(_, own)| own.program.rsplit('/').next())
            .collect();
        let names = Names::of(project);
        let (mut alone, mut together) = (FxHashSet::default(), FxHashSet::default());
        for (script, command) in commands.iter().filter(|(_, own)| !is_script(&own.program)) {
            let name = script.file_name().and_then(OsStr::to_str);
            if command.is_alone && !name.is_some_and(|name| by_ranks.contains(name)) {
                alone.extend(names.nearest(script, &command.program));
            } else {
                together.extend(names.all(&command.program));
            }
        }
        if together.is_empty() {
            return Self::default();
        }
        alone.retain(|program| !together.contains(program));
        Self { alone }
    }
}

/// The scripts and documents in the folders of a project's files, in those around them up to the root, and in folders without
/// Python files in these, in the order of their paths.
fn scripts_around(project: &Project) -> Vec<PathBuf> {
    let of_file = |file: &SourceFile| {
        let around = file.path.ancestors().skip(1).take_while(|folder| folder.starts_with(project.root()));
        around.map(Path::to_path_buf).collect::<Vec<_>>()
    };
    let folders: BTreeSet<PathBuf> = project.files().iter().flat_map(of_file).collect();
    let told = folders.iter().flat_map(|folder| project.without_programs(&entries(folder)));
    let mut found: Vec<PathBuf> =
        told.filter(|path| path.to_str().is_some_and(|path| is_script(path) || is_document(path))).collect();
    found.sort_unstable();
    found
}

fn ending(program: &str) -> Option<&str> {
    Path::new(program).extension().and_then(OsStr::to_str)
}

fn is_script(program: &str) -> bool {
    ending(program).is_some_and(|own| SCRIPTS.contains(&own))
}

fn is_document(path: &str) -> bool {
    ending(path).is_some_and(|own| DOCUMENTS.contains(&own))
}

fn is_python_file(program: &str) -> bool {
    ending(program) == Some("py")
}

fn is_of_word(own: char) -> bool {
    own.is_alphanumeric() || matches!(own, '_' | '.')
}

/// A command of a script that starts a Python program or another script.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    /// As it is written, a module as a path.
    program: String,
    /// Whether it starts one process, as far as is known.
    is_alone: bool,
    /// Whether all that runs it is named and known: Python, a shell, a launcher.
    is_known: bool,
}

/// The commands of a script or a document. What a document shows as code without saying what runs it may be the name of a
/// file, and what it runs by something unknown, `nsys profile python train.py`, says nothing.
fn told_by(path: &Path, text: &str) -> Vec<Command> {
    if !path.to_str().is_some_and(is_document) {
        return commands(text);
    }
    let mut found = commands(&shown_code(text));
    found.retain(|own| own.is_known);
    found
}

/// What a document shows as code, in blocks and between other words, a line each.
fn shown_code(document: &str) -> String {
    let mut code = String::new();
    let mut is_block = false;
    for event in Parser::new(document) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_block = true,
            Event::End(TagEnd::CodeBlock) => is_block = false,
            Event::Text(text) if is_block => code.push_str(&text),
            Event::Code(text) => {
                code.push('\n');
                code.push_str(&text);
                code.push('\n');
            }
            _ => {}
        }
    }
    code
}

/// The commands of a script.
fn commands(text: &str) -> Vec<Command> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let mut found = Vec::new();
    for line in joined.lines().filter(|line| !line.trim_start().starts_with('#')) {
        for part in line.split([';', '|', '&']) {
            // What a variable keeps, `CMD="python train.py"`, is run some other way.
            let keeps = |word: &str| word.contains('=') && word.matches(['"', '\'']).count() == 1;
            if part.split_whitespace().any(keeps) {
                continue;
            }
            let words: Vec<&str> =
                part.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')'])).collect();
            found.extend(command(&words));
        }
    }
    found
}

fn command(words: &[&str]) -> Option<Command> {
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let is_python = |word: &&str| {
        let version = base(word).strip_prefix("python").map(str::to_owned);
        version.is_some_and(|own| own.chars().all(|own| own.is_ascii_digit() || own == '.'))
    };
    let is_program = |word: &&str| is_python_file(word) || is_script(word);
    let python = words.iter().position(is_python);
    let (at, program) = if let Some(at) = python {
        (at, program_of(&words[at + 1..])?)
    } else {
        let at = words.iter().position(is_program)?;
        (at, words[at].to_owned())
    };
    let in_front: Vec<&str> = words[..at]
        .iter()
        .copied()
        .skip_while(|word| IN_FRONT.contains(word) || word.is_empty() || word.contains('='))
        .collect();
    let launcher = in_front.iter().position(|word| LAUNCHERS.contains(&base(word).as_str()));
    // `bash train.sh` is a process, too.
    let is_shell = |word: &&str| ["bash", "sh", "source", "."].contains(&base(word).as_str());
    let is_alone = match launcher {
        Some(at) => number_of(&in_front[at + 1..]) == Some(1),
        None => in_front.iter().all(is_shell),
    };
    let is_run = python.is_some() || launcher.is_some() || in_front.first().is_some_and(is_shell);
    let is_known = is_run && (launcher.is_some() || in_front.iter().all(is_shell));
    Some(Command { program, is_alone, is_known })
}

/// The program that Python is told to run.
fn program_of(arguments: &[&str]) -> Option<String> {
    let mut arguments = arguments.iter();
    while let Some(&argument) = arguments.next() {
        match argument {
            "-m" => return Some(format!("{}.py", arguments.next()?.replace('.', "/"))),
            "-c" => return None,
            "-W" | "-X" => drop(arguments.next()),
            _ if argument.starts_with('-') => {}
            _ => return is_python_file(argument).then(|| argument.to_owned()),
        }
    }
    None
}

/// How many processes a launcher is told to start.
fn number_of(options: &[&str]) -> Option<u32> {
    let mut options = options.iter();
    while let Some(&option) = options.next() {
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        if NUMBERS.contains(&name) {
            return value.or_else(|| options.next().copied())?.parse().ok();
        }
    }
    None
}

/// The project's files by their names.
struct Names<'p> {
    project: &'p Project,
    by_name: FxHashMap<&'p str, Vec<FileId>>,
}

impl<'p> Names<'p> {
    fn of(project: &'p Project) -> Self {
        let mut by_name: FxHashMap<&str, Vec<FileId>> = FxHashMap::default();
        for file in project.files() {
            by_name.entry(last(&file.relative)).or_default().push(file.id);
        }
        Self { project, by_name }
    }

    /// The files that a path may mean, from whatever folder. Of a path from the root, `/workspace/bert/train.py`, only the name
    /// tells: it is that of an image.
    fn all(&self, path: &str) -> Vec<FileId> {
        let parts = path
            .rsplit('/')
            .take_while(|part| !part.contains('$') && !matches!(*part, "" | "." | ".." | "~"));
        let known: Vec<&str> = if path.starts_with('/') { vec![last(path)] } else { parts.collect() };
        let ends_so = |file: &&FileId| {
            let mut parts = self.project.file(**file).relative.rsplit('/');
            known.iter().all(|part| parts.next() == Some(part))
        };
        let named = self.by_name.get(last(path)).into_iter().flatten();
        named.filter(ends_so).copied().collect()
    }

    /// The one of them that is nearest to a script, if there is one.
    fn nearest(&self, script: &Path, path: &str) -> Option<FileId> {
        let shared = |file: &FileId| {
            let parts = self.project.file(*file).path.components().zip(script.components());
            parts.take_while(|(one, other)| one == other).count()
        };
        let all = self.all(path);
        let most = all.iter().map(shared).max()?;
        let mut nearest = all.iter().filter(|file| shared(file) == most);
        let first = nearest.next().copied();
        first.filter(|_| nearest.next().is_none())
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Command, commands, told_by};

    fn said(text: &str) -> Vec<(String, bool)> {
        commands(text).into_iter().map(|Command { program, is_alone, .. }| (program, is_alone)).collect()
    }

    fn alone(program: &str) -> (String, bool) {
        (program.to_owned(), true)
    }

    fn together(program: &str) -> (String, bool) {
        (program.to_owned(), false)
    }

    #[test]
    fn a_launcher_starts_several_unless_it_is_told_one() {
        assert_eq!(said("mpirun -np 4 -x PATH python train.py --lr 0.1"), [together("train.py")]);
        assert_eq!(said("horovodrun -np 1 python3 -u train.py"), [alone("train.py")]);
        assert_eq!(said("srun --ntasks=1 python train.py"), [alone("train.py")]);
        assert_eq!(said("srun python -m tools.train"), [together("tools/train.py")]);
    }

    #[test]
    fn python_by_itself_is_one_process() {
        assert_eq!(said("CUDA_VISIBLE_DEVICES=0 python eval.py \\\n  --data x"), [alone("eval.py")]);
        assert_eq!(said("cd x && python eval.py; ./plot.py"), [alone("eval.py"), alone("./plot.py")]);
        assert_eq!(said("if [ $1 ]; then python eval.py || exit 1; fi"), [alone("eval.py")]);
    }

    #[test]
    fn what_nobody_knows_may_start_several() {
        assert_eq!(said("$launch python train.py"), [together("train.py")]);
        assert_eq!(said("singularity exec image.sif python train.py"), [together("train.py")]);
        assert_eq!(said("mpirun -np 2 bash run.sh"), [together("run.sh")]);
    }

    #[test]
    fn comments_and_other_commands_start_nothing() {
        assert_eq!(said("# python train.py\npython -c 'import x'\nls *.txt"), []);
    }
    #[test]
    fn documents_show_commands_beside_names_of_files() {
        let text = "Run `python eval.py` after training (`train.py`, `srun` starts it; `dlprof python eval.py`).\n\n```sh\n$ mpirun -np 2 \\\n    \
                    python train.py\n```\n\n    data/\n    +-- plot.py\n\npython other.py\n";
        let found = told_by(Path::new("README.md"), text);
        let said: Vec<_> = found.into_iter().map(|own| (own.program, own.is_alone)).collect();
        assert_eq!(said, [alone("eval.py"), together("train.py")]);
    }
}
