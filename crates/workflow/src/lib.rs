//! The interpreter of workflows as a value.
//!
//! A [`Plan`] is a skill made ready to run; a [`Machine`] is a run of it. Events go in, asks
//! come out. Nothing here does I/O, reads a clock or is async, so a run can be replayed, tried
//! without effects and tested as data.
//!
//! This crate does not call tools, store events or know what a tool is; it does not decide who
//! may run what, or when.

mod apply;
mod call;
mod call_end;
mod deadline;
mod decide;
mod dry;
mod enclosing;
mod event;
mod expect;
mod finish;
mod follow;
mod inputs;
#[cfg(test)]
mod inputs_tests;
mod kinds;
mod machine;
mod mind;
mod order;
mod path;
mod permit;
mod plan;
mod progress;
mod public;
mod resume;
mod reuse;
mod scope;
mod size;
mod sources;
mod state;
mod step_view;
mod tree;
mod verify;
mod view_builder;
mod wait;

pub use call::{Call, ExpectLevel};
pub use dry::{DryHeal, DryLoop, DryStep, Verdict, dry_run};
pub use enclosing::EnclosingSkill;
pub use event::{
    Answer, CallEnd, CallIntent, Event, Heal, Next, Operation, RunEnd, RunError, RunPreparation,
    RunStart, ToolMark,
};
pub use inputs::{InputProblem, check_inputs, read_input};
pub use machine::{AgentStep, Ask, Code, Divergence, Facts, Machine, Permit, Rules};
pub use path::Path;
pub use plan::{Plan, PlannedCall, Remedy};
pub use public::{OPTIONS, public};
pub use reuse::reuse;
pub use scope::{mask, placeholder, rekey, replace_placeholders};
pub use size::size;
pub use step_view::{ItemCounts, StepError, StepStatus, StepView, step_views, warning};
