//! Parsing of durations. All crates of the workspace use it.

use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

use crate::error::{Error, quote, trimmed_range};

/// Parses a positive duration such as `1h30m` or `2 days`; a day is 24 hours.
pub fn parse_duration(text: &str) -> Result<SignedDuration, Error> {
    const HINT: &str = "write it with units: `90s`, `15m`, `1h30m`, `2d`";
    let span = trimmed_range(text);
    let given = &text[span.clone()];
    let error = |what: &str| {
        Error::new(format!("duration {} {what}", quote(given))).with_span(span.clone())
    };
    if !given.is_empty() && given.bytes().all(|b| b.is_ascii_digit()) {
        let short: String = given.chars().take(10).collect();
        return Err(error("has no unit").hint(format!("write `{short}m` for minutes")));
    }
    let parsed: Span = given
        .parse()
        .map_err(|_| error("is not valid").hint(HINT))?;
    let length = parsed
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| error("has no fixed length").hint("use weeks, days, hours or minutes"))?;
    if length.is_positive() {
        Ok(length)
    } else {
        Err(error("is not longer than zero").hint(HINT))
    }
}

/// Whether the text is a duration with units that equals zero: `0m`.
pub(crate) fn is_zero(text: &str) -> bool {
    text.parse::<Span>().is_ok_and(Span::is_zero)
}

/// Parses a duration as written in files: a bare number of seconds, or units such as `1h30m`.
pub fn parse_length(text: &str) -> Result<Duration, LengthError> {
    match text.trim().parse::<f64>() {
        Ok(seconds) if seconds.is_finite() => from_seconds(seconds),
        _ => match parse_duration(text) {
            Ok(length) => Ok(length.unsigned_abs()),
            Err(error) => Err(LengthError::Words(error)),
        },
    }
}

/// Returns a duration of `seconds`, which must be positive.
pub fn from_seconds(seconds: f64) -> Result<Duration, LengthError> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(length) if length.is_zero() => Err(LengthError::Zero),
        Ok(length) => Ok(length),
        Err(_) => Err(LengthError::Seconds),
    }
}

/// Why a text or a number is not a valid duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LengthError {
    /// The duration is zero.
    Zero,
    /// The number of seconds is negative or too large.
    Seconds,
    /// The text with units is invalid.
    Words(Error),
}

/// Returns a duration of `count` minutes, for `interval_minutes` and `in_minutes`.
pub fn minutes(count: i64) -> Result<SignedDuration, Error> {
    whole(count, 60, "minutes")
}

/// Returns a duration of `count` hours, for `in_hours`.
pub fn hours(count: i64) -> Result<SignedDuration, Error> {
    whole(count, 3600, "hours")
}

fn whole(count: i64, seconds: i64, unit: &str) -> Result<SignedDuration, Error> {
    if count <= 0 {
        let message = format!("`{count}` {unit} is not longer than zero");
        return Err(Error::new(message).hint("use a whole number from 1"));
    }
    let length = count.checked_mul(seconds).map(SignedDuration::from_secs);
    // A duration longer than jiff's calendar would never end.
    let limit = Timestamp::MAX.duration_since(Timestamp::MIN);
    length.filter(|length| *length <= limit).ok_or_else(|| {
        Error::new(format!("`{count}` {unit} is too long")).hint("use a smaller number")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_seconds_or_has_units() {
        let units = |text: &str| LengthError::Words(parse_duration(text).unwrap_err());
        for (text, expected) in [
            ("30", Ok(Duration::from_secs(30))),
            (" 2.5 ", Ok(Duration::from_millis(2500))),
            ("1h30m", Ok(Duration::from_mins(90))),
            ("2 days", Ok(Duration::from_hours(48))),
            ("0", Err(LengthError::Zero)),
            ("-3", Err(LengthError::Seconds)),
            ("1e300", Err(LengthError::Seconds)),
            ("soon", Err(units("soon"))),
            ("inf", Err(units("inf"))),
            ("-3s", Err(units("-3s"))),
            ("", Err(units(""))),
        ] {
            assert_eq!(parse_length(text), expected, "{text}");
        }
    }
}
