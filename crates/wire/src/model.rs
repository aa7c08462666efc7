//! The words of `deft_model` that are visible outside, so that front ends need no other crate for them.

pub use deft_model::{Choice, DisabledReason, Object, Role, Tier, nearest, visible};
