//! Value flow: what each value of the project may be.
//!
//! An inclusion-based points-to analysis (Andersen 1994) over the modules' values, which are in SSA form, so it
//! is flow-sensitive for variables and insensitive to contexts, but for functions that give a parameter back:
//! each call gets its own argument. Objects flow along edges; where an object arrives at something that is
//! called, read or stored to, new edges appear. A node holds a bounded number of objects
//! ([`room`]): beyond that it is unknown, which bounds the work by the size of the program. Values flow through
//! the functions that training may have to do with, and through what these reach ([`bodies`]).

mod attributes;
mod binding;
mod bodies;
mod builtins;
mod calls;
mod constraints;
mod creations;
mod dictionaries;
mod graph;
mod items;
mod library;
mod methods;
mod outside;
mod protocols;
mod room;
mod solution;
mod stores;

pub use graph::{Caller, Via};
pub(super) use room::capacity;
pub use solution::{CallEdge, Solution};

use bodies::Bodies;
use graph::{Arguments, Field, Node, Site, SiteId, Use, Uses};

use std::collections::VecDeque;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::hierarchy::{Hierarchy, Resolver};
use super::modules::{ClassRef, FunctionRef, Meaning, Modules};
use super::numbering::{Lists, Numbering};
use super::object::{ExternalId, Externals, Literal, Name, NodeId, Object, ObjectId, Objects, ProjectNames};
use super::roots::Roots;
use crate::api::Library;
use crate::project::{FileId, Target};
use crate::semantic::{Constant, Module, NameId, Parameter, ScopeKind, StoreKey, Value, ValueId};

/// Which calls values flow along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Those that a reader of the source sees: the project's code calls, or makes Python's own functions call, as
    /// `map` does where its result is iterated over and `sorted` its `key`.
    Source,
    /// All that happen when it runs: libraries call back what they are given and what classes define.
    Runs,
}

/// Lets values flow until nothing changes.
#[must_use]
pub fn solve<'a>(
    modules: &'a Modules,
    hierarchy: &'a Hierarchy,
    library: &'a Library,
    view: View,
) -> Solution<'a> {
    let mut solver = Solver::new(modules, hierarchy, library, view);
    solver.find_names_in_classes();
    for file in modules.files() {
        solver.add_module(file);
    }
    solver.run();
    let mut from_outside: Vec<FunctionRef> = Vec::new();
    for round in 0.. {
        // What no code of the project calls may be called from outside, with anything. Private functions come last:
        // by then public ones have called most of them, on the objects that they are meant for.
        let uncalled = solver.uncalled().into_iter();
        let (private, public): (Vec<_>, Vec<_>) = uncalled.partition(|&function| solver.is_private(function));
        for mut functions in [public, private] {
            functions.retain(|function| !solver.called.contains(function));
            for &function in &functions {
                solver.call_from_outside(function);
            }
            solver.run();
            from_outside.append(&mut functions);
        }
        if !solver.bring_in_more(round) {
            break;
        }
    }
    if view == View::Runs {
        // Code outside of the project most likely calls methods on the objects that the project has given it.
        solver.call_on_own_instances(&from_outside);
        solver.run();
    }
    solver.solution()
}

/// A function that is called with each element, when they are asked for, and the site that says so.
type Lazy = (NodeId, std::rc::Rc<Arguments>, Option<NodeId>, SiteId);

/// The values that a function returns other than its own parameters, and those parameters.
type Returned = (Vec<NodeId>, Vec<u32>);

