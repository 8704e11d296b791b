//! Averaged gradients that something of the rank's own is mixed into before they are applied: `g + noise`, `g / loss`.

use super::super::values::{Cause, Difference, agrees, is_distributed};
use super::Replicas;
use crate::api::{Effect, Kind};
use crate::program::{ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Operator, Value};

/// What of gradients goes into a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gradients {
    None,
    /// All ranks have the same.
    Averaged,
    /// `gradients-not-averaged` speaks of them.
    Raw,
}

impl Replicas<'_, '_> {
    /// Why the averaged gradients that a call applies differ between ranks.
    pub(super) fn applied(&self, file: FileId, id: CallId) -> Option<Difference> {
        let facts = self.model.facts;
        if !facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::AppliesGradients)) {
            return None;
        }
        let given: Vec<Place> =
            facts.module(file).call(id).arguments.iter().map(|own| (file, own.value)).collect();
        let differs = given.iter().any(|&place| self.model.difference(place).is_some());
        if !differs || self.gradients(&given) != Gradients::Averaged {
            return None;
        }
        let mut behind: Vec<Place> =
            facts.influence().backwards(&given, |place| agrees(facts, place)).into_iter().collect();
        behind.sort_unstable();
        behind.into_iter().find_map(|place| self.mixed(place))
    }

    /// Why what averaged gradients are combined with differs, if they are and it does.
    fn mixed(&self, place: Place) -> Option<Difference> {
        let facts = self.model.facts;
        let (file, value) = place;
        let decided = self.model.difference(place).filter(|own| own.cause != Cause::Files)?;
        let parts: Vec<Place> = match &facts.module(file).value(value).value {
            Value::Operator { operator: Operator::Binary(_) | Operator::InPlace(_), left, right, .. } => {
                vec![(file, *left), (file, *right)]
            }
            // `tf.add(gradient, noise)`
            &Value::Call(call) if facts.called_symbols(file, call).next().is_some() => {
                facts.module(file).call(call).arguments.iter().map(|own| (file, own.value)).collect()
            }
            // `if loss > limit: gradients = zeros`
            Value::Phi(parts) => {
                let parts: Vec<Place> = parts.iter().map(|&part| (file, part)).collect();
                let is_decided = parts.iter().all(|&part| self.model.difference(part).is_none());
                let is_average = self.gradients(&parts) == Gradients::Averaged;
                return (is_decided && is_average).then_some(decided);
            }
            _ => return None,
        };
        let is_own = |part: Place| {
            let own = self.model.difference(part).filter(|own| own.cause != Cause::Files)?;
            (self.gradients(&[part]) == Gradients::None).then_some(own)
        };
        let is_average = |part: Place| {
            self.model.difference(part).is_none() && self.gradients(&[part]) == Gradients::Averaged
        };
        if !parts.iter().any(|&part| is_average(part)) {
            return None;
        }
        // `tf.nn.dropout(gradient, 0.1)`
        if decided.source == place && facts.gives(place, &[Effect::DrawsRandom]) {
            return Some(decided);
        }
        parts.into_iter().find_map(is_own)
    }

    fn gradients(&self, places: &[Place]) -> Gradients {
        let facts = self.model.facts;
        let behind = facts.influence().backwards(places, |place| agrees(facts, place));
        let mut found = Gradients::None;
        for place in behind {
            if !facts.gives(place, &[Effect::TakesGradients, Effect::Agrees]) {
                continue;
            }
            if !agrees(facts, place) {
                return Gradients::Raw;
            }
            found = Gradients::Averaged;
        }
        found
    }

    /// The variables that averaged gradients are taken of: what they hold is meant to be the same on all ranks.
    pub(super) fn sources_of_averages(&self) -> Vec<ObjectId> {
        let facts = self.model.facts;
        let mut found = Vec::new();
        for (file, id) in facts.calls_with(Effect::TakesGradients) {
            if !self.model.files.contains(&file) || !is_distributed(facts, file, id) {
                continue;
            }
            let arguments = facts.module(file).call(id).arguments.iter().skip(1);
            let given: Vec<Place> = arguments.map(|own| (file, own.value)).collect();
            let objects = self.behind(&given).into_iter().map(|own| self.objects[own]);
            found.extend(objects.filter(|&own| facts.kind(own) == Some(Kind::Variable)));
        }
        found
    }
}
