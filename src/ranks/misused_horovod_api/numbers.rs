//! Numbers that are no tensors.

use super::{Misuse, Site};
use crate::api::Effect;
use crate::program::{Literal, Object};
use crate::semantic::BuiltinType;

/// `horovod.tensorflow` asks what it averages for its `dtype`; its module for Keras makes a tensor first.
pub(super) fn misuse(site: &Site<'_>) -> Option<Misuse> {
    let symbol = site.horovods().filter(|symbol| symbol.has(Effect::Averages))?;
    let argument = site.argument(symbol, "tensor")?;
    let is_number = |object| {
        matches!(
            object,
            Object::Literal(Literal::Int(_) | Literal::Bool(_))
                | Object::Type(BuiltinType::Int | BuiltinType::Float | BuiltinType::Bool)
        )
    };
    if !site.is_always(argument.value, |_, object| is_number(object)) {
        return None;
    }
    let message = format!("`{}` takes a tensor and not a number of Python's", symbol.last_name());
    Some(Misuse::fails(argument.range, message, "make a tensor of it: `tf.constant(...)`"))
}
