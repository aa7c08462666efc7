//! Limit on log lines about refused requests.
//!
//! Anyone who can connect can cause refused requests. Without a limit, a flood of them would fill the log and
//! the audit log, which are cut at a maximum size, and so erase the record of real changes.
//!
//! Not here: the limit on the requests themselves (`rate.rs`).

use std::time::Instant;

use parking_lot::Mutex;

/// Maximum number of refusals logged at once.
const BURST: f64 = 100.0;

/// Refusals logged per second when they keep coming: ten a minute, which is some 5 MB a day.
const PER_SECOND: f64 = 1.0 / 6.0;

/// Decides which refused requests are logged.
pub(crate) struct Refusals(Mutex<Allowance>);

struct Allowance {
    left: f64,
    seen: Instant,
    omitted: u64,
}

impl Refusals {
    pub(crate) fn new(now: Instant) -> Self {
        Self(Mutex::new(Allowance {
            left: BURST,
            seen: now,
            omitted: 0,
        }))
    }

    /// Returns whether a refusal is logged; if so, with the number of those omitted before it.
    pub(crate) fn admit(&self, now: Instant) -> Option<u64> {
        let mut allowance = self.0.lock();
        let passed = now.saturating_duration_since(allowance.seen).as_secs_f64();
        allowance.left = passed.mul_add(PER_SECOND, allowance.left).min(BURST);
        allowance.seen = now;
        if allowance.left < 1.0 {
            allowance.omitted += 1;
            return None;
        }
        allowance.left -= 1.0;
        Some(std::mem::take(&mut allowance.omitted))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_flood_of_refusals_is_limited_and_counted() {
        let begun = Instant::now();
        let refusals = Refusals::new(begun);
        let admitted = (0..1000).filter_map(|_| refusals.admit(begun));
        assert_eq!(admitted.collect::<Vec<_>>(), [0; 100]);
        let later = begun + Duration::from_secs(7);
        assert_eq!(refusals.admit(later), Some(900));
        assert_eq!(refusals.admit(later), None);
        assert_eq!(refusals.admit(later + Duration::from_secs(6)), Some(1));
    }
}
