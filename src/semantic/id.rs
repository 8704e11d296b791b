//! Small typed indices, so that a block is never taken for a value.

/// Defines a `u32` index type.
macro_rules! index_type {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as a `usize`.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the element at `index`; a module has fewer than 2³² of anything, as its source has
            /// fewer bytes.
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 elements"))
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
