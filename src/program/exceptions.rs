//! Exceptions: of which classes they are, and whether a handler catches them.
//!
//! Value flow tells of an exception of Python's own that it is one, not of which class; so the class is read from the call
//! that makes it.

use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::influence::Place;
use super::modules::ClassRef;
use super::object::{Object, ObjectId};
use crate::api::Symbol;
use crate::semantic::Value;

/// A class of exceptions.
#[derive(Clone, Copy)]
enum Class<'a> {
    Project(ClassRef),
    Library(&'a Symbol),
}

impl<'a> Facts<'a> {
    /// Whether a handler of some classes may catch an exception, an instance or a class; if nobody knows what either is, it
    /// may.
    #[must_use]
    pub fn may_catch(&self, (in_file, classes): Place, (file, raised): Place) -> bool {
        let caught = self.exception_classes(self.elements(in_file, classes));
        let raised = match self.module(file).value(raised).value {
            Value::Call(call) => self.callees(file, call).iter().map(|edge| edge.callee).collect(),
            _ => self.solution.values(file, raised).to_vec(),
        };
        caught.zip(self.exception_classes(raised)).is_none_or(|(caught, raised)| {
            raised.iter().any(|&own| caught.iter().any(|&base| self.inherits(own, base)))
        })
    }

    /// The classes that objects are, or are instances of, if all are known and there is any.
    fn exception_classes(&self, objects: Vec<ObjectId>) -> Option<Vec<Class<'a>>> {
        let class = |object: ObjectId| match self.solution.object(object) {
            Object::Class(class) | Object::Instance(class, _) => Some(Class::Project(class)),
            own @ (Object::External(_) | Object::Created(..) | Object::Builtin(_)) => {
                self.symbol(own).filter(|symbol| symbol.is_class()).map(Class::Library)
            }
            _ => None,
        };
        let classes: Option<Vec<Class<'a>>> = objects.into_iter().map(class).collect();
        classes.filter(|classes| !classes.is_empty())
    }

    /// Whether one class may be another or inherit from it.
    fn inherits(&self, class: Class<'a>, base: Class<'a>) -> bool {
        match (class, base) {
            (Class::Library(class), Class::Library(base)) => self.library.is_subclass(class, base),
            (Class::Library(_), Class::Project(_)) => false,
            (Class::Project(class), base) => {
                self.hierarchy.order(class).iter().any(|ancestor| match ancestor {
                    Ancestor::Unknown => true,
                    Ancestor::Project(own) => matches!(base, Class::Project(base) if base == *own),
                    Ancestor::External(path) => self.inherits_named(path, base),
                    Ancestor::Builtin(name) => self.inherits_named(&format!("builtins.{name}"), base),
                })
            }
        }
    }

    /// The same of a class of a library by its qualified name.
    fn inherits_named(&self, class: &str, base: Class<'a>) -> bool {
        match base {
            Class::Library(base) => {
                self.library.lookup(class).is_none_or(|own| self.library.is_subclass(own, base))
            }
            Class::Project(_) => false,
        }
    }
}
