//! Expressions.

use super::super::flow::BranchKind;
use super::super::id::{FunctionId, ValueId};
use super::super::ssa::Key;
use super::super::symbols::Opener;
use super::super::value::{Bounds, BuiltinType, Constant, Container, Cut, Method, Operator, Role, Value};
use super::super::{
    Argument, CallKind, DefinitionKind, Function, NoneTest, Passing, ScopeKind, SideEffect, StoreKey,
};
use super::Lowering;
use crate::syntax::ast::{self, Expr, Number};
use crate::syntax::{Ranged, TextRange, TextSize, with_stack};

impl Lowering<'_> {
    /// The value of `expression`, which is evaluated for `role`.
    pub(super) fn expression(&mut self, expression: &Expr, role: Role) -> ValueId {
        let value = with_stack(|| self.evaluate(expression, role));
        if matches!(
            role,
            Role::Stored | Role::Argument(_) | Role::Element | Role::Returned | Role::Yielded | Role::Managed
        ) || matches!(role, Role::Default | Role::Decorator)
        {
            self.escape(value);
        }
        value
    }

    pub(super) fn operand(&mut self, expression: &Expr) -> ValueId {
        self.expression(expression, Role::Operand)
    }

    pub(super) fn evaluate(&mut self, expression: &Expr, role: Role) -> ValueId {
        let range = expression.range();
        match expression {
            Expr::Name(name) => self.read(&name.id, range),
            Expr::StringLiteral(string) => self.text_constant(string.value.to_str(), range),
            Expr::BytesLiteral(_) => self.push(Value::Instance(BuiltinType::Bytes), range),
            Expr::NumberLiteral(number) => self.number(&number.value, range),
            Expr::BooleanLiteral(boolean) => self.constant(Constant::Bool(boolean.value), range),
            Expr::NoneLiteral(_) => self.constant(Constant::None, range),
            Expr::EllipsisLiteral(_) => self.push(Value::Instance(BuiltinType::Ellipsis), range),
            Expr::FString(string) => {
                self.interpolations(string.value.elements());
                let value = self.push(Value::Instance(BuiltinType::Str), range);
                let template = self.module.names.intern(&template(string));
                self.module.templates.push((value, template));
                value
            }
            Expr::TString(string) => {
                self.interpolations(string.value.elements());
                self.push(Value::Unknown, range)
            }
            Expr::Attribute(attribute) => self.attribute(attribute, role),
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::Call(call) => self.call_expression(call, role),
            Expr::BinOp(operation) => self.binary(operation),
            Expr::UnaryOp(operation) => self.unary(operation),
            Expr::Compare(comparison) => self.comparison(comparison),
            Expr::BoolOp(operation) => self.short_circuit(operation),
            Expr::If(conditional) => self.conditional(conditional),
            Expr::Named(named) => {
                let value = self.expression(&named.value, Role::Stored);
                self.module.side_effects.push((SideEffect::Walrus, range));
                if let Expr::Name(target) = &*named.target {
                    self.define(&target.id, value, DefinitionKind::Walrus, target.range);
                }
                value
            }
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::List(list) => self.sequence(Container::List, &list.elts, range),
            Expr::Tuple(tuple) => self.sequence(Container::Tuple, &tuple.elts, range),
            Expr::Set(set) => self.sequence(Container::Set, &set.elts, range),
            Expr::Dict(dict) => self.dict(dict),
            Expr::ListComp(comprehension) => self.comprehension(
                Container::List,
                &comprehension.generators,
                &comprehension.elt,
                None,
                range,
            ),
            Expr::SetComp(comprehension) => {
                self.comprehension(Container::Set, &comprehension.generators, &comprehension.elt, None, range)
            }
            Expr::Generator(generator) => {
                self.comprehension(Container::Generator, &generator.generators, &generator.elt, None, range)
            }
            Expr::DictComp(comprehension) => self.comprehension(
                Container::Dict,
                &comprehension.generators,
                &comprehension.value,
                comprehension.key.as_deref(),
                range,
            ),
            Expr::Await(awaited) => {
                self.module.side_effects.push((SideEffect::Await, range));
                let value = self.operand(&awaited.value);
                self.push(Value::Await(value), range)
            }
            Expr::Yield(yielded) => {
                self.module.side_effects.push((SideEffect::Yield, range));
                let value = match &yielded.value {
                    Some(value) => self.expression(value, Role::Yielded),
                    None => self.constant(Constant::None, range),
                };
                self.yields(value);
                self.push(Value::Unknown, range)
            }
            Expr::YieldFrom(yielded) => {
                self.module.side_effects.push((SideEffect::Yield, range));
                let iterable = self.expression(&yielded.value, Role::Yielded);
                let value = self.push(Value::Iteration(iterable), range);
                self.yields(value);
                self.push(Value::Unknown, range)
            }
            Expr::Starred(starred) => {
                self.operand(&starred.value);
                self.push(Value::Unknown, range)
            }
            Expr::Slice(slice) => {
                for part in [&slice.lower, &slice.upper, &slice.step].into_iter().flatten() {
                    self.operand(part);
                }
                self.push(Value::Instance(BuiltinType::Slice), range)
            }
            Expr::IpyEscapeCommand(_) => self.push(Value::Unknown, range),
        }
    }

    pub(super) fn number(&mut self, number: &Number, range: TextRange) -> ValueId {
        match number {
            Number::Int(int) => match int.as_i64() {
                Some(int) => self.constant(Constant::Int(int), range),
                None => self.push(Value::Instance(BuiltinType::Int), range),
            },
            Number::Float(float) => self.float(*float, range),
            Number::Complex { .. } => self.push(Value::Instance(BuiltinType::Complex), range),
        }
    }

    fn float(&mut self, float: f64, range: TextRange) -> ValueId {
        let value = self.push(Value::Instance(BuiltinType::Float), range);
        self.module.floats.push((value, float));
        value
    }

    pub(super) fn interpolations<'e>(
        &mut self,
        elements: impl Iterator<Item = &'e ast::InterpolatedStringElement>,
    ) {
        for element in elements {
            if let Some(interpolation) = element.as_interpolation() {
                let value = self.operand(&interpolation.expression);
                if let Some(format) = &interpolation.format_spec {
                    self.module.formatted.push((value, interpolation.range));
                    self.interpolations(format.elements.iter());
                }
            }
        }
    }

    pub(super) fn attribute(&mut self, attribute: &ast::ExprAttribute, role: Role) -> ValueId {
        let base = self.expression(&attribute.value, Role::Receiver);
        self.load_attribute(base, attribute, role)
    }

    /// The object and the name that an attribute as a target means.
    pub(super) fn attribute_place(&mut self, attribute: &ast::ExprAttribute) -> (ValueId, StoreKey) {
        let base = self.expression(&attribute.value, Role::Receiver);
        (base, StoreKey::Attribute(self.module.names.intern(&attribute.attr)))
    }

    /// The object and the key that a subscript as a target means.
    pub(super) fn item_place(&mut self, subscript: &ast::ExprSubscript) -> (ValueId, StoreKey) {
        let base = self.expression(&subscript.value, Role::Receiver);
        let key = self.operand(&subscript.slice);
        (base, if subscript.slice.is_slice_expr() { StoreKey::Slice } else { StoreKey::Item(key) })
    }

    pub(super) fn load_attribute(
        &mut self,
        base: ValueId,
        attribute: &ast::ExprAttribute,
        role: Role,
    ) -> ValueId {
        let name = self.module.names.intern(&attribute.attr);
        if self.current().own.contains_key(&base) {
            // A method of a container may change it; one that is kept may do so at any time.
            if role == Role::Callee { self.forget(base) } else { self.escape(base) }
        }
        let scope = self.current().scope;
        if !self.symbols.homes[scope.index()].stored_attributes.contains(&name) {
            return self.push(Value::Attribute { base, name, narrowed: None }, attribute.range);
        }
        let key = Key::Attribute(name);
        let narrowed = self.stored(base, key);
        if let Some(load) = narrowed
            && matches!(self.module.value(load).value, Value::Attribute { base: b, name: n, .. } if b == base && n == name)
        {
            return load;
        }
        let value = self.push(Value::Attribute { base, name, narrowed }, attribute.range);
        self.remember(base, key, value);
        value
    }

    pub(super) fn subscript(&mut self, subscript: &ast::ExprSubscript) -> ValueId {
        let base = self.expression(&subscript.value, Role::Receiver);
        if let Expr::Slice(slice) = &*subscript.slice {
            return self.slice(base, slice, subscript.range);
        }
        let key = self.operand(&subscript.slice);
        self.load_item(base, key, subscript.range)
    }

    pub(super) fn load_item(&mut self, base: ValueId, key: ValueId, range: TextRange) -> ValueId {
        let scope = self.current().scope;
        let constant = match self.module.value(key).value {
            Value::Constant(constant) if self.symbols.homes[scope.index()].stores_items => constant,
            _ => return self.push(Value::Item { base, key, narrowed: None }, range),
        };
        let place = Key::Item(constant);
        let narrowed = self.stored(base, place);
        if let Some(load) = narrowed
            && matches!(self.module.value(load).value, Value::Item { base: b, key: k, .. } if b == base && k == key)
        {
            return load;
        }
        let value = self.push(Value::Item { base, key, narrowed }, range);
        self.remember(base, place, value);
        value
    }

    pub(super) fn slice(&mut self, base: ValueId, slice: &ast::ExprSlice, range: TextRange) -> ValueId {
        let mut limits = Vec::new();
        let mut bound = |part: Option<&Expr>| {
            let Some(value) = part.map(|part| self.operand(part)) else { return (None, Some(None)) };
            let int = match self.module.value(value).value {
                Value::Constant(Constant::Int(int)) => Some(Some(int)),
                Value::Constant(_) => None,
                _ => {
                    limits.push(value);
                    None
                }
            };
            (Some(value), int)
        };
        let [(lower, from), (upper, to), (step, by)] =
            [&slice.lower, &slice.upper, &slice.step].map(|part| bound(part.as_deref()));
        let bounds = match (from, to, by) {
            (Some(lower), Some(upper), Some(None | Some(1))) => {
                Some(Bounds { lower: lower.unwrap_or(0), upper })
            }
            _ => None,
        };
        let cut = Cut { bounds, limits: limits.into(), lower, upper, step };
        self.push(Value::Slice { base, cut: cut.into() }, range)
    }

    pub(super) fn call_expression(&mut self, call: &ast::ExprCall, role: Role) -> ValueId {
        let callee = self.expression(&call.func, Role::Callee);
        let id = self.reserve_call(call.range());
        let position = Role::Argument(id);
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in call.arguments.iter_source_order() {
            let (expression, passing) = match argument {
                ast::ArgOrKeyword::Arg(Expr::Starred(starred)) => (&*starred.value, Passing::Spread),
                ast::ArgOrKeyword::Arg(argument) => (argument, Passing::Positional),
                ast::ArgOrKeyword::Keyword(keyword) => match &keyword.arg {
                    Some(name) => (&keyword.value, Passing::Keyword(self.module.names.intern(name))),
                    None => (&keyword.value, Passing::Merge),
                },
            };
            let value = self.expression(expression, position);
            arguments.push(Argument { value, passing, range: expression.range() });
        }
        self.call(id, callee, call.func.range(), arguments, CallKind::Expression, role)
    }

    pub(super) fn binary(&mut self, operation: &ast::ExprBinOp) -> ValueId {
        // The left spine is as long as the chain of operators.
        let mut spine = vec![operation];
        let mut leftmost = &*operation.left;
        while let Expr::BinOp(inner) = leftmost {
            spine.push(inner);
            leftmost = &inner.left;
        }
        let mut left = self.operand(leftmost);
        for operation in spine.into_iter().rev() {
            let right = self.operand(&operation.right);
            let operator = Operator::Binary(Method::of(operation.op));
            left = self.push(Value::Operator { operator, left, right }, operation.range);
        }
        left
    }

    pub(super) fn unary(&mut self, operation: &ast::ExprUnaryOp) -> ValueId {
        let operand = self.operand(&operation.operand);
        let Some(method) = Method::of_unary(operation.op) else {
            let not = Value::Operator { operator: Operator::Not, left: operand, right: operand };
            return self.push(not, operation.range);
        };
        match (operation.op, &self.module.value(operand).value) {
            (ast::UnaryOp::USub, Value::Instance(BuiltinType::Float)) => match self.module.float(operand) {
                Some(float) => self.float(-float, operation.range),
                None => operand,
            },
            (ast::UnaryOp::USub, Value::Constant(Constant::Int(int))) => {
                let negated = int.wrapping_neg();
                self.constant(Constant::Int(negated), operation.range)
            }
            (ast::UnaryOp::UAdd, Value::Constant(Constant::Int(_))) | (_, Value::Instance(_)) => operand,
            _ => {
                let operator = Operator::Unary(method);
                self.push(Value::Operator { operator, left: operand, right: operand }, operation.range)
            }
        }
    }

    pub(super) fn comparison(&mut self, comparison: &ast::ExprCompare) -> ValueId {
        let first = self.operand(&comparison.left);
        let mut left = first;
        let mut result = None;
        for (op, right) in comparison.ops.iter().zip(&comparison.comparators) {
            let right = self.operand(right);
            // There is one object for each truth: `flag is True` compares as `flag == True` does.
            let is_truth = matches!(self.module.value(right).value, Value::Constant(Constant::Bool(_)));
            let of_truth = match op {
                ast::CmpOp::Is => Some(Method::EQ),
                ast::CmpOp::IsNot => Some(Method::NE),
                _ => None,
            };
            let Some(method) = Method::of_comparison(*op).or(of_truth.filter(|_| is_truth)) else {
                left = right;
                continue;
            };
            let (left_operand, right_operand) = match op {
                ast::CmpOp::In | ast::CmpOp::NotIn => (right, left),
                _ => (left, right),
            };
            let operator = Operator::Compare(method);
            let value = Value::Operator { operator, left: left_operand, right: right_operand };
            let mut compared = self.push(value, comparison.range);
            if *op == ast::CmpOp::NotIn {
                let negated = Value::Operator { operator: Operator::Not, left: compared, right: compared };
                compared = self.push(negated, comparison.range);
            }
            result = Some(compared);
            left = right;
        }
        // `a < b < c` is what all of them are together.
        let value = result
            .filter(|_| comparison.ops.len() == 1)
            .unwrap_or_else(|| self.push(Value::Instance(BuiltinType::Bool), comparison.range));
        if let ([op @ (ast::CmpOp::Is | ast::CmpOp::IsNot)], Value::Constant(Constant::None)) =
            (&*comparison.ops, &self.module.value(left).value)
        {
            let test = NoneTest { value: first, if_none: *op == ast::CmpOp::Is };
            self.module.none_tests.push((value, test));
        }
        value
    }

    pub(super) fn short_circuit(&mut self, operation: &ast::ExprBoolOp) -> ValueId {
        let Some((first, rest)) = operation.values.split_first() else {
            return self.push(Value::Unknown, operation.range);
        };
        let kind = match operation.op {
            ast::BoolOp::And => BranchKind::And,
            ast::BoolOp::Or => BranchKind::Or,
        };
        let mut value = self.operand(first);
        let mut values = vec![value];
        let (fork, from) = (self.current().block, self.current().ssa.now());
        let mut ends = Vec::new();
        for operand in rest {
            self.branch(kind, Some(value), operation.range);
            ends.push(self.end());
            let block = self.current().block;
            let next = self.frame().ssa.after(block);
            self.frame().block = next;
            value = self.operand(operand);
            values.push(value);
        }
        ends.push(self.end());
        self.join(fork, from, &ends);
        self.one_of(values, operation.range)
    }

    pub(super) fn conditional(&mut self, conditional: &ast::ExprIf) -> ValueId {
        let test = self.expression(&conditional.test, Role::Condition);
        self.branch(BranchKind::If, Some(test), conditional.test.range());
        let (fork, from, alive) = (self.current().block, self.current().ssa.now(), self.current().alive);
        let arm = |lowering: &mut Self, expression| {
            let block = lowering.frame().ssa.after(fork);
            lowering.resume(block, alive);
            let value = lowering.operand(expression);
            (value, lowering.end())
        };
        let (then, then_end) = arm(self, &conditional.body);
        let (otherwise, otherwise_end) = arm(self, &conditional.orelse);
        self.join(fork, from, &[then_end, otherwise_end]);
        self.one_of(vec![then, otherwise], conditional.range)
    }

    pub(super) fn one_of(&mut self, mut values: Vec<ValueId>, range: TextRange) -> ValueId {
        for &value in &values {
            self.escape(value);
        }
        values.sort_unstable();
        values.dedup();
        match values[..] {
            [only] => only,
            _ => self.push(Value::Phi(values.into()), range),
        }
    }

    pub(super) fn lambda(&mut self, lambda: &ast::ExprLambda) -> ValueId {
        let parameters =
            lambda.parameters.as_ref().map_or_else(Vec::new, |parameters| self.parameters(parameters));
        let id = FunctionId::new(self.module.functions.len());
        let value = self.push(Value::Function(id), lambda.range);
        self.frame().lambdas += 1;
        let text = format!("<lambda{}>", self.current().lambdas);
        let name = self.module.names.intern(&text);
        let qualified = self.qualified(&text);
        let lexical = self.symbols.at(Opener::Lambda, lambda.range);
        let scope = self.symbols.home(lexical);
        self.module.functions.push(Function {
            scope,
            name,
            range: lambda.range,
            parameters,
            returns: Vec::new(),
            yields: Vec::new(),
            generator: false,
            asynchronous: false,
            class: self.current().class,
            value,
            decorators: Vec::new(),
            statement: None,
        });
        let parent = self.current().scope;
        self.enter(scope, lexical, ScopeKind::Lambda(id), Some(parent), qualified, lambda.range);
        self.bind_parameters(id);
        let result = self.expression(&lambda.body, Role::Returned);
        self.module.functions[id.index()].returns.push(result);
        self.leave();
        value
    }

    pub(super) fn yields(&mut self, value: ValueId) {
        if let Some(function) = self.current().function {
            let function = &mut self.module.functions[function.index()];
            function.generator = true;
            function.yields.push(value);
        }
    }
}

/// Whether a text has only white space and comments.
fn is_blank(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with(['#', '\\'])
    })
}

/// Where a statement's header ends: at the beginning of its first suite.
pub(super) fn header_range(start: TextSize, source: &str, body: &[ast::Stmt]) -> TextRange {
    let Some(first) = body.first() else { return TextRange::empty(start) };
    let (begin, end) = (start.to_usize(), first.range().start().to_usize());
    let Some(text) = source.get(begin..end) else { return TextRange::empty(start) };
    // A comment behind the colon may have colons too.
    let mut colons = text.match_indices(':').map(|(colon, _)| colon + 1);
    let end = colons.find(|&colon| is_blank(&text[colon..])).map_or(end, |colon| begin + colon);
    TextRange::new(start, TextSize::try_from(end).unwrap_or(start).max(start))
}

/// The text of an f-string with `{}` for what it inserts.
fn template(string: &ast::ExprFString) -> String {
    let mut text = String::new();
    for part in &string.value {
        match part {
            ast::FStringPart::Literal(literal) => text.push_str(&literal.value),
            ast::FStringPart::FString(own) => {
                for element in &own.elements {
                    text.push_str(element.as_literal().map_or("{}", |literal| &literal.value));
                }
            }
        }
    }
    text
}
