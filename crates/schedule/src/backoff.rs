//! How long a skill rests after failures, and how quickly lost time is made up for.
//!
//! Not here: counting streaks and numbering runs, which the store does.

use jiff::SignedDuration;

/// How many runs that make up for lost time may be unfinished at once.
const CATCH_UP: usize = 4;

/// How long a skill rests after `streak` failures in a row: 1, 5, 15 and 60 minutes. `None` from
/// the fifth on: it is to be disabled (X2).
pub fn backoff(streak: u32) -> Option<SignedDuration> {
    match streak {
        0 => Some(SignedDuration::ZERO),
        1 => Some(SignedDuration::from_mins(1)),
        2 => Some(SignedDuration::from_mins(5)),
        3 => Some(SignedDuration::from_mins(15)),
        4 => Some(SignedDuration::from_mins(60)),
        _ => None,
    }
}

/// How many more late slots may fire now when the runs of `unfinished` late slots are not over.
///
/// After a night of downtime hundreds of skills are late at once, and firing them together would
/// overrun the tools they share. Counting what is unfinished, not what fired per second, fits quick
/// and slow skills alike. A late slot that has to wait is left where it is and asked about again,
/// oldest first, so it can still be coalesced into a newer one. Slots on time never wait.
pub fn pace(unfinished: usize) -> usize {
    CATCH_UP.saturating_sub(unfinished)
}
