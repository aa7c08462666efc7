//! The state machine of agents: replies of models and results of calls go in, requests to models and calls
//! come out.
//!
//! A [`Machine`] is driven like the interpreter of workflows: [`Machine::advance`] returns the events that
//! follow from its state; the driver stores them, performs the [`Request`]s, and passes back their results as
//! events. Replaying the events gives the same machine and calls nothing.
//!
//! Not here: I/O, clocks, async, a store, which tools and skills exist (a trait), models and their wire
//! formats, costs.

mod address;
mod classify;
mod event;
mod machine;
pub mod prompt;
mod request;
mod setup;

pub use address::Address;
pub use classify::{Classification, Classifier, Match, MatchLimits, Playbook, TooManyKeywords};
pub use event::{AgentEnd, Event, EventKind, Interpretation, WrittenCommand};
pub use machine::{CATALOG_TOOL, Divergence, MAX_OFFERED, Machine, Reply};
pub use prompt::RESULT_TAG;
pub use request::{Consent, Coverage, Facts, Request, RequestedCall, Resolution};
pub use setup::{ConversationRef, Dispatch, Limits, Mode, Offer, Setup, ShelfTool};
