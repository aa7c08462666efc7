//! Fires, and the runs that they become.

use std::sync::Arc;

use deft_model::{Authority, Cause, Object, Overlap, RunId, RunOrigin, Skill};
use deft_store::{RunRow, SlotStep, Write};
use deft_workflow::Event;
use jiff::Timestamp;

/// A request to run a skill, with its cause.
#[derive(Clone, Debug, Default)]
pub struct Fire {
    /// The skill, by id.
    pub skill: String,
    /// Its arguments.
    pub inputs: Object,
    /// What fired it.
    pub cause: Cause,
    /// A run with the same key is never stored twice.
    pub key: Option<String>,
    /// The slot that the run is for.
    pub slot: Option<Timestamp>,
    /// How the skill advances along its slots with this fire.
    pub step: Option<SlotStep>,
    /// Overrides the overlap rule of the skill.
    pub overlap: Option<Overlap>,
    /// The skill itself, if it exists only for this run.
    pub content: Option<Arc<Skill>>,
    /// The folder or project it works on.
    pub workspace_uri: Option<String>,
    /// The run it was made from.
    pub parent: Option<Parent>,
    /// Writes in the transaction that stores the run.
    pub writes: Vec<Write>,
    /// Why the check before the run failed.
    pub check_failed: Option<String>,
    /// The rights of the agent that requests it; `None` for a person or a schedule.
    pub authority: Option<Arc<Authority>>,
    /// The request that it comes from.
    pub origin: RunOrigin,
}

/// The run that another one was made from.
#[derive(Clone, Debug)]
pub struct Parent {
    /// The run.
    pub run: RunId,
    /// Its steps that the new run reuses, with the placeholders of secrets under `nonce`.
    pub reused: Vec<Event>,
    /// The nonce of the new run.
    pub nonce: String,
}

/// The result of a fire.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// A run that has ended, waits, or has a driver.
    Run(RunRow),
    /// A run with the same key existed already.
    Existing(RunRow),
}

impl Admission {
    /// The run.
    pub fn run(&self) -> &RunRow {
        match self {
            Self::Run(run) | Self::Existing(run) => run,
        }
    }
}
