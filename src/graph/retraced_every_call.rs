//! A function is traced anew at each call: the graph is made each time and never used again.

use rustc_hash::FxHashSet;

use super::{Graph, graph_check};
use crate::api::{Effect, Returns};
use crate::finding::Finding;
use crate::program::{Caller, Facts, Reason, Tracing};
use crate::project::FileId;
use crate::semantic::{
    Call, CallId, Constant, Element, Module, Operator, StatementId, StatementKind, Value, ValueId,
};
use crate::syntax::TextRange;

graph_check!("HVD411", "retraced-every-call", Warning, run);

/// So few traces cost little; people write such loops to warm up or to try something.
const FEW: i64 = 8;

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.scopes() {
        for retrace in retraces(graph.facts, graph.tracing, caller) {
            if retrace.turns.is_some_and(|turns| turns <= FEW) || retrace.why == Why::Shape {
                continue;
            }
            let (message, label, help) = match retrace.why {
                Why::Number => (
                    "this Python number is another one at each call, and each makes a new trace",
                    "changes with each turn",
                    "pass a tensor, as in `tf.constant(i)` or a loop over `tf.range`",
                ),
                _ => (
                    "a traced function is made in each turn of a loop, and each has to be traced",
                    "in this loop",
                    "make the function in front of the loop",
                ),
            };
            let location = graph.facts.location(retrace.file, retrace.range);
            let scope = Caller { file: retrace.file, scope: retrace.scope };
            let finding = Finding::new(&CHECK.rule, CHECK.rule.level, location, message)
                .in_scope(graph.facts.scope_name(scope))
                .label(graph.facts.location(retrace.file, retrace.around), label)
                .help(help);
            findings.push(finding);
        }
    }
    findings
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// An argument is a Python number that changes.
    Number,
    /// The shape of an argument changes.
    Shape,
    /// The function is made anew.
    Made,
}

/// A call that makes a new trace in each turn of a loop.
struct Retrace {
    file: FileId,
    scope: crate::semantic::ScopeId,
    range: TextRange,
    around: TextRange,
    /// How often the loop turns, if that is known.
    turns: Option<i64>,
    why: Why,
}

/// Code that is traced at each of its calls, with all that it calls.
pub(super) fn retraced(facts: &Facts<'_>, tracing: &Tracing) -> FxHashSet<Caller> {
    let mut first: FxHashSet<Caller> = FxHashSet::default();
    for &caller in tracing.scopes() {
        let found = retraces(facts, tracing, caller);
        let calls = facts.function_of(caller).map_or(0, |function| {
            let own = facts.incoming(function).iter();
            own.filter(|edge| !Facts::is_call_back(edge) && tracing.get(edge.caller).is_none()).count()
        });
        if !found.is_empty() && (found.iter().any(|own| own.why == Why::Made) || calls == 1) {
            first.insert(caller);
        }
    }
    let of_first =
        |&caller: &Caller| tracing.tracer(caller).is_some_and(|(tracer, _, _)| first.contains(&tracer));
    tracing.scopes().iter().copied().filter(of_first).collect()
}

fn retraces(facts: &Facts<'_>, tracing: &Tracing, caller: Caller) -> Vec<Retrace> {
    let Some(traced) = tracing.get(caller) else { return Vec::new() };
    let Reason::Given(file, tracer) = traced.reason else { return Vec::new() };
    if !facts.is_wrapper(file, tracer) {
        return Vec::new();
    }
    let Some(function) = facts.function_of(caller) else { return Vec::new() };
    let mut found = Vec::new();
    for edge in facts.incoming(function) {
        if Facts::is_call_back(edge) || tracing.get(edge.caller).is_some() {
            continue;
        }
        let Some(id) = edge.call else { continue };
        let home = facts.module(edge.caller.file);
        let call = home.call(id);
        let Some(around) = loop_around(home, call.statement) else { continue };
        let statement = home.statement(around);
        let turns = turns(facts, edge.caller.file, around);
        let is_made_within = edge.caller.file == file
            && facts.module(file).call(tracer).scope == call.scope
            && statement.range.contains_range(facts.module(file).call(tracer).range);
        let retrace = |range: TextRange, around: TextRange, why: Why| Retrace {
            file: edge.caller.file,
            scope: call.scope,
            range,
            around,
            turns,
            why,
        };
        if is_made_within {
            let range = facts.module(file).call(tracer).range;
            found.push(retrace(range, statement.header, Why::Made));
            continue;
        }
        if has_signature(facts, file, tracer) {
            continue;
        }
        for argument in &call.arguments {
            if is_counter(facts, edge.caller.file, argument.value) {
                found.push(retrace(argument.range, statement.header, Why::Number));
            } else if has_changing_shape(facts, edge.caller.file, argument.value) {
                found.push(retrace(argument.range, statement.header, Why::Shape));
            }
        }
    }
    found
}

