//! Container displays and comprehensions.

use super::super::DefinitionKind;
use super::super::flow::BranchKind;
use super::super::id::ValueId;
use super::super::ssa::Key;
use super::super::symbols::Opener;
use super::super::value::{Constant, Container, Element, Role, Value};
use super::Lowering;
use crate::syntax::ast::{self, Expr};
use crate::syntax::{Ranged, TextRange};

impl Lowering<'_> {
    pub(super) fn sequence(&mut self, kind: Container, elements: &[Expr], range: TextRange) -> ValueId {
        let mut index_known = true;
        let mut result = Vec::with_capacity(elements.len());
        for (index, element) in (0..).zip(elements) {
            if let Expr::Starred(starred) = element {
                index_known = false;
                result.push(Element::Spread(self.expression(&starred.value, Role::Element)));
                continue;
            }
            let value = self.expression(element, Role::Element);
            let is_at_index = index_known && kind != Container::Set;
            result.push(if is_at_index { Element::At(index, value) } else { Element::Any(value) });
        }
        self.display(kind, result, range)
    }

    pub(super) fn dict(&mut self, dict: &ast::ExprDict) -> ValueId {
        let mut result = Vec::with_capacity(dict.items.len());
        for item in &dict.items {
            let key = item.key.as_ref().map(|key| self.operand(key));
            let value = self.expression(&item.value, Role::Element);
            result.push(key.map_or(Element::Merge(value), |key| Element::Key(key, value)));
        }
        self.display(Container::Dict, result, dict.range)
    }

    /// A new container, which nobody else has yet.
    pub(super) fn display(&mut self, kind: Container, elements: Vec<Element>, range: TextRange) -> ValueId {
        let scope = self.current().scope;
        let tracked = self.symbols.homes[scope.index()].stores_items
            && matches!(kind, Container::List | Container::Dict)
            && elements.len() <= 64;
        let mut known: Vec<(Key, ValueId)> = Vec::new();
        if tracked {
            for element in &elements {
                match *element {
                    Element::At(index, value) => known.push((Key::Item(Constant::Int(index.into())), value)),
                    Element::Key(key, value) => match self.module.value(key).value {
                        Value::Constant(constant) => known.push((Key::Item(constant), value)),
                        _ => known.clear(),
                    },
                    Element::Any(_) | Element::Spread(_) | Element::Merge(_) => known.clear(),
                }
            }
        }
        let value = self.push(Value::Display(kind, elements.into()), range);
        if tracked {
            self.frame().own.insert(value, Vec::new());
            for (key, element) in known {
                self.remember(value, key, element);
            }
        }
        value
    }

    pub(super) fn comprehension(
        &mut self,
        kind: Container,
        generators: &[ast::Comprehension],
        element: &Expr,
        key: Option<&Expr>,
        range: TextRange,
    ) -> ValueId {
        let depth = self.current().lexical.len();
        let mut loops = Vec::new();
        for (index, generator) in generators.iter().enumerate() {
            let iterable = self.expression(&generator.iter, Role::Iterated);
            if index == 0 {
                self.open_lexical(Opener::Comprehension, range);
            }
            let (before, from) = (self.current().block, self.current().ssa.now());
            let frame = self.frame();
            let header = frame.ssa.merge(before, from);
            frame.ssa.join(header, before);
            frame.block = header;
            self.branch(BranchKind::For, Some(iterable), generator.iter.range());
            let body = self.frame().ssa.after(header);
            self.frame().block = body;
            let item = self.push(Value::Iteration(iterable), generator.iter.range());
            self.target(&generator.target, item, DefinitionKind::Loop);
            for test in &generator.ifs {
                let condition = self.expression(test, Role::Condition);
                self.branch(BranchKind::If, Some(condition), test.range());
                let block = self.current().block;
                self.frame().ssa.join(header, block);
                let next = self.frame().ssa.after(block);
                self.frame().block = next;
            }
            loops.push((before, from, header));
        }
        let key = key.map(|key| self.operand(key));
        let value = self.expression(element, Role::Element);
        for (before, from, header) in loops.into_iter().rev() {
            let block = self.current().block;
            let frame = self.frame();
            frame.ssa.join(header, block);
            frame.ssa.close(header);
            let exit = frame.ssa.merge(before, from);
            frame.ssa.join(exit, header);
            frame.ssa.close(exit);
            frame.block = exit;
        }
        self.frame().lexical.truncate(depth);
        let element = key.map_or(Element::Any(value), |key| Element::Key(key, value));
        self.push(Value::Display(kind, Box::new([element])), range)
    }
}
