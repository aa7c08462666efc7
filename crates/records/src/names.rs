//! Alternative names that models use for fields.
//!
//! The fields themselves come from the table in `deft-skillfile`, via its JSON Schema, so that other
//! spellings of a new field are recognised without a change here.

use std::sync::LazyLock;

use deft_schedule::PhraseField;
use deft_skillfile::{Schema, schema};
use serde_json::Value;

/// The fields of a record.
pub(crate) static RECORD: LazyLock<Vec<String>> =
    LazyLock::new(|| keys(&schema(Schema::Record)["properties"]));

fn keys(properties: &Value) -> Vec<String> {
    let keys = properties.as_object().map(|object| object.keys().cloned());
    keys.map(Iterator::collect).unwrap_or_default()
}

/// Alternative names for fields of a record.
pub(crate) const FIELDS: &[(&str, &str)] = &[
    ("title", "name"),
    ("skill_name", "name"),
    ("label", "name"),
    ("instruction", "instructions"),
    ("desc", "description"),
    ("summary", "description"),
    ("tools", "required_tools"),
    ("tool_names", "required_tools"),
    ("tools_required", "required_tools"),
    ("needed_tools", "required_tools"),
    ("allowed_tools", "required_tools"),
    ("steps", "execution_plan"),
    ("plan", "execution_plan"),
    ("action", "execution_plan"),
    ("actions", "execution_plan"),
    ("calls", "execution_plan"),
    ("tool_calls", "execution_plan"),
    ("workflow", "execution_plan"),
    ("workflow_steps", "execution_plan"),
    ("execution_steps", "execution_plan"),
    ("trigger_kind", "trigger_type"),
    ("config", "trigger_config"),
    ("trigger_configuration", "trigger_config"),
    ("trigger_settings", "trigger_config"),
    ("trigger_options", "trigger_config"),
    ("schedule_config", "trigger_config"),
    ("timing", "trigger_config"),
    ("max_turns", "max_steps"),
    ("max_iterations", "max_steps"),
    ("step_limit", "max_steps"),
    ("notify", "notify_on_completion"),
    ("notify_on_complete", "notify_on_completion"),
    ("notify_when_done", "notify_on_completion"),
    ("notify_interval", "notify_interval_minutes"),
    ("agent", "agent_id"),
    ("agent_name", "agent_id"),
    ("owner", "agent_id"),
    ("active", "enabled"),
    ("is_active", "enabled"),
    ("is_enabled", "enabled"),
    ("keyword", "keywords"),
    ("trigger_words", "keywords"),
    ("trigger_keywords", "keywords"),
    ("phrases", "keywords"),
    ("tag", "tags"),
    ("labels", "tags"),
];

/// Names that models use instead of `instructions`.
pub(crate) const INSTRUCTION_ALIASES: &[&str] = &[
    "prompt", "task", "message", "body", "content", "text", "goal", "payload",
];

/// Alternative names for fields of `trigger_config`.
pub(crate) const TIMINGS: &[(&str, &str)] = &[
    ("cron", "schedule"),
    ("cron_expression", "schedule"),
    ("cron_expr", "schedule"),
    ("cron_schedule", "schedule"),
    ("cron_string", "schedule"),
    ("crontab", "schedule"),
    ("expression", "schedule"),
    ("expr", "schedule"),
    ("recurrence", "schedule"),
    ("schedule_expression", "schedule"),
    ("interval_mins", "interval_minutes"),
    ("interval_min", "interval_minutes"),
    ("interval_in_minutes", "interval_minutes"),
    ("every_minutes", "interval_minutes"),
    ("every_mins", "interval_minutes"),
    ("repeat_minutes", "interval_minutes"),
    ("repeat_every_minutes", "interval_minutes"),
    ("repeat_every", "every"),
    ("repeat", "every"),
    ("frequency", "every"),
    ("days", "every"),
    ("day_of_week", "every"),
    ("days_of_week", "every"),
    ("run_at", "at"),
    ("fire_at", "at"),
    ("start_at", "at"),
    ("due_at", "at"),
    ("remind_at", "at"),
    ("at_time", "at"),
    ("datetime", "at"),
    ("date_time", "at"),
    ("timestamp", "at"),
    ("scheduled_at", "at"),
    ("scheduled_for", "at"),
    ("scheduled_time", "at"),
    ("at_ms", "at"),
    ("time", "when"),
    ("delay", "in"),
    ("after", "in"),
    ("in_mins", "in_minutes"),
    ("in_min", "in_minutes"),
    ("delay_minutes", "in_minutes"),
    ("minutes_from_now", "in_minutes"),
    ("delay_hours", "in_hours"),
    ("hours_from_now", "in_hours"),
    ("delay_seconds", "in_seconds"),
    ("delay_days", "in_days"),
    ("every_hours", "interval_hours"),
    ("every_seconds", "interval_seconds"),
    ("every_days", "interval_days"),
    ("every_ms", "interval_ms"),
    ("tz", "timezone"),
    ("time_zone", "timezone"),
    ("zone", "timezone"),
    ("iana_timezone", "timezone"),
];

