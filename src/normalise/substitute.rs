//! A second name goes: its first name, or an import, takes its place.

use super::import::has_no_influence;
use super::names::is_visible_outside;
use crate::checks::{Context, Top};
use crate::finding::{Applicability, Fix};
use crate::program::{Facts, Meaning, Object};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{
    Definition, DefinitionKind, Import, Imported, Module, ScopeId, ScopeKind, StatementId, StatementKind,
    Variable,
};
use crate::syntax::{TextRange, TextSize};

/// A plain second name: `second = first` or `second = first.member`, bound once, whose uses are all known.
struct Alias<'a> {
    text: Text<'a>,
    definition: &'a Definition,
    statement: StatementId,
    /// `first.member`
    source: TextRange,
    /// The first variable.
    first: &'a Definition,
    /// Where the second name is read.
    readings: Vec<TextRange>,
}

impl<'a> Alias<'a> {
    /// The second name that is bound at `place`.
    fn at(context: Context<'a>, file: FileId, place: TextRange) -> Option<Self> {
        let facts = context.facts;
        let module = facts.module(file);
        let text = context.texts.get(file, module)?;
        let definition = module.definitions.iter().find(|definition| definition.range == place)?;
        let statement = definition.statement?;
        let own = module.statement(statement);
        let source = source_of(text, statement, place)?;
        let is_plain = definition.kind == DefinitionKind::Assignment
            && own.kind == (StatementKind::Assign { simple: true });
        if !is_plain || !is_bound_once(module, definition) {
            return None;
        }
        let reading = module.uses.iter().find(|reading| reading.range.start() == source.start())?;
        let first = sole_definition(module, reading.variable?)?;
        if first.range.start() >= place.start() {
            return None;
        }
        let readings = readings(text, definition)?;
        Some(Self { text, definition, statement, source, first, readings })
    }

    fn name(&self) -> &'a str {
        self.text.module.variable_name(self.definition.variable)
    }
}

/// Writes the first name where the second one is read, and removes the second one.
#[must_use]
pub fn substitute(context: Context<'_>, file: FileId, place: TextRange) -> Option<Fix> {
    let alias = Alias::at(context, file, place)?;
    let module = alias.text.module;
    let is_top = alias.definition.variable.scope == Module::TOP;
    if is_top && is_visible_outside(context.facts, file, alias.name())
        || is_repeated(module, alias.definition)
        || is_repeated(module, alias.first)
        || !alias.readings.iter().all(|&reading| means_first(module, alias.first, reading))
        || !is_lasting(context.facts, file, &alias)
        || context.facts.may_be_replaced(file, alias.definition.value)
    {
        return None;
    }
    let source = alias.text.slice(alias.source);
    let mut edits = alias.text.remove(alias.statement);
    edits.extend(alias.readings.iter().map(|&reading| alias.text.replace(reading, source)));
    Some(super::fix(Applicability::Safe, format!("use `{source}` instead of `{}`", alias.name()), edits))
}

/// Imports what a second name of the module's own scope stands for, at the top, and removes the assignment.
#[must_use]
pub fn import_instead(context: Context<'_>, file: FileId, place: TextRange) -> Option<Fix> {
    let alias = Alias::at(context, file, place)?;
    let (facts, module) = (context.facts, alias.text.module);
    let is_once = alias.definition.variable.scope == Module::TOP
        && module.statement(alias.statement).parent.is_none()
        && alias.readings.iter().all(|reading| reading.start() > place.start());
    let line = import_line(facts, file, &alias).filter(|_| is_once)?;
    let anchor = Top::new(facts, file).last(facts.module(file))?;
    // What is imported at the top must be there then.
    let imported = module.statement(alias.first.statement?).range.start();
    let end = module.statement(anchor).range.end();
    let crossed = TextRange::new(end, place.start().max(end));
    if imported > module.statement(anchor).range.start()
        || module.statement(alias.first.statement?).parent.is_some()
        || !has_no_influence(facts, file, crossed)
        || facts.may_be_replaced(file, alias.definition.value)
    {
        return None;
    }
    let mut edits = alias.text.remove(alias.statement);
    edits.extend(alias.text.after(anchor, &[&line]));
    Some(super::fix(Applicability::Safe, format!("write `{line}`"), edits))
}

