//! The end: φs that join one value only are replaced by it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::Module;
use super::super::id::ValueId;
use super::super::value::{Element, Value};
use super::Lowering;

impl Lowering<'_> {
    /// Removes the φs that join one value only, and gives every mention the value that is left.
    pub(super) fn finish(mut self) -> Module {
        let lost = self.spread_loss();
        let replaced = self.trivial_phis();
        let resolve = |value: ValueId| replaced[value.index()];
        let narrow = |value: Option<ValueId>| value.filter(|value| !lost.contains(value)).map(resolve);
        let module = &mut self.module;
        for evaluation in &mut module.values {
            rewrite(&mut evaluation.value, &resolve, &narrow);
        }
        for definition in &mut module.definitions {
            definition.value = resolve(definition.value);
        }
        for (index, definition) in (0..).zip(&module.definitions) {
            if self.cells.contains_key(&definition.variable) && !definition.hidden {
                module.shared.entry(definition.variable).or_default().push(index);
            }
        }
        for reading in &mut module.uses {
            reading.value = resolve(reading.value);
        }
        for store in &mut module.stores {
            store.base = resolve(store.base);
            store.value = resolve(store.value);
            if let super::super::StoreKey::Item(key) = &mut store.key {
                *key = resolve(*key);
            }
        }
        for call in &mut module.calls {
            call.callee = resolve(call.callee);
            call.arguments.iter_mut().for_each(|argument| argument.value = resolve(argument.value));
        }
        for function in &mut module.functions {
            function.returns.iter_mut().for_each(|value| *value = resolve(*value));
            function.yields.iter_mut().for_each(|value| *value = resolve(*value));
            function.decorators.iter_mut().for_each(|value| *value = resolve(*value));
            for parameter in &mut function.parameters {
                parameter.default = parameter.default.map(resolve);
                parameter.annotation = parameter.annotation.map(resolve);
            }
        }
        for class in &mut module.classes {
            class.bases.iter_mut().for_each(|value| *value = resolve(*value));
            class.decorators.iter_mut().for_each(|value| *value = resolve(*value));
        }
        for scope in &mut module.scopes {
            scope.exports.values_mut().for_each(|value| *value = resolve(*value));
            for block in &mut scope.flow.blocks {
                if let Some(branch) = &mut block.branch {
                    branch.condition = branch.condition.map(resolve);
                }
            }
        }
        module.managers.iter_mut().for_each(|(value, _)| *value = resolve(*value));
        module.none_tests.iter_mut().for_each(|(_, test)| test.value = resolve(test.value));
        self.module
    }

    /// The φs of parts of objects that join something unknown, directly or through others.
    pub(super) fn spread_loss(&self) -> FxHashSet<ValueId> {
        let mut lost: FxHashSet<ValueId> = self.lost.iter().copied().collect();
        if lost.is_empty() {
            return lost;
        }
        let users = self.phi_users();
        let mut work = self.lost.clone();
        while let Some(phi) = work.pop() {
            for &user in users.get(&phi).into_iter().flatten() {
                if lost.insert(user) {
                    work.push(user);
                }
            }
        }
        lost
    }

    pub(super) fn phi_users(&self) -> FxHashMap<ValueId, Vec<ValueId>> {
        let mut users: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        for &phi in &self.phis {
            if let Value::Phi(operands) = &self.module.value(phi).value {
                for &operand in operands {
                    if matches!(self.module.value(operand).value, Value::Phi(_)) {
                        users.entry(operand).or_default().push(phi);
                    }
                }
            }
        }
        users
    }

    /// For each value the value that stands for it.
    pub(super) fn trivial_phis(&self) -> Vec<ValueId> {
        fn root(replaced: &mut [ValueId], mut value: ValueId) -> ValueId {
            while replaced[value.index()] != value {
                let next = replaced[value.index()];
                replaced[value.index()] = replaced[next.index()];
                value = next;
            }
            value
        }
        let mut replaced: Vec<ValueId> = (0..self.module.values.len()).map(ValueId::new).collect();
        let users = self.phi_users();
        let mut work: Vec<ValueId> = self.phis.clone();
        work.reverse();
        while let Some(phi) = work.pop() {
            if replaced[phi.index()] != phi {
                continue;
            }
            let Value::Phi(operands) = &self.module.value(phi).value else { continue };
            let mut only = None;
            let mut several = false;
            for &operand in operands {
                let operand = root(&mut replaced, operand);
                if operand != phi && only.is_none_or(|only| only != operand) {
                    several = only.replace(operand).is_some();
                    if several {
                        break;
                    }
                }
            }
            if !several {
                replaced[phi.index()] = only.unwrap_or(self.unbound);
                work.extend(users.get(&phi).into_iter().flatten());
            }
        }
        for index in 0..replaced.len() {
            let value = root(&mut replaced, ValueId::new(index));
            replaced[index] = value;
        }
        replaced
    }
}

fn rewrite(
    value: &mut Value,
    resolve: &impl Fn(ValueId) -> ValueId,
    narrow: &impl Fn(Option<ValueId>) -> Option<ValueId>,
) {
    match value {
        Value::Phi(operands) => operands.iter_mut().for_each(|operand| *operand = resolve(*operand)),
        Value::Display(_, elements) => elements.iter_mut().for_each(|element| {
            *element = match *element {
                Element::At(index, value) => Element::At(index, resolve(value)),
                Element::Key(key, value) => Element::Key(resolve(key), resolve(value)),
                Element::Any(value) => Element::Any(resolve(value)),
                Element::Spread(value) => Element::Spread(resolve(value)),
                Element::Merge(value) => Element::Merge(resolve(value)),
            }
        }),
        Value::Attribute { base, narrowed, .. } => {
            *base = resolve(*base);
            *narrowed = narrow(*narrowed);
        }
        Value::Item { base, key, narrowed } => {
            *base = resolve(*base);
            *key = resolve(*key);
            *narrowed = narrow(*narrowed);
        }
        Value::Slice { base, cut } => {
            *base = resolve(*base);
            let ends = [&mut cut.lower, &mut cut.upper, &mut cut.step].into_iter().flatten();
            cut.limits.iter_mut().chain(ends).for_each(|limit| *limit = resolve(*limit));
        }
        Value::Iteration(base)
        | Value::Unpack { base, .. }
        | Value::Enter(base)
        | Value::Leave(base)
        | Value::Await(base)
        | Value::Caught(base) => *base = resolve(*base),
        Value::Operator { left, right, .. } => {
            *left = resolve(*left);
            *right = resolve(*right);
        }
        Value::Unknown
        | Value::Unbound
        | Value::Constant(_)
        | Value::Instance(_)
        | Value::Parameter(..)
        | Value::Cell(_)
        | Value::Free(_)
        | Value::Function(_)
        | Value::Class(_)
        | Value::Import(_)
        | Value::Call(_) => {}
    }
}
