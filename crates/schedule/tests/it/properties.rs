//! Properties that hold for every input.

use deft_schedule::{
    Cron, Error, Schedule, hours, minutes, parse_at, parse_duration, parse_zone, show,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

fn field(low: u16, high: u16) -> impl Strategy<Value = String> {
    let value = low..=high;
    let item = prop_oneof![
        value.clone().prop_map(|v| v.to_string()),
        (value.clone(), value.clone()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        (1..=high.max(2)).prop_map(|step| format!("*/{step}")),
        (value.clone(), value, 1..=high.max(2)).prop_map(|(a, b, s)| format!(
            "{}-{}/{s}",
            a.min(b),
            a.max(b)
        )),
    ];
    prop_oneof![
        2 => Just("*".to_owned()),
        3 => prop::collection::vec(item, 1..4).prop_map(|items| items.join(",")),
    ]
}

pub(crate) fn expression() -> impl Strategy<Value = String> {
    let day = prop_oneof![4 => field(1, 31), 1 => "(L|LW|[1-9]W|[?])"];
    let weekday = prop_oneof![4 => field(0, 7), 1 => "([0-7]L|[0-7]#[1-5]|MON-SUN|FRI)"];
    let with_minutes = (field(0, 59), field(0, 23), day, field(1, 12), weekday)
        .prop_map(|(m, h, d, mo, w)| format!("{m} {h} {d} {mo} {w}"));
    (
        with_minutes,
        prop::option::of(field(0, 59)),
        prop::option::of(2020u16..2100),
    )
        .prop_map(|(rest, second, year)| match (second, year) {
            (None, _) => rest,
            (Some(second), None) => format!("{second} {rest}"),
            (Some(second), Some(year)) => format!("{second} {rest} {year}"),
        })
}

pub(crate) fn zone() -> impl Strategy<Value = TimeZone> {
    prop::sample::select(vec![
        "UTC",
        "America/New_York",
        "Europe/Berlin",
        "Africa/Cairo",
        "Australia/Lord_Howe",
        "America/St_Johns",
        "Pacific/Apia",
        "Asia/Kathmandu",
        "Africa/Casablanca",
    ])
    .prop_map(|name| parse_zone(name).expect("a zone"))
}

pub(crate) fn instant() -> impl Strategy<Value = Timestamp> {
    let seconds = prop_oneof![
        4 => 0i64..4_102_444_800,
        1 => Timestamp::MIN.as_second()..Timestamp::MAX.as_second(),
    ];
    (seconds, 0i32..1_000_000_000)
        .prop_map(|(s, ns)| Timestamp::new(s, ns.max(0)).unwrap_or(Timestamp::MIN))
}

/// Asserts that the span lies within the text and that the message is neither empty nor too long.
fn well_formed(text: &str, error: &Error) {
    assert!(!error.message.is_empty());
    assert!(!error.message.ends_with('.'), "{}", error.message);
    assert!(error.message.len() < 400, "{}", error.message);
    if let Some(span) = &error.span {
        assert!(text.get(span.clone()).is_some(), "{span:?} of {text:?}");
    }
}

fn check_all(text: &str, zone: &TimeZone, now: Timestamp) {
    match Cron::parse(text) {
        Ok(cron) => {
            assert!(!cron.words().is_empty());
            if let Err(error) = cron.check(zone, now) {
                well_formed(text, &error);
            }
        }
        Err(error) => well_formed(text, &error),
    }
    if let Err(error) = Schedule::parse(text, zone, now) {
        well_formed(text, &error);
    }
    if let Err(error) = parse_at(text, zone) {
        well_formed(text, &error);
    }
    if let Err(error) = parse_duration(text) {
        well_formed(text, &error);
    }
    if let Err(error) = parse_zone(text) {
        well_formed(text, &error);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fires_increase_and_are_later_than_from(
        text in expression(), zone in zone(), from in instant(),
    ) {
        let cron = Cron::parse(&text).expect("a valid expression");
        prop_assert!(!cron.words().is_empty());
        let fires = Schedule::Cron { cron, zone: zone.clone() }.next(from, 12);
        let mut last = from;
        for fire in fires {
            prop_assert!(fire > last, "{} after {}", show(fire, &zone), show(last, &zone));
            last = fire;
        }
    }

    #[test]
    fn interval_keeps_its_phase(count in 1i64..100_000, anchor in instant(), from in instant()) {
        let every = minutes(count).expect("a length");
        let schedule = Schedule::Interval { every, anchor };
        if let Some(fire) = schedule.next_after(from) {
            prop_assert!(fire > from && fire > anchor);
            let passed = fire.as_nanosecond() - anchor.as_nanosecond();
            prop_assert_eq!(passed % every.as_nanos(), 0);
            prop_assert!(from < anchor || fire.duration_since(from) <= every);
        }
    }

    #[test]
    fn any_text_gets_a_result(text in ".{0,60}", zone in zone(), now in instant()) {
        check_all(&text, &zone, now);
    }

    #[test]
    fn text_like_cron_gets_a_result(
        text in "[@ ]?([0-9*/,LW#?A-Z é-]{1,6} ){2,8}", zone in zone(), now in instant(),
    ) {
        check_all(&text, &zone, now);
    }

    #[test]
    fn text_like_a_phrase_gets_a_result(
        text in " ?(every|EVERY|in|at|@|é) {0,2}[0-9smhd.é -]{0,12}", zone in zone(), now in instant(),
    ) {
        check_all(&text, &zone, now);
    }

    #[test]
    fn text_like_a_time_gets_a_result(
        text in "[-+]?[0-9]{4,6}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{2,9}([Z+-][0-9:]{0,5})?(\\[[!A-Za-z/_é+0-9:]{0,12}\\])?",
        zone in zone(), now in instant(),
    ) {
        check_all(&text, &zone, now);
    }

    #[test]
    fn any_count_gets_a_result(count in any::<i64>(), now in instant()) {
        for length in [minutes(count), hours(count)].into_iter().flatten() {
            if let Ok(at) = deft_schedule::instant_after(now, length) {
                prop_assert!(at > now);
            }
            let schedule = Schedule::Interval { every: length, anchor: now };
            prop_assert!(schedule.next(now, 3).len() <= 3);
        }
    }
}

#[test]
fn long_texts_and_huge_numbers_get_a_result() {
    let zone = parse_zone("Europe/Berlin").expect("a zone");
    let texts = [
        "x".repeat(10_000),
        "1,".repeat(10_000),
        "1 ".repeat(10_000),
        "é".repeat(10_000),
        "9".repeat(10_000),
        format!("{} * * * *", "9".repeat(10_000)),
        format!("{}1 * * * *", "1,".repeat(10_000)),
        format!("@{}", "x".repeat(10_000)),
        format!("2026-02-14T15:00[{}]", "x".repeat(10_000)),
        "99999999999 * * * *".to_owned(),
        "0 0 0 1 1 * 99999".to_owned(),
    ];
    for text in texts {
        check_all(&text, &zone, Timestamp::UNIX_EPOCH);
    }
}

#[test]
fn the_smallest_and_largest_instants_get_a_result() {
    for name in ["UTC", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"] {
        let zone = parse_zone(name).expect("a zone");
        for text in [
            "* * * * *",
            "0 2,14 * * *",
            "0 0 29 2 *",
            "0 0 0 1 1 * 5000",
        ] {
            let cron = Cron::parse(text).expect("an expression");
            for at in [Timestamp::MIN, Timestamp::MAX] {
                let next = cron.next_after(&zone, at);
                assert!(next.is_none_or(|fire| fire > at));
                assert!(!show(at, &zone).is_empty());
            }
        }
    }
    let every = SignedDuration::MAX;
    assert_eq!(
        Schedule::Interval {
            every,
            anchor: Timestamp::MAX
        }
        .next_after(Timestamp::MIN),
        None
    );
    let every = SignedDuration::ZERO;
    assert_eq!(
        Schedule::Interval {
            every,
            anchor: Timestamp::MIN
        }
        .next_after(Timestamp::MIN),
        None
    );
}
