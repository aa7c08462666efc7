//! Integration tests, with real workers and real children.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "clippy does not see that helpers of tests are tests"
)]

mod attacks;
mod battery;
mod cases;
mod clock;
mod conditions;
mod lifecycle;
mod loan;
mod places;
mod reach;
mod support;
mod values;
