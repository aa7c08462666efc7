//! Time zones by name, conversion of wall time to instants, and instants as text.
//!
//! Names are looked up in the data compiled into jiff, never in the host's files. Not here: the time zone of
//! the host.

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, tz::Offset};

use crate::error::{Error, quote, trimmed_range};

const EXAMPLE: &str = "use an IANA name such as `Europe/Berlin` or `UTC`";

/// Returns the time zone with an IANA name.
pub fn parse_zone(name: &str) -> Result<TimeZone, Error> {
    let span = trimmed_range(name);
    let wanted = &name[span.clone()];
    if wanted.is_empty() {
        return Err(Error::new("time zone is empty").hint(EXAMPLE));
    }
    match TimeZoneDatabase::bundled().get(wanted) {
        Ok(zone) if !zone.is_unknown() => Ok(zone),
        Ok(_) | Err(_) => {
            let hint = nearest(wanted).map_or_else(
                || EXAMPLE.to_owned(),
                |found| format!("did you mean `{found}`?"),
            );
            Err(Error::new(format!("unknown time zone {}", quote(wanted)))
                .with_span(span)
                .hint(hint))
        }
    }
}

/// Returns the IANA name of a time zone, or its offset if it has no name.
pub fn zone_name(zone: &TimeZone) -> String {
    match (zone.iana_name(), zone.to_fixed_offset()) {
        (Some(name), _) => name.to_owned(),
        (None, Ok(offset)) => offset.to_string(),
        (None, Err(_)) => "local time".to_owned(),
    }
}

/// Formats an instant as RFC 3339 with the zone's offset, in whole seconds.
pub fn show(t: Timestamp, zone: &TimeZone) -> String {
    let printer = DateTimePrinter::new().precision(Some(0));
    printer.timestamp_with_offset_to_string(&t, zone.to_offset(t))
}

/// Returns the instant of a wall time: the end of the gap if it is skipped, the first occurrence if it is
/// repeated.
pub(crate) fn resolve(zone: &TimeZone, wall: DateTime) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(wall).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(wall).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(wall).ok(),
        AmbiguousOffset::Gap { before, after } => {
            // With the later offset, a skipped wall time lies just before the change.
            let earlier = after.to_timestamp(wall).ok()?;
            let change = zone
                .following(earlier)
                .next()
                .map(|change| change.timestamp());
            change.or_else(|| before.to_timestamp(wall).ok())
        }
    }
}

/// If `t` is in the second run of a repeated hour, returns the wall time at which that run ends.
pub(crate) fn second_run_ends(zone: &TimeZone, t: Timestamp, offset: Offset) -> Option<DateTime> {
    let wall = offset.to_datetime(t);
    match zone.to_ambiguous_timestamp(wall).offset() {
        AmbiguousOffset::Fold { before, after } if after == offset => {
            let first = before.to_timestamp(wall).ok()?;
            let change = zone.following(first).next()?;
            Some(before.to_datetime(change.timestamp()))
        }
        AmbiguousOffset::Fold { .. }
        | AmbiguousOffset::Gap { .. }
        | AmbiguousOffset::Unambiguous { .. } => None,
    }
}

/// Returns the zone whose name or city is closest to `wanted`, if one is similar enough.
fn nearest(wanted: &str) -> Option<String> {
    // The edit distance costs the product of both lengths, and no zone has a name this long.
    if wanted.len() > 64 {
        return None;
    }
    let wanted = wanted.to_lowercase().replace([' ', '-'], "_");
    let allowed = wanted.chars().count() / 4;
    let db = TimeZoneDatabase::bundled();
    let scored = db.available().map(|name| {
        let lower = name.as_str().to_lowercase().replace('-', "_");
        let city = lower.rsplit('/').next().unwrap_or(&lower);
        let by_name = strsim::osa_distance(&lower, &wanted);
        // People name zones by city, so a bare city counts as much as the full name.
        (
            by_name.min(strsim::osa_distance(city, &wanted)),
            by_name,
            name.as_str().to_owned(),
        )
    });
    let (distance, _, name) = scored.min()?;
    (distance <= allowed).then_some(name)
}
