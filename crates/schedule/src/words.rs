//! Descriptions of schedules in English.
//!
//! croner can describe an expression too, but it describes `0-30/10` as "every 10 minutes" and `LW` as "the
//! last day of the month", so the sentence is built here from the values of each field. Not here: parsing,
//! and computing fires.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::field::Field;
use crate::fields::Fields;
use crate::item::Item;
use crate::zone::zone_name;

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Monday first, so that a weekend is a contiguous range.
const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// Describes a cron expression.
pub(crate) fn cron(fields: &Fields) -> String {
    let mut out = match (time(fields), days(fields)) {
        (Time::Fixed(at), None) => format!("every day at {at}"),
        (Time::Fixed(at), Some(days)) if days.starts_with("on ") => format!("at {at} {days}"),
        (Time::Fixed(at), Some(days)) => format!("at {at}, {days}"),
        (Time::Repeated(time), None) => time,
        (Time::Repeated(time), Some(days)) => format!("{time}, {days}"),
    };
    if !fields.month.any && !month_with_day(fields) {
        out.push_str(&tail(&months(fields), |m| MONTHS[m].to_owned()));
    }
    if !fields.year.any {
        let years: Vec<usize> = fields.year.values().into_iter().map(usize::from).collect();
        out.push_str(&tail(&years, |y| y.to_string()));
    }
    out
}

/// Describes an interval.
pub(crate) fn interval(every: SignedDuration) -> String {
    let seconds = every.as_secs();
    let (count, unit) = match seconds {
        _ if every.subsec_nanos() != 0 => return format!("every {every:#}"),
        s if s % 3600 == 0 => (s / 3600, "hour"),
        s if s % 60 == 0 => (s / 60, "minute"),
        s => (s, "second"),
    };
    every_n(count, unit)
}

/// Describes a single instant.
pub(crate) fn once(at: Timestamp, zone: &TimeZone) -> String {
    let wall = zone.to_datetime(at);
    let (hour, minute, second) = (wall.hour(), wall.minute(), wall.second());
    let seconds = if second == 0 {
        String::new()
    } else {
        format!(":{second:02}")
    };
    format!(
        "once, {} at {hour:02}:{minute:02}{seconds} ({})",
        wall.date(),
        zone_name(zone)
    )
}

/// The time part of a description, without the days.
enum Time {
    /// A few times of day: "08:00 and 17:00".
    Fixed(String),
    /// A repetition: "every 5 minutes".
    Repeated(String),
}

fn time(fields: &Fields) -> Time {
    let (s, m, h) = (
        fields.second.values(),
        fields.minute.values(),
        fields.hour.values(),
    );
    if let ([0], [minute], Some(step)) = (&s[..], &m[..], step(&h, 24)) {
        let place = if *minute == 0 {
            "on the hour".into()
        } else {
            format!("at minute {minute}")
        };
        return Time::Repeated(format!("{}, {place}", every_n(step, "hour")));
    }
    if let [second] = s[..]
        && m.len() * h.len() <= 4
    {
        let times = h
            .iter()
            .flat_map(|h| m.iter().map(move |m| clock(*h, *m, second)));
        return Time::Fixed(join(times.collect()));
    }
    if s == [0] {
        return Time::Repeated(minutes(&m, &h));
    }
    let seconds = match step(&s, 60) {
        Some(step) => every_n(step, "second"),
        None => format!("at {}", format_numbers("second", &s)),
    };
    let all_day = h.len() == 24;
    Time::Repeated(match (m.len() == 60, all_day) {
        (true, true) if step(&s, 60).is_some() => seconds,
        (true, true) => format!("every minute, {seconds}"),
        (true, false) => format!("{seconds}, in {}", format_numbers("hour", &h)),
        (false, true) => format!(
            "{seconds}, in {} of every hour",
            format_numbers("minute", &m)
        ),
        (false, false) => {
            format!(
                "{seconds}, in {} of {}",
                format_numbers("minute", &m),
                format_numbers("hour", &h)
            )
        }
    })
}

/// Describes minutes and hours if the second is zero.
fn minutes(m: &[u16], h: &[u16]) -> String {
    let (Some(first), Some(last), Some(to)) = (h.first(), h.last(), m.last()) else {
        return "never".to_owned();
    };
    let one_run = usize::from(last - first) + 1 == h.len();
    match (step(m, 60), m) {
        (Some(step), _) if h.len() == 24 => every_n(step, "minute"),
        (Some(step), _) if one_run => {
            let (start, end) = (clock(*first, 0, 0), clock(*last, *to, 0));
            format!("{} from {start} to {end}", every_n(step, "minute"))
        }
        (None, [minute]) if one_run => {
            let (start, end) = (clock(*first, *minute, 0), clock(*last, *minute, 0));
            format!("every hour from {start} to {end}")
        }
        (None, _) if h.len() == 24 => format!("every hour, at {}", format_numbers("minute", m)),
        (Some(_) | None, _) => format!(
            "at {} of {}",
            format_numbers("minute", m),
            format_numbers("hour", h)
        ),
    }
}

/// Describes the days; `None` for every day.
fn days(fields: &Fields) -> Option<String> {
    let month = if month_with_day(fields) {
        list(&months(fields), |m| MONTHS[m].to_owned())
    } else {
        "the month".to_owned()
    };
    match (fields.day.any, fields.weekday.any) {
        (true, true) => None,
        (false, true) => Some(month_days(fields, &month)),
        (true, false) => Some(weekdays(&fields.weekday, &month)),
        (false, false) => {
            let weekdays = weekdays(&fields.weekday, &month);
            Some(format!("{} or {weekdays}", month_days(fields, &month)))
        }
    }
}

