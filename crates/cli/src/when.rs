//! Short forms of instants for tables and summaries, in the user's zone, relative if near.
//!
//! Not here: exact instants, which `deft_service::time::show` and [`crate::output::local`] print.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The distance from now at which an instant is shown as a time of day.
const RELATIVE_SECONDS: i64 = 3600;

/// The distance from now at which a future instant is shown as a date.
const WEEKDAY_DAYS: i64 = 7;

/// Formats an instant relative to `now`: `in 5 min`, `12 s ago`, `today 17:30`, `Mon 09:00`, `3 Mar 09:00`.
pub(crate) fn short(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let seconds = at.as_second() - now.as_second();
    if seconds.abs() < RELATIVE_SECONDS {
        return relative(seconds);
    }
    time_of_day(at, now, zone)
}

/// Like [`short`], but never a distance such as `in 5 min`, which reads badly after words such as `until`.
pub(crate) fn time_of_day(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let time = at.strftime("%H:%M");
    match days_between(&now, &at) {
        0 => format!("today {time}"),
        1 => format!("tomorrow {time}"),
        -1 => format!("yesterday {time}"),
        2..WEEKDAY_DAYS => at.strftime("%a %H:%M").to_string(),
        _ if at.year() == now.year() => at.strftime("%-d %b %H:%M").to_string(),
        _ => at.strftime("%-d %b %Y").to_string(),
    }
}

fn relative(seconds: i64) -> String {
    let distance = match seconds.abs() {
        seconds @ ..60 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    };
    match seconds {
        0 => "now".to_owned(),
        1.. => format!("in {distance}"),
        _ => format!("{distance} ago"),
    }
}

/// Returns the number of midnights between two instants.
fn days_between(from: &Zoned, to: &Zoned) -> i64 {
    let days = from.date().until(to.date());
    // Dates of one calendar are never too far apart to count the days.
    days.map_or(i64::MAX, |days| i64::from(days.get_days()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Sunday, half an hour before midnight in Berlin.
    const NOW: &str = "2026-11-15T22:30:00Z";

    #[test]
    fn instants_are_shown_in_their_shortest_form() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now = NOW.parse().unwrap();
        for (at, shown) in [
            ("2026-11-15T22:30:00Z", "now"),
            ("2026-11-15T22:30:42Z", "in 42 s"),
            ("2026-11-15T22:29:01Z", "59 s ago"),
            ("2026-11-15T22:35:10Z", "in 5 min"),
            ("2026-11-15T21:31:00Z", "59 min ago"),
            ("2026-11-15T06:00:00Z", "today 07:00"),
            ("2026-11-16T08:00:00Z", "tomorrow 09:00"),
            ("2026-11-14T08:00:00Z", "yesterday 09:00"),
            ("2026-11-20T08:00:00Z", "Fri 09:00"),
            ("2026-11-22T08:00:00Z", "22 Nov 09:00"),
            ("2026-11-10T08:00:00Z", "10 Nov 09:00"),
            ("2026-03-03T08:00:00Z", "3 Mar 09:00"),
            ("2027-03-03T08:00:00Z", "3 Mar 2027"),
        ] {
            assert_eq!(short(at.parse().unwrap(), now, &zone), shown, "{at}");
        }
    }
}
