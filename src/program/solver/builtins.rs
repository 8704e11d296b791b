//! What Python's own functions and the methods of its own types do with objects.

use super::super::hierarchy::Entity;
use super::{
    Arguments, ClassRef, ExternalId, Field, Literal, Name, NodeId, Object, ObjectId, SiteId, Solver, Use, Via,
};
use crate::api::{Returns, Symbol};
use crate::semantic::{BuiltinType, Container};
use smallvec::{SmallVec, smallvec};

impl Solver<'_> {
    pub(super) fn call_builtin(&mut self, site: SiteId, name: Name) {
        let arguments = self.arguments(site);
        let first = arguments.positional.first().copied();
        let result = match self.result(site) {
            Some(result) => result,
            None => self.fresh(),
        };
        let text = self.names.text(name).to_owned();
        self.call_protocol(site, &arguments, &text);
        match text.as_str() {
            "object.__new__" => {
                if let Some(first) = first {
                    self.on(first, Use::InstanceInto(result));
                }
            }
            "map" | "filter" => self.map(site, &arguments, result, text == "map"),
            "zip" => self.zip(site, &arguments, result),
            "enumerate" => {
                let pair = self.pair_in(Container::Generator, result);
                let index = self.part(pair, Literal::Int(0));
                self.add_new(index, Object::Type(BuiltinType::Int));
                let element = self.part(pair, Literal::Int(1));
                self.iterate_argument(site, first, element);
            }
            "list" | "tuple" => {
                let kind = if text == "list" { Container::List } else { Container::Tuple };
                let container = self.new_container(kind, result);
                if let Some(first) = first {
                    self.on(first, Use::RestInto(0, container));
                    self.other_elements(site, first, container);
                }
            }
            "set" | "frozenset" | "sorted" | "reversed" => {
                let kind = match text.as_str() {
                    "sorted" => Container::List,
                    "reversed" => Container::Generator,
                    _ => Container::Set,
                };
                let container = self.new_container(kind, result);
                let any = self.field(container, Field::Any);
                self.iterate_argument(site, first, any);
                self.call_key_function(site, &arguments, any);
            }
            "max" | "min" => {
                if arguments.positional.len() == 1 {
                    self.iterate_argument(site, first, result);
                }
                for &argument in arguments.positional.iter().filter(|_| arguments.positional.len() > 1) {
                    self.flow(argument, result);
                }
                self.call_key_function(site, &arguments, result);
            }
            "dict" => {
                let container = self.new_container(Container::Dict, result);
                if let Some(first) = first {
                    self.on(first, Use::PairsInto(container, self.site_caller(site)));
                }
                self.keywords_into(&arguments, container);
            }
            "iter" => {
                if let Some(first) = first {
                    let caller = self.site_caller(site);
                    self.on(first, Use::IteratorInto(result, caller));
                }
            }
            "next" => {
                if let Some(first) = first {
                    let caller = self.site_caller(site);
                    self.on(first, Use::NextInto(result, caller));
                }
                if let Some(&default) = arguments.positional.get(1) {
                    self.flow(default, result);
                }
            }
            "getattr" => {
                if let (Some(object), Some(&key)) = (first, arguments.positional.get(1)) {
                    self.on(key, Use::NamedAttribute(object, result));
                }
                if let Some(&default) = arguments.positional.get(2) {
                    self.flow(default, result);
                }
            }
            "setattr" => {
                if let [object, key, value] = arguments.positional[..] {
                    self.on(key, Use::NamedStore(object, value));
                }
            }
            "super" => self.super_call(site, &arguments, result),
            "type" if arguments.positional.len() == 1 => {
                if let Some(first) = first {
                    self.on(first, Use::ClassInto(result));
                }
            }
            "__import__" => {
                let file = self.site_caller(site).file;
                match first {
                    Some(module) => self.on(module, Use::ImportInto(file, result)),
                    None => self.unknown(result),
                }
            }
            "property" => {
                self.add_new(result, Object::Property(first.unwrap_or(result)));
                if let (Some(getter), Some(&setter)) = (first, arguments.positional.get(1)) {
                    self.property_setters.entry(getter).or_default().push(setter);
                }
            }
            "staticmethod" => self.add_new(result, Object::StaticMethod(first.unwrap_or(result))),
            "classmethod" => self.add_new(result, Object::ClassMethod(first.unwrap_or(result))),
            "open" | "file" => self.add_new(result, Object::Type(BuiltinType::File)),
            "str" | "repr" | "input" | "raw_input" | "chr" | "hex" | "oct" | "bin" | "format" | "ascii"
            | "unicode" | "unichr" => self.add_new(result, Object::Type(BuiltinType::Str)),
            "bytes" | "bytearray" => self.add_new(result, Object::Type(BuiltinType::Bytes)),
            "int" | "len" | "hash" | "ord" | "id" | "round" | "abs" | "sum" | "pow" | "divmod" | "long" => {
                self.add_new(result, Object::Type(BuiltinType::Int));
            }
            "float" => self.add_new(result, Object::Type(BuiltinType::Float)),
            "complex" => self.add_new(result, Object::Type(BuiltinType::Complex)),
            "bool" | "isinstance" | "issubclass" | "callable" | "hasattr" | "any" | "all" => {
                self.add_new(result, Object::Type(BuiltinType::Bool));
            }
            "range" | "xrange" => {
                let container = self.new_container(Container::Generator, result);
                let any = self.field(container, Field::Any);
                self.add_new(any, Object::Type(BuiltinType::Int));
            }
            "print" | "delattr" | "exit" | "quit" => self.add_new(result, Object::Literal(Literal::None)),
            "globals" => {
                self.add_new(result, Object::Module(self.site_caller(site).file));
                self.unknown(result);
            }
            "object" => self.add_new(result, Object::Created(ExternalId::NAMELESS, result)),
            _ if text.ends_with("Error") || text.ends_with("Exception") || text.ends_with("Warning") => {
                self.add_new(result, Object::Type(BuiltinType::Exception));
            }
            _ => self.unknown(result),
        }
    }

    /// Built-in functions that ask their argument's class.
    fn call_protocol(&mut self, site: SiteId, arguments: &Arguments, function: &str) {
        let method = match function {
            "len" => "__len__",
            "str" | "print" | "format" => "__str__",
            "repr" => "__repr__",
            "bool" => "__bool__",
            "int" => "__int__",
            "float" => "__float__",
            "hash" => "__hash__",
            "abs" => "__abs__",
            _ => return,
        };
        let method = self.names.id(method);
        for &argument in &arguments.positional {
            self.on(argument, Use::Method(method, site));
        }
    }

    /// The language calls the method of `object` at a call of a function of its own, if the project defines it.
    pub(super) fn method(&mut self, object: ObjectId, method: Name, site: SiteId) {
        if let Object::Instance(class, _) = self.objects.get(object)
            && self.in_class(class, method)
        {
            let method = self.names.text(method).to_owned();
            let super::Site { caller, call, .. } = self.sites[site.0 as usize];
            let at = call.map(|call| self.modules.get(caller.file).call(call).result);
            self.call_method_at(at, object, &method, caller, SmallVec::new(), None);
        }
    }

    /// A new instance of the class `object` goes to `node`.
    pub(super) fn instance_of(&mut self, object: ObjectId, node: NodeId) {
        if let Object::Class(class) = self.objects.get(object) {
            let instance = self.creation(Object::Instance(class, None), node);
            self.add(node, instance);
        } else {
            self.unknown(node);
        }
    }

    pub(super) fn new_container(&mut self, kind: Container, node: NodeId) -> ObjectId {
        let container = self.objects.id(Object::Container(kind, node));
        self.add(node, container);
        container
    }

    /// A container of pairs at `node`; gives the pair.
    pub(super) fn pair_in(&mut self, kind: Container, node: NodeId) -> ObjectId {
        let container = self.new_container(kind, node);
        let any = self.field(container, Field::Any);
        let pair = self.objects.id(Object::Container(Container::Tuple, any));
        self.add(any, pair);
        pair
    }

    pub(super) fn iterate_argument(&mut self, site: SiteId, argument: Option<NodeId>, into: NodeId) {
        if let Some(argument) = argument {
            let caller = self.site_caller(site);
            self.on(argument, Use::IterateInto(into, caller));
        }
    }

    /// The elements that something else than a container yields.
    fn other_elements(&mut self, site: SiteId, argument: NodeId, container: ObjectId) {
        let any = self.field(container, Field::Any);
        let caller = self.site_caller(site);
        self.on(argument, Use::OthersInto(any, caller));
    }

    pub(super) fn keywords_into(&mut self, arguments: &Arguments, container: ObjectId) {
        for &(name, value) in &arguments.keywords {
            let part = self.part(container, Literal::Str(name));
            self.flow(value, part);
            let keys = self.field(container, Field::Keys);
            let key = self.objects.id(Object::Literal(Literal::Str(name)));
            self.add(keys, key);
        }
        for &merge in &arguments.merge {
            self.on(merge, Use::MergeInto(container));
        }
    }

    fn map(&mut self, site: SiteId, arguments: &Arguments, result: NodeId, keeps_results: bool) {
        let Some((&function, iterables)) = arguments.positional.split_first() else { return };
        let container = self.new_container(Container::Generator, result);
        let any = self.field(container, Field::Any);
        let caller = self.site_caller(site);
        let mut elements = SmallVec::new();
        for &iterable in iterables {
            let element = self.fresh();
            self.on(iterable, Use::IterateInto(element, caller));
            if !keeps_results {
                self.flow(element, any);
            }
            elements.push(element);
        }
        let called = Arguments { positional: elements, ..Arguments::default() };
        let result = keeps_results.then_some(any);
        self.lazy.entry(container).or_default().push((function, called.into(), result, site));
    }

    /// `caller` iterates over a container: what is computed on demand is computed now.
    pub(super) fn force(&mut self, container: ObjectId, caller: super::Caller) {
        let Some(lazy) = self.lazy.get(&container).cloned() else { return };
        if !self.forced.insert((container, caller)) {
            return;
        }
        for (function, arguments, result, said) in lazy {
            // Where the same code says so and asks for them, `list(map(train, rates))`, it is a part of that.
            let said = &self.sites[said.0 as usize];
            let call = said.call.filter(|_| said.caller == caller);
            let at = call.map(|call| self.modules.get(caller.file).call(call).result);
            let site = self.site(super::Site {
                caller,
                call: None,
                at,
                arguments,
                result,
                decorator: false,
                raise: false,
                via: Via::Protocol,
            });
            self.on(function, Use::Call(site));
        }
    }

    fn zip(&mut self, site: SiteId, arguments: &Arguments, result: NodeId) {
        let pair = self.pair_in(Container::Generator, result);
        for (index, &iterable) in (0..).zip(&arguments.positional) {
            let part = self.part(pair, Literal::Int(index));
            self.iterate_argument(site, Some(iterable), part);
        }
    }

    /// `key=` of `sorted`, `min` and `max` is called with each element.
    pub(super) fn call_key_function(&mut self, site: SiteId, arguments: &Arguments, element: NodeId) {
        let key = self.names.id("key");
        for &(name, function) in &arguments.keywords {
            if name == key {
                let called = Arguments { positional: smallvec![element], ..Arguments::default() };
                let inner = self.derived(site, called, None, Via::Source);
                self.on(function, Use::Call(inner));
            }
        }
    }

    fn super_call(&mut self, site: SiteId, arguments: &Arguments, result: NodeId) {
        let caller = self.site_caller(site);
        let file = caller.file;
        if let [_, receiver, ..] = arguments.positional[..] {
            let module = self.modules.get(file);
            let Some(call) = self.sites[site.0 as usize].call else { return };
            let Some(class) = module.call(call).arguments.first() else { return };
            if let Some(Entity::Class(class)) = self.resolver.entity(file, class.value) {
                self.on(receiver, Use::SuperOf(class, result));
            }
            return;
        }
        let Some((class, method)) = self.method_around(file, caller.scope) else { return };
        let class = ClassRef { file, class };
        if let Some(receiver) = self.modules.get(file).function(method).parameters.first() {
            let receiver = self.node(file, receiver.value);
            self.on(receiver, Use::SuperOf(class, result));
        }
    }

    /// The iterator of `object` goes to `node`.
    pub(super) fn iterator(&mut self, object: ObjectId, node: NodeId, caller: super::Caller) {
        match self.objects.get(object) {
            Object::Instance(..) => self.call_method(object, "__iter__", caller, SmallVec::new(), Some(node)),
            Object::Container(..) => {
                let iterator = self.new_container(Container::Generator, node);
                let any = self.field(iterator, Field::Any);
                self.iterate(object, any, caller);
            }
            Object::Created(class, _) => self.library_iterator(object, class, node),
            _ => self.unknown(node),
        }
    }

    /// What the table says of the class's `__iter__`: a dataset's iterator is no dataset.
    fn library_iterator(&mut self, object: ObjectId, class: ExternalId, node: NodeId) {
        let class = self.externals.get(class).symbol.filter(|symbol| symbol.is_class());
        let method = class.and_then(|class| self.externals.library().member(class, "__iter__"));
        match method.map(Symbol::returns) {
            Some(Returns::Instance(iterator)) => {
                let iterator = self.externals.id(iterator);
                self.add_new(node, Object::Created(iterator, node));
            }
            Some(Returns::Receiver) => self.add(node, object),
            _ => self.unknown(node),
        }
    }

    /// `getattr(base, key)`, when `key` is known to be `object`.
    pub(super) fn named_attribute(&mut self, base: NodeId, object: ObjectId, result: NodeId) {
        match self.objects.get(object) {
            Object::Literal(Literal::Str(name)) => self.on(base, Use::AttributeInto(name, result)),
            _ => self.unknown(result),
        }
    }

    /// `setattr(base, key, value)`, when `key` is known to be `object`.
    pub(super) fn named_store(&mut self, base: NodeId, object: ObjectId, value: NodeId) {
        match self.objects.get(object) {
            Object::Literal(Literal::Str(name)) => self.on(base, Use::StoreInto(name, value)),
            _ => self.on(base, Use::StoreAnywhere(value)),
        }
    }

    /// `type(object)` goes to `node`.
    pub(super) fn class_of(&mut self, object: ObjectId, node: NodeId) {
        match self.objects.get(object) {
            Object::Instance(class, _) => self.add_new(node, Object::Class(class)),
            Object::Created(class, _) if class != ExternalId::NAMELESS => {
                self.add_new(node, Object::External(class));
            }
            _ => self.unknown(node),
        }
    }
}
