//! `time.now`, `log` and `notify`.

use deft_model::{Effects, Failure, Object};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{BuiltinTool, Context, Definition, handler, invalid, text};
use crate::environment::{Environment, Level, LogLine, Notice};

pub(super) fn tools(environment: &Environment) -> Vec<BuiltinTool> {
    vec![
        now(environment.clone()),
        log(environment.clone()),
        notify(environment.clone()),
    ]
}

fn now(environment: Environment) -> BuiltinTool {
    let definition = Definition::new(
        "time.now",
        "Return the time in a zone. Without a zone it is the host's.",
        Effects::None,
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "zone": {"type": "string", "description": "An IANA zone such as `Europe/Berlin`"}
            }
        }),
    )
    .local();
    BuiltinTool::new(
        definition,
        handler(move |arguments: Object, _: Context| {
            let answer = tell_time(&environment, &arguments);
            async move { answer }
        }),
    )
}

fn tell_time(environment: &Environment, arguments: &Object) -> Result<Value, Failure> {
    let zone = match arguments.get("zone").and_then(Value::as_str) {
        Some(name) => TimeZone::get(name).map_err(|_| {
            invalid(format!("unknown zone `{name}`")).hint("zones look like `Europe/Berlin`")
        })?,
        None => environment.zone.get(),
    };
    let now = (environment.now)().to_zoned(zone);
    Ok(json!({
        "iso": now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        "date": now.date().to_string(),
        "time": now.strftime("%H:%M:%S").to_string(),
        "weekday": now.strftime("%A").to_string(),
        "zone": now.time_zone().iana_name().unwrap_or("UTC"),
        "unix": now.timestamp().as_second(),
    }))
}

fn log(environment: Environment) -> BuiltinTool {
    let definition = Definition::new(
        "log",
        "Write a line into the log of the run.",
        Effects::Idempotent,
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["message"],
            "properties": {
                "message": {"type": "string"},
                "level": {"enum": ["debug", "info", "warning", "error"]},
                "fields": {"type": "object"}
            }
        }),
    )
    .for_people()
    .local();
    BuiltinTool::new(
        definition,
        handler(move |arguments: Object, context: Context| {
            (environment.logs)(LogLine {
                level: level(text(&arguments, "level")),
                message: text(&arguments, "message").to_owned(),
                fields: arguments.get("fields").cloned(),
                key: context.key,
            });
            async { Ok(json!({"logged": true})) }
        }),
    )
}

fn level(word: &str) -> Level {
    match word {
        "debug" => Level::Debug,
        "warning" => Level::Warning,
        "error" => Level::Error,
        _ => Level::Info,
    }
}

fn notify(environment: Environment) -> BuiltinTool {
    let definition = Definition::new(
        "notify",
        "Send a message to a person. It goes to the primary chat unless a target is given.",
        // A repeated call has the same key and so is the same notice.
        Effects::Idempotent,
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["message"],
            "properties": {
                "message": {"type": "string", "minLength": 1},
                "title": {"type": "string"},
                "target": {"type": "string"}
            }
        }),
    )
    .for_people()
    .local();
    BuiltinTool::new(
        definition,
        handler(move |arguments: Object, context: Context| {
            let optional = |name| {
                arguments
                    .get(name)
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            };
            let sent = (environment.notices)(Notice {
                message: text(&arguments, "message").to_owned(),
                title: optional("title"),
                target: optional("target"),
                key: context.key,
            });
            async { sent.await.map(|()| json!({"accepted": true})) }
        }),
    )
}
