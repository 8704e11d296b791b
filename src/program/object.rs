//! The abstract objects that values may be.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::modules::{ClassRef, FunctionRef};
use crate::api::{self, Library};
use crate::project::{FileId, FolderId};
use crate::semantic::{BuiltinType, Container, Interner};

/// A value of the whole project: the values of all modules one after the other, then fields and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The index as a `usize`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An abstract object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// What nothing is known of.
    pub const UNKNOWN: Self = Self(0);
}

/// A name or string of the whole project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub u32);

/// A library's module or member, by its dotted name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExternalId(pub u32);

impl ExternalId {
    /// The type of what a library returned, if nobody knows it.
    pub const NAMELESS: Self = Self(0);
}

/// A literal that can be a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Literal {
    /// A string.
    Str(Name),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// `None`.
    None,
}

/// What a value may be: code, or a place where something was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// Anything.
    Unknown,
    /// A function or lambda.
    Function(FunctionRef),
    /// A class of the project.
    Class(ClassRef),
    /// A module of the project.
    Module(FileId),
    /// A folder of modules.
    Namespace(FolderId),
    /// A library's module, class, function or constant.
    External(ExternalId),
    /// An instance of a class of the project, by the call that made it; without one it stands for all that
    /// callers outside of the project may make.
    Instance(ClassRef, Option<NodeId>),
    /// What a library's class or function returned at a call.
    Created(ExternalId, NodeId),
    /// A library's method, bound to its receiver.
    Member(ObjectId, ExternalId),
    /// A function of the project, bound to its receiver.
    Bound(ObjectId, FunctionRef),
    /// One of Python's own functions or classes.
    Builtin(Name),
    /// A method of an object of a built-in type.
    BuiltinMethod(ObjectId, Name),
    /// A literal.
    Literal(Literal),
    /// An instance of a built-in type.
    Type(BuiltinType),
    /// A container, by the place that made it.
    Container(Container, NodeId),
    /// `super()`: looks behind the class, for the receiver.
    Super(ClassRef, ObjectId),
    /// A property, by the call that made it.
    Property(NodeId),
    /// A property found in the class of its receiver, not yet read.
    BoundProperty(ObjectId, NodeId),
    /// `property.setter`
    PropertySetter(NodeId),
    /// A static method around what the node may be.
    StaticMethod(NodeId),
    /// A class method around what the node may be.
    ClassMethod(NodeId),
    /// `functools.partial`, by its call.
    Partial(NodeId),
    /// A decorator that gives its argument back.
    Identity,
}

/// All objects, each once.
#[derive(Debug)]
pub struct Objects {
    list: Vec<Object>,
    /// By the objects' hashes: small, because each value that is added is looked for here.
    ids: HashTable<ObjectId>,
}

impl Objects {
    /// None but what nothing is known of, with room for `count`.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        let mut objects = Self { list: Vec::with_capacity(count), ids: HashTable::with_capacity(count) };
        objects.id(Object::Unknown);
        objects
    }

    /// The id of `object`, new or known.
    pub fn id(&mut self, object: Object) -> ObjectId {
        let hash = hash(object);
        let Self { list, ids } = self;
        if let Some(&known) = ids.find(hash, |known| list[known.0 as usize] == object) {
            return known;
        }
        let id = ObjectId(u32::try_from(list.len()).expect("fewer objects than 2^32"));
        list.push(object);
        ids.insert_unique(hash, id, |id| self::hash(list[id.0 as usize]));
        id
    }

    /// The id of `object` if it is known.
    #[must_use]
    pub fn find(&self, object: Object) -> Option<ObjectId> {
        self.ids.find(hash(object), |&id| self.get(id) == object).copied()
    }

    /// The object `id`.
    #[must_use]
    pub fn get(&self, id: ObjectId) -> Object {
        self.list[id.0 as usize]
    }

    /// All objects with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, Object)> + '_ {
        (0..).map(ObjectId).zip(self.list.iter().copied())
    }
}

fn hash(object: Object) -> u64 {
    FxBuildHasher.hash_one(object)
}

/// Names of the whole project.
#[derive(Debug, Default)]
pub struct ProjectNames(Interner);

