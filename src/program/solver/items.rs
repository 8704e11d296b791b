//! Reading items, slices and what iterating yields.

use super::{
    Caller, ExternalId, Field, FileId, Literal, NodeId, Object, ObjectId, Solver, Use, Value, ValueId,
};
use crate::api::Returns;
use crate::semantic::{Bounds, BuiltinType, Container};
use smallvec::{SmallVec, smallvec};

/// The method that a subscript calls.
const ITEM: &str = "__getitem__";

impl Solver<'_> {
    pub(super) fn read_item(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let Value::Item { key, narrowed, .. } = self.modules.get(file).value(value).value else { return };
        let result = self.node(file, value);
        if narrowed.is_some() && !matches!(self.objects.get(object), Object::Instance(..)) {
            return;
        }
        if let Some(literal) = self.constant_key(file, key) {
            self.item(file, value, object, Some(literal), key, result);
        } else {
            let node = self.node(file, key);
            for literal in self.literals(node) {
                self.item(file, value, object, literal, key, result);
            }
        }
    }

    pub(super) fn read_item_key(&mut self, file: FileId, value: ValueId, key_object: ObjectId) {
        let Value::Item { base, key, .. } = self.modules.get(file).value(value).value else { return };
        let (base, result) = (self.node(file, base), self.node(file, value));
        let literal = self.literal_of(key_object);
        for object in self.seen(base) {
            self.item(file, value, object, literal, key, result);
        }
    }

    pub(super) fn item(
        &mut self,
        file: FileId,
        value: ValueId,
        object: ObjectId,
        literal: Option<Literal>,
        key: ValueId,
        result: NodeId,
    ) {
        match self.objects.get(object) {
            Object::Container(..) => self.container_item(object, literal, result),
            Object::Instance(..) => {
                let (key, caller) = (self.node(file, key), self.caller(file, value));
                self.call_method(object, ITEM, caller, smallvec![key], Some(result));
            }
            // `globals()[name]`
            Object::Module(_) => match literal {
                Some(Literal::Str(name)) => {
                    let from = self.attribute_node(object, name);
                    self.flow(from, result);
                }
                _ => self.unknown(result),
            },
            // `Generic[T]`, `list[int]`
            Object::Class(_) => self.add(result, object),
            Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str) => {
                self.add_new(result, Object::Type(BuiltinType::Str));
            }
            Object::Literal(_) | Object::Type(_) => {}
            Object::Created(class, _) => self.library_item(class, result),
            _ => self.unknown(result),
        }
    }

    /// What `__getitem__` of a library's class gives: a part of a table is a table.
    fn library_item(&mut self, class: ExternalId, result: NodeId) {
        let name = self.names.id(ITEM);
        let member = self.externals.child(class, name, ITEM);
        let symbol = member.and_then(|member| self.externals.get(member).symbol);
        match symbol.map(|symbol| symbol.returns().clone()) {
            Some(Returns::Instance(class)) => {
                let class = self.externals.id(&class);
                self.add_new(result, Object::Created(class, result));
            }
            _ => self.unknown(result),
        }
    }

    pub(super) fn container_item(&mut self, container: ObjectId, literal: Option<Literal>, result: NodeId) {
        let from = match literal {
            Some(Literal::Int(index)) if index < 0 => self.all(container),
            Some(literal) => {
                let any = self.field(container, Field::Any);
                self.flow(any, result);
                self.part(container, literal)
            }
            None => self.all(container),
        };
        self.flow(from, result);
    }

    pub(super) fn key_into(&mut self, container: ObjectId, key: ObjectId, node: NodeId) {
        let literal = self.literal_of(key);
        self.container_item(container, literal, node);
    }

    pub(super) fn slice(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let Value::Slice { cut, .. } = &self.modules.get(file).value(value).value else { return };
        let result = self.node(file, value);
        match self.objects.get(object) {
            Object::Container(kind, _) => {
                let target = self.objects.id(Object::Container(kind, result));
                match cut.bounds {
                    Some(Bounds { lower, upper }) if lower >= 0 => {
                        self.slice_into(object, lower, upper, target);
                    }
                    _ => {
                        let (from, to) = (self.all(object), self.field(target, Field::Any));
                        self.flow(from, to);
                    }
                }
                self.add(result, target);
            }
            Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str) => {
                self.add_new(result, Object::Type(BuiltinType::Str));
            }
            Object::Instance(..) => {
                let caller = self.caller(file, value);
                let slice = self.objects.id(Object::Type(BuiltinType::Slice));
                let slice = self.singleton(slice);
                self.call_method(object, ITEM, caller, smallvec![slice], Some(result));
            }
            Object::Literal(_) | Object::Type(_) => {}
            Object::Created(class, _) => self.library_item(class, result),
            _ => self.unknown(result),
        }
    }

    pub(super) fn merge_into(&mut self, object: ObjectId, target: ObjectId) {
        if let Object::Container(Container::Dict, _) = self.objects.get(object) {
            if object != target {
                self.slice_dict(object, target);
            }
        } else if let Object::Unknown | Object::Created(..) = self.objects.get(object) {
            let any = self.field(target, Field::Any);
            self.unknown(any);
        }
    }

    /// What `dict(object)` has goes to the dictionary `target`: a mapping's items, or pairs of key and value.
    pub(super) fn pairs_into(&mut self, object: ObjectId, target: ObjectId, caller: Caller) {
        match self.objects.get(object) {
            Object::Container(Container::Dict, _) | Object::Unknown | Object::Created(..) => {
                self.merge_into(object, target);
            }
            Object::Instance(class, _)
                if self.first_in_class(class, &["keys", "__iter__"]) != Some("__iter__") =>
            {
                let any = self.field(target, Field::Any);
                self.unknown(any);
            }
            Object::Container(..) | Object::Instance(..) => {
                let pair = self.fresh();
                self.iterate(object, pair, caller);
                self.on(pair, Use::PairInto(target));
            }
            _ => {}
        }
    }

    /// The pair `object` goes to the dictionary `target`.
    pub(super) fn pair_into(&mut self, object: ObjectId, target: ObjectId) {
        let (key, value) = (self.fresh(), self.fresh());
        for (index, part) in [(0, key), (1, value)] {
            let index = self.objects.id(Object::Literal(Literal::Int(index)));
            self.element_into(object, index, part);
        }
        let keys = self.field(target, Field::Keys);
        self.flow(key, keys);
        self.on(key, Use::PartOf(target, value));
    }

    /// Copies what a dictionary has into another.
    pub(super) fn slice_dict(&mut self, source: ObjectId, target: ObjectId) {
        let (from, to) = (self.field(source, Field::Any), self.field(target, Field::Any));
        self.flow(from, to);
        for (key, part) in self.parts.get(&source).cloned().unwrap_or_default() {
            let to = self.part(target, key);
            self.flow(part, to);
        }
        let (from, to) = (self.field(source, Field::Keys), self.field(target, Field::Keys));
        self.flow(from, to);
    }

    /// What iterating over `object` yields goes to `node`.
    pub(super) fn iterate(&mut self, object: ObjectId, node: NodeId, caller: Caller) {
        match self.objects.get(object) {
            Object::Container(Container::Dict, _) => {
                let keys = self.field(object, Field::Keys);
                self.flow(keys, node);
            }
            Object::Container(..) => {
                self.force(object, caller);
                let all = self.all(object);
                self.flow(all, node);
            }
            Object::Instance(class, _) => {
                let iterator = self.fresh();
                let method = self
                    .first_in_class(class, &["__iter__", "__aiter__", "__getitem__"])
                    .unwrap_or("__iter__");
                if method == "__getitem__" {
                    // Without an iterator the indices are tried one after the other.
                    let index = self.objects.id(Object::Type(BuiltinType::Int));
                    let index = self.singleton(index);
                    self.call_method(object, method, caller, smallvec![index], Some(node));
                    return;
                }
                let at = self.evaluated(caller, Some(node));
                self.call_method_at(at, object, method, caller, SmallVec::new(), Some(iterator));
                self.on(iterator, Use::NextInto(node, caller));
            }
            Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str | BuiltinType::File) => {
                self.add_new(node, Object::Type(BuiltinType::Str));
            }
            Object::Type(BuiltinType::Bytes) => self.add_new(node, Object::Type(BuiltinType::Int)),
            Object::Literal(_) | Object::Type(_) => {}
            _ => self.unknown(node),
        }
    }

    /// What the iterator `object` yields goes to `node`.
    pub(super) fn next(&mut self, object: ObjectId, node: NodeId, caller: Caller) {
        match self.objects.get(object) {
            Object::Instance(class, _) => {
                let method = self.first_in_class(class, &["__next__", "__anext__"]).unwrap_or("__next__");
                self.call_method(object, method, caller, SmallVec::new(), Some(node));
            }
            _ => self.iterate(object, node, caller),
        }
    }

    pub(super) fn unpack(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let Value::Unpack { index, starred, .. } = self.modules.get(file).value(value).value else { return };
        let result = self.node(file, value);
        match self.objects.get(object) {
            Object::Container(Container::List | Container::Tuple, _) => {
                if starred {
                    let list = self.objects.id(Object::Container(Container::List, result));
                    self.slice_into(object, index.unwrap_or(0).into(), None, list);
                    self.add(result, list);
                } else {
                    let literal = index.map(|index| Literal::Int(index.into()));
                    self.container_item(object, literal, result);
                }
            }
            // A named tuple.
            Object::Instance(class, _) if !starred && self.first_in_class(class, &["__iter__"]).is_none() => {
                let fields = self.annotated(class);
                match index.and_then(|index| fields.get(index as usize)) {
                    Some(&name) => {
                        let from = self.attribute_node(object, name);
                        self.flow(from, result);
                    }
                    None => self.unknown(result),
                }
            }
            Object::Unknown | Object::Created(..) if starred => {
                let list = self.objects.id(Object::Container(Container::List, result));
                let any = self.field(list, Field::Any);
                self.unknown(any);
                self.add(result, list);
            }
            _ => {
                let caller = self.caller(file, value);
                self.iterate(object, result, caller);
            }
        }
    }
}
