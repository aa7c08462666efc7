//! Settings of the engine (`[engine]` in the configuration).

use std::path::PathBuf;
use std::time::Duration;

use deft_model::Heal;

use crate::AgentOptions;

/// Settings of the engine.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the lock files of owners.
    pub owners: PathBuf,
    /// The folder for results that are too large to be stored.
    pub spill: PathBuf,
    /// The folder of dated session logs (S3.28); `None` writes no logs.
    pub sessions: Option<PathBuf>,
    /// How long session logs are kept; `None` keeps them forever.
    pub sessions_max_age: Option<Duration>,
    /// The default folder or project that runs work on.
    pub workspace_uri: String,
    /// Maximum number of running runs, across all processes.
    pub max_running: Option<u32>,
    /// How long a lease lasts unless it is renewed.
    pub lease: Duration,
    /// Default timeout of tool calls; `None` leaves it to the server.
    pub tool_timeout: Option<Duration>,
    /// Default timeout of runs.
    pub run_timeout: Option<Duration>,
    /// Maximum size of a step's result, in bytes.
    pub max_result_bytes: usize,
    /// Maximum total size of the results of a run, in bytes.
    pub max_results_bytes: usize,
    /// A run that waits longer than this is parked, if a daemon will resume it.
    pub park_after: Duration,
    /// Interval of the health report; `None` disables it.
    pub health_report: Option<Duration>,
    /// Default of the shortest time in minutes between two completion notices of one skill
    /// (`SKILL_NOTIFY_INTERVAL_MINUTES`).
    pub notify_minutes: u32,
    /// The tool that delivers notices, if any: a run that used it has sent its message already.
    pub channel_tool: Option<String>,
    /// Folders with skills, agents and settings: an agent must ask before it writes there.
    pub protected: Vec<PathBuf>,
    /// Ids of default skills that wait for their tools: with `enabled: false` in their file they wait even if
    /// the tools are known already, and are never treated as disabled by a person.
    pub waiting_defaults: Vec<String>,
    /// Heal rules of the configuration.
    pub heals: Vec<Heal>,
    /// Settings of agents.
    pub agent: AgentOptions,
    /// The zone of local time in compute blocks.
    pub zone: String,
    /// Why the zone may be wrong; a caller that stores a time gets this as a warning.
    pub zone_doubt: Option<String>,
    /// Whether the host exports traces, so that calls get their own spans.
    pub traces: bool,
}

impl Options {
    /// Returns the defaults, for a folder that holds everything.
    pub fn for_home(home: &std::path::Path) -> Self {
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
