//! The facts of a project that checks and reports ask for, over value flow and the call graph.

use std::ops::Range;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::Effects;
use super::hierarchy::{Ancestor, Hierarchy, Resolver};
use super::influence::{Influence, Place};
use super::modules::{ClassRef, FunctionRef, Modules};
use super::object::{ExternalId, NodeId, Object, ObjectId};
use super::programs::Program;
use super::repetition::Repetition;
use super::solver::{CallEdge, Caller, Solution, Via};
use crate::api::{Kind, Library, Role, Symbol};
use crate::finding::Location;
use crate::project::{FileId, Target};
use crate::semantic::{
    BlockId, Branch, BranchKind, Call, CallId, ControlDependence, Import, Imported, Method, Module, Operator,
    ScopeId, ScopeKind, StatementId, StatementKind, Value, ValueId,
};
use crate::syntax::TextRange;

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

/// A branch that decides whether something runs, with the scope whose code branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Who branches.
    pub caller: Caller,
    /// On what.
    pub branch: Branch,
}

/// Everything that is known of a project.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The modules.
    pub modules: &'a Modules,
    /// Classes and bases.
    pub hierarchy: &'a Hierarchy,
    /// What libraries export.
    pub library: &'a Library,
    /// Value flow.
    pub solution: Solution<'a>,
    /// Files of training programs: what uses TensorFlow, Keras or Horovod, and what such a file reaches.
    pub concerned: FxHashSet<FileId>,
    /// Where optimizers, datasets, models, checkpoints and the like are made, in source order.
    pub creations: Vec<Creation>,
    /// The programs, by their entry's path.
    pub programs: Vec<Program>,
    kinds: Vec<Option<Kind>>,
    creation_of: FxHashMap<ObjectId, usize>,
    imported: Vec<Vec<FileId>>,
    /// Where each caller's edges are among the solution's, which are sorted by caller and call.
    outgoing: FxHashMap<Caller, Range<usize>>,
    /// The edges to functions, sorted by function, and where each one's are.
    incoming: (Vec<CallEdge>, FxHashMap<FunctionRef, Range<usize>>),
    /// Which values depend on which.
    influence: OnceLock<Influence>,
    pub(super) varying: OnceLock<FxHashMap<Place, Place>>,
    control: FxHashMap<Caller, OnceLock<ControlDependence>>,
    repetition: Repetition,
    effects: Effects,
}

impl<'a> Facts<'a> {
    /// Derives the facts from the modules and what flows between them. `entries` names the modules that own
    /// training loops, by dotted name or path, where the analysis should not guess.
    #[must_use]
    pub fn new(
        modules: &'a Modules,
        hierarchy: &'a Hierarchy,
        library: &'a Library,
        entries: &[String],
    ) -> Self {
        let solution = super::solver::solve(modules, hierarchy, library, super::solver::View::Runs);
        let outgoing = ranges(solution.edges.iter().map(|edge| edge.caller));
        let mut incoming: Vec<(FunctionRef, CallEdge)> = Vec::new();
        for edge in &solution.edges {
            if let Object::Function(function) = solution.object(edge.callee) {
                incoming.push((function, *edge));
            }
        }
        incoming.sort_unstable();
        let of_functions = ranges(incoming.iter().map(|&(function, _)| function));
        let incoming = (incoming.into_iter().map(|(_, edge)| edge).collect(), of_functions);
        let mut facts = Self {
            modules,
            hierarchy,
            library,
            solution,
            concerned: FxHashSet::default(),
            creations: Vec::new(),
            programs: Vec::new(),
            kinds: Vec::new(),
            creation_of: FxHashMap::default(),
            imported: Vec::new(),
            outgoing,
            incoming,
            influence: OnceLock::new(),
            varying: OnceLock::new(),
            control: FxHashMap::default(),
            repetition: Repetition::default(),
            effects: Effects::default(),
        };
        facts.kinds = facts.find_kinds();
        facts.imported = facts.find_imported();
        facts.concerned = facts.find_concerned();
        facts.creations = facts.find_creations();
        facts.creation_of =
            facts.creations.iter().enumerate().map(|(index, creation)| (creation.object, index)).collect();
        for file in modules.files().filter(|file| facts.concerned.contains(file)) {
            for index in 0..modules.get(file).scopes.len() {
                facts.control.insert(Caller { file, scope: ScopeId::new(index) }, OnceLock::new());
            }
        }
        facts.effects = Effects::new(&facts);
        facts.programs = super::programs::find(&facts, entries);
        facts.repetition = Repetition::new(&facts);
        facts
    }

