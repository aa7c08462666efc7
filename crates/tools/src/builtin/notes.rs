//! `log` and `notify`.

use deft_model::{Effects, Object};
use serde_json::{Value, json};

use super::{BuiltinTool, Context, Definition, handler, text};
use crate::environment::{Environment, Level, LogLine, Notice};

pub(super) fn tools(environment: &Environment) -> Vec<BuiltinTool> {
    vec![log(environment.clone()), notify(environment.clone())]
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
