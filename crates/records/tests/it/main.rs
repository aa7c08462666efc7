//! Tests of records against case files and arbitrary values.

#![expect(clippy::expect_used, reason = "a test may fail loudly")]

mod cases;
mod properties;
mod schemas;
