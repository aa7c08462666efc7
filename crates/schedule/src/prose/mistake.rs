//! Errors for common mistakes in phrases: impossible times and unsupported lengths.

use jiff::civil::Date;
use jiff::{Span, ToSpan};

use super::token::{digits, words};
use super::{PhraseClock, refused_error};
use crate::duration::is_zero;
use crate::error::{Error, quote};

/// Returns an error that explains why `text` cannot be parsed, if it contains a common mistake.
pub(crate) fn explain(text: &str, clock: &PhraseClock<'_>) -> Option<Error> {
    let words = words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let clock_mistake = words.iter().enumerate().find_map(|(at, word)| {
        let after_at = at > 0 && words[at - 1] == "at" && at + 1 == words.len();
        impossible_time(word, after_at)
    });
    clock_mistake.or_else(|| {
        let mut lengths = (0..words.len()).filter(|at| matches!(words[*at], "in" | "after"));
        lengths.find_map(|at| wrong_length(&words[at..], clock))
    })
}

/// Returns the date `days` after today, for hints.
pub(crate) fn day_ahead(clock: &PhraseClock<'_>, days: i64) -> Date {
    let today = clock.zone.to_datetime(clock.now).date();
    let span = Span::new().try_days(days).unwrap_or_default();
    today.saturating_add(span)
}

/// Finds `25:00`, `9:75` and `13pm`, and a bare `25` only where a time of day is required.
fn impossible_time(word: &str, must_be_time: bool) -> Option<Error> {
    let half = word.strip_suffix("am").or_else(|| word.strip_suffix("pm"));
    let number = half.unwrap_or(word);
    let (hour, minute) = match number.split_once(':') {
        Some((hour, minute)) => (hour, Some(small_number(minute)?)),
        None => (number, None),
    };
    let hour = small_number(hour)?;
    let message = match (half, minute) {
        (None, None) if !must_be_time => return None,
        (Some(_), _) if !(1..=12).contains(&hour) => "with am and pm hours go from 1 to 12",
        (None, _) if hour > 23 => "hours go from 0 to 23",
        (_, Some(60..)) => "minutes go from 00 to 59",
        (_, _) => return None,
    };
    Some(refused_error(
        format!("`{word}` is not a time of day: {message}"),
        "for example `at 17:30` or `at 5pm`",
    ))
}

fn small_number(text: &str) -> Option<u8> {
    let fits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| fits)
}

/// Finds `in 0m` and `in 2 months`.
fn wrong_length(words: &[&str], clock: &PhraseClock<'_>) -> Option<Error> {
    match words {
        [_, count, unit @ ("month" | "months" | "year" | "years"), ..] => {
            let count = digits(count).parse::<i32>().ok()?;
            Some(without_fixed_length(count, unit, clock))
        }
        [_, count, unit, ..] if is_zero(&format!("{count} {unit}")) => {
            Some(empty_length(&words[..3]))
        }
        [_, length, ..] if is_zero(length) => Some(empty_length(&words[..2])),
        _ => None,
    }
}

fn empty_length(words: &[&str]) -> Error {
    let message = format!(
        "{} is not in the future: it must be longer than zero",
        quote(&words.join(" "))
    );
    refused_error(message, "for example `in 5m`")
}

/// Months and years differ in length, and people who write them mean a date.
fn without_fixed_length(count: i32, unit: &str, clock: &PhraseClock<'_>) -> Error {
    let ahead = match unit {
        "month" | "months" => Span::new().try_months(count),
        _ => Span::new().try_years(count),
    };
    let ahead = ahead.unwrap_or(1.month());
    let date = day_ahead(clock, 0).saturating_add(ahead);
    let plural = if unit.ends_with('s') {
        unit
    } else {
        &format!("{unit}s")
    };
    refused_error(
        format!("`{count} {unit}` cannot be read: {plural} differ in length"),
        format!("give the date: `{date} 9:00`"),
    )
}
