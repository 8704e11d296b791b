//! Outputs that tell only what is known of the trace itself: fixed text, shapes and types. People write such lines to see
//! when a function is traced.

use super::natures::is_of_tensors;
use super::{Graph, Nature};
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{BuiltinType, Call, CallId, Element, Method, Operator, Value, ValueId};

/// What measures a tensor, as a tensor.
const MEASURES: [&str; 3] = ["tensorflow.rank", "tensorflow.shape", "tensorflow.size"];

/// How deep texts are made of others.
const DEPTH: u32 = 4;

/// Whether a call puts out nothing but that.
pub(super) fn is_output(graph: &Graph<'_>, caller: Caller, call: &Call) -> bool {
    let module = graph.module(caller.file);
    let tells = |value: ValueId| graph.tells_of_the_trace(caller.file, value, DEPTH);
    let told: Vec<Told> = call.arguments.iter().map(|own| tells(own.value)).collect();
    graph.staging.around(module, caller.file, call.statement).next().is_none() && all(told) != Told::More
}

/// What a value tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    /// What tensors are.
    Trace,
    /// The same text always.
    Fixed,
    /// The turn of a loop of Python's, which says of what the rest tells.
    Turn,
    /// Something else.
    More,
}

/// What is told by all of these together: the turn of a loop tells nothing by itself.
fn all(told: Vec<Told>) -> Told {
    let tells_of_trace = told.contains(&Told::Trace);
    match told.into_iter().max() {
        Some(Told::More) => Told::More,
        Some(_) if tells_of_trace => Told::Trace,
        Some(Told::Turn) => Told::More,
        _ => Told::Fixed,
    }
}

impl Graph<'_> {
    fn tells_of_the_trace(&self, file: FileId, value: ValueId, depth: u32) -> Told {
        let module = self.module(file);
        let Some(depth) = depth.checked_sub(1) else { return Told::More };
        let tells = |value: ValueId| self.tells_of_the_trace(file, value, depth);
        let parts = |values: Vec<ValueId>| all(values.into_iter().map(tells).collect());
        match &module.value(value).value {
            Value::Constant(_) => Told::Fixed,
            // `x.shape`, whatever else `x` may be.
            Value::Attribute { base, name, .. }
                if self.nature(file, *base).may_be_of_tensors()
                    && is_of_tensors(self.facts, module.names.text(*name)) =>
            {
                Told::Trace
            }
            Value::Call(own) if self.calls_any(file, *own, &MEASURES) => Told::Trace,
            // `tf.shape(x)[0]`
            Value::Item { base, .. } if tells(*base) == Told::Trace => Told::Trace,
            _ if self.is_turn(file, value) => Told::Turn,
            // The last turn, behind the loop.
            Value::Phi(_) if module.joined(value).into_iter().all(|own| tells(own) == Told::Turn) => {
                Told::Turn
            }
            // `f"{x.shape}"`
            Value::Instance(BuiltinType::Str) => {
                let operands = self.facts.influence().operands((file, value));
                all(operands.map(|(file, own)| self.tells_of_the_trace(file, own, depth)).collect())
            }
            // `"{}".format(x.shape)`
            Value::Call(own) if self.is_method_of_text(file, *own) => {
                parts(module.call(*own).arguments.iter().map(|own| own.value).collect())
            }
            // `"%s" % x.shape`
            Value::Operator { operator: Operator::Binary(method), left, right }
                if *method == Method::MOD && self.text(file, *left).is_some() =>
            {
                match &module.value(*right).value {
                    Value::Display(_, elements) => {
                        let elements = elements.iter().map(|own: &Element| own.written_out());
                        elements.collect::<Option<Vec<_>>>().map_or(Told::More, parts)
                    }
                    _ => tells(*right),
                }
            }
            _ if self.nature(file, value) == Nature::OBJECT => Told::Trace,
            _ => Told::More,
        }
    }

    /// Whether a value is what a loop of Python's is at, or nothing in front of its first turn.
    fn is_turn(&self, file: FileId, value: ValueId) -> bool {
        let module = self.module(file);
        let is_iteration = |own: ValueId| matches!(module.value(own).value, Value::Iteration(_));
        let is_of_loop = match module.value(value).value {
            Value::Unbound => true,
            Value::Unpack { base, .. } => is_iteration(base),
            _ => is_iteration(value),
        };
        is_of_loop && !self.nature(file, value).may_be_of_tensors()
    }

    /// Whether a call is of a method of a text that is written out.
    fn is_method_of_text(&self, file: FileId, call: CallId) -> bool {
        let receiver = self.facts.receiver(file, self.module(file).call(call));
        receiver.is_some_and(|receiver| self.text(file, receiver).is_some())
    }
}
