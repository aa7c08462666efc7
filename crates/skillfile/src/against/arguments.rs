//! Checks of a step's arguments against the schema of its tool: unknown names, missing arguments, and
//! literals of the wrong type. Values of templates are only known when the step runs.

use std::sync::Arc;

use deft_model::{Object, Step, nearest, value_text};
use deft_template::has_markup;
use serde_json::Value;

use super::Check;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::Node;

/// Arguments that deft adds automatically (S0.44).
const FILLED_IN_ARGUMENTS: [&str; 3] = ["chat_id", "chatId", "chat"];

impl Check<'_> {
    pub(super) fn arguments(&mut self, step: &Step, tool: &str, args: &Value) {
        let Some(schema) = self.known.tools.get(tool).map(Arc::clone) else {
            return;
        };
        let empty = Object::new();
        let args = match args {
            Value::Object(args) => args,
            Value::Null => &empty,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => return,
        };
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return;
        };
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, value) in args {
            match properties.get(name) {
                Some(property) => self.value(step, (tool, name), property, value),
                None => {
                    let near = nearest(name, properties.keys().map(String::as_str));
                    let near = near.map(|near| format!("did you mean `{near}`?"));
                    if !closed && near.is_none() {
                        continue;
                    }
                    let names: Vec<String> =
                        properties.keys().map(|name| format!("`{name}`")).collect();
                    let help = near.unwrap_or_else(|| format!("it takes {}", names.join(", ")));
                    let span = self.argument(step, name);
                    let message = format!("`{tool}` has no argument `{name}`");
                    self.sink
                        .report(Rule::ToolArgument, span, message)
                        .help(help);
                }
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        for name in
            required.filter(|name| !args.contains_key(*name) && !FILLED_IN_ARGUMENTS.contains(name))
        {
            let span = self.key(step, step.kind.key());
            let message = format!("`{tool}` needs the argument `{name}`");
            self.sink
                .report(Rule::ToolArgument, span, message)
                .help(format!("add `{name}` to `args`"));
        }
    }

    fn value(&mut self, step: &Step, (tool, name): (&str, &str), schema: &Value, value: &Value) {
        let Some(wanted) = misfit(schema, value) else {
            return;
        };
        let span = self.argument(step, name);
        let message = format!("`{name}` of `{tool}` must be {wanted}");
        self.sink.report(Rule::ToolArgument, span, message);
    }

    /// Returns the span of an argument's name.
    fn argument(&self, step: &Step, name: &str) -> Span {
        let args = self.map(&step.id).and_then(|map| map.get("args"));
        let entry = args
            .and_then(Node::as_mapping)
            .and_then(|args| args.entry(name));
        entry.map_or_else(|| self.key(step, step.kind.key()), |entry| entry.key_span)
    }
}

/// Returns what a literal should be, if it cannot be cast to a type that the tool accepts.
fn misfit(schema: &Value, value: &Value) -> Option<String> {
    if value.as_str().is_some_and(has_markup) {
        return None;
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array)
        && (value.is_string() || value.is_number())
    {
        let choices: Vec<String> = choices
            .iter()
            .map(|choice| format!("`{}`", value_text(choice)))
            .collect();
        let given = format!("`{}`", value_text(value));
        return (!choices.contains(&given)).then(|| format!("one of {}", choices.join(", ")));
    }
    let kinds: Vec<&str> = match schema.get("type")? {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    let fits = |kind: &&str| match (*kind, value) {
        // Scalars are cast in both directions.
        ("string", Value::String(_) | Value::Number(_) | Value::Bool(_))
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | (_, Value::Null) => true,
        ("integer", Value::Number(number)) => !number.is_f64(),
        ("integer", Value::String(text)) => text.trim().parse::<i64>().is_ok(),
        ("number", Value::String(text)) => text.trim().parse::<f64>().is_ok(),
        ("boolean", Value::String(text)) => {
            matches!(text.trim(), "true" | "True" | "false" | "False")
        }
        _ => false,
    };
    let wanted = || {
        let kinds = kinds.iter().filter(|kind| **kind != "null");
        kinds
            .map(|kind| word(kind))
            .collect::<Vec<_>>()
            .join(" or ")
    };
    (!kinds.iter().any(fits)).then(wanted)
}

fn word(kind: &str) -> &str {
    match kind {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a mapping",
        other => other,
    }
}
