//! Finds out when a WebSocket client has vanished: after some pings in a row without a message from it.
//!
//! Not here: clients that are connected but do not read, which a send finds out by its timeout.

use std::time::Duration;

/// Interval between pings.
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// Number of pings in a row that a client may leave unanswered.
const MAX_LOST_PINGS: u32 = 3;

/// The pings since the last message of a client.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    lost_pings: u32,
}

/// What to do after an interval without a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LivenessCheck {
    /// Send a ping.
    Ping,
    /// Close the connection: without this check, the client would keep its place until the system notices,
    /// after hours.
    Vanished,
}

impl Liveness {
    /// Waits for one interval. Dropping the future, because there was news, restarts the interval.
    pub(super) async fn next(&mut self) -> LivenessCheck {
        tokio::time::sleep(PING_INTERVAL).await;
        if self.lost_pings == MAX_LOST_PINGS {
            return LivenessCheck::Vanished;
        }
        self.lost_pings += 1;
        LivenessCheck::Ping
    }

    /// Records a message of the client; the answer to a ping is one.
    pub(super) fn record_message(&mut self) {
        self.lost_pings = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_has_vanished_after_three_lost_pings() {
        let mut liveness = Liveness::default();
        let begun = tokio::time::Instant::now();
        for _ in 0..MAX_LOST_PINGS {
            assert_eq!(liveness.next().await, LivenessCheck::Ping);
        }
        assert_eq!(liveness.next().await, LivenessCheck::Vanished);
        assert_eq!(begun.elapsed(), Duration::from_mins(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_answers_stays_connected() {
        let mut liveness = Liveness::default();
        for _ in 0..100 {
            assert_eq!(liveness.next().await, LivenessCheck::Ping);
            liveness.record_message();
        }
    }
}
