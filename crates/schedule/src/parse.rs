//! The parser for schedules in words, shared by command lines, records and chats.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::at::parse_at;
use crate::error::{Error, quote};
use crate::fire_time::FireTime;
use crate::phrase::is_date;
use crate::prose::{PhraseClock, PhraseField, explain, read_phrase};
use crate::schedule::Schedule;
use crate::spoken::day_and_time;

/// Example phrases for the hints of errors.
pub(crate) const EXAMPLES: &str = "examples: `in 5m`, `at 17:30`, `tomorrow 9:00`, `friday 15:00`, \
    `every weekday 9:00`, `every 2 hours`, `1st of the month 9:00`, or cron: `0 9 * * 1-5`";

/// Parses the time of a fire: words such as `weekdays 9:00`, `in 5m` and `tomorrow 9:00`, an instant, or a
/// cron expression. Wall times are in `zone`; delays and days count from `now`.
pub(crate) fn parse_when(text: &str, zone: &TimeZone, now: Timestamp) -> Result<FireTime, Error> {
    let clock = PhraseClock { now, zone };
    match read_phrase(text, PhraseField::When, &clock)? {
        Some(when) => Ok(when),
        None => match parse_at(text, zone) {
            Ok(at) => Ok(FireTime::At(at)),
            Err(error) if is_date(text.trim()) => Err(error),
            Err(_) if looks_like_cron(text) => Err(cron_error(text, zone, now)),
            Err(_) => Err(explain(text, &clock).unwrap_or_else(|| unknown(text))),
        },
    }
}

/// Like `parse_when`, but returns an error for an instant in the past.
pub fn parse_future(text: &str, zone: &TimeZone, now: Timestamp) -> Result<FireTime, Error> {
    let when = parse_when(text, zone, now)?;
    if let FireTime::At(at) = when
        && at <= now
    {
        let past = day_and_time(at, now, zone);
        let message = format!("{} is in the past: it was {past}", quote(text.trim()));
        let hint = "give a time in the future, such as `tomorrow 9:00`";
        return Err(Error::new(message).hint(hint));
    }
    Ok(when)
}

/// Parses an expression of `deft schedule preview`. Also accepts intervals that no record can store, such as
/// `every 7s`.
pub fn parse_schedule(text: &str, zone: &TimeZone, now: Timestamp) -> Result<Schedule, Error> {
    let plain = Schedule::parse(text, zone, now);
    if plain.is_ok() {
        return plain;
    }
    match parse_when(text, zone, now) {
        Ok(when) => when.schedule(zone, now),
        // A text that begins with a number or a star is a cron expression with a mistake.
        Err(_) if !text.trim_start().starts_with(char::is_alphabetic) => plain,
        Err(error) => Err(error),
    }
}

fn unknown(text: &str) -> Error {
    let message = format!("{} is not a time that deft can read", quote(text.trim()));
    Error::new(message).hint(EXAMPLES)
}

fn cron_error(text: &str, zone: &TimeZone, now: Timestamp) -> Error {
    match Schedule::parse(text, zone, now) {
        Err(error) => error,
        Ok(_) => unknown(text),
    }
}

/// Whether an error about cron fields would help.
fn looks_like_cron(text: &str) -> bool {
    let text = text.trim();
    let signs = |c: char| c.is_ascii_digit() || "*/,-LW#? ".contains(c);
    text.starts_with('@') || text.contains('*') && text.chars().all(signs)
}
