//! Parts of objects: what stores have put there, as long as nothing can have changed it.

use super::super::id::ValueId;
use super::super::ssa::{Content, Found, Key, Place, Version};
use super::super::value::Value;
use super::Lowering;

impl Lowering<'_> {
    pub(super) fn version_of(&mut self, place: Place) -> Version {
        let frame = self.frame();
        match frame.ssa.lookup(frame.block, place) {
            Found::Content(Content::Version(version)) => version,
            Found::AtEntry => Version::default(),
            Found::Merge(block) => {
                let version = frame.ssa.new_version();
                frame.ssa.place_version(block, place, version);
                version
            }
            Found::Content(_) | Found::Nowhere => frame.ssa.new_version(),
        }
    }

    pub(super) fn change(&mut self, place: Place) {
        let frame = self.frame();
        let version = frame.ssa.new_version();
        frame.ssa.define(frame.block, place, Content::Version(version));
    }

    pub(super) fn part(&mut self, base: ValueId, key: Key) -> Place {
        if self.current().own.contains_key(&base) {
            return Place::Own(base, key);
        }
        let memory = self.version_of(Place::Memory);
        let keyed = self.version_of(Place::Keyed(key));
        Place::Shared { base, key, memory, keyed }
    }

    /// What stores in this scope have put at `base`'s `key`, if nothing can have changed it since.
    pub(super) fn stored(&mut self, base: ValueId, key: Key) -> Option<ValueId> {
        let place = self.part(base, key);
        let block = self.current().block;
        self.content_at(block, place)
    }

    pub(super) fn remember(&mut self, base: ValueId, key: Key, value: ValueId) {
        let place = self.part(base, key);
        let frame = self.frame();
        if let Some(keys) = frame.own.get_mut(&base)
            && !keys.contains(&key)
        {
            keys.push(key);
        }
        frame.ssa.define(frame.block, place, Content::Value(value));
    }

    /// A store into `base`: under a known key, or `None` for any.
    pub(super) fn store_part(&mut self, base: ValueId, key: Option<Key>, value: ValueId) {
        if matches!(self.module.value(base).value, Value::Phi(_)) {
            self.escape_all();
        }
        let own = self.current().own.contains_key(&base);
        match key {
            Some(key) => {
                if !own {
                    self.change(Place::Keyed(key));
                }
                self.remember(base, key, value);
            }
            None if own => self.forget(base),
            None => self.change(Place::Memory),
        }
    }

    /// Whatever is known of a container's parts is known no more.
    pub(super) fn forget(&mut self, base: ValueId) {
        let frame = self.frame();
        for key in frame.own.get(&base).cloned().unwrap_or_default() {
            frame.ssa.define(frame.block, Place::Own(base, key), Content::Lost);
        }
    }

    /// Other code can reach `value` from now on.
    pub(super) fn escape(&mut self, value: ValueId) {
        if self.current().own.contains_key(&value) {
            self.forget(value);
            self.frame().own.remove(&value);
        }
    }

    pub(super) fn escape_all(&mut self) {
        let own: Vec<ValueId> = self.current().own.keys().copied().collect();
        for value in own {
            self.escape(value);
        }
    }
}
