//! Draws the control flow graphs of a function and of the functions in it.

use rustc_hash::FxHashMap;

use super::control::{Builder, Control};
use super::node::{Node, Place, Role, arguments, decorators, handlers, statements};
use crate::syntax::ast::{Expr, Stmt, StmtFunctionDef, StmtTry};
use crate::syntax::{Ranged, with_stack};

/// A function with its graph.
#[derive(Debug)]
pub(super) struct Drawn {
    pub place: Place,
    pub graph: Control,
    /// The function whose graph has the definition as a node, an index into the functions; it stands before.
    pub outside: Option<usize>,
}

/// A block that a jump may leave.
enum Around {
    Function(Place),
    Loop(Place),
    Try { place: Place, handlers: Vec<Place>, has_finally: bool },
}

struct Walker {
    drawn: Vec<Drawn>,
    /// The graph under construction. Those around it wait in the callers.
    builder: Builder,
    /// The function of that graph; none in a class, whose graph nobody asks for.
    function: Option<usize>,
    around: Vec<Around>,
}

/// The graphs of a function and of those in it, in the order of the text.
pub(super) fn draw(place: Place, function: &StmtFunctionDef) -> Vec<Drawn> {
    let mut walker =
        Walker { drawn: Vec::new(), builder: Builder::new(), function: None, around: Vec::new() };
    walker.function(place, function);
    walker.drawn
}

impl Walker {
    fn visit(&mut self, node: Node<'_>) {
        with_stack(|| match node {
            Node::Statement(statement) => self.statement(statement),
            Node::If(..) => self.branch(node),
            Node::Handler(handler) => {
                self.builder.begin_statement(node.place());
                self.builder.begin_handler(node.place());
                handler.type_.iter().for_each(|class| self.visit(Node::Expression(class)));
                statements(&handler.body, &mut |statement| self.visit(statement));
                self.builder.end_statement();
            }
            Node::Expression(expression @ Expr::Lambda(_)) => {
                // What is in it runs elsewhere, and nothing asks for its graph.
                self.builder.ordinary(Place::new(expression, Role::Lambda), Some(expression.start()));
            }
            _ => self.visit_children(node),
        });
    }

    fn visit_children(&mut self, node: Node<'_>) {
        node.each_child(&mut |child| self.visit(child));
    }

