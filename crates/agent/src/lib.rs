//! The agent as a value: replies of models and results of calls in, questions and calls out.
//!
//! A [`Machine`] is driven like the interpreter of workflows: [`Machine::advance`] says what follows
//! from its state, those events are stored, the [`Request`]s performed, and their results
//! handed back as events. Replaying the events gives the same machine and calls nothing.
//!
//! Not here: I/O, clocks, async, a store, which tools and skills there are (a trait), models and
//! their wires, money.

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
pub use machine::{CATALOG_TOOL, Divergence, MOST_OFFERED, Machine, Reply};
pub use prompt::RESULT_TAG;
pub use request::{Consent, Coverage, Facts, Request, RequestedCall, Resolution};
pub use setup::{ConversationRef, Dispatch, Limits, Mode, Offer, Setup, ShelfTool};
