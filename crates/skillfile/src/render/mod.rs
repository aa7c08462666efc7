//! Rendering of skills in any dialect that can express them.
//!
//! Parsing the output gives the same skill. Files for the open format pass the reference validator: deft's
//! own keys are written below `metadata` as texts.

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
