//! The check before a run, as a skill declares it (S0.70 to S0.72 under X20).
//!
//! Not here: making the check, which takes tools and a clock.

use deft_model::Object;
use deft_schedule::parse_duration;
use deft_template::Condition;
use serde_json::Value;

/// How far ahead the calendar is read where nothing is said.
const AHEAD: &str = "2h";

/// A check, as a skill declares it.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// Events within a stretch of time.
    Calendar(String),
    /// New mail.
    Mail,
    /// A call, and what must be true of its result.
    Tool {
        /// The tool.
        tool: String,
        /// Its arguments.
        args: Object,
        /// What must be true; something has to come back when absent.
        condition: Option<String>,
    },
    /// Python; its result decides.
    Compute(String),
}

impl Check {
    /// Reads `preflight`.
    pub fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(name) => Self::named(name, &Value::Null),
            Value::Object(map) => Self::described(map),
            other => Err(format!("a check is a mapping, not `{other}`")),
        }
    }

    fn named(name: &str, value: &Value) -> Result<Self, String> {
        match name {
            "calendar" => {
                let ahead = value.as_str().unwrap_or(AHEAD);
                match parse_duration(ahead) {
                    Ok(_) => Ok(Self::Calendar(ahead.to_owned())),
                    Err(error) => Err(error.message),
                }
            }
            "email" => Ok(Self::Mail),
            other => Err(format!(
                "there is no check `{other}`; there are `calendar`, `email`, `tool` and `compute`"
            )),
        }
    }

    fn described(map: &Object) -> Result<Self, String> {
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(tool) = text("tool") {
            let args = match map.get("args") {
                None | Some(Value::Null) => Object::new(),
                Some(Value::Object(args)) => args.clone(),
                Some(other) => return Err(format!("`args` is a mapping, not `{other}`")),
            };
            let condition = text("condition");
            if let Some(condition) = &condition {
                Condition::parse(condition).map_err(|error| error.message)?;
            }
            return Ok(Self::Tool {
                tool,
                args,
                condition,
            });
        }
        if let Some(code) = text("compute") {
            return Ok(Self::Compute(code));
        }
        match map.iter().next() {
            Some((name, value)) => Self::named(name, value),
            None => Err("the check is empty".to_owned()),
        }
    }
}
