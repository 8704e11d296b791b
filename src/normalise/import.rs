//! An import moves to the top of its module.

use rustc_hash::FxHashSet;

use super::names::is_visible_outside;
use crate::api::{Effect, EffectSet, Prelude, Symbol};
use crate::checks::{Context, Importers, Top, is_loaded_before, is_loaded_by};
use crate::finding::{Applicability, Fix};
use crate::program::{Facts, Object};
use crate::project::{FileId, is_standard};
use crate::rewrite::Text;
use crate::semantic::{
    CallId, Definition, DefinitionKind, Import, Imported, Module, NameId, ScopeId, ScopeKind, Statement,
    StatementId, StatementKind, Use, Value,
};
use crate::syntax::{TextRange, TextSize};

/// What code may do without influencing what an import behind it does.
const HARMLESS: [Effect; 8] = [
    Effect::ReadsFile,
    Effect::ReadsRank,
    Effect::ReadsLocalRank,
    Effect::ReadsSize,
    Effect::ReadsInput,
    Effect::Varies,
    Effect::Traces,
    Effect::Prints,
];

/// The package that TensorFlow brings with it.
const ARRAYS: &str = "numpy";

/// Moves an import statement to the top. Safe where only the moment of loading a library changes, also in the main
/// program's own block, and in functions where it is loaded anyway; unsafe for modules of the project. `None` where the
/// names that it binds may mean something else, where it stands under a condition of its own, and where a module of the
/// project would not be found or not be complete yet.
#[must_use]
pub fn move_to_top(context: Context<'_>, file: FileId, statement: StatementId, top: &Top) -> Option<Fix> {
    let facts = context.facts;
    let module = facts.module(file);
    let text = context.texts.get(file, module)?;
    let own = module.statement(statement);
    let anchor = top.last(module);
    let start = anchor.map_or(TextRange::default(), |anchor| module.statement(anchor).range);
    if !stands_freely(facts, file, statement)
        || !names_stay(facts, text, statement, start.end())
        || is_bound_by_star(facts, file, statement, start.end())
    {
        return None;
    }
    let imports = module.imports.iter().filter(|import| import.statement == statement);
    let is_foreign = imports.clone().all(|import| facts.files_of_import(file, import).is_empty());
    let crossed = TextRange::new(start.end(), own.range.start().max(start.end()));
    let is_at_top = own.scope == Module::TOP;
    let is_found = || !is_at_top || !text.installs(crossed) && keeps_settings(facts, file, crossed, true);
    if !is_foreign && (leads_back(facts, file, imports.clone()) || !is_found()) {
        return None;
    }
    let is_loaded =
        is_at_top && imports.clone().all(|import| is_loaded_by(facts, file, import, crossed.start()));
    // Behind the question whether this is the main program, it is not loaded for those who import the module, who may not
    // have it.
    let is_for_all = own.parent.is_none() || is_loaded || facts.importers(file).is_empty();
    if is_at_top && !is_for_all && !is_repeated(text, statement) {
        return None;
    }
    let is_safe = is_foreign
        && if is_at_top {
            let is_there = |import: &Import| is_standard(import.package()) || import.package() == ARRAYS;
            let installs = || text.installs(crossed) || starts_process(facts, file, crossed);
            // What TensorFlow is told of devices is nothing to Python's own modules.
            let is_indifferent = is_loaded || imports.clone().all(is_there);
            (is_indifferent || !installs()) && keeps_settings(facts, file, crossed, is_indifferent)
        } else {
            imports.clone().all(|import| is_loaded_before(facts, file, import, Importers::All))
        };
    let mut edits = text.remove(statement);
    if is_repeated(text, statement) {
        return Some(super::fix(Applicability::Safe, "remove the repeated import", edits));
    }
    let line = text.slice(own.range);
    edits.extend(match anchor {
        Some(anchor) => text.after(anchor, &[line]),
        None => text.at_top(&[line], !is_followed_by_import(module, own)),
    });
    let applicability = if is_safe { Applicability::Safe } else { Applicability::Unsafe };
    Some(super::fix(applicability, "move the import to the top", edits))
}

