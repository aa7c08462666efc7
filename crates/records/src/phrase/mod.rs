//! Times in prose, as far as they can be read without guessing (S0.25).
//!
//! "in 5 minutes" is once and "every 5 minutes" is again and again; what could
//! be either, or names no time of day, is refused with a sentence. Cron
//! expressions and ISO timestamps are not prose and are not read here.

mod clock;
mod once;
mod recurring;
mod token;

use deft_schedule::{Cron, Schedule, parse_at, parse_duration};
use deft_skillfile::Moment;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The field in which a phrase stands; it decides what the phrase can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// Again and again, unless the words say otherwise.
    Schedule,
    /// Again and again.
    Every,
    /// Once, after a while.
    In,
    /// Once, unless the words say otherwise.
    At,
}

impl Field {
    pub(crate) fn from_key(key: &str) -> Self {
        match key {
            "every" | "interval" => Self::Every,
            "in" => Self::In,
            "at" | "when" => Self::At,
            _ => Self::Schedule,
        }
    }
}

/// The present, where the phrase is read.
pub(crate) struct Clock<'a> {
    pub now: Timestamp,
    pub zone: &'a TimeZone,
}

/// What a phrase means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// Whenever a cron expression says so.
    Cron(String),
    /// Every so many minutes.
    Minutes(u64),
    /// Once.
    At(Timestamp),
}

/// Why a phrase is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhraseError {
    pub message: String,
    pub hint: String,
}

impl PhraseError {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// Reads a phrase; nothing when it is not prose at all.
pub(crate) fn read(
    text: &str,
    field: Field,
    clock: &Clock<'_>,
) -> Result<Option<Time>, PhraseError> {
    let plain = match field {
        Field::Schedule => Cron::parse(text).is_ok(),
        Field::At => parse_at(text, clock.zone).is_ok(),
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
        (["in" | "after", ..], Field::Every) => {
            Err(contradiction("every", "again and again", text))
        }
        (["every" | "each", rest @ ..], _) => recurring::read(rest, text).map(Some),
        (_, Field::Every) => recurring::read(&words, text).map(Some),
        (["in" | "after", rest @ ..] | [rest @ .., "from", "now"] | [rest @ .., "later"], _) => {
            delay(rest, text, clock)
        }
        (_, Field::In) => delay(&words, text, clock),
        (words, _) if recurring::is_plural(words) => recurring::read(words, text).map(Some),
        (words, Field::At) => once::read(words, text, clock),
        (words, Field::Schedule) => scheduled(words, text, clock),
    }
}

/// Under `schedule` something that happens once must say so by its date.
fn scheduled(words: &[&str], text: &str, clock: &Clock<'_>) -> Result<Option<Time>, PhraseError> {
    if let Ok(at) = parse_at(text, clock.zone) {
        return Ok(Some(Time::At(at)));
    }
    match once::read(words, text, clock) {
        Ok(Some(_)) if !once::is_dated(words) => Err(PhraseError::new(
            format!("`{text}` does not say whether once or again and again"),
            format!("give `at: \"{text}\"` for once, or `schedule: \"every day at 09:00\"`"),
        )),
        Ok(None) if is_prose(words) => Err(unreadable(text)),
        other => other,
    }
}

fn contradiction(field: &str, meaning: &str, text: &str) -> PhraseError {
    PhraseError::new(
        format!("`{field}` means {meaning}, and `{text}` does not"),
        "give `in: \"5 minutes\"` for once, or `every: \"5 minutes\"` for again and again",
    )
}

fn unreadable(text: &str) -> PhraseError {
    PhraseError::new(
        format!("`{text}` cannot be read without guessing"),
        "write a cron expression such as `0 9 * * 1-5`, or `every 30 minutes`, `every monday at 09:00`, `in 5 minutes`",
    )
}

/// Reads when something fires, in the words that records understand: a cron expression, a timestamp, or
/// prose such as `at 3pm`, `tomorrow at 9:00`, `in an hour` and `every weekday at 9`.
pub fn read_schedule(text: &str, moment: &Moment) -> Result<Schedule, deft_schedule::Error> {
    let clock = Clock {
        now: moment.now,
        zone: &moment.zone,
    };
    let parse = |text: &str| Schedule::parse(text, &moment.zone, moment.now);
    let parsed = parse(text);
    if parsed.is_ok() {
        return parsed;
    }
    match read(text, Field::At, &clock) {
        Ok(None) => parsed,
        Ok(Some(Time::Cron(cron))) => parse(&cron),
        Ok(Some(Time::Minutes(minutes))) => parse(&format!("every {minutes}m")),
        Ok(Some(Time::At(at))) => Ok(Schedule::At(at)),
        // What begins with a number or a star is a cron expression with a mistake.
        Err(_) if !text.trim_start().starts_with(char::is_alphabetic) => parsed,
        Err(PhraseError { message, hint }) => Err(deft_schedule::Error {
            message,
            span: None,
            hint: Some(hint),
        }),
    }
}

/// Days and a time of day that stand in two fields, as a cron expression.
pub(crate) fn days_at(days: &str, time: &str) -> Option<String> {
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
        Ok(Time::Cron(cron)) => Some(cron),
        Ok(Time::Minutes(_) | Time::At(_)) | Err(_) => None,
    }
}

/// Whether the text is words, and not a broken cron expression.
fn is_prose(words: &[&str]) -> bool {
    let first = words.first();
    first.is_some_and(|word| word.len() > 2 && word.chars().all(char::is_alphabetic))
}

fn delay(words: &[&str], text: &str, clock: &Clock<'_>) -> Result<Option<Time>, PhraseError> {
    let joined = words.join(" ");
    let Some(length) = length(&joined) else {
        let digits = !joined.is_empty() && joined.bytes().all(|byte| byte.is_ascii_digit());
        let message = if digits {
            format!("`{text}` has no unit")
        } else {
            format!("`{text}` is not a length of time")
        };
        return Err(PhraseError::new(
            message,
            "write it with units: `90s`, `15m`, `1h30m`, `2 days`",
        ));
    };
    match deft_schedule::after(clock.now, length) {
        Ok(at) => Ok(Some(Time::At(at))),
        Err(problem) => Err(PhraseError::new(
            problem.message,
            problem.hint.unwrap_or_default(),
        )),
    }
}

/// A length of time with units, also in words: `an hour and a half` is not one,
/// `half an hour` is.
pub(crate) fn length(text: &str) -> Option<SignedDuration> {
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
#[path = "tests.rs"]
mod tests;
