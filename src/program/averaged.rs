//! What rests on an average over the ranks that the program takes by hand.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::influence::Place;
use crate::api::Effect;

impl Facts<'_> {
    /// All values that rest on an average over the ranks, other than by a tape whose gradients a training loop takes.
    /// Found once, when it is first asked for: a framework has many loops, and most programs have no such average.
    #[must_use]
    pub fn averaged(&self) -> &FxHashSet<Place> {
        self.averaged.get_or_init(|| {
            let loops = self.programs.iter().flat_map(|own| own.loops.iter().chain(&own.steps_of_fit));
            let of_tapes: FxHashSet<_> = loops.flat_map(|own| own.gradients.iter().copied()).collect();
            let averages = self.calls_with(Effect::Averages).filter(|call| !of_tapes.contains(call));
            let results = averages.map(|(file, call)| (file, self.module(file).call(call).result));
            let averages: Vec<Place> = results.collect();
            self.influence().forwards(&averages, |_| false)
        })
    }
}
