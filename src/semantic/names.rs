//! Interned names of one module.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::id::NameId;

/// The names (identifiers and string keys) that a module mentions, each once.
///
/// There are many of them, and they live and die together: their texts stand one behind the other.
#[derive(Debug, Default)]
pub struct Names {
    texts: String,
    /// Where each text ends in `texts`, in bytes; it begins where the one before ends.
    ends: Vec<u32>,
    ids: HashTable<NameId>,
}

impl Names {
    /// The id of `text`, new or known.
    ///
    /// # Panics
    ///
    /// If a module's names have more than 4 GB; sources are smaller.
    pub fn intern(&mut self, text: &str) -> NameId {
        let hash = hash(text);
        let Self { texts, ends, ids } = self;
        let is_same = |&id: &NameId| slice(texts, ends, id) == text;
        if let Some(&id) = ids.find(hash, is_same) {
            return id;
        }
        let id = NameId::new(ends.len());
        texts.push_str(text);
        ends.push(u32::try_from(texts.len()).expect("sources are smaller than 4 GB"));
        ids.insert_unique(hash, id, |&id| self::hash(slice(texts, ends, id)));
        id
    }

    /// The id of `text` if the module mentions it.
    #[must_use]
    pub fn get(&self, text: &str) -> Option<NameId> {
        self.ids.find(hash(text), |&id| self.text(id) == text).copied()
    }

    /// The ids of those texts that the module mentions.
    #[must_use]
    pub fn known(&self, texts: &FxHashSet<&str>) -> FxHashSet<NameId> {
        texts.iter().filter_map(|text| self.get(text)).collect()
    }

    /// The text of `id`.
    #[must_use]
    pub fn text(&self, id: NameId) -> &str {
        slice(&self.texts, &self.ends, id)
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the module mentions nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.text(NameId::new(index)))
    }
}

fn hash(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

fn slice<'t>(texts: &'t str, ends: &[u32], id: NameId) -> &'t str {
    let start = id.index().checked_sub(1).map_or(0, |before| ends[before]);
    &texts[start as usize..ends[id.index()] as usize]
}
