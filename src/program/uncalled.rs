//! Functions that no code of the project calls, or none as they have to be, though its programs come to their modules: what
//! stands in them never happens, as the source stands.

use rustc_hash::FxHashSet;

use super::components::imports_by_name;
use super::facts::Facts;
use super::modules::FunctionRef;
use super::object::Object;
use super::solver::{CallEdge, Caller};
use crate::project::FileId;
use crate::semantic::{FunctionId, Module, ParameterKind, Passing, ScopeKind, Value, ValueId};

/// What comes to functions of the module that calls it by names that are values, or by text: `globals()[name]()`.
const BY_NAME: [&str; 3] = ["builtins.globals", "builtins.eval", "builtins.exec"];

/// What comes to functions of the module that it is given.
const OF_MODULE: &str = "builtins.getattr";

impl Facts<'_> {
    /// Whether calls come to a function that the source does not show, in the programs here: a decorator has it, or code
    /// that nobody knows.
    pub(super) fn is_handed_out(&self, function: FunctionRef) -> bool {
        let own = self.module(function.file).function(function.function);
        !own.decorators.is_empty() || self.travel().lost_function(function).is_some()
    }

    /// Whether other programs can import a function.
    fn is_public(&self, function: FunctionRef) -> bool {
        let module = self.module(function.file);
        let own = module.function(function.function);
        let name = module.names.text(own.name);
        let is_private = name.starts_with('_') && !name.starts_with("__");
        let is_local = || {
            let parents =
                std::iter::successors(module.scope(own.scope).parent, |&scope| module.scope(scope).parent);
            parents.into_iter().any(|scope| {
                matches!(module.scope(scope).kind, ScopeKind::Function(_) | ScopeKind::Lambda(_))
            })
        };
        self.modules.imports().is_in_package(function.file) && !is_private && !is_local()
    }

    /// The functions whose code no run of a program comes to: those that nobody calls, and those that all who call them
    /// give too few arguments, which is an error in front of their code.
    #[must_use]
    pub fn uncalled(&self) -> Vec<FunctionRef> {
        let mut found = self.unmentioned();
        let callees = self.solution.edges.iter().filter_map(|edge| match self.solution.object(edge.callee) {
            Object::Function(function) => Some(function),
            _ => None,
        });
        let mut called: Vec<FunctionRef> = callees.collect();
        called.sort_unstable();
        called.dedup();
        found.extend(called.into_iter().filter(|&function| {
            self.incoming(function).iter().all(|edge| self.lacks_argument(edge, function))
                && !self.is_handed_out(function)
        }));
        found
    }

    /// Whether a call fails because it does not give a function of a module all that it needs.
    fn lacks_argument(&self, edge: &CallEdge, function: FunctionRef) -> bool {
        let own = self.module(function.file).function(function.function);
        let (file, Some(call)) = (edge.caller.file, edge.call) else { return false };
        let call = self.module(file).call(call);
        let is_open =
            || call.arguments.iter().any(|own| matches!(own.passing, Passing::Spread | Passing::Merge));
        let mut parameters = own.parameters.iter().enumerate();
        own.class.is_none()
            && self.objects(file, call.callee).all(|(_, object)| object == Object::Function(function))
            && !is_open()
            && parameters.any(|(position, parameter)| {
                let is_needed = !matches!(parameter.kind, ParameterKind::Variadic | ParameterKind::Keywords)
                    && parameter.default.is_none();
                is_needed && self.bound(file, call, function, position, 0).is_none()
            })
    }

    /// The functions of modules that a program imports or runs, which no code of the project calls or mentions.
    fn unmentioned(&self) -> Vec<FunctionRef> {
        let mut files: Vec<FileId> = self
            .programs
            .iter()
            .filter(|program| {
                let top = Caller { file: program.entry, scope: Module::TOP };
                self.reached_functions(top).next().is_some()
            })
            .flat_map(|program| &program.reached)
            .filter(|caller| caller.scope == Module::TOP)
            .map(|caller| caller.file)
            .collect();
        files.sort_unstable();
        files.dedup();
        if files.is_empty() || self.files().any(|file| imports_by_name(self.module(file))) {
            return Vec::new();
        }
        let mentioned = self.mentioned();
        let open = self.called_by_name();
        let functions = files.into_iter().filter(|file| !open.contains(file)).flat_map(|file| {
            (0..self.module(file).functions.len())
                .map(move |index| FunctionRef { file, function: FunctionId::new(index) })
        });
        functions
            .filter(|function| {
                let own = self.module(function.file).function(function.function);
                own.class.is_none()
                    && own.statement.is_some()
                    && self.incoming(*function).is_empty()
                    && !mentioned.contains(function)
                    && !self.is_handed_out(*function)
                    && !self.is_public(*function)
            })
            .collect()
    }

    /// The functions that some code reads as values.
    fn mentioned(&self) -> FxHashSet<FunctionRef> {
        let mut found = FxHashSet::default();
        for file in self.files() {
            let module = self.module(file);
            let values = module.values.iter().enumerate();
            let attributes = values
                .filter(|(_, own)| matches!(own.value, Value::Attribute { .. }))
                .map(|(index, _)| ValueId::new(index));
            for value in module.uses.iter().map(|own| own.value).chain(attributes) {
                found.extend(self.objects(file, value).filter_map(|(_, object)| match object {
                    Object::Function(function) => Some(function),
                    _ => None,
                }));
            }
        }
        found
    }

    /// The files whose functions may be called by names that are values.
    fn called_by_name(&self) -> FxHashSet<FileId> {
        let by_name = BY_NAME.map(|name| self.library.lookup(name));
        let of_module = self.library.lookup(OF_MODULE);
        let mut found = FxHashSet::default();
        for edge in &self.solution.edges {
            let callee = self.solution.object(edge.callee);
            if !matches!(callee, Object::Builtin(_)) {
                continue;
            }
            let (symbol, file) = (self.symbol(callee), edge.caller.file);
            if by_name.contains(&symbol) {
                found.insert(file);
            } else if symbol == of_module
                && let Some(base) = edge.call.and_then(|call| self.module(file).call(call).arguments.first())
            {
                let modules = self.objects(file, base.value).filter_map(|(_, object)| match object {
                    Object::Module(module) => Some(module),
                    // `sys.modules[__name__]`
                    Object::Unknown => Some(file),
                    _ => None,
                });
                found.extend(modules);
            }
        }
        found
    }
}