    fn visit_block(&mut self, body: &[Stmt]) {
        statements(body, &mut |statement| self.visit(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        let node = Node::Statement(statement);
        let (place, start) = (node.place(), node.start());
        match statement {
            Stmt::FunctionDef(own) if !own.is_async => {
                self.builder.ordinary(place, Some(start));
                self.function(place, own);
            }
            Stmt::ClassDef(own) => {
                self.builder.ordinary(place, Some(start));
                let outer = std::mem::replace(&mut self.builder, Builder::new());
                let function = self.function.take();
                let inherited = own.arguments.as_deref().into_iter().flat_map(arguments);
                inherited.for_each(|class| self.visit(Node::Expression(class)));
                self.visit_block(&own.body);
                decorators(&own.decorator_list).for_each(|own| self.visit(Node::Expression(own)));
                self.builder = outer;
                self.function = function;
            }
            Stmt::For(own) if !own.is_async => self.repeated(place, &own.iter, &own.body, &own.orelse),
            Stmt::While(own) => self.repeated(place, &own.test, &own.body, &own.orelse),
            Stmt::With(own) if !own.is_async => {
                for item in &own.items {
                    self.visit_children(Node::Item(item));
                    self.builder.ordinary(Place::new(item, Role::Item), None);
                }
                self.visit_block(&own.body);
            }
            Stmt::Try(own) if !own.is_star => self.guarded(place, own),
            Stmt::Return(_) => {
                self.visit_children(node);
                let (section, guards) = self.jump_target(|around| matches!(around, Around::Function(_)));
                self.builder.exit(place, start, section.unwrap_or(place), guards);
            }
            Stmt::Raise(_) => {
                self.visit_children(node);
                let (section, guards) = self.jump_target(|around| matches!(around, Around::Function(_)));
                let raised = self.builder.exit(place, start, section.unwrap_or(place), guards);
                self.builder.raise(raised, self.enclosing_handlers());
            }
            Stmt::Break(_) => {
                let (section, guards) = self.jump_target(|around| matches!(around, Around::Loop(_)));
                self.builder.exit(place, start, section.unwrap_or(place), guards);
            }
            Stmt::Continue(_) => {
                let (section, guards) = self.jump_target(|around| matches!(around, Around::Loop(_)));
                self.builder.continues(place, start, section.unwrap_or(place), guards);
            }
            Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Expr(_)
            | Stmt::Assign(_)
            | Stmt::AnnAssign(_)
            | Stmt::AugAssign(_)
            | Stmt::Pass(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Assert(_)
            | Stmt::Delete(_) => {
                self.visit_children(node);
                self.builder.ordinary(place, Some(start));
            }
            // What `AutoGraph` has no rule for is a heap of expressions and statements to it.
            _ => self.visit_children(node),
        }
    }

    fn function(&mut self, place: Place, own: &StmtFunctionDef) {
        let index = self.drawn.len();
        self.drawn.push(Drawn { place, graph: Control::default(), outside: self.function });
        let outer = std::mem::replace(&mut self.builder, Builder::new());
        let function = self.function.replace(index);

        self.around.push(Around::Function(place));
        self.visit_children(Node::Parameters(&own.parameters));
        self.builder.ordinary(place.as_role(Role::Parameters), None);
        self.visit_block(&own.body);
        self.builder.end_section(place);
        self.around.pop();

        self.drawn[index].graph = std::mem::replace(&mut self.builder, outer).build();
        self.function = function;
    }

    fn branch(&mut self, node: Node<'_>) {
        let Some((test, body)) = node.arm() else { return };
        self.builder.begin_statement(node.place());
        self.visit_children(Node::Expression(test));
        self.builder.ordinary(Place::new(test, Role::Head), Some(test.start()));
        let mut ways = self.builder.first_way();
        self.visit_block(body);
        self.builder.next_way(&mut ways);
        node.otherwise().into_iter().for_each(|node| self.visit(node));
        self.builder.join(&ways);
        self.builder.end_statement();
    }

    fn repeated(&mut self, place: Place, head: &Expr, body: &[Stmt], otherwise: &[Stmt]) {
        self.builder.begin_statement(place);
        self.around.push(Around::Loop(place));
        self.visit_children(Node::Expression(head));
        let begin = self.builder.ordinary(Place::new(head, Role::Head), Some(head.start()));
        self.visit_block(body);
        self.builder.end_loop(place, begin);
        self.around.pop();
        // A `break` of the loop goes behind its `else`.
        self.visit_block(otherwise);
        self.builder.end_section(place);
        self.builder.end_statement();
    }

    fn guarded(&mut self, place: Place, own: &StmtTry) {
        self.builder.begin_statement(place);
        let clauses = handlers(&own.handlers).map(|handler| Node::Handler(handler).place()).collect();
        let has_finally = !own.finalbody.is_empty();
        self.around.push(Around::Try { place, handlers: clauses, has_finally });
        self.visit_block(&own.body);
        if !own.orelse.is_empty() {
            let mut ways = self.builder.first_way();
            self.visit_block(&own.orelse);
            self.builder.next_way(&mut ways);
            self.builder.join(&ways);
        }
        self.around.pop();
        let mut ways = None;
        for handler in handlers(&own.handlers) {
            match &mut ways {
                Some(ways) => self.builder.next_way(ways),
                None => ways = Some(self.builder.first_way()),
            }
            self.visit(Node::Handler(handler));
        }
        if let Some(mut ways) = ways {
            self.builder.next_way(&mut ways);
            self.builder.join(&ways);
        }
        if has_finally {
            self.builder.begin_finally(place);
            self.visit_block(&own.finalbody);
            self.builder.end_finally(place);
        }
        self.builder.end_statement();
    }

    /// The section that a jump leaves, and the `finally` blocks on its way, innermost first.
    fn jump_target(&self, is_target: impl Fn(&Around) -> bool) -> (Option<Place>, Vec<Place>) {
        let mut guards = Vec::new();
        for around in self.around.iter().rev() {
            match around {
                Around::Try { place, has_finally: true, .. } => guards.push(*place),
                Around::Function(place) | Around::Loop(place) if is_target(around) => {
                    return (Some(*place), guards);
                }
                _ => {}
            }
        }
        (None, guards)
    }

    /// The `except` clauses around, up to the function.
    fn enclosing_handlers(&self) -> Vec<Place> {
        let within = self.around.iter().rev().take_while(|around| !matches!(around, Around::Function(_)));
        let clauses = within.filter_map(|around| match around {
            Around::Try { handlers, .. } => Some(handlers),
            _ => None,
        });
        clauses.flatten().copied().collect()
    }
}

/// The graphs of functions by their places.
pub(super) fn by_place(drawn: &[Drawn]) -> FxHashMap<Place, usize> {
    drawn.iter().enumerate().map(|(index, own)| (own.place, index)).collect()
}
