//! Instants and durations in words, for messages.
//!
//! Messages are read soon after they were written. Rows that are kept for months contain full instants:
//! [`show`](crate::show).

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Instants closer than this are described by their distance.
const RELATIVE_LIMIT: SignedDuration = SignedDuration::from_hours(1);

/// Returns the day and time of an instant: "today at 15:05", "tomorrow at 09:00", "yesterday at 18:30", "on
/// Monday 2026-02-16 at 09:00".
pub fn day_and_time(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (wall, today) = (zone.to_datetime(at), zone.to_datetime(now).date());
    let day = match wall.date() {
        date if date == today => "today".to_owned(),
        date if today.tomorrow().is_ok_and(|tomorrow| tomorrow == date) => "tomorrow".to_owned(),
        date if today.yesterday().is_ok_and(|before| before == date) => "yesterday".to_owned(),
        date => format!("on {} {date}", wall.strftime("%A")),
    };
    let time = if wall.second() == 0 {
        "%H:%M"
    } else {
        "%H:%M:%S"
    };
    format!("{day} at {}", wall.strftime(time))
}

/// Describes a future instant: "in 5 minutes" within the next hour, otherwise by day and time.
pub fn describe_time(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let ahead = at.duration_since(now);
    if ahead <= SignedDuration::ZERO || ahead >= RELATIVE_LIMIT {
        return day_and_time(at, now, zone);
    }
    format!("in {}", length(ahead))
}

/// Returns a duration in its largest unit: "40 seconds", "5 minutes", "2 hours", "3 days".
pub fn length(time: SignedDuration) -> String {
    let seconds = time.as_secs().max(0);
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..7200 => (seconds / 60, "minute"),
        7200..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_described_in_words() {
        let zone = crate::parse_zone("Europe/Berlin").unwrap();
        let now: Timestamp = "2026-02-13T22:30:00Z".parse().unwrap();
        let describe = |at: &str| describe_time(at.parse().unwrap(), now, &zone);
        let cases = [
            // It is 23:30 in Berlin.
            ("2026-02-13T22:30:40Z", "in 40 seconds"),
            ("2026-02-13T22:31:00Z", "in 1 minute"),
            ("2026-02-13T23:29:59Z", "in 59 minutes"),
            ("2026-02-13T23:30:00Z", "tomorrow at 00:30"),
            ("2026-02-14T08:00:00Z", "tomorrow at 09:00"),
            ("2026-02-16T08:00:05Z", "on Monday 2026-02-16 at 09:00:05"),
            ("2026-02-13T22:30:00Z", "today at 23:30"),
            ("2026-02-13T08:00:00Z", "today at 09:00"),
            ("2026-02-12T08:00:00Z", "yesterday at 09:00"),
            ("2026-02-02T08:00:00Z", "on Monday 2026-02-02 at 09:00"),
        ];
        assert_eq!(
            cases.map(|(at, _)| describe(at)),
            cases.map(|(_, words)| words)
        );
    }

    #[test]
    fn durations_are_described_in_one_unit() {
        let texts = [0, 59, 60, 119, 7199, 7200, 172_799, 172_800, -5]
            .map(|seconds| length(SignedDuration::from_secs(seconds)));
        let expected = [
            "0 seconds",
            "59 seconds",
            "1 minute",
            "1 minute",
            "119 minutes",
            "2 hours",
            "47 hours",
            "2 days",
            "0 seconds",
        ];
        assert_eq!(texts, expected);
    }
}
