//! A circuit breaker for servers that do not respond (S2.52).
//!
//! A pure value without a clock: the caller passes the time and reports results. [`backoff`] is the
//! delay between two starts of a server.

use std::time::{Duration, Instant};

/// Consecutive failures that open the circuit.
const THRESHOLD: u32 = 5;
/// How long an open circuit rejects calls.
const COOL_DOWN: Duration = Duration::from_secs(30);

/// A circuit breaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Breaker {
    failures: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    /// Rejects all calls until this instant.
    Open(Instant),
    /// A trial call was admitted at this instant; its result decides.
    Trying(Instant),
}

impl Breaker {
    /// Admits a call now, or returns the instant at which one may be admitted.
    ///
    /// When the cool-down of an open circuit has ended, the first caller is admitted as a trial, and all
    /// others are rejected until its result.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<(), Instant> {
        match self.state {
            State::Closed => Ok(()),
            State::Open(until) if now < until => Err(until),
            // A trial that never reports back must not keep the circuit open forever.
            State::Trying(since) if now < since + COOL_DOWN => Err(since + COOL_DOWN),
            State::Open(_) | State::Trying(_) => {
                self.state = State::Trying(now);
                Ok(())
            }
        }
    }

    /// Records that the server responded.
    pub(crate) fn record_success(&mut self) {
        *self = Self::default();
    }

    /// Records that the server could not be reached or was lost.
    pub(crate) fn record_failure(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        let trial = matches!(self.state, State::Trying(_));
        if trial || self.failures >= THRESHOLD {
            self.state = State::Open(now + COOL_DOWN);
        }
    }

    /// Records that an admitted call ended without a result about the server.
    pub(crate) fn record_no_result(&mut self, now: Instant) {
        if let State::Trying(_) = self.state {
            self.state = State::Open(now);
        }
    }

    /// Returns the instant until which calls are rejected; `None` if the circuit is not open.
    pub(crate) fn open_until(&self, now: Instant) -> Option<Instant> {
        match self.state {
            State::Open(until) if now < until => Some(until),
            State::Open(_) | State::Closed | State::Trying(_) => None,
        }
    }
}

/// Returns the delay before a start after `failures` consecutive failures.
pub(crate) fn backoff(failures: u32) -> Duration {
    const FIRST_DELAY: Duration = Duration::from_millis(100);
    const MAX_DELAY: Duration = Duration::from_secs(30);
    match failures {
        0 => Duration::ZERO,
        n => FIRST_DELAY
            .saturating_mul(1 << (n - 1).min(10))
            .min(MAX_DELAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..THRESHOLD {
            assert!(breaker.admit(now).is_ok());
            breaker.record_failure(now);
        }
        breaker
    }

    /// S2.52.
    #[test]
    fn the_breaker_opens_after_five_failures_in_a_row() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            breaker.record_failure(now);
        }
        breaker.record_success();
        for _ in 0..4 {
            breaker.record_failure(now);
        }
        assert!(breaker.admit(now).is_ok());
        breaker.record_failure(now);
        assert_eq!(breaker.admit(now), Err(now + COOL_DOWN));
        assert_eq!(breaker.open_until(now), Some(now + COOL_DOWN));
    }

    #[test]
    fn after_the_cool_down_one_call_decides() {
        let now = Instant::now();
        let later = now + COOL_DOWN;
        let mut breaker = open(now);
        assert!(breaker.admit(later).is_ok());
        assert!(breaker.admit(later).is_err(), "only one is let through");
        breaker.record_failure(later);
        assert_eq!(breaker.admit(later), Err(later + COOL_DOWN));
        let latest = later + COOL_DOWN;
        assert!(breaker.admit(latest).is_ok());
        breaker.record_success();
        assert!(breaker.admit(latest).is_ok());
        assert!(breaker.admit(latest).is_ok());
    }

    #[test]
    fn an_inconclusive_trial_allows_the_next_trial() {
        let now = Instant::now();
        let later = now + COOL_DOWN;
        let mut breaker = open(now);
        assert!(breaker.admit(later).is_ok());
        breaker.record_no_result(later);
        assert!(breaker.admit(later).is_ok());
        assert!(
            breaker.admit(later + COOL_DOWN).is_ok(),
            "a lost trial is forgotten"
        );
    }

    #[test]
    fn the_wait_doubles_up_to_half_a_minute() {
        let waits: Vec<_> = (0..11).map(|n| backoff(n).as_millis()).collect();
        assert_eq!(
            waits,
            [
                0, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000
            ]
        );
        assert_eq!(backoff(u32::MAX), Duration::from_secs(30));
    }
}
