//! Calls, decorators and parameters.

use super::super::id::{CallId, FunctionId, ValueId};
use super::super::ssa::Place;
use super::super::symbols::{LexicalId, Opener};
use super::super::value::{Role, Value};
use super::super::{Argument, Call, CallKind, DefinitionKind, Parameter, ParameterKind, Passing};
use super::Lowering;
use crate::syntax::{TextRange, ast};

impl Lowering<'_> {
    /// A call's place among the calls, in front of those in its arguments.
    pub(super) fn reserve_call(&mut self, range: TextRange) -> CallId {
        let frame = self.current();
        let call = Call {
            callee: self.unbound,
            arguments: Vec::new(),
            kind: CallKind::Expression,
            role: Role::Operand,
            result: self.unbound,
            range,
            callee_range: range,
            statement: frame.statement,
            scope: frame.scope,
            block: frame.block,
        };
        self.module.calls.push(call);
        CallId::new(self.module.calls.len() - 1)
    }

    pub(super) fn call(
        &mut self,
        id: CallId,
        callee: ValueId,
        callee_range: TextRange,
        arguments: Vec<Argument>,
        kind: CallKind,
        role: Role,
    ) -> ValueId {
        let range = self.module.call(id).range;
        let result = self.push(Value::Call(id), range);
        self.change(Place::Memory);
        let frame = self.frame();
        frame.calls += 1;
        let block = frame.block;
        let call = &mut self.module.calls[id.index()];
        *call = Call { callee, arguments, kind, role, result, callee_range, block, ..call.clone() };
        result
    }

    pub(super) fn decorate(&mut self, mut value: ValueId, decorators: &[(ValueId, TextRange)]) -> ValueId {
        for &(decorator, range) in decorators.iter().rev() {
            let argument = Argument { value, passing: Passing::Positional, range };
            let id = self.reserve_call(range);
            value = self.call(id, decorator, range, vec![argument], CallKind::Decorator, Role::Decorator);
        }
        value
    }

    /// The parameters with their defaults and annotations, evaluated where the function is defined; their
    /// values come when its scope is entered.
    pub(super) fn parameters(&mut self, parameters: &ast::Parameters) -> Vec<Parameter> {
        let mut result = Vec::new();
        let mut add = |lowering: &mut Self, parameter: &ast::Parameter, default: Option<&ast::Expr>, kind| {
            let name = lowering.module.names.intern(&parameter.name);
            let default = default.map(|default| lowering.expression(default, Role::Default));
            let annotation = parameter
                .annotation
                .as_deref()
                .map(|annotation| lowering.expression(annotation, Role::Operand));
            let value = lowering.unbound;
            result.push(Parameter { name, kind, value, default, annotation, range: parameter.name.range });
        };
        for parameter in &parameters.posonlyargs {
            add(self, &parameter.parameter, parameter.default.as_deref(), ParameterKind::PositionalOnly);
        }
        for parameter in &parameters.args {
            add(self, &parameter.parameter, parameter.default.as_deref(), ParameterKind::Ordinary);
        }
        if let Some(parameter) = &parameters.vararg {
            add(self, parameter, None, ParameterKind::Variadic);
        }
        for parameter in &parameters.kwonlyargs {
            add(self, &parameter.parameter, parameter.default.as_deref(), ParameterKind::KeywordOnly);
        }
        if let Some(parameter) = &parameters.kwarg {
            add(self, parameter, None, ParameterKind::Keywords);
        }
        result
    }

    pub(super) fn bind_parameters(&mut self, function: FunctionId) {
        for index in 0..self.module.functions[function.index()].parameters.len() {
            let parameter = self.module.functions[function.index()].parameters[index].clone();
            let index = u32::try_from(index).expect("fewer parameters than bytes");
            let value = self.push(Value::Parameter(function, index), parameter.range);
            self.module.functions[function.index()].parameters[index as usize].value = value;
            let name = self.module.names.text(parameter.name).to_owned();
            self.define(&name, value, DefinitionKind::Parameter, parameter.range);
        }
    }

    pub(super) fn qualified(&self, name: &str) -> String {
        let around = &self.module.scope(self.current().scope).qualified_name;
        if around.is_empty() { name.to_owned() } else { format!("{around}.{name}") }
    }

    pub(super) fn open_lexical(&mut self, opener: Opener, range: TextRange) -> LexicalId {
        let lexical = self.symbols.at(opener, range);
        self.frame().lexical.push(lexical);
        lexical
    }
}
