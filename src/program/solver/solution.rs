//! What value flow has found.

use rustc_hash::FxHashMap;

use super::super::numbering::{Lists, Numbering};
use super::super::object::{Externals, Literal, Name, NodeId, Object, ObjectId, Objects, ProjectNames};
use super::graph::Field;
use super::{Caller, Via, node_id};
use crate::project::FileId;
use crate::semantic::{CallId, ValueId};

/// A call of something, found by value flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallEdge {
    /// Who calls.
    pub caller: Caller,
    /// The call expression, if there is one.
    pub call: Option<CallId>,
    /// Where there is none: what the caller evaluates, so that the language calls.
    pub at: Option<ValueId>,
    /// What is called.
    pub callee: ObjectId,
    /// How it comes about.
    pub via: Via,
}

impl CallEdge {
    /// What sorts as the edge does, and is faster to compare.
    pub(super) fn order(&self) -> (u64, u64, Via, Option<ValueId>) {
        let Caller { file, scope } = self.caller;
        let call = self.call.map_or(0, |call| u64::from(call.number()) + 1);
        let scope = u64::from(file.0) << 32 | u64::from(scope.number());
        (scope, call << 32 | u64::from(self.callee.0), self.via, self.at)
    }
}

/// What value flow has found.
#[derive(Debug)]
pub struct Solution<'a> {
    pub(super) values: Numbering,
    pub(super) objects: Objects,
    /// Names of the project.
    pub names: ProjectNames,
    /// What the project mentions of libraries.
    pub externals: Externals<'a>,
    pub(super) sets: Lists<ObjectId>,
    /// Every call, sorted.
    pub edges: Vec<CallEdge>,
    pub(super) fields: FxHashMap<(ObjectId, Field), NodeId>,
    pub(super) partials: FxHashMap<NodeId, Vec<NodeId>>,
    /// The values that nodes belong to which are no value's: what a dictionary makes for a missing key.
    pub(super) belonging: FxHashMap<NodeId, NodeId>,
}

impl Solution<'_> {
    /// The node of a module's value.
    #[must_use]
    pub fn node(&self, file: FileId, value: ValueId) -> NodeId {
        node_id(self.values.of(file, value.index()))
    }

    /// The module and value of a node, or that it belongs to; `None` for nodes of no module's value.
    #[must_use]
    pub fn origin(&self, node: NodeId) -> Option<(FileId, ValueId)> {
        let node = self.belonging.get(&node).copied().unwrap_or(node);
        self.values.place(node.index()).map(|(file, index)| (file, ValueId::new(index)))
    }

    /// What a value may be.
    #[must_use]
    pub fn values(&self, file: FileId, value: ValueId) -> &[ObjectId] {
        self.at(self.node(file, value))
    }

    /// What a node may be.
    #[must_use]
    pub fn at(&self, node: NodeId) -> &[ObjectId] {
        self.sets.of(node.index())
    }

    /// All that the values of a module may be, value after value.
    #[must_use]
    pub fn of_file(&self, file: FileId) -> &[ObjectId] {
        self.sets.of_all(self.values.range(file))
    }

    /// The object `id`.
    #[must_use]
    pub fn object(&self, id: ObjectId) -> Object {
        self.objects.get(id)
    }

    /// All objects.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, Object)> + '_ {
        self.objects.iter()
    }

    /// What has been stored in an object's attribute.
    #[must_use]
    pub fn attribute(&self, object: ObjectId, name: Name) -> &[ObjectId] {
        self.fields.get(&(object, Field::Attribute(name))).map_or(&[], |&node| self.at(node))
    }

    /// The keys of a dictionary, as far as they are no entries under keys that nobody knows.
    #[must_use]
    pub fn keys(&self, dictionary: ObjectId) -> &[ObjectId] {
        self.fields.get(&(dictionary, Field::Keys)).map_or(&[], |&node| self.at(node))
    }

    /// What a container has under keys that nobody knows.
    #[must_use]
    pub fn under_any_key(&self, container: ObjectId) -> &[ObjectId] {
        self.fields.get(&(container, Field::Any)).map_or(&[], |&node| self.at(node))
    }

    /// What a container has under a key; `None` if it has something under keys that nobody knows.
    #[must_use]
    pub fn under_key(&self, container: Object, key: Literal) -> Option<&[ObjectId]> {
        let container = self.objects.find(container)?;
        let entry = self.fields.get(&(container, Field::Key(key)));
        self.under_any_key(container).is_empty().then(|| entry.map_or(&[][..], |&node| self.at(node)))
    }

    /// What a `functools.partial` calls.
    pub fn partial(&self, site: NodeId) -> impl Iterator<Item = ObjectId> + '_ {
        self.partials.get(&site).into_iter().flatten().flat_map(|&node| self.at(node).iter().copied())
    }
}
