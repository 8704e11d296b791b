//! Whether an expression can be evaluated before the rest of its statement without anybody noticing.

use rustc_hash::FxHashSet;

use crate::api::{Effect, EffectSet};
use crate::program::{Caller, Facts, Object};
use crate::project::FileId;
use crate::semantic::{
    BuiltinType, CallId, Element, Operator, Passing, ScopeId, ScopeKind, SideEffect, StatementId,
    StatementKind, Use, Value, ValueId,
};
use crate::syntax::TextRange;

/// What looks at the world and leaves it as it is.
const LOOKS: [Effect; 7] = [
    Effect::ReadsFile,
    Effect::ReadsRank,
    Effect::ReadsLocalRank,
    Effect::ReadsSize,
    Effect::Varies,
    Effect::Traces,
    Effect::Distributes,
];

/// Whether the expressions of a statement, in the order of the source, are evaluated whenever the statement runs, once,
/// and can be evaluated in front of it: what they do and what is evaluated before them can't influence each other.
pub(super) fn can_go_first(
    facts: &Facts<'_>,
    file: FileId,
    statement: StatementId,
    expressions: &[TextRange],
) -> bool {
    let module = facts.module(file);
    let own = module.statement(statement);
    if matches!(module.scope(own.scope).kind, ScopeKind::Class(_))
        || matches!(
            own.kind,
            StatementKind::Function
                | StatementKind::Class
                | StatementKind::While
                | StatementKind::Assert
                | StatementKind::Try
                | StatementKind::Delete
                | StatementKind::Import { .. }
                | StatementKind::ScopeDeclaration
                | StatementKind::Break
                | StatementKind::Continue
                | StatementKind::Other
        )
    {
        return false;
    }
    let order = Order { facts, file, statement };
    let is_in_header = |range: &TextRange| own.header.contains_range(*range);
    expressions.iter().all(is_in_header)
        && expressions.iter().all(|&range| order.always_runs(range))
        && (0..expressions.len()).all(|index| order.commutes(expressions[index], &expressions[..index]))
}

struct Order<'f, 'a> {
    facts: &'f Facts<'a>,
    file: FileId,
    statement: StatementId,
}

impl Order<'_, '_> {
    fn scope(&self) -> ScopeId {
        self.facts.module(self.file).statement(self.statement).scope
    }

    /// Whether an expression runs whenever its statement does, and by the same code: not in a lambda, a comprehension
    /// or one side of `and`.
    fn always_runs(&self, expression: TextRange) -> bool {
        let module = self.facts.module(self.file);
        let caller = Caller { file: self.file, scope: self.scope() };
        let mut calls = module.calls.iter().filter(|call| expression.contains_range(call.range)).peekable();
        let is_awaited = module
            .side_effects
            .iter()
            .any(|&(effect, range)| range == expression && matches!(effect, SideEffect::Await));
        let is_call = calls.clone().any(|call| call.range == expression);
        let first_manager = module.managers.iter().find(|(_, statement)| *statement == self.statement);
        let is_managed =
            first_manager.is_none_or(|(manager, _)| module.value(*manager).range.contains_range(expression));
        (is_call || is_awaited)
            && is_managed
            && calls.peek().is_some()
            && calls.all(|call| {
                let is_inner = call.range != expression;
                call.statement == self.statement
                    && (is_inner
                        || call.scope == caller.scope
                            && !self
                                .facts
                                .conditions(caller, call.block)
                                .iter()
                                .any(|condition| condition.branch.statement == self.statement))
            })
    }

    /// Whether an expression and what is evaluated before it, but for `gone`, can change places.
    fn commutes(&self, expression: TextRange, gone: &[TextRange]) -> bool {
        let module = self.facts.module(self.file);
        let start = module.statement(self.statement).range.start();
        let is_before = |range: TextRange| {
            range.start() >= start
                && range.start() < expression.start()
                && range.end() <= expression.start()
                && !gone.iter().any(|gone| gone.contains_range(range))
        };
        if module.side_effects.iter().any(|(_, range)| is_before(*range))
            || self.is_spread_before(expression)
            || self.is_compared_later(expression)
        {
            return false;
        }
        let calls = (0..module.calls.len()).map(CallId::new);
        let before: Vec<CallId> = calls.filter(|&id| is_before(module.call(id).range)).collect();
        if self.is_pure(expression) {
            return before.iter().all(|&id| self.is_pure_call(id))
                && module
                    .values
                    .iter()
                    .filter(|own| is_before(own.range))
                    .all(|own| self.is_plain(&own.value));
        }
        before.is_empty()
            && module
                .uses
                .iter()
                .filter(|own| is_before(own.range))
                .all(|own| self.is_steady(own, expression))
            && (0..module.values.len())
                .map(ValueId::new)
                .filter(|&id| is_before(module.value(id).range) && module.value(id).scope == self.scope())
                .all(|id| self.is_steady_value(id))
            && !self.is_behind_interpolation(expression, &is_before)
    }

    /// Whether something is iterated over before the expression: `f(*iterator, next(iterator))`.
    fn is_spread_before(&self, expression: TextRange) -> bool {
        let module = self.facts.module(self.file);
        let around = |range: TextRange| range.contains_range(expression) && range != expression;
        let in_calls = module.calls.iter().filter(|call| around(call.range)).any(|call| {
            call.arguments.iter().any(|argument| {
                matches!(argument.passing, Passing::Spread | Passing::Merge)
                    && argument.range.end() <= expression.start()
            })
        });
        in_calls
            || module.values.iter().filter(|own| around(own.range)).any(|own| match &own.value {
                Value::Display(_, elements) => {
                    elements.iter().any(|element| matches!(element, Element::Spread(_) | Element::Merge(_)))
                }
                _ => false,
            })
    }