/// Whether modules of the project import the file in turn: at its top they would find it empty.
fn leads_back<'m>(facts: &Facts<'_>, file: FileId, imports: impl Iterator<Item = &'m Import>) -> bool {
    let mut work: Vec<FileId> = imports.flat_map(|import| facts.files_of_import(file, import)).collect();
    let mut seen: FxHashSet<FileId> = FxHashSet::default();
    while let Some(next) = work.pop() {
        if next == file {
            return true;
        }
        if seen.insert(next) {
            work.extend(facts.imported_files(next));
        }
    }
    false
}

/// Whether another import of the module's own code stands further down.
fn is_followed_by_import(module: &Module, own: &Statement) -> bool {
    module.imports.iter().map(|other| module.statement(other.statement)).any(|other| {
        other.scope == Module::TOP && other.parent.is_none() && other.range.start() > own.range.start()
    })
}

/// Whether nothing but functions, and what says that this is the main program, stands around the statement.
fn stands_freely(facts: &Facts<'_>, file: FileId, statement: StatementId) -> bool {
    let module = facts.module(file);
    let in_function = module.statement(statement).scope != Module::TOP;
    let is_function = |around: &Statement| around.kind == StatementKind::Function;
    let mut around = module.ancestors(statement);
    match module.statement(statement).parent {
        None => true,
        Some(_) if in_function => {
            around.all(|around| {
                is_function(around)
                    || around.kind == StatementKind::Class
                        && around.scope != module.statement(statement).scope
            }) && is_in_function(module, statement)
        }
        Some(parent) => facts.in_main_guard(file, statement) && module.statement(parent).parent.is_none(),
    }
}

fn is_in_function(module: &Module, statement: StatementId) -> bool {
    matches!(module.scope(module.statement(statement).scope).kind, ScopeKind::Function(_))
}

/// Whether each name that the statement binds means the same when the module's own scope binds it at the end of its top.
fn names_stay(facts: &Facts<'_>, text: Text<'_>, statement: StatementId, top: TextSize) -> bool {
    let module = text.module;
    let bound: Vec<&Definition> =
        module.definitions.iter().filter(|definition| definition.statement == Some(statement)).collect();
    let is_star =
        module.imports.iter().any(|import| import.statement == statement && import.what == Imported::Star);
    !is_star && !bound.is_empty() && bound.iter().all(|definition| name_stays(facts, text, definition, top))
}

/// Whether a star import below the top may bind a name of the statement, `from numpy import *` and `import random` behind it: who stands
/// above it loses the name to it.
fn is_bound_by_star(facts: &Facts<'_>, file: FileId, statement: StatementId, top: TextSize) -> bool {
    let module = facts.module(file);
    let own = module.definitions.iter().filter(|own| own.statement == Some(statement));
    let names: Vec<&str> = own.map(|own| module.names.text(module.symbol(own.variable).name)).collect();
    let mut stars = module.imports.iter().filter(|import| {
        let stands = module.statement(import.statement);
        import.what == Imported::Star && stands.scope == Module::TOP && stands.range.start() >= top
    });
    stars.any(|star| names.iter().any(|name| may_bring(facts, file, star, name)))
}

/// Whether a star import may bring a name.
fn may_bring(facts: &Facts<'_>, file: FileId, star: &Import, name: &str) -> bool {
    let files = facts.files_of_import(file, star);
    let has = |file: FileId| {
        let module = facts.module(file);
        let exports = &module.scope(Module::TOP).exports;
        module.names.get(name).is_some_and(|name| exports.contains_key(&name))
            || module.imports.iter().any(|own| own.what == Imported::Star)
    };
    // Of other libraries than those for training not all names are known.
    let is_known = || {
        star.level == 0
            && facts.library.is_training_library(star.package())
            && facts.library.lookup(&star.module).is_some()
    };
    match files.as_slice() {
        [] if is_known() => facts.library.lookup(&format!("{}.{name}", star.module)).is_some(),
        [] => true,
        files => files.iter().copied().any(has),
    }
}

