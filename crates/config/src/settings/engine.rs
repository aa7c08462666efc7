//! The `[engine]` section, which overrides the engine's own defaults.

use std::time::Duration;

use deft_model::Heal;

/// Settings of the engine. `None` keeps the engine's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineConfig {
    /// Maximum number of concurrent runs; 0 for no limit.
    pub max_running: Option<u32>,
    /// Timeout of tool calls that set none themselves.
    pub tool_timeout: Option<Duration>,
    /// Timeout of runs.
    pub run_timeout: Option<Duration>,
    /// How long a lease on a run lasts without renewal.
    pub lease: Option<Duration>,
    /// Maximum size of one result, in bytes.
    pub max_result_bytes: Option<usize>,
    /// Maximum size of all results of a run together, in bytes.
    pub max_results_bytes: Option<usize>,
    /// How long a run waits in memory before it is parked.
    pub park_after: Option<Duration>,
    /// Hours between health reports; 0 for none.
    pub health_report_hours: Option<u64>,
    /// The workspace folder that skills get.
    pub workspace_uri: Option<String>,
    /// Heal rules for all skills.
    pub heals: Vec<Heal>,
}

impl EngineConfig {
    /// Overrides `options` with the settings of the file.
    pub fn apply(&self, options: &mut deft_engine::Options) {
        if let Some(most) = self.max_running {
            options.max_running = (most > 0).then_some(most);
        }
        options.run_timeout = self.run_timeout.or(options.run_timeout);
        options.tool_timeout = self.tool_timeout.or(options.tool_timeout);
        put(&mut options.lease, self.lease);
        put(&mut options.max_result_bytes, self.max_result_bytes);
        put(&mut options.max_results_bytes, self.max_results_bytes);
        put(&mut options.park_after, self.park_after);
        if let Some(hours) = self.health_report_hours {
            let every = Duration::from_secs(hours.saturating_mul(3600));
            options.health_report = (hours > 0).then_some(every);
        }
        put(&mut options.workspace_uri, self.workspace_uri.clone());
        options.heals.extend(self.heals.iter().cloned());
    }
}

fn put<T>(place: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *place = given;
    }
}
