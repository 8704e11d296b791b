//! Reading and writing parts of objects: attributes, items, iteration, context managers, operators.

use super::super::hierarchy::Ancestor;
use super::{
    Arguments, Caller, ClassRef, ExternalId, Field, FileId, Literal, Name, NodeId, Object, ObjectId, Site,
    Solver, StoreKey, Target, Use, Value, ValueId, Via,
};
use crate::api::{Returns, Role};
use crate::semantic::{Bounds, BuiltinType, Container, Operator};

impl Solver<'_> {
    // ---- attributes ----

    pub(super) fn read_attribute(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let Value::Attribute { name, narrowed, .. } = self.modules.get(file).value(value).value else {
            return;
        };
        let name = self.name(file, name);
        let result = self.node(file, value);
        if narrowed.is_some() {
            // What was stored is read back, unless a property or a method of the class comes in between.
            let in_class = match self.objects.get(object) {
                Object::Instance(class, _) => self.in_class(class, name),
                _ => false,
            };
            if !in_class {
                return;
            }
        }
        if let Object::Property(site) = self.objects.get(object) {
            if matches!(self.names.text(name), "setter" | "getter" | "deleter") {
                self.add_new(result, Object::PropertySetter(site));
            }
            return;
        }
        if let Object::Created(ExternalId::NAMELESS, _) = self.objects.get(object) {
            self.unknown(result);
            return;
        }
        let from = self.attribute_node(object, name);
        if self.decorated.contains(&name) {
            let caller = self.caller(file, value);
            self.on(from, Use::ReadInto(result, caller));
        } else {
            self.flow(from, result);
        }
    }

    /// An attribute's value goes to `node`; a property's getter is called by whoever reads it.
    pub(super) fn read_into(&mut self, object: ObjectId, node: NodeId, caller: Caller) {
        let Object::BoundProperty(receiver, getter) = self.objects.get(object) else {
            self.add(node, object);
            return;
        };
        let receiver = self.singleton(receiver);
        let arguments = Arguments { positional: vec![receiver], ..Arguments::default() };
        let site = self.implicit(caller, arguments, Some(node));
        self.on(getter, Use::Call(site));
    }

    /// The first of the methods that the project defines for a class: the plain one, else the asynchronous one.
    pub(super) fn first_in_class(
        &mut self,
        class: ClassRef,
        methods: &[&'static str],
    ) -> Option<&'static str> {
        methods.iter().copied().find(|method| {
            let name = self.names.id(method);
            self.in_class(class, name)
        })
    }

    pub(super) fn in_class(&self, class: ClassRef, name: Name) -> bool {
        let text = self.names.text(name);
        self.hierarchy.order(class).iter().any(|ancestor| match ancestor {
            Ancestor::Project(class) => self.class_export(*class, text).is_some(),
            _ => false,
        })
    }

    /// What the body of a class binds to a name.
    fn class_export(&self, class: ClassRef, name: &str) -> Option<NodeId> {
        let module = self.modules.get(class.file);
        let exports = &module.scope(module.class(class.class).scope).exports;
        let value = module.names.get(name).and_then(|name| exports.get(&name))?;
        Some(self.node(class.file, *value))
    }

    /// The node for what an object's attribute may be.
    pub(super) fn attribute_node(&mut self, object: ObjectId, name: Name) -> NodeId {
        if let Some(&node) = self.attributes.get(&(object, name)) {
            return node;
        }
        let node = self.fresh();
        self.attributes.insert((object, name), node);
        match self.objects.get(object) {
            Object::Unknown => self.unknown(node),
            Object::Module(module) => {
                self.own_field(object, name, node);
                let text = self.names.text(name).to_owned();
                let library = self.externals.library();
                match self.modules.member(module, &text, library, 0) {
                    Some(meaning) => self.meaning(meaning, node),
                    None => self.submodule(Target::File(module), &text, node),
                }
            }
            Object::Namespace(folder) => {
                let text = self.names.text(name).to_owned();
                self.submodule(Target::Namespace(folder), &text, node);
            }
            Object::External(external) => self.external_attribute(external, name, node),
            Object::Class(class) => {
                self.own_field(object, name, node);
                if self.names.text(name) == "__name__" {
                    let name = self.name(class.file, self.modules.get(class.file).class(class.class).name);
                    self.add_new(node, Object::Literal(Literal::Str(name)));
                }
                self.class_attribute(class, 0, name, object, node);
            }
            Object::Instance(class, _) => {
                self.own_field(object, name, node);
                if self.names.text(name) == "__class__" {
                    self.add_new(node, Object::Class(class));
                } else {
                    self.class_attribute(class, 0, name, object, node);
                }
            }
            Object::Super(class, receiver) => self.super_attribute(class, receiver, name, node),
            Object::Created(external, _) => {
                self.own_field(object, name, node);
                // What every object of the class has.
                let class = self.objects.id(Object::External(external));
                self.own_field(class, name, node);
                self.created_attribute(object, external, name, node);
            }
            Object::Function(function) => {
                self.own_field(object, name, node);
                if self.names.text(name) == "__name__" {
                    let module = self.modules.get(function.file);
                    let name = self.name(function.file, module.function(function.function).name);
                    self.add_new(node, Object::Literal(Literal::Str(name)));
                }
            }
            Object::Builtin(builtin) => {
                let text = format!("{}.{}", self.names.text(builtin), self.names.text(name));
                let name = self.names.id(&text);
                self.add_new(node, Object::Builtin(name));
            }
            Object::Literal(Literal::None)
            | Object::Property(_)
            | Object::BoundProperty(..)
            | Object::PropertySetter(_)
            | Object::StaticMethod(_)
            | Object::ClassMethod(_)
            | Object::Identity => {}
            Object::Literal(_) | Object::Type(_) | Object::Container(..) => {
                self.add_new(node, Object::BuiltinMethod(object, name));
            }
            Object::Member(..) | Object::Bound(..) | Object::BuiltinMethod(..) | Object::Partial(_) => {
                self.unknown(node);
            }
        }
        node
    }

    /// What the project has stored in the object.
    pub(super) fn own_field(&mut self, object: ObjectId, name: Name, node: NodeId) {
        let field = self.field(object, Field::Attribute(name));
        self.flow(field, node);
    }

    fn submodule(&mut self, parent: Target, name: &str, node: NodeId) {
        match self.modules.imports.submodule(parent, name) {
            Target::External => {}
            target => self.module_target(target, node),
        }
    }

    fn external_attribute(&mut self, external: ExternalId, name: Name, node: NodeId) {
        let text = self.names.text(name).to_owned();
        match self.externals.child(external, name, &text) {
            Some(child) => self.add_new(node, Object::External(child)),
            None => self.unknown(node),
        }
    }

    fn created_attribute(&mut self, object: ObjectId, class: ExternalId, name: Name, node: NodeId) {
        let text = self.names.text(name).to_owned();
        let Some(member) = self.externals.child(class, name, &text) else {
            self.unknown(node);
            return;
        };
        let attribute = self.externals.get(member).symbol.filter(|symbol| *symbol.role() == Role::Attribute);
        match attribute.map(|symbol| symbol.returns().clone()) {
            Some(Returns::Instance(class) | Returns::Perhaps(class)) => {
                let class = self.externals.id(&class);
                self.add_new(node, Object::Created(class, node));
            }
            Some(_) => self.unknown(node),
            None => self.add_new(node, Object::Member(object, member)),
        }
    }

    /// Looks `name` up along the method resolution order of `class`, from position `from` on, for `receiver`.
    fn class_attribute(
        &mut self,
        class: ClassRef,
        from: usize,
        name: Name,
        receiver: ObjectId,
        node: NodeId,
    ) {
        let text = self.names.text(name).to_owned();
        let hierarchy = self.hierarchy;
        // A library's class that the table does not know may have anything; but what a class of the project
        // behind it defines is more likely meant.
        let mut fallback = None;
        for ancestor in hierarchy.order(class).iter().skip(from) {
            match ancestor {
                Ancestor::Project(ancestor) => {
                    let object = self.objects.id(Object::Class(*ancestor));
                    if object != receiver && self.stored_on_class(*ancestor, name) {
                        let field = self.field(object, Field::Attribute(name));
                        self.on(field, Use::Bind(receiver, node));
                    }
                    if let Some(export) = self.class_export(*ancestor, &text) {
                        self.on(export, Use::Bind(receiver, node));
                        return;
                    }
                }
                Ancestor::External(path) => {
                    let base = self.externals.id(path);
                    let known = self.externals.get(base).symbol.is_some_and(crate::api::Symbol::is_class);
                    let library = self.externals.library();
                    let missing = known
                        && self
                            .externals
                            .get(base)
                            .symbol
                            .is_some_and(|symbol| library.member(symbol, &text).is_none());
                    if missing {
                        continue;
                    }
                    let member = self.externals.child(base, name, &text).map(|member| {
                        match self.objects.get(receiver) {
                            Object::Class(_) => Object::External(member),
                            _ => Object::Member(receiver, member),
                        }
                    });
                    fallback = fallback.or(member);
                    if known {
                        break;
                    }
                }
                Ancestor::Builtin(_) => {}
                Ancestor::Unknown => fallback = fallback.or(Some(Object::Unknown)),
            }
        }
        if let Some(fallback) = fallback {
            self.add_new(node, fallback);
        } else if text == "__new__" {
            let new = self.names.id("object.__new__");
            self.add_new(node, Object::Builtin(new));
        }
    }

    /// Whether the project assigns an attribute of this name to a class object, as far as is known.
    fn stored_on_class(&self, class: ClassRef, name: Name) -> bool {
        self.objects
            .find(Object::Class(class))
            .is_some_and(|object| self.fields.contains_key(&(object, Field::Attribute(name))))
    }

    fn super_attribute(&mut self, class: ClassRef, receiver: ObjectId, name: Name, node: NodeId) {
        let of = match self.objects.get(receiver) {
            Object::Instance(of, _) | Object::Class(of) => of,
            _ => class,
        };
        let order = self.hierarchy.order(of);
        let position = order.iter().position(|ancestor| *ancestor == Ancestor::Project(class));
        match position {
            Some(position) => self.class_attribute(of, position + 1, name, receiver, node),
            None => self.class_attribute(class, 1, name, receiver, node),
        }
    }

    /// An object found in a class, seen through `receiver`.
    pub(super) fn bind(&mut self, object: ObjectId, receiver: ObjectId, node: NodeId) {
        let through_class = matches!(self.objects.get(receiver), Object::Class(_));
        match self.objects.get(object) {
            Object::Function(function) if !through_class => {
                self.add_new(node, Object::Bound(receiver, function));
            }
            Object::Property(getter) if !through_class => {
                self.add_new(node, Object::BoundProperty(receiver, getter));
            }
            Object::StaticMethod(inner) => self.flow(inner, node),
            Object::ClassMethod(inner) => {
                let class = match self.objects.get(receiver) {
                    Object::Instance(class, _) => self.objects.id(Object::Class(class)),
                    _ => receiver,
                };
                self.on(inner, Use::BindToClass(class, node));
            }
            _ => self.add(node, object),
        }
    }

    /// The code that evaluates a module's value.
    fn origin_caller(&self, node: NodeId) -> Caller {
        let file = self.first.partition_point(|&first| first <= node.0).saturating_sub(1);
        match self.first.get(file + 1) {
            Some(_) => {
                let file_id = FileId(u32::try_from(file).expect("a file's index"));
                self.caller(file_id, ValueId(node.0 - self.first[file]))
            }
            None => Caller { file: FileId(0), scope: crate::semantic::Module::TOP },
        }
    }

    /// A call that the language makes.
    pub(super) fn implicit(
        &mut self,
        caller: Caller,
        arguments: Arguments,
        result: Option<NodeId>,
    ) -> super::SiteId {
        self.implicit_via(Via::Operator, caller, arguments, result)
    }

    fn implicit_via(
        &mut self,
        via: Via,
        caller: Caller,
        arguments: Arguments,
        result: Option<NodeId>,
    ) -> super::SiteId {
        self.site(Site {
            caller,
            call: None,
            arguments: arguments.into(),
            result,
            decorator: false,
            raise: false,
            via,
        })
    }

    /// Calls the method `name` of `object` with `arguments`, as the language does.
    pub(super) fn call_method(
        &mut self,
        object: ObjectId,
        name: &str,
        caller: Caller,
        arguments: Vec<NodeId>,
        result: Option<NodeId>,
    ) {
        let via = match name {
            "__iter__" | "__next__" | "__aiter__" | "__anext__" => Via::Protocol,
            _ => Via::Operator,
        };
        let name = self.names.id(name);
        let method = self.attribute_node(object, name);
        let arguments = Arguments { positional: arguments, ..Arguments::default() };
        let site = self.implicit_via(via, caller, arguments, result);
        self.on(method, Use::Call(site));
    }

    // ---- stores ----

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
                let text = self.names.text(name).to_owned();
                let hierarchy = self.hierarchy;
                let export = hierarchy.order(class).iter().find_map(|ancestor| match ancestor {
                    Ancestor::Project(class) => self.class_export(*class, &text),
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

    /// A property is assigned to: its setters are called.
    pub(super) fn assign_property(&mut self, object: ObjectId, receiver: ObjectId, value: NodeId) {
        if let Object::Property(getter) = self.objects.get(object) {
            let receiver = self.singleton(receiver);
            for setter in self.property_setters.get(&getter).cloned().unwrap_or_default() {
                let caller = self.origin_caller(value);
                let arguments = Arguments { positional: vec![receiver, value], ..Arguments::default() };
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

    fn store_item(
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
                self.call_method(object, "__setitem__", caller, vec![key, value], None);
            }
            _ => {}
        }
    }

    /// The objects that a node has passed on so far.
    fn seen(&self, node: NodeId) -> Vec<ObjectId> {
        let node = &self.nodes[node.index()];
        node.objects[..node.done as usize].to_vec()
    }

    fn literal_of(&self, object: ObjectId) -> Option<Literal> {
        match self.objects.get(object) {
            Object::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The keys that a node has passed on so far; `None` among them for an unknown one.
    fn literals(&self, node: NodeId) -> Vec<Option<Literal>> {
        self.seen(node).into_iter().map(|object| self.literal_of(object)).collect()
    }

    // ---- items ----

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

    fn item(
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
                self.call_method(object, "__getitem__", caller, vec![key], Some(result));
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
        let Value::Slice { bounds, .. } = &self.modules.get(file).value(value).value else { return };
        let result = self.node(file, value);
        match self.objects.get(object) {
            Object::Container(kind, _) => {
                let target = self.objects.id(Object::Container(kind, result));
                match bounds.as_deref() {
                    Some(&Bounds { lower, upper }) if lower >= 0 => {
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
                self.call_method(object, "__getitem__", caller, vec![slice], Some(result));
            }
            Object::Literal(_) | Object::Type(_) => {}
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

    /// Copies what a dictionary has into another.
    fn slice_dict(&mut self, source: ObjectId, target: ObjectId) {
        let (from, to) = (self.field(source, Field::Any), self.field(target, Field::Any));
        self.flow(from, to);
        for (key, part) in self.parts.get(&source).cloned().unwrap_or_default() {
            let to = self.part(target, key);
            self.flow(part, to);
        }
        let (from, to) = (self.field(source, Field::Keys), self.field(target, Field::Keys));
        self.flow(from, to);
    }

    // ---- iteration ----

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
                    self.call_method(object, method, caller, vec![index], Some(node));
                    return;
                }
                self.call_method(object, method, caller, Vec::new(), Some(iterator));
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
                self.call_method(object, method, caller, Vec::new(), Some(node));
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

    // ---- with, except ----

    pub(super) fn enter(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let result = self.node(file, value);
        match self.objects.get(object) {
            Object::Instance(class, _) => {
                let caller = self.caller(file, value);
                match self.first_in_class(class, &["__enter__", "__aenter__"]) {
                    Some(method) => self.call_method(object, method, caller, Vec::new(), Some(result)),
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
            self.call_method(object, method, caller, vec![unknown; 3], None);
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

    // ---- operators ----

    pub(super) fn operator(&mut self, file: FileId, value: ValueId, object: ObjectId) {
        let Value::Operator { operator, right, .. } = self.modules.get(file).value(value).value else {
            return;
        };
        let (result, right, caller) =
            (self.node(file, value), self.node(file, right), self.caller(file, value));
        match (operator, self.objects.get(object)) {
            (Operator::Compare(method), Object::Instance(..)) => {
                self.add_new(result, Object::Type(BuiltinType::Bool));
                self.call_method(object, method.name(), caller, vec![right], None);
            }
            (Operator::Compare(_), _) => self.add_new(result, Object::Type(BuiltinType::Bool)),
            (Operator::Unary(method), Object::Instance(..)) => {
                self.call_method(object, method.name(), caller, Vec::new(), Some(result));
            }
            (Operator::Binary(method), Object::Instance(..)) => {
                self.call_method(object, method.name(), caller, vec![right], Some(result));
            }
            (Operator::InPlace(method), Object::Instance(class, _)) => {
                let in_place = method.name().replacen("__", "__i", 1);
                let name = self.names.id(&in_place);
                let method = if self.in_class(class, name) { in_place } else { method.name().to_owned() };
                self.call_method(object, &method, caller, vec![right], Some(result));
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
            _ => self.unknown(result),
        }
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
                    self.call_method(object, &reflected, caller, vec![left], Some(result));
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
