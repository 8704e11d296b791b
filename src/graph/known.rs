//! What several checks of traced code ask of libraries' symbols and of datasets.

use crate::api::{Effect, Kind, Symbol};
use crate::program::{Facts, Object};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

impl Facts<'_> {
    /// Whether a symbol is of a library whose functions compute with values, as `NumPy` does.
    #[must_use]
    pub fn is_of_numbers(&self, symbol: &Symbol) -> bool {
        self.library.lookup(symbol.package()).is_some_and(|module| module.has(Effect::ReadsValue))
    }

    /// Python's own functions that a call may call.
    pub fn called_builtins(&self, file: FileId, call: CallId) -> impl Iterator<Item = &Symbol> + '_ {
        self.callees(file, call).iter().filter_map(|edge| match self.solution.object(edge.callee) {
            object @ Object::Builtin(_) => self.symbol(object),
            _ => None,
        })
    }

    /// Whether a value is a dataset or an iterator over one, perhaps numbered by `enumerate`.
    #[must_use]
    pub fn is_dataset(&self, file: FileId, value: ValueId) -> bool {
        let numbered = self.numbered(file, value);
        [Some(value), numbered].into_iter().flatten().any(|value| {
            self.may_be(file, value, Kind::Dataset) || self.may_be(file, value, Kind::DatasetIterator)
        })
    }

    /// Whether a value is a dataset and no iterator, perhaps numbered: a loop over it is a reduction.
    #[must_use]
    pub fn is_whole_dataset(&self, file: FileId, value: ValueId) -> bool {
        let numbered = self.numbered(file, value);
        [Some(value), numbered].into_iter().flatten().any(|value| {
            self.may_be(file, value, Kind::Dataset) && !self.may_be(file, value, Kind::DatasetIterator)
        })
    }

    /// What `enumerate` numbers, or another function of Python's converts.
    fn numbered(&self, file: FileId, value: ValueId) -> Option<ValueId> {
        let Value::Call(call) = self.module(file).value(value).value else { return None };
        let mut called = self.called_builtins(file, call);
        called.find(|symbol| symbol.has(Effect::Converts))?;
        self.module(file).call(call).arguments.first().map(|own| own.value)
    }
}
