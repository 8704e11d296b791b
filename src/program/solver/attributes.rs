//! Reading attributes: through instances, classes, modules and libraries.

use super::super::hierarchy::Ancestor;
use super::{
    Arguments, Caller, ClassRef, ExternalId, Field, FileId, Literal, Name, NodeId, Object, ObjectId, Site,
    Solver, Target, Use, Value, ValueId, Via,
};
use crate::api::{Returns, Role, Symbol};
use crate::semantic::Container;
use smallvec::{SmallVec, smallvec};

impl Solver<'_> {
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
        let arguments = Arguments { positional: smallvec![receiver], ..Arguments::default() };
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
        self.hierarchy.order(class).iter().any(|ancestor| match ancestor {
            Ancestor::Project(class) => self.class_export(*class, name).is_some(),
            _ => false,
        })
    }

    /// What the body of a class binds to a name.
    pub(super) fn class_export(&self, class: ClassRef, name: Name) -> Option<NodeId> {
        if !self.in_classes.contains(&name) {
            return None;
        }
        let module = self.modules.get(class.file);
        let exports = &module.scope(module.class(class.class).scope).exports;
        let value = module.names.get(self.names.text(name)).and_then(|name| exports.get(&name))?;
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
                self.attributes_of.entry(object).or_default().push(node);
                if let Some(&any) = self.fields.get(&(object, Field::AnyAttribute)) {
                    self.flow(any, node);
                }
                match self.names.text(name) {
                    "__class__" => self.add_new(node, Object::Class(class)),
                    "__dict__" => self.own_dictionary(object, node),
                    _ => self.class_attribute(class, 0, name, object, node),
                }
            }
            Object::Super(class, receiver) => self.super_attribute(class, receiver, name, node),
            Object::Created(external, _) => {
                self.own_field(object, name, node);
                if let Some(default) = self.namespace_default(object, name) {
                    self.flow(default, node);
                }
                if !self.kept.contains(&(object, name)) {
                    self.created_attribute(object, external, name, node);
                }
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
        if let Object::External(_) | Object::Builtin(_) | Object::Literal(_) | Object::Type(_) =
            self.objects.get(object)
        {
            self.settle(node);
        }
        node
    }

    /// The dictionary of an instance's attributes, `self.__dict__`: what is put there under a name is one. What is read there
    /// may be any of them.
    fn own_dictionary(&mut self, instance: ObjectId, node: NodeId) {
        let dictionary = self.objects.id(Object::Container(Container::Dict, node));
        self.own_dictionaries.insert(dictionary, instance);
        for field in [Field::Any, Field::Keys] {
            let field = self.field(dictionary, field);
            self.unknown(field);
        }
        self.add(node, dictionary);
    }

    /// What the project has stored in the object.
    pub(super) fn own_field(&mut self, object: ObjectId, name: Name, node: NodeId) {
        let field = self.field(object, Field::Attribute(name));
        self.flow(field, node);
    }

    pub(super) fn submodule(&mut self, parent: Target, name: &str, node: NodeId) {
        match self.modules.imports().submodule(parent, name) {
            Target::External => {}
            target => self.module_target(target, node),
        }
    }

    pub(super) fn external_attribute(&mut self, external: ExternalId, name: Name, node: NodeId) {
        let text = self.names.text(name).to_owned();
        let Some(child) = self.externals.child(external, name, &text) else {
            self.unknown(node);
            return;
        };
        match self.externals.get(child).symbol.map(Symbol::returns) {
            // A constant, such as `tf.estimator.ModeKeys.TRAIN`.
            Some(Returns::Text(text)) => {
                let literal = Literal::Str(self.names.id(text));
                self.add_new(node, Object::Literal(literal));
            }
            _ => self.add_new(node, Object::External(child)),
        }
    }

    pub(super) fn created_attribute(
        &mut self,
        object: ObjectId,
        class: ExternalId,
        name: Name,
        node: NodeId,
    ) {
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
    pub(super) fn class_attribute(
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
                    if let Some(export) = self.class_export(*ancestor, name) {
                        self.on(export, Use::Bind(receiver, node));
                        return;
                    }
                }
                Ancestor::External(path) => {
                    let base = self.externals.id(path);
                    let has_member = self.externals.has_member(base, name, &text);
                    if has_member == Some(false) {
                        continue;
                    }
                    let member = self.externals.child(base, name, &text).map(|member| {
                        match self.objects.get(receiver) {
                            Object::Class(_) => Object::External(member),
                            _ => Object::Member(receiver, member),
                        }
                    });
                    fallback = fallback.or(member);
                    if has_member.is_some() {
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
    pub(super) fn stored_on_class(&self, class: ClassRef, name: Name) -> bool {
        self.objects
            .find(Object::Class(class))
            .is_some_and(|object| self.fields.contains_key(&(object, Field::Attribute(name))))
    }

    pub(super) fn super_attribute(&mut self, class: ClassRef, receiver: ObjectId, name: Name, node: NodeId) {
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
    pub(super) fn origin_caller(&self, node: NodeId) -> Caller {
        match self.values.place(node.index()) {
            Some((file, index)) => self.caller(file, ValueId::new(index)),
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
        self.implicit_via(Via::Operator, self.evaluated(caller, result), caller, arguments, result)
    }

    pub(super) fn implicit_via(
        &mut self,
        via: Via,
        at: Option<ValueId>,
        caller: Caller,
        arguments: Arguments,
        result: Option<NodeId>,
    ) -> super::SiteId {
        self.site(Site {
            caller,
            call: None,
            at,
            arguments: arguments.into(),
            result,
            decorator: false,
            raise: false,
            via,
        })
    }

    /// The value of the caller's own code that a node is.
    pub(super) fn evaluated(&self, caller: Caller, node: Option<NodeId>) -> Option<ValueId> {
        let (file, index) = self.values.place(node?.index())?;
        (file == caller.file).then(|| ValueId::new(index))
    }

    /// Calls the method `name` of `object` with `arguments`, as the language does.
    pub(super) fn call_method(
        &mut self,
        object: ObjectId,
        name: &str,
        caller: Caller,
        arguments: SmallVec<[NodeId; 4]>,
        result: Option<NodeId>,
    ) {
        let at = self.evaluated(caller, result);
        self.call_method_at(at, object, name, caller, arguments, result);
    }

    /// The same for what the caller evaluates at `at`, though its value is another one.
    pub(super) fn call_method_at(
        &mut self,
        at: Option<ValueId>,
        object: ObjectId,
        name: &str,
        caller: Caller,
        arguments: SmallVec<[NodeId; 4]>,
        result: Option<NodeId>,
    ) {
        let via = match name {
            "__iter__" | "__next__" | "__aiter__" | "__anext__" => Via::Protocol,
            _ => Via::Operator,
        };
        let name = self.names.id(name);
        let method = self.attribute_node(object, name);
        let arguments = Arguments { positional: arguments, ..Arguments::default() };
        let site = self.implicit_via(via, at, caller, arguments, result);
        self.on(method, Use::Call(site));
    }
}
