//! The calls that count something: how many there are does not depend on what they are.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use crate::api::Symbol;
use crate::program::Facts;
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

const ENUMERATE: &str = "builtins.enumerate";

/// What counts data, whatever the data are.
const COUNTS: [&str; 4] =
    [ENUMERATE, "tensorflow.shape", "tensorflow.size", "tensorflow.data.experimental.cardinality"];

/// The calls of a project that count.
#[derive(Debug, Default)]
pub(in crate::distribute) struct Counted {
    lengths: FxHashSet<(FileId, CallId)>,
    ranges: FxHashSet<(FileId, CallId)>,
    others: FxHashSet<(FileId, CallId)>,
}

impl Counted {
    pub(in crate::distribute) fn of(facts: &Facts<'_>) -> Self {
        let named = |name| facts.library.lookup(name);
        let (length, range, others) = (named("builtins.len"), named("builtins.range"), COUNTS.map(named));
        let is = |symbol: &Symbol, wanted: Option<&Symbol>| wanted == Some(symbol);
        let mut own = Self::default();
        for file in facts.modules.files() {
            for (index, call) in facts.module(file).calls.iter().enumerate() {
                let place = (file, CallId::new(index));
                let callees = facts.objects(file, call.callee);
                for symbol in callees.filter_map(|(_, object)| facts.symbol(object)) {
                    let list = match symbol {
                        symbol if is(symbol, length) => &mut own.lengths,
                        symbol if is(symbol, range) => &mut own.ranges,
                        symbol if others.iter().any(|&other| is(symbol, other)) => &mut own.others,
                        _ => continue,
                    };
                    list.insert(place);
                }
            }
        }
        own
    }
}

/// Whether a call asks how long something is.
pub(super) fn is_length(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    job.common.counted(job.facts).lengths.contains(&(file, call))
}

/// Whether a call makes a range of numbers.
pub(in crate::distribute) fn is_range(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    job.common.counted(job.facts).ranges.contains(&(file, call))
}

/// Whether a value is `enumerate(...)`.
pub(in crate::distribute) fn is_enumeration(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let Value::Call(call) = job.facts.module(file).value(value).value else { return false };
    job.facts.called_builtins(file, call).any(|symbol| symbol.name() == ENUMERATE)
}

/// Whether a call counts otherwise.
pub(super) fn counts(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    job.common.counted(job.facts).others.contains(&(file, call))
}
