//! Any text as a schedule, a cron expression, a zone, an instant and a duration.

#![no_main]

use deft_schedule::{Cron, Rule, Schedule, due, parse_at, parse_duration, parse_zone};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let in_text = |problem: deft_schedule::Error| {
        let inside = problem.span.is_none_or(|range| text.get(range).is_some());
        assert!(inside);
    };
    let moment = deft_fuzz::moment();
    let checked = Cron::parse(text).and_then(|cron| cron.check(&moment.zone, moment.now));
    checked.map_or_else(in_text, drop);
    Schedule::parse(text, &moment.zone, moment.now).map_or_else(in_text, |schedule| {
        let Some(next) = schedule.next_after(moment.now) else {
            return;
        };
        // After a year of downtime one call must decide something, and the next slot must be later.
        let Ok(now) = next.checked_add(SignedDuration::from_hours(24 * 365)) else {
            return;
        };
        let due = due(&schedule, next, now, &Rule::default(), None);
        assert!(due.fire.is_some() || !due.passed.is_empty());
        assert!(due.next.is_none_or(|after| after > next));
    });
    parse_at(text, &TimeZone::UTC).map_or_else(in_text, drop);
    parse_duration(text).map_or_else(in_text, drop);
    parse_zone(text).map_or_else(in_text, drop);
});
