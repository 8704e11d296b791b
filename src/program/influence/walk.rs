//! Walks along dependences by runs of functions that there can be: what came in by one call goes out by it only.
//!
//! `load(weights)` and `load(data)` enter the same function; what it returns for the weights does not depend on the data. A
//! walk takes down for each parameter by which calls it was entered, and leaves by those (the tabulation of Reps, Horwitz and
//! Sagiv). What goes through an object or a variable of others may come from any run, and goes on in any.

use std::cell::Cell;
use std::collections::VecDeque;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::numbering::Lists;

/// How a dependence gets from one run of a function to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// Not at all.
    Within,
    /// Through what runs have in common.
    Anywhere,
    /// Into the run that a call begins; the number of the call's result.
    Enter(u32),
    /// Back to that call.
    Leave(u32),
}

impl Way {
    /// The way of a walk against the dependences.
    fn reversed(self) -> Self {
        match self {
            Self::Enter(site) => Self::Leave(site),
            Self::Leave(site) => Self::Enter(site),
            own => own,
        }
    }
}

/// A dependence between the values of these numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) way: Way,
}

/// Where a dependence leads from a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) to: u32,
    way: Way,
}

/// Lists of more steps than these are sorted, so that those of a call are found at once.
const FEW: usize = 16;

/// The steps from each value along the dependences.
pub(super) fn forwards(count: usize, edges: &[Edge]) -> Lists<Step> {
    sorted(count, edges.iter().map(|own| (own.from as usize, Step { to: own.to, way: own.way })))
}

/// The steps against them.
pub(super) fn backwards(count: usize, edges: &[Edge]) -> Lists<Step> {
    let reversed = |own: &Edge| (own.to as usize, Step { to: own.from, way: own.way.reversed() });
    sorted(count, edges.iter().map(reversed))
}

fn sorted(count: usize, steps: impl Iterator<Item = (usize, Step)> + Clone) -> Lists<Step> {
    let mut lists = Lists::group(count, steps);
    lists.sort_long(FEW, |own| own.way);
    lists
}

/// The steps out of a function, from one of its values, by a call.
fn leaving(steps: &[Step], site: u32) -> impl Iterator<Item = u32> + '_ {
    let way = Way::Leave(site);
    let first = if steps.len() > FEW { steps.partition_point(|own| own.way < way) } else { 0 };
    let is_over = move |own: &&Step| steps.len() <= FEW || own.way == way;
    steps[first..].iter().take_while(is_over).filter(move |own| own.way == way).map(|own| own.to)
}

/// Where a walk is: in runs that were entered by this parameter, or, backwards, by this returned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Run {
    /// In any.
    Any,
    EnteredBy(u32),
}

thread_local! {
    /// The values that a walk has come to in any run, and in some; empty but for while one is made.
    static SEEN: Cell<(FixedBitSet, FixedBitSet)> = const { Cell::new((FixedBitSet::new(), FixedBitSet::new())) };
}

/// Calls `found` with all values that can be reached from some, themselves included, each once, with what was told of the
/// one before; it tells what is to be told of this one. Goes no further from a value that `stops`, but for the first ones.
pub(super) fn walk<T: Copy>(
    steps: &Lists<Step>,
    count: usize,
    from: impl Iterator<Item = (u32, T)>,
    stops: impl FnMut(T) -> bool,
    found: impl FnMut(u32, T) -> T,
) {
    // What `stops` asks may be a walk, too, which then has sets of its own.
    let (mut anywhere, mut somewhere) = SEEN.take();
    anywhere.grow(count);
    somewhere.grow(count);
    let (work, visited) = (VecDeque::new(), Vec::new());
    let mut walk =
        Walk { steps, anywhere, somewhere, visited, work, inside: Inside::default(), stops, found };
    for (number, told) in from {
        walk.start(number, told);
    }
    while let Some((run, number, told)) = walk.work.pop_front() {
        walk.go_on(run, number, told);
    }
    for &number in &walk.visited {
        walk.anywhere.remove(number as usize);
        walk.somewhere.remove(number as usize);
    }
    SEEN.set((walk.anywhere, walk.somewhere));
}

/// What a walk knows of the functions that it has entered.
#[derive(Default)]
struct Inside {
    /// The values that it has come to in runs entered somewhere.
    seen: FxHashSet<(u32, u32)>,
    /// Those from which it can leave such runs.
    ends: FxHashMap<u32, Vec<u32>>,
    /// The calls that entered there, and from which run.
    entered: FxHashSet<(u32, u32, Run)>,
    /// The same, by where.
    calls: FxHashMap<u32, Vec<(u32, Run)>>,
    /// The values that it goes no further from.
    stopped: FxHashSet<u32>,
}

struct Walk<'s, T, S, F> {
    steps: &'s Lists<Step>,
    anywhere: FixedBitSet,
    somewhere: FixedBitSet,
    /// The values in either.
    visited: Vec<u32>,
    work: VecDeque<(Run, u32, T)>,
    inside: Inside,
    stops: S,
    found: F,
}

impl<T: Copy, S: FnMut(T) -> bool, F: FnMut(u32, T) -> T> Walk<'_, T, S, F> {
    fn start(&mut self, number: u32, told: T) {
        if !self.anywhere.put(number as usize) {
            self.somewhere.insert(number as usize);
            self.visited.push(number);
            let told = (self.found)(number, told);
            self.work.push_back((Run::Any, number, told));
        }
    }

    fn come(&mut self, run: Run, number: u32, mut told: T) {
        // What can be reached from it in any run covers what can be in one.
        let is_known = match run {
            Run::Any => self.anywhere.put(number as usize),
            Run::EnteredBy(by) => {
                self.anywhere.contains(number as usize) || !self.inside.seen.insert((by, number))
            }
        };
        if is_known {
            return;
        }
        if !self.somewhere.put(number as usize) {
            self.visited.push(number);
            told = (self.found)(number, told);
            if (self.stops)(told) {
                self.inside.stopped.insert(number);
                return;
            }
        } else if self.inside.stopped.contains(&number) {
            return;
        }
        self.work.push_back((run, number, told));
    }

    fn go_on(&mut self, run: Run, number: u32, told: T) {
        let steps = self.steps.of(number as usize);
        let mut may_leave = false;
        for step in steps {
            match (step.way, run) {
                (Way::Within, _) => self.come(run, step.to, told),
                (Way::Anywhere, _) | (Way::Leave(_), Run::Any) => self.come(Run::Any, step.to, told),
                (Way::Enter(site), _) => self.enter(run, step.to, site, told),
                (Way::Leave(_), Run::EnteredBy(_)) => may_leave = true,
            }
        }
        if let Run::EnteredBy(by) = run
            && may_leave
        {
            self.inside.ends.entry(by).or_default().push(number);
            for index in 0..self.inside.calls.get(&by).map_or(0, Vec::len) {
                let (site, caller) = self.inside.calls[&by][index];
                for to in leaving(steps, site) {
                    self.come(caller, to, told);
                }
            }
        }
    }

    /// Enters a function by a call, and leaves it again where the way through it is known.
    fn enter(&mut self, caller: Run, by: u32, site: u32, told: T) {
        if self.inside.entered.insert((by, site, caller)) {
            self.inside.calls.entry(by).or_default().push((site, caller));
            for index in 0..self.inside.ends.get(&by).map_or(0, Vec::len) {
                let end = self.inside.ends[&by][index];
                for to in leaving(self.steps.of(end as usize), site) {
                    self.come(caller, to, told);
                }
            }
        }
        self.come(Run::EnteredBy(by), by, told);
    }
}
