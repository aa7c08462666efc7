//! Parsing of a single instant in prose: a time of day, with or without a day.

use jiff::Timestamp;
use jiff::civil::Date;

use super::clock::{TimeOfDay, certain, time};
use super::token::weekday;
use super::{PhraseClock, day_ahead, refused_error};
use crate::at::parse_at;
use crate::error::Error;
use crate::fire_time::FireTime;

/// Parses a day and a time of day. Returns `None` if `words` are neither.
pub(super) fn read(
    words: &[&str],
    text: &str,
    clock: &PhraseClock<'_>,
) -> Result<Option<FireTime>, Error> {
    let words: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !is_filler(word))
        .collect();
    let Some((day, rest)) = day(&words, text, clock)? else {
        return Ok(None);
    };
    let [word] = rest[..] else {
        return match (rest.is_empty(), day) {
            (true, day) if day != Day::Any => Err(refused_error(
                format!("`{text}` names no time of day"),
                "add it, such as `tomorrow at 09:00`",
            )),
            _ => Ok(None),
        };
    };
    let found = match (day, time(word)) {
        // "tonight at 8" always means the evening.
        (Day::Tonight, Some(time)) if (5..12).contains(&time.hour) => Some(TimeOfDay {
            hour: time.hour + 12,
            ..time
        }),
        _ => certain(word, text)?,
    };
    Ok(found
        .and_then(|time| instant(day, time, clock))
        .map(FireTime::At))
}

/// Returns whether the phrase names a day and therefore fires only once.
pub(super) fn is_dated(words: &[&str]) -> bool {
    let dated = |word: &&str| {
        matches!(*word, "today" | "tomorrow" | "tonight") || word.parse::<Date>().is_ok()
    };
    words.iter().any(dated)
}

fn is_filler(word: &str) -> bool {
    matches!(word, "at" | "on" | "the" | "this" | "by" | "around")
}

/// The day of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    /// Today or tomorrow, whichever has the time first.
    Any,
    Tonight,
    /// This many days after today.
    Later(i64),
    /// The next such weekday, today included if the time has not passed.
    Weekday(u8),
    On(Date),
}

fn day<'a>(
    words: &[&'a str],
    text: &str,
    clock: &PhraseClock<'_>,
) -> Result<Option<(Day, Vec<&'a str>)>, Error> {
    let day = |at: usize, length: usize, day: Day| {
        let rest = words[..at].iter().chain(&words[at + length..]);
        Ok(Some((day, rest.copied().collect())))
    };
    for (at, word) in words.iter().enumerate() {
        match (*word, &words[at + 1..]) {
            ("day", ["after", "tomorrow", ..]) => return day(at, 3, Day::Later(2)),
            ("today", _) => return day(at, 1, Day::Later(0)),
            ("tonight", _) => return day(at, 1, Day::Tonight),
            ("tomorrow", _) => return day(at, 1, Day::Later(1)),
            (word, rest) => {
                if let ("next", Some(wanted)) = (word, rest.first().and_then(|name| weekday(name)))
                {
                    let date = next_weekday(wanted, clock);
                    return Err(refused_error(
                        format!("`{text}` may mean this week or the next"),
                        format!("give the date, such as `{date}T09:00`"),
                    ));
                }
                let date = word.parse::<Date>().ok().map(Day::On);
                if let Some(found) = date.or(weekday(word).map(Day::Weekday)) {
                    return day(at, 1, found);
                }
            }
        }
    }
    Ok(Some((Day::Any, words.to_vec())))
}

/// Returns the next date of a weekday, today excluded.
fn next_weekday(wanted: u8, clock: &PhraseClock<'_>) -> Date {
    let today = day_ahead(clock, 0).weekday().to_sunday_zero_offset();
    let days = (i64::from(wanted) - i64::from(today) - 1).rem_euclid(7) + 1;
    day_ahead(clock, days)
}

fn instant(day: Day, time: TimeOfDay, clock: &PhraseClock<'_>) -> Option<Timestamp> {
    let today = clock.zone.to_datetime(clock.now).date();
    let on = |date: Date| {
        let wall = format!("{date}T{:02}:{:02}", time.hour, time.minute);
        parse_at(&wall, clock.zone).ok()
    };
    let ahead = |days: i64| {
        let date = today
            .checked_add(jiff::Span::new().try_days(days).ok()?)
            .ok()?;
        on(date)
    };
    match day {
        Day::On(date) => on(date),
        Day::Tonight => on(today),
        Day::Later(days) => ahead(days),
        Day::Any => (0..=1).filter_map(ahead).find(|at| *at > clock.now),
        Day::Weekday(wanted) => {
            let now = today.weekday().to_sunday_zero_offset();
            let days = (i64::from(wanted) - i64::from(now)).rem_euclid(7);
            [days, days + 7]
                .into_iter()
                .filter_map(ahead)
                .find(|at| *at > clock.now)
        }
    }
}
