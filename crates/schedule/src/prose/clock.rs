//! Parsing of times of day in prose: `9`, `9:30`, `3pm`, `noon`.

use super::refused_error;
use crate::error::Error;

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeOfDay {
    pub hour: u8,
    pub minute: u8,
    /// Whether the time may mean twelve hours later.
    pub vague: bool,
}

/// Parses a time of day.
pub(super) fn time(word: &str) -> Option<TimeOfDay> {
    let exact = |hour, minute| TimeOfDay {
        hour,
        minute,
        vague: false,
    };
    match word {
        "noon" | "midday" => return Some(exact(12, 0)),
        "midnight" => return Some(exact(0, 0)),
        _ => {}
    }
    let (digits, half) = match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(digits), _) => (digits, Some(0)),
        (None, Some(digits)) => (digits, Some(12)),
        (None, None) => (word, None),
    };
    let (hour, minute) = match digits.split_once([':', 'h']) {
        None => (digits, None),
        Some((hour, "")) => (hour, Some(0)),
        Some((hour, minute)) => (hour, Some(two(minute).filter(|minute| *minute < 60)?)),
    };
    let hour = number(hour)?;
    let full = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        None if hour < 24 => hour,
        Some(_) | None => return None,
    };
    Some(TimeOfDay {
        hour: full,
        minute: minute.unwrap_or(0),
        // "at 3" rarely means 3 in the morning.
        vague: half.is_none() && minute.is_none() && (1..7).contains(&hour),
    })
}

fn number(text: &str) -> Option<u8> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn two(text: &str) -> Option<u8> {
    // Seconds are accepted only if they are zero.
    let text = text.strip_suffix(":00").unwrap_or(text);
    number(text).filter(|_| text.len() == 2)
}

/// Parses a time of day and returns an error if it is ambiguous.
pub(super) fn certain(word: &str, text: &str) -> Result<Option<TimeOfDay>, Error> {
    match time(word) {
        Some(time) if time.vague => Err(refused_error(
            format!(
                "`{text}` may mean {:02}:00 or {:02}:00",
                time.hour,
                time.hour + 12
            ),
            format!("write `{:02}:00` or `{}pm`", time.hour, time.hour),
        )),
        other => Ok(other),
    }
}
