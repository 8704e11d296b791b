//! The parser's room: everything that names the parser's crates, so that their unstable interface
//! touches one place.
//!
//! Positions are byte offsets into the decoded source text (`TextSize`, `TextRange`); people's positions
//! (1-based lines, columns in Unicode code points) are made at the edge by [`LineIndex`].

pub use ruff_python_ast as ast;
pub use ruff_python_stdlib::sys::{is_builtin_module, is_known_standard_library};
pub use ruff_source_file::LineIndex;
pub use ruff_text_size::{Ranged, TextRange, TextSize};
