//! The interpreter of workflows as a value.
//!
//! A [`Plan`] is a skill made ready to run; a [`Machine`] is a run of it. Events go in, actions
//! come out. Nothing here does I/O, reads a clock or is async, so a run can be replayed, tried
//! without effects and tested as data.
//!
//! This crate does not call tools, store events or know what a tool is; it does not decide who
//! may run what, or when.

mod apply;
mod deadline;
mod decide;
mod dry;
mod event;
mod expect;
mod finish;
mod follow;
mod inputs;
#[cfg(test)]
mod inputs_tests;
mod machine;
mod mind;
mod order;
mod path;
mod permit;
mod place;
mod plan;
mod progress;
mod public;
mod resume;
mod reuse;
mod scope;
mod settle;
mod size;
mod sources;
mod state;
mod tree;
mod verify;
mod view;
mod views;
mod wait;

pub use dry::{DryHeal, DryLoop, DryStep, Verdict, dry_run};
pub use event::{
    Answer, Begun, Call, Ended, Event, Finished, Heal, Next, Operation, Prepared, RunError,
    Started, ToolMark, Whose,
};
pub use inputs::{InputProblem, check_inputs, read_input};
pub use machine::{Action, AgentStep, Code, Diverged, Facts, Machine, Permit, Rules};
pub use path::Path;
pub use place::Around;
pub use plan::{Plan, PlannedCall, Remedy};
pub use public::{OPTIONS, public};
pub use reuse::reuse;
pub use scope::{mask, placeholder, rekey, replace_placeholders};
pub use size::size;
pub use view::{ItemCounts, StepError, StepStatus, StepView, step_views, warning};
