//! The texts that parameters have where a call leaves them out: `def write(path="data.npy")`. The analysis of dependences leaves
//! them out, since a literal stands for all that are written alike.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Facts, Place, for_left_out};
use crate::semantic::{CallId, Constant, Value};

/// Parameters and the texts that they have by default.
#[derive(Debug, Default)]
pub(in crate::distribute) struct DefaultTexts {
    /// The text of each parameter.
    texts: FxHashMap<Place, Place>,
    /// The parameters that have a text.
    parameters: FxHashMap<Place, Vec<Place>>,
}

impl DefaultTexts {
    /// Those that some call of a project leaves out.
    pub(in crate::distribute) fn of(facts: &Facts<'_>) -> Self {
        let mut own = Self::default();
        for file in facts.files() {
            let module = facts.module(file);
            for (id, call) in module.calls.iter().enumerate() {
                for function in facts.called_functions(file, CallId::new(id)) {
                    let target = facts.module(function.file);
                    let is_text =
                        |value| matches!(target.value(value).value, Value::Constant(Constant::Str(_)));
                    for_left_out(facts, file, call, function, is_text, |default, parameter| {
                        let parameter = target.function(function.function).parameters[parameter].value;
                        own.texts.insert((function.file, parameter), (function.file, default));
                    });
                }
            }
        }
        for (&parameter, &text) in &own.texts {
            own.parameters.entry(text).or_default().push(parameter);
        }
        own
    }

    /// The texts that parameters among these values have, without those that are among them.
    pub(super) fn of_parameters(&self, places: &[Place]) -> Vec<Place> {
        let texts: FxHashSet<Place> =
            places.iter().filter_map(|place| self.texts.get(place)).copied().collect();
        if texts.is_empty() {
            return Vec::new();
        }
        let known: FxHashSet<Place> = places.iter().copied().collect();
        texts.difference(&known).copied().collect()
    }

    /// These texts, and the parameters that have one of them.
    pub(super) fn with_parameters(&self, texts: &[Place]) -> Vec<Place> {
        let parameters = texts.iter().filter_map(|text| self.parameters.get(text)).flatten();
        texts.iter().chain(parameters).copied().collect()
    }
}
