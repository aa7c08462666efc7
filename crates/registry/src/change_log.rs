//! The log lines of reloads: one for each file that changed, once it is quiet.
//!
//! An editor that saves in several steps, or a skill that is copied file by file, changes a skill a few
//! times within a second. Each change is in effect at once; only the line waits, and the last one counts.

use std::time::{Duration, Instant};

use crate::change::Change;

/// How long nothing may change before lines are written.
pub(crate) const QUIET: Duration = Duration::from_millis(700);

/// How long lines wait for a writer that does not stop.
const LONGEST: Duration = Duration::from_secs(10);

/// Changes whose lines are not written yet, oldest first.
#[derive(Default)]
pub(crate) struct ChangeLog {
    waiting: Vec<Change>,
    since: Option<Instant>,
}

impl ChangeLog {
    /// Takes a change, which replaces earlier ones that it makes out of date.
    pub(crate) fn add(&mut self, change: Change) {
        self.since.get_or_insert_with(Instant::now);
        self.waiting.retain(|known| !is_replaced(known, &change));
        self.waiting.push(change);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether lines have waited too long.
    pub(crate) fn is_late(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= LONGEST)
    }

    /// Gives the changes whose lines are due.
    pub(crate) fn take(&mut self) -> Vec<Change> {
        self.since = None;
        std::mem::take(&mut self.waiting)
    }
}

/// Whether the line of a change need not be written because of a later one. A file that loads is no
/// longer broken; one that broke was loaded before, which stays true.
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

/// One line per accepted reload (S2.20).
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
