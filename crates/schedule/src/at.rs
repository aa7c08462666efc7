//! Points in time and lengths of time as people write them.
//!
//! Only ISO timestamps and lengths with units are read; there are no phrases such as "tomorrow".

use jiff::civil::Date;
use jiff::fmt::temporal::{DateTimeParser, Pieces, PiecesOffset};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

use crate::error::{Error, quote, trimmed};
use crate::zone::{parse_zone, resolve};

/// Reads an ISO timestamp; without an offset of its own it is wall time in `zone`.
pub fn parse_at(text: &str, zone: &TimeZone) -> Result<Timestamp, Error> {
    let span = trimmed(text);
    let given = &text[span.clone()];
    let error = |what: &str| Error::new(format!("time {} {what}", quote(given))).at(span.clone());
    let pieces =
        DateTimeParser::new()
            .parse_pieces(given)
            .map_err(|_| match impossible(given) {
                Some((what, hint)) => error(what).hint(hint),
                None => error("is not an ISO timestamp").hint("write it as `2026-02-14T15:00`"),
            })?;
    let Some(time) = pieces.time() else {
        let hint = format!("add a time of day: `{}T09:00`", pieces.date());
        return Err(error("is a date without a time").hint(hint));
    };
    let wall = pieces.date().to_datetime(time);
    let named = named_zone(&pieces, text)?;
    let instant = match pieces.offset() {
        None => resolve(named.as_ref().unwrap_or(zone), wall),
        Some(offset) => offset.to_numeric_offset().to_timestamp(wall).ok(),
    };
    let instant =
        instant.ok_or_else(|| error("is out of range").hint("years go from -9999 to 9999"))?;
    if let (Some(PiecesOffset::Numeric(offset)), Some(named)) = (pieces.offset(), &named)
        && named.to_offset(instant) != offset.offset()
    {
        let hint = "drop the offset, or the zone in brackets";
        return Err(error("has an offset that its zone does not have then").hint(hint));
    }
    Ok(instant)
}

/// Why a time that is written as it should be cannot be read: no calendar or clock has it.
fn impossible(text: &str) -> Option<(&'static str, String)> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    if !(1..=12).contains(&month) {
        return Some((
            "names a month that does not exist",
            "months go from 01 to 12".to_owned(),
        ));
    }
    let first = Date::new(year, i8::try_from(month).ok()?, 1).ok()?;
    let days = i16::from(first.days_in_month());
    if !(1..=days).contains(&day) {
        let hint = format!("{} has {days} days", first.strftime("%B %Y"));
        return Some(("names a day that does not exist", hint));
    }
    let [hour, minute] = numbers(time?.get(..5)?, ':', [2, 2])?;
    let exists = (0..24).contains(&hour) && (0..60).contains(&minute);
    let hint = "times of day go from 00:00 to 23:59".to_owned();
    (!exists).then_some(("names a time of day that does not exist", hint))
}

/// Numbers of so many digits each, with a sign between them.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[i16; N]> {
    let mut parts = text.split(between);
    let mut found = [0; N];
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        let fits = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|_| fits)?;
    }
    parts.next().is_none().then_some(found)
}

/// Reads a positive length of time such as `1h30m` or `2 days`; a day is 24 hours.
pub fn parse_duration(text: &str) -> Result<SignedDuration, Error> {
    const HINT: &str = "write it with units: `90s`, `15m`, `1h30m`, `2d`";
    let span = trimmed(text);
    let given = &text[span.clone()];
    let error =
        |what: &str| Error::new(format!("duration {} {what}", quote(given))).at(span.clone());
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

/// A length of whole minutes, for `interval_minutes` and `in_minutes`.
pub fn minutes(count: i64) -> Result<SignedDuration, Error> {
    whole(count, 60, "minutes")
}

/// A length of whole hours, for `in_hours`.
pub fn hours(count: i64) -> Result<SignedDuration, Error> {
    whole(count, 3600, "hours")
}

/// The instant `wait` after `now`.
pub fn after(now: Timestamp, wait: SignedDuration) -> Result<Timestamp, Error> {
    now.checked_add(wait).map_err(|_| {
        Error::new(format!("{wait:#} from now is out of range")).hint("years end at 9999")
    })
}

fn whole(count: i64, seconds: i64, unit: &str) -> Result<SignedDuration, Error> {
    if count <= 0 {
        let message = format!("`{count}` {unit} is not longer than zero");
        return Err(Error::new(message).hint("use a whole number from 1"));
    }
    let length = count.checked_mul(seconds).map(SignedDuration::from_secs);
    // Longer than jiff's calendar can never come due.
    let limit = Timestamp::MAX.duration_since(Timestamp::MIN);
    length.filter(|length| *length <= limit).ok_or_else(|| {
        Error::new(format!("`{count}` {unit} is too long")).hint("use a smaller number")
    })
}

fn named_zone(pieces: &Pieces<'_>, text: &str) -> Result<Option<TimeZone>, Error> {
    let Some(annotation) = pieces.time_zone_annotation() else {
        return Ok(None);
    };
    // The annotation is the first thing in brackets; `!` marks it as critical.
    let start = text.find('[').map_or(0, |at| at + 1);
    let end = text[start..].find(']').map_or(text.len(), |at| start + at);
    let start = if text[start..end].starts_with('!') {
        start + 1
    } else {
        start
    };
    match annotation.to_time_zone_with(&TimeZoneDatabase::bundled()) {
        Ok(zone) => Ok(Some(zone)),
        Err(_) => parse_zone(&text[start..end])
            .map(Some)
            .map_err(|error| error.at(start..end)),
    }
}
