//! The dump of the data flow: an object for each function, to be compared with what TensorFlow says.

use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;

use super::name::{Name, Names};
use super::node::Node;
use super::refusal::{self, Refusal};
use super::scope::Scope;
use super::{Dataflow, NameSet};
use crate::syntax::ast::{Stmt, StmtFunctionDef};
use crate::syntax::{self, LineIndex, TextSize};

/// What the analyses say about the functions of a file.
#[derive(Debug)]
pub struct Dump {
    /// The functions, those of the module and its classes first, then the ones in them.
    pub functions: Vec<Function>,
    /// Functions that `AutoGraph`'s analyses refuse: line, name, reason.
    pub refused: Vec<(usize, String, Refusal)>,
}

/// A function.
#[derive(Debug, Serialize)]
pub struct Function {
    file: String,
    #[serde(rename = "function")]
    name: String,
    line: usize,
    statements: Vec<Statement>,
    /// Which line control may go to from which; 0 are parameters and the items of `with`.
    cfg: BTreeSet<(usize, usize)>,
}

/// A statement: the function itself first, then the statements in it, level by level.
#[derive(Debug, Serialize)]
struct Statement {
    line: usize,
    kind: &'static str,
    #[serde(flatten)]
    activity: Option<Activity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live_in: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live_out: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    defined_in: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Activity {
    read: Vec<String>,
    modified: Vec<String>,
    bound: Vec<String>,
}

/// What the analyses say about the functions of a file whose decoded text is `source`; nothing if it does not parse.
#[must_use]
pub fn dump(file: &str, source: &str) -> Option<Dump> {
    syntax::with_stack_for(source, || {
        let parsed = syntax::parse(source);
        if parsed.has_syntax_errors() {
            return None;
        }
        let lines = Lines { index: LineIndex::from_source_text(source) };
        let mut dump = Dump { functions: Vec::new(), refused: Vec::new() };
        for (node, own) in functions(&parsed.syntax().body) {
            match refusal::of_analyses(node) {
                Some(refused) => {
                    dump.refused.push((lines.line(node.start()), own.name.to_string(), refused.reason));
                }
                None => dump.functions.push(function(file, node, own, &lines)),
            }
        }
        Some(dump)
    })
}

/// The functions of a module that are not `async`, outer ones first.
pub(super) fn functions(body: &[Stmt]) -> impl Iterator<Item = (Node<'_>, &StmtFunctionDef)> {
    level_by_level(body.iter().map(Node::statement).collect()).filter_map(|node| match node {
        Node::Statement(Stmt::FunctionDef(own)) if !own.is_async => Some((node, own)),
        _ => None,
    })
}

/// The statements among nodes and in them, outer ones first. What holds statements and is none is a level too.
fn level_by_level(nodes: VecDeque<Node<'_>>) -> impl Iterator<Item = Node<'_>> {
    let mut waiting = nodes;
    std::iter::from_fn(move || {
        let node = waiting.pop_front()?;
        node.each_child(&mut |child| {
            if matches!(child, Node::Statement(_) | Node::If(..) | Node::Handler(_) | Node::Case(_)) {
                waiting.push_back(child);
            }
        });
        Some(node)
    })
}

struct Lines {
    index: LineIndex,
}

impl Lines {
    fn line(&self, at: TextSize) -> usize {
        self.index.line_index(at).get()
    }
}

fn function(file: &str, node: Node<'_>, own: &StmtFunctionDef, lines: &Lines) -> Function {
    let flow = Dataflow::new(node, own);
    let names = &flow.activity.names;
    let live = |set: Option<&NameSet>| set.map(|set| texts(names, set.ones().map(Name::new)));
    let statements = level_by_level(VecDeque::from([node])).filter_map(|node| {
        Some(Statement {
            line: lines.line(node.start()),
            kind: kind(node)?,
            activity: flow.scope(node).map(|scope| activity(names, scope)),
            live_in: live(flow.live_in(node)),
            live_out: live(flow.live_out(node)),
            defined_in: live(flow.defined_in(node)),
        })
    });
    let graph = &flow.functions[0].graph;
    let line = |node: usize| graph.nodes[node].start.map_or(0, |start| lines.line(start));
    let edges = graph.nodes.iter().enumerate();
    let edges = edges.flat_map(|(from, node)| node.next.iter().map(move |&to| (line(from), line(to))));
    Function {
        file: file.to_owned(),
        name: own.name.to_string(),
        line: lines.line(node.start()),
        statements: statements.collect(),
        cfg: edges.collect(),
    }
}

fn activity(names: &Names<'_>, scope: &Scope) -> Activity {
    let texts = |set: &BTreeSet<Name>| texts(names, set.iter().copied());
    Activity { read: texts(&scope.read), modified: texts(&scope.modified), bound: texts(&scope.bound) }
}

fn texts(names: &Names<'_>, set: impl Iterator<Item = Name>) -> Vec<String> {
    let mut texts: Vec<String> = set.map(|name| names.text(name)).collect();
    texts.sort_unstable();
    texts
}

/// What Python calls a statement; nothing for what the dump leaves out.
fn kind(node: Node<'_>) -> Option<&'static str> {
    let statement = match node {
        Node::If(..) => return Some("If"),
        Node::Statement(statement) => statement,
        _ => return None,
    };
    Some(match statement {
        Stmt::FunctionDef(own) if !own.is_async => "FunctionDef",
        Stmt::For(own) if !own.is_async => "For",
        Stmt::With(own) if !own.is_async => "With",
        Stmt::Try(own) if !own.is_star => "Try",
        Stmt::ClassDef(_) => "ClassDef",
        Stmt::Return(_) => "Return",
        Stmt::Delete(_) => "Delete",
        Stmt::Assign(_) => "Assign",
        Stmt::AugAssign(_) => "AugAssign",
        Stmt::AnnAssign(_) => "AnnAssign",
        Stmt::While(_) => "While",
        Stmt::Raise(_) => "Raise",
        Stmt::Assert(_) => "Assert",
        Stmt::Import(_) => "Import",
        Stmt::ImportFrom(_) => "ImportFrom",
        Stmt::Global(_) => "Global",
        Stmt::Nonlocal(_) => "Nonlocal",
        Stmt::Expr(_) => "Expr",
        Stmt::Pass(_) => "Pass",
        Stmt::Break(_) => "Break",
        Stmt::Continue(_) => "Continue",
        _ => return None,
    })
}
