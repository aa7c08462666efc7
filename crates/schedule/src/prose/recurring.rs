//! Parsing of recurring phrases after "every": a duration, or days with a time of day.

use super::clock::{TimeOfDay, certain, time};
use super::token::{digits, weekday};
use super::{refused_error, spelled_length, unreadable};
use crate::error::Error;
use crate::fire_time::FireTime;

/// Parses a recurring phrase without the word "every".
pub(super) fn read(words: &[&str], text: &str) -> Result<FireTime, Error> {
    match words {
        ["minute"] => return Ok(FireTime::Cron("* * * * *".to_owned())),
        ["hour" | "hourly"] => return Ok(FireTime::Cron("0 * * * *".to_owned())),
        ["weekly" | "week", "on", rest @ ..] => return read(rest, text),
        _ => {}
    }
    if let Some(length) = spelled_length(&words.join(" ")) {
        return interval(length.as_secs(), length.subsec_nanos() == 0, text);
    }
    if let Some(at) = words.iter().position(|word| *word == "at")
        && spelled_length(&words[..at].join(" ")).is_some()
    {
        return Err(refused_error(
            format!("`{text}` cannot be kept by a schedule: a duration has no time of day"),
            "leave the time of day out, or name the days: `every monday and thursday at 09:00`",
        ));
    }
    let (days, rest) = days(words).ok_or_else(|| unreadable(text))?;
    cron(&days, rest, text)
}

/// Returns whether a phrase without "every" can only be recurring.
pub(super) fn is_plural(all: &[&str]) -> bool {
    let Some(first) = all.first() else {
        return false;
    };
    let named = all.iter().filter(|word| weekday(word).is_some()).count();
    let plural = weekday(first).is_some() && first.len() > 5 && first.ends_with('s');
    let words = [
        "hourly", "daily", "weekly", "monthly", "yearly", "annually", "weekdays", "weekends",
    ];
    let monthly = days_of_month(all).is_some();
    words.contains(first) || plural || named > 1 || range(first).is_some() || monthly
}

fn interval(seconds: i64, whole: bool, text: &str) -> Result<FireTime, Error> {
    match u64::try_from(seconds) {
        Ok(seconds) if whole && seconds > 0 && seconds.is_multiple_of(60) => {
            Ok(FireTime::Minutes(seconds / 60))
        }
        Ok(seconds @ 1..60) if whole && 60 % seconds == 0 => {
            Ok(FireTime::Cron(format!("*/{seconds} * * * * *")))
        }
        _ => Err(refused_error(
            format!("`{text}` is not a whole number of minutes"),
            "use whole minutes, or seconds that divide a minute, such as `every 30 seconds`",
        )),
    }
}

/// The days of a phrase, as the last three fields of a cron expression, and the half of the day that the
/// phrase names.
struct Days {
    fields: String,
    half: Option<&'static str>,
}