/// The timing fields of `trigger_config` that can be stored.
pub(crate) const STORED: &[&str] = &["schedule", "interval_minutes", "at"];

/// Fields with the delay until a single fire, and their units in seconds.
pub(crate) const DELAYS: &[(&str, f64)] = &[
    ("in_minutes", 60.0),
    ("in_hours", 3600.0),
    ("in_days", 86400.0),
    ("in_seconds", 1.0),
];

/// Fields with the interval between fires, and their units in seconds.
pub(crate) const INTERVALS: &[(&str, f64)] = &[
    ("interval_minutes", 60.0),
    ("interval_hours", 3600.0),
    ("interval_days", 86400.0),
    ("interval_seconds", 1.0),
    ("interval_ms", 0.001),
];

/// Timing fields whose value is prose.
pub(crate) const PROSE_TIMINGS: &[&str] = &["schedule", "every", "interval", "when", "at", "in"];

/// Returns how the words in a field of `trigger_config` are interpreted.
pub(crate) fn phrase_field(key: &str) -> PhraseField {
    match key {
        "every" | "interval" => PhraseField::Every,
        "in" => PhraseField::In,
        "at" => PhraseField::At,
        "when" => PhraseField::When,
        _ => PhraseField::Schedule,
    }
}

/// Whether a key of `trigger_config` contains a timing, in any form.
pub(crate) fn sets_timing(key: &str) -> bool {
    let timed = |table: &[(&str, f64)]| table.iter().any(|(name, _)| *name == key);
    STORED.contains(&key) || PROSE_TIMINGS.contains(&key) || timed(DELAYS) || timed(INTERVALS)
}

/// Returns the field of `trigger_config` that `name` stands for.
pub(crate) fn timing(name: &str) -> Option<&'static str> {
    let counted = DELAYS.iter().chain(INTERVALS).map(|(own, _)| *own);
    let mut own = counted
        .chain(PROSE_TIMINGS.iter().copied())
        .chain(["timezone"]);
    own.find(|own| alike(own, name))
        .or_else(|| find_alias(name, TIMINGS))
}

/// Whether a key belongs in `trigger_config`.
pub(crate) fn is_timing(key: &str) -> bool {
    key == "timezone" || sets_timing(key)
}

/// Columns that deft sets itself. Models include them in an update because they were in the record they read.
pub(crate) const OWN_COLUMNS: &[&str] = &[
    "id",
    "record_id",
    "skill_id",
    "slug",
    "created_at",
    "updated_at",
    "last_run_at",
    "last_run_status",
    "last_run_summary",
    "last_notified_at",
    "next_run_at",
    "disabled_reason",
    "missing_tools",
    "revision",
    "tier",
    "dialect",
    "origin",
    "path",
    "domain",
    "words",
];

/// Whether two names are equal apart from underscores.
pub(crate) fn alike(one: &str, other: &str) -> bool {
    let letters = |name| str::chars(name).filter(|letter| *letter != '_');
    letters(one).eq(letters(other))
}

/// Returns the field of `table` for which `name` is an alternative.
pub(crate) fn find_alias<'a>(name: &str, table: &[(&str, &'a str)]) -> Option<&'a str> {
    let found = table.iter().find(|(alias, _)| alike(alias, name));
    found.map(|(_, field)| *field)
}

/// Converts a name to snake case: `cronExpression`, `Cron-Expression` and `cron expression` all become
/// `cron_expression`.
pub(crate) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.trim().chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            if !out.ends_with('_') && !out.is_empty() {
                out.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        let lower = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_lowercase());
        let upper = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_uppercase());
        let word = letter.is_uppercase() && (lower(before) || upper(before) && lower(after));
        if word && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_field_names_are_converted() {
        let cases = [
            ("cronExpression", "cron_expression"),
            ("Time Zone", "time_zone"),
            ("agentID", "agent_id"),
            ("TZ", "tz"),
            ("HTTPPath", "http_path"),
            ("max-steps", "max_steps"),
            ("in_minutes", "in_minutes"),
            ("$schema", "schema"),
            ("_", ""),
        ];
        for (given, wanted) in cases {
            assert_eq!(snake(given), wanted);
        }
    }

    #[test]
    fn aliases_refer_to_fields_and_are_not_fields() {
        for (alias, field) in FIELDS {
            assert!(RECORD.iter().any(|name| name == field), "{field}");
            assert!(!RECORD.iter().any(|name| name == alias), "{alias}");
        }
        for (alias, field) in TIMINGS {
            assert!(is_timing(field), "{field}");
            assert!(!is_timing(alias), "{alias}");
        }
    }
}
