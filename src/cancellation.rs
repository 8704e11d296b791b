//! Whether anybody still wants to know what is being found out.

use std::fmt;

/// What long work asks from time to time. Once nobody wants to know any more, that stays so: the work is left where it
/// is, and what it comes to means nothing.
#[derive(Clone, Copy)]
pub struct Cancellation<'a>(&'a (dyn Fn() -> bool + Sync));

impl Cancellation<'static> {
    /// Somebody waits until the end.
    pub const NEVER: Self = Self(&|| false);
}

impl<'a> Cancellation<'a> {
    /// Nobody wants to know any more as soon as this is so.
    #[must_use]
    pub fn once(is_so: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self(is_so)
    }

    /// Whether the work is for nothing.
    #[must_use]
    pub fn is_requested(self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Cancellation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation").field(&self.is_requested()).finish()
    }
}
