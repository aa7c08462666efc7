//! Fixes for the shape of `trigger_config`: which fields belong in it, and under which names.
//!
//! Not here: the meaning of the values; see `timing`.

use deft_model::{Choice, Trigger};
use serde_json::{Value, json};

use super::Draft;
use super::fields::is_blank;
use crate::json;
use crate::names::{DELAYS, INTERVALS, is_timing, snake, timing};

/// Splits `trigger`, which is either a trigger type or a whole `trigger_config`.
pub(super) fn split(draft: &mut Draft<'_>) {
    let key = draft.record.keys().find(|key| snake(key) == "trigger");
    if let Some(key) = key.cloned() {
        let (field, fits) = match draft.record.get(&key) {
            Some(Value::String(word)) if kind(word).is_some() => ("trigger_type", true),
            Some(Value::String(_) | Value::Object(_)) => ("trigger_config", true),
            _ => ("trigger_config", false),
        };
        if fits && !draft.record.contains_key(field) {
            json::rename(&mut draft.record, &key, field);
            draft.note(format!("renamed {key} to {field}"));
        }
    }
    let kind_of = draft.record.get("type").and_then(Value::as_str);
    if kind_of.is_some_and(|word| kind(word).is_some())
        && !draft.record.contains_key("trigger_type")
    {
        json::rename(&mut draft.record, "type", "trigger_type");
        draft.note("renamed type to trigger_type");
    }
}

/// Converts a `trigger_config` that is text to a timing, unwraps a mapping in `schedule`, and unwraps a list
/// with one item.
pub(super) fn wrap(draft: &mut Draft<'_>) {
    if let Some(Value::Array(items)) = draft.record.get("trigger_config")
        && let [only] = &items[..]
    {
        let only = only.clone();
        draft.record.insert("trigger_config".to_owned(), only);
        draft.note("took trigger_config out of a list");
    }
    if let Some(Value::String(text)) = draft.record.get("trigger_config") {
        let config = json!({"schedule": text});
        draft.record.insert("trigger_config".to_owned(), config);
        draft.note("read trigger_config as a schedule");
    }
    let config = draft.record.get("schedule").is_some_and(Value::is_object);
    if config && !draft.record.contains_key("trigger_config") {
        json::rename(&mut draft.record, "schedule", "trigger_config");
        draft.note("renamed schedule to trigger_config");
    }
    let inner = draft.config().and_then(|config| config.get("schedule"));
    if let Some(Value::Object(inner)) = inner.cloned()
        && let Some(config) = draft.config_mut()
    {
        json::take(config, "schedule");
        config.extend(inner);
        draft.note("unwrapped trigger_config.schedule");
    }
}

/// Moves timings at the root into `trigger_config` (S0.34).
pub(super) fn nest(draft: &mut Draft<'_>) {
    let stays = !draft
        .record
        .keys()
        .any(|key| is_timing(key) && key != "timezone");
    let timed = draft.config().is_some();
    // A time zone without a timing belongs to the skill, for its budgets and days.
    let moves = |key: &&String| is_timing(key) && (*key != "timezone" || timed || !stays);
    let keys: Vec<String> = draft.record.keys().filter(moves).cloned().collect();
    for key in keys {
        nest_one(draft, &key);
    }
}

fn nest_one(draft: &mut Draft<'_>, key: &str) {
    let Some(value) = draft.record.get(key).cloned() else {
        return;
    };
    // Null at the root of an update removes the timing.
    let config = draft.record.entry("trigger_config").or_insert(json!({}));
    if config.is_null() {
        *config = json!({});
    }
    let Some(config) = config.as_object_mut() else {
        return;
    };
    // Two different values stay where they are, so that `check` reports both.
    if config
        .get(key)
        .is_some_and(|inner| !is_blank(inner) && *inner != value)
    {
        return;
    }
    config.insert(key.to_owned(), value);
    json::take(&mut draft.record, key);
    draft.note(format!("re-nested {key}"));
}

