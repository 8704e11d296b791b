//! Which functions may have to do with training, as far as names tell: where value flow starts.
//!
//! All functions of the files that import a training library, and those of other files that name something of such
//! a file, or a function or class that does. What they call and what they are given is for value flow to find.

use rustc_hash::{FxHashMap, FxHashSet};

use super::components::imports_by_name;
use super::hierarchy::{Entity, Resolver};
use super::modules::{ClassRef, FunctionRef, Modules};
use super::solver::View;
use crate::project::{FileId, Target};
use crate::semantic::{FunctionId, Module, NameId, ScopeId, ScopeKind, Value, ValueId};

/// The code that value flow starts from; what a module runs when it is imported belongs to it always.
#[derive(Debug)]
pub(super) struct Roots {
    /// For each file that does not belong to it as a whole, the outermost function around each scope.
    outermost: Vec<Option<Box<[Option<FunctionId>]>>>,
    /// The outermost functions of these files that belong to it.
    pub(super) functions: FxHashSet<FunctionRef>,
}

impl Roots {
    /// Finds where to start.
    #[must_use]
    pub(super) fn new(resolver: Resolver<'_>, view: View) -> Self {
        let modules = resolver.modules;
        let outermost = modules.files().map(|file| {
            let is_whole = view == View::Source || uses_training_library(resolver, file);
            (!is_whole).then(|| outermost(modules.get(file)))
        });
        let mut roots = Self { outermost: outermost.collect(), functions: FxHashSet::default() };
        roots.functions = roots.leading_to_training(resolver);
        roots
    }

    /// The outermost function around a scope; nothing at the top, and in files that belong to the roots as a whole.
    #[must_use]
    pub(super) fn outermost(&self, file: FileId, scope: ScopeId) -> Option<FunctionRef> {
        let functions = self.outermost[file.index()].as_ref()?;
        functions[scope.index()].map(|function| FunctionRef { file, function })
    }

    /// Whether all code of a file belongs to the roots.
    #[must_use]
    pub(super) fn are_all_of(&self, file: FileId) -> bool {
        self.outermost[file.index()].is_none()
    }

    /// Whether all code belongs to the roots.
    #[must_use]
    pub(super) fn are_all(&self) -> bool {
        self.outermost.iter().all(Option::is_none)
    }

    /// Whether a function belongs to the roots.
    #[must_use]
    pub(super) fn contain(&self, modules: &Modules, function: FunctionRef) -> bool {
        let scope = modules.get(function.file).function(function.function).scope;
        self.outermost(function.file, scope).is_none_or(|outermost| self.functions.contains(&outermost))
    }

    fn leading_to_training(&self, resolver: Resolver<'_>) -> FxHashSet<FunctionRef> {
        let mut named_by: FxHashMap<Named, Vec<FunctionRef>> = FxHashMap::default();
        for file in resolver.modules.files().filter(|&file| !self.are_all_of(file)) {
            NamesOf::new(self, resolver, file).each(|function, named| {
                let by = named_by.entry(named).or_default();
                if by.last() != Some(&function) {
                    by.push(function);
                }
            });
        }
        let mut found = FxHashSet::default();
        let mut work = named_by.get(&Named::Training).cloned().unwrap_or_default();
        while let Some(function) = work.pop() {
            if found.insert(function) {
                let names =
                    [Some(Named::Function(function)), resolver.modules.class_of(function).map(Named::Class)];
                work.extend(names.iter().flatten().filter_map(|named| named_by.get(named)).flatten());
            }
        }
        found
    }
}

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Named {
    Function(FunctionRef),
    Class(ClassRef),
    /// A file that imports a training library, or something in it.
    Training,
}

/// The names in one file that lead to code of the project.
struct NamesOf<'r, 'a> {
    roots: &'r Roots,
    resolver: Resolver<'a>,
    file: FileId,
    /// What the values are that the file's scopes share.
    shared: FxHashMap<ValueId, Option<Entity>>,
    /// What their attributes lead to.
    members: FxHashMap<(ValueId, NameId), Option<Named>>,
}

impl<'r, 'a> NamesOf<'r, 'a> {
    fn new(roots: &'r Roots, resolver: Resolver<'a>, file: FileId) -> Self {
        Self { roots, resolver, file, shared: FxHashMap::default(), members: FxHashMap::default() }
    }

    /// Gives each name with the outermost function that it stands in.
    fn each(&mut self, mut found: impl FnMut(FunctionRef, Named)) {
        let module = self.resolver.modules.get(self.file);
        let names = module.uses.iter().map(|name| (name.scope, name.value));
        let values = (0..).map(ValueId::new).zip(&module.values);
        let parts = values.filter(|(_, own)| matches!(own.value, Value::Attribute { .. } | Value::Import(_)));
        for (scope, value) in names.chain(parts.map(|(value, own)| (own.scope, value))) {
            if let Some(function) = self.roots.outermost(self.file, scope)
                && let Some(named) = self.meaning(module, value)
            {
                found(function, named);
            }
        }
    }

    fn meaning(&mut self, module: &Module, value: ValueId) -> Option<Named> {
        match module.value(value).value {
            Value::Cell(_) | Value::Free(_) => {
                self.find_shared(value);
                self.named(self.shared[&value].as_ref()?)
            }
            // `module.function`, of which there are many of a few; few other attributes are of modules.
            Value::Attribute { base, name, .. } => match module.value(base).value {
                Value::Cell(_) => {
                    self.find_shared(base);
                    if !matches!(self.shared[&base], Some(Entity::Module(_))) {
                        return None;
                    }
                    if let Some(&known) = self.members.get(&(base, name)) {
                        return known;
                    }
                    let named = self.resolved(value);
                    self.members.insert((base, name), named);
                    named
                }
                Value::Import(_) | Value::Attribute { .. } => self.resolved(value),
                _ => None,
            },
            Value::Import(_) => self.resolved(value),
            _ => None,
        }
    }

    fn find_shared(&mut self, value: ValueId) {
        self.shared.entry(value).or_insert_with(|| self.resolver.entity(self.file, value));
    }

    fn resolved(&self, value: ValueId) -> Option<Named> {
        self.named(&self.resolver.entity(self.file, value)?)
    }

    fn named(&self, entity: &Entity) -> Option<Named> {
        let (file, named) = match *entity {
            Entity::Function(function) => (function.file, Some(Named::Function(function))),
            Entity::Class(class) => (class.file, Some(Named::Class(class))),
            Entity::Module(Target::File(file)) => (file, None),
            _ => return None,
        };
        if self.roots.are_all_of(file) { Some(Named::Training) } else { named }
    }
}

/// The outermost function around each scope. A class body runs with the module, and lambdas at the top are small.
fn outermost(module: &Module) -> Box<[Option<FunctionId>]> {
    let mut functions: Vec<Option<FunctionId>> = Vec::with_capacity(module.scopes.len());
    for scope in &module.scopes {
        let around = scope.parent.and_then(|parent| functions[parent.index()]);
        functions.push(around.or(match scope.kind {
            ScopeKind::Function(function) => Some(function),
            ScopeKind::Module | ScopeKind::Class(_) | ScopeKind::Lambda(_) => None,
        }));
    }
    functions.into()
}

/// Whether a file imports a training library, by a statement or, for all that a string in it tells, while it runs.
fn uses_training_library(Resolver { modules, library }: Resolver<'_>, file: FileId) -> bool {
    let module = modules.get(file);
    let is_library = |text: &str| library.is_training_library(text.split('.').next().unwrap_or_default());
    modules.training_import(file, library).is_some()
        || (imports_by_name(module) && module.names.iter().any(is_library))
}
