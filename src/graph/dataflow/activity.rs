//! Activity: which qualified names each statement reads, changes and binds.
//!
//! Names are gathered in scopes, which are the blocks of the text: what a block reads and changes, the block around it does too,
//! up to the function. A function's own scope is closed: only what it reads and does not bind is read outside.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::name::{Name, Names, Part, literal};
use super::node::{Node, Place, Role, arguments, declared, decorators, defaults};
use super::scope::{Kind, Scope};
use crate::syntax::ast::{
    Alias, Comprehension, Expr, ExprContext, Parameters, Stmt, StmtClassDef, StmtFor, StmtFunctionDef,
    StmtWhile,
};
use crate::syntax::with_stack;

/// What owns the names that are assigned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Class,
    Constructor,
    Other,
}

/// What is done with a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deed {
    Load,
    Store,
    Delete,
    Declare,
}

impl From<ExprContext> for Deed {
    fn from(context: ExprContext) -> Self {
        match context {
            ExprContext::Store => Self::Store,
            ExprContext::Del => Self::Delete,
            ExprContext::Load | ExprContext::Invalid => Self::Load,
        }
    }
}

/// The activity of a function, and of those in it.
#[derive(Debug, Default)]
pub struct Activity<'a> {
    /// The qualified names.
    pub names: Names<'a>,
    /// What the nodes of control flow graphs do: simple statements, tests, parameters.
    pub own: FxHashMap<Place, Scope>,
    /// What the statements in a function, a branch, a loop or a `with` do.
    pub body: FxHashMap<Place, Scope>,
    /// What functions do: their parameters and statements.
    pub whole: FxHashMap<Place, Scope>,
}

/// The activity of a function.
pub(super) fn activity(function: Node<'_>) -> Activity<'_> {
    let mut walker = Walker { scopes: vec![Scope::default()], ..Walker::default() };
    walker.visit(function);
    walker.activity
}

#[derive(Default)]
struct Walker<'a> {
    activity: Activity<'a>,
    /// The open scopes, the innermost last.
    scopes: Vec<Scope>,
    owners: Vec<Owner>,
    /// The targets of the comprehensions around.
    targets: Vec<BTreeSet<Name>>,
    in_annotation: bool,
    in_augmented_target: bool,
    annotations_only: bool,
}