struct Solver<'a> {
    modules: &'a Modules,
    hierarchy: &'a Hierarchy,
    resolver: Resolver<'a>,
    names: ProjectNames,
    local_names: Vec<Vec<Option<Name>>>,
    externals: Externals<'a>,
    objects: Objects,
    /// The values of all modules, which are the first nodes.
    values: Numbering,
    nodes: Vec<Node>,
    uses: Uses,
    capacity: usize,
    view: View,
    bodies: Bodies,
    /// Nodes with objects that have not been passed on, the longest waiting first: what comes from near comes first, and
    /// is what remains where a node becomes full.
    queue: VecDeque<NodeId>,
    fields: FxHashMap<(ObjectId, Field), NodeId>,
    /// The parts of each container, for what reads them all.
    parts: FxHashMap<ObjectId, Vec<(Literal, NodeId)>>,
    /// Containers that get the parts of another from an index on.
    slices: FxHashMap<ObjectId, Vec<(i64, Option<i64>, ObjectId)>>,
    attributes: FxHashMap<(ObjectId, Name), NodeId>,
    /// The attributes of each instance that are read.
    attributes_of: FxHashMap<ObjectId, Vec<NodeId>>,
    sites: Vec<Site>,
    calls_seen: FxHashSet<(SiteId, ObjectId)>,
    /// The static methods that were found as initializers, by the sites that call them.
    unwrapped: FxHashSet<(SiteId, ObjectId)>,
    /// The functions that a site's arguments have been bound to, with and without a receiver in front.
    bound: FxHashSet<(SiteId, FunctionRef, bool)>,
    /// The parameters that have their defaults.
    defaulted: FxHashSet<NodeId>,
    generators: FxHashSet<FunctionRef>,
    creations: FxHashMap<Object, u32>,
    /// What the command line's arguments have by default, in each component.
    defaults: FxHashMap<(FileId, Name), NodeId>,
    called: FxHashSet<FunctionRef>,
    property_setters: FxHashMap<NodeId, Vec<NodeId>>,
    /// What bodies of classes bind: most attributes are none of that.
    in_classes: FxHashSet<Name>,
    /// Names of decorated functions in classes: reading them may call something.
    decorated: FxHashSet<Name>,
    /// Names of attributes that the project's text stores something in.
    stored: FxHashSet<Name>,
    /// What iterating over the result of `map` and `filter` calls.
    lazy: FxHashMap<ObjectId, Vec<Lazy>>,
    forced: FxHashSet<(ObjectId, Caller)>,
    /// The containers whose elements a library calls by a method's name.
    hooked: FxHashSet<(ObjectId, Name, Caller)>,
    /// The attributes that objects of libraries have from those who made them.
    kept: FxHashSet<(ObjectId, Name)>,
    /// Whose attributes a dictionary has: `self.__dict__`.
    own_dictionaries: FxHashMap<ObjectId, ObjectId>,
    partials: FxHashMap<NodeId, (Vec<NodeId>, std::rc::Rc<Arguments>)>,
    edges: Vec<CallEdge>,
    singletons: FxHashMap<ObjectId, NodeId>,
    /// The values that nodes belong to which are no value's.
    belonging: FxHashMap<NodeId, NodeId>,
    returns: FxHashMap<FunctionRef, std::rc::Rc<Returned>>,
}

impl<'a> Solver<'a> {
    fn new(modules: &'a Modules, hierarchy: &'a Hierarchy, library: &'a Library, view: View) -> Self {
        let resolver = Resolver { modules, library };
        let values = Numbering::new(modules.list.iter().map(|module| module.values.len()));
        let count = values.count();
        // Fields and attributes add some; growing would copy all.
        let mut nodes = Vec::with_capacity(count * 2 + 1024);
        nodes.resize_with(count, Node::default);
        Self {
            modules,
            hierarchy,
            resolver,
            names: ProjectNames::default(),
            local_names: modules.list.iter().map(|module| vec![None; module.names.count()]).collect(),
            externals: Externals::new(library),
            objects: Objects::with_capacity(count / 16),
            values,
            nodes,
            uses: Uses::with_capacity(count * 3),
            capacity: modules.capacity,
            view,
            bodies: Bodies::new(Roots::new(resolver, view)),
            queue: VecDeque::new(),
            fields: FxHashMap::with_capacity_and_hasher(count / 16, FxBuildHasher),
            parts: FxHashMap::default(),
            slices: FxHashMap::default(),
            attributes: FxHashMap::with_capacity_and_hasher(count / 16, FxBuildHasher),
            attributes_of: FxHashMap::default(),
            sites: Vec::new(),
            calls_seen: FxHashSet::with_capacity_and_hasher(count / 16, FxBuildHasher),
            unwrapped: FxHashSet::default(),
            bound: FxHashSet::with_capacity_and_hasher(count / 16, FxBuildHasher),
            defaulted: FxHashSet::default(),
            generators: FxHashSet::default(),
            creations: FxHashMap::default(),
            defaults: FxHashMap::default(),
            called: FxHashSet::default(),
            property_setters: FxHashMap::default(),
            in_classes: FxHashSet::default(),
            decorated: FxHashSet::default(),
            stored: FxHashSet::default(),
            lazy: FxHashMap::default(),
            forced: FxHashSet::default(),
            hooked: FxHashSet::default(),
            kept: FxHashSet::default(),
            own_dictionaries: FxHashMap::default(),
            partials: FxHashMap::default(),
            edges: Vec::new(),
            singletons: FxHashMap::default(),
            belonging: FxHashMap::default(),
            returns: FxHashMap::default(),
        }
    }

