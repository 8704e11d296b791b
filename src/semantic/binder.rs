//! What gives a value another name than an import does: variables, attributes, elements, defaults.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::{
    Container, DefinitionKind, Element, FunctionId, Module, NameId, Operator, ScopeId, StoreKey, Value,
    ValueId, Variable,
};
use crate::syntax::TextRange;

/// What a value is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binder {
    /// A variable.
    Variable(Variable),
    /// An attribute of some object.
    Attribute(NameId),
    /// An item of some container.
    Item,
    /// An element of the container that a display makes.
    Element(ValueId, Container),
    /// A parameter, as its default.
    Default(FunctionId, u32),
}

/// A binding of a value.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// To what.
    pub binder: Binder,
    /// The value.
    pub value: ValueId,
    /// The name, the target, the element or the parameter.
    pub range: TextRange,
    /// Whose code binds.
    pub scope: ScopeId,
}

/// All bindings of a module but imports, functions, classes and parameters, in source order. Of containers that
/// are only an argument or an operand the elements have no name.
pub(super) fn bindings(module: &Module) -> Vec<Binding> {
    let mut found: Vec<Binding> = Vec::new();
    let mut kept = Vec::new();
    for definition in &module.definitions {
        use DefinitionKind as Kind;
        if matches!(
            definition.kind,
            Kind::Assignment | Kind::Unpacking | Kind::Walrus | Kind::Loop | Kind::With | Kind::Capture
        ) {
            let binder = Binder::Variable(definition.variable);
            let (value, range, scope) = (definition.value, definition.range, definition.scope);
            found.push(Binding { binder, value, range, scope });
        }
        kept.push(definition.value);
    }
    for store in &module.stores {
        let binder = match store.key {
            StoreKey::Attribute(name) => Binder::Attribute(name),
            StoreKey::Item(_) | StoreKey::Slice => Binder::Item,
        };
        found.push(Binding { binder, value: store.value, range: store.range, scope: store.scope });
        kept.push(store.value);
    }
    for (index, function) in module.functions.iter().enumerate() {
        for (position, parameter) in (0..).zip(&function.parameters) {
            if let Some(value) = parameter.default {
                let binder = Binder::Default(FunctionId::new(index), position);
                let scope = module.scope(function.scope).parent.unwrap_or(Module::TOP);
                found.push(Binding { binder, value, range: parameter.range, scope });
                kept.push(value);
            }
        }
        kept.extend(&function.returns);
    }
    found.extend(elements(module, kept));
    found.sort_by_key(|binding| (binding.range.start(), binding.range.end()));
    found
}

/// The elements of the displays among the values and what they are made of.
fn elements(module: &Module, mut work: Vec<ValueId>) -> Vec<Binding> {
    let uses = OnceCell::new();
    let mut found = Vec::new();
    let mut seen = vec![false; module.values.len()];
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        let evaluation = module.value(id);
        match &evaluation.value {
            Value::Phi(operands) => work.extend(operands),
            Value::Operator { operator: Operator::Binary(_) | Operator::InPlace(_), left, right } => {
                work.extend([*left, *right]);
            }
            Value::Iteration(base) | Value::Unpack { base, .. } => work.push(*base),
            Value::Display(kind, elements) => {
                let readings = readings(uses.get_or_init(|| sorted_uses(module)), evaluation.range);
                for element in elements {
                    let (Element::At(_, value) | Element::Key(_, value) | Element::Any(value)) = *element
                    else {
                        continue;
                    };
                    work.push(value);
                    let binder = Binder::Element(id, *kind);
                    let own = module.value(value).range;
                    let range = match readings.get(&value) {
                        Some(&range) => range,
                        None if evaluation.range.contains_range(own) => own,
                        None => evaluation.range,
                    };
                    found.push(Binding { binder, value, range, scope: evaluation.scope });
                }
            }
            _ => {}
        }
    }
    found
}

/// Where variables are read, in source order, with the values that they then have.
fn sorted_uses(module: &Module) -> Vec<(TextRange, ValueId)> {
    let mut uses: Vec<(TextRange, ValueId)> =
        module.uses.iter().map(|reading| (reading.range, reading.value)).collect();
    uses.sort_unstable_by_key(|(range, value)| (range.start(), *value));
    uses
}

/// Where each variable among the elements of a display is read: its value is that of its definition, elsewhere.
fn readings(uses: &[(TextRange, ValueId)], display: TextRange) -> FxHashMap<ValueId, TextRange> {
    let first = uses.partition_point(|(range, _)| range.start() < display.start());
    let inside = uses[first..].iter().take_while(|(range, _)| range.end() <= display.end());
    let mut found = FxHashMap::default();
    for &(range, value) in inside {
        found.entry(value).or_insert(range);
    }
    found
}
