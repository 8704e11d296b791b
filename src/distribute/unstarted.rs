//! Which code runs also where Horovod is not started: in programs that don't train, and in modules that are run by
//! themselves.
//!
//! `hvd.rank()` and `hvd.size()` fail there, so that new code asks first whether Horovod is started.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::names::Import;
use super::step::Step;
use crate::program::{Caller, Facts, Pattern};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{Module, StatementId};

/// The code of a project that runs also without Horovod.
#[derive(Debug)]
pub(super) struct Unstarted {
    /// The files of programs that don't train, each with the first such program.
    files: FxHashMap<FileId, FileId>,
    /// What scripts run that have nothing to do with training, each with the first such script.
    scripts: FxHashMap<Caller, FileId>,
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

/// Code that asks for the rank.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// Horovod's name there.
    pub(super) horovod: String,
    /// What binds it.
    pub(super) import: (FileId, Import),
    /// Where it runs.
    pub(super) runs: Runs,
}

/// Where code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Only where Horovod is started.
    Started,
    /// Also where it is not.
    Anywhere,
}

impl Code {
    /// A condition that is true on rank 0, and for who is alone.
    pub(super) fn is_first(&self) -> String {
        let hvd = &self.horovod;
        match self.runs {
            Runs::Started => format!("{hvd}.rank() == 0"),
            Runs::Anywhere => format!("not {hvd}.is_initialized() or {hvd}.rank() == 0"),
        }
    }

    /// A condition that is true on rank 0, and for nobody who is alone.
    pub(super) fn is_first_of_several(&self) -> String {
        let hvd = &self.horovod;
        match self.runs {
            Runs::Started => format!("{hvd}.rank() == 0"),
            Runs::Anywhere => format!("{hvd}.is_initialized() and {hvd}.rank() == 0"),
        }
    }

    /// A condition that is true on all ranks but 0, and for nobody who is alone.
    pub(super) fn is_other(&self) -> String {
        let hvd = &self.horovod;
        match self.runs {
            Runs::Started => format!("{hvd}.rank() != 0"),
            Runs::Anywhere => format!("{hvd}.is_initialized() and {hvd}.rank() != 0"),
        }
    }

    /// The number of ranks, 1 for who is alone.
    pub(super) fn size(&self) -> String {
        let hvd = &self.horovod;
        match self.runs {
            Runs::Started => format!("{hvd}.size()"),
            Runs::Anywhere => format!("({hvd}.size() if {hvd}.is_initialized() else 1)"),
        }
    }

    /// The rank's number, 0 for who is alone.
    pub(super) fn rank(&self) -> String {
        let hvd = &self.horovod;
        match self.runs {
            Runs::Started => format!("{hvd}.rank()"),
            Runs::Anywhere => format!("({hvd}.rank() if {hvd}.is_initialized() else 0)"),
        }
    }

    /// What a number is on rank 0, as all ranks are told; nothing for who is alone.
    pub(super) fn told_by_first(&self, number: &str, name: &str) -> String {
        let hvd = &self.horovod;
        let told = match self.import.1 {
            Import::HorovodKeras => format!("int({hvd}.broadcast({number}, 0, name='{name}'))"),
            _ => format!("{hvd}.broadcast_object({number}, name='{name}')"),
        };
        match self.runs {
            Runs::Started => told,
            Runs::Anywhere => format!("{told} if {hvd}.is_initialized() else None"),
        }
    }

    /// Lines that are only right where Horovod is started, under a condition if need be.
    pub(super) fn if_started(&self, text: Text<'_>, lines: &[String]) -> Vec<String> {
        match self.runs {
            Runs::Started => lines.to_vec(),
            Runs::Anywhere => {
                let header = format!("if {}.is_initialized():", self.horovod);
                let deeper = lines.iter().map(|line| format!("{}{line}", text.unit()));
                std::iter::once(header).chain(deeper).collect()
            }
        }
    }

    /// A step whose edits are of this code.
    pub(super) fn step(&self, step: Step) -> Step {
        Step { everywhere: self.everywhere(), ..step }
    }

    /// The file, if edits of this code are right also where Horovod is not started.
    pub(super) fn everywhere(&self) -> Vec<FileId> {
        match self.runs {
            Runs::Started => Vec::new(),
            Runs::Anywhere => vec![self.import.0],
        }
    }
}

impl Unstarted {
    /// That of a project.
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let mut files = FxHashMap::default();
        // Nobody runs a package's `__init__` file: who imports it is the program.
        let others = facts.programs.iter().filter(|program| {
            program.pattern == Pattern::None && !facts.modules.imports().is_package(program.entry)
        });
        for other in others {
            let mut work = vec![other.entry];
            while let Some(file) = work.pop() {
                // What an earlier program has come to, it has followed further.
                if let Entry::Vacant(place) = files.entry(file) {
                    place.insert(other.entry);
                    work.extend(facts.imported_files(file));
                }
            }
        }
        Self { files, scripts: run_by_scripts(facts), alone: run_alone(facts) }
    }

    /// Who else runs the code of a scope.
    pub(super) fn runner(&self, code: Caller) -> Option<Runner> {
        let program = self.files.get(&code.file).or_else(|| self.scripts.get(&code));
        let program = program.map(|&program| Runner::Program(program));
        program.or_else(|| self.alone.contains(&code).then_some(Runner::Alone))
    }
}

/// What scripts run that have nothing to do with training and that nobody imports, each with the first such script.
fn run_by_scripts(facts: &Facts<'_>) -> FxHashMap<Caller, FileId> {
    let entries: FxHashSet<FileId> = facts.programs.iter().map(|program| program.entry).collect();
    let is_script = |file: &FileId| {
        !entries.contains(file)
            && facts.importers(*file).is_empty()
            && !facts.files_of_training().contains(file)
            && !facts.modules.imports().is_package(*file)
    };
    let mut reached: FxHashMap<Caller, FileId> = FxHashMap::default();
    for script in facts.modules.files().filter(is_script) {
        let mut work = vec![Caller { file: script, scope: Module::TOP }];
        while let Some(caller) = work.pop() {
            if let Entry::Vacant(place) = reached.entry(caller) {
                place.insert(script);
                work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
            }
        }
    }
    reached
}

/// The code that the main guards of modules run which are no programs of their own.
fn run_alone(facts: &Facts<'_>) -> FxHashSet<Caller> {
    let entries: FxHashSet<FileId> = facts.programs.iter().map(|program| program.entry).collect();
    let mut reached: FxHashSet<Caller> = FxHashSet::default();
    let mut work: Vec<Caller> = Vec::new();
    for &file in facts.files_of_training().difference(&entries) {
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
