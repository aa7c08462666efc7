//! The words of `deft_model` that are visible outside, so that front ends need no other crate for them.

pub use deft_model::{
    Choice, DisabledReason, Effects, ExhaustedAction, FailureClass, Message, Object, Outcome,
    ProblemCode, Role, RunId, RunOrigin, RunStatus, SpendSubject, StepType, Tier, TraceContext,
    Usage, Usd, WaitKind, nearest, visible, visible_json,
};
