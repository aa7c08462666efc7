//! Parsing of a reminder as typed: a text and a time, in either order, without quotes.
//!
//! The time begins at the first word that can begin one and extends to the end. A phrase that cannot be
//! parsed is an error, because a shorter one could mean another time.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::duration::parse_duration;
use crate::error::{Error, quote};
use crate::parse::{EXAMPLES, parse_future, parse_when};
use crate::prose::{PhraseClock, day_ahead, explain, is_time_of_day, is_weekday};
use crate::words::MONTHS;

/// The two parts of a reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReminderWords {
    /// The text of the reminder.
    pub text: String,
    /// The time phrase, to be parsed by [`parse_future`].
    pub when: String,
}

/// Splits the arguments of `deft remind`. An argument with spaces was quoted and forms one part.
pub fn split_reminder(
    words: &[&str],
    zone: &TimeZone,
    now: Timestamp,
) -> Result<ReminderWords, Error> {
    let parts = match words {
        [first, rest @ ..] if first.contains(' ') && !rest.is_empty() => {
            let rest = rest.join(" ");
            match parse_when(first, zone, now) {
                Ok(_) => reminder(&rest, first),
                Err(_) => reminder(first, &rest),
            }
        }
        words => split_words(&words.join(" "), zone, now)?,
    };
    if parts.text.is_empty() {
        let message = "the reminder has no text";
        return Err(Error::new(message).hint("for example `deft remind drink water in 5m`"));
    }
    parse_future(&parts.when, zone, now)?;
    Ok(parts)
}

fn reminder(text: &str, when: &str) -> ReminderWords {
    let words: Vec<&str> = text.split_whitespace().collect();
    ReminderWords {
        text: without_address(&words).join(" "),
        when: when.to_owned(),
    }
}

fn split_words(all: &str, zone: &TimeZone, now: Timestamp) -> Result<ReminderWords, Error> {
    let words: Vec<&str> = all.split_whitespace().collect();
    let words = without_address(&words);
    let lower: Vec<String> = words
        .iter()
        .map(|word| word.to_lowercase().trim_end_matches(',').to_owned())
        .collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let clock = PhraseClock { now, zone };
    let start = (0..words.len()).find(|at| begins_time(&lower[*at..]));
    let Some(start) = start else {
        let text = words.join(" ");
        let message = format!("{} names no time", quote(&text));
        return Err(explain(&text, &clock).unwrap_or(Error::new(message).hint(EXAMPLES)));
    };
    if start > 0 {
        if let Some(date) = unread_date(&lower[..start]) {
            let message = format!(
                "{} belongs to the time, but it cannot be read",
                quote(&date)
            );
            let hint = format!("write the day as in `{} 8:00`", day_ahead(&clock, 30));
            return Err(Error::new(message).hint(hint));
        }
        let (text, when) = words.split_at(start);
        let text = without_preposition(text);
        return Ok(reminder(&text.join(" "), &when.join(" ")));
    }
    let reads = |length: &usize| parse_when(&words[..*length].join(" "), zone, now).is_ok();
    let length = (1..words.len()).rev().find(reads).unwrap_or(words.len());
    let (when, text) = words.split_at(length);
    Ok(reminder(&text.join(" "), &when.join(" ")))
}

/// Returns words of the text that look like an unsupported date. Ignoring them would set the reminder for the
/// wrong day.
fn unread_date(text: &[&str]) -> Option<String> {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let is_month = |word: &str| {
        let word = word.trim_end_matches('.');
        let mut months = MONTHS.iter().map(|month| month.to_lowercase());
        months.any(|month| month == word || word.len() == 3 && month.starts_with(word))
    };
    let pairs = text.windows(2);
    let mut dates = pairs.filter(|pair| {
        is_month(pair[0]) && is_number(pair[1]) || is_number(pair[0]) && is_month(pair[1])
    });
    if let Some(date) = dates.next() {
        return Some(date.join(" "));
    }
    let last = *text.last()?;
    let is_ordinal = |word: &str| {
        let ends = ["st", "nd", "rd", "th"];
        is_number(word) && ends.iter().any(|end| word.ends_with(end))
    };
    let is_date = |word: &str| is_number(word) && word.contains(['.', '/']);
    match text {
        [.., "next" | "last" | "this", "week" | "month" | "year"] => {
            Some(text[text.len() - 2..].join(" "))
        }
        [.., "yesterday" | "last" | "before" | "until"] => Some(last.to_owned()),
        [.., last] if is_ordinal(last) || is_date(last) => Some((*last).to_owned()),
        _ => None,
    }
}

