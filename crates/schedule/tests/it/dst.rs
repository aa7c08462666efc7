//! Clock changes, compared with a slow and simple reference implementation.

use std::collections::BTreeSet;

use croner::Cron as Plain;
use deft_schedule::{Cron, Schedule, parse_zone, show};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan};

const ZONES: [(&str, &[&str]); 8] = [
    ("America/New_York", &["2026-03-08", "2026-11-01"]),
    ("Europe/Berlin", &["2026-03-29", "2026-10-25"]),
    ("Africa/Cairo", &["2026-04-24", "2026-10-29"]),
    ("Australia/Lord_Howe", &["2026-04-05", "2026-10-04"]),
    (
        "America/St_Johns",
        &["2026-03-08", "2026-11-01", "2009-11-01"],
    ),
    ("Pacific/Apia", &["2011-12-30", "2010-09-26", "2011-04-02"]),
    ("Asia/Kathmandu", &["2026-03-08", "1986-01-01"]),
    ("America/Santiago", &["2026-04-04", "2026-09-06"]),
];

/// Patterns, and whether their hour field follows the clock.
const PATTERNS: [(&str, bool); 16] = [
    ("30 2 * * *", false),
    ("0 2,14 * * *", false),
    ("0,15,30,45 1-3 * * *", false),
    ("*/10 2 * * *", false),
    ("0 0 * * *", false),
    ("30 23 * * *", false),
    ("15 0 * * 1-5", false),
    ("0 12 30 12 *", false),
    ("45 1 1,25 * SUN", false),
    ("0 * * * *", true),
    ("*/30 * * * *", true),
    ("*/7 * * * *", true),
    ("15 */2 * * *", true),
    ("0 1-23/2 * * *", true),
    ("45 * * * SUN", true),
    ("0 0-23 * * *", true),
];

#[test]
fn fires_follow_the_rules_around_every_change() {
    for (name, days) in ZONES {
        let zone = parse_zone(name).expect("a zone");
        for day in days {
            let day: DateTime = format!("{day}T00:00").parse().expect("a date");
            for (pattern, follows_clock) in PATTERNS {
                let expected = slow(pattern, follows_clock, &zone, day);
                assert_eq!(
                    fast(pattern, &zone, day),
                    expected,
                    "{pattern} in {name} on {day}"
                );
            }
        }
    }
}

/// From every quarter of an hour, the next fire is the first later one of the list.
#[test]
fn next_fire_does_not_depend_on_where_the_search_starts() {
    for (name, days) in ZONES {
        let zone = parse_zone(name).expect("a zone");
        let day: DateTime = format!("{}T00:00", days[days.len() - 1])
            .parse()
            .expect("a date");
        let (start, end) = window(day);
        for (pattern, follows_clock) in PATTERNS {
            let all = slow(pattern, follows_clock, &zone, day);
            let cron = Cron::parse(pattern).expect("a pattern");
            let mut from = start;
            while from < end {
                let next = cron.next_after(&zone, from).filter(|fire| *fire < end);
                let expected = all.iter().find(|fire| fire.as_str() > &*key(from, &zone));
                let next = next.map(|fire| key(fire, &zone));
                assert_eq!(next.as_ref(), expected, "{pattern} in {name} from {from}");
                from += SignedDuration::from_mins(15);
            }
        }
    }
}

fn fast(pattern: &str, zone: &TimeZone, day: DateTime) -> Vec<String> {
    let (start, end) = window(day);
    let cron = Cron::parse(pattern).expect("a pattern");
    let schedule = Schedule::Cron {
        cron,
        zone: zone.clone(),
    };
    let before = start - SignedDuration::from_secs(1);
    let fires = std::iter::successors(schedule.next_after(before), |t| schedule.next_after(*t));
    fires
        .take_while(|fire| *fire < end)
        .map(|fire| key(fire, zone))
        .collect()
}

fn slow(pattern: &str, follows_clock: bool, zone: &TimeZone, day: DateTime) -> Vec<String> {
    let plain: Plain = pattern.parse().expect("a pattern");
    let (start, end) = window(day);
    let mut fires = BTreeSet::new();
    if follows_clock {
        let mut t = start;
        while t < end {
            if plain
                .is_time_matching(&zone.to_datetime(t))
                .expect("a match")
            {
                fires.insert(t);
            }
            t += SignedDuration::from_mins(1);
        }
    } else {
        let mut wall = day.checked_sub(4.days()).expect("a date");
        for _ in 0..8 * 24 * 60 {
            if plain.is_time_matching(&wall).expect("a match") {
                fires.insert(instant(zone, wall));
            }
            wall = wall.checked_add(1.minute()).expect("a time");
        }
        fires.retain(|fire| (start..end).contains(fire));
    }
    fires.into_iter().map(|fire| key(fire, zone)).collect()
}

/// Finds the end of a gap minute by minute.
fn instant(zone: &TimeZone, mut wall: DateTime) -> Timestamp {
    loop {
        let ambiguous = zone.to_ambiguous_timestamp(wall);
        match ambiguous.offset() {
            AmbiguousOffset::Gap { .. } => wall = wall.checked_add(1.minute()).expect("a time"),
            AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
                return ambiguous.earlier().expect("an instant");
            }
        }
    }
}

fn window(day: DateTime) -> (Timestamp, Timestamp) {
    let noon = TimeZone::UTC.to_timestamp(day).expect("an instant");
    (
        noon - SignedDuration::from_hours(48),
        noon + SignedDuration::from_hours(60),
    )
}

/// Returns a text that sorts by instant and shows the wall time when a test fails.
fn key(t: Timestamp, zone: &TimeZone) -> String {
    format!("{t} = {}", show(t, zone))
}
