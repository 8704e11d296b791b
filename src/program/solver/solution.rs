//! What value flow has found.

use rustc_hash::FxHashMap;

use super::super::object::{Externals, Name, NodeId, Object, ObjectId, Objects, ProjectNames};
use super::{Caller, ObjectSet, Via};
use crate::project::FileId;
use crate::semantic::{CallId, ValueId};
use smallvec::SmallVec;

/// A call of something, found by value flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallEdge {
    /// Who calls.
    pub caller: Caller,
    /// The call expression, if there is one.
    pub call: Option<CallId>,
    /// What is called.
    pub callee: ObjectId,
    /// How it comes about.
    pub via: Via,
}

/// What value flow has found.
#[derive(Debug)]
pub struct Solution<'a> {
    pub(super) first: Vec<u32>,
    pub(super) objects: Objects,
    /// Names of the project.
    pub names: ProjectNames,
    /// What the project mentions of libraries.
    pub externals: Externals<'a>,
    pub(super) sets: Vec<ObjectSet>,
    /// Every call, sorted.
    pub edges: Vec<CallEdge>,
    pub(super) fields: FxHashMap<(ObjectId, Name), NodeId>,
    pub(super) partials: FxHashMap<NodeId, Vec<NodeId>>,
}

impl Solution<'_> {
    /// The node of a module's value.
    #[must_use]
    pub fn node(&self, file: FileId, value: ValueId) -> NodeId {
        NodeId(self.first[file.index()] + value.0)
    }

    /// The module and value of a node; `None` for nodes that are no module's value.
    #[must_use]
    pub fn origin(&self, node: NodeId) -> Option<(FileId, ValueId)> {
        if node.0 >= *self.first.last()? {
            return None;
        }
        let file = self.first.partition_point(|&first| first <= node.0) - 1;
        Some((FileId(u32::try_from(file).ok()?), ValueId(node.0 - self.first[file])))
    }

    /// What a value may be.
    #[must_use]
    pub fn values(&self, file: FileId, value: ValueId) -> &[ObjectId] {
        self.at(self.node(file, value))
    }

    /// What a node may be.
    #[must_use]
    pub fn at(&self, node: NodeId) -> &[ObjectId] {
        self.sets.get(node.index()).map_or(&[], SmallVec::as_slice)
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
        self.fields.get(&(object, name)).map_or(&[], |&node| self.at(node))
    }

    /// What a `functools.partial` calls.
    pub fn partial(&self, site: NodeId) -> impl Iterator<Item = ObjectId> + '_ {
        self.partials.get(&site).into_iter().flatten().flat_map(|&node| self.at(node).iter().copied())
    }
}
