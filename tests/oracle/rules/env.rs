//! The environment: which names of the program stand for what the rules speak of.

use std::collections::BTreeMap;

/// What a name can stand for: the strings of the seed's section 2.2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// `"tensor_flow"`
    TensorFlow,
    /// `"keras"`
    Keras,
    /// `"os"`
    Os,
    /// `"optimizers"`
    Optimizers,
    /// `"lr_scheduler"`
    Schedule,
    /// `"optimizer"`
    Optimizer,
    /// `"dataset"`
    Dataset,
    /// `"model"`
    Model,
    /// `"checkpoint"`
    Checkpoint,
    /// `"gradient_tape"`
    GradientTape,
}

/// σ: one name for each key, the last one recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<Key, String>);

impl Env {
    /// σ(key)
    pub fn get(&self, key: Key) -> Option<&str> {
        self.0.get(&key).map(String::as_str)
    }

    /// σ\[key ↦ id\]
    #[must_use]
    pub fn with(&self, key: Key, id: &str) -> Env {
        let mut entries = self.0.clone();
        entries.insert(key, id.to_owned());
        Env(entries)
    }

    /// The `id` for which σ₁ \ σ = \[key ↦ id\]: the one entry that `self` has and `earlier` has not.
    pub fn only_new(&self, earlier: &Env, key: Key) -> Option<&str> {
        let mut new = self.0.iter().filter(|(key, id)| earlier.0.get(key) != Some(id));
        match (new.next(), new.next()) {
            (Some((new, id)), None) if *new == key => Some(id),
            _ => None,
        }
    }
}
