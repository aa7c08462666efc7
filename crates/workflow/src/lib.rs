//! The interpreter of workflows, as a value.
//!
//! A [`Plan`] is a skill prepared for running; a [`Machine`] is one run of it. Events go in, asks come out.
//! Nothing here does I/O, reads a clock or is async, so a run can be replayed, dry-run and tested as data.
//!
//! Not here: calling tools, storing events, and deciding who may run what, or when. The crate does not know
//! what a tool is.

mod apply;
mod call;
mod call_end;
mod code;
mod cut_off;
mod deadline;
mod decide;
mod dry;
mod enclosing;
mod event;
mod expect;
mod expect_checks;
mod facts;
mod finish;
mod follow;
mod inputs;
#[cfg(test)]
mod inputs_tests;
mod interruptions;
mod kinds;
mod machine;
mod mask;
#[cfg(test)]
mod mask_tests;
mod order;
mod path;
mod permit;
mod placeholder;
mod plan;
mod planned;
mod progress;
mod public;
mod public_agent;
mod public_form;
mod resume;
mod reuse;
mod scope;
mod size;
mod sources;
mod state;
mod step_view;
mod tree;
mod untrusted;
mod value_kind;
mod verify;
mod view_builder;
mod wait;

pub use call::{Call, CallSummary, ExpectLevel};
pub use code::Code;
pub use dry::dry_run;
pub use enclosing::EnclosingSkill;
pub use event::{
    Answer, CallEnd, CallIntent, Event, Heal, Next, Operation, RunEnd, RunError, RunPreparation,
    RunStart, ToolMark,
};
pub use facts::{Facts, Permit};
pub use inputs::{InputProblem, check_inputs, read_input};
pub use interruptions::{idle_time, interruptions, tells_idle_time};
pub use machine::{AgentStep, Ask, Divergence, Machine, Recovery, Rules};
pub use mask::Mask;
pub use path::Path;
pub use placeholder::{mask, mask_value, placeholder, rekey, replace_placeholders};
pub use plan::{Plan, PlannedCall};
pub use planned::Remedy;
pub use public::public;
pub use reuse::reuse;
pub use size::size;
pub use step_view::warning;
pub use view_builder::step_views;
