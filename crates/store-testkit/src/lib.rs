//! Tests of stores: an in-memory store, and the conformance suite that every backend must pass.
//!
//! The in-memory store implements the rules a second time, in plain Rust. The suite and the random sequences
//! in `store/tests` compare both. This crate is used only in tests.

pub mod conformance;
mod memory;

pub use memory::Memory;
