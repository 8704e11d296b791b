//! The verbs that change a source: each is given places and answers with edits, so that everything else stays byte
//! for byte.
//!
//! Where something stands is known from the facts; how it is laid out (indentation, `a; b`, `if x: y`, comments,
//! strings over several lines) is known from the text and its tokens, a [`Text`].

mod arguments;
mod expressions;
mod hoist;
mod layout;
mod statements;
#[cfg(test)]
mod tests;
mod text;

pub use text::{Moved, Text, Texts};
