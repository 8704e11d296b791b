//! Interned names of one module.

use rustc_hash::FxHashSet;

use super::id::NameId;
use super::interner::Interner;

/// The names (identifiers and string keys) that a module mentions, each once.
#[derive(Clone, Debug, Default)]
pub struct Names(Interner);

impl Names {
    /// The id of `text`, new or known.
    pub fn intern(&mut self, text: &str) -> NameId {
        self.0.intern(text).into()
    }

    /// The id of `text` if the module mentions it.
    #[must_use]
    pub fn get(&self, text: &str) -> Option<NameId> {
        self.0.find(text).map(NameId::from)
    }

    /// The ids of those texts that the module mentions.
    #[must_use]
    pub fn known(&self, texts: &FxHashSet<&str>) -> FxHashSet<NameId> {
        texts.iter().filter_map(|text| self.get(text)).collect()
    }

    /// The text of `id`.
    #[must_use]
    pub fn text(&self, id: NameId) -> &str {
        self.0.text(id.number())
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.count()
    }

    /// All texts in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.count()).map(|index| self.text(NameId::new(index)))
    }
}