/// Removes the trailing preposition of "the meeting on", which belongs to the time.
fn without_preposition<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    match words {
        [text @ .., last] if !text.is_empty() && ["on", "at", "the"].contains(last) => text,
        _ => words,
    }
}

/// Removes the address from "me to drink water".
fn without_address<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let is = |at: usize, word: &str| {
        let found = words.get(at);
        found.is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    let address = match (is(0, "me"), is(1, "to") || is(1, "that")) {
        (true, true) => 2,
        (true, false) => 1,
        (false, _) => usize::from(is(0, "to")),
    };
    words.get(address..).unwrap_or_default()
}

/// Returns whether a time can begin here. Short names of weekdays are excluded: "sit in the sun".
fn begins_time(words: &[&str]) -> bool {
    match words {
        ["in" | "after", rest @ ..] => begins_length(rest),
        ["at", time, ..] => is_time_of_day(time),
        ["every" | "each", rest @ ..] => begins_length(rest) || begins_days(rest),
        ["next", day, ..] => is_weekday(day),
        ["on", rest @ ..] => rest.first().is_some_and(|day| is_day(day)) || is_monthly(rest),
        [
            "hourly" | "daily" | "weekly" | "monthly" | "yearly" | "weekdays" | "weekends"
            | "today" | "tonight" | "tomorrow",
            ..,
        ]
        | ["the", "day", "after", "tomorrow", ..]
        | ["day", "after", "tomorrow", ..] => true,
        [_, unit, "from" | "later", ..] if is_unit(unit) => begins_length(words),
        [first, ..] if is_monthly(words) || is_day(first) => true,
        // A bare number is part of the text.
        [first, ..] => is_time_of_day(first) && !first.bytes().all(|byte| byte.is_ascii_digit()),
        [] => false,
    }
}

fn is_day(word: &str) -> bool {
    let date = word.get(..10).unwrap_or(word);
    is_weekday(word) && word.len() > 5 || word.contains('-') && date.parse::<Date>().is_ok()
}

/// Matches `1st of the month` and `the last day of the month`.
fn is_monthly(words: &[&str]) -> bool {
    match words {
        ["the", rest @ ..] => is_monthly(rest),
        ["last", "day", "of", ..] => true,
        [day, "of", "the" | "every" | "each" | "a", "month", ..] => {
            *day == "first" || day.starts_with(|c: char| c.is_ascii_digit())
        }
        _ => false,
    }
}

fn begins_days(words: &[&str]) -> bool {
    let days = [
        "day",
        "weekday",
        "weekend",
        "week",
        "month",
        "year",
        "morning",
        "afternoon",
        "evening",
        "night",
        "other",
        "hour",
        "minute",
        "working",
        "work",
    ];
    let first = words.first().copied().unwrap_or_default();
    days.contains(&first) || is_weekday(first) || is_monthly(words)
}

/// Matches `5m`, `1h30m`, `5 minutes`, `an hour`, `half an hour`.
fn begins_length(words: &[&str]) -> bool {
    match words {
        ["half" | "quarter", ..] => true,
        [length, ..] if parse_duration(length).is_ok() => true,
        [count, unit, ..] => is_count(count) && is_unit(unit),
        _ => false,
    }
}

fn is_count(word: &str) -> bool {
    let digits = word.starts_with(|c: char| c.is_ascii_digit());
    digits || crate::prose::is_number_word(word)
}

fn is_unit(word: &str) -> bool {
    let units = [
        "s", "sec", "second", "m", "min", "minute", "h", "hr", "hour", "d", "day", "week",
    ];
    let singular = word.strip_suffix('s').filter(|rest| !rest.is_empty());
    units.contains(&word) || singular.is_some_and(|word| units.contains(&word))
}
