//! What the language calls for `with`, `except` and operators.

use super::{ExternalId, Field, FileId, Literal, Object, ObjectId, Solver, Use, Value, ValueId};
use crate::api::Returns;
use crate::semantic::{BuiltinType, Container, Operator};
use smallvec::{SmallVec, smallvec};

impl Solver<'_> {
    pub(super) fn enter(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let result = self.node(file, value);
        match self.objects.get(object) {
            Object::Instance(class, _) => {
                let caller = self.caller(file, value);
                match self.first_in_class(class, &["__enter__", "__aenter__"]) {
                    Some(method) => self.call_method(object, method, caller, SmallVec::new(), Some(result)),
                    None => self.add(result, object),
                }
            }
            // A generator function under `contextlib.contextmanager`.
            Object::Container(Container::Generator, _) => {
                let all = self.all(object);
                self.flow(all, result);
            }
            Object::Created(class, _) => {
                let enter = self.names.id("__enter__");
                let returns = self
                    .externals
                    .child(class, enter, "__enter__")
                    .and_then(|member| self.externals.get(member).symbol)
                    .map(|symbol| symbol.returns().clone());
                match returns {
                    Some(Returns::Instance(class)) => {
                        let class = self.externals.id(&class);
                        self.add_new(result, Object::Created(class, result));
                    }
                    _ => self.add(result, object),
                }
            }
            _ => self.add(result, object),
        }
    }

    pub(super) fn leave(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        if let Object::Instance(class, _) = self.objects.get(object) {
            let caller = self.caller(file, value);
            let unknown = self.singleton(ObjectId::UNKNOWN);
            let method = self.first_in_class(class, &["__exit__", "__aexit__"]).unwrap_or("__exit__");
            self.call_method_at(Some(value), object, method, caller, smallvec![unknown; 3], None);
        }
    }

    pub(super) fn caught(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let result = self.node(file, value);
        match self.objects.get(object) {
            Object::Class(class) => self.add_new(result, Object::Instance(class, None)),
            Object::External(external) => self.add_new(result, Object::Created(external, result)),
            Object::Builtin(_) => self.add_new(result, Object::Type(BuiltinType::Exception)),
            Object::Container(..) => {
                let all = self.all(object);
                self.on(all, Use::Caught(file, value));
            }
            _ => self.unknown(result),
        }
    }

    pub(super) fn operator(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let Value::Operator { operator, right, .. } = self.modules.get(file).value(value).value else {
            return;
        };
        let (result, right, caller) =
            (self.node(file, value), self.node(file, right), self.caller(file, value));
        match (operator, self.objects.get(object)) {
            (Operator::Compare(method), Object::Instance(..)) => {
                self.add_new(result, Object::Type(BuiltinType::Bool));
                self.call_method(object, method.name(), caller, smallvec![right], None);
            }
            (Operator::Compare(_), _) => self.add_new(result, Object::Type(BuiltinType::Bool)),
            (Operator::Unary(method), Object::Instance(..)) => {
                self.call_method(object, method.name(), caller, SmallVec::new(), Some(result));
            }
            (Operator::Binary(method), Object::Instance(..)) => {
                self.call_method(object, method.name(), caller, smallvec![right], Some(result));
            }
            (Operator::InPlace(method), Object::Instance(class, _)) => {
                let in_place = method.name().replacen("__", "__i", 1);
                let name = self.names.id(&in_place);
                let method = if self.in_class(class, name) { in_place } else { method.name().to_owned() };
                self.call_method(object, &method, caller, smallvec![right], Some(result));
            }
            (Operator::InPlace(_), Object::Container(..)) => {
                let any = self.field(object, Field::Any);
                self.on(right, Use::IterateInto(any, caller));
                self.add(result, object);
            }
            (Operator::Binary(_), Object::Container(kind, _)) => {
                let new = self.objects.id(Object::Container(kind, result));
                let (from, to) = (self.all(object), self.field(new, Field::Any));
                self.flow(from, to);
                if matches!(kind, Container::List | Container::Tuple | Container::Set) {
                    self.on(right, Use::IterateInto(to, caller));
                }
                self.add(result, new);
            }
            (_, Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str)) => {
                self.add_new(result, Object::Type(BuiltinType::Str));
            }
            (_, Object::Literal(Literal::Int(_) | Literal::Bool(_))) => {
                self.add_new(result, Object::Type(BuiltinType::Int));
            }
            (_, Object::Type(_)) => self.add(result, object),
            (Operator::Unary(_), Object::Container(..)) | (_, Object::Literal(Literal::None)) => {}
            (Operator::Binary(method), Object::Created(external, _))
                if self.has_operator(external, method.name()) =>
            {
                self.add_new(result, Object::Created(external, result));
            }
            _ => self.unknown(result),
        }
    }

    /// Whether a library's class is known to have an operator: with another value it makes a further object of the class,
    /// `path / name`.
    fn has_operator(&self, external: ExternalId, name: &str) -> bool {
        let class = self.externals.get(external).symbol.filter(|symbol| symbol.is_class());
        class.is_some_and(|class| self.externals.library().member(class, name).is_some())
    }

    pub(super) fn reflected_operator(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let Value::Operator { operator, left, .. } = self.modules.get(file).value(value).value else {
            return;
        };
        let (result, left, caller) =
            (self.node(file, value), self.node(file, left), self.caller(file, value));
        match (operator, self.objects.get(object)) {
            (Operator::Binary(method) | Operator::InPlace(method), Object::Instance(class, _)) => {
                let reflected = method.name().replacen("__", "__r", 1);
                let name = self.names.id(&reflected);
                if self.in_class(class, name) {
                    self.call_method(object, &reflected, caller, smallvec![left], Some(result));
                }
            }
            // A number and a tensor make a tensor.
            (Operator::Binary(_) | Operator::InPlace(_), Object::Unknown | Object::Created(..)) => {
                self.unknown(result);
            }
            _ => {}
        }
    }
}
