//! Python asks a tensor for its value while there is none: the graph has not run.

use super::{Graph, graph_check};
use crate::api::{Effect, Symbol};
use crate::finding::Finding;
use crate::program::{Caller, Object};
use crate::project::FileId;
use crate::semantic::{
    BranchKind, Call, CallId, Container, Element, Method, Operator, StatementKind, StoreKey, Value, ValueId,
};
use crate::syntax::TextRange;

graph_check!("HVD409", "eager-call-on-tensor", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.scopes() {
        let mut report = |range: TextRange, message: String, help: &str| {
            findings.push(graph.finding(&CHECK, caller, range, message).help(help));
        };
        calls(graph, caller, &mut report);
        values(graph, caller, &mut report);
        statements(graph, caller, &mut report);
    }
    findings
}

/// Takes what is found: where, what is wrong, what to do.
type Report<'r> = &'r mut dyn FnMut(TextRange, String, &str);

fn calls(graph: &Graph<'_>, caller: Caller, report: Report<'_>) {
    let file = caller.file;
    let module = graph.module(file);
    for (index, call) in module.calls.iter().enumerate().filter(|(_, call)| call.scope == caller.scope) {
        let id = CallId::new(index);
        if graph.facts.leaves_graph(file, id) || graph.facts.is_guarded(caller, call.block) {
            continue;
        }
        if let Some(receiver) = graph.facts.receiver(file, call)
            && reads_value(graph, file, call, receiver)
            && !is_chosen(graph, caller, call)
        {
            let what = graph.named(file, receiver, "this");
            let message = format!("{what} is a tensor of the graph, which has no value yet");
            report(
                call.range,
                message,
                "use the tensor itself, or ask for the value outside of the traced function",
            );
            continue;
        }
        if let Some(symbol) = graph.facts.called_symbols(file, id).find(|own| own.has(Effect::RefusesTracing))
        {
            let name = symbol.last_name();
            let message = format!("`{name}` runs a traced function of its own, and raises in traced code");
            report(call.range, message, "call the model itself, or move this out of the traced function");
            continue;
        }
        let is_tensor = |value: ValueId| graph.nature(file, value).is_symbolic();
        let given = || call.arguments.iter().find(|argument| is_tensor(argument.value));
        if let Some(symbol) = called(graph, file, id).find(|symbol| needs_value(graph, symbol))
            && let Some(argument) = given()
        {
            let what = graph.named(file, argument.value, "the argument");
            let name = symbol.last_name();
            let message = format!("`{name}` needs the value of {what}, a tensor of the graph");
            report(call.range, message, "use the function of TensorFlow that does the same");
        } else if let Some(symbol) = called(graph, file, id).find(|own| own.has(Effect::ReadsElements))
            && call.arguments.iter().any(|argument| has_tensors(graph, file, argument.value))
        {
            let name = symbol.last_name();
            let message = format!("`{name}` needs the values of its elements, tensors of the graph");
            report(
                call.range,
                message,
                "use `tf.reduce_any`, `tf.reduce_max` and the like on `tf.stack(...)`",
            );
        } else if is_formatted(graph, file, id, call) && given().is_some() {
            let message = "a tensor of the graph can't be formatted as a number".to_owned();
            report(call.range, message, "use `tf.print` or `tf.strings.format`");
        }
    }
}

/// `x.numpy()`: of a tensor, or a method that only tensors have of something unknown.
fn reads_value(graph: &Graph<'_>, file: FileId, call: &Call, receiver: ValueId) -> bool {
    let module = graph.module(file);
    let Value::Attribute { name, .. } = module.value(call.callee).value else { return false };
    let nature = graph.nature(file, receiver);
    let tensor = graph.facts.library.lookup("tensorflow.Tensor");
    let member = tensor.and_then(|tensor| graph.facts.library.member(tensor, module.names.text(name)));
    member.is_some_and(|member| member.has(Effect::ReadsValue))
        && (nature.is_of_tensors() && !nature.has(super::Nature::EAGER) || nature.is_unknown())
}

