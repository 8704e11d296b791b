//! Interned names of one module.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::id::NameId;

/// The names (identifiers and string keys) that a module mentions, each once.
#[derive(Debug, Default)]
pub struct Names {
    texts: Vec<Arc<str>>,
    ids: FxHashMap<Arc<str>, NameId>,
}

impl Names {
    /// The id of `text`, new or known.
    pub fn intern(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = NameId::new(self.texts.len());
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    /// The id of `text` if the module mentions it.
    #[must_use]
    pub fn get(&self, text: &str) -> Option<NameId> {
        self.ids.get(text).copied()
    }

    /// The ids of those texts that the module mentions.
    #[must_use]
    pub fn known(&self, texts: &FxHashSet<&str>) -> FxHashSet<NameId> {
        texts.iter().filter_map(|text| self.get(text)).collect()
    }

    /// The text of `id`.
    #[must_use]
    pub fn text(&self, id: NameId) -> &str {
        &self.texts[id.index()]
    }

    /// All texts in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(AsRef::as_ref)
    }
}
