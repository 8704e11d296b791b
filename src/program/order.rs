//! Which calls may come before which, in the code of a scope or of those that call it.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::programs::Program;
use super::solver::{CallEdge, Caller};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId};
use crate::syntax::TextRange;

/// How many places are added at most where the functions around others are called.
const PLACES: usize = 256;

/// A place in the code of a scope.
pub type Spot = (Caller, BlockId, TextRange);

impl Facts<'_> {
    /// Whether a program may make a call, and another one later.
    #[must_use]
    pub fn may_follow(&self, program: &Program, first: (FileId, CallId), then: (FileId, CallId)) -> bool {
        let is_run = |edge: &CallEdge| self.is_run(program, edge);
        let before = self.leading_to(vec![self.spot(first)], is_run);
        let behind = self.leading_to(vec![self.spot(then)], is_run);
        before.iter().any(|&first| behind.iter().any(|&then| self.leads(first, then)))
    }

    /// The place of a call.
    #[must_use]
    pub fn spot(&self, (file, call): (FileId, CallId)) -> Spot {
        let data = self.module(file).call(call);
        (Caller { file, scope: data.scope }, data.block, data.range)
    }

    /// Whether control may go from one place to another in the code of one scope.
    #[must_use]
    pub fn leads(&self, (caller, block, range): Spot, (other, later, place): Spot) -> bool {
        let flow = || &self.module(caller.file).scope(caller.scope).flow;
        // What a call is given, `open(made())`, is computed first.
        let is_first = range.end() <= place.start() || place != range && place.contains_range(range);
        caller == other && (block == later && is_first || flow().leads(block, later))
    }

    /// Places, and the calls of the functions that come to them, by edges that are wanted.
    pub fn leading_to(&self, spots: Vec<Spot>, is_wanted: impl Fn(&CallEdge) -> bool) -> Vec<Spot> {
        let most = spots.len() + PLACES;
        let mut found = spots;
        let mut seen: FxHashSet<Caller> = FxHashSet::default();
        let mut next = 0;
        while let Some(&(caller, _, _)) = found.get(next) {
            next += 1;
            if !seen.insert(caller) {
                continue;
            }
            let function = self.function_of(caller);
            let edges = function.map_or(&[][..], |function| self.incoming(function)).iter();
            let calls =
                edges.filter(|edge| is_wanted(edge)).filter_map(|edge| Some((edge.caller.file, edge.call?)));
            found.extend(calls.take(PLACES).map(|call| self.spot(call)));
            if found.len() > most {
                break;
            }
        }
        found
    }
}
