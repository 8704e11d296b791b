//! Imports in functions, classes, loops and conditions, and behind other statements.

use rustc_hash::FxHashSet;

use super::top_of_module::{Top, reached};
use super::{Context, Importers, check, is_loaded_before};
use crate::finding::{Confidence, Finding, Level, Location};
use crate::normalise;
use crate::program::{Caller, Facts, Meaning, Pattern, Program};
use crate::project::FileId;
use crate::semantic::{Import, ImportId, Module, Statement, StatementKind};

check!("HVD001", "import-not-at-top", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let training = facts.programs.iter().filter(|program| program.pattern != Pattern::None);
    let training: FxHashSet<FileId> = training.flat_map(Program::files).collect();
    let mut found: Vec<Finding> = facts.files().flat_map(|file| misplaced(context, file)).collect();
    // Beside programs that train, what only others run has not to be distributed.
    let is_beside =
        |own: &&mut Finding| !training.is_empty() && !training.contains(&own.primary.location.file);
    for finding in found.iter_mut().filter(|own| !context.strict && is_beside(own)) {
        finding.confidence = Confidence::Possible;
    }
    found
}

fn misplaced(context: Context<'_>, file: FileId) -> Vec<Finding> {
    let module = context.facts.module(file);
    if begins_with_imports(module) {
        return Vec::new();
    }
    let top = Top::new(context.facts, file);
    let end = top.end(module);
    let mut findings = Vec::new();
    let mut first = 0;
    while let Some(import) = module.imports.get(first) {
        let count =
            module.imports[first..].iter().take_while(|other| other.statement == import.statement).count();
        let statement = module.statement(import.statement);
        let imports = first..first + count;
        first += count;
        if statement.kind == (StatementKind::Import { future: true }) {
            continue;
        }
        let around = module.ancestor_ids(import.statement).find(|&id| !top.is_transparent(id));
        let late = end.filter(|end| end.range.start() < reached(module, import.statement));
        let why = match (around, late) {
            (Some(around), _) => Misplaced::Inside(module.statement(around)),
            (None, Some(end)) if !top.is_for_types(module, import.statement) => Misplaced::Behind(end),
            (None, _) => continue,
        };
        findings.push(finding(context, file, &top, imports, &why));
    }
    findings
}

/// Whether nothing but a docstring stands in front of an import or around one, as in most modules.
fn begins_with_imports(module: &Module) -> bool {
    let is_import = |statement: &Statement| matches!(statement.kind, StatementKind::Import { .. });
    let mut behind = module.statements.iter().skip_while(|statement| {
        let is_plain =
            is_import(statement) || statement.kind == StatementKind::Expression { docstring: true };
        is_plain && statement.parent.is_none() && statement.scope == Module::TOP
    });
    !behind.any(is_import)
}

/// Why an import is not at the top.
enum Misplaced<'m> {
    Inside(&'m Statement),
    Behind(&'m Statement),
}

/// One finding for the imports of one statement; the worst of them decides.
fn finding(
    context: Context<'_>,
    file: FileId,
    top: &Top,
    imports: std::ops::Range<usize>,
    why: &Misplaced<'_>,
) -> Finding {
    let facts = context.facts;
    let module = facts.module(file);
    let needs: Vec<(ImportId, Option<Need>)> =
        imports.map(ImportId::new).map(|id| (id, need(facts, file, module.import(id)))).collect();
    let (id, need) = needs.iter().find(|(_, need)| need.is_some()).unwrap_or(&needs[0]);
    let import = module.import(*id);
    let statement = module.statement(import.statement);
    let name = format!("{}{}", ".".repeat(import.level as usize), import.module);
    let (place, reason, label) = match why {
        Misplaced::Behind(end) => ("below the top of the module", end, "the top ends here"),
        Misplaced::Inside(around) => match around.kind {
            StatementKind::Function => ("in a function", around, "inside this function"),
            StatementKind::Class => ("in a class", around, "inside this class"),
            StatementKind::For | StatementKind::While => ("in a loop", around, "inside this loop"),
            StatementKind::If | StatementKind::Match => ("under a condition", around, "under this condition"),
            StatementKind::Try => ("in a `try` statement", around, "inside this statement"),
            _ => ("in a block", around, "inside this block"),
        },
    };
    // A module of the project that is imported below still comes behind the start of Horovod.
    let is_only_late = matches!(why, Misplaced::Behind(_)) && matches!(need, None | Some(Need::Project(_)));
    // In a module without a training loop nothing is rewritten that needs `os`, and no library that is loaded already;
    // and what a module does when it is run by itself is no part of the programs that import it.
    let is_harmless = || {
        !facts.library.is_training_library(import.package())
            || statement.scope != Module::TOP && is_loaded_before(facts, file, import, Importers::OfTraining)
            || facts.in_main_guard(file, import.statement) && !begins_training(facts, file)
    };
    let is_only_late =
        is_only_late || matches!(need, Some(Need::Library)) && !trains(facts, file) && is_harmless();
    let level = if need.is_some() && !is_only_late { Level::Error } else { context.warning() };
    let location = Location::new(file, statement.range);
    let mut finding = Finding::new(&CHECK.rule, level, location, format!("`{name}` is imported {place}"))
        .here("imported here")
        .label(Location::new(file, reason.header), label)
        .help(format!("move the import of `{name}` to the top of the module"))
        .in_scope(facts.scope_name(Caller { file, scope: statement.scope }));
    if let Some(Need::Project(training)) = need {
        finding = finding.label(*training, "imports a training library");
    }
    finding.fix = normalise::move_to_top(context, file, import.statement, top);
    if need.is_some() && !is_only_late {
        finding = finding.note(
            "The fixes that initialise Horovod below the imports are withheld: they need every import that they \
             rely on to have run.",
        );
    }
    finding
}

/// Whether a module owns a training loop.
fn trains(facts: &Facts<'_>, file: FileId) -> bool {
    let mut loops = facts.programs.iter().flat_map(|program| &program.loops);
    loops.any(|own| own.caller.file == file)
}

/// Whether a module is run to train.
fn begins_training(facts: &Facts<'_>, file: FileId) -> bool {
    facts.programs.iter().any(|program| program.entry == file && program.pattern != Pattern::None)
}

/// What makes an import one that the preamble of a distributed program depends on.
enum Need {
    /// It is of a library that the preamble uses.
    Library,
    /// It is of a module of the project that imports a training library, there.
    Project(Location),
}

fn need(facts: &Facts<'_>, file: FileId, import: &Import) -> Option<Need> {
    let files = facts.files_of_import(file, import);
    if files.is_empty() {
        return match facts.modules.imported(file, import, facts.library) {
            Meaning::External(path) if facts.library.needed_by_rules(&path) => Some(Need::Library),
            _ => None,
        };
    }
    files.into_iter().find_map(|other| {
        let training = facts.training_import(other)?;
        Some(Need::Project(Location::new(other, training.range)))
    })
}
