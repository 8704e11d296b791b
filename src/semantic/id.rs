//! Small typed indices, so that a block is never taken for a value.

use std::num::NonZeroU32;

/// Defines an index type of 32 bits. One more than the index is kept, so that an `Option` of it takes no more room.
macro_rules! index_type {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The id of the first element.
            pub const FIRST: Self = Self(NonZeroU32::MIN);

            /// The index.
            #[must_use]
            pub fn index(self) -> usize {
                self.number() as usize
            }

            /// The index as it is kept.
            #[must_use]
            pub fn number(self) -> u32 {
                self.0.get() - 1
            }

            /// The id of the element at `index`; a module has fewer than 2³² of anything, as its source has
            /// fewer bytes.
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self::from(u32::try_from(index).expect("fewer than 2^32 elements"))
            }
        }

        impl From<u32> for $name {
            fn from(index: u32) -> Self {
                Self(NonZeroU32::MIN.saturating_add(index))
            }
        }
    )*};
}

index_type! {
    /// A name, interned within its module.
    NameId;
    /// A scope of its module.
    ScopeId;
    /// A value of its module.
    ValueId;
    /// A statement of its module.
    StatementId;
    /// A call expression of its module.
    CallId;
    /// A function or lambda of its module.
    FunctionId;
    /// A class of its module.
    ClassId;
    /// An import of its module.
    ImportId;
    /// A basic block of its scope.
    BlockId;
}
