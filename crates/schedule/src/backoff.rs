//! The delay after failures, and the limit on runs that make up for missed slots.
//!
//! Not here: counting failures and runs, which the store does.

use jiff::SignedDuration;

/// Maximum number of unfinished runs for late slots.
const CATCH_UP: usize = 4;

/// Returns the delay after `streak` failures in a row: 1, 5, 15 and 60 minutes. `None` from the fifth failure
/// on: the skill must be disabled (X2).
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

/// Returns how many more late slots may fire now, given the number of unfinished runs of late slots.
///
/// After a night of downtime hundreds of skills are late at once, and firing them together would overload the
/// tools they share. The limit counts unfinished runs, not fires per second, because that suits fast and slow
/// skills alike. A late slot that exceeds the limit stays undecided and is considered again later, oldest
/// first, so it can still be coalesced into a newer one. Slots on time never wait.
pub fn pace(unfinished: usize) -> usize {
    CATCH_UP.saturating_sub(unfinished)
}
