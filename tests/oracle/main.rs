//! The published rules of distribution, written down literally, and the differential test that holds the product to
//! them.
//!
//! ```text
//! generated source ──▶ published rules ──▶ departures ──▶ keyword order ──▶ expected tree
//!                └───▶ hvdlint check --fix ─────────────▶ keyword order ──▶ actual tree
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`rules`] | the oracle: the seed's sections 2.3 and 2.4, a function for each rule |
//! | [`departures`] | in one place, with reasons, where the product means to differ from the published output |
//! | [`generate`] | programs inside the restrictions that meet no other departure |
//! | [`tree`], [`show`] | templates, comparison and printing of trees |
//! | `published`, `departed`, `generated` | tests of the three above |
//! | `differential` | the test of the product |
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod departures;
mod generate;
mod rules;
mod show;
#[path = "../support/mod.rs"]
mod support;
mod tree;

mod departed;
mod differential;
mod generated;
mod published;