    fn solution(self) -> Solution<'a> {
        let mut edges = self.edges;
        edges.sort_unstable_by_key(CallEdge::order);
        edges.dedup();
        let mut sets = Lists::with_capacity(self.nodes.len());
        for node in self.nodes {
            sets.push(node.objects.iter().copied());
        }
        Solution {
            values: self.values,
            objects: self.objects,
            names: self.names,
            externals: self.externals,
            sets,
            edges,
            fields: self.fields,
            belonging: self.belonging,
            partials: self.partials.into_iter().map(|(site, (callees, _))| (site, callees)).collect(),
        }
    }

    // ---- nodes ----

    fn node(&self, file: FileId, value: ValueId) -> NodeId {
        node_id(self.values.of(file, value.index()))
    }

    fn fresh(&mut self) -> NodeId {
        self.nodes.push(Node::default());
        node_id(self.nodes.len() - 1)
    }

    /// A node that is `object` and nothing else.
    fn singleton(&mut self, object: ObjectId) -> NodeId {
        if let Some(&node) = self.singletons.get(&object) {
            return node;
        }
        let node = self.fresh();
        self.singletons.insert(object, node);
        self.add(node, object);
        self.settle(node);
        node
    }

    /// Lets whoever asks for a new node first get at once what it is, as all others do: the first may be in a component
    /// that has nothing else to do with theirs, and in which order things come decides what remains where room ends.
    fn settle(&mut self, node: NodeId) {
        let entry = &mut self.nodes[node.index()];
        if entry.uses.is_empty() {
            entry.done = u8::try_from(entry.objects.len()).expect("a new node is few things");
        }
    }

    fn add(&mut self, node: NodeId, object: ObjectId) {
        let object = self.widened(node, object);
        let entry = &mut self.nodes[node.index()];
        let room = self.capacity.saturating_sub(entry.objects.len());
        if room == 0 || entry.objects.contains(&object) {
            return;
        }
        match room {
            // The last place is for what nobody knows.
            1 if !entry.objects.contains(&ObjectId::UNKNOWN) => entry.objects.push(ObjectId::UNKNOWN),
            _ => entry.objects.push(object),
        }
        if !entry.queued && !entry.uses.is_empty() {
            entry.queued = true;
            self.queue.push_back(node);
        }
    }

    fn add_new(&mut self, node: NodeId, object: Object) {
        let object = self.objects.id(object);
        self.add(node, object);
    }

    fn unknown(&mut self, node: NodeId) {
        self.add(node, ObjectId::UNKNOWN);
    }

    /// The instances of each class that the project makes.
    fn instances(&self) -> FxHashMap<ClassRef, Vec<ObjectId>> {
        let mut instances: FxHashMap<ClassRef, Vec<ObjectId>> = FxHashMap::default();
        for (id, object) in self.objects.iter() {
            if let Object::Instance(class, Some(_)) = object {
                instances.entry(class).or_default().push(id);
            }
        }
        instances
    }

    /// Lets what `from` may be flow to `to`. To do so twice is harmless, but work and memory for nothing.
    fn flow(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            self.on(from, Use::Flow(to));
        }
    }

    /// Registers what happens to the objects that `node` may be.
    fn on(&mut self, node: NodeId, reaction: Use) {
        self.uses.push(&mut self.nodes[node.index()].uses, reaction);
        for index in 0..self.nodes[node.index()].done.into() {
            let object = self.nodes[node.index()].objects[index];
            self.react(reaction, object);
        }
        self.wake(node);
    }

    fn wake(&mut self, node: NodeId) {
        let entry = &mut self.nodes[node.index()];
        if !entry.queued && usize::from(entry.done) < entry.objects.len() {
            entry.queued = true;
            self.queue.push_back(node);
        }
    }

    fn run(&mut self) {
        while let Some(node) = self.queue.pop_front() {
            self.nodes[node.index()].queued = false;
            while let entry = &mut self.nodes[node.index()]
                && let Some(&object) = entry.objects.get(usize::from(entry.done))
            {
                entry.done += 1;
                // What is registered meanwhile reacts when it is.
                let mut uses = entry.uses;
                while let Some(reaction) = self.uses.pop(&mut uses) {
                    self.react(reaction, object);
                }
            }
        }
    }

    fn react(&mut self, reaction: Use, object: ObjectId) {
        if object == ObjectId::UNKNOWN
            && let Use::Attribute(file, value)
            | Use::Item(file, value)
            | Use::Slice(file, value)
            | Use::Iteration(file, value) = reaction
        {
            // The most frequent case by far: nothing is known of a part of what nothing is known of.
            let node = self.node(file, value);
            self.unknown(node);
            return;
        }
        match reaction {
            Use::Flow(to) => self.add(to, object),
            Use::Attribute(file, value) => self.read_attribute(file, value, object),
            Use::Item(file, value) => self.read_item(file, value, object),
            Use::ItemKey(file, value) => self.read_item_key(file, value, object),
            Use::Slice(file, value) => self.slice(file, value, object),
            Use::Iteration(file, value) => {
                let (node, caller) = (self.node(file, value), self.caller(file, value));
                self.iterate(object, node, caller);
            }
            Use::Unpack(file, value) => self.unpack(file, value, object),
            Use::Enter(file, value) => self.enter(file, value, object),
            Use::Leave(file, value) => self.leave(file, value, object),
            Use::Caught(file, value) => self.caught(file, value, object),
            Use::OperatorLeft(file, value) => self.operator(file, value, object),
            Use::OperatorRight(file, value) => self.reflected_operator(file, value, object),
            Use::Store(file, store) => self.store(file, store, object),
            Use::StoreKey(file, store) => self.store_key(file, store, object),
            Use::Call(site) => self.call(site, object),
            Use::CallWith(site, receiver) => self.call_with(site, receiver, object),
            Use::ElementInto(key, node) => self.element_into(object, key, node),
            Use::RestInto(position, container) => self.rest_into(object, position, container),
            Use::Bind(receiver, node) => self.bind(object, receiver, node),
            Use::ReadInto(node, caller) => self.read_into(object, node, caller),
            Use::BindToClass(class, node) => self.bind_to_class(object, class, node),
            Use::NextInto(node, caller) => self.next(object, node, caller),
            Use::Assign(receiver, node) => self.assign_property(object, receiver, node),
            Use::IterateInto(node, caller) => self.iterate(object, node, caller),
            Use::MergeInto(target) => self.merge_into(object, target),
            Use::PairsInto(target, caller) => self.pairs_into(object, target, caller),
            Use::PairInto(target) => self.pair_into(object, target),
            Use::SuperOf(class, node) => self.add_new(node, Object::Super(class, object)),
            Use::AttributeInto(name, node) => {
                let from = self.attribute_node(object, name);
                self.flow(from, node);
            }
            Use::KeyInto(container, node) => self.key_into(container, object, node),
            Use::Hook(name, caller) => self.hook(object, name, caller),
            Use::WrapInto(node) => self.wrap(object, node),
            Use::OptimizerInto(node) => self.optimizer_named(object, node),
            Use::ImportInto(file, node) => self.import_into(object, file, node),
            Use::CallOwn(site) => self.call_own(site, object),
            Use::IteratorInto(node, caller) => self.iterator(object, node, caller),
            Use::OthersInto(node, caller) => {
                if !matches!(
                    self.objects.get(object),
                    Object::Container(..) | Object::Unknown | Object::Created(..)
                ) {
                    self.iterate(object, node, caller);
                }
                self.force(object, caller);
            }
            Use::NamedAttribute(base, node) => self.named_attribute(base, object, node),
            Use::NamedStore(base, value) => self.named_store(base, object, value),
            Use::StoreAnywhere(value) => self.store_anywhere(object, value),
            Use::StoreInto(name, value) => self.store_attribute(object, name, value),
            Use::ClassInto(node) => self.class_of(object, node),
            Use::InstanceInto(node) => self.instance_of(object, node),
            Use::Method(method, site) => self.method(object, method, site),
            Use::PartOf(container, value) => {
                let part = match self.objects.get(object) {
                    Object::Literal(literal) => self.part(container, literal),
                    _ => self.field(container, Field::Any),
                };
                self.flow(value, part);
            }
        }
    }

    // ---- names ----

    fn name(&mut self, file: FileId, name: NameId) -> Name {
        if let Some(known) = self.local_names[file.index()][name.index()] {
            return known;
        }
        let known = self.names.id(self.modules.get(file).names.text(name));
        self.local_names[file.index()][name.index()] = Some(known);
        known
    }

    fn literal(&mut self, file: FileId, constant: Constant) -> Literal {
        match constant {
            Constant::Str(name) => Literal::Str(self.name(file, name)),
            Constant::Int(int) => Literal::Int(int),
            Constant::Bool(value) => Literal::Bool(value),
            Constant::None => Literal::None,
        }
    }

    /// The scope that evaluates a value.
    fn caller(&self, file: FileId, value: ValueId) -> Caller {
        Caller { file, scope: self.modules.get(file).value(value).scope }
    }
}

fn node_id(index: usize) -> NodeId {
    NodeId(u32::try_from(index).expect("fewer nodes than 2^32"))
}
