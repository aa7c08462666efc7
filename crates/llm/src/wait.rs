//! Delays before retries, and durations in words.

use std::time::Duration;

use deft_model::scatter;

/// The first delay, and the longest one that the provider did not ask for.
const FIRST_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(20);

/// The longest delay that a provider may ask for. For a longer one, other models are asked at once.
pub(crate) const MAX_REQUESTED_DELAY: Duration = Duration::from_mins(2);

/// Returns the delay before a try: it doubles each time, reduced by up to half with a hash of the seed, so
/// that many runs do not retry together.
pub(crate) fn backoff(seed: &str, tries: u32) -> Duration {
    let doubled = FIRST_DELAY.saturating_mul(
        1_u32
            .checked_shl(tries.saturating_sub(1))
            .unwrap_or(u32::MAX),
    );
    let full = doubled.min(MAX_DELAY);
    let bytes = seed.bytes().chain(tries.to_le_bytes());
    let share = u32::try_from(scatter(bytes) % 500).unwrap_or_default();
    full.saturating_sub(full * share / 1000)
}

/// Formats a duration for people.
pub(crate) fn words(length: Duration) -> String {
    if length < Duration::from_secs(1) {
        format!("{} ms", length.as_millis())
    } else if length.subsec_millis() == 0 || length > Duration::from_mins(1) {
        format!("{} s", length.as_secs())
    } else {
        format!("{:.1} s", length.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::backoff;

    #[test]
    fn waits_grow_with_jitter() {
        let millis = |seed, tries| backoff(seed, tries).as_millis();
        for (tries, full) in [
            (1, 500),
            (2, 1000),
            (3, 2000),
            (6, 16_000),
            (7, 20_000),
            (99, 20_000),
        ] {
            let wait = millis("a", tries);
            assert!((full / 2..=full).contains(&wait), "{tries}: {wait}");
        }
        assert_ne!(millis("a", 3), millis("b", 3));
        assert_eq!(millis("a", 3), millis("a", 3));
    }
}
