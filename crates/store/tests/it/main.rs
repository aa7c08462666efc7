//! The conformance suite over every backend here, and what only the file promises.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod budgets;
mod conformance;
mod damage;
mod file;
mod identity;
mod model;
mod sharing;
mod support;
mod trouble;
