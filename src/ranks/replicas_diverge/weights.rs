//! What methods of variables do to the weights of models: `for weight in model.weights: weight.assign(value)`.

use super::super::change::{Change, Changes};
use super::super::values::Cause;
use super::{Manner, Replicas};
use crate::api::{Effect, Kind};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The attributes of a model that have all that is trained of it.
const ALL: [&str; 4] = ["variables", "weights", "trainable_variables", "trainable_weights"];

impl Replicas<'_, '_> {
    /// `model.layers[0].kernel.assign(value)`: a method of a weight that a layer has. What a layer does with its own
    /// weights may be statistics of its data.
    pub(super) fn of_weight(&mut self, file: FileId, id: CallId, layer: ValueId) -> Option<Changes> {
        let facts = self.model.facts;
        let module = facts.module(file);
        let owners = self.behind(&[(file, layer)]);
        let [owner] = owners[..] else { return None };
        let is_model = matches!(facts.kind(self.objects[owner]), Some(Kind::Model | Kind::Layer));
        if !is_model || !self.trained.contains(&self.objects[owner]) {
            return None;
        }
        let given = module.call(id).arguments.iter();
        let given = given.filter_map(|own| self.model.difference((file, own.value)));
        let worst = given.max_by_key(|own| own.cause).filter(|own| own.cause != Cause::Files);
        let mut holder = layer;
        while let Value::Attribute { base, .. } | Value::Item { base, .. } = module.value(holder).value {
            holder = base;
        }
        let is_own = matches!(module.value(holder).value, Value::Parameter(..));
        if is_own && worst.is_some_and(|own| own.cause != Cause::Rank) {
            return None;
        }
        let at = self.model.at_call(file, id);
        Some(self.assigned(&owners, worst, at, false))
    }

    /// Whether each of a model's variables is given what the ranks have agreed on:
    /// `for variable in model.variables: variable.assign(hvd.broadcast(variable, 0))`.
    pub(super) fn agrees_on_all(&self, file: FileId, id: CallId, of: ValueId) -> bool {
        let facts = self.model.facts;
        let module = facts.module(file);
        let is_all = match module.value(of).value {
            Value::Attribute { base, name, .. } => {
                ALL.contains(&module.names.text(name)) && facts.may_be(file, base, Kind::Model)
            }
            _ => false,
        };
        let arguments = &module.call(id).arguments;
        is_all
            && !arguments.is_empty()
            && arguments.iter().all(|own| facts.gives((file, own.value), &[Effect::Agrees]))
    }

    /// A method of one of several variables.
    pub(super) fn of_part(&mut self, file: FileId, id: CallId, of: ValueId) -> Option<Changes> {
        let call = self.model.facts.module(file).call(id);
        let owners = self.behind(&[(file, of)]);
        let given = call.arguments.iter().filter_map(|own| self.model.difference((file, own.value)));
        let worst = given.max_by_key(|own| own.cause).filter(|own| own.cause != Cause::Files);
        let at = self.model.at_call(file, id);
        let [owner] = owners[..] else { return None };
        if let Some(own) = worst
            && self.is_made_on_all_each_turn(file, id)
        {
            let change = Change::parting(self.culprit(at, Manner::Assigned(own)));
            return Some(std::iter::once((owner, change)).collect());
        }
        Some(self.assigned(&owners, worst, at, false))
    }
}
