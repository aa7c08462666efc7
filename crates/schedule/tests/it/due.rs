//! Decisions about slots: case files, and properties for arbitrary schedules and downtimes.
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use deft_model::{Choice, Misfire};
use deft_schedule::{
    Cron, Due, LATE, OmitReason, Rule, Schedule, backoff, due, pace, parse_at, parse_duration,
    parse_zone, show,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::properties::{expression, instant, zone};

#[test]
fn cases() {
    insta::glob!("../due", "*.txt", |path| {
        let text = std::fs::read_to_string(path).expect("a case file");
        let mut out = String::new();
        for line in text.lines() {
            match line {
                "" => {}
                line if line.starts_with("##") => writeln!(out, "{line}\n").expect("a string"),
                line => writeln!(out, "{line}\n{}", outcome(line)).expect("a string"),
            }
        }
        insta::assert_snapshot!(out);
    });
}

fn outcome(line: &str) -> String {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [rule, zone, text, next, now, backoff] = parts[..] else {
        panic!("not a case: {line}");
    };
    let zone = parse_zone(zone).expect("a zone");
    let at = |text: &str| parse_at(text, &zone).expect("an instant");
    let (misfire, window) = rule.split_once(' ').expect("a rule and its window");
    let rule = Rule {
        misfire: Misfire::from_word(misfire).expect("a rule"),
        window: parse_duration(window).expect("a window"),
    };
    let schedule = match text.split_once(' ') {
        Some(("at", instant)) => Schedule::At(at(instant)),
        Some(("every", length)) => Schedule::Interval {
            every: parse_duration(length).expect("a length"),
            anchor: at("2025-01-01T00:00"),
        },
        _ => Schedule::Cron {
            cron: Cron::parse(text).expect("an expression"),
            zone: zone.clone(),
        },
    };
    let backoff = (!backoff.is_empty()).then(|| at(backoff));
    let due = due(&schedule, at(next), at(now), &rule, backoff);
    picture(&due, &zone)
}

fn picture(due: &Due, zone: &TimeZone) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "  {text}").expect("a string");
    for passed in &due.passed {
        let until = passed.until.map_or_else(String::new, |until| {
            format!(" to {} ({})", show(until, zone), passed.count)
        });
        line(format!(
            "{} {}{until}",
            passed.why.outcome(),
            show(passed.slot, zone)
        ));
        line(format!("  {}", passed.why.reason(zone)));
    }
    if let Some(slot) = due.fire {
        let late = if slot.late { " late" } else { "" };
        line(format!("fire {}{late}", show(slot.at, zone)));
    }
    line(match due.next {
        Some(next) => format!("next {}", show(next, zone)),
        None => "over".to_owned(),
    });
    out
}

fn rule() -> impl Strategy<Value = Rule> {
    let misfire = prop::sample::select(vec![Misfire::Once, Misfire::Skip, Misfire::All]);
    let window = prop::sample::select(vec![0, 60, 3600, 86_400, 864_000]);
    (misfire, window).prop_map(|(misfire, window)| Rule {
        misfire,
        window: SignedDuration::from_secs(window),
    })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    prop_oneof![
        6 => (expression(), zone()).prop_map(|(text, zone)| Schedule::Cron {
            cron: Cron::parse(&text).expect("a valid expression"),
            zone,
        }),
        1 => (1i64..100_000, instant()).prop_map(|(seconds, anchor)| Schedule::Interval {
            every: SignedDuration::from_secs(seconds),
            anchor,
        }),
        1 => instant().prop_map(Schedule::At),
    ]
}

