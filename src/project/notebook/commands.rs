//! Commands of `IPython` are hidden behind Python of the same length that does nothing: a number and a comment.
//!
//! `%matplotlib inline` becomes `0#atplotlib inline`, a statement, as what a command does matters to those around it. One of
//! several lines stands in parentheses. `files = !ls` becomes `files = _#s`, a value that nobody knows. `%time model.fit(x)`
//! executes its argument and becomes `0;    model.fit(x)`. A cell for the shell or a file, such as `%%bash`, is one command; one for
//! another interpreter, such as `%%html`, has no Python.

use std::ops::Range;

use crate::syntax::{Command, CommandKind, ipython_commands, parses};

/// A cell's Python.
#[derive(Debug)]
pub(super) struct Hidden {
    pub(super) python: String,
    /// What it hides, in its order, and where.
    pub(super) commands: Vec<(usize, String)>,
}

/// Magics of a whole cell whose other lines are executed in the notebook.
const CELL_MAGICS: [&str; 10] = [
    "%%capture",
    "%%debug",
    "%%memit",
    "%%prun",
    "%%px",
    "%%python",
    "%%python3",
    "%%snakeviz",
    "%%time",
    "%%timeit",
];

/// Magics of a whole cell that do something outside of the notebook, which those around it may rest on.
const CELL_COMMANDS: [&str; 8] =
    ["%%!", "%%bash", "%%file", "%%script", "%%sh", "%%sx", "%%system", "%%writefile"];

/// Magics whose argument is executed in the notebook.
const LINE_MAGICS: [&str; 5] = ["%memit", "%prun", "%snakeviz", "%time", "%timeit"];

/// Commands that need neither `%` nor `!` in front.
const AUTOMATIC: [&str; 18] = [
    "cat",
    "cd",
    "conda",
    "cp",
    "env",
    "load_ext",
    "ls",
    "mamba",
    "matplotlib",
    "mkdir",
    "mv",
    "pip",
    "pwd",
    "pylab",
    "reload_ext",
    "rm",
    "run",
    "who",
];

/// The code of a cell as Python of the same length; `None` where it is none.
pub(super) fn hide(cell: &str) -> Option<Hidden> {
    let first = cell.split_whitespace().next().unwrap_or_default();
    if CELL_COMMANDS.contains(&first) {
        let start = cell.len() - cell.trim_start().len();
        let whole = start..cell.trim_end().len();
        let mut python = cell.to_owned();
        cover_lines(&mut python, whole.clone(), "0#");
        return Some(Hidden { python, commands: vec![(start, cell[whole].to_owned())] });
    }
    if first.starts_with("%%") && !CELL_MAGICS.contains(&first) {
        return None;
    }
    let found = ipython_commands(cell);
    if !found.parses && AUTOMATIC.contains(&first) {
        return None;
    }
    let mut python = cell.to_owned();
    let mut commands = Vec::with_capacity(found.list.len());
    for command in found.list {
        let range = command.range.start().to_usize()..command.range.end().to_usize();
        let covered = cover(&mut python, range, command);
        commands.push((covered.start, cell[covered].to_owned()));
    }
    Some(Hidden { python, commands })
}

/// Covers a command, or as much of it as is no Python; tells what.
fn cover(python: &mut String, range: Range<usize>, command: Command) -> Range<usize> {
    if command.kind == CommandKind::Magic
        && let Some(name) = magic_with_python(&python[range.clone()])
    {
        let name = range.start..range.start + name;
        python.replace_range(name.clone(), &format!("0;{}", " ".repeat(name.len() - 2)));
        return name;
    }
    let cover = if command.kind == CommandKind::Value { "_#" } else { "0#" };
    cover_lines(python, range.clone(), cover);
    range
}

/// Covers lines. Behind the first of several the command goes on, and so does what stands for it, in parentheses. Indentation
/// stays, so that an indented command is covered alike.
fn cover_lines(python: &mut String, range: Range<usize>, cover: &str) {
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let below = python[range.clone()].match_indices('\n').map(|(at, _)| range.start + at + 1);
    let below: Vec<usize> = below.map(|at| at + indentation(&python[at..range.end])).collect();
    // Where the last line is empty, nothing is there to close them by.
    let last = below.last().copied().filter(|&last| last < range.end);
    let opening = if last.is_some() { "(" } else { "" };
    put(python, range.start, &format!("{opening}{cover}"));
    for line in below {
        put(python, line, if Some(line) == last { ")#" } else { "#" });
    }
}

/// The length of the name of `%time` and its like, where their argument is Python.
fn magic_with_python(command: &str) -> Option<usize> {
    let (name, argument) = command.split_once([' ', '\t'])?;
    let argument = argument.trim_start();
    let is_python = !argument.is_empty() && !argument.contains('\n') && parses(argument);
    (LINE_MAGICS.contains(&name) && is_python).then_some(name.len())
}

/// Puts ASCII characters in the place of what is there, which keeps its length; line ends stay.
fn put(text: &mut String, at: usize, cover: &str) {
    let line = text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end);
    let end = text.ceil_char_boundary((at + cover.len()).min(line));
    let mut content = cover[..cover.len().min(end - at)].to_owned();
    content.push_str(&" ".repeat(end - at - content.len()));
    text.replace_range(at..end, &content);
}