/// Whether Python decides by a call whether code runs: it may ask whether there is a graph.
fn is_chosen(graph: &Graph<'_>, caller: Caller, call: &Call) -> bool {
    let module = graph.module(caller.file);
    graph.facts.conditions(caller, call.block).iter().any(|condition| {
        let Some(mut value) = condition.branch.condition else { return true };
        if let Value::Operator { operator: Operator::Not, left, .. } = module.value(value).value {
            value = left;
        }
        matches!(module.value(value).value, Value::Call(_)) && !graph.nature(caller.file, value).is_tensor()
    })
}

fn called<'g>(graph: &'g Graph<'_>, file: FileId, call: CallId) -> impl Iterator<Item = &'g Symbol> {
    graph.facts.called_symbols(file, call).chain(graph.facts.called_builtins(file, call))
}

/// Whether a function needs values: one of Python's own, of `NumPy`, of `math`, or `tf.constant`.
fn needs_value(graph: &Graph<'_>, symbol: &Symbol) -> bool {
    (symbol.has(Effect::ReadsValue) || graph.facts.is_of_numbers(symbol)) && !symbol.has(Effect::ReadsType)
}

/// Whether a list that is written out, or what a comprehension gives, has tensors.
fn has_tensors(graph: &Graph<'_>, file: FileId, value: ValueId) -> bool {
    let Value::Display(Container::List | Container::Tuple | Container::Set | Container::Generator, elements) =
        &graph.module(file).value(value).value
    else {
        return false;
    };
    elements.iter().any(|element| match *element {
        Element::At(_, value) | Element::Any(value) => graph.nature(file, value).is_symbolic(),
        _ => false,
    })
}

/// `"{:.2f}".format(x)`
fn is_formatted(graph: &Graph<'_>, file: FileId, id: CallId, call: &Call) -> bool {
    let Some(receiver) = graph.facts.receiver(file, call) else { return false };
    graph
        .text(file, receiver)
        .is_some_and(|text| text.contains("{:") || text.contains(":.") && text.contains('{'))
        && graph
            .facts
            .callees(file, id)
            .iter()
            .any(|edge| matches!(graph.facts.solution.object(edge.callee), Object::BuiltinMethod(..)))
}

fn values(graph: &Graph<'_>, caller: Caller, report: Report<'_>) {
    let file = caller.file;
    let module = graph.module(file);
    let is_tensor = |value: ValueId| graph.nature(file, value).is_symbolic();
    for (index, value) in module.values.iter().enumerate().filter(|(_, value)| value.scope == caller.scope) {
        match &value.value {
            Value::Operator { operator: Operator::Compare(method), left, right }
                if *method == Method::CONTAINS && (is_tensor(*left) || is_tensor(*right)) =>
            {
                let message = "`in` compares in Python, which needs the value of a tensor".to_owned();
                report(value.range, message, "use `tf.reduce_any(x == values)`");
            }
            Value::Operator { operator: Operator::Binary(method), left, right }
                if *method == Method::MOD && graph.text(file, *left).is_some_and(has_numeric_conversion) =>
            {
                let is_given = match &module.value(*right).value {
                    Value::Display(Container::Tuple, elements) => elements
                        .iter()
                        .any(|element| matches!(*element, Element::At(_, value) if is_tensor(value))),
                    _ => is_tensor(*right),
                };
                if is_given {
                    let message = "a tensor of the graph can't be formatted as a number".to_owned();
                    report(value.range, message, "use `tf.print` or `tf.strings.format`");
                }
            }
            Value::Unpack { base, index: Some(0), .. }
                if is_tensor(*base) && !is_bound_under_guard(graph, caller, ValueId::new(index)) =>
            {
                let what = graph.named(file, *base, "this");
                let message = format!("{what} is a tensor of the graph, which can't be unpacked in Python");
                report(value.range, message, "use `tf.unstack`, or take the parts by their indices");
            }
            Value::Item { base, key, .. } if is_tensor(*key) && is_of_python(graph, file, *base) => {
                let what = graph.named(file, *base, "a container");
                let message = format!("a tensor is no index or key of {what}, which is no tensor");
                report(value.range, message, "use `tf.gather` on a tensor of the values");
            }
            Value::Display(container, elements) => {
                let is_key = |element: &Element| match *element {
                    Element::Key(key, _) => is_tensor(key),
                    Element::At(_, value) | Element::Any(value) => {
                        *container == Container::Set && is_tensor(value)
                    }
                    _ => false,
                };
                // Those of TensorFlow 1 had one.
                if elements.iter().any(is_key) && !graph.facts.is_of_tensorflow_1(file) {
                    let message = "a tensor has no hash: it is no key and no element of a set".to_owned();
                    report(value.range, message, "use `tensor.ref()` as the key");
                }
            }
            _ => {}
        }
    }
    let scope = &module.scope(caller.scope);
    for &(value, range) in module.formatted.iter().filter(|(_, range)| scope.range.contains_range(*range)) {
        if is_tensor(value) && module.value(value).scope == caller.scope {
            let message = "a tensor of the graph can't be formatted as a number".to_owned();
            report(range, message, "use `tf.print` or `tf.strings.format`");
        }
    }
}

