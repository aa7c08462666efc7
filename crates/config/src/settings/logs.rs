//! The `[logs]` section: how much is kept of what deft writes down beside the database.

use std::time::Duration;

/// When a log is rotated, and what is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimits {
    /// The size at which a log is rotated.
    pub max_bytes: u64,
    /// How many rotated files of a log are kept.
    pub keep: u32,
    /// How old lines may get.
    pub max_age: Duration,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self {
            max_bytes: 10 * 1024 * 1024,
            keep: 5,
            max_age: Duration::from_hours(30 * 24),
        }
    }
}

/// How long session logs are kept unless the file says otherwise.
const SESSIONS: Duration = Duration::from_hours(365 * 24);

/// Settings of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// When logs are rotated.
    pub limits: LogLimits,
    /// How long session logs are kept.
    pub sessions: Duration,
}

impl LogConfig {
    /// What the file says over the defaults.
    pub(super) fn new(
        max_megabytes: Option<u64>,
        keep: Option<u64>,
        max_age: Option<Duration>,
        sessions: Option<Duration>,
    ) -> Self {
        let usual = LogLimits::default();
        Self {
            limits: LogLimits {
                max_bytes: max_megabytes
                    .map_or(usual.max_bytes, |count| count.saturating_mul(1024 * 1024)),
                keep: keep.map_or(usual.keep, |keep| u32::try_from(keep).unwrap_or(u32::MAX)),
                max_age: max_age.unwrap_or(usual.max_age),
            },
            sessions: sessions.unwrap_or(SESSIONS),
        }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self::new(None, None, None, None)
    }
}
