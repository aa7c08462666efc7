//! Fixes for the values in `trigger_config`: durations, instants, prose, time zones.
//!
//! Delays and phrases are converted to instants only here, so that no model has to calculate (X4). A value
//! that is invalid, or that conflicts with another timing, is left for `check`.

use deft_model::Object;
use deft_schedule::{
    FireTime, PhraseClock, days_at, instant_after, parse_at, parse_zone, read_phrase, show,
    spelled_length, zone_name,
};
use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Draft;
use crate::json;
use crate::names::{DELAYS, INTERVALS, PROSE_TIMINGS, phrase_field, sets_timing};

/// Removes lists, fences, quotes and `cron:` around times, and moves a zone in front of a cron expression to
/// `timezone`.
pub(super) fn clean(draft: &mut Draft<'_>) {
    let Some(config) = draft.config_mut() else {
        return;
    };
    let mut notes = Vec::new();
    for (key, value) in config.iter_mut() {
        if let Value::Array(items) = value
            && let [only @ Value::String(_)] = &items[..]
        {
            *value = only.clone();
            notes.push(format!("took {key} out of a list"));
        }
        let Value::String(text) = value else { continue };
        let bare = json::strip_fence(text);
        let bare = match (key.as_str(), bare.split_once(':')) {
            ("schedule", Some((label, rest))) if label.eq_ignore_ascii_case("cron") => rest.trim(),
            _ => bare,
        };
        if bare.len() != text.len() {
            *text = bare.to_owned();
            notes.push(format!("cleaned {key}"));
        }
    }
    if let Some((zone, rest)) = config.get("schedule").and_then(split_zone)
        && !config.contains_key("timezone")
    {
        config.insert("schedule".to_owned(), rest.into());
        config.insert("timezone".to_owned(), zone.into());
        notes.push("took timezone out of schedule".to_owned());
    }
    draft.applied.extend(notes);
}

/// Splits `CRON_TZ=Europe/Berlin 0 9 * * *`.
fn split_zone(schedule: &Value) -> Option<(String, String)> {
    let (zone, rest) = schedule.as_str()?.split_once(' ')?;
    let zone = zone.strip_prefix("CRON_TZ=").or(zone.strip_prefix("TZ="))?;
    Some((zone.to_owned(), rest.trim().to_owned()))
}

/// Removes a time zone that stands for the host's.
pub(super) fn zone(draft: &mut Draft<'_>) {
    let Some(config) = draft.config_mut() else {
        return;
    };
    let name = config.get("timezone").and_then(Value::as_str);
    let host = ["local", "system", "auto", "host", "default", "localtime"];
    if name.is_some_and(|name| host.contains(&name.to_ascii_lowercase().as_str())) {
        json::take(config, "timezone");
        draft.note("left out timezone, which means the host's");
    }
}

/// Returns the time zone of the record's times; `None` if it names an unknown one.
pub(super) fn zone_of(draft: &Draft<'_>) -> Option<TimeZone> {
    let config = draft.config().and_then(|config| config.get("timezone"));
    match config.or(draft.record.get("timezone")) {
        None | Some(Value::Null) => Some(draft.zone.clone()),
        Some(name) => parse_zone(name.as_str()?).ok(),
    }
}

/// Returns the key of the timing, if there is exactly one.
fn single(config: &Object) -> Option<&str> {
    let mut timings = config.keys().filter(|key| sets_timing(key));
    let (only, None) = (timings.next()?, timings.next()) else {
        return None;
    };
    Some(only)
}

/// Replaces a timing by its converted form.
fn replace_timing(draft: &mut Draft<'_>, from: &str, (to, value): (&str, Value)) {
    if let Some(config) = draft.config_mut() {
        json::take(config, to);
        json::rename(config, from, to);
        config.insert(to.to_owned(), value);
    }
}

