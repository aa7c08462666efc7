//! Delays before retries, and durations in words. Pure functions: headers of servers are passed as text.

use std::time::Duration;

use deft_model::scatter;
use jiff::fmt::rfc2822::DateTimeParser;

/// The first delay, and the longest one that the provider did not ask for.
const FIRST_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(20);

/// The longest delay that a provider may ask for. For a longer one, other models are asked at once.
pub(crate) const MAX_REQUESTED_DELAY: Duration = Duration::from_mins(2);

/// Returns the delay that a server asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date. A
/// date is compared with the server's own, so that clock differences do not matter.
pub(crate) fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok()?;
        Duration::try_from_secs_f64(number).ok()
    };
    if let Some(exact) = header("retry-after-ms").and_then(number) {
        return Some(exact / 1000);
    }
    let text = header("retry-after")?;
    if let Some(seconds) = number(text) {
        return Some(seconds);
    }
    let parser = DateTimeParser::new();
    let date = |text: &str| parser.parse_timestamp(text.trim()).ok();
    let (then, now) = (date(text)?, date(header("date")?)?);
    let seconds = then.duration_since(now).as_secs();
    // A date in the past asks for no delay.
    Some(Duration::from_secs(
        u64::try_from(seconds).unwrap_or_default(),
    ))
}

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
    use std::time::Duration;

    use super::{backoff, retry_after};

    fn read(headers: &[(&str, &'static str)]) -> Option<Duration> {
        retry_after(|name| {
            headers
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| *value)
        })
    }

    #[test]
    fn servers_ask_in_three_ways() {
        let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
        let soon = ("retry-after", "Wed, 21 Oct 2026 07:29:30 GMT");
        let past = ("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT");
        let seconds = Duration::from_secs;
        assert_eq!(read(&[("retry-after", " 7 ")]), Some(seconds(7)));
        assert_eq!(
            read(&[("retry-after", "0.25")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            read(&[("retry-after", "7"), ("retry-after-ms", "40")]),
            Some(Duration::from_millis(40))
        );
        assert_eq!(read(&[soon, date]), Some(seconds(90)));
        assert_eq!(read(&[past, date]), Some(seconds(0)));
        assert_eq!(read(&[soon]), None);
        assert_eq!(read(&[("retry-after", "-1")]), None);
        assert_eq!(read(&[("retry-after", "soon")]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn waits_grow_and_differ() {
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