/// Whether the module has executed the same import when it comes to the statement.
fn is_repeated(text: Text<'_>, statement: StatementId) -> bool {
    let module = text.module;
    let mut bound = module.definitions.iter().filter(|own| own.statement == Some(statement)).peekable();
    bound.peek().is_some() && bound.all(|own| is_bound_above(text, own))
}

/// Whether a statement of the module itself, above and under no condition, imports the same to the same name.
fn is_bound_above(text: Text<'_>, definition: &Definition) -> bool {
    let module = text.module;
    module.definitions.iter().any(|other| {
        other.variable == definition.variable
            && other.scope == Module::TOP
            && other.range.start() < definition.range.start()
            && other.statement.is_some_and(|above| module.statement(above).parent.is_none())
            && is_same_import(text, other, definition)
    })
}

fn is_same_import(text: Text<'_>, one: &Definition, other: &Definition) -> bool {
    one.kind == DefinitionKind::Import && import_of(text, one) == import_of(text, other)
}

fn name_stays(facts: &Facts<'_>, text: Text<'_>, definition: &Definition, top: TextSize) -> bool {
    let module = text.module;
    let name = module.symbol(definition.variable).name;
    let others = || {
        module
            .definitions
            .iter()
            .filter(|other| module.symbol(other.variable).name == name && other.range != definition.range)
    };
    // The same import elsewhere binds the same.
    let is_same = |other: &Definition| is_same_import(text, other, definition);
    let is_own = |scope: ScopeId| scope == definition.variable.scope || scope == Module::TOP;
    let is_elsewhere = definition.variable.scope != Module::TOP;
    let is_unread_before = is_elsewhere || is_bound_above(text, definition) || {
        let start = definition.range.start();
        !module.uses.iter().any(|reading| {
            reading.variable == Some(definition.variable)
                && reading.range.start() < start
                && reading.scope == Module::TOP
        })
    };
    // What the top of the module binds is overwritten there already, if nothing reads it.
    let is_unread_anywhere_before = || {
        let reads = |reading: &Use| reading.variable == Some(definition.variable);
        module
            .uses
            .iter()
            .filter(|reading| reads(reading))
            .all(|own| own.range.start() > definition.range.start())
    };
    let is_overwritten = |other: &Definition| {
        other.variable == definition.variable && other.range.end() <= top && is_unread_anywhere_before()
    };
    // Another import in a function would move, too, and bind the same name of the module.
    let is_apart = |other: &Definition| {
        !is_own(other.variable.scope)
            && other.kind != DefinitionKind::Import
            && !encloses(module, other, definition)
    };
    others()
        .all(|other| is_same(other) || is_overwritten(other) || is_apart(other))
        && !is_free(module, name)
        && is_unread_before
        // A new name of the module may be seen from outside.
        && !(is_elsewhere && is_visible_outside(facts, text.file, module.names.text(name)))
        && !module.symbol(definition.variable).rebound
}

/// Whether the scope that binds `other` lies between a definition and the module.
fn encloses(module: &Module, other: &Definition, definition: &Definition) -> bool {
    let mut scope = module.scope(definition.variable.scope).parent;
    while let Some(own) = scope {
        if own == other.variable.scope {
            return true;
        }
        scope = module.scope(own).parent;
    }
    false
}

/// Whether some code reads the name as one of Python's own.
fn is_free(module: &Module, name: NameId) -> bool {
    module
        .uses
        .iter()
        .any(|reading| reading.variable.is_none() && module.value(reading.value).value == Value::Free(name))
}

/// What an import imports: dots, module, and what is taken from it.
fn import_of<'t>(text: Text<'t>, definition: &Definition) -> Option<(u32, &'t str, &'t Imported)> {
    let import = text.module.imports.iter().find(|import| {
        Some(import.statement) == definition.statement && import.range.contains_range(definition.range)
    })?;
    Some((import.level, &import.module, &import.what))
}

