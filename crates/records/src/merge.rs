//! Updates: applies changes to a stored record (S0.41).
//!
//! Not here: which record is meant; see `target`.

use deft_model::Object;
use deft_schedule::parse_zone;
use deft_skillfile::Moment;
use serde_json::Value;

use crate::json;
use crate::names::sets_timing;
use crate::normalise::{DEFAULT_FIXES, Draft, NormalisedRecord, SHAPE, first_sentence, plan_tools};

/// Merges the changes that a model sends into a stored record.
///
/// A given field replaces the old one, `null` removes a field, and a new timing replaces the old timing
/// entirely. An explicit time zone is kept.
pub fn merge(existing: &Object, changes: &Object, moment: &Moment) -> NormalisedRecord {
    let mut given = Draft::new(changes.clone(), moment);
    given.changes = true;
    if let Some(zone) = zone(existing).and_then(|name| parse_zone(name).ok()) {
        given.zone = zone;
    }
    given.mend(&[SHAPE]);
    let mut draft = Draft::new(existing.clone(), moment);
    draft.applied = std::mem::take(&mut given.applied);
    draft.zone_added = given.zone_added;
    forget(&mut draft, &given.record);
    if draft.is_timed()
        && let Some(zone) = json::take(&mut given.record, "timezone")
    {
        let config = given
            .record
            .entry("trigger_config")
            .or_insert_with(|| Object::new().into());
        if let Some(config) = config.as_object_mut() {
            config.entry("timezone").or_insert(zone);
        }
    }
    let asked = given.record.contains_key("trigger_type");
    let retimed = given.is_timed();
    for (key, value) in given.record {
        match (key.as_str(), value) {
            ("trigger_config", Value::Object(config)) => replace_timing(&mut draft, config),
            (_, Value::Null) => {
                if json::take(&mut draft.record, &key).is_some() {
                    draft.note(format!("removed {key}"));
                }
            }
            (_, value) => drop(draft.record.insert(key, value)),
        }
    }
    align_trigger_type(&mut draft, asked, retimed);
    draft.mend(&[DEFAULT_FIXES]);
    draft.finish()
}

fn zone(record: &Object) -> Option<&str> {
    let config = record
        .get("trigger_config")
        .and_then(|config| config.get("timezone"));
    config.or(record.get("timezone")).and_then(Value::as_str)
}

/// Removes values that were derived from changed fields.
fn forget(draft: &mut Draft<'_>, changes: &Object) {
    let old = draft.record.get("instructions").and_then(Value::as_str);
    let drawn = old.and_then(first_sentence).map(Value::from);
    if changes.contains_key("instructions") && draft.record.get("description") == drawn.as_ref() {
        json::take(&mut draft.record, "description");
    }
    // The tools of a replaced plan are no longer required.
    if changes
        .get("execution_plan")
        .is_some_and(|plan| !plan.is_null())
    {
        let old = plan_tools(&draft.record);
        if let Some(Value::Array(tools)) = draft.record.get_mut("required_tools") {
            tools.retain(|tool| {
                tool.as_str()
                    .is_none_or(|tool| !old.iter().any(|o| o == tool))
            });
        }
        let left = draft.record.get("required_tools").and_then(Value::as_array);
        if left.is_some_and(Vec::is_empty) {
            json::take(&mut draft.record, "required_tools");
        }
    }
}

/// Replaces the old timing, or only its time zone.
fn replace_timing(draft: &mut Draft<'_>, mut config: Object) {
    let timed = |config: &Object| {
        config
            .iter()
            .any(|(key, value)| sets_timing(key) && !value.is_null())
    };
    let removed = config
        .iter()
        .any(|(key, value)| sets_timing(key) && value.is_null());
    let old = draft.config().cloned().unwrap_or_default();
    if timed(&config) {
        if timed(&old) && old != config {
            let keys = old
                .keys()
                .filter(|key| sets_timing(key) && !config.contains_key(*key));
            let keys: Vec<String> = keys.cloned().collect();
            keys.iter()
                .for_each(|key| draft.note(format!("replaced {key}")));
        }
        let zoned = !config.contains_key("interval_minutes");
        if let Some(zone) = old.get("timezone").filter(|_| zoned) {
            config.entry("timezone").or_insert(zone.clone());
        }
    } else {
        let kept = old
            .into_iter()
            .filter(|(key, _)| !(removed && sets_timing(key)));
        let kept: Vec<(String, Value)> = kept.collect();
        for (key, value) in kept {
            config.entry(key).or_insert(value);
        }
    }
    config.retain(|_, value| !value.is_null());
    if removed && !timed(&config) {
        draft.note("removed the timing");
        config.clear();
    }
    if config.is_empty() {
        json::take(&mut draft.record, "trigger_config");
    } else {
        draft
            .record
            .insert("trigger_config".to_owned(), Value::Object(config));
    }
}

/// Keeps timing and trigger type consistent: another type removes the timing, and removing the timing removes
/// the type `cron`.
fn align_trigger_type(draft: &mut Draft<'_>, asked: bool, retimed: bool) {
    let kind = draft.record.get("trigger_type").and_then(Value::as_str);
    let (kind, timed) = (kind.map(str::to_owned), draft.is_timed());
    match kind.as_deref() {
        Some("event" | "manual") if timed && asked && !retimed => {
            json::take(&mut draft.record, "trigger_config");
            draft.note("removed the timing");
        }
        Some("cron") if !timed && !asked => {
            json::take(&mut draft.record, "trigger_type");
        }
        Some(_) | None => {}
    }
}
