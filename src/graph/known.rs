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
        if self.may_be(file, value, Kind::Dataset) || self.may_be(file, value, Kind::DatasetIterator) {
            return true;
        }
        match self.module(file).value(value).value {
            Value::Call(call) => {
                let own = self.module(file).call(call);
                self.called_builtins(file, call).any(|symbol| symbol.has(Effect::Converts))
                    && own.arguments.first().is_some_and(|argument| {
                        self.may_be(file, argument.value, Kind::Dataset)
                            || self.may_be(file, argument.value, Kind::DatasetIterator)
                    })
            }
            _ => false,
        }
    }
}
