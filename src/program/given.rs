//! Which of the functions that shared code may call a program gives it.
//!
//! Value flow knows no programs: where one runs `train(Solver)` and another `train(DistributedSolver)`, `train` may call
//! the methods of both. A program calls those that its own calls pass, on the objects that its own code makes.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::modules::{ClassRef, FunctionRef};
use super::object::{Object, ObjectId};
use super::programs::Program;
use super::solver::CallEdge;
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// What a parameter may be, and nothing else.
type Objects = Option<Rc<FxHashSet<ObjectId>>>;

/// What the calls of a program pass and make.
pub(super) struct Given<'f, 'a> {
    facts: &'f Facts<'a>,
    /// The program with all code that it might reach.
    program: &'f Program,
    known: RefCell<FxHashMap<(FunctionRef, u32), Objects>>,
}

impl<'f, 'a> Given<'f, 'a> {
    pub(super) fn new(facts: &'f Facts<'a>, program: &'f Program) -> Self {
        Self { facts, program, known: RefCell::default() }
    }

    /// Whether the program may come along an edge to a function.
    pub(super) fn leads_to(&self, edge: &CallEdge, function: FunctionRef) -> bool {
        let Some(call) = edge.call.filter(|_| !Facts::is_call_back(edge)) else { return true };
        let file = edge.caller.file;
        let module = self.facts.module(file);
        let callee = module.call(call).callee;
        match module.value(callee).value {
            Value::Parameter(own, position) => {
                let given = self.given(FunctionRef { file, function: own }, position);
                given.is_none_or(|given| given.iter().any(|&object| self.may_enter(object, function)))
            }
            Value::Attribute { .. } => self.has_receiver(file, callee, function),
            _ => true,
        }
    }

    /// Whether calling an object may enter a function.
    fn may_enter(&self, object: ObjectId, function: FunctionRef) -> bool {
        match self.facts.solution.object(object) {
            Object::Function(own) | Object::Bound(_, own) => own == function,
            Object::Class(class) | Object::Instance(class, _) => self.has_method(class, function),
            Object::External(_) | Object::Created(..) | Object::Literal(_) | Object::Type(_) => false,
            _ => true,
        }
    }

    fn has_method(&self, class: ClassRef, function: FunctionRef) -> bool {
        let own = self.facts.module(function.file).function(function.function).class;
        own.is_some_and(|own| {
            let owner = Ancestor::Project(ClassRef { file: function.file, class: own });
            self.facts.hierarchy.order(class).contains(&owner)
        })
    }

    /// Whether an object that the method is called on is made by the program, as far as that is known.
    fn has_receiver(&self, file: FileId, callee: ValueId, method: FunctionRef) -> bool {
        let mut others_are_made = false;
        let mut is_called = false;
        for (_, object) in self.facts.objects(file, callee) {
            let Object::Bound(receiver, own) = object else { continue };
            let is_made = self.is_made(receiver);
            if own != method {
                others_are_made |= is_made;
            } else if is_made {
                return true;
            } else {
                is_called = true;
            }
        }
        !(is_called && others_are_made)
    }

    fn is_made(&self, object: ObjectId) -> bool {
        let Object::Instance(class, Some(_)) = self.facts.solution.object(object) else { return true };
        let Some((file, call)) = self.facts.made_at(object) else { return true };
        self.facts.runs(self.program, file, call) && self.may_make(file, call, class)
    }

    /// Whether a call makes an instance of a class, if a parameter says of which one.
    fn may_make(&self, file: FileId, call: CallId, class: ClassRef) -> bool {
        let module = self.facts.module(file);
        let Value::Parameter(own, position) = module.value(module.call(call).callee).value else {
            return true;
        };
        let given = self.given(FunctionRef { file, function: own }, position);
        given.is_none_or(|given| {
            given.iter().any(|&object| match self.facts.solution.object(object) {
                Object::Class(own) => own == class,
                Object::Literal(_) | Object::Instance(..) | Object::Function(_) => false,
                _ => true,
            })
        })
    }

    /// What the program's calls pass for a parameter, if all of it is known.
    fn given(&self, function: FunctionRef, position: u32) -> Objects {
        if let Some(known) = self.known.borrow().get(&(function, position)) {
            return known.clone();
        }
        let found = self.find_given(function, position).map(Rc::new);
        self.known.borrow_mut().insert((function, position), found.clone());
        found
    }

    fn find_given(&self, function: FunctionRef, position: u32) -> Option<FxHashSet<ObjectId>> {
        let mut objects = FxHashSet::default();
        let edges = self.facts.incoming(function).iter();
        for edge in edges.filter(|edge| self.facts.is_run(self.program, edge)) {
            let call = edge.call.filter(|_| !Facts::is_call_back(edge))?;
            let (file, value) = self.facts.passed_for(edge.caller.file, call, function, position)?;
            if self.facts.is_unknown(file, value) {
                return None;
            }
            objects.extend(self.facts.objects(file, value).map(|(id, _)| id));
        }
        (!objects.is_empty()).then_some(objects)
    }
}
