//! `wait:` steps while a run is driven.

use std::time::Duration;

use jiff::Timestamp;

use super::Driver;

/// The longest wait of a step for which an attended run keeps its process.
const MAX_POLL_INTERVAL: Duration = Duration::from_mins(5);

impl Driver {
    /// Starts the wait of a step; it does not count towards the time limit of the run.
    pub(super) fn begin_wait(&mut self, until: Timestamp) {
        self.waits.push(until);
        let rest = until.duration_since(self.engine.now());
        let rest = rest.max(jiff::SignedDuration::ZERO);
        let later = |deadline: Timestamp| deadline.saturating_add(rest).unwrap_or(Timestamp::MAX);
        self.deadline = self.deadline.map(later);
    }

    /// Whether a step waits long enough to park the run. An attended run is parked only after a few minutes.
    pub(super) fn is_worth_parking(&self, now: Timestamp, until: Timestamp) -> bool {
        let park_after = self.engine.options.park_after;
        let most = if self.attention.parks {
            park_after
        } else {
            park_after.max(MAX_POLL_INTERVAL)
        };
        now.saturating_add(most).is_ok_and(|soon| until > soon)
    }
}
