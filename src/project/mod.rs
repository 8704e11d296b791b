//! The project as it is on disk: files, their decoded text, configuration and module names.

/// A file of the project: its index in path order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A file's decoded text under the name that people see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Relative to the project root, with `/`.
    pub path: String,
    /// Decoded text without the byte order mark; line endings as in the file.
    pub text: std::sync::Arc<str>,
}

/// The documents that findings point into.
pub type Documents = std::collections::BTreeMap<FileId, Document>;
