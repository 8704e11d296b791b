//! Restriction 6: a variable that holds a dataset or an optimizer is not given a value of another kind.

use rustc_hash::{FxHashMap, FxHashSet};

use super::held::{FAMILY, Holds, Reuse, holds};
use super::objects::{noun, with_article};
use super::reused_attributes::reused_attributes;
use super::trained_on::Training;
use super::{Context, check};
use crate::api::Kind;
use crate::finding::{Confidence, Finding, Level};
use crate::normalise;
use crate::program::{Caller, Facts};
use crate::project::FileId;
use crate::semantic::{Definition, DefinitionKind, Module, Reaching, ScopeId, Value};

check!("HVD006", "object-variable-reused", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let training = Training::default();
    let files = facts.files().filter(|&file| facts.has_any(file, |kind| FAMILY.has(kind)));
    let variables = files.flat_map(|file| reused_variables(facts, file));
    variables.chain(reused_attributes(facts)).map(|reuse| finding(context, &reuse, &training)).collect()
}

fn reused_variables(facts: &Facts<'_>, file: FileId) -> Vec<Reuse> {
    let module = facts.module(file);
    let mut holding = FxHashSet::default();
    for definition in &module.definitions {
        if let Holds::Object(..) = holds(facts, file, definition.value) {
            holding.insert(definition.variable);
        }
    }
    let mut reaching: FxHashMap<ScopeId, Reaching<'_>> = FxHashMap::default();
    let mut found = Vec::new();
    for (index, definition) in module.definitions.iter().enumerate() {
        let is_declaration = matches!(
            definition.kind,
            DefinitionKind::Parameter | DefinitionKind::Import | DefinitionKind::Function
        );
        if !holding.contains(&definition.variable) || is_declaration {
            continue;
        }
        let deletion = definition.kind == DefinitionKind::Deletion;
        let confidence = match holds(facts, file, definition.value) {
            _ if deletion => Confidence::Certain,
            Holds::Object(..) => continue,
            Holds::Other => Confidence::Certain,
            Holds::Unknown => Confidence::Possible,
        };
        let reaching =
            reaching.entry(definition.scope).or_insert_with(|| Reaching::new(module, definition.scope));
        let Some((bound, before, held)) = overwritten(facts, file, reaching, index) else { continue };
        let symbol = module.symbol(definition.variable);
        let exported = definition.variable.scope == Module::TOP
            && module.scope(Module::TOP).exports.contains_key(&symbol.name);
        found.push(Reuse {
            place: facts.location(file, definition.range),
            caller: Caller { file, scope: definition.scope },
            name: format!("variable `{}`", module.variable_name(definition.variable)),
            value: (file, definition.value),
            before,
            bound: facts.location(file, bound.range),
            confidence: confidence.min(held),
            deletion,
            read: symbol.captured || exported || !reaching.uses(index).is_empty(),
        });
    }
    found
}

/// The binding to a dataset or an optimizer that a definition overwrites.
fn overwritten<'a>(
    facts: &Facts<'a>,
    file: FileId,
    reaching: &Reaching<'_>,
    index: usize,
) -> Option<(&'a Definition, &'static str, Confidence)> {
    let module = facts.module(file);
    let definition = &module.definitions[index];
    let held = |before: &'a Definition| match holds(facts, file, before.value) {
        // What replaces a parameter that was not given replaces its default.
        Holds::Object(kind, _) if has_default(module, before) => Some((before, kind, Confidence::Possible)),
        Holds::Object(kind, confidence) => Some((before, kind, confidence)),
        _ => None,
    };
    let before = reaching.overwritten(index);
    if definition.variable.scope == definition.scope || !before.is_empty() {
        return before.into_iter().find_map(|before| held(&module.definitions[before]));
    }
    // By `global` or `nonlocal`: what the variable's own scope binds comes first, of another function's nobody
    // knows.
    let others =
        || module.shared_definitions(definition.variable).filter(|other| other.scope != definition.scope);
    let own = others().filter(|other| other.scope == definition.variable.scope).find_map(held);
    own.or_else(|| others().find_map(held).map(|(before, kind, _)| (before, kind, Confidence::Possible)))
}

fn has_default(module: &Module, definition: &Definition) -> bool {
    match module.value(definition.value).value {
        Value::Parameter(function, index) if definition.kind == DefinitionKind::Parameter => {
            module.function(function).parameters[index as usize].default.is_some()
        }
        _ => false,
    }
}

fn finding(context: Context<'_>, reuse: &Reuse, training: &Training) -> Finding {
    let facts = context.facts;
    let trains = reuse.read && training.depends_on(facts, reuse.value);
    let Reuse { name, before, .. } = reuse;
    // What a dataset becomes is followed as a value of its own; no rule acts on it.
    let is_lost = trains && *before != noun(Kind::Dataset);
    let level = if is_lost { Level::Error } else { context.warning() };
    let message = if reuse.deletion {
        format!("{name} of the {before} is deleted")
    } else {
        format!("{name} holds {} and is given another kind of value", with_article(before))
    };
    let finding = Finding::new(&CHECK.rule, level, reuse.place, message)
        .here(if reuse.deletion { "deleted here" } else { "another kind of value" })
        .label(reuse.bound, format!("{before} bound here"))
        .confidence(reuse.confidence)
        .in_scope(facts.scope_name(reuse.caller));
    let finding = if reuse.deletion {
        finding.help(format!("leave the {before} in its variable"))
    } else {
        finding.help("give the new value a name of its own")
    };
    let mut finding = finding;
    if !is_lost && !reuse.deletion && reuse.bound.file == reuse.place.file {
        let file = reuse.place.file;
        let is_other = |definition: &Definition| holds(facts, file, definition.value) == Holds::Other;
        finding.fix = normalise::rename(context, file, reuse.place.text_range(), &is_other);
    }
    if is_lost {
        finding.note("A training loop may read the new value, so the fixes for this variable are withheld.")
    } else {
        finding
    }
}
