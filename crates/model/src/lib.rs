//! The vocabulary of deft: what a skill is after parsing, independent of its dialect.
//!
//! Everything here is plain data. This crate does not parse, render, check or store anything and uses no file
//! system and no clock. A type belongs here only if at least two crates share it.

mod agent;
mod authority;
mod call_words;
mod cause;
mod chat;
mod choice;
mod clip;
mod details;
mod entry;
mod event_type;
mod failure;
mod flag;
mod handler;
mod ids;
mod money;
mod origin;
mod pattern;
mod policy;
mod problem;
mod run;
mod scatter;
mod skill;
mod spend_subject;
mod step;
mod step_kind;
mod template_marks;
mod text;
mod trace;
mod trigger;
mod value_text;
mod visible;

pub use agent::{Agent, AgentMode};
pub use authority::Authority;
pub use call_words::{call_words, has_arguments, without_arguments};
pub use cause::Cause;
pub use chat::{
    CallArgs, Message, MessageRole, ModelReply, ModelRequest, PromptPart, StopReason, TokenUsage,
    ToolCall, ToolChoice, ToolSpec, estimate_tokens,
};
pub use choice::{Choice, nearest, nearest_name};
pub use clip::{clip, clip_value};
pub use details::{DetailAccessor, DetailRow, Details};
pub use entry::PromptEntry;
pub use event_type::EventType;
pub use failure::{Failure, Outage};
pub use flag::{Flag, FlagValue};
pub use handler::Handler;
pub use ids::{DEFAULT_AGENT, Digest, Revision, SkillId};
pub use money::{Usage, Usd};
pub use origin::RunOrigin;
pub use pattern::fits;
pub use policy::{
    Budget, BudgetPeriod, DisabledReason, Effects, ExhaustedAction, Expect, FailureClass, Heal,
    Misfire, Overlap, Policy, seconds,
};
pub use problem::ProblemCode;
pub use run::{Outcome, RunId, RunStatus, WaitKind};
pub use scatter::scatter;
pub use skill::{
    Body, Dialect, DomainIndex, OpenSpec, Role, Section, SiblingFile, Skill, Tier, Workflow,
};
pub use spend_subject::SpendSubject;
pub use step::{Confirmation, Input, InputType, Loop, OnError, Step};
pub use step_kind::{StepKind, StepType, Wait};
pub use template_marks::{TEMPLATE_MARKS, is_template};
pub use text::Text;
pub use trace::{SpanId, TraceContext, TraceId, TraceParentError, span_place};
pub use trigger::{SkillEvent, Timing, Trigger};
pub use value_text::value_text;
pub use visible::{visible, visible_after, visible_json};

/// A JSON object that keeps the order in which its keys were written.
pub type Object = serde_json::Map<String, serde_json::Value>;
