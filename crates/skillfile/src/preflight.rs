//! The preflight check of a skill: a check before each run (S0.70 to S0.72 under X20).
//!
//! Not here: running the check, which needs tools and a clock.

use deft_model::{Object, value_text};
use deft_schedule::parse_duration;
use deft_template::Condition;
use serde_json::Value;

/// A preflight check.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// Whether there are calendar events within a duration.
    Calendar(String),
    /// Whether there is new mail.
    Mail,
    /// A tool call and a condition on its result.
    Tool {
        /// The name of the tool.
        tool: String,
        /// The arguments.
        args: Object,
        /// The condition; without one, the result must not be empty.
        condition: Option<String>,
    },
    /// A block of Python; its result decides.
    Compute(String),
}

impl Check {
    /// Parses `preflight`. Partly valid values are errors: a check that tests something else than intended
    /// would silently skip runs, or silently let them cost money.
    pub fn read(value: &Value) -> Result<Self, String> {
        let Value::Object(map) = value else {
            return Err(match value.as_str() {
                Some("calendar") => "`calendar` requires a duration".to_owned(),
                Some("email") => "`email` needs the word `new`".to_owned(),
                Some(other) => unknown(other),
                None => format!("a check is a mapping, not `{value}`"),
            });
        };
        let (name, known): (&str, &[&str]) = match map.keys().next() {
            None => return Err("the check is empty".to_owned()),
            Some(_) if map.contains_key("tool") => ("tool", &["tool", "args", "condition"]),
            Some(_) if map.contains_key("compute") => ("compute", &["compute"]),
            Some(first) => match first.as_str() {
                "calendar" => ("calendar", &["calendar"]),
                "email" => ("email", &["email"]),
                other => return Err(unknown(other)),
            },
        };
        if let Some(stray) = map.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("`{stray}` does not belong to the check `{name}`"));
        }
        let value = &map[name];
        match name {
            "tool" => Self::tool(text(name, value)?, map),
            "compute" => Ok(Self::Compute(text(name, value)?)),
            "calendar" => {
                let ahead = text(name, value)?;
                match parse_duration(&ahead) {
                    Ok(_) => Ok(Self::Calendar(ahead)),
                    Err(error) => Err(error.message),
                }
            }
            _ => match value.as_str() {
                Some("new") => Ok(Self::Mail),
                _ => Err(format!("`email` is `new`, not `{}`", value_text(value))),
            },
        }
    }

    fn tool(tool: String, map: &Object) -> Result<Self, String> {
        let args = match map.get("args") {
            None | Some(Value::Null) => Object::new(),
            Some(Value::Object(args)) => args.clone(),
            Some(other) => return Err(format!("`args` is a mapping, not `{other}`")),
        };
        let condition = match map.get("condition") {
            None | Some(Value::Null) => None,
            Some(value) => Some(text("condition", value)?),
        };
        if let Some(condition) = &condition {
            Condition::parse(condition).map_err(|error| error.message)?;
        }
        Ok(Self::Tool {
            tool,
            args,
            condition,
        })
    }
}

fn text(key: &str, value: &Value) -> Result<String, String> {
    match value.as_str() {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(format!("`{key}` is a string, not `{}`", value_text(value))),
    }
}

fn unknown(name: &str) -> String {
    format!("unknown check `{name}`; known checks: `calendar`, `email`, `tool` and `compute`")
}
