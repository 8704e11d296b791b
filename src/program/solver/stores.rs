//! Writing attributes and items.

use super::super::hierarchy::Ancestor;
use super::{
    Arguments, Caller, Field, FileId, Literal, Name, NodeId, Object, ObjectId, Solver, StoreKey, Use, ValueId,
};
use crate::semantic::Container;
use smallvec::smallvec;

impl Solver<'_> {
    pub(super) fn store(&mut self, file: FileId, store: u32, object: ObjectId) {
        let store = &self.modules.get(file).stores[store as usize];
        let value = self.node(file, store.value);
        let caller = Caller { file, scope: store.scope };
        match store.key {
            StoreKey::Attribute(name) => {
                let name = self.name(file, name);
                self.store_attribute(object, name, value);
            }
            StoreKey::Item(key) => {
                if let Some(literal) = self.constant_key(file, key) {
                    self.store_item(object, Some(literal), key, file, value, caller);
                } else {
                    let node = self.node(file, key);
                    for literal in self.literals(node) {
                        self.store_item(object, literal, key, file, value, caller);
                    }
                }
            }
            StoreKey::Slice => {
                if let Object::Container(..) = self.objects.get(object) {
                    let any = self.field(object, Field::Any);
                    self.on(value, Use::IterateInto(any, caller));
                }
            }
        }
    }

    pub(super) fn store_attribute(&mut self, object: ObjectId, name: Name, value: NodeId) {
        match self.objects.get(object) {
            Object::Instance(class, _) => {
                let field = self.field(object, Field::Attribute(name));
                self.flow(value, field);
                let hierarchy = self.hierarchy;
                let export = hierarchy.order(class).iter().find_map(|ancestor| match ancestor {
                    Ancestor::Project(class) => self.class_export(*class, name),
                    _ => None,
                });
                if let Some(export) = export {
                    self.on(export, Use::Assign(object, value));
                }
            }
            Object::Class(_) | Object::Module(_) | Object::Function(_) | Object::Created(..) => {
                let field = self.field(object, Field::Attribute(name));
                self.flow(value, field);
            }
            Object::Super(_, receiver) => self.store_attribute(receiver, name, value),
            _ => {}
        }
    }

    /// Some attribute of an instance is assigned: whatever is read from it may be that.
    pub(super) fn store_anywhere(&mut self, object: ObjectId, value: NodeId) {
        if !matches!(self.objects.get(object), Object::Instance(..)) {
            return;
        }
        let is_new = !self.fields.contains_key(&(object, Field::AnyAttribute));
        let any = self.field(object, Field::AnyAttribute);
        if is_new {
            for attribute in self.attributes_of.get(&object).cloned().unwrap_or_default() {
                self.flow(any, attribute);
            }
        }
        self.flow(value, any);
    }

    /// A property is assigned to: its setters are called.
    pub(super) fn assign_property(&mut self, object: ObjectId, receiver: ObjectId, value: NodeId) {
        if let Object::Property(getter) = self.objects.get(object) {
            let receiver = self.singleton(receiver);
            for setter in self.property_setters.get(&getter).cloned().unwrap_or_default() {
                let caller = self.origin_caller(value);
                let arguments = Arguments { positional: smallvec![receiver, value], ..Arguments::default() };
                let site = self.implicit(caller, arguments, None);
                self.on(setter, Use::Call(site));
            }
        }
    }

    /// The function of a class method, bound to the class.
    pub(super) fn bind_to_class(&mut self, object: ObjectId, class: ObjectId, node: NodeId) {
        if let Object::Function(function) = self.objects.get(object) {
            self.add_new(node, Object::Bound(class, function));
        }
    }

    pub(super) fn store_key(&mut self, file: FileId, store: u32, key_object: ObjectId) {
        let entry = &self.modules.get(file).stores[store as usize];
        let (base, value) = (self.node(file, entry.base), self.node(file, entry.value));
        let StoreKey::Item(key) = entry.key else { return };
        let caller = Caller { file, scope: entry.scope };
        let literal = self.literal_of(key_object);
        for object in self.seen(base) {
            self.store_item(object, literal, key, file, value, caller);
        }
    }

    pub(super) fn store_item(
        &mut self,
        object: ObjectId,
        literal: Option<Literal>,
        key: ValueId,
        file: FileId,
        value: NodeId,
        caller: Caller,
    ) {
        match self.objects.get(object) {
            Object::Container(kind, _) => {
                let part = match literal {
                    Some(literal) => self.part(object, literal),
                    None => self.field(object, Field::Any),
                };
                self.flow(value, part);
                if kind == Container::Dict {
                    let keys = self.field(object, Field::Keys);
                    let key = self.node(file, key);
                    self.flow(key, keys);
                }
            }
            Object::Instance(..) => {
                let key = self.node(file, key);
                self.call_method(object, "__setitem__", caller, smallvec![key, value], None);
            }
            _ => {}
        }
    }

    /// The objects that a node has passed on so far.
    pub(super) fn seen(&self, node: NodeId) -> Vec<ObjectId> {
        let node = &self.nodes[node.index()];
        node.objects[..usize::from(node.done)].to_vec()
    }

    pub(super) fn literal_of(&self, object: ObjectId) -> Option<Literal> {
        match self.objects.get(object) {
            Object::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The keys that a node has passed on so far; `None` among them for an unknown one.
    pub(super) fn literals(&self, node: NodeId) -> Vec<Option<Literal>> {
        self.seen(node).into_iter().map(|object| self.literal_of(object)).collect()
    }
}