    /// Whether the expression is an operand of `a < b < c`, whose last ones are not always evaluated.
    fn is_compared_later(&self, expression: TextRange) -> bool {
        let module = self.facts.module(self.file);
        let mut comparisons: Vec<TextRange> = module
            .values
            .iter()
            .filter(|own| matches!(own.value, Value::Operator { operator: Operator::Compare(_), .. }))
            .map(|own| own.range)
            .filter(|range| range.contains_range(expression))
            .collect();
        comparisons.sort_by_key(|range| (range.start(), range.end()));
        comparisons.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Whether a value in front of a pure expression runs no code that could disturb it: no operator of a class of
    /// the project, or of nobody knows what.
    fn is_plain(&self, value: &Value) -> bool {
        let is_known = |operand: ValueId| {
            let mut objects = self.facts.objects(self.file, operand).peekable();
            objects.peek().is_some()
                && objects.all(|(_, object)| !matches!(object, Object::Unknown | Object::Instance(..)))
        };
        match *value {
            Value::Operator { left, right, .. } => is_known(left) && is_known(right),
            Value::Iteration(_) | Value::Enter(_) | Value::Leave(_) | Value::Await(_) => false,
            _ => true,
        }
    }

    /// Whether a reading gives the same before and after the expression.
    fn is_steady(&self, reading: &Use, expression: TextRange) -> bool {
        let module = self.facts.module(self.file);
        let Some(variable) = reading.variable else { return true };
        let mut inside =
            module.definitions.iter().filter(|definition| expression.contains_range(definition.range));
        !module.symbol(variable).rebound && !inside.any(|definition| definition.variable == variable)
    }

    /// Whether a value in front of the expression does not look at what the expression may change.
    fn is_steady_value(&self, id: ValueId) -> bool {
        let module = self.facts.module(self.file);
        match &module.value(id).value {
            Value::Attribute { base, .. } => {
                let mut objects = self.facts.objects(self.file, *base).peekable();
                let of_module = objects.peek().is_some()
                    && objects.all(|(_, object)| {
                        matches!(object, Object::External(_) | Object::Module(_) | Object::Namespace(_))
                    });
                of_module || self.is_method(id)
            }
            Value::Constant(_)
            | Value::Instance(_)
            | Value::Parameter(..)
            | Value::Cell(_)
            | Value::Free(_)
            | Value::Function(_)
            | Value::Class(_)
            | Value::Import(_)
            | Value::Unbound => true,
            _ => false,
        }
    }

    /// Whether an attribute is a known method that is about to be called.
    fn is_method(&self, id: ValueId) -> bool {
        let module = self.facts.module(self.file);
        let mut objects = self.facts.objects(self.file, id).peekable();
        objects.peek().is_some()
            && objects.all(|(_, object)| {
                matches!(object, Object::Bound(..) | Object::Member(..) | Object::BuiltinMethod(..))
            })
            && module.calls.iter().any(|call| call.callee == id)
    }

    /// Whether the expression stands in an f-string behind another one, which is made a text before it.
    fn is_behind_interpolation(&self, expression: TextRange, is_before: &dyn Fn(TextRange) -> bool) -> bool {
        let module = self.facts.module(self.file);
        let mut strings = module.values.iter().filter(|evaluation| {
            evaluation.value == Value::Instance(BuiltinType::Str)
                && evaluation.range.contains_range(expression)
        });
        strings.any(|string| {
            let within = |range: TextRange| is_before(range) && string.range.contains_range(range);
            module.uses.iter().any(|reading| within(reading.range))
                || module.values.iter().any(|evaluation| within(evaluation.range))
        })
    }

    /// Whether evaluating an expression changes nothing, as far as the calls in it tell.
    fn is_pure(&self, expression: TextRange) -> bool {
        let module = self.facts.module(self.file);
        let calls = (0..module.calls.len()).map(CallId::new);
        let mut inside = calls.filter(|&id| expression.contains_range(module.call(id).range));
        inside.all(|id| self.is_pure_call(id))
            && !module.side_effects.iter().any(|(_, range)| expression.contains_range(*range))
    }

    fn is_pure_call(&self, id: CallId) -> bool {
        let edges = self.facts.callees(self.file, id);
        !edges.is_empty()
            && edges.iter().all(|edge| {
                let summary = self.facts.effects().of_edge(self.facts, edge);
                let effects = LOOKS.into_iter().fold(summary.effects, EffectSet::without);
                effects.is_empty() && !summary.unknown && self.stores_nothing(edge.callee)
            })
    }

    /// Whether no code of the project that a callee runs stores anything that lasts: effects are those of libraries.
    fn stores_nothing(&self, callee: crate::program::ObjectId) -> bool {
        let facts = self.facts;
        let (Object::Function(function) | Object::Bound(_, function)) = facts.solution.object(callee) else {
            return true;
        };
        let mut work = vec![facts.code_of(function)];
        let mut seen: FxHashSet<Caller> = work.iter().copied().collect();
        while let Some(code) = work.pop() {
            let module = facts.module(code.file);
            let rebinds = module
                .definitions
                .iter()
                .any(|own| own.scope == code.scope && own.variable.scope != code.scope);
            if rebinds || module.stores.iter().any(|store| store.scope == code.scope) {
                return false;
            }
            let next = facts.reached_functions(code).map(|(_, function)| facts.code_of(function));
            work.extend(next.filter(|&code| seen.insert(code)));
        }
        true
    }
}
