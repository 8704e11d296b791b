//! A name that is bound under a condition on the rank is used under that condition: on the other ranks it is unbound.

mod attributes;
mod caught;
mod made;
mod switched;

use rustc_hash::{FxHashMap, FxHashSet};

use super::guards::{Atom, Guard, Key, Literal};
use super::model::Model;
use super::ranks_check;
use super::values::Cause;
use crate::finding::{Confidence, Finding, Label, Level};
use crate::program::{Caller, Condition};
use crate::semantic::{
    BlockId, Definition, DefinitionKind, Flow, Module, ScopeKind, Use, Value, ValueId, Variable,
};

ranks_check!("HVD306", "name-missing-on-some-ranks", Error, check);

fn check(model: &Model<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let callers: FxHashSet<Caller> = model.callers().into_iter().collect();
    for &file in &model.files {
        let module = model.facts.module(file);
        let mut bound: FxHashMap<Variable, Vec<&Definition>> = FxHashMap::default();
        for definition in &module.definitions {
            bound.entry(definition.variable).or_default().push(definition);
        }
        let mut told = FxHashSet::default();
        for reading in &module.uses {
            let caller = Caller { file, scope: reading.scope };
            let Some(variable) = reading.variable.filter(|_| callers.contains(&caller)) else { continue };
            if told.contains(&(caller, variable)) || model.unreached.is_block(caller, reading.block) {
                continue;
            }
            let definitions = bound.get(&variable).map_or(&[][..], Vec::as_slice);
            if let Some(finding) = missing(model, caller, reading, variable, definitions) {
                told.insert((caller, variable));
                found.push(finding);
            }
        }
    }
    found.extend(attributes::check(model));
    found
}

fn missing(
    model: &Model<'_>,
    caller: Caller,
    reading: &Use,
    variable: Variable,
    definitions: &[&Definition],
) -> Option<Finding> {
    let module = model.facts.module(caller.file);
    let name = module.variable_name(variable);
    if definitions.is_empty()
        || definitions
            .iter()
            .any(|own| matches!(own.kind, DefinitionKind::Deletion | DefinitionKind::Parameter))
        || model.facts.library.lookup(&format!("builtins.{name}")).is_some()
    {
        return None;
    }
    if caught::is_caught(model.facts, caller.file, reading) {
        return None;
    }
    let reaching = reaching(module, reading, variable, definitions)?;
    let flow = &module.scope(caller.scope).flow;
    let mut under: Vec<(&Definition, Guard)> = Vec::new();
    for &definition in &reaching {
        let of = Caller { file: caller.file, scope: definition.scope };
        // Who comes to the code of a function within a function has come to the code around it.
        let is_around = matches!(module.scope(variable.scope).kind, ScopeKind::Function(_));
        let guard = if of == caller || is_around {
            model.own_guard(of, definition.block)
        } else {
            model.guard(of, definition.block)
        };
        under.push((definition, guard));
    }
    // Most names are bound on all ranks.
    if under.iter().all(|(_, guard)| guard.is_all()) {
        return None;
    }
    under.retain(|(definition, _)| {
        definition.scope != caller.scope || !comes_after(flow, reading, definition)
    });
    let here = made_under(model, caller)
        .into_iter()
        .fold(model.guard(caller, reading.block), |guard, own| guard.and(&own))
        .and(&switched::guard(model, caller, reading.block));
    if is_bound_in_each_case(&here, &under) {
        return None;
    }
    let missing: Vec<(&Definition, Vec<Literal>)> = under
        .into_iter()
        .map(|(definition, guard)| {
            // One rank alone differs from none by what it computes.
            let tells = |own: &Literal| !here.is_one() || matches!(own.atom, Atom::Is(..));
            let parts = |own: &Literal| is_on_rank(model, own) && tells(own) && !here.implies(own);
            let literals = guard.0.into_iter().filter(parts);
            (definition, literals.collect())
        })
        .collect();
    let (first, _) = missing.first()?;
    let literals: Vec<&[Literal]> = missing.iter().map(|(_, literals)| &literals[..]).collect();
    if literals.iter().any(|own| own.is_empty()) || are_complementary(&literals) || are_cases(&literals) {
        return None;
    }
    let location = model.facts.location(caller.file, reading.range);
    let bound = model.facts.location(caller.file, first.range);
    let message = format!("`{name}` is bound on some ranks only, and all of these use it");
    let mut finding = Finding::new(&CHECK.rule, Level::Error, location, message)
        .here("unbound on the other ranks")
        .label(bound, "bound on some ranks only")
        .help(format!("bind `{name}` on all ranks, or use it under the same condition"))
        .in_scope(model.facts.scope_name(caller));
    finding.flow = vec![
        Label { location: bound, message: "bound on some ranks only".to_owned() },
        Label { location, message: "used on all ranks".to_owned() },
    ];
    let is_seldom = literals.iter().any(|own| own.iter().all(is_inequality));
    let sureness = if is_seldom { Confidence::Possible } else { sureness(model, caller, reading.block) };
    Some(finding.confidence(sureness))
}

/// Whether a literal says that something other than the rank's number is not equal to something: it may be so on all ranks.
fn is_inequality(literal: &Literal) -> bool {
    match &literal.atom {
        Atom::True(Key::Of(method, _), _) => match &**method {
            "__eq__" => !literal.holds,
            "__ne__" => literal.holds,
            _ => false,
        },
        _ => false,
    }
}

