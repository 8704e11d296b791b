//! The data flow of a function as `AutoGraph` sees it: control flow graph, qualified names, activity, reaching definitions,
//! liveness.
//!
//! `AutoGraph` decides by these analyses which names become the results of a staged branch or loop (seed 002, section 7.1).
//! They are its own in many ways: `a.b` and `a[0]` are names of their own, ordinary statements never raise, each function is
//! analysed for itself and what nested functions read is live as long as they exist. Here they are, fact for fact:
//!
//! | file | is TensorFlow's (`tensorflow.python.autograph.pyct`) |
//! |---|---|
//! | `node` | `gast`: the tree, in the order of its fields |
//! | `name` | `qual_names` |
//! | `activity`, `scope` | `static_analysis.activity` |
//! | `control`, `draw` | `cfg` |
//! | `solve` | `static_analysis.reaching_definitions`, `reaching_fndefs`, `liveness` |
//! | `refusal` | where those raise, and `unsupported_features_checker`: such a function is left unconverted |
//! | `dump` | what `hvdlint debug dataflow` prints |
//!
//! `tests/dataflow.rs` compares the two. All that is known to differ:
//!
//! - TensorFlow visits the successors of a node in the order of their addresses. Whether a function that is defined behind a
//!   branch reaches its own definition depends on it, and with it what is live there: two runs of TensorFlow differ. Here, as in
//!   the test's dump of TensorFlow, it is the order of the text.
//! - `a[1]`, `a[1.0]` and `a[True]` are one name there, as the keys are equal; here they are three.
//! - An integer above 64 bits that is not written in decimal keeps its form as a key.
//! - Python 3.11, where TensorFlow 2.15 runs, reads no later syntax, and gives up on nesting that is some hundreds deep.

mod activity;
mod control;
mod draw;
mod dump;
mod name;
mod node;
mod refusal;
mod scope;
mod solve;

use rustc_hash::FxHashMap;

use crate::syntax::ast::{Stmt, StmtFunctionDef};
use crate::syntax::{self, Ranged, TextRange};
use activity::Activity;
use draw::Drawn;
use node::{Node, Place, Role};
use scope::Scope;
use solve::{Known, NameSet};

pub use dump::{Dump, dump};
pub use refusal::{Refusal, Refused};

/// What keeps functions of a module from being converted, by the places of their names.
pub(super) fn refused(source: &str) -> FxHashMap<TextRange, Refused> {
    syntax::with_stack_for(source, || {
        let parsed = syntax::parse(source);
        let functions = dump::functions(&parsed.syntax().body);
        functions.filter_map(|(_, own)| Some((own.name.range(), refusal::of_conversion(own)?))).collect()
    })
}

/// The data flow of a function and of those in it.
#[derive(Debug)]
struct Dataflow<'a> {
    activity: Activity<'a>,
    /// The functions in the order of the text; the first is the whole.
    functions: Vec<Drawn>,
    known: FxHashMap<Place, Known>,
}

impl<'a> Dataflow<'a> {
    fn new(root: Node<'a>, function: &'a StmtFunctionDef) -> Self {
        let activity = activity::activity(root);
        let functions = draw::draw(root.place(), function);
        let known = solve::solve(&activity, &functions);
        Self { activity, functions, known }
    }

    /// What a statement does: of a function, a branch, a loop and a `with` what their blocks do.
    fn scope(&self, statement: Node<'_>) -> Option<&Scope> {
        let place = statement.place();
        self.activity.body.get(&place).or_else(|| self.activity.own.get(&place))
    }

    /// The names that are live in front of a statement: those of its first node.
    fn live_in(&self, statement: Node<'_>) -> Option<&NameSet> {
        let first = match statement {
            Node::If(..) => Place::new(statement.arm()?.0, Role::Head),
            Node::Statement(Stmt::For(own)) => Place::new(&*own.iter, Role::Head),
            Node::Statement(Stmt::While(own)) => Place::new(&*own.test, Role::Head),
            Node::Statement(Stmt::With(own)) => Place::new(own.items.first()?, Role::Item),
            Node::Statement(Stmt::Try(own)) => return self.live_in(Node::statement(own.body.first()?)),
            _ => statement.place(),
        };
        Some(&self.known.get(&first)?.live_in)
    }

    /// The names that are live behind a statement, where `AutoGraph` asks for them: compound statements and expressions.
    fn live_out(&self, statement: Node<'_>) -> Option<&NameSet> {
        let is_asked = is_compound(statement) || matches!(statement, Node::Statement(Stmt::Expr(_)));
        Some(&self.known.get(&statement.place()).filter(|_| is_asked)?.live_out)
    }

    /// The names that may have a value in front of a compound statement.
    fn defined_in(&self, statement: Node<'_>) -> Option<&NameSet> {
        Some(&self.known.get(&statement.place()).filter(|_| is_compound(statement))?.defined_in)
    }
}

fn is_compound(statement: Node<'_>) -> bool {
    matches!(statement, Node::If(..) | Node::Statement(Stmt::For(_) | Stmt::While(_) | Stmt::Try(_)))
}