impl Facts<'_> {
    /// Whether a call gives back the traced form of what it is given: `tf.function(f)`, `@tf.function(...)`.
    #[must_use]
    pub fn is_wrapper(&self, file: FileId, call: CallId) -> bool {
        self.is_decorator(file, call)
            || self
                .called_symbols(file, call)
                .any(|symbol| symbol.has(Effect::Traces) && matches!(symbol.returns(), Returns::Wrapped(_)))
    }
}

fn has_signature(facts: &Facts<'_>, file: FileId, tracer: CallId) -> bool {
    let module = facts.module(file);
    let has = |id: CallId| {
        let call: &Call = module.call(id);
        facts
            .called_symbols(file, id)
            .any(|symbol| facts.argument(file, call, symbol, "input_signature").is_some())
    };
    has(tracer) || matches!(module.value(module.call(tracer).callee).value, Value::Call(made) if has(made))
}

/// The innermost loop statement around a statement in its scope.
fn loop_around(module: &Module, statement: StatementId) -> Option<StatementId> {
    let scope = module.statement(statement).scope;
    module
        .ancestor_ids(statement)
        .take_while(|&id| module.statement(id).scope == scope)
        .find(|&id| matches!(module.statement(id).kind, StatementKind::For | StatementKind::While))
}

/// How often a loop over `range` turns, if its bound is a literal.
fn turns(facts: &Facts<'_>, file: FileId, around: StatementId) -> Option<i64> {
    let module = facts.module(file);
    let branch = module
        .scope(module.statement(around).scope)
        .flow
        .blocks
        .iter()
        .find_map(|block| block.branch.filter(|branch| branch.statement == around))?;
    match &module.value(branch.condition?).value {
        Value::Call(call) => {
            let call = module.call(*call);
            let bound = |index: usize| match module.value(call.arguments.get(index)?.value).value {
                Value::Constant(Constant::Int(bound)) => Some(bound),
                _ => None,
            };
            match call.arguments.len() {
                1 => bound(0),
                2 => Some(bound(1)? - bound(0)?),
                _ => None,
            }
        }
        Value::Display(_, elements) => i64::try_from(elements.len()).ok(),
        _ => None,
    }
}

/// Whether a value is a Python number that is another one in each turn of a loop: what `range` or `enumerate`
/// gives, or a counter.
fn is_counter(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    let module = facts.module(file);
    let number = |value: ValueId| matches!(module.value(value).value, Value::Constant(Constant::Int(_)));
    // `2 * i + 1`
    let counted = std::iter::successors(Some(value), |&value| match module.value(value).value {
        Value::Operator { operator: Operator::Binary(_), left, right } if number(right) => Some(left),
        Value::Operator { operator: Operator::Binary(_), left, right } if number(left) => Some(right),
        _ => None,
    });
    let value = counted.last().unwrap_or(value);
    let counts = |iterable: ValueId, numbers_first: bool| match module.value(iterable).value {
        Value::Call(call) => facts.called_builtins(file, call).any(|symbol| {
            symbol.has(Effect::Converts)
                && (symbol.has(Effect::ReadsValue) == numbers_first)
                && symbol.is_class()
                && (!numbers_first || symbol.parameter("start").is_some())
        }),
        _ => false,
    };
    match &module.value(value).value {
        Value::Iteration(iterable) => counts(*iterable, false),
        Value::Unpack { base, index: Some(0), .. } => match module.value(*base).value {
            Value::Iteration(iterable) => counts(iterable, true),
            _ => false,
        },
        Value::Phi(values) => {
            let steps = |own: ValueId| match module.value(own).value {
                Value::Operator { operator: Operator::InPlace(_) | Operator::Binary(_), left, right } => {
                    left == value && number(right)
                }
                _ => false,
            };
            values.len() == 2 && values.iter().any(|&own| steps(own)) && values.iter().any(|&own| number(own))
        }
        _ => false,
    }
}

/// Whether a tensor is made with a shape that changes: `tf.zeros([n])` in a loop over `range`.
fn has_changing_shape(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    let module = facts.module(file);
    let Value::Call(id) = module.value(value).value else { return false };
    let call = module.call(id);
    facts.called_symbols(file, id).any(|symbol| {
        facts.argument(file, call, symbol, "shape").is_some_and(|shape| {
            match &module.value(shape.value).value {
                Value::Display(_, elements) => elements.iter().any(|element| match *element {
                    Element::At(_, value) => is_counter(facts, file, value),
                    _ => false,
                }),
                _ => is_counter(facts, file, shape.value),
            }
        })
    })
}