/// Combines the two fields of `{"frequency": "daily", "time": "09:00"}`.
pub(super) fn combine(draft: &mut Draft<'_>) {
    let Some(config) = draft.config_mut() else {
        return;
    };
    if let Some(Value::Array(days)) = config.get("every") {
        let days: Option<Vec<&str>> = days.iter().map(Value::as_str).collect();
        if let Some(days) = days.filter(|days| !days.is_empty()) {
            let days = days.join(" and ");
            config.insert("every".to_owned(), days.into());
        }
    }
    let found = |keys: [&'static str; 2]| {
        let text = |key| Some((key, config.get(key)?.as_str()?));
        keys.into_iter().find_map(text)
    };
    let days = found(["every", "interval"]).or_else(|| found(["schedule", "schedule"]));
    let Some(((first, days), (second, time))) = days.zip(found(["when", "at"])) else {
        return;
    };
    let cron = days_at(days.strip_prefix("every ").unwrap_or(days), time);
    let Some(cron) = cron else {
        return;
    };
    let note = format!("read {first} `{days}` and {second} `{time}` as schedule `{cron}`");
    json::take(config, second);
    replace_timing(draft, first, ("schedule", cron.into()));
    draft.note(note);
}

/// Converts delays to the instant of the fire (S0.36).
pub(super) fn delays(draft: &mut Draft<'_>) {
    let Some((config, zone)) = draft.config().zip(zone_of(draft)) else {
        return;
    };
    let timings: Vec<&String> = config.keys().filter(|key| sets_timing(key)).collect();
    let mut total = SignedDuration::ZERO;
    for key in &timings {
        let Some(delay) = config.get(*key).and_then(|value| delay(key, value)) else {
            return;
        };
        total = total.saturating_add(delay);
    }
    let Some((first, others)) = timings.split_first() else {
        return;
    };
    let Ok(at) = instant_after(draft.moment.now, total) else {
        return;
    };
    let names: Vec<String> = timings.iter().map(|key| (*key).clone()).collect();
    let (first, others): (String, Vec<String>) = (
        (*first).clone(),
        others.iter().map(|key| (*key).clone()).collect(),
    );
    if let Some(config) = draft.config_mut() {
        others.iter().for_each(|key| drop(json::take(config, key)));
    }
    replace_timing(draft, &first, ("at", show(at, &zone).into()));
    draft.note(format!("turned {} into at", names.join(" and ")));
}

/// Returns the delay in a field; `None` if the field is not a delay or is invalid.
fn delay(key: &str, value: &Value) -> Option<SignedDuration> {
    let unit = DELAYS.iter().find(|(name, _)| *name == key);
    let length = match (unit, json::number(value)) {
        (Some((_, unit)), Some(count)) => seconds(count * unit)?,
        (Some(_), None) => spelled_length(value.as_str()?)?,
        (None, _) if key == "in" => {
            let text = value.as_str()?;
            spelled_length(text.strip_prefix("in ").unwrap_or(text))?
        }
        (None, _) => return None,
    };
    (length >= SignedDuration::from_secs(1)).then_some(length)
}

fn seconds(count: f64) -> Option<SignedDuration> {
    SignedDuration::try_from_secs_f64(count).ok()
}

/// Converts intervals to whole minutes.
pub(super) fn intervals(draft: &mut Draft<'_>) {
    let Some(config) = draft.config() else {
        return;
    };
    let Some(key) = single(config).map(str::to_owned) else {
        return;
    };
    let Some(minutes) = config.get(&key).and_then(|value| interval(&key, value)) else {
        return;
    };
    let value = Value::from(minutes);
    if config.get("interval_minutes") == Some(&value) {
        return;
    }
    replace_timing(draft, &key, ("interval_minutes", value));
    draft.note(match key.as_str() {
        "interval_minutes" => "converted interval_minutes to a number".to_owned(),
        _ => format!("turned {key} into interval_minutes"),
    });
}

fn interval(key: &str, value: &Value) -> Option<u64> {
    let unit = INTERVALS.iter().find(|(name, _)| *name == key);
    let length = match (unit, json::number(value)) {
        (Some((_, unit)), Some(count)) => count * unit / 60.0,
        (Some(_), None) => {
            let text = value.as_str()?;
            spelled_length(text.strip_prefix("every ").unwrap_or(text))?.as_secs_f64() / 60.0
        }
        // A bare number counts minutes.
        (None, Some(count)) if matches!(key, "every" | "interval") => count,
        (None, _) => return None,
    };
    json::whole(length).filter(|minutes| *minutes > 0)
}

