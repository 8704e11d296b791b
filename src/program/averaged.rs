//! What rests on an average over the ranks that the program takes by hand.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::influence::Place;
use crate::api::Effect;
use crate::semantic::CallId;

impl Facts<'_> {
    /// All values that rest on an average over the ranks, other than by a tape whose gradients a training loop takes.
    /// Found once, when it is first asked for: a framework has many loops, and most programs have no such average.
    #[must_use]
    pub fn averaged(&self) -> &FxHashSet<Place> {
        self.averaged.get_or_init(|| {
            let loops = self.programs.iter().flat_map(|program| &program.loops);
            let of_tapes: FxHashSet<_> = loops.flat_map(|own| own.gradients.iter().copied()).collect();
            let mut averages: Vec<Place> = Vec::new();
            for file in self.files() {
                for (index, call) in self.module(file).calls.iter().enumerate() {
                    let id = CallId::new(index);
                    if !of_tapes.contains(&(file, id))
                        && self.called_symbols(file, id).any(|symbol| symbol.has(Effect::Averages))
                    {
                        averages.push((file, call.result));
                    }
                }
            }
            self.influence().forwards(&averages, |_| false)
        })
    }
}
