//! Checks the flags of a command against the flags that its man page describes.
//!
//! The seeds leave validation to handlers (S2.42); a skill whose handler is a tool has no other check,
//! and a page that says `(required)` should mean it. All problems are reported at once.
//!
//! Not here: types, except dates. The page describes flags in prose; numbers are cast by the schema of
//! the tool ([`cast_by_schema`](crate::cast_by_schema())) or by the handler.

use deft_model::{Flag, FlagValue, Object};
use serde_json::Value;

use crate::flags::{find_flag, truth, truths};
use crate::problem::{Problem, ProblemKind};
use crate::validate::{apply_defaults, date, require, text, validate_enum};

/// Checks `flags` against `table` and returns them with defaults added, or all problems. An empty
/// `table` accepts any flags.
pub fn check(table: &[Flag], flags: Object) -> Result<Object, Vec<Problem>> {
    if table.is_empty() {
        return Ok(flags);
    }
    let mut problems = Vec::new();
    let mut flags = rename_flags(table, flags, &mut problems);
    promote_flag_words(table, &mut flags);
    for flag in table {
        problems.extend(check_flag(flag, &mut flags).err());
    }
    apply_defaults(&mut flags, &defaults(table));
    let required = table.iter().filter(|flag| flag.required);
    let required: Vec<&str> = required.map(|flag| flag.name.as_str()).collect();
    problems.extend(require(&flags, &required).err());
    if problems.is_empty() {
        Ok(flags)
    } else {
        Err(problems)
    }
}

/// Renames flags to their spelling on the page; adds a problem for each unknown flag.
fn rename_flags(table: &[Flag], flags: Object, problems: &mut Vec<Problem>) -> Object {
    let mut named = Object::new();
    for (name, value) in flags {
        match find_flag(table, &name) {
            Some(flag) => {
                named.insert(flag.name.clone(), value);
            }
            None => problems.push(
                ProblemKind::UnknownFlag {
                    flag: name,
                    known: table.iter().map(|flag| flag.name.clone()).collect(),
                }
                .into(),
            ),
        }
    }
    named
}

/// Corrects `--status overdue` to `--overdue` (X16): if a value is not in the closed set but is the
/// name of a presence flag on the same page, sets that flag instead.
fn promote_flag_words(table: &[Flag], flags: &mut Object) {
    let presence = |word: &Value| {
        let named = |flag: &&Flag| flag.value == FlagValue::Presence && *word == flag.name.as_str();
        table.iter().find(named).map(|flag| flag.name.clone())
    };
    for flag in table {
        let (FlagValue::OneOf(allowed) | FlagValue::SomeOf(allowed)) = &flag.value else {
            continue;
        };
        let values = match flags.get(&flag.name) {
            Some(Value::Array(values)) => values.clone(),
            Some(single) => vec![single.clone()],
            None => continue,
        };
        let is_flag = |value: &Value| presence(value).filter(|name| !allowed.contains(name));
        let meant: Vec<String> = values.iter().filter_map(is_flag).collect();
        if meant.is_empty() {
            continue;
        }
        let values = values.into_iter().filter(|value| is_flag(value).is_none());
        match one_or_list(values.collect()) {
            Some(rest) => flags.insert(flag.name.clone(), rest),
            None => flags.shift_remove(&flag.name),
        };
        flags.extend(meant.into_iter().map(|name| (name, Value::Bool(true))));
    }
}

/// Returns one value as it is, several as a list, none as `None`.
fn one_or_list(mut values: Vec<Value>) -> Option<Value> {
    match values.len() {
        0 | 1 => values.pop(),
        _ => Some(Value::Array(values)),
    }
}

fn check_flag(flag: &Flag, flags: &mut Object) -> Result<(), Problem> {
    let Some(value) = flags.get_mut(&flag.name) else {
        return Ok(());
    };
    let name = flag.name.clone();
    if *value == Value::Bool(true) && takes_value(flag) {
        return Err(ProblemKind::MissingValue { flag: name }.into());
    }
    match &flag.value {
        FlagValue::Presence => check_presence(name, value),
        FlagValue::Any => Ok(()),
        FlagValue::Date => check_dates(&name, value),
        FlagValue::OneOf(allowed) => match value {
            Value::Array(values) if values.len() > 1 => {
                let values = values.iter().map(text).collect();
                Err(ProblemKind::TooManyValues { flag: name, values }.into())
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => validate_enum(flags, &name, allowed),
        },
        FlagValue::SomeOf(allowed) => validate_enum(flags, &name, allowed),
    }
}

/// Whether the flag needs a value. A page need not mark boolean flags, so an optional flag without a
/// declared type or default may have none.
fn takes_value(flag: &Flag) -> bool {
    match flag.value {
        FlagValue::Presence => false,
        FlagValue::Any => flag.required || !flag.default.is_empty(),
        FlagValue::Date | FlagValue::OneOf(_) | FlagValue::SomeOf(_) => true,
    }
}

/// Checks that each value is a date. Placeholders such as `{today}` pass: they are filled in later.
fn check_dates(flag: &str, value: &Value) -> Result<(), Problem> {
    let values = match value {
        Value::Array(values) => values.as_slice(),
        single @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => std::slice::from_ref(single),
    };
    let is_later = |value: &&Value| value.as_str().is_some_and(|text| text.contains('{'));
    let mut given = values.iter().filter(|value| !is_later(value));
    given.try_for_each(|value| date(flag, value).map(drop))
}

fn check_presence(flag: String, value: &mut Value) -> Result<(), Problem> {
    if value.is_boolean() {
        return Ok(());
    }
    match value.as_str().and_then(truth) {
        Some(on) => *value = Value::Bool(on),
        None => {
            return Err(ProblemKind::InvalidValue {
                flag,
                value: text(value),
                allowed: truths(),
            }
            .into());
        }
    }
    Ok(())
}

/// Returns the defaults that a page names.
fn defaults(table: &[Flag]) -> Object {
    let named = |flag: &Flag| Some((flag.name.clone(), default(flag)?));
    table.iter().filter_map(named).collect()
}

fn default(flag: &Flag) -> Option<Value> {
    match (&flag.value, flag.default.as_slice()) {
        (_, []) => None,
        (FlagValue::Presence, [word, ..]) => truth(word).map(Value::Bool),
        (_, [word]) => Some(Value::from(word.as_str())),
        (_, words) => Some(Value::from(words)),
    }
}
