//! Any text as a cron expression, a zone, an instant and a duration.

#![no_main]

use deft_schedule::{Cron, parse_at, parse_duration, parse_zone};
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
    parse_at(text, &TimeZone::UTC).map_or_else(in_text, drop);
    parse_duration(text).map_or_else(in_text, drop);
    parse_zone(text).map_or_else(in_text, drop);
});
