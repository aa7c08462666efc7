//! Words of the vocabulary that are visible outside.

pub use deft_model::{
    Choice, Effects, FailureClass, Object, Outcome, ProblemCode, RunId, RunStatus, Tier, Usage, Usd,
    visible, visible_json,
};
