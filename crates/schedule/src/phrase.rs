//! Parsing of a schedule written as one phrase: a cron expression, `every 30m`, `in 1h30m` or an ISO instant.
//!
//! Skill files have separate fields for these and do not use this parser.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::at::{instant_after, parse_at};
use crate::cron::Cron;
use crate::duration::parse_duration;
use crate::error::{Error, quote, trimmed_range};
use crate::schedule::Schedule;

const FORMS: &str =
    "write a cron expression (`0 9 * * 1-5`), `every 30m`, `in 1h30m` or `2026-02-14T15:00`";

impl Schedule {
    /// Parses a phrase. Wall times are in `zone`; intervals and delays start at `now`.
    pub fn parse(text: &str, zone: &TimeZone, now: Timestamp) -> Result<Schedule, Error> {
        let whole = trimmed_range(text);
        let given = &text[whole.clone()];
        let first = given.split_whitespace().next().unwrap_or_default();
        let rest = || trimmed_after(text, whole.start + first.len());
        match first.to_ascii_lowercase().as_str() {
            "every" => {
                let (start, length) = rest();
                let every = parse_duration(length).map_err(|error| error.shift(start))?;
                Ok(Schedule::Interval { every, anchor: now })
            }
            "in" => {
                let (start, length) = rest();
                let wait = parse_duration(length).map_err(|error| error.shift(start))?;
                instant_after(now, wait).map(Schedule::At)
            }
            "at" => {
                let (start, instant) = rest();
                let at = parse_at(instant, zone).map_err(|error| error.shift(start))?;
                Ok(Schedule::At(at))
            }
            _ if is_date(first) => parse_at(text, zone).map(Schedule::At),
            _ if !looks_like_cron(given) => {
                let message = format!("{} is not a schedule", quote(given));
                Err(Error::new(message).with_span(whole).hint(FORMS))
            }
            _ => {
                let cron = Cron::parse(text)?;
                cron.check(zone, now)?;
                let zone = zone.clone();
                Ok(Schedule::Cron { cron, zone })
            }
        }
    }
}

/// Returns the text from `start`, trimmed, and the offset at which it starts.
fn trimmed_after(text: &str, start: usize) -> (usize, &str) {
    let rest = &text[start..];
    let span = trimmed_range(rest);
    (start + span.start, &rest[span])
}

/// Whether an error about cron fields would help.
fn looks_like_cron(text: &str) -> bool {
    text.starts_with('@') || text.contains('*') || text.split_whitespace().count() >= 5
}

/// Whether `word` begins like a date. No cron field does.
pub(crate) fn is_date(word: &str) -> bool {
    let word = word.trim_start_matches(['+', '-']);
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 4 && word[digits..].starts_with('-')
}
