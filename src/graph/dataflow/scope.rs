//! What a block does with names, and what the block around it learns of that.

use std::collections::BTreeSet;

use super::name::Name;

/// Whether names of a block belong to the block around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Block,
    /// A function, a class.
    Closed,
}

/// What a block does with names.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Whose value is used; what a `del` or an augmented assignment names too.
    pub read: BTreeSet<Name>,
    /// That get another value.
    pub modified: BTreeSet<Name>,
    /// That a `del` of this very statement names.
    pub deleted: BTreeSet<Name>,
    /// That belong to the block.
    pub bound: BTreeSet<Name>,
    /// That a `global` names.
    pub globals: BTreeSet<Name>,
    /// That a `nonlocal` names.
    pub nonlocals: BTreeSet<Name>,
    /// That stand in type annotations; they are read too.
    pub annotations: BTreeSet<Name>,
    /// Parameters that this very block declares.
    pub params: BTreeSet<Name>,
    /// What `except ... as` names: unknown outside.
    pub(super) isolated: BTreeSet<Name>,
}

impl Scope {
    /// What is read of names that belong to others.
    pub(super) fn free(&self) -> impl Iterator<Item = Name> + '_ {
        self.read.difference(&self.bound).copied()
    }
    /// Takes over what a block inside does.
    pub(super) fn learn(&mut self, inner: &Self, kind: Kind) {
        match kind {
            Kind::Block => {
                self.read.extend(inner.read.difference(&inner.isolated));
                self.modified.extend(inner.modified.difference(&inner.isolated));
                self.bound.extend(inner.bound.difference(&inner.isolated));
                self.globals.extend(&inner.globals);
                self.nonlocals.extend(&inner.nonlocals);
                self.annotations.extend(&inner.annotations);
            }
            Kind::Closed => {
                self.read.extend(inner.free());
                self.annotations.extend(inner.annotations.difference(&inner.bound));
            }
        }
    }
}
