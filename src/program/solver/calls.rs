//! Calls: whom they reach, and how arguments and results flow.

use std::rc::Rc;

use super::super::hierarchy::Ancestor;
use super::{
    Arguments, CallEdge, Caller, ClassRef, Field, NodeId, Object, ObjectId, Site, SiteId, Solver, Use, Via,
};

/// How many partial objects around each other are seen through.
const PARTIALS: u8 = 3;

impl Solver<'_> {
    /// `object` is called at `site`.
    pub(super) fn call(&mut self, site: SiteId, object: ObjectId) {
        // To enter a function twice does nothing; most calls are that.
        let may_be_repeated = || matches!(self.objects.get(object), Object::Function(_) | Object::Bound(..));
        if !may_be_repeated() && !self.calls_seen.insert((site, object)) {
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
                    _ => {
                        // `@app.command()` calls what it is given as any unknown code may.
                        self.edge(site, ObjectId::UNKNOWN);
                        self.unknown_result(site);
                    }
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

    pub(super) fn edge(&mut self, site: SiteId, callee: ObjectId) {
        let Site { caller, call, at, via, .. } = self.sites[site.0 as usize];
        self.edges.push(CallEdge { caller, call, at, callee, via });
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
        // `f = partial(f, x)` in a loop may be around itself without end.
        if own.partials == PARTIALS {
            self.unknown_result(site);
            return;
        }
        let mut arguments = Arguments::clone(&given);
        arguments.partials = own.partials + 1;
        arguments.positional.extend_from_slice(&own.positional);
        arguments.keywords.extend_from_slice(&own.keywords);
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
        let Site { caller, call, at, via, .. } = self.sites[site.0 as usize];
        let mut own_initializer = false;
        for initializer in ["__new__", "__init__"] {
            let Some(function) = self.project_method(class, initializer) else { continue };
            own_initializer = true;
            let init = self.site(Site {
                caller,
                call,
                at,
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
                    at,
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

    /// The fields of a data class.
    pub(super) fn annotated(&mut self, class: ClassRef) -> Vec<super::Name> {
        let fields = self.hierarchy.fields(self.modules, class);
        fields.into_iter().map(|name| self.names.id(name)).collect()
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
            // A class may wrap a method in itself, in a loop.
            Object::StaticMethod(inner) if self.unwrapped.insert((site, object)) => {
                self.on(inner, Use::CallWith(site, receiver));
            }
            _ => {}
        }
    }
}
