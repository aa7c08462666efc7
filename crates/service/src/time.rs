//! Parses and formats instants and durations.

use std::time::Duration;

use deft_schedule::LengthError;
use deft_wire::{Done, Failure};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

pub use deft_schedule::length as spoken_length;
pub use deft_schedule::show;

/// Parses an instant; without an offset it is wall time in `zone`.
pub fn parse_instant(text: &str, zone: &TimeZone) -> Done<Timestamp> {
    deft_schedule::parse_at(text, zone).map_err(|problem| wrong(&problem))
}

/// Like [`parse_instant`], but also accepts a date, which means its midnight.
pub fn parse_day_or_instant(text: &str, zone: &TimeZone) -> Done<Timestamp> {
    let is_date = text.parse::<Date>().is_ok() && !text.contains(['T', 't', ' ']);
    if is_date {
        return parse_instant(&format!("{text}T00:00"), zone);
    }
    parse_instant(text, zone)
}

/// Parses a duration such as `30d`.
pub fn parse_duration(text: &str) -> Done<SignedDuration> {
    deft_schedule::parse_duration(text).map_err(|problem| wrong(&problem))
}

/// Parses a duration such as `2m`; a bare number is a number of seconds.
pub fn parse_length(text: &str) -> Done<Duration> {
    deft_schedule::parse_length(text).map_err(|problem| match problem {
        LengthError::Words(problem) => wrong(&problem),
        LengthError::Zero | LengthError::Seconds => {
            let message = format!("`{text}` is not a positive number of seconds");
            Failure::input("invalid_input", message)
        }
    })
}

fn wrong(problem: &deft_schedule::Error) -> Failure {
    Failure::input("invalid_input", problem.message.clone()).maybe_hint(problem.hint.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_a_duration_in_seconds() {
        let seconds = Duration::from_secs;
        let wrong = |text: &str| parse_length(text).unwrap_err().message;
        for (text, expected) in [("30", 30), ("30s", 30), ("2m", 120), ("1h30m", 5400)] {
            assert_eq!(parse_length(text), Ok(seconds(expected)), "{text}");
        }
        assert_eq!(wrong("0"), "`0` is not a positive number of seconds");
        assert_eq!(wrong("-3"), "`-3` is not a positive number of seconds");
        assert_eq!(wrong("soon"), "duration `soon` is not valid");
    }
}
