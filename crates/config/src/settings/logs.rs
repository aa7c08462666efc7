//! The `[logs]` section: retention of logs and session logs.

use std::time::Duration;

/// Rotation and retention of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimits {
    /// Size in bytes at which a log is rotated.
    pub max_bytes: u64,
    /// Number of rotated files to keep.
    pub keep: u32,
    /// Maximum age of a line.
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

/// Default retention of session logs.
const SESSIONS: Duration = Duration::from_hours(365 * 24);

/// The `[logs]` section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// Rotation and retention of logs.
    pub limits: LogLimits,
    /// Retention of session logs.
    pub sessions: Duration,
}

impl LogConfig {
    /// Overrides the defaults with the settings of the file.
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
