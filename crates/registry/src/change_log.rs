//! Log lines for reloads: one for each changed file, once the file is quiet.
//!
//! An editor that saves in several steps, or a skill that is copied file by file, changes a skill several
//! times within a second. Each change takes effect immediately; only its log line is delayed, and the last
//! change is logged.

use std::time::{Duration, Instant};

use crate::change::Change;

/// Time without changes after which lines are written.
pub(crate) const QUIET_PERIOD: Duration = Duration::from_millis(700);

/// Maximum delay of a line while changes continue.
const MAX_DELAY: Duration = Duration::from_secs(10);

/// Changes that are not logged yet, oldest first.
#[derive(Default)]
pub(crate) struct ChangeLog {
    waiting: Vec<Change>,
    since: Option<Instant>,
}

impl ChangeLog {
    /// Adds a change and drops earlier ones that it supersedes.
    pub(crate) fn add(&mut self, change: Change) {
        self.since.get_or_insert_with(Instant::now);
        self.waiting.retain(|known| !is_replaced(known, &change));
        self.waiting.push(change);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a change has been pending for too long.
    pub(crate) fn is_late(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= MAX_DELAY)
    }

    /// Removes and returns all pending changes.
    pub(crate) fn take(&mut self) -> Vec<Change> {
        self.since = None;
        std::mem::take(&mut self.waiting)
    }
}

/// Whether `later` supersedes the log line of `known`. A file that loads is no longer broken; a file that
/// breaks was loaded before, and that line stays.
fn is_replaced(known: &Change, later: &Change) -> bool {
    match (known, later) {
        (
            Change::Loaded { path, .. } | Change::Broken { path, .. },
            Change::Loaded { path: later, .. },
        )
        | (Change::Broken { path, .. }, Change::Broken { path: later, .. }) => path == later,
        (
            Change::Loaded { .. }
            | Change::Broken { .. }
            | Change::Removed { .. }
            | Change::Agent { .. }
            | Change::Domain { .. },
            _,
        ) => known == later,
    }
}

/// Writes the log line for a change (S2.20).
pub(crate) fn write(change: &Change) {
    match change {
        Change::Broken { .. } => tracing::warn!("{change}"),
        Change::Loaded { .. }
        | Change::Removed { .. }
        | Change::Agent { .. }
        | Change::Domain { .. } => {
            tracing::info!("{change}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_change_is_logged_once() {
        let broken = |name: &str, reason: &str| Change::Broken {
            path: Arc::from(Path::new(name)),
            kept: None,
            reason: reason.to_owned(),
        };
        let agent = |id: &str| Change::Agent { id: id.to_owned() };
        let mut log = ChangeLog::default();
        for change in [
            broken("a", "half"),
            agent("scout"),
            broken("b", "other"),
            broken("a", "whole"),
            agent("scout"),
        ] {
            log.add(change);
        }
        assert_eq!(
            log.take(),
            [broken("b", "other"), broken("a", "whole"), agent("scout")]
        );
        assert!(log.is_empty() && !log.is_late());
    }
}