impl ProjectNames {
    /// The id of `text`, new or known.
    pub fn id(&mut self, text: &str) -> Name {
        Name(self.0.intern(text))
    }

    /// The id of `text` if the project mentions it.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Name> {
        self.0.find(text).map(Name)
    }

    /// The text of `name`.
    #[must_use]
    pub fn text(&self, name: Name) -> &str {
        self.0.text(name.0)
    }
}

/// A library's module or member.
#[derive(Debug)]
pub struct External<'l> {
    /// As the program reaches it: `tensorflow.optimizers.Adam`.
    pub path: Box<str>,
    /// What the library knows of it.
    pub symbol: Option<&'l api::Symbol>,
    depth: u32,
}

/// The library's modules and members that the project mentions.
#[derive(Debug)]
pub struct Externals<'l> {
    library: &'l Library,
    list: Vec<External<'l>>,
    ids: FxHashMap<Box<str>, ExternalId>,
    children: FxHashMap<(ExternalId, Name), Option<ExternalId>>,
    /// Which members known classes have, of those that were asked for.
    members: FxHashMap<(ExternalId, Name), bool>,
}

/// How many attributes of attributes are told apart: more of them is a program that walks a structure.
const DEPTH: u32 = 12;

impl<'l> Externals<'l> {
    /// None yet.
    #[must_use]
    pub fn new(library: &'l Library) -> Self {
        let nameless = External { path: "".into(), symbol: None, depth: 0 };
        Self {
            library,
            list: vec![nameless],
            ids: FxHashMap::default(),
            children: FxHashMap::default(),
            members: FxHashMap::default(),
        }
    }

    /// The library that is asked.
    #[must_use]
    pub fn library(&self) -> &'l Library {
        self.library
    }

    /// The module or member with this dotted name.
    pub fn id(&mut self, path: &str) -> ExternalId {
        if let Some(&id) = self.ids.get(path) {
            return id;
        }
        let id = ExternalId(u32::try_from(self.list.len()).expect("fewer names than 2^32"));
        let depth = u32::try_from(path.split('.').count()).expect("a path is short");
        self.list.push(External { path: path.into(), symbol: self.library.lookup(path), depth });
        self.ids.insert(path.into(), id);
        id
    }

    /// The class that the library calls by this name.
    pub fn of_symbol(&mut self, symbol: &api::Symbol) -> ExternalId {
        self.id(symbol.name())
    }

    /// A member of a module or class; `None` where paths have become too long to tell apart.
    pub fn child(&mut self, parent: ExternalId, name: Name, text: &str) -> Option<ExternalId> {
        if let Some(&child) = self.children.get(&(parent, name)) {
            return child;
        }
        let External { path, symbol, depth } = &self.list[parent.0 as usize];
        let child = if parent == ExternalId::NAMELESS || *depth >= DEPTH {
            None
        } else {
            // An inherited member is the base class's.
            let inherited = symbol
                .filter(|symbol| symbol.is_class())
                .and_then(|symbol| self.library.member(symbol, text));
            let path = inherited.map_or_else(|| format!("{path}.{text}"), |member| member.name().to_owned());
            // What an attribute holds, such as `sys.stdout`, has the members of its class.
            let held = symbol
                .filter(|symbol| *symbol.role() == api::Role::Attribute)
                .and_then(|symbol| self.library.returned_class(symbol))
                .and_then(|class| self.library.member(class, text));
            let child = self.id(&path);
            let known = &mut self.list[child.0 as usize].symbol;
            *known = known.or(held);
            Some(child)
        };
        self.children.insert((parent, name), child);
        child
    }

    /// Whether a class has a member of this name, inherited or its own; `None` for what is no class, or none that the
    /// library knows.
    pub fn has_member(&mut self, class: ExternalId, name: Name, text: &str) -> Option<bool> {
        let symbol = self.list[class.0 as usize].symbol.filter(|symbol| symbol.is_class())?;
        let library = self.library;
        let ask = || library.member(symbol, text).is_some();
        Some(*self.members.entry((class, name)).or_insert_with(ask))
    }

    /// What is known of `id`.
    #[must_use]
    pub fn get(&self, id: ExternalId) -> &External<'l> {
        &self.list[id.0 as usize]
    }
}
