//! The graph that values flow through: nodes, what happens to objects that arrive there, and calls.

use super::super::modules::ClassRef;
use super::super::object::{Literal, Name, NodeId, ObjectId};
use super::CAPACITIES;
use crate::project::FileId;
use crate::semantic::{CallId, ScopeId, ValueId};
use smallvec::SmallVec;

/// A part of an object that holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Field {
    Attribute(Name),
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
    /// Its class goes to the node.
    ClassInto(NodeId),
    /// It is a class: a new instance goes to the node.
    InstanceInto(NodeId),
    /// The language calls this method of it, if its class has one.
    Method(Name, Caller),
    /// It is the key of the container under which the node is put.
    PartOf(ObjectId, NodeId),
    /// It names a module that the file imports while it runs; the module goes to the node.
    ImportInto(FileId, NodeId),
    /// A distributed or decorated stand-in for it, made at the call whose result the node is.
    WrapInto(NodeId),
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
    /// As many as there may be in a large project: how many are known without going there.
    Several(u8, Box<[ObjectId; SEVERAL]>),
    #[expect(clippy::box_collection, reason = "few nodes have many objects, and all nodes would be larger")]
    Many(Box<Vec<ObjectId>>),
}

const SEVERAL: usize = *CAPACITIES.start();

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
                    let mut several = Box::new([object; SEVERAL]);
                    several[..objects.len()].copy_from_slice(objects);
                    *self = Self::Several(*count + 1, several);
                }
            }
            Self::Several(count, objects) => {
                if let Some(place) = objects.get_mut(usize::from(*count)) {
                    *place = object;
                    *count += 1;
                } else {
                    let mut many = Vec::with_capacity(2 * objects.len());
                    many.extend(**objects);
                    many.push(object);
                    *self = Self::Many(Box::new(many));
                }
            }
            Self::Many(objects) => objects.push(object),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few(count, _) | Self::Several(count, _) => usize::from(*count),
            Self::Many(objects) => objects.len(),
        }
    }
}

impl std::ops::Deref for ObjectSet {
    type Target = [ObjectId];

    #[inline]
    fn deref(&self) -> &[ObjectId] {
        match self {
            Self::Few(count, objects) => &objects[..usize::from(*count)],
            Self::Several(count, objects) => &objects[..usize::from(*count)],
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

impl Node {
    /// The objects that have not been passed on; they are with this.
    pub(super) fn pass_on(&mut self) -> SmallVec<[ObjectId; SEVERAL]> {
        let new = self.objects[usize::from(self.done)..].into();
        self.done = u8::try_from(self.objects.len()).expect("a node holds fewer objects than 256");
        new
    }
}

/// What happens at a node, as a block of [`Uses`]: its size is the next power of two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UseList {
    start: u32,
    count: u32,
}

impl UseList {
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.count == 0
    }

    /// The numbers of the uses, from what was registered last to what was first.
    #[inline]
    pub(super) fn numbers(self) -> std::iter::Rev<std::ops::Range<u32>> {
        (0..self.count).rev()
    }
}

/// What happens at all nodes. What happens at one lies together in memory: a list that outgrows its block moves to one
/// of twice the size, and its old block waits for another list.
#[derive(Debug)]
pub(super) struct Uses {
    places: Vec<Use>,
    /// The blocks that wait, by the binary logarithm of their size.
    free: [Vec<u32>; 32],
}

impl Uses {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { places: Vec::with_capacity(capacity), free: Default::default() }
    }

    #[inline]
    pub(super) fn push(&mut self, list: &mut UseList, reaction: Use) {
        if list.is_empty() || list.count.is_power_of_two() {
            self.grow(list, reaction);
        }
        self.places[(list.start + list.count) as usize] = reaction;
        list.count += 1;
    }

    /// Moves a full list to a larger block; what the block does not hold yet is filled with anything.
    fn grow(&mut self, list: &mut UseList, filler: Use) {
        let size = (2 * list.count).max(1);
        let logarithm = size.ilog2() as usize;
        let start = self.free[logarithm].pop().unwrap_or_else(|| {
            let start = self.places.len();
            self.places.resize(start + size as usize, filler);
            u32::try_from(start).expect("fewer uses than 2^32")
        });
        if !list.is_empty() {
            let old = list.start as usize..(list.start + list.count) as usize;
            self.places.copy_within(old, start as usize);
            self.free[logarithm - 1].push(list.start);
        }
        list.start = start;
    }

    #[inline]
    pub(super) fn get(&self, list: UseList, number: u32) -> Use {
        self.places[(list.start + number) as usize]
    }
}
