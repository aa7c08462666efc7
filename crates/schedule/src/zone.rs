//! Zones by name, wall time to instant, and instants as text.
//!
//! Names are looked up in the data compiled into jiff, never in the host's files. Which zone the
//! host is in is not asked here.

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, tz::Offset};

use crate::error::{Error, quote, trimmed};

const EXAMPLE: &str = "use an IANA name such as `Europe/Berlin` or `UTC`";

/// Finds a zone by its IANA name.
pub fn parse_zone(name: &str) -> Result<TimeZone, Error> {
    let span = trimmed(name);
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
                .at(span)
                .hint(hint))
        }
    }
}

/// The zone's IANA name, or its offset when it has none.
pub fn zone_name(zone: &TimeZone) -> String {
    match (zone.iana_name(), zone.to_fixed_offset()) {
        (Some(name), _) => name.to_owned(),
        (None, Ok(offset)) => offset.to_string(),
        (None, Err(_)) => "local time".to_owned(),
    }
}

/// The instant as RFC 3339 with the zone's offset, to the second.
pub fn show(t: Timestamp, zone: &TimeZone) -> String {
    let printer = DateTimePrinter::new().precision(Some(0));
    printer.timestamp_with_offset_to_string(&t, zone.to_offset(t))
}

/// The instant of a wall time: the end of the gap when it is skipped, the first when it occurs
/// twice.
pub(crate) fn resolve(zone: &TimeZone, wall: DateTime) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(wall).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(wall).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(wall).ok(),
        AmbiguousOffset::Gap { before, after } => {
            // Read with the later offset, a skipped wall time lies just before the change.
            let earlier = after.to_timestamp(wall).ok()?;
            let change = zone
                .following(earlier)
                .next()
                .map(|change| change.timestamp());
            change.or_else(|| before.to_timestamp(wall).ok())
        }
    }
}

/// When `t` is in the second run of a repeated hour: the wall time at which that run ends.
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

/// The zone whose name, or whose city, is nearest to what was written.
fn nearest(wanted: &str) -> Option<String> {
    // Distance costs the product of both lengths, and no zone has a name this long.
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
        // A bare city is how people name zones, so it counts as much as the full name.
        (
            by_name.min(strsim::osa_distance(city, &wanted)),
            by_name,
            name.as_str().to_owned(),
        )
    });
    let (distance, _, name) = scored.min()?;
    (distance <= allowed).then_some(name)
}