fn month_days(fields: &Fields, month: &str) -> String {
    let values: Vec<usize> = fields.day.values().into_iter().map(usize::from).collect();
    let special = fields.day.items.iter().filter_map(|item| match item {
        Item::LastDay => Some("the last day".to_owned()),
        Item::LastWorkday => Some("the last weekday".to_owned()),
        Item::Nearest(day) => Some(format!("the weekday nearest day {day}")),
        Item::Range { .. } | Item::Nth { .. } | Item::LastWeekday(_) => None,
    });
    let mut parts: Vec<String> = special.collect();
    if let ([day], [], true) = (&values[..], &parts[..], months(fields).len() == 1)
        && month_with_day(fields)
    {
        return format!("on {day} {month}");
    }
    if !values.is_empty() {
        let noun = if values.len() == 1 { "day" } else { "days" };
        parts.insert(0, format!("{noun} {}", list(&values, |d| d.to_string())));
    }
    format!("on {} of {month}", join(parts))
}

fn weekdays(field: &Field, month: &str) -> String {
    let name = |day: usize| WEEKDAYS[day].to_owned();
    let mut parts = Vec::new();
    let plain = monday_first(field.values());
    if !plain.is_empty() {
        parts.push(list(&plain, name));
    }
    for item in &field.items {
        match *item {
            Item::Nth { from, to, nth } => {
                let days = list(&monday_first((from..=to).map(|d| d % 7).collect()), name);
                let nth = ORDINALS
                    .get(usize::from(nth) - 1)
                    .copied()
                    .unwrap_or("last");
                parts.push(format!("the {nth} {days} of {month}"));
            }
            Item::LastWeekday(day) => {
                let days = list(&monday_first(vec![day]), name);
                parts.push(format!("the last {days} of {month}"));
            }
            Item::Range { .. } | Item::LastDay | Item::LastWorkday | Item::Nearest(_) => {}
        }
    }
    let text = join(parts);
    // "at 08:00, Monday to Friday" reads better than "on Monday to Friday".
    if text.contains(" to ") && !text.contains(" and ") {
        text
    } else {
        format!("on {text}")
    }
}

/// Whether the month is written with the day ("on 25 December") and not at the end of the sentence.
fn month_with_day(fields: &Fields) -> bool {
    let one = fields.day.any != fields.weekday.any;
    !fields.month.any && one && (fields.weekday.any || fields.weekday.values().is_empty())
}

/// Returns the months, with January as 0.
fn months(fields: &Fields) -> Vec<usize> {
    fields
        .month
        .values()
        .into_iter()
        .map(|m| usize::from(m.saturating_sub(1)))
        .collect()
}

/// Converts weekdays to Monday as 0, sorted.
fn monday_first(days: Vec<u16>) -> Vec<usize> {
    let mut days: Vec<usize> = days.into_iter().map(|d| usize::from((d + 6) % 7)).collect();
    days.sort_unstable();
    days.dedup();
    days
}

/// Returns the step if the values are evenly spread over the whole range, so that "every" is correct.
fn step(values: &[u16], size: u16) -> Option<i64> {
    let [0, second, ..] = values else {
        return None;
    };
    let even = values.windows(2).all(|pair| pair[1] - pair[0] == *second);
    let full = usize::from(*second) * values.len() == usize::from(size);
    (even && full).then_some(i64::from(*second))
}

fn every_n(count: i64, unit: &str) -> String {
    if count == 1 {
        format!("every {unit}")
    } else {
        format!("every {count} {unit}s")
    }
}

fn clock(hour: u16, minute: u16, second: u16) -> String {
    let seconds = if second == 0 {
        String::new()
    } else {
        format!(":{second:02}")
    };
    format!("{hour:02}:{minute:02}{seconds}")
}

/// Returns "minute 5" or "minutes 0 to 5".
fn format_numbers(unit: &str, values: &[u16]) -> String {
    let plural = if values.len() == 1 { "" } else { "s" };
    let values: Vec<usize> = values.iter().map(|v| usize::from(*v)).collect();
    format!("{unit}{plural} {}", list(&values, |v| v.to_string()))
}

/// Returns ", in June" or ", from June to August".
fn tail(values: &[usize], name: impl Fn(usize) -> String) -> String {
    let text = list(values, name);
    let one_run = text.contains(" to ") && !text.contains([',']) && !text.contains(" and ");
    if one_run {
        format!(", from {text}")
    } else {
        format!(", in {text}")
    }
}

/// Joins names as in a sentence, with three or more consecutive values as "a to b".
fn list(values: &[usize], name: impl Fn(usize) -> String) -> String {
    let runs = values.chunk_by(|a, b| a + 1 == *b);
    let parts = runs.flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{} to {}", name(*first), name(*last))],
        short => short.iter().map(|v| name(*v)).collect(),
    });
    join(parts.collect())
}

fn join(mut parts: Vec<String>) -> String {
    match parts.pop() {
        None => String::new(),
        Some(last) if parts.is_empty() => last,
        Some(last) => format!("{} and {last}", parts.join(", ")),
    }
}
