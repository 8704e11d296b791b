//! Which code runs also where Horovod is not started: in programs that don't train, and in modules that are run by
//! themselves.
//!
//! `hvd.rank()` and `hvd.size()` fail there.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::Location;
use crate::program::{Caller, Facts, Pattern};
use crate::project::FileId;
use crate::semantic::{Module, StatementId};

/// The code of a project that runs also without Horovod.
#[derive(Debug)]
pub(super) struct Unstarted {
    /// The files of programs that don't train, each with the first such program.
    files: FxHashMap<FileId, FileId>,
    /// What modules run that others import when they are run by themselves.
    alone: FxHashSet<Caller>,
}

/// Who runs code without Horovod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Runner {
    /// A program that does not train.
    Program(FileId),
    /// A module under `if __name__ == "__main__":`.
    Alone,
}

impl Unstarted {
    /// That of a project.
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let mut files = FxHashMap::default();
        // Nobody runs a package's `__init__` file: who imports it is the program.
        let others = facts.programs.iter().filter(|program| {
            program.pattern == Pattern::None && !facts.modules.imports.is_package(program.entry)
        });
        for other in others {
            let mut known: FxHashSet<FileId> = [other.entry].into_iter().collect();
            let mut work = vec![other.entry];
            while let Some(file) = work.pop() {
                files.entry(file).or_insert(other.entry);
                work.extend(facts.imported_files(file).iter().copied().filter(|&file| known.insert(file)));
            }
        }
        Self { files, alone: run_alone(facts) }
    }

    /// Who else runs the code of a scope.
    pub(super) fn runner(&self, code: Caller) -> Option<Runner> {
        let program = self.files.get(&code.file).map(|&program| Runner::Program(program));
        program.or_else(|| self.alone.contains(&code).then_some(Runner::Alone))
    }
}

/// The code that the main guards of modules run which are no programs of their own.
fn run_alone(facts: &Facts<'_>) -> FxHashSet<Caller> {
    let entries: FxHashSet<FileId> = facts.programs.iter().map(|program| program.entry).collect();
    let trained = facts.programs.iter().filter(|program| program.pattern != Pattern::None);
    let files: FxHashSet<FileId> = trained.flat_map(|program| program.files()).collect();
    let mut reached: FxHashSet<Caller> = FxHashSet::default();
    let mut work: Vec<Caller> = Vec::new();
    for &file in files.difference(&entries) {
        let module = facts.module(file);
        let top = Caller { file, scope: Module::TOP };
        let guarded = |statement: StatementId| facts.in_main_guard(file, statement);
        if (0..module.statements.len()).map(StatementId::new).any(|id| {
            let own = module.statement(id);
            own.scope == Module::TOP && own.parent.is_some() && guarded(id)
        }) {
            reached.insert(top);
            work.extend(facts.reached_functions(top).map(|(_, function)| facts.code_of(function)));
        }
    }
    while let Some(caller) = work.pop() {
        if reached.insert(caller) {
            work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
        }
    }
    reached
}

/// The code that holds a place.
pub(super) fn code_at(facts: &Facts<'_>, at: Location) -> Caller {
    let module = facts.module(at.file);
    let range = at.text_range();
    let around = module.scopes.iter().enumerate().filter(|(_, scope)| scope.range.contains_range(range));
    let innermost = around.min_by_key(|(_, scope)| scope.range.len()).map(|(index, _)| index);
    let scope = innermost.map_or(Module::TOP, crate::semantic::ScopeId::new);
    Caller { file: at.file, scope: module.code_scope(scope) }
}
