//! Integration tests: snapshots of case files, comparison with `CPython`, and properties.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy does not see that helpers of tests are tests"
)]

mod cases;
mod cpython;
mod dump;
mod evaluate;
mod framed;
mod limits;
mod properties;
mod render;
mod world;
