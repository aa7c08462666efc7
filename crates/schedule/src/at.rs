//! Parsing of ISO timestamps.
//!
//! Phrases such as "tomorrow" are not parsed here.

use jiff::civil::Date;
use jiff::fmt::temporal::{DateTimeParser, Pieces, PiecesOffset};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

use crate::error::{Error, quote, trimmed_range};
use crate::zone::{parse_zone, resolve};

/// Parses an ISO timestamp. Without an offset, it is wall time in `zone`.
pub fn parse_at(text: &str, zone: &TimeZone) -> Result<Timestamp, Error> {
    let span = trimmed_range(text);
    let given = &text[span.clone()];
    let error =
        |what: &str| Error::new(format!("time {} {what}", quote(given))).with_span(span.clone());
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

/// Returns why a well-formed timestamp is invalid (a date or time that does not exist) and a hint; `None` if
/// `text` is not well-formed.
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

/// Parses exactly `N` numbers separated by `between`, each with exactly as many digits as in `digits`.
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

/// Whether a text is a date of the calendar, `YYYY-MM-DD`.
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

/// Returns the instant `wait` after `now`.
pub fn instant_after(now: Timestamp, wait: SignedDuration) -> Result<Timestamp, Error> {
    now.checked_add(wait).map_err(|_| {
        Error::new(format!("{wait:#} from now is out of range")).hint("years end at 9999")
    })
}

fn named_zone(pieces: &Pieces<'_>, text: &str) -> Result<Option<TimeZone>, Error> {
    let Some(annotation) = pieces.time_zone_annotation() else {
        return Ok(None);
    };
    // The annotation is the first text in brackets; `!` marks it as critical.
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
            .map_err(|error| error.with_span(start..end)),
    }
}
