//! Re-exports the public types of `deft_model`, to save front ends the dependency.

pub use deft_model::{
    Cause, Choice, DisabledReason, Effects, ExhaustedAction, FailureClass, Message, Object,
    Outcome, ProblemCode, Role, RunId, RunOrigin, RunStatus, SpendSubject, StepType, Tier,
    TraceContext, Usage, Usd, WaitKind, clip, clip_value, nearest, value_text, visible,
    visible_json, without_arguments,
};
