//! The variables of models and layers by the names under which Keras keeps them, where nobody knows the layer itself:
//! `model.layers[1].kernel`.

use crate::api::Kind;
use crate::program::Facts;
use crate::project::FileId;
use crate::semantic::{Value, ValueId};

/// The attributes of models and layers that have their variables, in lists.
pub(super) const VARIABLES: [&str; 4] = ["variables", "weights", "trainable_variables", "trainable_weights"];

/// The attributes of layers that are one variable each.
pub(super) const SINGLE: [&str; 6] = ["beta", "bias", "embeddings", "gamma", "kernel", "recurrent_kernel"];

/// Whether a value is one of these attributes of what may be a layer or a model.
pub(super) fn is_of_layer(facts: &Facts<'_>, file: FileId, value: ValueId, names: &[&str]) -> bool {
    let module = facts.module(file);
    let Value::Attribute { base, name, .. } = module.value(value).value else { return false };
    let may_be = |kind| facts.may_be(file, base, kind);
    names.contains(&module.names.text(name))
        && (facts.is_unknown(file, base) || may_be(Kind::Layer) || may_be(Kind::Model))
}