/// Converts times in prose (S0.25).
pub(super) fn words(draft: &mut Draft<'_>) {
    let Some((config, zone)) = draft.config().zip(zone_of(draft)) else {
        return;
    };
    let key = single(config)
        .filter(|key| PROSE_TIMINGS.contains(key))
        .map(str::to_owned);
    let Some((key, text)) = key.and_then(|key| Some((key.clone(), config.get(&key)?.as_str()?)))
    else {
        return;
    };
    let clock = PhraseClock {
        now: draft.moment.now,
        zone: &zone,
    };
    let Ok(Some(time)) = read_phrase(text, phrase_field(&key), &clock) else {
        return;
    };
    let (field, value) = match time {
        FireTime::Cron(cron) => ("schedule", Value::from(cron)),
        FireTime::Minutes(minutes) => ("interval_minutes", Value::from(minutes)),
        FireTime::At(at) => ("at", show(at, &zone).into()),
    };
    let shown = json::text_of_scalar(&value).unwrap_or_default();
    let note = format!("read {key} `{text}` as {field} `{shown}`");
    replace_timing(draft, &key, (field, value));
    draft.note(note);
}

/// Converts instants without an offset, which are wall time in the skill's zone (X4), and numbers, which
/// count from 1970.
pub(super) fn instants(draft: &mut Draft<'_>) {
    let Some((config, zone)) = draft.config().zip(zone_of(draft)) else {
        return;
    };
    let key = ["at", "when"]
        .into_iter()
        .find(|key| config.contains_key(*key));
    let Some((key, value)) = key.and_then(|key| Some((key, config.get(key)?))) else {
        return;
    };
    let (at, note) = match (epoch(value), value) {
        (Some(at), _) => (at, format!("read {key} as a time since 1970")),
        (None, Value::String(text)) if !has_offset(text) => match parse_at(text, &zone) {
            Ok(at) => (at, describe_wall_time(key, text, at, &zone)),
            Err(_) => return,
        },
        (None, Value::String(text)) if key == "when" && parse_at(text, &zone).is_ok() => {
            rename_when(draft);
            return;
        }
        (None, _) => return,
    };
    replace_timing(draft, key, ("at", show(at, &zone).into()));
    draft.note(note);
}

/// Describes how a wall time was interpreted. A time that is skipped by a clock change moves to the end of
/// the gap, and the text mentions it.
fn describe_wall_time(key: &str, text: &str, at: Timestamp, zone: &TimeZone) -> String {
    let placed = format!("placed {key} in {}", zone_name(zone));
    let written = DateTimeParser::new().parse_datetime(text.trim()).ok();
    let local = at.to_zoned(zone.clone()).datetime();
    // A text with its own zone in brackets has another local time here by definition.
    let moved = |written: &DateTime| *written != local && !text.contains('[');
    match written.filter(moved) {
        Some(written) => format!(
            "{placed}, at {} because a clock change skips {} that day",
            local.time().strftime("%H:%M"),
            written.time().strftime("%H:%M"),
        ),
        None => placed,
    }
}

fn rename_when(draft: &mut Draft<'_>) {
    if let Some(config) = draft
        .config_mut()
        .filter(|config| !config.contains_key("at"))
    {
        json::rename(config, "when", "at");
        draft.note("renamed when to at");
    }
}

/// Parses seconds or milliseconds since 1970. Smaller numbers have another meaning.
fn epoch(value: &Value) -> Option<Timestamp> {
    let count = json::whole(json::number(value)?).and_then(|count| i64::try_from(count).ok())?;
    match count {
        1_000_000_000..100_000_000_000 => Timestamp::from_second(count).ok(),
        1_000_000_000_000..100_000_000_000_000 => Timestamp::from_millisecond(count).ok(),
        _ => None,
    }
}

fn has_offset(text: &str) -> bool {
    let pieces = DateTimeParser::new().parse_pieces(text.trim());
    pieces.is_ok_and(|pieces| pieces.offset().is_some())
}

/// Adds the host's time zone to a cron expression without one, so that its times stay the same when the
/// host's zone changes (S0.29).
pub(super) fn add_zone(draft: &mut Draft<'_>) {
    let name = draft.moment.zone.iana_name().map(str::to_owned);
    let own = draft.record.contains_key("timezone");
    let Some(config) = draft.config_mut() else {
        return;
    };
    let wants = config.contains_key("schedule") && !config.contains_key("timezone") && !own;
    if let Some(name) = name.filter(|_| wants) {
        config.insert("timezone".to_owned(), name.as_str().into());
        draft.note(format!("added timezone {name}"));
        draft.zone_added = true;
    }
}
