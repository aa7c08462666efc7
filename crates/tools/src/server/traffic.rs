//! Counts the unsolicited messages of a server.
//!
//! A pure value; the caller passes the time. It decides which requests of a server are answered, and
//! what is logged: once per window, never per message.
//!
//! Not here: closing a connection whose server sends nothing else (`guard.rs`).

use std::time::Duration;

use tokio::time::Instant;

/// The length of a counting window.
const WINDOW: Duration = Duration::from_mins(1);
/// The number of requests that are answered per window. A server that pings every second sends 60.
const MAX_REQUESTS: u64 = 600;
/// The number of notifications per window that is still normal: progress of long calls, log lines.
const MAX_NOTIFICATIONS: u64 = 6_000;
/// The maximum number of answers that the server has not read.
pub(super) const MAX_UNREAD: usize = 64;

/// The counts of a window with too many messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Excess {
    pub(super) requests: u64,
    pub(super) unanswered: u64,
    pub(super) notifications: u64,
}

/// The counts of unsolicited messages of one connection.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    since: Option<Instant>,
    requests: u64,
    unanswered: u64,
    notifications: u64,
}

impl Traffic {
    /// Counts a request; returns whether to answer it.
    pub(super) fn request(&mut self, unread: usize) -> bool {
        self.requests += 1;
        let answered = self.requests <= MAX_REQUESTS && unread < MAX_UNREAD;
        self.unanswered += u64::from(!answered);
        answered
    }

    /// Counts a notification.
    pub(super) fn notification(&mut self) {
        self.notifications += 1;
    }

    /// Starts a new window if the old one has ended; returns the excess of the old one.
    pub(super) fn turn(&mut self, now: Instant) -> Option<Excess> {
        let since = *self.since.get_or_insert(now);
        if now.saturating_duration_since(since) < WINDOW {
            return None;
        }
        let excess = self.finish();
        self.since = Some(now);
        excess
    }

    /// Ends the window and returns its excess, if any.
    pub(super) fn finish(&mut self) -> Option<Excess> {
        let counted = std::mem::take(self);
        let too_much = counted.unanswered > 0 || counted.notifications > MAX_NOTIFICATIONS;
        too_much.then_some(Excess {
            requests: counted.requests,
            unanswered: counted.unanswered,
            notifications: counted.notifications,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_the_rate_are_counted_and_not_answered() {
        let (mut traffic, start) = (Traffic::default(), Instant::now());
        assert_eq!(traffic.turn(start), None);
        let answered = (0..1000).filter(|_| traffic.request(0)).count();
        assert_eq!(answered, 600);
        assert_eq!(traffic.turn(start + WINDOW / 2), None);
        let excess = Excess {
            requests: 1000,
            unanswered: 400,
            notifications: 0,
        };
        assert_eq!(traffic.turn(start + WINDOW), Some(excess));
        assert!(traffic.request(0), "a new window begins");
        assert_eq!(traffic.turn(start + WINDOW * 2), None);
    }

    #[test]
    fn a_server_that_does_not_read_gets_no_more_answers() {
        let mut traffic = Traffic::default();
        assert!(traffic.request(MAX_UNREAD - 1));
        assert!(!traffic.request(MAX_UNREAD));
    }

    #[test]
    fn only_a_flood_of_notifications_is_logged() {
        let mut traffic = Traffic::default();
        for _ in 0..MAX_NOTIFICATIONS {
            traffic.notification();
        }
        assert_eq!(traffic.finish(), None);
        for _ in 0..=MAX_NOTIFICATIONS {
            traffic.notification();
        }
        assert_eq!(
            traffic.finish().map(|excess| excess.notifications),
            Some(6_001)
        );
    }
}
