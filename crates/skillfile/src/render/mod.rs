//! Writes a skill down, in any dialect that can hold it.
//!
//! What is written reads back as the same skill. Files for the open format
//! pass the reference validator: deft's own keys go below `metadata` as texts.

mod agent;
mod agentskills;
mod emit;
mod keys;
mod manual;
mod record;
mod workflow;

pub use agent::agent;
pub use agentskills::agentskills;
pub use manual::{manpage, manual};
pub use record::record;
pub use workflow::workflow;
