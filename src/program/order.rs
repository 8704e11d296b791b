//! Which calls may come before which, in the code of a scope or of those that call it.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::programs::Program;
use super::solver::Caller;
use crate::project::FileId;
use crate::semantic::{BlockId, CallId};
use crate::syntax::TextRange;

/// Through how many functions' calls a place is followed back.
const PLACES: usize = 256;

impl Facts<'_> {
    /// Whether a program may make a call, and another one later.
    #[must_use]
    pub fn may_follow(&self, program: &Program, first: (FileId, CallId), then: (FileId, CallId)) -> bool {
        let (before, behind) = (self.places(program, first), self.places(program, then));
        before.iter().any(|&(caller, block, range)| {
            let flow = &self.module(caller.file).scope(caller.scope).flow;
            behind.iter().any(|&(other, later, place)| {
                caller == other
                    && (block == later && range.end() <= place.start() || flow.leads(block, later))
            })
        })
    }

    /// The place of a call, and the calls of the functions that come to it.
    fn places(&self, program: &Program, (file, call): (FileId, CallId)) -> Vec<(Caller, BlockId, TextRange)> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<(FileId, CallId)> = FxHashSet::default();
        let mut work = vec![(file, call)];
        while let Some((file, call)) = work.pop() {
            if seen.len() >= PLACES || !seen.insert((file, call)) {
                continue;
            }
            let data = self.module(file).call(call);
            let caller = Caller { file, scope: data.scope };
            found.push((caller, data.block, data.range));
            let function = self.function_of(caller);
            let edges = function.map_or(&[][..], |function| self.incoming(function)).iter();
            let run = edges.filter(|edge| self.is_run(program, edge));
            work.extend(run.filter_map(|edge| Some((edge.caller.file, edge.call?))));
        }
        found
    }
}
