//! Programs whose ranks train models of their own on purpose: each saves its own under a name with its number, and nothing
//! averages what they learn.

use super::facts::Facts;
use super::influence::Place;
use super::programs::Program;
use crate::api::Effect;
use crate::project::FileId;
use crate::semantic::CallId;

/// The library whose functions write arrays.
const ARRAYS: &str = "numpy";

impl Facts<'_> {
    /// Whether each rank of a program keeps the model that it trains: the members of an ensemble, one problem for each.
    #[must_use]
    pub fn keeps_models_apart(&self, program: &Program) -> bool {
        let runs = |&(file, call): &(FileId, CallId)| self.runs(program, file, call);
        let learns_together = [Effect::Distributes, Effect::Averages]
            .into_iter()
            .any(|effect| self.calls_with(effect).any(|own| runs(&own)));
        !learns_together && {
            let writes = self.calls_with(Effect::WritesFile).filter(runs);
            let mut results = writes.filter(|&(file, call)| self.writes_results(file, call));
            results.any(|(file, call)| self.is_named_by_rank(file, call))
        }
    }

    fn writes_results(&self, file: FileId, call: CallId) -> bool {
        self.concerns_weights(file, self.module(file).call(call))
            || self.called_symbols(file, call).any(|symbol| symbol.package() == ARRAYS)
    }

    fn is_named_by_rank(&self, file: FileId, call: CallId) -> bool {
        let arguments = &self.module(file).call(call).arguments;
        let given: Vec<Place> = arguments.iter().map(|own| (file, own.value)).collect();
        let behind = self.influence().backwards(&given, |_| false);
        behind.into_iter().any(|place| self.gives(place, &[Effect::ReadsRank]))
    }
}
