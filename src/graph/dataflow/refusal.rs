//! What `AutoGraph`'s analyses raise on: a function with it can't be converted.

use std::fmt;

use super::name::literal;
use super::node::{Node, decorators};
use crate::syntax::ast::{Expr, Stmt};
use crate::syntax::with_stack;

/// Why the analyses of a function raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A `match`.
    Match,
    /// A statement that stands directly in a class of the function: they look for it in the function's graph.
    StatementInClass,
    /// `async`, whose parts they take for parts of the function around.
    Asynchronous,
    /// A `lambda` that has no graph: in a decorator, as the body of another one, as a test.
    LambdaWithoutGraph,
    /// An `if` that begins the `else` of a `try`: they take the two for one.
    BranchBeginsElse,
    /// The key `"."`, `"["` or `"]"` of a qualified name.
    Key,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Match => "`match`",
            Self::StatementInClass => "a docstring, a call, a branch or a loop directly in a class",
            Self::Asynchronous => "`async`",
            Self::LambdaWithoutGraph => "a `lambda` in a decorator, in a `lambda` or as a test",
            Self::BranchBeginsElse => "an `if` that begins the `else` of a `try`",
            Self::Key => "a key of punctuation",
        })
    }
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Function,
    Class,
}

/// The first reason to refuse a function.
pub(super) fn refusal(function: Node<'_>) -> Option<Refusal> {
    visit(function, Around::Function)
}

fn visit(node: Node<'_>, around: Around) -> Option<Refusal> {
    let inner = match node {
        Node::Statement(Stmt::FunctionDef(own)) => {
            if own.is_async {
                return Some(Refusal::Asynchronous);
            }
            let mut outside = decorators(&own.decorator_list).chain(own.returns.as_deref());
            if outside.any(has_lambda) {
                return Some(Refusal::LambdaWithoutGraph);
            }
            Around::Function
        }
        Node::Statement(Stmt::ClassDef(_)) => Around::Class,
        Node::Statement(Stmt::Match(_)) => return Some(Refusal::Match),
        Node::If(..)
        | Node::Statement(
            Stmt::Expr(_) | Stmt::For(_) | Stmt::While(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Raise(_),
        ) if around == Around::Class => return Some(Refusal::StatementInClass),
        Node::Statement(Stmt::Try(own)) if matches!(own.orelse.first(), Some(Stmt::If(_))) => {
            return Some(Refusal::BranchBeginsElse);
        }
        Node::If(..) if node.arm().is_some_and(|(test, _)| test.is_lambda_expr()) => {
            return Some(Refusal::LambdaWithoutGraph);
        }
        Node::Statement(Stmt::While(own)) if own.test.is_lambda_expr() => {
            return Some(Refusal::LambdaWithoutGraph);
        }
        Node::Expression(Expr::Lambda(own)) if own.body.is_lambda_expr() => {
            return Some(Refusal::LambdaWithoutGraph);
        }
        Node::Expression(Expr::Subscript(own)) if is_refused_key(&own.slice) => return Some(Refusal::Key),
        _ => around,
    };
    let mut found = None;
    node.each_child(&mut |child| found = found.or_else(|| with_stack(|| visit(child, inner))));
    found
}

fn is_refused_key(key: &Expr) -> bool {
    key.is_string_literal_expr()
        && literal(key).is_some_and(|text| matches!(text.as_str(), "'.'" | "'['" | "']'"))
}

fn has_lambda(expression: &Expr) -> bool {
    let mut found = expression.is_lambda_expr();
    Node::Expression(expression).each_child(&mut |child| {
        found = found || matches!(child, Node::Expression(child) if with_stack(|| has_lambda(child)));
    });
    found
}