impl<'a> Walker<'a> {
    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the outermost scope is never closed")
    }

    fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Closes the innermost scope and tells the one around it.
    fn close(&mut self, kind: Kind) -> Scope {
        let inner = self.scopes.pop().expect("each scope is opened before it is closed");
        self.scope().learn(&inner, kind);
        inner
    }

    fn close_own(&mut self, place: Place) {
        let scope = self.close(Kind::Block);
        self.activity.own.insert(place, scope);
    }

    fn close_body(&mut self, place: Place) {
        let scope = self.close(Kind::Block);
        self.activity.body.insert(place, scope);
    }

    fn visit_all(&mut self, nodes: impl IntoIterator<Item = Node<'a>>) {
        nodes.into_iter().for_each(|node| self.visit(node));
    }

    fn visit_expressions(&mut self, expressions: impl IntoIterator<Item = &'a Expr>) {
        self.visit_all(expressions.into_iter().map(Node::Expression));
    }

    fn visit_block(&mut self, body: &'a [Stmt]) {
        self.visit_all(body.iter().map(Node::statement));
    }

    fn visit_children(&mut self, node: Node<'a>) {
        node.each_child(&mut |child| self.visit(child));
    }

    fn visit(&mut self, node: Node<'a>) {
        with_stack(|| match node {
            Node::Statement(statement) => self.statement(statement),
            Node::If(..) => self.branch(node),
            Node::Handler(handler) => {
                self.open();
                self.visit_expressions(handler.type_.as_deref());
                if let Some(name) = &handler.name {
                    let name = self.symbol(name.as_str());
                    self.scope().isolated.insert(name);
                    self.track(name, Deed::Store);
                }
                self.visit_block(&handler.body);
                self.close(Kind::Block);
            }
            Node::Item(_) => self.simple(node),
            Node::Parameter(parameter) => {
                self.annotation(parameter.annotation.as_deref());
                let name = self.symbol(parameter.name.as_str());
                self.track(name, Deed::Declare);
            }
            Node::Expression(expression) => {
                self.expression(expression);
            }
            Node::Comprehension(comprehension) => self.generator(comprehension),
            Node::Parameters(_) | Node::Case(_) | Node::Pattern(_) => self.visit_children(node),
        });
    }

    fn statement(&mut self, statement: &'a Stmt) {
        let node = Node::Statement(statement);
        match statement {
            Stmt::FunctionDef(own) if !own.is_async => self.function(own, node.place()),
            Stmt::ClassDef(own) => self.class(own, node.place()),
            Stmt::For(own) if !own.is_async => self.for_loop(own, node.place()),
            Stmt::While(own) => self.while_loop(own, node.place()),
            Stmt::With(own) if !own.is_async => {
                self.open();
                self.visit_children(node);
                self.close_body(node.place());
            }
            Stmt::AugAssign(own) => {
                self.open();
                self.in_augmented_target = true;
                self.expression(&own.target);
                self.in_augmented_target = false;
                self.expression(&own.value);
                self.close_own(node.place());
            }
            Stmt::AnnAssign(own) => {
                self.open();
                self.expression(&own.target);
                self.visit_expressions(own.value.as_deref());
                self.annotation(Some(&own.annotation));
                self.close_own(node.place());
            }
            Stmt::Import(own) => self.imports(&own.names, node),
            Stmt::ImportFrom(own) => self.imports(&own.names, node),
            Stmt::Global(own) => {
                self.open();
                for name in &own.names {
                    let name = self.symbol(name.as_str());
                    self.scope().read.insert(name);
                    self.scope().globals.insert(name);
                }
                self.close_own(node.place());
            }
            Stmt::Nonlocal(own) => {
                self.open();
                for name in &own.names {
                    let name = self.symbol(name.as_str());
                    self.scope().read.insert(name);
                    self.scope().bound.insert(name);
                    self.scope().nonlocals.insert(name);
                }
                self.close_own(node.place());
            }
            Stmt::Expr(_)
            | Stmt::Raise(_)
            | Stmt::Return(_)
            | Stmt::Assign(_)
            | Stmt::Delete(_)
            | Stmt::Assert(_) => self.simple(node),
            // What `AutoGraph` has no rule for is a heap of expressions and statements to it.
            _ => self.visit_children(node),
        }
    }

    fn simple(&mut self, node: Node<'a>) {
        self.open();
        self.visit_children(node);
        self.close_own(node.place());
    }

    fn imports(&mut self, names: &'a [Alias], node: Node<'a>) {
        self.open();
        for alias in names {
            let root = || alias.name.as_str().split('.').next().unwrap_or_default();
            let name = alias.asname.as_ref().map_or_else(root, |name| name.as_str());
            let name = self.symbol(name);
            self.scope().modified.insert(name);
            self.scope().bound.insert(name);
        }
        self.close_own(node.place());
    }

    fn head(&mut self, expression: &'a Expr) {
        self.open();
        self.expression(expression);
        self.close_own(Place::new(expression, Role::Head));
    }

    fn blocks(&mut self, body: &'a [Stmt], otherwise: Vec<Node<'a>>, place: Place) {
        self.open();
        self.visit_block(body);
        self.close_body(place);
        self.visit_all(otherwise);
    }

    fn branch(&mut self, node: Node<'a>) {
        if let Some((test, body)) = node.arm() {
            self.head(test);
            self.blocks(body, node.otherwise(), node.place());
        }
    }

    fn for_loop(&mut self, own: &'a StmtFor, place: Place) {
        self.open();
        self.expression(&own.target);
        self.expression(&own.iter);
        self.close_own(Place::new(&*own.iter, Role::Head));
        self.blocks(&own.body, own.orelse.iter().map(Node::statement).collect(), place);
    }

    fn while_loop(&mut self, own: &'a StmtWhile, place: Place) {
        self.head(&own.test);
        self.blocks(&own.body, own.orelse.iter().map(Node::statement).collect(), place);
    }

    fn class(&mut self, own: &'a StmtClassDef, place: Place) {
        self.owners.push(Owner::Class);
        self.open();
        self.visit_expressions(decorators(&own.decorator_list));
        self.bind(own.name.as_str());
        self.visit_expressions(own.arguments.as_deref().into_iter().flat_map(arguments));
        self.close_own(place);

        self.open();
        self.visit_expressions(own.arguments.as_deref().into_iter().flat_map(arguments));
        self.visit_block(&own.body);
        self.visit_expressions(decorators(&own.decorator_list));
        self.close(Kind::Closed);
        self.owners.pop();
    }

    fn function(&mut self, own: &'a StmtFunctionDef, place: Place) {
        let is_constructor = own.name.as_str() == "__init__";
        self.owners.push(if is_constructor { Owner::Constructor } else { Owner::Other });
        // The definition: what is evaluated where it stands.
        self.open();
        self.visit_expressions(decorators(&own.decorator_list));
        self.annotation(own.returns.as_deref());
        self.evaluated(&own.parameters);
        self.bind(own.name.as_str());
        self.close_own(place);

        self.open();
        self.open();
        self.declared(&own.parameters);
        self.close_own(place.as_role(Role::Parameters));
        self.open();
        self.visit_block(&own.body);
        self.close_body(place);
        let whole = self.close(Kind::Closed);
        self.activity.whole.insert(place, whole);
        self.owners.pop();
    }

    fn lambda(&mut self, parameters: Option<&'a Parameters>, body: &'a Expr, place: Place) {
        self.owners.push(Owner::Other);
        self.open();
        if let Some(parameters) = parameters {
            self.evaluated(parameters);
        }
        self.close_own(place);

        self.open();
        if let Some(parameters) = parameters {
            self.declared(parameters);
        }
        self.expression(body);
        self.close(Kind::Closed);
        self.owners.pop();
    }

    /// What of parameters is evaluated where the function is defined: defaults and annotations.
    fn evaluated(&mut self, parameters: &'a Parameters) {
        self.visit_expressions(defaults(parameters));
        self.annotations_only = true;
        self.declared(parameters);
        self.annotations_only = false;
    }

    fn declared(&mut self, parameters: &'a Parameters) {
        declared(parameters, &mut |parameter| self.visit(parameter));
    }

    fn annotation(&mut self, annotation: Option<&'a Expr>) {
        if let Some(annotation) = annotation {
            self.in_annotation = true;
            self.expression(annotation);
            self.in_annotation = false;
        }
    }

    /// A comprehension names its targets first, so that its other parts know what is its own.
    fn comprehension(&mut self, elements: &[&'a Expr], generators: &'a [Comprehension]) {
        self.targets.push(BTreeSet::new());
        self.visit_all(generators.iter().map(Node::Comprehension));
        self.visit_expressions(elements.iter().copied());
        self.targets.pop();
    }

    fn generator(&mut self, own: &'a Comprehension) {
        self.expression(&own.iter);
        self.expression(&own.target);
        self.visit_expressions(&own.ifs);
    }

    /// Visits an expression; its qualified name, if it has one.
    fn expression(&mut self, expression: &'a Expr) -> Option<Name> {
        with_stack(|| match expression {
            Expr::Name(own) => {
                let name = self.symbol(own.id.as_str());
                self.track(name, own.ctx.into());
                Some(name)
            }
            Expr::Attribute(own) => {
                let base = self.expression(&own.value)?;
                let name = self.activity.names.intern(Part::Attribute(base, own.attr.as_str()));
                self.track(name, own.ctx.into());
                // An object that its constructor changes is another one; only classes inside functions have that.
                let makes_self = self.owners.ends_with(&[Owner::Class, Owner::Constructor])
                    && own.ctx == ExprContext::Store
                    && self.activity.names.is_of_self(name);
                if makes_self && self.is_seen(name) && self.targets.is_empty() {
                    self.scope().modified.insert(base);
                }
                Some(name)
            }
            Expr::Subscript(own) => {
                let base = self.expression(&own.value);
                let key = self.expression(&own.slice);
                let key = match literal(&own.slice) {
                    Some(text) => Some(self.activity.names.intern(Part::Literal(text))),
                    None => key,
                };
                let name = self.activity.names.intern(Part::Item(base?, key?));
                self.track(name, own.ctx.into());
                Some(name)
            }
            Expr::Lambda(own) => {
                self.lambda(own.parameters.as_deref(), &own.body, Place::new(expression, Role::Lambda));
                None
            }
            Expr::Call(own) => {
                self.visit_expressions(arguments(&own.arguments));
                self.expression(&own.func);
                None
            }
            Expr::ListComp(own) => {
                self.comprehension(&[&own.elt], &own.generators);
                None
            }
            Expr::SetComp(own) => {
                self.comprehension(&[&own.elt], &own.generators);
                None
            }
            Expr::Generator(own) => {
                self.comprehension(&[&own.elt], &own.generators);
                None
            }
            Expr::DictComp(own) => {
                let elements: Vec<&Expr> = own.key.as_deref().into_iter().chain([&*own.value]).collect();
                self.comprehension(&elements, &own.generators);
                None
            }
            _ => {
                self.visit_children(Node::Expression(expression));
                None
            }
        })
    }

    fn symbol(&mut self, text: &'a str) -> Name {
        self.activity.names.intern(Part::Symbol(text))
    }

    fn bind(&mut self, text: &'a str) {
        let name = self.symbol(text);
        self.scope().modified.insert(name);
        self.scope().bound.insert(name);
    }

    /// Whether a name counts here: it is not, and hangs on nothing that is, a target of a comprehension around.
    fn is_seen(&self, name: Name) -> bool {
        let is_target = |name: Name| self.targets.iter().any(|targets| targets.contains(&name));
        (self.in_annotation || !self.annotations_only)
            && (self.targets.is_empty()
                || !is_target(name) && !self.activity.names.owners(name).any(is_target))
    }

    fn track(&mut self, name: Name, deed: Deed) {
        if !self.is_seen(name) {
            return;
        }
        let (in_augmented_target, in_annotation) = (self.in_augmented_target, self.in_annotation);
        if deed == Deed::Store
            && let Some(targets) = self.targets.last_mut()
        {
            targets.insert(name);
            return;
        }
        let scope = self.scope();
        match deed {
            Deed::Store => {
                scope.modified.insert(name);
                scope.bound.insert(name);
                if in_augmented_target {
                    scope.read.insert(name);
                }
            }
            Deed::Load => {
                scope.read.insert(name);
                if in_annotation {
                    scope.annotations.insert(name);
                }
            }
            Deed::Declare => {
                scope.bound.insert(name);
                scope.params.insert(name);
            }
            Deed::Delete => {
                scope.read.insert(name);
                scope.bound.insert(name);
                scope.deleted.insert(name);
            }
        }
    }
}
