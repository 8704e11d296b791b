//! Which values depend on which: slices forwards and backwards through expressions, calls and returns.
//!
//! Value flow tells what an object *is*; a gradient that went through clipping and `zip` is no object that it
//! knows, but still depends on the tape. A slice follows operands, arguments to results, arguments to
//! parameters, returned values to the calls that gave those, and stores to the reads of the same attribute of the same
//! objects.

mod collector;
mod opaque;
mod walk;

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread;

use rustc_hash::{FxHashMap, FxHashSet};

use walk::{Edge, Step, walk};

use super::facts::Facts;
use super::numbering::{Lists, Numbering};
use crate::project::FileId;
use crate::semantic::ValueId;

/// So many files are worth a thread.
const SHARE: usize = 100;

/// A value with its file.
pub type Place = (FileId, ValueId);

/// The dependences between the values of the concerned files.
#[derive(Debug, Default)]
pub struct Influence {
    values: Numbering,
    edges: Vec<Edge>,
    forwards: OnceLock<Lists<Step>>,
    backwards: OnceLock<Lists<Step>>,
}

impl Influence {
    /// Collects the dependences.
    #[must_use]
    pub fn new(facts: &Facts<'_>) -> Self {
        let values = Numbering::new(facts.modules.list.iter().map(|module| module.values.len()));
        let edges = collector::edges(facts, &values);
        Self { values, edges, forwards: OnceLock::new(), backwards: OnceLock::new() }
    }

    fn forward_steps(&self) -> &Lists<Step> {
        self.forwards.get_or_init(|| walk::forwards(self.values.count(), &self.edges))
    }

    fn backward_steps(&self) -> &Lists<Step> {
        self.backwards.get_or_init(|| walk::backwards(self.values.count(), &self.edges))
    }

    /// All that depends on the values, themselves included; what depends on it only through a place that `stops`
    /// is left out.
    #[must_use]
    pub fn forwards(&self, from: &[Place], stops: impl FnMut(Place) -> bool) -> FxHashSet<Place> {
        self.slice(self.forward_steps(), from, stops).into_iter().collect()
    }

    /// All that the values depend on, themselves included, up to places that `stops`.
    #[must_use]
    pub fn backwards(&self, from: &[Place], stops: impl FnMut(Place) -> bool) -> FxHashSet<Place> {
        self.slice(self.backward_steps(), from, stops).into_iter().collect()
    }

    /// What [`Self::forwards`] finds, each once, in no order: for who goes through them and asks for none.
    #[must_use]
    pub fn list_forwards(&self, from: &[Place], stops: impl FnMut(Place) -> bool) -> Vec<Place> {
        self.slice(self.forward_steps(), from, stops)
    }

    /// The same of [`Self::backwards`].
    #[must_use]
    pub fn list_backwards(&self, from: &[Place], stops: impl FnMut(Place) -> bool) -> Vec<Place> {
        self.slice(self.backward_steps(), from, stops)
    }

    /// All that depends on the sources, themselves included, each with the source that is nearest; not what
    /// depends on them only through a place that `stops`.
    #[must_use]
    pub fn nearest_sources(
        &self,
        sources: &[Place],
        stops: impl Fn(Place) -> bool,
    ) -> FxHashMap<Place, Place> {
        let mut nearest: FxHashMap<Place, Place> = FxHashMap::default();
        let told = sources.iter().map(|&source| (self.number(source), (source, source)));
        walk(
            self.forward_steps(),
            self.values.count(),
            told,
            |(place, _)| stops(place),
            |number, (before, source)| {
                let place = self.place(number, before.0);
                nearest.insert(place, source);
                (place, source)
            },
        );
        nearest
    }

    /// The values that are computed from a value in one step.
    pub fn dependents(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        self.next(self.forward_steps(), place)
    }

    /// The values that a value is computed from in one step.
    pub fn operands(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        self.next(self.backward_steps(), place)
    }

    fn slice(&self, steps: &Lists<Step>, from: &[Place], mut stops: impl FnMut(Place) -> bool) -> Vec<Place> {
        let mut found = Vec::new();
        walk(
            steps,
            self.values.count(),
            from.iter().map(|&place| (self.number(place), place)),
            &mut stops,
            |number, before| {
                let place = self.place(number, before.0);
                found.push(place);
                place
            },
        );
        found
    }

    fn next<'s>(&'s self, steps: &'s Lists<Step>, place: Place) -> impl Iterator<Item = Place> + 's {
        let next = steps.of(self.number(place) as usize).iter();
        next.map(move |step| self.place(step.to, place.0))
    }

    fn number(&self, (file, value): Place) -> u32 {
        number(&self.values, (file, value))
    }

    /// The value of a number, which is likely to be one of this file's.
    fn place(&self, number: u32, file: FileId) -> Place {
        let number = number as usize;
        // Most dependences stay in their file.
        let own = self.values.range(file);
        if own.contains(&number) {
            return (file, ValueId::new(number - own.start));
        }
        let (file, index) = self.values.place(number).expect("the edges are between values");
        (file, ValueId::new(index))
    }
}

/// The number of a value.
fn number(values: &Numbering, (file, value): Place) -> u32 {
    u32::try_from(values.of(file, value.index())).expect("fewer values than 2^32")
}

/// What work on the concerned files finds in all of them, in their order; each thread has a share of the files.
///
/// The threads are none of rayon's: who waits for those may take up other work meanwhile, which asks for the very thing
/// that is being found.
pub(super) fn in_shares<T: Send>(facts: &Facts<'_>, work: impl Fn(&[FileId]) -> Vec<T> + Sync) -> Vec<T> {
    let files: Vec<FileId> = facts.files().collect();
    let share = files.len().div_ceil(rayon::current_num_threads()).max(SHARE);
    let mut shares = files.chunks(share);
    let first = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = shares.map(|files| scope.spawn(|| work(files))).collect();
        let mut found = work(first);
        for other in others {
            found.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        found
    })
}
