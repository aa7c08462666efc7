//! Settings of the engine (`[engine]` in the configuration).

use std::path::PathBuf;
use std::time::Duration;

use deft_model::Heal;

use crate::AgentOptions;

/// How the engine behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where lock files of owners are.
    pub owners: PathBuf,
    /// Where results go that are too large to be stored.
    pub spill: PathBuf,
    /// Where dated session logs go (S3.28); none keeps no such log.
    pub sessions: Option<PathBuf>,
    /// How long session logs are kept; none keeps them for ever.
    pub sessions_max_age: Option<Duration>,
    /// The folder or project that runs work on, unless they say otherwise.
    pub workspace_uri: String,
    /// How many runs may be running at once, over all processes.
    pub max_running: Option<u32>,
    /// How long a lease holds unless renewed.
    pub lease: Duration,
    /// How long a tool call may take that says nothing itself; none leaves it to its server.
    pub tool_timeout: Option<Duration>,
    /// How long a run may take that says nothing itself.
    pub run_timeout: Option<Duration>,
    /// The largest result of a step that is stored.
    pub max_result_bytes: usize,
    /// How many bytes the results of a run may have in all.
    pub max_results_bytes: usize,
    /// Waits longer than this give the lease back, if a daemon will resume the run.
    pub park_after: Duration,
    /// How often the host is checked and people are told what has changed; none for never.
    pub health_report: Option<Duration>,
    /// The least time in minutes between two messages about completions of one skill
    /// (`SKILL_NOTIFY_INTERVAL_MINUTES`), where the skill says nothing.
    pub notify_minutes: u32,
    /// The tool that carries messages to people, if one does: a run that used it has told already.
    pub channel_tool: Option<String>,
    /// Folders with skills, agents and settings: an agent is asked before it writes there.
    pub protected: Vec<PathBuf>,
    /// Ids of default skills that wait for their tools: with `enabled: false` in their file they wait
    /// for them even if the tools are known already, and are never off by a person's wish.
    pub waiting_defaults: Vec<String>,
    /// Remedies of the host.
    pub heals: Vec<Heal>,
    /// How agents behave.
    pub agent: AgentOptions,
    /// The zone of local time in compute blocks.
    pub zone: String,
    /// Why it may be the wrong zone; a caller that stores a time gets this as a warning.
    pub zone_doubt: Option<String>,
    /// Whether the host exports traces, so that calls carry spans of their own.
    pub traces: bool,
}

impl Options {
    /// The defaults, for a folder that holds everything.
    pub fn at(home: &std::path::Path) -> Self {
        Self {
            owners: home.join("data").join("owners"),
            spill: home.join("data").join("results"),
            sessions: Some(home.join("sessions")),
            sessions_max_age: None,
            workspace_uri: String::new(),
            max_running: Some(64),
            lease: Duration::from_secs(30),
            tool_timeout: None,
            run_timeout: None,
            max_result_bytes: 1 << 20,
            max_results_bytes: 64 << 20,
            park_after: Duration::from_secs(30),
            health_report: Some(Duration::from_hours(6)),
            notify_minutes: 0,
            channel_tool: None,
            protected: vec![home.to_owned()],
            waiting_defaults: Vec::new(),
            heals: Vec::new(),
            agent: AgentOptions::default(),
            zone: "UTC".to_owned(),
            zone_doubt: None,
            traces: false,
        }
    }
}
