//! Names of the tools through which agents use skills and other agents.

/// Runs a skill and returns its outputs (S3.25).
pub const SKILL_RUN: &str = "skill_run";
/// Loads the text of a skill (S4.11).
pub const SKILL: &str = "skill";
/// Shows domains and pages (S2.24 to S2.27).
pub const GET_SKILL: &str = "get_skill";
/// The older way to run a command (S2.50).
pub const USE_SKILL: &str = "use_skill";
/// Dispatches an agent (S2.59).
pub const DISPATCH_AGENT: &str = "dispatch_agent";

/// The names of all these tools.
pub const AGENT_TOOLS: [&str; 5] = [SKILL_RUN, SKILL, GET_SKILL, USE_SKILL, DISPATCH_AGENT];

/// Tools that call commands; a model in command mode does not need them.
pub(crate) const FOR_COMMANDS: [&str; 2] = [USE_SKILL, GET_SKILL];
