//! The graph that values flow through: nodes, what happens to objects that arrive there, and calls.

use super::super::modules::ClassRef;
use super::super::object::{Literal, Name, NodeId, ObjectId};
use crate::project::FileId;
use crate::semantic::{CallId, ScopeId, ValueId};
use smallvec::SmallVec;

/// A part of an object that holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Field {
    Attribute(Name),
    /// An attribute that nobody knows.
    AnyAttribute,
    Key(Literal),
    /// Under an unknown key.
    Any,
    /// Whatever is in it.
    All,
    /// A dictionary's keys.
    Keys,
}

/// What happens when an object arrives at a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// It goes to the node.
    Flow(NodeId),
    /// `base.name` of this value.
    Attribute(FileId, ValueId),
    /// `base[key]` of this value, at its base.
    Item(FileId, ValueId),
    /// The same, at its key.
    ItemKey(FileId, ValueId),
    Slice(FileId, ValueId),
    Iteration(FileId, ValueId),
    Unpack(FileId, ValueId),
    Enter(FileId, ValueId),
    Leave(FileId, ValueId),
    Caught(FileId, ValueId),
    OperatorLeft(FileId, ValueId),
    OperatorRight(FileId, ValueId),
    /// A store, an index into the module's, at its base.
    Store(FileId, u32),
    /// The same, at its key.
    StoreKey(FileId, u32),
    /// It is called.
    Call(SiteId),
    /// It is called for this receiver.
    CallWith(SiteId, ObjectId),
    /// Its element under the key, a literal, goes to the node.
    ElementInto(ObjectId, NodeId),
    /// Its elements from an index on go to the tuple.
    RestInto(u32, ObjectId),
    /// It is found in the receiver's class: methods are bound, properties read.
    Bind(ObjectId, NodeId),
    /// It is read as an attribute.
    ReadInto(NodeId, Caller),
    /// It is found in a class as a class method: it is bound to the class.
    BindToClass(ObjectId, NodeId),
    /// A property that is assigned: its setter is called for the receiver with the value.
    Assign(ObjectId, NodeId),
    /// What iterating over it yields goes to the node; whoever iterates has the scope.
    IterateInto(NodeId, Caller),
    /// It is an iterator whose elements go to the node.
    NextInto(NodeId, Caller),
    /// The elements of the container or mapping are merged into the one of the object.
    MergeInto(ObjectId),
    /// The dictionary of the object is made of it, by the code of the scope.
    PairsInto(ObjectId, Caller),
    /// It is a pair of key and value for the dictionary of the object.
    PairInto(ObjectId),
    /// The receiver of a `super()` in this class.
    SuperOf(ClassRef, NodeId),
    /// Its attribute `name` goes to the node.
    AttributeInto(Name, NodeId),
    /// It is a key of the container that is read into the node.
    KeyInto(ObjectId, NodeId),
    /// The method `name` of it, and of its elements, is called by the library.
    Hook(Name, Caller),
    /// It is called if it is the project's own code.
    CallOwn(SiteId),
    /// Its iterator goes to the node.
    IteratorInto(NodeId, Caller),
    /// The elements that it yields if it is no container go to the node.
    OthersInto(NodeId, Caller),
    /// It names the attribute of the first node that is read into the second.
    NamedAttribute(NodeId, NodeId),
    /// It names the attribute of the first node that the second is stored in.
    NamedStore(NodeId, NodeId),
    /// Its attribute `name` is assigned the node.
    StoreInto(Name, NodeId),
    /// An attribute of it that nobody knows is assigned the node.
    StoreAnywhere(NodeId),
    /// Its class goes to the node.
    ClassInto(NodeId),
    /// It is a class: a new instance goes to the node.
    InstanceInto(NodeId),
    /// The language calls this method of it at a call of one of Python's functions, if its class has one.
    Method(Name, SiteId),
    /// It is the key of the container under which the node is put.
    PartOf(ObjectId, NodeId),
    /// It names a module that the file imports while it runs; the module goes to the node.
    ImportInto(FileId, NodeId),
    /// A distributed or decorated stand-in for it, made at the call whose result the node is.
    WrapInto(NodeId),
    /// It names an optimizer that a model makes: `compile("adam")`.
    OptimizerInto(NodeId),
}