/// Returns the slots from `next` to `now`, or `None` if there are too many.
fn slots(schedule: &Schedule, next: Timestamp, now: Timestamp) -> Option<Vec<Timestamp>> {
    const MAX_SLOTS: usize = 3000;
    let slots = std::iter::successors(Some(next), |slot| schedule.next_after(*slot));
    let slots: Vec<Timestamp> = slots
        .take_while(|slot| *slot <= now)
        .take(MAX_SLOTS)
        .collect();
    (slots.len() < MAX_SLOTS).then_some(slots)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 600,
        ..ProptestConfig::default()
    })]

    /// Calling `due` until nothing is due gives each slot exactly one row, in order, by the rule.
    #[test]
    fn every_slot_has_one_row(
        schedule in schedule(),
        rule in rule(),
        from in instant(),
        down in prop_oneof![0i64..200, 0i64..100_000, 0i64..100_000_000],
        rest in prop::option::of(0i64..10_000),
    ) {
        let Some(first) = schedule.next_after(from) else { return Ok(()) };
        let Ok(now) = first.checked_add(SignedDuration::from_secs(down)) else { return Ok(()) };
        let until = rest.and_then(|rest| first.checked_add(SignedDuration::from_secs(rest)).ok());
        let Some(slots) = slots(&schedule, first, now) else { return Ok(()) };
        let mut left = &slots[..];
        let mut next = Some(first);
        let mut late_fires = 0;
        while let Some(slot) = next.filter(|slot| *slot <= now) {
            let due = due(&schedule, slot, now, &rule, until);
            for passed in &due.passed {
                let count = usize::try_from(passed.count).expect("a small number");
                let (stretch, rest) = left.split_at(count);
                prop_assert_eq!(stretch.first(), Some(&passed.slot));
                prop_assert_eq!(stretch.last().copied(), passed.until.or(Some(passed.slot)));
                prop_assert_eq!(passed.until.is_some(), count > 1);
                left = rest;
                let last = passed.until.unwrap_or(passed.slot);
                match passed.why {
                    OmitReason::Backoff { until: rest } => {
                        prop_assert!(Some(rest) == until && last < rest);
                    }
                    OmitReason::Coalesced { into } => {
                        prop_assert_eq!(due.fire.map(|slot| slot.at), Some(into));
                        prop_assert!(last < into);
                    }
                    OmitReason::TooLate { window } => {
                        prop_assert!(now.duration_since(last) > window);
                    }
                    OmitReason::Skipped => prop_assert!(now.duration_since(last) > LATE),
                }
            }
            if let Some(slot) = due.fire {
                prop_assert_eq!(left.first(), Some(&slot.at));
                left = &left[1..];
                let age = now.duration_since(slot.at);
                prop_assert_eq!(slot.late, age > LATE);
                prop_assert!(!slot.late || age <= rule.window);
                late_fires += usize::from(slot.late);
            }
            prop_assert!(due.next.is_none_or(|after| after > slot));
            next = due.next;
        }
        prop_assert_eq!(left, &[][..]);
        match rule.misfire {
            Misfire::Once => prop_assert!(late_fires <= 1),
            Misfire::Skip => prop_assert_eq!(late_fires, 0),
            Misfire::All => {}
        }
    }
}

/// Counting a range gives the same result as enumerating it, across all clock changes of a zone.
#[test]
fn counts_equal_enumerated_slots() {
    const PATTERNS: [&str; 8] = [
        "30 2 * * *",
        "*/10 0-3 * * *",
        "0,30 1,2,3 * * *",
        "0 0 * * *",
        "*/20 * * * *",
        "0 */3 * * SUN",
        "15 0-23 L * *",
        "59 23 * * *",
    ];
    let rule = Rule {
        misfire: Misfire::Skip,
        window: SignedDuration::ZERO,
    };
    for name in crate::ZONES {
        let zone = parse_zone(name).expect("a zone");
        let from: Timestamp = "2009-01-01T00:00Z".parse().expect("an instant");
        for change in zone.following(from).take(8) {
            for pattern in PATTERNS {
                let schedule = Schedule::Cron {
                    cron: Cron::parse(pattern).expect("an expression"),
                    zone: zone.clone(),
                };
                let start = change.timestamp() - SignedDuration::from_hours(27);
                let end = change.timestamp() + SignedDuration::from_hours(27);
                let all = schedule.next(start, 500);
                let all: Vec<Timestamp> = all.into_iter().filter(|slot| *slot <= end).collect();
                for first in (0..all.len()).step_by(7) {
                    for last in (first..all.len()).step_by(5) {
                        let now = all[last] + LATE + SignedDuration::from_nanos(1);
                        let due = due(&schedule, all[first], now, &rule, None);
                        let passed = &due.passed[0];
                        let found = (passed.until.unwrap_or(passed.slot), passed.count);
                        let count = last - first + 1;
                        assert_eq!(found, (all[last], count as u64), "{pattern} in {name}");
                    }
                }
            }
        }
    }
}

/// Deciding after years of downtime must be fast.
#[test]
fn long_downtimes_are_cheap() {
    let next: Timestamp = "2016-01-01T00:00Z".parse().expect("an instant");
    let now: Timestamp = "2026-01-01T00:00Z".parse().expect("an instant");
    let started = Instant::now();
    for text in ["* * * * * *", "* * * * *", "*/7 1-5 * * *", "0 0 29 2 *"] {
        for name in ["UTC", "America/New_York", "Africa/Casablanca"] {
            let schedule = Schedule::Cron {
                cron: Cron::parse(text).expect("an expression"),
                zone: parse_zone(name).expect("a zone"),
            };
            let due = due(&schedule, next, now, &Rule::default(), None);
            assert!(due.passed[0].count > 2, "{text}");
        }
    }
    // Enumeration would take minutes; this takes a few hundredths of a second.
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn backoff_ends_with_the_fifth_failure() {
    let minutes = |streak| backoff(streak).map(|wait| wait.as_mins());
    let ladder: Vec<Option<i64>> = (0..7).map(minutes).collect();
    let expected = [Some(0), Some(1), Some(5), Some(15), Some(60), None, None];
    assert_eq!(ladder, expected);
    assert_eq!([0, 3, 4, 100].map(pace), [4, 1, 0, 0]);
}