/// Whether the module's own code in a range changes no setting that the import of a library may ask for: the
/// environment, the path of modules, filters of warnings. The choice of devices is one as long as the library is not
/// loaded. What is imported above the end of a notebook's process is gone behind it.
fn keeps_settings(facts: &Facts<'_>, file: FileId, range: TextRange, is_loaded: bool) -> bool {
    let module = facts.module(file);
    let is_setting_call = |symbol: &Symbol| {
        symbol.prelude() == Some(Prelude::Always)
            || !is_loaded && (symbol.prelude().is_some() || symbol.has(Effect::PinsDevice))
    };
    let is_setting = |value| {
        facts.objects(file, value).any(|(_, object)| {
            facts.symbol(object).is_some_and(|symbol| symbol.prelude().is_some() || symbol.is_module())
        })
    };
    let is_here = |scope: ScopeId, place: TextRange| {
        module.code_scope(scope) == Module::TOP && range.contains_range(place)
    };
    let mut stores = module.stores.iter().filter(|store| is_here(store.scope, store.range));
    let mut calls = module.calls.iter().enumerate().filter(|(_, call)| is_here(call.scope, call.range));
    stores.all(|store| !is_setting(store.base))
        && calls.all(|(index, call)| {
            let mut symbols = facts.called_symbols(file, CallId::new(index));
            !symbols.any(is_setting_call)
                && !facts.ends_kernel(file, CallId::new(index))
                && facts.receiver(file, call).is_none_or(|receiver| {
                    !facts.objects(file, receiver).any(|(_, object)| {
                        facts.symbol(object).is_some_and(|symbol| symbol.prelude().is_some())
                    })
                })
        })
}

/// Whether the module's own code in a range starts another process, `subprocess.run([sys.executable, "-m", "pip", ...])`, which may
/// change which modules can be imported.
fn starts_process(facts: &Facts<'_>, file: FileId, range: TextRange) -> bool {
    let module = facts.module(file);
    let own =
        module.calls.iter().enumerate().filter(|(_, call)| {
            range.contains_range(call.range) && module.code_scope(call.scope) == Module::TOP
        });
    let mut edges = own.flat_map(|(index, _)| facts.callees(file, CallId::new(index)));
    edges.any(|edge| facts.effects().of_edge(facts, edge).effects.contains(Effect::Spawns))
}

/// Whether the module's own code in a range can't influence what an import does: it calls only what is known, and
/// changes no setting of a library.
pub(super) fn has_no_influence(facts: &Facts<'_>, file: FileId, range: TextRange) -> bool {
    let module = facts.module(file);
    let is_setting = |value| {
        facts.objects(file, value).any(|(_, object)| match object {
            Object::Unknown | Object::Module(_) | Object::Namespace(_) => true,
            Object::External(_) => {
                facts.symbol(object).is_none_or(|symbol| symbol.prelude().is_some() || symbol.is_module())
            }
            _ => false,
        })
    };
    let stores =
        module.stores.iter().filter(|store| store.scope == Module::TOP && range.contains_range(store.range));
    let calls = (0..module.calls.len()).map(CallId::new).filter(|&id| {
        let call = module.call(id);
        range.contains_range(call.range) && module.code_scope(call.scope) == Module::TOP
    });
    stores.into_iter().all(|store| !is_setting(store.base))
        && calls.into_iter().all(|id| {
            let edges = facts.callees(file, id);
            let mut symbols = facts.called_symbols(file, id);
            let is_prelude = symbols.any(|symbol| symbol.prelude().is_some())
                || facts.receiver(file, module.call(id)).is_some_and(|receiver| {
                    facts.objects(file, receiver).any(|(_, object)| {
                        facts.symbol(object).is_some_and(|symbol| symbol.prelude().is_some())
                    })
                });
            !edges.is_empty()
                && !is_prelude
                && edges.iter().all(|edge| {
                    let summary = facts.effects().of_edge(facts, edge);
                    let effects = HARMLESS.into_iter().fold(summary.effects, EffectSet::without);
                    let runs_own_code = matches!(
                        facts.solution.object(edge.callee),
                        Object::Function(_) | Object::Bound(..) | Object::Class(_)
                    );
                    !summary.unknown && effects.is_empty() && !runs_own_code
                })
        })
}
