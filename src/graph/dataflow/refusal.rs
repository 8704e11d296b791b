//! What `AutoGraph` can't convert: it leaves a function with it as it is, and says so in a warning only.
//!
//! Some of it is refused by intention, as loops with `else`; on most its analyses raise.

use super::name::literal;
use super::node::{Node, decorators, statements};
use crate::syntax::ast::{Expr, Stmt, StmtFor, StmtFunctionDef, StmtWhile};
use crate::syntax::{Ranged, TextRange, with_stack};

/// Why a function is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `for ... else` or `while ... else`, which its analyses can stand.
    LoopWithElse,
    /// `yield`, which its analyses can stand.
    Generator,
    /// A `match`.
    Match,
    /// A statement that stands directly in a class of the function: they look for it in the function's graph.
    StatementInClass,
    /// `async`, whose parts they take for parts of the function around.
    Asynchronous,
    /// A `lambda` in a decorator, which they draw no graph of.
    LambdaInDecorator,
    /// A `lambda` that is the body of another one or a test: no graph either.
    LambdaInLambda,
    /// An `if` that begins the `else` of a `try`: they take the two for one.
    BranchBeginsElse,
    /// The key `"."`, `"["` or `"]"` of a qualified name.
    Key,
}

impl Refusal {
    /// What it is, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::LoopWithElse => "a loop with `else`",
            Self::Generator => "a generator",
            Self::Match => "`match`",
            Self::StatementInClass => "a docstring, a call, a branch or a loop in the body of a class",
            Self::Asynchronous => "an `async` function",
            Self::LambdaInDecorator => "a `lambda` in a decorator",
            Self::LambdaInLambda => "a `lambda` that gives a `lambda`",
            Self::BranchBeginsElse => "an `if` that begins the `else` of a `try`",
            Self::Key => "a key of punctuation",
        }
    }
}

/// What keeps a function from being analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Refusal,
    /// The statement or expression.
    pub at: TextRange,
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Function,
    Class,
}

/// Who refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Analyses,
    Conversion,
}

/// The first thing that makes the analyses of a function raise.
pub(super) fn of_analyses(function: Node<'_>) -> Option<Refused> {
    visit(function, Around::Function, By::Analyses)
}

/// The first thing that keeps a function from being converted. Its own decorators are taken off before.
pub(super) fn of_conversion(function: &StmtFunctionDef) -> Option<Refused> {
    let mut parts = vec![Node::Parameters(&function.parameters)];
    statements(&function.body, &mut |statement| parts.push(statement));
    parts.into_iter().find_map(|part| visit(part, Around::Function, By::Conversion))
}

fn visit(node: Node<'_>, around: Around, by: By) -> Option<Refused> {
    if let Some(reason) = refusal(node, around, by) {
        let at = match node {
            // Its first line says it; the rest is long.
            Node::Statement(Stmt::FunctionDef(own)) => own.name.range(),
            _ => node.range(),
        };
        return Some(Refused { reason, at });
    }
    let inner = match node {
        Node::Statement(Stmt::FunctionDef(_)) => Around::Function,
        Node::Statement(Stmt::ClassDef(_)) => Around::Class,
        _ => around,
    };
    let mut found = None;
    node.each_child(&mut |child| found = found.or_else(|| with_stack(|| visit(child, inner, by))));
    found
}

fn refusal(node: Node<'_>, around: Around, by: By) -> Option<Refusal> {
    let is_refused = |is: bool, reason: Refusal| is.then_some(reason);
    match node {
        Node::Statement(Stmt::For(StmtFor { orelse, .. }) | Stmt::While(StmtWhile { orelse, .. }))
            if by == By::Conversion && !orelse.is_empty() =>
        {
            Some(Refusal::LoopWithElse)
        }
        Node::Expression(Expr::Yield(_) | Expr::YieldFrom(_)) if by == By::Conversion => {
            Some(Refusal::Generator)
        }
        // It rewrites a `lambda` before its analyses come to it.
        Node::Expression(Expr::Lambda(_)) if by == By::Conversion => None,
        Node::If(..)
        | Node::Statement(
            Stmt::Expr(_) | Stmt::For(_) | Stmt::While(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Raise(_),
        ) if around == Around::Class => Some(Refusal::StatementInClass),
        Node::Statement(Stmt::FunctionDef(own)) if own.is_async => Some(Refusal::Asynchronous),
        Node::Statement(Stmt::FunctionDef(own)) => {
            let mut outside = decorators(&own.decorator_list).chain(own.returns.as_deref());
            is_refused(outside.any(has_lambda), Refusal::LambdaInDecorator)
        }
        Node::Statement(Stmt::Match(_)) => Some(Refusal::Match),
        Node::Statement(Stmt::Try(own)) => {
            is_refused(matches!(own.orelse.first(), Some(Stmt::If(_))), Refusal::BranchBeginsElse)
        }
        Node::If(..) => {
            let is_lambda = node.arm().is_some_and(|(test, _)| test.is_lambda_expr());
            is_refused(is_lambda, Refusal::LambdaInLambda)
        }
        Node::Statement(Stmt::While(own)) => is_refused(own.test.is_lambda_expr(), Refusal::LambdaInLambda),
        Node::Expression(Expr::Lambda(own)) => is_refused(own.body.is_lambda_expr(), Refusal::LambdaInLambda),
        Node::Expression(Expr::Subscript(own)) => is_refused(is_refused_key(&own.slice), Refusal::Key),
        _ => None,
    }
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
