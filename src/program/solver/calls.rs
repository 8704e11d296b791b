//! Calls: whom they reach, and how arguments and results flow.

use std::rc::Rc;

use super::super::hierarchy::{Ancestor, Entity};
use super::{
    Arguments, CallEdge, Caller, ClassRef, Field, FunctionRef, Literal, NodeId, Object, ObjectId, Parameter,
    Site, SiteId, Solver, Use, Value, ValueId, Via,
};
use crate::semantic::{Container, ParameterKind};

/// How deep conditional results are taken apart to find parameters among them.
const DEPTH: usize = 4;

impl Solver<'_> {
    /// `object` is called at `site`.
    pub(super) fn call(&mut self, site: SiteId, object: ObjectId) {
        if !self.calls_seen.insert((site, object)) {
            return;
        }
        // `raise C` makes an instance of the project's class; what else is raised is not called.
        if self.sites[site.0 as usize].raise && !matches!(self.objects.get(object), Object::Class(_)) {
            return;
        }
        match self.objects.get(object) {
            Object::Unknown => {
                self.edge(site, object);
                self.unknown_result(site);
            }
            Object::Function(function) => {
                self.edge(site, object);
                self.enter_function(site, function, None);
            }
            Object::Bound(receiver, function) => {
                let callee = self.objects.id(Object::Function(function));
                self.edge(site, callee);
                self.enter_function(site, function, Some(receiver));
            }
            Object::Class(class) => self.instantiate(site, class, object),
            Object::Instance(..) => {
                let call = self.names.id("__call__");
                let method = self.attribute_node(object, call);
                self.on(method, Use::Call(site));
            }
            Object::External(external) => {
                self.edge(site, object);
                self.call_library(site, external, None);
            }
            Object::Member(receiver, external) => {
                let callee = self.objects.id(Object::External(external));
                self.edge(site, callee);
                self.call_library(site, external, Some(receiver));
            }
            Object::Created(class, _) => {
                let call = self.names.id("__call__");
                match self.externals.child(class, call, "__call__") {
                    Some(member) if self.externals.get(member).symbol.is_some() => {
                        self.call_library(site, member, Some(object));
                    }
                    _ => self.unknown_result(site),
                }
            }
            Object::Builtin(name) => {
                // `@property` and the like are a matter of syntax.
                if !self.sites[site.0 as usize].decorator {
                    self.edge(site, object);
                }
                self.call_builtin(site, name);
            }
            Object::BuiltinMethod(receiver, name) => {
                self.edge(site, object);
                self.call_builtin_method(site, receiver, name);
            }
            Object::Partial(partial) => self.call_partial(site, partial),
            Object::StaticMethod(inner) => self.on(inner, Use::Call(site)),
            Object::Identity => {
                if let Some(&argument) = self.arguments(site).positional.first() {
                    self.flow_result(site, argument);
                }
            }
            Object::PropertySetter(property) => {
                if let Some(&setter) = self.arguments(site).positional.first() {
                    self.property_setters.entry(property).or_default().push(setter);
                }
                if let Some(result) = self.result(site) {
                    self.add_new(result, Object::Property(property));
                }
            }
            Object::Module(_)
            | Object::Namespace(_)
            | Object::Literal(_)
            | Object::Type(_)
            | Object::Container(..)
            | Object::Super(..)
            | Object::Property(_)
            | Object::BoundProperty(..)
            | Object::ClassMethod(_) => {}
        }
    }

    pub(super) fn arguments(&self, site: SiteId) -> Rc<Arguments> {
        Rc::clone(&self.sites[site.0 as usize].arguments)
    }

    pub(super) fn result(&self, site: SiteId) -> Option<NodeId> {
        self.sites[site.0 as usize].result
    }

    pub(super) fn site_caller(&self, site: SiteId) -> Caller {
        self.sites[site.0 as usize].caller
    }

    pub(super) fn flow_result(&mut self, site: SiteId, from: NodeId) {
        if let Some(result) = self.result(site) {
            self.flow(from, result);
        }
    }

    pub(super) fn unknown_result(&mut self, site: SiteId) {
        if let Some(result) = self.result(site) {
            self.unknown(result);
        }
        // A decorator that nobody knows gives back the function or something like it.
        if self.sites[site.0 as usize].decorator
            && let Some(&decorated) = self.arguments(site).positional.first()
        {
            self.flow_result(site, decorated);
        }
    }

    fn edge(&mut self, site: SiteId, callee: ObjectId) {
        let Site { caller, call, via, .. } = self.sites[site.0 as usize];
        self.edges.push(CallEdge { caller, call, callee, via });
    }

    /// A site like `site` with other arguments, and another result if one is given.
    pub(super) fn derived(
        &mut self,
        site: SiteId,
        arguments: Arguments,
        result: Option<NodeId>,
        via: Via,
    ) -> SiteId {
        let original = &self.sites[site.0 as usize];
        let derived = Site {
            arguments: arguments.into(),
            result,
            via: via.max(original.via),
            decorator: false,
            raise: false,
            ..original.clone()
        };
        self.site(derived)
    }

    fn call_partial(&mut self, site: SiteId, partial: NodeId) {
        let Some((callees, given)) = self.partials.get(&partial).cloned() else { return };
        let own = self.arguments(site);
        let mut arguments = Arguments::clone(&given);
        arguments.positional.extend(&own.positional);
        arguments.keywords.extend(&own.keywords);
        arguments.spread.extend(&own.spread);
        arguments.merge.extend(&own.merge);
        let result = self.result(site);
        let site = self.derived(site, arguments, result, Via::Source);
        for callee in callees {
            self.on(callee, Use::Call(site));
        }
    }

    fn instantiate(&mut self, site: SiteId, class: ClassRef, object: ObjectId) {
        self.edge(site, object);
        let origin = match self.result(site) {
            Some(result) => result,
            None => self.fresh(),
        };
        let instance = self.creation(Object::Instance(class, None), origin);
        if let Some(result) = self.result(site) {
            self.add(result, instance);
        }
        let arguments = self.arguments(site);
        let Site { caller, call, via, .. } = self.sites[site.0 as usize];
        let mut own_initializer = false;
        for initializer in ["__new__", "__init__"] {
            let Some(function) = self.project_method(class, initializer) else { continue };
            own_initializer = true;
            let init = self.site(Site {
                caller,
                call,
                arguments: Rc::clone(&arguments),
                result: None,
                decorator: false,
                raise: false,
                via,
            });
            let receiver = if initializer == "__new__" { object } else { instance };
            self.on(function, Use::CallWith(init, receiver));
        }
        if !own_initializer {
            // A data class, a named tuple: the arguments become attributes.
            for (&name, &value) in self.annotated(class).iter().zip(&arguments.positional) {
                let field = self.field(instance, Field::Attribute(name));
                self.flow(value, field);
            }
            for &(name, value) in &arguments.keywords {
                let field = self.field(instance, Field::Attribute(name));
                self.flow(value, field);
            }
            if let Some(function) = self.project_method(class, "__post_init__") {
                let arguments = Rc::default();
                let init = self.site(Site {
                    caller,
                    call,
                    arguments,
                    result: None,
                    decorator: false,
                    raise: false,
                    via,
                });
                self.on(function, Use::CallWith(init, instance));
            }
        }
    }

    /// The names that a class and its ancestors annotate, theirs first: the fields of a data class.
    pub(super) fn annotated(&mut self, class: ClassRef) -> Vec<super::Name> {
        let mut names = Vec::new();
        for ancestor in self.hierarchy.order(class).iter().rev() {
            if let Ancestor::Project(ancestor) = ancestor {
                for &name in &self.modules.get(ancestor.file).class(ancestor.class).annotated {
                    let name = self.name(ancestor.file, name);
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
        names
    }

    /// The node of the method that the project defines first along a class's resolution order; `None` where a
    /// class of a library comes first.
    fn project_method(&self, class: ClassRef, name: &str) -> Option<NodeId> {
        self.hierarchy.order(class).iter().find_map(|ancestor| match ancestor {
            Ancestor::Project(class) => {
                let module = self.modules.get(class.file);
                let exports = &module.scope(module.class(class.class).scope).exports;
                let value = module.names.get(name).and_then(|name| exports.get(&name))?;
                Some(self.node(class.file, *value))
            }
            _ => None,
        })
    }

    /// A function found as an initializer is called for `receiver`.
    pub(super) fn call_with(&mut self, site: SiteId, receiver: ObjectId, object: ObjectId) {
        match self.objects.get(object) {
            Object::Function(function) => {
                self.edge(site, object);
                self.enter_function(site, function, Some(receiver));
            }
            Object::StaticMethod(inner) => self.on(inner, Use::CallWith(site, receiver)),
            _ => {}
        }
    }

    // ---- functions of the project ----

    fn enter_function(&mut self, site: SiteId, function: FunctionRef, receiver: Option<ObjectId>) {
        self.called.insert(function);
        let arguments = self.arguments(site);
        let own = self.modules.get(function.file).function(function.function);
        self.bind_arguments(site, function, &own.parameters, receiver, &arguments);
        let Some(result) = self.result(site) else { return };
        if own.generator {
            let generator = self.generator(function);
            self.add(result, generator);
            return;
        }
        let returns = self.returns_of(function);
        for &value in &returns.0 {
            self.flow(value, result);
        }
        for &index in &returns.1 {
            self.return_argument(site, function, index, receiver, result);
        }
    }

    /// The generator that calling a generator function gives.
    fn generator(&mut self, function: FunctionRef) -> ObjectId {
        let own = self.modules.get(function.file).function(function.function);
        let node = self.node(function.file, own.value);
        let generator = self.objects.id(Object::Container(Container::Generator, node));
        let any = self.field(generator, Field::Any);
        for &value in &own.yields {
            let from = self.node(function.file, value);
            self.flow(from, any);
        }
        generator
    }

    fn returns_of(&mut self, function: FunctionRef) -> Rc<super::Returned> {
        if let Some(known) = self.returns.get(&function) {
            return Rc::clone(known);
        }
        let module = self.modules.get(function.file);
        let mut values = Vec::new();
        let mut parameters = Vec::new();
        let mut work: Vec<(ValueId, usize)> =
            module.function(function.function).returns.iter().map(|&value| (value, 0)).collect();
        while let Some((value, depth)) = work.pop() {
            match &module.value(value).value {
                Value::Parameter(of, index)
                    if *of == function.function
                        && plain(&module.function(*of).parameters[*index as usize]) =>
                {
                    parameters.push(*index);
                }
                Value::Phi(operands) if depth < DEPTH => {
                    work.extend(operands.iter().map(|&operand| (operand, depth + 1)));
                }
                _ => values.push(self.node(function.file, value)),
            }
        }
        parameters.sort_unstable();
        parameters.dedup();
        let found = Rc::new((values, parameters));
        self.returns.insert(function, Rc::clone(&found));
        found
    }

    /// The function gives its parameter back: the call gets its own argument, not everybody's.
    fn return_argument(
        &mut self,
        site: SiteId,
        function: FunctionRef,
        index: u32,
        receiver: Option<ObjectId>,
        result: NodeId,
    ) {
        let own = self.modules.get(function.file).function(function.function);
        let parameter = &own.parameters[index as usize];
        let position = match (index as usize, receiver) {
            (0, Some(receiver)) => {
                self.add(result, receiver);
                return;
            }
            (index, Some(_)) => index - 1,
            (index, None) => index,
        };
        let arguments = self.arguments(site);
        let name = self.name(function.file, parameter.name);
        let keyword = arguments.keywords.iter().find(|(keyword, _)| *keyword == name).map(|&(_, node)| node);
        let positional = arguments.positional.get(position).copied();
        if let Some(argument) =
            positional.filter(|_| parameter.kind != ParameterKind::KeywordOnly).or(keyword)
        {
            self.flow(argument, result);
        } else {
            let value = self.node(function.file, parameter.value);
            self.flow(value, result);
        }
    }

    fn bind_arguments(
        &mut self,
        site: SiteId,
        function: FunctionRef,
        parameters: &[Parameter],
        receiver: Option<ObjectId>,
        arguments: &Arguments,
    ) {
        let file = function.file;
        let mut filled = vec![false; parameters.len()];
        let variadic = parameters.iter().position(|parameter| parameter.kind == ParameterKind::Variadic);
        let keywords = parameters.iter().position(|parameter| parameter.kind == ParameterKind::Keywords);
        let rest = |solver: &mut Self, index: usize, kind: Container| {
            let node = solver.node(file, parameters[index].value);
            let container = solver.objects.id(Object::Container(kind, node));
            solver.add(node, container);
            container
        };
        let places: Vec<usize> = (0..parameters.len())
            .filter(|&index| {
                matches!(parameters[index].kind, ParameterKind::PositionalOnly | ParameterKind::Ordinary)
            })
            .collect();
        let mut next = 0;
        let mut extra = 0;
        if let Some(receiver) = receiver {
            if let Some(&index) = places.first() {
                filled[index] = true;
                let node = self.node(file, parameters[index].value);
                self.add(node, receiver);
                next = 1;
            } else if let Some(variadic) = variadic {
                let container = rest(self, variadic, Container::Tuple);
                let part = self.part(container, Literal::Int(0));
                self.add(part, receiver);
                extra = 1;
            }
        }
        for &argument in &arguments.positional {
            if let Some(&index) = places.get(next) {
                filled[index] = true;
                let to = self.node(file, parameters[index].value);
                self.flow(argument, to);
                next += 1;
            } else if let Some(variadic) = variadic {
                let container = rest(self, variadic, Container::Tuple);
                let part = self.part(container, Literal::Int(extra));
                self.flow(argument, part);
                extra += 1;
            }
        }
        for &(name, argument) in &arguments.keywords {
            let named = (0..parameters.len()).find(|&index| {
                matches!(parameters[index].kind, ParameterKind::Ordinary | ParameterKind::KeywordOnly)
                    && self.name(file, parameters[index].name) == name
            });
            if let Some(index) = named {
                filled[index] = true;
                let to = self.node(file, parameters[index].value);
                self.flow(argument, to);
            } else if let Some(keywords) = keywords {
                let container = rest(self, keywords, Container::Dict);
                let part = self.part(container, Literal::Str(name));
                self.flow(argument, part);
                let keys = self.field(container, Field::Keys);
                let key = self.objects.id(Object::Literal(Literal::Str(name)));
                self.add(keys, key);
            }
        }
        self.bind_rest(site, function, parameters, &filled, arguments);
        // A parameter that this call leaves out has its default.
        for (index, parameter) in parameters.iter().enumerate() {
            let to = self.node(file, parameter.value);
            match parameter.kind {
                ParameterKind::Variadic => {
                    rest(self, index, Container::Tuple);
                }
                ParameterKind::Keywords => {
                    rest(self, index, Container::Dict);
                }
                _ if filled[index] => {}
                _ => {
                    if let Some(default) = parameter.default {
                        let default = self.node(file, default);
                        self.flow(default, to);
                    }
                    if arguments.open {
                        self.unknown(to);
                    }
                }
            }
        }
    }

    /// Binds `*args` and `**kwargs` to the parameters that are still free.
    fn bind_rest(
        &mut self,
        site: SiteId,
        function: FunctionRef,
        parameters: &[Parameter],
        filled: &[bool],
        arguments: &Arguments,
    ) {
        let file = function.file;
        let caller = self.site_caller(site);
        let mut position = 0;
        for (index, parameter) in parameters.iter().enumerate() {
            let value = self.node(file, parameter.value);
            let is_free = !filled[index];
            match parameter.kind {
                ParameterKind::PositionalOnly | ParameterKind::Ordinary => {
                    if is_free {
                        for &spread in &arguments.spread {
                            // The first `*args` fills the free parameters in order.
                            let element = self.objects.id(Object::Literal(Literal::Int(position)));
                            if arguments.spread.len() == 1 {
                                self.on(spread, Use::ElementInto(element, value));
                            } else {
                                self.on(spread, Use::IterateInto(value, caller));
                            }
                        }
                        position += 1;
                    }
                }
                ParameterKind::Variadic => {
                    let container = self.objects.id(Object::Container(Container::Tuple, value));
                    for &spread in &arguments.spread {
                        if arguments.spread.len() == 1 && arguments.positional.is_empty() {
                            self.on(spread, Use::RestInto(position, container));
                        } else {
                            let any = self.field(container, Field::Any);
                            self.on(spread, Use::IterateInto(any, caller));
                        }
                    }
                }
                ParameterKind::KeywordOnly => {}
                ParameterKind::Keywords => {
                    let container = self.objects.id(Object::Container(Container::Dict, value));
                    for &merge in &arguments.merge {
                        self.on(merge, Use::MergeInto(container));
                    }
                }
            }
            if is_free && matches!(parameter.kind, ParameterKind::Ordinary | ParameterKind::KeywordOnly) {
                let name = self.name(file, parameter.name);
                let key = self.objects.id(Object::Literal(Literal::Str(name)));
                for &merge in &arguments.merge {
                    self.on(merge, Use::ElementInto(key, value));
                }
            }
        }
    }

    /// The element of the container `object` under the key goes to `node`; of anything else, whatever it has.
    pub(super) fn element_into(&mut self, object: ObjectId, key: ObjectId, node: NodeId) {
        match (self.objects.get(object), self.objects.get(key)) {
            (
                Object::Container(Container::Set | Container::Generator, _),
                Object::Literal(Literal::Int(_)),
            ) => {
                let all = self.all(object);
                self.flow(all, node);
            }
            (Object::Container(..), Object::Literal(literal)) => {
                self.container_item(object, Some(literal), node);
            }
            (Object::Unknown | Object::Created(..), _) => self.unknown(node),
            _ => {}
        }
    }

    /// The elements of `object` from `position` on go to the tuple `container`.
    pub(super) fn rest_into(&mut self, object: ObjectId, position: i64, container: ObjectId) {
        match self.objects.get(object) {
            Object::Container(Container::List | Container::Tuple, _) if object != container => {
                self.slice_into(object, position, None, container);
            }
            Object::Container(..) => {
                let (all, any) = (self.all(object), self.field(container, Field::Any));
                self.flow(all, any);
            }
            Object::Unknown | Object::Created(..) => {
                let any = self.field(container, Field::Any);
                self.unknown(any);
            }
            _ => {}
        }
    }

    // ---- calls from outside ----

    /// Methods that only code outside calls may be called on the instances that the project makes.
    pub(super) fn call_on_own_instances(&mut self, functions: &[FunctionRef]) {
        let instances = self.instances();
        for &function in functions {
            let own = self.modules.get(function.file).function(function.function);
            if let (Some(class), Some(receiver)) = (own.class, own.parameters.first())
                && own.statement.is_some()
                && !self.is_decorated_with(function, "staticmethod")
                && !self.is_decorated_with(function, "classmethod")
            {
                let node = self.node(function.file, receiver.value);
                let class = ClassRef { file: function.file, class };
                for &instance in instances.get(&class).into_iter().flatten() {
                    self.add(node, instance);
                }
            }
        }
    }

    /// What nobody in the project calls may be called by others: with anything, by default with its defaults;
    /// a method for some instance of its class.
    pub(super) fn call_from_outside(&mut self, function: FunctionRef) {
        self.called.insert(function);
        let module = self.modules.get(function.file);
        let own = module.function(function.function);
        let is_static = self.is_decorated_with(function, "staticmethod");
        let is_class_method = self.is_decorated_with(function, "classmethod");
        for (index, parameter) in own.parameters.iter().enumerate() {
            let node = self.node(function.file, parameter.value);
            if index == 0
                && !is_static
                && own.statement.is_some()
                && let Some(class) = own.class
            {
                let class = ClassRef { file: function.file, class };
                let receiver = if is_class_method || module.names.text(own.name) == "__new__" {
                    Object::Class(class)
                } else {
                    Object::Instance(class, None)
                };
                self.add_new(node, receiver);
                continue;
            }
            match parameter.kind {
                ParameterKind::Variadic | ParameterKind::Keywords => {
                    let kind = match parameter.kind {
                        ParameterKind::Variadic => Container::Tuple,
                        _ => Container::Dict,
                    };
                    let container = self.objects.id(Object::Container(kind, node));
                    self.add(node, container);
                    let any = self.field(container, Field::Any);
                    self.unknown(any);
                }
                _ => {
                    if let Some(default) = parameter.default {
                        let default = self.node(function.file, default);
                        self.flow(default, node);
                    }
                    if let Some(annotation) = parameter.annotation {
                        self.add_annotated(function, annotation, node);
                    }
                    self.unknown(node);
                }
            }
        }
    }

    fn add_annotated(&mut self, function: FunctionRef, annotation: ValueId, node: NodeId) {
        match self.resolver.entity(function.file, annotation) {
            Some(Entity::Class(class)) => self.add_new(node, Object::Instance(class, None)),
            Some(Entity::External(path)) => {
                let external = self.externals.id(&path);
                if self.externals.get(external).symbol.is_some_and(crate::api::Symbol::is_class) {
                    self.add_new(node, Object::Created(external, node));
                }
            }
            _ => {}
        }
    }

    fn is_decorated_with(&self, function: FunctionRef, builtin: &str) -> bool {
        let own = self.modules.get(function.file).function(function.function);
        own.decorators.iter().any(|&decorator| {
            matches!(self.resolver.entity(function.file, decorator), Some(Entity::Builtin(name)) if name == builtin)
        })
    }
}

fn plain(parameter: &Parameter) -> bool {
    !matches!(parameter.kind, ParameterKind::Variadic | ParameterKind::Keywords)
}
