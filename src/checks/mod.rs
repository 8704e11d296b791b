//! The checks: what each one is called, and how it is decided.

pub mod tool;
