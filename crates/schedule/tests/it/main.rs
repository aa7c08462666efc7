//! Integration tests of the schedule maths.

#![allow(clippy::expect_used, reason = "helpers of tests may fail the test")]

mod cases;
mod dst;
mod properties;