fn days<'a>(words: &'a [&'a str]) -> Option<(Days, &'a [&'a str])> {
    let all = |fields: &str, half| Days {
        fields: fields.to_owned(),
        half,
    };
    match words {
        ["day" | "daily" | "days", rest @ ..] => Some((all("* * *", None), rest)),
        ["morning" | "mornings", rest @ ..] => Some((all("* * *", Some("am")), rest)),
        [
            "afternoon" | "evening" | "night" | "evenings" | "nights",
            rest @ ..,
        ] => Some((all("* * *", Some("pm")), rest)),
        ["weekday" | "weekdays", rest @ ..]
        | ["working" | "work" | "week", "day" | "days", rest @ ..] => {
            Some((all("* * 1-5", None), rest))
        }
        ["weekend" | "weekends", rest @ ..] => Some((all("* * 0,6", None), rest)),
        ["week" | "weekly" | "month" | "monthly" | "year" | "yearly" | "annually"] => {
            Some((all("", None), &[]))
        }
        ["month" | "monthly", "on", "the" | "day", day, rest @ ..] => {
            Some((all(&format!("{} * *", ordinal(day)?), None), rest))
        }
        _ => days_of_month(words).or_else(|| weekdays(words)),
    }
}

/// Parses `1st of the month`, `15th of every month`, `last day of the month`.
fn days_of_month<'a>(words: &'a [&'a str]) -> Option<(Days, &'a [&'a str])> {
    let words = match words {
        ["on", "the", rest @ ..] | ["the" | "on", rest @ ..] => rest,
        words => words,
    };
    let (day, rest) = match words {
        [
            "last",
            "day",
            "of",
            "the" | "every" | "each" | "a",
            "month",
            rest @ ..,
        ] => ("L".to_owned(), rest),
        [
            day,
            "of",
            "the" | "every" | "each" | "a",
            "month",
            rest @ ..,
        ] => (ordinal(day)?.to_string(), rest),
        _ => return None,
    };
    let fields = format!("{day} * *");
    Some((Days { fields, half: None }, rest))
}

fn ordinal(word: &str) -> Option<u8> {
    let bare = word.trim_end_matches(char::is_alphabetic);
    let number = match word {
        "first" => 1,
        "last" => return None,
        _ => bare.parse().ok()?,
    };
    // Later days do not exist in every month.
    (1..=28).contains(&number).then_some(number)
}

/// Parses `monday`, `monday and friday`, `mon-fri`, `monday to friday`.
fn weekdays<'a>(words: &'a [&'a str]) -> Option<(Days, &'a [&'a str])> {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = words;
    loop {
        rest = match rest {
            ["and" | "," | "on", tail @ ..] => tail,
            [from, "to" | "through" | "until" | "-", to, tail @ ..]
                if weekday(from).is_some() && weekday(to).is_some() =>
            {
                parts.push(range(&format!("{from}-{to}"))?);
                tail
            }
            [word, tail @ ..] if range(word).is_some() => {
                parts.extend(range(word));
                tail
            }
            [word, tail @ ..] if weekday(word).is_some() => {
                parts.extend(weekday(word).map(|day| day.to_string()));
                tail
            }
            rest => {
                let fields = format!("* * {}", parts.join(","));
                return (!parts.is_empty()).then_some((Days { fields, half: None }, rest));
            }
        };
    }
}

/// Converts `mon-fri` to a cron range, where Sunday is also 7.
fn range(word: &str) -> Option<String> {
    let (from, to) = word.split_once(['-', '–'])?;
    let (from, to) = (weekday(from)?, weekday(to)?);
    let to = if to == 0 { 7 } else { to };
    (from < to).then(|| format!("{from}-{to}"))
}

fn cron(days: &Days, rest: &[&str], text: &str) -> Result<FireTime, Error> {
    let words: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|word| !is_filler(word))
        .collect();
    if words.is_empty() || days.fields.is_empty() {
        let what = if days.fields.is_empty() {
            "neither a day nor a time of day"
        } else {
            "no time of day"
        };
        return Err(refused_error(
            format!("`{text}` names {what}"),
            "add it: `every day at 09:00`, `every monday at 09:00`, `monthly on the 1st at 09:00`",
        ));
    }
    let mut times: Vec<TimeOfDay> = Vec::new();
    for word in words {
        let found = match days.half {
            None => certain(&digits(word), text)?,
            Some(half) => parse_half_day(word, half, text)?,
        };
        times.push(found.ok_or_else(|| unreadable(text))?);
    }
    let minute = times.first().map_or(0, |time| time.minute);
    if times.iter().any(|time| time.minute != minute) {
        return Err(refused_error(
            format!("`{text}` names times with different minutes, which one schedule cannot hold"),
            "store one skill for each of them",
        ));
    }
    let mut hours: Vec<u8> = times.iter().map(|time| time.hour).collect();
    hours.sort_unstable();
    hours.dedup();
    let hours: Vec<String> = hours.iter().map(u8::to_string).collect();
    Ok(FireTime::Cron(format!(
        "{minute} {} {}",
        hours.join(","),
        days.fields
    )))
}

fn is_filler(word: &str) -> bool {
    matches!(word, "at" | "and" | "," | "around" | "the")
}

/// Parses the time of `morning at 8` or `evening at 6pm`; `evening at 6` is ambiguous.
fn parse_half_day(word: &str, half: &str, text: &str) -> Result<Option<TimeOfDay>, Error> {
    match time(word) {
        Some(found) if (found.hour < 12) == (half == "am") => Ok(Some(TimeOfDay {
            vague: false,
            ..found
        })),
        Some(found) => Err(refused_error(
            format!(
                "`{text}` does not fit: {:02}:{:02} is another part of the day",
                found.hour, found.minute
            ),
            "write the time as `18:00` or `6pm`",
        )),
        None => Ok(None),
    }
}