/// A condition that comes out as the rank decides, in a way that can't be seen, may keep others from a block: `if
/// self.records is not None`, where rank 0 alone has records.
fn sureness(model: &Model<'_>, caller: Caller, block: BlockId) -> Confidence {
    let is_unseen = |condition: &Condition| {
        let Some(value) = condition.branch.condition else { return false };
        let place = (caller.file, value);
        model.difference(place).is_some_and(|own| own.cause == Cause::Rank)
            && ![true, false]
                .into_iter()
                .any(|holds| model.literals(place, holds).0.iter().any(|literal| is_on_rank(model, literal)))
    };
    let is_unseen = model.facts.conditions(caller, block).iter().any(is_unseen);
    if is_unseen { Confidence::Possible } else { Confidence::Certain }
}

/// Whether some definition is made in each of the cases that come to a use: `if a: ... elif b: ...` in those of
/// `if a or b:`.
fn is_bound_in_each_case(here: &Guard, under: &[(&Definition, Guard)]) -> bool {
    let cases = here.cases();
    cases.len() > 1
        && cases.iter().all(|case| under.iter().any(|(_, guard)| guard.0.iter().all(|own| case.implies(own))))
}

/// The guards of the places that make a function and those around it: who calls it has come there.
fn made_under(model: &Model<'_>, caller: Caller) -> Vec<Guard> {
    let module = model.facts.module(caller.file);
    let mut found = Vec::new();
    let mut inner = module.scope(caller.scope);
    while let (ScopeKind::Function(function) | ScopeKind::Lambda(function), Some(parent)) =
        (inner.kind, inner.parent)
    {
        let around = Caller { file: caller.file, scope: module.code_scope(parent) };
        let made = module.function(function);
        // The statement of a lambda is the innermost one around it.
        let mut statements = module.statements.iter().filter(|own| own.scope == around.scope);
        let statement = match made.statement {
            Some(id) => Some(module.statement(id)),
            None => statements.rfind(|own| own.range.contains_range(made.range)),
        };
        found.extend(statement.map(|own| model.own_guard(around, own.block)));
        inner = module.scope(around.scope);
    }
    found
}

/// Whether ranks differ in a literal for certain, and not only in what they are given to work on, and the same
/// condition would be known again where the name is used.
fn is_on_rank(model: &Model<'_>, literal: &Literal) -> bool {
    match &literal.atom {
        Atom::Is(..) => true,
        Atom::True(key, cause) => *cause == Cause::Rank && is_whole(model, key),
        Atom::Varies(_) => false,
    }
}

/// Whether all is known of how a value is computed: of `jets is None` the operands are not.
fn is_whole(model: &Model<'_>, key: &Key) -> bool {
    match key {
        Key::Place(file, value) => {
            let value = &model.facts.module(*file).value(ValueId::new(*value as usize)).value;
            !matches!(value, Value::Call(_) | Value::Instance(_))
        }
        Key::Number(_) | Key::Constant(_) | Key::Stored(_) => true,
        Key::Of(_, operands) => operands.iter().all(|own| is_whole(model, own)),
    }
}

/// The definitions that reach a use which nothing may reach, too; `None` if something always does.
fn reaching<'d>(
    module: &Module,
    reading: &Use,
    variable: Variable,
    definitions: &[&'d Definition],
) -> Option<Vec<&'d Definition>> {
    if let Value::Cell(_) = module.value(reading.value).value {
        // Another scope's: it may be any of them, and it is one of them if all goes well.
        return (!made::is_bound(module, reading, variable, definitions)).then(|| definitions.to_vec());
    }
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut work = vec![reading.value];
    let mut is_unbound = false;
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        match &module.value(value).value {
            Value::Unbound => is_unbound = true,
            Value::Free(name) => is_unbound |= *name == module.symbol(variable).name,
            Value::Phi(parts) => work.extend(parts.iter().copied()),
            _ => {}
        }
    }
    let is_module = matches!(module.scope(variable.scope).kind, ScopeKind::Module | ScopeKind::Function(_));
    let reaching = definitions.iter().copied().filter(|own| seen.contains(&own.value));
    (is_unbound && is_module).then(|| reaching.collect())
}

/// Whether a definition is come to only behind a use: it can't be what the use finds at first.
fn comes_after(flow: &Flow, reading: &Use, definition: &Definition) -> bool {
    if definition.block == reading.block {
        return definition.order > reading.order;
    }
    // Is there a way to the definition around the use?
    let mut seen: FxHashSet<BlockId> = std::iter::once(reading.block).collect();
    let mut work = vec![Flow::ENTRY];
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            if block == definition.block {
                return false;
            }
            work.extend(&flow.blocks[block.index()].successors);
        }
    }
    true
}

/// Whether two definitions are under opposite conditions, so that one of them is always made.
fn are_complementary(missing: &[&[Literal]]) -> bool {
    let single: Vec<&Literal> = missing
        .iter()
        .filter_map(|literals| match literals {
            [only] => Some(only),
            _ => None,
        })
        .collect();
    single.iter().any(|one| single.iter().any(|other| one.atom == other.atom && one.holds != other.holds))
}

/// Whether definitions are made in the cases of one value, `if job == "ps": ... elif job == "worker": ...`: most often
/// there are no other ones.
fn are_cases(missing: &[&[Literal]]) -> bool {
    let mut subjects = missing.iter().map(|literals| subject(literals));
    let first = subjects.next().flatten();
    missing.len() > 1 && first.is_some() && subjects.all(|own| own == first)
}

/// What all literals compare with something, if one of them says that it is equal.
fn subject(literals: &[Literal]) -> Option<&Key> {
    let subject = literals.iter().find(|own| own.holds).and_then(compared)?;
    literals.iter().all(|own| compared(own) == Some(subject)).then_some(subject)
}

/// What a literal compares with something.
fn compared(literal: &Literal) -> Option<&Key> {
    match &literal.atom {
        Atom::True(Key::Of(method, sides), _) if **method == *"__eq__" => sides.first(),
        _ => None,
    }
}
