//! For tests of the store and of crates above it: a store in memory, and the conformance suite that
//! every backend passes.
//!
//! The memory store implements the rules a second time, in plain Rust. The suite and the random
//! walks in `store/tests` compare both. Nothing that ships depends on this crate.

pub mod conformance;
mod memory;

pub use memory::Memory;
