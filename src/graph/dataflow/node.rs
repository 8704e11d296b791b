//! The syntax tree as `AutoGraph` walks it: the nodes it knows, and the order of their children.
//!
//! `elif` is an `if` in the `else` of the test before, a parameter is a name with an annotation, and the children stand in the
//! order of the fields of Python's own tree, which is not always that of the text.

use crate::syntax::ast::{
    Arguments, Comprehension, Decorator, ExceptHandler, ExceptHandlerExceptHandler, Expr,
    InterpolatedStringElement, MatchCase, Parameter, Parameters, Pattern, Stmt, StmtIf, WithItem,
};
use crate::syntax::{Ranged, TextRange, TextSize};

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'a> {
    /// Any statement but `if`.
    Statement(&'a Stmt),
    /// An `if` or one of its `elif`: 0 is the `if`, n the n-th clause behind it.
    If(&'a StmtIf, usize),
    Handler(&'a ExceptHandlerExceptHandler),
    Case(&'a MatchCase),
    Pattern(&'a Pattern),
    Item(&'a WithItem),
    Parameters(&'a Parameters),
    Parameter(&'a Parameter),
    Expression(&'a Expr),
    Comprehension(&'a Comprehension),
}

/// What a place in the source is to the analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A statement, or the `if` that an `elif` is.
    Statement,
    /// The test of `if` and `while`, what `for` iterates over.
    Head,
    /// The parameters of the function whose place it is.
    Parameters,
    /// `open(path) as file` of a `with`.
    Item,
    /// A `lambda`.
    Lambda,
    /// `except` with its statements.
    Handler,
    /// Anything else.
    Other,
}

/// A node's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Where it stands.
    pub range: TextRange,
    /// What it is there.
    pub role: Role,
}

impl Place {
    pub(super) fn new(node: impl Ranged, role: Role) -> Self {
        Self { range: node.range(), role }
    }

    /// The same place in another role: the parameters of a function.
    pub(super) fn as_role(self, role: Role) -> Self {
        Self { role, ..self }
    }
}

impl Ranged for Node<'_> {
    fn range(&self) -> TextRange {
        match *self {
            Self::Statement(own) => own.range(),
            Self::If(own, 0) => own.range(),
            Self::If(own, clause) => own.elif_else_clauses[clause - 1].range(),
            Self::Handler(own) => own.range(),
            Self::Case(own) => own.range(),
            Self::Pattern(own) => own.range(),
            Self::Item(own) => own.range(),
            Self::Parameters(own) => own.range(),
            Self::Parameter(own) => own.range(),
            Self::Expression(own) => own.range(),
            Self::Comprehension(own) => own.range(),
        }
    }
}

impl<'a> Node<'a> {
    pub(super) fn statement(statement: &'a Stmt) -> Self {
        match statement {
            Stmt::If(own) => Self::If(own, 0),
            _ => Self::Statement(statement),
        }
    }

    /// The node's identity; what has none of its own is only walked through.
    pub(super) fn place(self) -> Place {
        let role = match self {
            Self::Statement(_) | Self::If(..) => Role::Statement,
            Self::Handler(_) => Role::Handler,
            Self::Item(_) => Role::Item,
            Self::Parameters(_) => Role::Parameters,
            Self::Expression(Expr::Lambda(_)) => Role::Lambda,
            _ => Role::Other,
        };
        Place { range: self.range(), role }
    }

    /// Where Python says that the node begins: a function and a class begin at their names' line, not at their decorators.
    pub(super) fn start(self) -> TextSize {
        match self {
            Self::Statement(Stmt::FunctionDef(function)) => function.name.start(),
            Self::Statement(Stmt::ClassDef(class)) => class.name.start(),
            _ => self.range().start(),
        }
    }

    /// Visits the children in the order of Python's fields.
    pub(super) fn each_child(self, visit: &mut dyn FnMut(Node<'a>)) {
        match self {
            Self::Statement(statement) => each_of_statement(statement, visit),
            Self::If(..) => {
                if let Some((test, body)) = self.arm() {
                    visit(Node::Expression(test));
                    statements(body, visit);
                }
                self.otherwise().into_iter().for_each(visit);
            }
            Self::Handler(handler) => {
                expressions(handler.type_.as_deref(), visit);
                statements(&handler.body, visit);
            }
            Self::Case(case) => {
                visit(Node::Pattern(&case.pattern));
                expressions(case.guard.as_deref(), visit);
                statements(&case.body, visit);
            }
            Self::Pattern(pattern) => each_of_pattern(pattern, visit),
            Self::Item(item) => {
                visit(Node::Expression(&item.context_expr));
                expressions(item.optional_vars.as_deref(), visit);
            }
            Self::Parameters(parameters) => {
                declared(parameters, visit);
                expressions(defaults(parameters), visit);
            }
            Self::Parameter(parameter) => expressions(parameter.annotation.as_deref(), visit),
            Self::Expression(expression) => each_of_expression(expression, visit),
            Self::Comprehension(own) => {
                visit(Node::Expression(&own.target));
                visit(Node::Expression(&own.iter));
                expressions(&own.ifs, visit);
            }
        }
    }

    /// The test of an `if` and what runs if it holds.
    pub(super) fn arm(self) -> Option<(&'a Expr, &'a [Stmt])> {
        match self {
            Self::If(statement, 0) => Some((&statement.test, &statement.body)),
            Self::If(statement, clause) => {
                let clause = &statement.elif_else_clauses[clause - 1];
                Some((clause.test.as_ref()?, &clause.body))
            }
            _ => None,
        }
    }

    /// What an `if` runs otherwise: the next `elif`, or the statements of `else`.
    pub(super) fn otherwise(self) -> Vec<Node<'a>> {
        let Self::If(statement, clause) = self else { return Vec::new() };
        match statement.elif_else_clauses.get(clause) {
            Some(next) if next.test.is_some() => vec![Node::If(statement, clause + 1)],
            Some(last) => last.body.iter().map(Node::statement).collect(),
            None => Vec::new(),
        }
    }
}

pub(super) fn statements<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(Node<'a>)) {
    body.iter().map(Node::statement).for_each(visit);
}

fn expressions<'a>(all: impl IntoIterator<Item = &'a Expr>, visit: &mut dyn FnMut(Node<'a>)) {
    all.into_iter().map(Node::Expression).for_each(visit);
}

/// The expressions of decorators.
pub(super) fn decorators(list: &[Decorator]) -> impl Iterator<Item = &Expr> {
    list.iter().map(|decorator| &decorator.expression)
}

/// The values of a call's or a class' arguments, in the order of the fields `args` and `keywords`.
pub(super) fn arguments(arguments: &Arguments) -> impl Iterator<Item = &Expr> {
    arguments.args.iter().chain(arguments.keywords.iter().map(|keyword| &keyword.value))
}

/// The declared parameters.
pub(super) fn declared<'a>(parameters: &'a Parameters, visit: &mut dyn FnMut(Node<'a>)) {
    parameters
        .args
        .iter()
        .chain(&parameters.posonlyargs)
        .map(|own| &own.parameter)
        .chain(parameters.vararg.as_deref())
        .chain(parameters.kwonlyargs.iter().map(|own| &own.parameter))
        .chain(parameters.kwarg.as_deref())
        .map(Node::Parameter)
        .for_each(visit);
}

/// The defaults of parameters: those that only keywords set come first.
pub(super) fn defaults(parameters: &Parameters) -> impl Iterator<Item = &Expr> {
    let all = parameters.kwonlyargs.iter().chain(&parameters.posonlyargs).chain(&parameters.args);
    all.filter_map(|own| own.default.as_deref())
}

/// The `except` clauses of a `try`.
pub(super) fn handlers(all: &[ExceptHandler]) -> impl Iterator<Item = &ExceptHandlerExceptHandler> {
    all.iter().map(|ExceptHandler::ExceptHandler(handler)| handler)
}

fn each_of_statement<'a>(statement: &'a Stmt, visit: &mut dyn FnMut(Node<'a>)) {
    match statement {
        Stmt::FunctionDef(own) => {
            visit(Node::Parameters(&own.parameters));
            statements(&own.body, visit);
            expressions(decorators(&own.decorator_list), visit);
            expressions(own.returns.as_deref(), visit);
        }
        Stmt::ClassDef(own) => {
            expressions(own.arguments.as_deref().into_iter().flat_map(arguments), visit);
            statements(&own.body, visit);
            expressions(decorators(&own.decorator_list), visit);
        }
        Stmt::Return(own) => expressions(own.value.as_deref(), visit),
        Stmt::Delete(own) => expressions(&own.targets, visit),
        Stmt::Assign(own) => {
            expressions(&own.targets, visit);
            visit(Node::Expression(&own.value));
        }
        Stmt::AugAssign(own) => expressions([&*own.target, &own.value], visit),
        Stmt::AnnAssign(own) => {
            expressions([&*own.target, &own.annotation], visit);
            expressions(own.value.as_deref(), visit);
        }
        Stmt::For(own) => {
            expressions([&*own.target, &own.iter], visit);
            statements(&own.body, visit);
            statements(&own.orelse, visit);
        }
        Stmt::While(own) => {
            visit(Node::Expression(&own.test));
            statements(&own.body, visit);
            statements(&own.orelse, visit);
        }
        Stmt::If(own) => Node::If(own, 0).each_child(visit),
        Stmt::With(own) => {
            own.items.iter().map(Node::Item).for_each(&mut *visit);
            statements(&own.body, visit);
        }
        Stmt::Match(own) => {
            visit(Node::Expression(&own.subject));
            own.cases.iter().map(Node::Case).for_each(visit);
        }
        Stmt::Raise(own) => {
            expressions([&own.exc, &own.cause].into_iter().flatten().map(|own| &**own), visit);
        }
        Stmt::Try(own) => {
            statements(&own.body, visit);
            handlers(&own.handlers).map(Node::Handler).for_each(&mut *visit);
            statements(&own.orelse, visit);
            statements(&own.finalbody, visit);
        }
        Stmt::Assert(own) => {
            visit(Node::Expression(&own.test));
            expressions(own.msg.as_deref(), visit);
        }
        Stmt::Expr(own) => visit(Node::Expression(&own.value)),
        Stmt::TypeAlias(own) => expressions([&*own.name, &own.value], visit),
        Stmt::Import(_)
        | Stmt::ImportFrom(_)
        | Stmt::Global(_)
        | Stmt::Nonlocal(_)
        | Stmt::Pass(_)
        | Stmt::Break(_)
        | Stmt::Continue(_)
        | Stmt::IpyEscapeCommand(_) => {}
    }
}

fn each_of_pattern<'a>(pattern: &'a Pattern, visit: &mut dyn FnMut(Node<'a>)) {
    match pattern {
        Pattern::MatchValue(own) => visit(Node::Expression(&own.value)),
        Pattern::MatchSequence(own) => own.patterns.iter().map(Node::Pattern).for_each(visit),
        Pattern::MatchMapping(own) => {
            expressions(&own.keys, visit);
            own.patterns.iter().map(Node::Pattern).for_each(visit);
        }
        Pattern::MatchClass(own) => {
            visit(Node::Expression(&own.cls));
            let keywords = own.arguments.keywords.iter().map(|keyword| &keyword.pattern);
            own.arguments.patterns.iter().chain(keywords).map(Node::Pattern).for_each(visit);
        }
        Pattern::MatchAs(own) => own.pattern.as_deref().map(Node::Pattern).into_iter().for_each(visit),
        Pattern::MatchOr(own) => own.patterns.iter().map(Node::Pattern).for_each(visit),
        Pattern::MatchSingleton(_) | Pattern::MatchStar(_) => {}
    }
}

fn each_of_expression<'a>(expression: &'a Expr, visit: &mut dyn FnMut(Node<'a>)) {
    match expression {
        Expr::BoolOp(own) => expressions(&own.values, visit),
        Expr::Named(own) => expressions([&*own.target, &own.value], visit),
        Expr::BinOp(own) => expressions([&*own.left, &own.right], visit),
        Expr::UnaryOp(own) => visit(Node::Expression(&own.operand)),
        Expr::Lambda(own) => {
            own.parameters.as_deref().map(Node::Parameters).into_iter().for_each(&mut *visit);
            visit(Node::Expression(&own.body));
        }
        Expr::If(own) => expressions([&*own.test, &own.body, &own.orelse], visit),
        Expr::Dict(own) => {
            expressions(own.iter_keys().flatten(), visit);
            expressions(own.iter_values(), visit);
        }
        Expr::Set(own) => expressions(&own.elts, visit),
        Expr::List(own) => expressions(&own.elts, visit),
        Expr::Tuple(own) => expressions(&own.elts, visit),
        Expr::ListComp(own) => comprehension([&*own.elt], &own.generators, visit),
        Expr::SetComp(own) => comprehension([&*own.elt], &own.generators, visit),
        Expr::Generator(own) => comprehension([&*own.elt], &own.generators, visit),
        Expr::DictComp(own) => {
            comprehension(own.key.as_deref().into_iter().chain([&*own.value]), &own.generators, visit);
        }
        Expr::Await(own) => visit(Node::Expression(&own.value)),
        Expr::Yield(own) => expressions(own.value.as_deref(), visit),
        Expr::YieldFrom(own) => visit(Node::Expression(&own.value)),
        Expr::Compare(own) => {
            visit(Node::Expression(&own.left));
            expressions(&own.comparators, visit);
        }
        Expr::Call(own) => {
            visit(Node::Expression(&own.func));
            expressions(arguments(&own.arguments), visit);
        }
        Expr::FString(own) => interpolated(own.value.elements(), visit),
        Expr::TString(own) => interpolated(own.value.elements(), visit),
        Expr::Attribute(own) => visit(Node::Expression(&own.value)),
        Expr::Subscript(own) => expressions([&*own.value, &own.slice], visit),
        Expr::Starred(own) => visit(Node::Expression(&own.value)),
        Expr::Slice(own) => {
            let parts = [&own.lower, &own.upper, &own.step];
            expressions(parts.into_iter().flatten().map(|own| &**own), visit);
        }
        Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_)
        | Expr::EllipsisLiteral(_)
        | Expr::Name(_)
        | Expr::IpyEscapeCommand(_) => {}
    }
}

fn comprehension<'a>(
    elements: impl IntoIterator<Item = &'a Expr>,
    generators: &'a [Comprehension],
    visit: &mut dyn FnMut(Node<'a>),
) {
    expressions(elements, visit);
    generators.iter().map(Node::Comprehension).for_each(visit);
}

fn interpolated<'a>(
    elements: impl Iterator<Item = &'a InterpolatedStringElement>,
    visit: &mut dyn FnMut(Node<'a>),
) {
    for element in elements {
        if let InterpolatedStringElement::Interpolation(element) = element {
            visit(Node::Expression(&element.expression));
            if let Some(format) = &element.format_spec {
                interpolated(format.elements.iter(), visit);
            }
        }
    }
}
