//! What objects are: their kinds, and where they are made.

use rustc_hash::FxHashMap;

use super::super::hierarchy::{Ancestor, Hierarchy};
use super::super::influence::Place;
use super::super::modules::{ClassRef, FunctionRef, Modules};
use super::super::numbering::{Lists, Numbering};
use super::super::object::{ExternalId, Literal, Name, NodeId, Object, ObjectId};
use super::super::solver::Solution;
use super::super::travel::code;
use super::Facts;
use crate::api::{Kind, Library, Role, Symbol};
use crate::project::FileId;
use crate::semantic::{BuiltinType, CallId, Constant, Container, FunctionId, Value, ValueId};

/// A place where the program makes an object of a kind that rules act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    /// The object.
    pub object: ObjectId,
    /// What it is.
    pub kind: Kind,
    /// The file of the call that makes it.
    pub file: FileId,
    /// The call.
    pub call: CallId,
    /// It was made from another of its kind: `dataset.batch(8)`.
    pub derived: bool,
}

/// What libraries know of the objects and classes of a project; each is looked up once.
#[derive(Debug)]
pub(super) struct Classification<'a> {
    kinds: Vec<Option<Kind>>,
    builtins: FxHashMap<Name, Option<&'a Symbol>>,
    classes: Numbering,
    /// For each class of the project the library's class that it inherits from.
    bases: Vec<Option<&'a Symbol>>,
    in_files: Lists<ObjectId>,
}

impl<'a> Classification<'a> {
    pub(super) fn new(
        modules: &Modules,
        hierarchy: &Hierarchy,
        library: &'a Library,
        solution: &Solution<'a>,
    ) -> Self {
        let classes = Numbering::new(modules.list.iter().map(|module| module.classes.len()));
        let mut known: FxHashMap<&str, Option<&'a Symbol>> = FxHashMap::default();
        let mut base = |class: ClassRef| {
            hierarchy.order(class).iter().find_map(|ancestor| match ancestor {
                Ancestor::External(path) => *known.entry(path).or_insert_with(|| library.lookup(path)),
                _ => None,
            })
        };
        let mut bases = Vec::with_capacity(classes.count());
        for file in modules.files() {
            let own = (0..modules.get(file).classes.len()).map(crate::semantic::ClassId::new);
            bases.extend(own.map(|class| base(ClassRef { file, class })));
        }
        let mut builtins = FxHashMap::default();
        for (_, object) in solution.objects() {
            if let Object::Builtin(name) = object {
                let text = solution.names.text(name);
                builtins.entry(name).or_insert_with(|| library.lookup(&format!("builtins.{text}")));
            }
        }
        let in_files = objects_in_files(modules, solution);
        let mut found = Self { kinds: Vec::new(), builtins, classes, bases, in_files };
        found.kinds = found.find_kinds(library, solution);
        found
    }

    fn library_base(&self, class: ClassRef) -> Option<&'a Symbol> {
        self.bases[self.classes.of(class.file, class.class.index())]
    }

    fn find_kinds(&self, library: &Library, solution: &Solution<'a>) -> Vec<Option<Kind>> {
        let mut of_libraries: FxHashMap<ExternalId, Option<Kind>> = FxHashMap::default();
        let mut of_classes: FxHashMap<ClassRef, Option<Kind>> = FxHashMap::default();
        let kind_of = |symbol: Option<&Symbol>| {
            symbol.filter(|symbol| symbol.is_class()).map(|class| library.kind_of_class(class))
        };
        let objects = solution.objects();
        objects
            .map(|(_, object)| match object {
                Object::Created(class, _) => *of_libraries
                    .entry(class)
                    .or_insert_with(|| kind_of(solution.externals.get(class).symbol)),
                Object::Instance(class, _) => {
                    *of_classes.entry(class).or_insert_with(|| kind_of(self.library_base(class)))
                }
                _ => None,
            })
            .collect()
    }
}

fn objects_in_files(modules: &Modules, solution: &Solution<'_>) -> Lists<ObjectId> {
    let mut lists = Lists::with_capacity(modules.list.len());
    // The file that each object was last seen in.
    let mut seen: Vec<Option<FileId>> = vec![None; solution.objects().count()];
    for file in modules.files() {
        let all = solution.of_file(file).iter().copied();
        lists.push(all.filter(|object| seen[object.0 as usize].replace(file) != Some(file)));
    }
    lists
}

