//! Assignments and deletions: statements, and the targets of everything that binds.

use super::super::id::ValueId;
use super::super::ssa::Key;
use super::super::value::{Constant, Element, Method, Operator, Role, Value};
use super::super::{DefinitionKind, Module, StatementKind, StoreKey};
use super::Lowering;
use crate::syntax::ast::{self, Expr, Stmt};
use crate::syntax::{Ranged, TextRange};

impl Lowering<'_> {
    pub(super) fn assign(&mut self, statement: &Stmt, assign: &ast::StmtAssign) {
        let simple = matches!(assign.targets[..], [Expr::Name(_)]);
        self.simple(StatementKind::Assign { simple }, statement);
        // `a, b = c, d` passes the values through without a tuple that anybody could see.
        if let [Expr::Tuple(targets)] = &assign.targets[..]
            && let Expr::Tuple(values) = &*assign.value
            && targets.elts.len() == values.elts.len()
            && !targets.elts.iter().chain(&values.elts).any(Expr::is_starred_expr)
        {
            self.parallel(&targets.elts, &values.elts);
            return;
        }
        let value = self.expression(&assign.value, if simple { Role::Assigned } else { Role::Stored });
        let kind = if simple || !matches!(assign.targets[..], [_]) {
            DefinitionKind::Assignment
        } else {
            DefinitionKind::Unpacking
        };
        for target in &assign.targets {
            self.target(target, value, kind);
        }
        if simple
            && let Expr::Name(name) = &assign.targets[0]
            && name.id == "__all__"
            && self.current().scope == Module::TOP
        {
            self.module.all = self.literal_names(value);
        }
    }

    pub(super) fn parallel(&mut self, targets: &[Expr], values: &[Expr]) {
        let values: Vec<ValueId> = values.iter().map(|value| self.expression(value, Role::Stored)).collect();
        for (target, value) in targets.iter().zip(values) {
            self.target(target, value, DefinitionKind::Unpacking);
        }
    }

    pub(super) fn literal_names(&self, value: ValueId) -> Option<Vec<super::super::id::NameId>> {
        let Value::Display(_, elements) = &self.module.value(value).value else { return None };
        elements
            .iter()
            .map(|element| match element {
                Element::At(_, value) => match self.module.value(*value).value {
                    Value::Constant(Constant::Str(name)) => Some(name),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    }

    pub(super) fn augmented_assign(&mut self, statement: &Stmt, assign: &ast::StmtAugAssign) {
        self.simple(StatementKind::AugmentedAssign, statement);
        // The target's object and key are evaluated once, for reading and for storing.
        let place = match &*assign.target {
            Expr::Attribute(attribute) => Some(self.attribute_place(attribute)),
            Expr::Subscript(subscript) => Some(self.item_place(subscript)),
            _ => None,
        };
        let left = match (place, &*assign.target) {
            (Some((base, _)), Expr::Attribute(attribute)) => {
                self.load_attribute(base, attribute, Role::Operand)
            }
            (Some((base, StoreKey::Item(key))), Expr::Subscript(subscript)) => {
                self.load_item(base, key, subscript.range)
            }
            (Some((base, _)), _) => {
                self.push(Value::Slice { base, cut: Box::default() }, assign.target.range())
            }
            (None, target) => self.expression(target, Role::Operand),
        };
        let right = self.expression(&assign.value, Role::Operand);
        let operator = Operator::InPlace(Method::of(assign.op));
        let value = self.push(Value::Operator { operator, left, right }, assign.range);
        if let Expr::Name(name) = &*assign.target
            && name.id == "__all__"
            && self.current().scope == Module::TOP
        {
            let more = self.literal_names(right);
            self.module.all = self.module.all.take().zip(more).map(|(all, more)| [all, more].concat());
        }
        self.escape(left);
        match place {
            Some((base, key)) => self.store(base, key, value, assign.target.range()),
            None => self.target(&assign.target, value, DefinitionKind::Augmented),
        }
    }

    pub(super) fn delete(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => {
                self.read(&name.id, name.range);
                let unbound = self.unbound;
                self.define(&name.id, unbound, DefinitionKind::Deletion, name.range);
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                for element in elts {
                    self.delete(element);
                }
            }
            Expr::Attribute(attribute) => {
                let base = self.expression(&attribute.value, Role::Receiver);
                let unknown = self.push(Value::Unknown, attribute.range);
                self.store_part(base, None, unknown);
            }
            Expr::Subscript(subscript) => {
                let base = self.expression(&subscript.value, Role::Receiver);
                self.expression(&subscript.slice, Role::Operand);
                let unknown = self.push(Value::Unknown, subscript.range);
                self.store_part(base, None, unknown);
            }
            _ => {}
        }
    }

    /// Binds or stores `value` to an assignment's target.
    pub(super) fn target(&mut self, target: &Expr, value: ValueId, kind: DefinitionKind) {
        match target {
            Expr::Name(name) => self.define(&name.id, value, kind, name.range),
            Expr::Attribute(attribute) => {
                let (base, key) = self.attribute_place(attribute);
                self.store(base, key, value, attribute.range);
            }
            Expr::Subscript(subscript) => {
                let (base, key) = self.item_place(subscript);
                self.store(base, key, value, subscript.range);
            }
            Expr::Starred(starred) => self.target(&starred.value, value, kind),
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                self.escape(value);
                let kind = if kind == DefinitionKind::Assignment { DefinitionKind::Unpacking } else { kind };
                let mut starred_before = false;
                for (index, element) in (0..).zip(elts) {
                    let starred = element.is_starred_expr();
                    starred_before |= starred;
                    let part = Value::Unpack {
                        base: value,
                        index: (!starred_before || starred).then_some(index),
                        starred,
                    };
                    let part = self.push(part, element.range());
                    self.target(element, part, kind);
                }
            }
            _ => {}
        }
    }

    pub(super) fn store(&mut self, base: ValueId, key: StoreKey, value: ValueId, range: TextRange) {
        self.escape(value);
        let part = match key {
            StoreKey::Attribute(name) => Some(Key::Attribute(name)),
            StoreKey::Item(key) => match self.module.value(key).value {
                Value::Constant(constant) => Some(Key::Item(constant)),
                _ => None,
            },
            StoreKey::Slice => None,
        };
        self.store_part(base, part, value);
        let (statement, scope) = (self.current().statement, self.current().scope);
        self.module.stores.push(super::super::Store { base, key, value, range, statement, scope });
    }
}