/// Renames alternative names of `trigger_config` fields (S0.35).
pub(super) fn rename(draft: &mut Draft<'_>) {
    let Some(config) = draft.config_mut() else {
        return;
    };
    let mut notes = Vec::new();
    let keys: Vec<String> = config.keys().cloned().collect();
    for key in keys {
        let name = snake(&key);
        let Some(field) = timing(&name).filter(|field| *field != key) else {
            continue;
        };
        match config.get(field) {
            Some(other) if Some(other) == config.get(&key) => {
                json::take(config, &key);
                notes.push(format!("left out {key}, which repeats {field}"));
            }
            Some(other) if !is_blank(other) => {}
            _ => {
                json::take(config, field);
                json::rename(config, &key, field);
                notes.push(format!("renamed {key} to {field}"));
            }
        }
    }
    draft.applied.extend(notes);
}

/// Moves fields that are not about time out of `trigger_config`.
pub(super) fn hoist(draft: &mut Draft<'_>) {
    let Some(config) = draft.config_mut() else {
        return;
    };
    let mut found: Vec<(&str, Value)> = Vec::new();
    for key in ["type", "kind", "trigger_type", "triggerType"] {
        let word = config.get(key).and_then(Value::as_str);
        if word.is_some_and(|word| kind(word).is_some()) {
            found.extend(json::take(config, key).map(|value| ("trigger_type", value)));
        }
    }
    found.extend(json::take(config, "keywords").map(|value| ("keywords", value)));
    found.extend(json::take(config, "enabled").map(|value| ("enabled", value)));
    let only_zone = config.keys().all(|key| key == "timezone");
    if only_zone && !draft.changes {
        let config = draft.config_mut();
        let zone = config.and_then(|config| json::take(config, "timezone"));
        found.extend(zone.map(|zone| ("timezone", zone)));
    }
    for (key, value) in found {
        if !draft.record.contains_key(key) {
            draft.record.insert(key.to_owned(), value);
            draft.note(format!("moved {key} out of trigger_config"));
        }
    }
}

/// Removes blank timings, and zeros next to a valid timing, because some models fill in every field.
pub(super) fn drop_blanks(draft: &mut Draft<'_>) {
    let changes = draft.changes;
    let Some(config) = draft.config_mut() else {
        return;
    };
    let zero = |key: &str, value: &Value| {
        let counted = |table: &[(&str, f64)]| table.iter().any(|(name, _)| *name == key);
        (counted(DELAYS) || counted(INTERVALS)) && json::number(value) == Some(0.0)
    };
    // `"repeat": false` means once.
    let never = |key: &str, value: &Value| key == "every" && *value == Value::Bool(false);
    let says = |(key, value): (&String, &Value)| {
        key != "timezone" && !is_blank(value) && !zero(key, value) && !never(key, value)
    };
    let others = config.iter().any(says);
    let empty = |(key, value): (&String, &Value)| {
        // As the only timing of an update, null removes the timing.
        let removes = changes && !others && value.is_null();
        let empty = is_blank(value) && !removes || others && zero(key, value) || never(key, value);
        empty.then(|| key.clone())
    };
    let dropped: Vec<String> = config.iter().filter_map(empty).collect();
    for key in &dropped {
        json::take(config, key);
    }
    let bare = config.is_empty();
    let note = |key: String| format!("left out {key}, which is empty");
    draft.applied.extend(dropped.into_iter().map(note));
    if bare && !draft.changes {
        json::take(&mut draft.record, "trigger_config");
    }
}

/// Normalises the word for the trigger type.
pub(super) fn spell(draft: &mut Draft<'_>) {
    let given = draft.record.get("trigger_type").and_then(Value::as_str);
    let Some((given, kind)) = given.and_then(|word| Some((word.to_owned(), kind(word)?))) else {
        return;
    };
    if given != kind.word() {
        let word = kind.word();
        draft.record.insert("trigger_type".to_owned(), word.into());
        draft.note(format!("read trigger_type `{given}` as {word}"));
    }
}

/// Returns the trigger type that a word of a model means.
fn kind(word: &str) -> Option<Trigger> {
    match snake(word).as_str() {
        "cron" | "schedule" | "scheduled" | "interval" | "recurring" | "recurrence" | "timer"
        | "time" | "once" | "one_shot" | "oneshot" | "one_time" | "at" | "every" | "delay"
        | "reminder" | "cron_job" | "cronjob" => Some(Trigger::Cron),
        "event" | "events" | "event_driven" | "keyword" | "keywords" | "message" => {
            Some(Trigger::Event)
        }
        "manual" | "manually" | "on_demand" | "ondemand" | "none" | "user" => Some(Trigger::Manual),
        _ => None,
    }
}
