//! Parsing of times in prose, as far as they are unambiguous (S0.25).
//!
//! "in 5 minutes" fires once, "every 5 minutes" repeatedly. A phrase that could mean either, or that has no
//! time of day, is an error with an explanation. ISO timestamps are not prose and are not parsed here.

mod clock;
mod mistake;
mod once;
mod recurring;
mod token;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::at::{instant_after, parse_at};
use crate::cron::Cron;
use crate::duration::parse_duration;
use crate::error::Error;
use crate::fire_time::FireTime;
pub(crate) use mistake::{day_ahead, explain};

/// The field that contains a phrase; it determines the possible meanings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhraseField {
    /// Repeatedly, unless the words mean once.
    Schedule,
    /// Repeatedly.
    Every,
    /// Once, after a delay.
    In,
    /// Once, unless the words mean repeatedly.
    At,
    /// Once or repeatedly; also a cron expression.
    When,
}

/// The current time and time zone for reading a phrase.
#[derive(Clone, Copy, Debug)]
pub struct PhraseClock<'a> {
    /// The instant from which delays and days count.
    pub now: Timestamp,
    /// The time zone of times of day.
    pub zone: &'a TimeZone,
}

/// Parses a phrase. Returns `None` if `text` is not prose.
pub fn read_phrase(
    text: &str,
    field: PhraseField,
    clock: &PhraseClock<'_>,
) -> Result<Option<FireTime>, Error> {
    use PhraseField as Field;
    let plain = match field {
        Field::Schedule => Cron::parse(text).is_ok(),
        Field::When if Cron::parse(text).is_ok() => {
            return Ok(Some(FireTime::Cron(text.trim().to_owned())));
        }
        Field::At | Field::When => parse_at(text, clock.zone).is_ok(),
        Field::Every | Field::In => false,
    };
    if plain || text.len() > 200 {
        return Ok(None);
    }
    let words = token::words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match (&words[..], field) {
        ([], _) => Ok(None),
        (["every" | "each", ..], Field::In) => Err(contradiction("in", "once", text)),
        (["in" | "after", ..], Field::Every) => Err(contradiction("every", "repeatedly", text)),
        (["every" | "each", rest @ ..], _) => recurring::read(rest, text).map(Some),
        (_, Field::Every) => recurring::read(&words, text).map(Some),
        (["in" | "after", rest @ ..] | [rest @ .., "from", "now"] | [rest @ .., "later"], _) => {
            delay(rest, text, clock)
        }
        (_, Field::In) => delay(&words, text, clock),
        (words, _) if recurring::is_plural(words) => recurring::read(words, text).map(Some),
        (words, Field::At | Field::When) => once::read(words, text, clock),
        (words, Field::Schedule) => parse_schedule(words, text, clock),
    }
}

/// Parses the value of `schedule`, where a single fire needs a date to be unambiguous.
fn parse_schedule(
    words: &[&str],
    text: &str,
    clock: &PhraseClock<'_>,
) -> Result<Option<FireTime>, Error> {
    if let Ok(at) = parse_at(text, clock.zone) {
        return Ok(Some(FireTime::At(at)));
    }
    match once::read(words, text, clock) {
        Ok(Some(_)) if !once::is_dated(words) => Err(refused_error(
            format!("`{text}` is ambiguous: once or repeatedly?"),
            format!("give `at: \"{text}\"` for once, or `schedule: \"every day at 09:00\"`"),
        )),
        Ok(None) if is_prose(words) => Err(unreadable(text)),
        other => other,
    }
}

fn refused_error(message: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::new(message).hint(hint)
}

fn contradiction(field: &str, meaning: &str, text: &str) -> Error {
    refused_error(
        format!("`{field}` means {meaning}, but `{text}` does not"),
        "use `in: \"5 minutes\"` for once, or `every: \"5 minutes\"` for repeatedly",
    )
}

fn unreadable(text: &str) -> Error {
    refused_error(
        format!("`{text}` cannot be read without guessing"),
        "write a cron expression such as `0 9 * * 1-5`, or `every 30 minutes`, `every monday at 09:00`, `in 5 minutes`",
    )
}

/// Combines days and a time of day from two separate fields into a cron expression.
pub fn days_at(days: &str, time: &str) -> Option<String> {
    let words = token::words(time);
    let [word] = &words[..] else {
        return None;
    };
    clock::time(word)?;
    let days = token::words(days);
    let words: Vec<&str> = days
        .iter()
        .map(String::as_str)
        .chain(["at", word])
        .collect();
    match recurring::read(&words, time) {
        Ok(FireTime::Cron(cron)) => Some(cron),
        Ok(FireTime::Minutes(_) | FireTime::At(_)) | Err(_) => None,
    }
}

/// Returns whether a word is a time of day, such as `9`, `9:30`, `3pm` or `noon`.
pub(crate) fn is_time_of_day(word: &str) -> bool {
    clock::time(word).is_some()
}

/// Returns whether a word names a weekday, also in the plural or abbreviated.
pub(crate) fn is_weekday(word: &str) -> bool {
    token::weekday(word).is_some()
}

/// Returns whether a word stands for a number, such as `an` or `five`.
pub(crate) fn is_number_word(word: &str) -> bool {
    token::digits(word) != word
}

/// Returns whether the text consists of words, as opposed to a broken cron expression.
fn is_prose(words: &[&str]) -> bool {
    let first = words.first();
    first.is_some_and(|word| word.len() > 2 && word.chars().all(char::is_alphabetic))
}

fn delay(words: &[&str], text: &str, clock: &PhraseClock<'_>) -> Result<Option<FireTime>, Error> {
    let joined = words.join(" ");
    let Some(length) = spelled_length(&joined) else {
        if let Some(error) = explain(&format!("in {joined}"), clock) {
            return Err(error);
        }
        let digits = !joined.is_empty() && joined.bytes().all(|byte| byte.is_ascii_digit());
        let message = if digits {
            format!("`{text}` has no unit")
        } else {
            format!("`{text}` is not a duration")
        };
        return Err(refused_error(
            message,
            "write it with units: `90s`, `15m`, `1h30m`, `2 days`",
        ));
    };
    instant_after(clock.now, length).map(|at| Some(FireTime::At(at)))
}

/// Parses a duration with units or in words: accepts `half an hour`, but not `an hour and a half`.
pub fn spelled_length(text: &str) -> Option<SignedDuration> {
    let words = token::words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["half", "an" | "1", "hour"] | ["half", "hour"] => {
            return Some(SignedDuration::from_mins(30));
        }
        ["quarter", "of", "an", "hour"] | ["quarter", "hour"] => {
            return Some(SignedDuration::from_mins(15));
        }
        _ => {}
    }
    let spelled = words.iter().filter(|word| !matches!(**word, "and" | ","));
    let spelled: Vec<String> = spelled.map(|word| token::digits(word)).collect();
    parse_duration(&spelled.join(" ")).ok()
}

#[cfg(test)]
mod tests;