/// Imports what an imported name is bound to again, `tf = tf.compat.v1`, in the first place: `import
/// tensorflow.compat.v1 as tf`. Nothing but imports stands between the two statements.
#[must_use]
pub fn import_at_once(context: Context<'_>, file: FileId, place: TextRange) -> Option<Fix> {
    let (facts, module) = (context.facts, context.facts.module(file));
    let text = context.texts.get(file, module)?;
    let again = module.definitions.iter().find(|definition| definition.range == place)?;
    let is_other = |own: &&Definition| own.variable == again.variable && own.range != place;
    let mut others = module.definitions.iter().filter(is_other);
    let first = others.next().filter(|_| others.next().is_none())?;
    let (statement, import) = (again.statement?, first.statement?);
    let (later, earlier) = (module.statement(statement), module.statement(import));
    let source = source_of(text, statement, place)?;
    let own = module.imports.iter().find(|own| own.statement == import)?;
    let between = TextRange::new(earlier.range.start(), later.range.end().max(earlier.range.start()));
    let is_alone = module.imports.iter().filter(|own| own.statement == import).count() == 1
        && module.statements.iter().filter(|own| between.contains_range(own.range)).all(|own| {
            own.range == later.range || matches!(own.kind, StatementKind::Import { future: false })
        });
    let is_plain = again.kind == DefinitionKind::Assignment
        && first.kind == DefinitionKind::Import
        && [again, first].iter().all(|own| own.variable.scope == Module::TOP && own.scope == Module::TOP)
        && [earlier, later].iter().all(|own| own.parent.is_none());
    if !is_plain || !is_alone {
        return None;
    }
    let (name, members) = text.slice(source).split_once('.')?;
    let path = format!("{}.{members}", imported_path(facts, file, own, name)?);
    if name != module.variable_name(again.variable) || !is_imported(facts, &path) {
        return None;
    }
    let line = format!("import {path} as {name}");
    let mut edits = text.remove(statement);
    edits.push(text.replace(earlier.range, line.as_str()));
    Some(super::fix(Applicability::Safe, format!("write `{line}`"), edits))
}

/// `from tensorflow.keras import layers as L` for `L = tf.keras.layers`.
fn import_line(facts: &Facts<'_>, file: FileId, alias: &Alias<'_>) -> Option<String> {
    let module = alias.text.module;
    let own = module.imports.iter().find(|import| {
        Some(import.statement) == alias.first.statement && import.range.contains_range(alias.first.range)
    })?;
    let (first, members) = alias.text.slice(alias.source).split_once('.')?;
    let around = imported_path(facts, file, own, first)?;
    let path = format!("{around}.{members}");
    let (from, member) = path.rsplit_once('.')?;
    if !is_imported(facts, from) {
        return None;
    }
    let name = alias.name();
    Some(if member == name {
        format!("from {from} import {member}")
    } else {
        format!("from {from} import {member} as {name}")
    })
}

/// Whether an import statement finds a module under this name: not a class, and no other spelling such as
/// `tensorflow.optimizers`, which is an attribute only.
fn is_imported(facts: &Facts<'_>, path: &str) -> bool {
    facts.library.lookup(path).is_some_and(|symbol| symbol.is_imported() && symbol.name() == path)
}

/// The module or member of a library that an import binds, by its dotted name; `name` is what it is bound to.
fn imported_path(facts: &Facts<'_>, file: FileId, import: &Import, name: &str) -> Option<String> {
    let module = facts.module(file);
    let meaning = facts.modules.imported(file, import, facts.library);
    if !matches!(meaning, Meaning::External(_)) || import.level > 0 {
        return None;
    }
    match import.what {
        Imported::Root => Some(name.to_owned()),
        Imported::Module => Some(import.module.to_string()),
        Imported::Name(member) => Some(format!("{}.{}", import.module, module.names.text(member))),
        Imported::Star => None,
    }
}

