//! A variable that is used again for another kind of value: the new value gets a name of its own.

use super::names::{fresh, is_visible_outside};
use crate::checks::Context;
use crate::finding::{Applicability, Fix};
use crate::project::FileId;
use crate::semantic::{Definition, DefinitionKind, Module, Reaching, ScopeKind, StatementKind};
use crate::syntax::TextRange;

/// Gives the value that is bound at `place` a fresh name, together with the values of the same kind that replace it.
/// `is_other` says which values these are. `None` where a reading may see both the old and the new values, or where
/// other code sees the variable.
#[must_use]
pub fn rename(
    context: Context<'_>,
    file: FileId,
    place: TextRange,
    is_other: &dyn Fn(&Definition) -> bool,
) -> Option<Fix> {
    let module = context.facts.module(file);
    let text = context.texts.get(file, module)?;
    let index = module.definitions.iter().position(|definition| definition.range == place)?;
    let definition = &module.definitions[index];
    let (variable, scope) = (definition.variable, definition.scope);
    let name = module.variable_name(variable);
    let symbol = module.symbol(variable);
    if variable.scope != scope
        || symbol.captured
        || symbol.rebound
        || matches!(module.scope(scope).kind, ScopeKind::Class(_))
        || scope == Module::TOP && is_visible_outside(context.facts, file, name)
    {
        return None;
    }
    let reaching = Reaching::new(module, scope);
    // Values that replace only new values are new values, too.
    let mut renamed = vec![index];
    loop {
        let more = (0..module.definitions.len()).find(|&other| {
            let own = &module.definitions[other];
            own.variable == variable
                && !renamed.contains(&other)
                && is_other(own)
                && !reaching.overwritten(other).is_empty()
                && reaching.overwritten(other).iter().all(|before| renamed.contains(before))
        });
        match more {
            Some(other) => renamed.push(other),
            None => break,
        }
    }
    let mut places = Vec::new();
    for &index in &renamed {
        let own = &module.definitions[index];
        let is_simple = matches!(
            own.kind,
            DefinitionKind::Assignment
                | DefinitionKind::Unpacking
                | DefinitionKind::Loop
                | DefinitionKind::With
        );
        let augmented = own.statement.is_some_and(|statement| {
            matches!(module.statement(statement).kind, StatementKind::AugmentedAssign)
        });
        if !is_simple || augmented {
            return None;
        }
        places.push(own.range);
        for reading in reaching.uses(index) {
            if !reaching.definitions(reading).iter().all(|before| renamed.contains(before)) {
                return None;
            }
            places.push(module.uses[reading].range);
        }
    }
    // What deletes the new value, or adds to it, would need the name, too.
    let is_in_the_way = (0..module.definitions.len()).any(|other| {
        let own = &module.definitions[other];
        own.variable == variable
            && !renamed.contains(&other)
            && matches!(own.kind, DefinitionKind::Deletion | DefinitionKind::Augmented)
            && reaching.overwritten(other).iter().any(|before| renamed.contains(before))
    });
    places.sort_by_key(|place| place.start());
    places.dedup();
    // A value that nobody reads, such as `None`, is there to forget the old one.
    let is_unread = places.len() == renamed.len();
    if is_in_the_way
        || is_unread
        || places.iter().any(|&place| text.slice(place) != name || text.is_shown_as_text(place))
    {
        return None;
    }
    let new = fresh(module, scope, name);
    let edits = places.iter().map(|&place| text.replace(place, new.as_str())).collect();
    Some(super::fix(Applicability::Safe, format!("call the new value `{new}`"), edits))
}
