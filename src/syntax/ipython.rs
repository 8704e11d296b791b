//! What `IPython` adds to Python: magics, shell commands and questions about names.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, IpyEscapeKind, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};

use super::with_stack_for;

/// Where a command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// A magic that begins its line: `%matplotlib inline`, `%time model.fit(x)`.
    Magic,
    /// Another command that is a statement: `!pip install x`, `name?`.
    Statement,
    /// A value: `files = !ls`.
    Value,
}

/// A stretch of a cell that is a command of `IPython` and no Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Where it is.
    pub range: TextRange,
    /// What it stands for.
    pub kind: CommandKind,
}

/// A cell's commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// In the order of the cell.
    pub list: Vec<Command>,
    /// Whether everything else is Python.
    pub parses: bool,
}

/// The commands in the code of a cell.
#[must_use]
pub fn ipython_commands(cell: &str) -> Commands {
    with_stack_for(cell, || {
        let parsed = parse_unchecked(cell, ParseOptions::from(Mode::Ipython))
            .try_into_module()
            .expect("parsing in a module's mode gives a module");
        let mut found = Found(Vec::new());
        found.visit_body(parsed.suite());
        found.0.sort_by_key(|command| command.range.start());
        Commands { list: found.0, parses: parsed.errors().is_empty() }
    })
}

/// Whether `text` is Python without errors.
#[must_use]
pub fn parses(text: &str) -> bool {
    with_stack_for(text, || super::parse(text).errors().is_empty())
}

struct Found(Vec<Command>);

impl Visitor<'_> for Found {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::IpyEscapeCommand(command) => {
                let kind = match command.kind {
                    IpyEscapeKind::Magic | IpyEscapeKind::Magic2 => CommandKind::Magic,
                    _ => CommandKind::Statement,
                };
                self.0.push(Command { range: command.range(), kind });
            }
            other => walk_stmt(self, other),
        }
    }

    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::IpyEscapeCommand(command) => {
                self.0.push(Command { range: command.range(), kind: CommandKind::Value });
            }
            other => walk_expr(self, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(cell: &str) -> Vec<(&str, CommandKind)> {
        let found = ipython_commands(cell);
        found.list.into_iter().map(|command| (&cell[command.range], command.kind)).collect()
    }

    #[test]
    fn commands_are_found_where_they_stand() {
        assert_eq!(
            commands("%matplotlib inline\nx = 1\n!pip install a \\\n  b\nif x:\n    %time f(x)\nx?\n?x\n"),
            [
                ("%matplotlib inline", CommandKind::Magic),
                ("!pip install a \\\n  b", CommandKind::Statement),
                ("%time f(x)", CommandKind::Magic),
                ("x?", CommandKind::Statement),
                ("?x", CommandKind::Statement),
            ]
        );
        assert_eq!(
            commands("files = !ls *.py\nlast = %time f()\n"),
            [("!ls *.py", CommandKind::Value), ("%time f()", CommandKind::Value)]
        );
    }

    #[test]
    fn operators_and_strings_are_no_commands() {
        assert_eq!(commands("x = (a\n  % b)\ny = '''\n%matplotlib\n!ls\n'''\nz = a % b\n"), []);
    }

    #[test]
    fn what_is_neither_command_nor_python_is_noticed() {
        assert!(ipython_commands("%cd x\ny = 1").parses);
        assert!(!ipython_commands("pip install x").parses);
    }
}
