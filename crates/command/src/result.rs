//! The result of a command (S2.46), for programs and for models.
//!
//! Not here: running commands, and the record of a run, which holds more.

use std::fmt;

use deft_model::Object;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::problem::Problem;

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandResult {
    /// Whether the command succeeded.
    pub status: CommandStatus,
    /// The text of the result.
    pub content: String,
    /// What the command changed, as words such as `skill_created`.
    #[serde(default)]
    pub side_effects: Vec<String>,
    /// Further data.
    #[serde(default)]
    pub metadata: Object,
}

/// Whether a command succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandStatus {
    /// The command succeeded.
    Ok,
    /// The command failed.
    Error,
}

impl CommandResult {
    /// Returns the result of a successful command.
    pub fn ok(content: impl Into<String>) -> Self {
        Self {
            status: CommandStatus::Ok,
            content: content.into(),
            side_effects: Vec::new(),
            metadata: Object::new(),
        }
    }

    /// Returns a page without a handler: the model that wrote the command follows the page itself
    /// (S2.47).
    pub fn template(page: impl Into<String>) -> Self {
        let mut result = Self::ok(page);
        let metadata = [
            ("type", json!("template")),
            ("requires_interpretation", json!(true)),
        ];
        let metadata = metadata.map(|(name, value)| (name.to_owned(), value));
        result.metadata.extend(metadata);
        result
    }

    /// Returns the result of a command that was rejected because of `problems`. The content has
    /// everything that a model needs to correct the command.
    pub fn from_problems(problems: &[Problem]) -> Self {
        let sentence = |problem: &Problem| match problem.hint() {
            Some(hint) => format!("error ({}): {problem}\nhint: {hint}", problem.code()),
            None => format!("error ({}): {problem}", problem.code()),
        };
        let sentences: Vec<String> = problems.iter().map(sentence).collect();
        let entry = |problem: &Problem| json!({"code": problem.code(), "message": problem.to_string(), "hint": problem.hint()});
        let errors: Vec<Value> = problems.iter().map(entry).collect();
        let mut result = Self {
            status: CommandStatus::Error,
            ..Self::ok(sentences.join("\n"))
        };
        result.metadata.insert("errors".to_owned(), errors.into());
        result
    }

    /// Converts the output of a handler. An object in the form of a [`CommandResult`] is used as it is;
    /// anything else is the content of a successful command.
    pub fn from_output(output: &Value) -> Self {
        Self::from_contract(output).unwrap_or_else(|| {
            Self::ok(match output {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other
                @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    other.to_string()
                }
            })
        })
    }

    fn from_contract(output: &Value) -> Option<Self> {
        const KEYS: [&str; 4] = ["status", "content", "side_effects", "metadata"];
        let mut keys = output.as_object()?.keys();
        let known = keys.all(|key| KEYS.contains(&key.as_str()));
        let read = || serde_json::from_value(output.clone()).ok();
        known.then(read).flatten()
    }
}

impl fmt::Display for CommandStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Error => "error",
        })
    }
}

/// The text that a model reads: the status, side effects and metadata, an empty line and the content.
/// The `errors` of a rejected command are already in its content, so they are left out.
impl fmt::Display for CommandResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "status: {}", self.status)?;
        if !self.side_effects.is_empty() {
            writeln!(f, "side_effects: {}", self.side_effects.join(", "))?;
        }
        for (name, value) in self.metadata.iter().filter(|(name, _)| *name != "errors") {
            match value {
                // A text with line breaks could fake another header line.
                Value::String(text) if !text.contains(char::is_control) => {
                    writeln!(f, "{name}: {text}")?;
                }
                other @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_)) => writeln!(f, "{name}: {other}")?,
            }
        }
        if !self.content.is_empty() {
            write!(f, "\n{}", self.content)?;
        }
        Ok(())
    }
}
