//! Instants and lengths of time as people write and read them.

use deft_wire::{Done, Failure};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

pub use deft_schedule::length as spoken_length;
pub use deft_schedule::show;

/// The instant that a text means in a zone.
pub fn parse_instant(text: &str, zone: &TimeZone) -> Done<Timestamp> {
    deft_schedule::parse_at(text, zone).map_err(|problem| wrong(&problem))
}

/// The same; a date alone means its midnight.
pub fn parse_day_or_instant(text: &str, zone: &TimeZone) -> Done<Timestamp> {
    let is_date = text.parse::<Date>().is_ok() && !text.contains(['T', 't', ' ']);
    if is_date {
        return parse_instant(&format!("{text}T00:00"), zone);
    }
    parse_instant(text, zone)
}

/// The length that a text such as `30d` means.
pub fn parse_duration(text: &str) -> Done<SignedDuration> {
    deft_schedule::parse_duration(text).map_err(|problem| wrong(&problem))
}

fn wrong(problem: &deft_schedule::Error) -> Failure {
    Failure::input("invalid_input", problem.message.clone()).maybe_hint(problem.hint.clone())
}