/// The right-hand side of `name = first.member`.
fn source_of(text: Text<'_>, statement: StatementId, name: TextRange) -> Option<TextRange> {
    let own = text.module.statement(statement);
    let equal = text.slice(own.range).find('=')?;
    let behind = own.range.start() + TextSize::try_from(equal + 1).ok()?;
    let rest = text.slice(TextRange::new(behind, own.range.end()));
    let blank = TextSize::try_from(rest.len() - rest.trim_start().len()).ok()?;
    let source = TextRange::new(behind + blank, own.range.end());
    let fits = text.is_plain_assignment(statement, name, source)
        && is_dotted(text.slice(source))
        && text.is_chain(source);
    fits.then_some(source)
}

/// Names with dots between them.
fn is_dotted(text: &str) -> bool {
    text.split('.').all(|part| {
        !part.is_empty() && part.chars().all(|character| character == '_' || character.is_alphanumeric())
    })
}

fn is_bound_once(module: &Module, definition: &Definition) -> bool {
    sole_definition(module, definition.variable).is_some_and(|sole| sole.range == definition.range)
}

/// The only definition of a variable.
fn sole_definition(module: &Module, variable: Variable) -> Option<&Definition> {
    let mut definitions = module.definitions.iter().filter(|definition| definition.variable == variable);
    definitions.next().filter(|_| definitions.next().is_none())
}

/// Where a variable is read; `None` if its name stands at places that nobody can explain.
fn readings(text: Text<'_>, definition: &Definition) -> Option<Vec<TextRange>> {
    let module = text.module;
    let mut found = Vec::new();
    for place in text.places_of(module.variable_name(definition.variable)) {
        if let Some(reading) = module.uses.iter().find(|reading| reading.range == place) {
            if reading.variable? == definition.variable {
                found.push(place);
            }
        } else if !module.definitions.iter().any(|other| other.range == place) {
            return None;
        }
    }
    let is_shown = found.iter().any(|&place| text.is_shown_as_text(place));
    (!is_shown).then_some(found)
}

/// Whether a statement may run more than once each time its code runs.
fn is_repeated(module: &Module, definition: &Definition) -> bool {
    definition.statement.is_some_and(|statement| {
        let around = module
            .ancestors(statement)
            .take_while(|around| !matches!(around.kind, StatementKind::Function | StatementKind::Class));
        around.into_iter().any(|around| matches!(around.kind, StatementKind::For | StatementKind::While))
    })
}

/// Whether the first name, written at a place, means the first variable.
fn means_first(module: &Module, first: &Definition, place: TextRange) -> bool {
    let Some(reading) = module.uses.iter().find(|reading| reading.range == place) else { return false };
    let name = module.symbol(first.variable).name;
    let same_name =
        module.definitions.iter().filter(|other| module.symbol(other.variable).name == name).count();
    let mut scope = Some(reading.scope);
    let is_seen = std::iter::from_fn(|| {
        let own: ScopeId = scope?;
        scope = module.scope(own).parent;
        Some(own)
    })
    .any(|own| own == first.variable.scope);
    let is_class = matches!(module.scope(first.variable.scope).kind, ScopeKind::Class(_));
    same_name == 1 && is_seen && !is_class
}

/// Whether the first name leads to the same thing wherever the second does: it is bound once, before, and what its
/// members are does not change.
fn is_lasting(facts: &Facts<'_>, file: FileId, alias: &Alias<'_>) -> bool {
    let module = alias.text.module;
    if module.symbol(alias.first.variable).rebound || module.symbol(alias.definition.variable).rebound {
        return false;
    }
    if matches!(module.scope(alias.definition.variable.scope).kind, ScopeKind::Class(_)) {
        return false;
    }
    if !alias.text.slice(alias.source).contains('.') {
        return true;
    }
    let mut objects = facts.objects(file, alias.first.value).peekable();
    objects.peek().is_some() && objects.all(|(_, object)| matches!(object, Object::External(_)))
}