/// Whether a name is bound to a value only where the program has asked what there is: `if isinstance(shape, tuple)`.
fn is_bound_under_guard(graph: &Graph<'_>, caller: Caller, value: ValueId) -> bool {
    let mut definitions =
        graph.module(caller.file).definitions.iter().filter(|own| own.value == value).peekable();
    definitions.peek().is_some() && definitions.all(|own| graph.facts.is_guarded(caller, own.block))
}

/// Whether a value is a container of Python's or an array of `NumPy`, which takes numbers as indices.
fn is_of_python(graph: &Graph<'_>, file: FileId, value: ValueId) -> bool {
    graph.nature(file, value).is_array() || is_container(graph, file, value)
}

fn is_container(graph: &Graph<'_>, file: FileId, value: ValueId) -> bool {
    let objects = graph.facts.solution.values(file, value);
    !objects.is_empty()
        && objects.iter().all(|&object| {
            matches!(
                graph.facts.solution.object(object),
                Object::Container(Container::List | Container::Tuple | Container::Dict, _)
            )
        })
}

/// Whether a format has a conversion that needs a number: `%d`, `%.2f`.
fn has_numeric_conversion(format: &str) -> bool {
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter == '%' {
            let conversion = letters.find(|letter| letter.is_ascii_alphabetic() || *letter == '%');
            if conversion.is_some_and(|conversion| "diouxXeEfFgG".contains(conversion)) {
                return true;
            }
        }
    }
    false
}

fn statements(graph: &Graph<'_>, caller: Caller, report: Report<'_>) {
    let file = caller.file;
    let module = graph.module(file);
    for &(condition, statement) in &module.asserts {
        let own = module.statement(statement);
        if own.scope == caller.scope && graph.nature(file, condition).is_symbolic() {
            let message = "`assert` needs the value of a tensor, which the graph has not".to_owned();
            report(own.range, message, "use `tf.debugging.Assert` or a `tf.debugging.assert_...` function");
        }
    }
    for store in module.stores.iter().filter(|store| store.scope == caller.scope) {
        let nature = graph.nature(file, store.base);
        if matches!(store.key, StoreKey::Item(_) | StoreKey::Slice)
            && nature.is_tensor()
            && nature != super::Nature::VARIABLE
        {
            let what = graph.named(file, store.base, "this");
            let message = format!("{what} is a tensor, whose elements can't be assigned");
            report(store.range, message, "use `tf.tensor_scatter_nd_update`");
        }
    }
    // AutoGraph rewrites the loops of statements, not those of comprehensions.
    for staged in graph.staging.branches.iter().filter(|staged| staged.caller == caller) {
        let is_comprehension = staged.branch.kind == BranchKind::For && !staged.is_statement;
        let is_over_tensor =
            staged.branch.condition.is_some_and(|iterable| graph.nature(file, iterable).is_tensor());
        if is_comprehension && is_over_tensor {
            let statement = module.statement(staged.branch.statement);
            let at = if statement.kind == StatementKind::Function {
                statement.header
            } else {
                staged.branch.range
            };
            let message = "a comprehension iterates in Python, which needs the value of a tensor".to_owned();
            report(at, message, "use `tf.map_fn` or `tf.unstack`, or a `for` statement");
        }
    }
}