/// The code that does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller {
    /// Its file.
    pub file: FileId,
    /// Its scope: a module, function, lambda or class body.
    pub scope: ScopeId,
}

/// A place where something is called, explicitly or by the language or a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SiteId(pub(super) u32);

/// How a call comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Via {
    /// The source says so.
    Source,
    /// The language does, to iterate.
    Protocol,
    /// The language does where nothing looks like a call: for an operator, a subscript, a property, a context.
    Operator,
    /// A library calls back what it was given or what a class defines.
    Library,
}

/// A call's arguments as nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments {
    pub(super) positional: SmallVec<[NodeId; 4]>,
    pub(super) keywords: SmallVec<[(Name, NodeId); 2]>,
    pub(super) spread: Vec<NodeId>,
    pub(super) merge: Vec<NodeId>,
    /// Others may follow that nobody knows.
    pub(super) open: bool,
    /// How many partial objects gave some of them, one around the other.
    pub(super) partials: u8,
}

impl Arguments {
    /// Whether there is neither `*args` nor `**kwargs`.
    pub(super) fn is_plain(&self) -> bool {
        self.spread.is_empty() && self.merge.is_empty()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) caller: Caller,
    /// The call expression, if there is one.
    pub(super) call: Option<CallId>,
    /// Where there is none: what the caller evaluates, so that the language calls.
    pub(super) at: Option<ValueId>,
    pub(super) arguments: std::rc::Rc<Arguments>,
    pub(super) result: Option<NodeId>,
    pub(super) decorator: bool,
    pub(super) raise: bool,
    pub(super) via: Via,
}

/// What a node may be: mostly one or two objects.
#[derive(Debug)]
pub(super) enum ObjectSet {
    Few(u8, [ObjectId; 3]),
    #[expect(clippy::box_collection, reason = "few nodes have many objects, and all nodes would be larger")]
    Many(Box<Vec<ObjectId>>),
}

impl Default for ObjectSet {
    fn default() -> Self {
        Self::Few(0, [ObjectId::UNKNOWN; 3])
    }
}

impl ObjectSet {
    pub(super) fn push(&mut self, object: ObjectId) {
        match self {
            Self::Few(count, objects) => {
                if let Some(place) = objects.get_mut(usize::from(*count)) {
                    *place = object;
                    *count += 1;
                } else {
                    let mut many = Vec::with_capacity(2 * objects.len());
                    many.extend(*objects);
                    many.push(object);
                    *self = Self::Many(Box::new(many));
                }
            }
            Self::Many(objects) => objects.push(object),
        }
    }
}

impl std::ops::Deref for ObjectSet {
    type Target = [ObjectId];

    fn deref(&self) -> &[ObjectId] {
        match self {
            Self::Few(count, objects) => &objects[..usize::from(*count)],
            Self::Many(objects) => objects,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) objects: ObjectSet,
    pub(super) uses: UseList,
    /// How many of the objects have been passed on.
    pub(super) done: u8,
    pub(super) queued: bool,
}

/// What happens at a node: the link of what was registered last, as a place in [`Uses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UseList(u32);

impl Default for UseList {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl UseList {
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// What happens at all nodes: for each a linked list, from what was registered last to what was first. A list that
/// was copied does not see what is registered later.
#[derive(Debug)]
pub(super) struct Uses {
    links: Vec<(Use, UseList)>,
}

impl Uses {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { links: Vec::with_capacity(capacity) }
    }

    pub(super) fn push(&mut self, list: &mut UseList, reaction: Use) {
        let new = UseList(u32::try_from(self.links.len()).expect("fewer uses than 2^32"));
        self.links.push((reaction, std::mem::replace(list, new)));
    }

    /// Takes the first one off the list.
    pub(super) fn pop(&self, list: &mut UseList) -> Option<Use> {
        let &(reaction, rest) = self.links.get(list.0 as usize)?;
        *list = rest;
        Some(reaction)
    }
}