impl<'a> Facts<'a> {
    /// The methods that a class and its ancestors in the project define, those of the nearest first.
    pub fn methods(&self, class: ClassRef) -> impl Iterator<Item = FunctionRef> + '_ {
        self.hierarchy.order(class).iter().flat_map(|ancestor| {
            let own = match *ancestor {
                Ancestor::Project(class) => Some(class),
                _ => None,
            };
            own.into_iter().flat_map(|ClassRef { file, class }| {
                let functions = self.module(file).functions.iter().enumerate();
                let methods = functions.filter(move |(_, own)| own.class == Some(class));
                methods.map(move |(index, _)| FunctionRef { file, function: FunctionId::new(index) })
            })
        })
    }

    /// The method of a name that instances of a class have, if the project defines it.
    #[must_use]
    pub fn method(&self, class: ClassRef, name: &str) -> Option<FunctionRef> {
        let is_it = |method: &FunctionRef| {
            let module = self.module(method.file);
            module.names.text(module.function(method.function).name) == name
        };
        self.methods(class).find(is_it)
    }

    /// What a value may be.
    pub fn objects(&self, file: FileId, value: ValueId) -> impl Iterator<Item = (ObjectId, Object)> + '_ {
        self.solution.values(file, value).iter().map(|&id| (id, self.solution.object(id)))
    }

    /// Whether nobody knows all that a value may be.
    #[must_use]
    pub fn is_unknown(&self, file: FileId, value: ValueId) -> bool {
        let objects = self.solution.values(file, value);
        objects.is_empty() || objects.contains(&ObjectId::UNKNOWN)
    }

    /// Whether a value may be of a library that nobody knows.
    #[must_use]
    pub fn may_be_foreign(&self, file: FileId, value: ValueId) -> bool {
        self.objects(file, value).any(|(_, object)| {
            matches!(object, Object::External(_) | Object::Created(..)) && self.symbol(object).is_none()
        })
    }

    /// Whether a value is always `None`.
    #[must_use]
    pub fn is_none(&self, file: FileId, value: ValueId) -> bool {
        matches!(self.module(file).value(value).value, Value::Constant(Constant::None)) || {
            let mut objects = self.objects(file, value).peekable();
            objects.peek().is_some() && objects.all(|(_, object)| object == Object::Literal(Literal::None))
        }
    }

    /// What the library knows of the thing that an object is or is an instance of.
    #[must_use]
    pub fn symbol(&self, object: Object) -> Option<&'a Symbol> {
        match object {
            Object::External(external) | Object::Created(external, _) | Object::Member(_, external) => {
                self.external_symbol(external)
            }
            Object::Instance(class, _) | Object::Class(class) => self.library_base(class),
            Object::Builtin(name) => self.builtin_symbol(name),
            _ => None,
        }
    }

    fn external_symbol(&self, external: ExternalId) -> Option<&'a Symbol> {
        self.solution.externals.get(external).symbol
    }

    fn builtin_symbol(&self, name: Name) -> Option<&'a Symbol> {
        self.objects.builtins.get(&name).copied().flatten()
    }

    /// The name of the built-in class that an object is an instance of.
    #[must_use]
    pub fn builtin_class(&self, object: ObjectId) -> Option<&'static str> {
        match self.solution.object(object) {
            Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str) => Some("str"),
            Object::Type(BuiltinType::Bytes) => Some("bytes"),
            Object::Type(BuiltinType::File) => Some("file"),
            Object::Container(Container::List, _) => Some("list"),
            Object::Container(Container::Dict, _) => Some("dict"),
            Object::Container(Container::Set, _) => Some("set"),
            Object::Container(Container::Tuple, _) => Some("tuple"),
            Object::Container(Container::Generator, _) => Some("generator"),
            // What a library's function returns: `os.path.join(folder, name)`.
            Object::Created(class, _) => self
                .external_symbol(class)
                .is_some_and(|class| class.name() == "builtins.str")
                .then_some("str"),
            _ => None,
        }
    }

    /// The object of a built-in class that a method belongs to, and what is known of the method: `names` and
    /// `list.append` for `names.append`.
    #[must_use]
    pub fn builtin_method(&self, callee: ObjectId) -> Option<(ObjectId, &'a Symbol)> {
        let Object::BuiltinMethod(receiver, name) = self.solution.object(callee) else { return None };
        let class = self.builtin_class(receiver)?;
        let method = format!("builtins.{class}.{}", self.solution.names.text(name));
        Some((receiver, self.library.lookup(&method)?))
    }

    /// The first library class that a class of the project inherits from and that the library knows.
    #[must_use]
    pub fn library_base(&self, class: ClassRef) -> Option<&'a Symbol> {
        self.objects.library_base(class)
    }

    /// All that the values of a file may be, each object once.
    #[must_use]
    pub fn objects_in(&self, file: FileId) -> &[ObjectId] {
        self.objects.in_files.of(file.index())
    }

    /// Whether a value of the file may be an object of such a kind: where none is there is nothing to look at.
    #[must_use]
    pub fn has_any(&self, file: FileId, is_wanted: impl Fn(Kind) -> bool) -> bool {
        self.objects_in(file).iter().any(|&object| self.kind(object).is_some_and(&is_wanted))
    }

    /// What kind of object it is: an instance of an optimizer's class, also of the project's own, is an optimizer.
    #[must_use]
    pub fn kind(&self, object: ObjectId) -> Option<Kind> {
        self.objects.kinds[object.0 as usize]
    }

    /// Whether the value may be an object of this kind.
    #[must_use]
    pub fn may_be(&self, file: FileId, value: ValueId, kind: Kind) -> bool {
        self.solution.values(file, value).iter().any(|&object| self.kind(object) == Some(kind))
    }

    /// The objects of this kind that the value may be.
    #[must_use]
    pub fn of_kind(&self, file: FileId, value: ValueId, kind: Kind) -> Vec<ObjectId> {
        let objects = self.solution.values(file, value);
        objects.iter().copied().filter(|&object| self.kind(object) == Some(kind)).collect()
    }

    /// Where an object was made.
    #[must_use]
    pub fn creation(&self, object: ObjectId) -> Option<&Creation> {
        self.creation_of.get(&object).map(|&index| &self.creations[index])
    }

    /// The call that a node is the result of.
    #[must_use]
    pub fn call_at(&self, node: NodeId) -> Option<(FileId, CallId)> {
        let (file, value) = self.solution.origin(node)?;
        match self.module(file).value(value).value {
            Value::Call(call) => Some((file, call)),
            _ => None,
        }
    }

    /// The call that made the partial object, of a function, that a value may be.
    #[must_use]
    pub fn partial_of(&self, (file, value): Place, function: FunctionRef) -> Option<(FileId, CallId)> {
        self.objects(file, value).find_map(|(_, object)| {
            let Object::Partial(site) = object else { return None };
            let binds = |inner| code(self.solution.object(inner)) == Some(function);
            self.solution.partial(site).any(binds).then(|| self.call_at(site)).flatten()
        })
    }

    /// The call that made an object.
    #[must_use]
    pub fn made_at(&self, object: ObjectId) -> Option<(FileId, CallId)> {
        match self.solution.object(object) {
            Object::Created(_, node) | Object::Instance(_, Some(node)) => self.call_at(node),
            _ => None,
        }
    }

    pub(super) fn find_creations(&self) -> Vec<Creation> {
        let mut creations = Vec::new();
        for (id, object) in self.solution.objects() {
            let (Object::Created(_, node) | Object::Instance(_, Some(node))) = object else { continue };
            let Some(kind) = self.kind(id).filter(|&kind| kind != Kind::Other) else { continue };
            let Some((file, call)) = self.call_at(node) else { continue };
            let derived = self.called_symbols(file, call).any(|symbol| *symbol.role() == Role::Method)
                && self
                    .receiver(file, self.module(file).call(call))
                    .is_some_and(|receiver| self.may_be(file, receiver, kind));
            creations.push(Creation { object: id, kind, file, call, derived });
        }
        creations.sort_by_key(|creation| {
            (creation.file, self.module(creation.file).call(creation.call).range.start(), creation.call)
        });
        creations
    }
}