    // ---- places ----

    /// The module of a file.
    #[must_use]
    pub fn module(&self, file: FileId) -> &'a Module {
        self.modules.get(file)
    }

    /// The files of training programs, in order.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.modules.files().filter(|file| self.concerned.contains(file))
    }

    /// The scopes of these files.
    pub fn scopes(&self) -> impl Iterator<Item = Caller> + '_ {
        self.files().flat_map(|file| {
            (0..self.module(file).scopes.len()).map(move |index| Caller { file, scope: ScopeId::new(index) })
        })
    }

    /// A place in a file.
    #[must_use]
    pub fn location(&self, file: FileId, range: TextRange) -> Location {
        Location::new(file, range)
    }

    /// The qualified name of a scope within its module; empty for the module.
    #[must_use]
    pub fn scope_name(&self, caller: Caller) -> &'a str {
        &self.module(caller.file).scope(caller.scope).qualified_name
    }

    /// The static reader of names, for what value flow need not decide.
    #[must_use]
    pub fn resolver(&self) -> Resolver<'a> {
        Resolver { modules: self.modules, library: self.library }
    }

    // ---- objects ----

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

    /// What the library knows of the thing that an object is or is an instance of.
    #[must_use]
    pub fn symbol(&self, object: Object) -> Option<&'a Symbol> {
        match object {
            Object::External(external) | Object::Created(external, _) | Object::Member(_, external) => {
                self.external_symbol(external)
            }
            Object::Instance(class, _) | Object::Class(class) => self.library_base(class),
            Object::Builtin(name) => {
                self.library.lookup(&format!("builtins.{}", self.solution.names.text(name)))
            }
            _ => None,
        }
    }

    fn external_symbol(&self, external: ExternalId) -> Option<&'a Symbol> {
        self.solution.externals.get(external).symbol
    }

    /// The first library class that a class of the project inherits from and that the library knows.
    #[must_use]
    pub fn library_base(&self, class: ClassRef) -> Option<&'a Symbol> {
        self.hierarchy.order(class).iter().find_map(|ancestor| match ancestor {
            Ancestor::External(path) => self.library.lookup(path),
            _ => None,
        })
    }

    /// What kind of object it is: an instance of an optimizer's class, also of the project's own, is an optimizer.
    #[must_use]
    pub fn kind(&self, object: ObjectId) -> Option<Kind> {
        self.kinds[object.0 as usize]
    }

    /// The kinds of all objects; each class is looked up once.
    fn find_kinds(&self) -> Vec<Option<Kind>> {
        let mut of_libraries: FxHashMap<ExternalId, Option<Kind>> = FxHashMap::default();
        let mut of_classes: FxHashMap<ClassRef, Option<Kind>> = FxHashMap::default();
        let kind_of = |object: Object| {
            let symbol = self.symbol(object).filter(|symbol| symbol.is_class())?;
            Some(self.library.kind_of_class(symbol))
        };
        let objects = self.solution.objects();
        objects
            .map(|(_, object)| match object {
                Object::Created(class, _) => *of_libraries.entry(class).or_insert_with(|| kind_of(object)),
                Object::Instance(class, _) => *of_classes.entry(class).or_insert_with(|| kind_of(object)),
                _ => None,
            })
            .collect()
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

    /// The call that made an object.
    #[must_use]
    pub fn made_at(&self, object: ObjectId) -> Option<(FileId, CallId)> {
        match self.solution.object(object) {
            Object::Created(_, node) | Object::Instance(_, Some(node)) => self.call_at(node),
            _ => None,
        }
    }

    // ---- calls ----

    /// What a call expression calls.
    #[must_use]
    pub fn callees(&self, file: FileId, call: CallId) -> &[CallEdge] {
        let edges = self.outgoing(Caller { file, scope: self.module(file).call(call).scope });
        let start = edges.partition_point(|edge| edge.call < Some(call));
        let count = edges[start..].partition_point(|edge| edge.call == Some(call));
        &edges[start..start + count]
    }

    /// What a scope's own code calls.
    #[must_use]
    pub fn outgoing(&self, caller: Caller) -> &[CallEdge] {
        self.outgoing.get(&caller).map_or(&[], |range| &self.solution.edges[range.clone()])
    }

    /// Who calls a function.
    #[must_use]
    pub fn incoming(&self, function: FunctionRef) -> &[CallEdge] {
        self.incoming.1.get(&function).map_or(&[], |range| &self.incoming.0[range.clone()])
    }

    /// The library symbols that a call may call.
    pub fn called_symbols(&self, file: FileId, call: CallId) -> impl Iterator<Item = &'a Symbol> + '_ {
        self.callees(file, call).iter().filter_map(|edge| match self.solution.object(edge.callee) {
            object @ Object::External(_) => self.symbol(object),
            _ => None,
        })
    }

    /// The functions of the project that a call may call.
    pub fn called_functions(&self, file: FileId, call: CallId) -> impl Iterator<Item = FunctionRef> + '_ {
        self.callees(file, call).iter().filter_map(|edge| match self.solution.object(edge.callee) {
            Object::Function(function) => Some(function),
            _ => None,
        })
    }

    /// The value that a method call is made on: `model` in `model.fit(x)`.
    #[must_use]
    pub fn receiver(&self, file: FileId, call: &Call) -> Option<ValueId> {
        match self.module(file).value(call.callee).value {
            Value::Attribute { base, .. } => Some(base),
            _ => None,
        }
    }

    /// The argument for a parameter of a library's symbol, by name or position.
    #[must_use]
    pub fn argument<'c>(
        &self,
        file: FileId,
        call: &'c Call,
        symbol: &Symbol,
        parameter: &str,
    ) -> Option<&'c crate::semantic::Argument> {
        use crate::semantic::Passing;
        let names = &self.module(file).names;
        let keyword = call.arguments.iter().find(
            |argument| matches!(argument.passing, Passing::Keyword(name) if names.text(name) == parameter),
        );
        keyword.or_else(|| {
            let position = symbol.position_of(parameter)?;
            let positional =
                call.arguments.iter().take_while(|argument| argument.passing == Passing::Positional);
            positional.clone().nth(position)
        })
    }

    /// The function or lambda whose code a scope is.
    #[must_use]
    pub fn function_of(&self, caller: Caller) -> Option<FunctionRef> {
        match self.module(caller.file).scope(caller.scope).kind {
            ScopeKind::Function(function) | ScopeKind::Lambda(function) => {
                Some(FunctionRef { file: caller.file, function })
            }
            _ => None,
        }
    }

    /// The scope of a function's code.
    #[must_use]
    pub fn code_of(&self, function: FunctionRef) -> Caller {
        let scope = self.module(function.file).function(function.function).scope;
        Caller { file: function.file, scope }
    }

    /// Which values depend on which; found when it is first asked for.
    #[must_use]
    pub fn influence(&self) -> &Influence {
        self.influence.get_or_init(|| Influence::new(self))
    }

    /// How often a scope's code may run in one run of a program.
    #[must_use]
    pub fn repetition(&self) -> &Repetition {
        &self.repetition
    }

    /// What calls do besides returning a value.
    #[must_use]
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    // ---- conditions ----

    /// The branches that decide whether a block of a scope runs, nearest first; the guard of a main module is
    /// none.
    #[must_use]
    pub fn conditions(&self, caller: Caller, block: BlockId) -> Vec<Condition> {
        let module = self.module(caller.file);
        let flow = &module.scope(caller.scope).flow;
        let control = match self.control.get(&caller) {
            Some(cell) => cell.get_or_init(|| flow.control_dependence()),
            None => return Vec::new(),
        };
        let branches = control.of(block).into_iter().filter_map(|block| flow.blocks[block.index()].branch);
        branches
            .filter(|branch| !self.is_main_guard(caller.file, branch))
            .map(|branch| Condition { caller, branch })
            .collect()
    }

    /// Whether a branch asks `__name__ == "__main__"`.
    #[must_use]
    pub fn is_main_guard(&self, file: FileId, branch: &Branch) -> bool {
        branch.kind == BranchKind::If
            && branch.condition.is_some_and(|condition| self.asks_for_main(file, condition))
    }

    fn asks_for_main(&self, file: FileId, condition: ValueId) -> bool {
        let module = self.module(file);
        let Value::Operator { operator: Operator::Compare(Method::EQ), left, right } =
            module.value(condition).value
        else {
            return false;
        };
        let is_name = |value: ValueId| match module.value(value).value {
            Value::Free(name) => module.names.text(name) == "__name__",
            _ => false,
        };
        is_name(left) || is_name(right)
    }

    /// Whether a statement stands under `if __name__ == "__main__"`.
    #[must_use]
    pub fn in_main_guard(&self, file: FileId, statement: StatementId) -> bool {
        let module = self.module(file);
        let mut next = Some(statement);
        while let Some(id) = next {
            let statement = module.statement(id);
            if statement.kind == StatementKind::If {
                let branch = module.scope(statement.scope).flow.blocks.iter().find_map(|block| {
                    block.branch.filter(|branch| branch.statement == id && branch.kind == BranchKind::If)
                });
                if branch.is_some_and(|branch| self.is_main_guard(file, &branch)) {
                    return true;
                }
            }
            next = statement.parent;
        }
        false
    }

    // ---- collection ----

    fn find_concerned(&self) -> FxHashSet<FileId> {
        // A program need not name the library itself: it may import modules that do.
        let mut importers: FxHashMap<FileId, Vec<FileId>> = FxHashMap::default();
        for file in self.modules.files() {
            for imported in self.imported_files(file) {
                importers.entry(*imported).or_default().push(file);
            }
        }
        let mut users: Vec<FileId> =
            self.modules.files().filter(|&file| self.uses_training_library(file)).collect();
        let mut work = Vec::new();
        let mut known: FxHashSet<FileId> = users.iter().copied().collect();
        while let Some(file) = users.pop() {
            work.push(file);
            let others = importers.get(&file).into_iter().flatten().copied();
            users.extend(others.filter(|&importer| known.insert(importer)));
        }
        let mut concerned = FxHashSet::default();
        while let Some(file) = work.pop() {
            if concerned.insert(file) {
                work.extend(self.imported_files(file));
            }
        }
        concerned
    }

    fn uses_training_library(&self, file: FileId) -> bool {
        self.training_import(file).is_some() || self.imports_training_library_late(file)
    }

    /// Whether a call in the file gives it a module of a training library: `importlib.import_module`.
    fn imports_training_library_late(&self, file: FileId) -> bool {
        self.module(file).calls.iter().any(|call| {
            self.objects(file, call.result).any(|(_, object)| match object {
                Object::External(external) => {
                    let external = self.solution.externals.get(external);
                    let package = external.path.split('.').next().unwrap_or_default();
                    external.symbol.is_some_and(Symbol::is_module)
                        && self.library.is_training_library(package)
                }
                _ => false,
            })
        })
    }

    /// The first import of a file that is of a training library.
    #[must_use]
    pub fn training_import(&self, file: FileId) -> Option<&'a Import> {
        self.module(file).imports.iter().find(|import| {
            let package = import.module.split('.').next().unwrap_or_default();
            import.level == 0
                && self.library.is_training_library(package)
                && self.modules.imports.resolve(file, 0, package) == Target::External
        })
    }

    /// The project's files that importing a file runs.
    #[must_use]
    pub fn imported_files(&self, file: FileId) -> &[FileId] {
        &self.imported[file.index()]
    }

    fn find_imported(&self) -> Vec<Vec<FileId>> {
        let imported = |file: FileId| {
            let imports = self.module(file).imports.iter();
            let mut found: Vec<FileId> =
                imports.flat_map(|import| self.files_of_import(file, import)).collect();
            found.sort_unstable();
            found.dedup();
            found.retain(|&found| found != file);
            found
        };
        self.modules.files().map(imported).collect()
    }

    /// The project's files that one import runs: packages, modules and submodules that it names.
    #[must_use]
    pub fn files_of_import(&self, file: FileId, import: &Import) -> Vec<FileId> {
        let imports = &self.modules.imports;
        let mut targets = imports.resolve_prefix(file, import.level, &import.module);
        if let Imported::Name(name) = import.what {
            let name = self.module(file).names.text(name);
            let (parent, submodule) = imports.resolve_from(file, import.level, &import.module, name);
            targets.extend([parent, submodule]);
        }
        let files = targets.into_iter().filter_map(|target| match target {
            Target::File(file) => Some(file),
            _ => None,
        });
        files.collect()
    }

    fn find_creations(&self) -> Vec<Creation> {
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

    /// The edges along which a run of the program comes from a scope to functions of the project.
    pub fn reached_functions(&self, caller: Caller) -> impl Iterator<Item = (CallEdge, FunctionRef)> + '_ {
        self.outgoing(caller).iter().filter_map(|edge| match self.solution.object(edge.callee) {
            Object::Function(function) => Some((*edge, function)),
            _ => None,
        })
    }

    /// Whether an edge is a library calling back.
    #[must_use]
    pub fn is_call_back(edge: &CallEdge) -> bool {
        edge.via == Via::Library
    }
}

/// Where the runs of equal keys are.
fn ranges<K: Copy + Eq + std::hash::Hash>(keys: impl Iterator<Item = K>) -> FxHashMap<K, Range<usize>> {
    let mut ranges: FxHashMap<K, Range<usize>> = FxHashMap::default();
    for (index, key) in keys.enumerate() {
        ranges.entry(key).or_insert(index..index).end = index + 1;
    }
    ranges
}
