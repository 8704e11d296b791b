//! What a value may be while code is traced: a tensor, a Python value, or not known.

/// A set of what a value may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nature(u16);

impl Nature {
    /// A symbolic tensor.
    pub const TENSOR: Self = Self(1);
    /// A tensor that code outside of the graph has made, and that has a value.
    pub const EAGER: Self = Self(2);
    /// A `tf.Variable`.
    pub const VARIABLE: Self = Self(4);
    /// A tensor or a structure of tensors: a batch, what a model returns.
    pub const NEST: Self = Self(8);
    /// A number, a string or a truth value.
    pub const PLAIN: Self = Self(16);
    /// `None`.
    pub const NONE: Self = Self(32);
    /// A `NumPy` array.
    pub const ARRAY: Self = Self(64);
    /// Another Python object: a list, a shape, a model.
    pub const OBJECT: Self = Self(128);
    /// Nobody knows.
    pub const UNKNOWN: Self = Self(256);

    /// A tensor or a variable.
    pub(super) const ONE_TENSOR: Self = Self(Self::TENSOR.0 | Self::EAGER.0 | Self::VARIABLE.0);
    /// A tensor, a variable, or a structure of tensors.
    pub(super) const TENSORS: Self = Self(Self::ONE_TENSOR.0 | Self::NEST.0);

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn is_within(self, other: Self) -> bool {
        !self.is_empty() && self.0 & !other.0 == 0
    }

    /// Whether it can only be a tensor or a variable.
    #[must_use]
    pub fn is_tensor(self) -> bool {
        self.is_within(Self::ONE_TENSOR)
    }

    /// Whether it can only be a tensor or a variable, and has no value while the graph is made.
    #[must_use]
    pub fn is_symbolic(self) -> bool {
        self.is_within(Self::TENSOR.with(Self::VARIABLE))
    }

    /// What it is for a graph whose code is called with it.
    pub(super) fn as_argument(self) -> Self {
        if self.has(Self::EAGER) { Self(self.0 & !Self::EAGER.0).with(Self::TENSOR) } else { self }
    }

    /// What it is where no graph is made.
    pub(super) fn outside(self) -> Self {
        if self.has(Self::TENSOR) { Self(self.0 & !Self::TENSOR.0).with(Self::EAGER) } else { self }
    }

    /// Whether it can only be a tensor, a variable, or a structure of tensors.
    #[must_use]
    pub fn is_of_tensors(self) -> bool {
        self.is_within(Self::TENSORS)
    }

    /// Whether it may be a tensor, a variable, or a structure of tensors.
    #[must_use]
    pub fn may_be_of_tensors(self) -> bool {
        self.has(Self::TENSORS)
    }

    /// Whether it can only be a number, a string or a truth value.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self == Self::PLAIN
    }

    /// Whether it can only be an array of `NumPy`, or a number that `NumPy` made.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.has(Self::ARRAY) && self.is_within(Self::ARRAY.with(Self::PLAIN))
    }

    /// Whether it can only be `None`.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Whether it may be `None`.
    #[must_use]
    pub fn may_be_none(self) -> bool {
        self.has(Self::NONE)
    }

    /// Whether anything of it is not known.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self.is_empty() || self.has(Self::UNKNOWN)
    }
}
