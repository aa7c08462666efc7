//! The reasons why a record is rejected.
//!
//! Only the types; the rules are in `check`.

use deft_model::Object;
use serde_json::{Value, json};

/// One problem with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path of the field, such as `trigger_config.schedule`; empty if the problem concerns the whole
    /// record.
    pub field: String,
    /// The problem: lower case, values in backticks, no full stop.
    pub message: String,
    /// What to do about the problem.
    pub hint: Option<String>,
}

impl Problem {
    /// Creates a problem of a field.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
            hint: None,
        }
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Converts to JSON: `{field, message, hint}`.
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("field".to_owned(), json!(self.field));
        object.insert("message".to_owned(), json!(self.message));
        if let Some(hint) = &self.hint {
            object.insert("hint".to_owned(), json!(hint));
        }
        Value::Object(object)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " (hint: {hint})"),
            None => Ok(()),
        }
    }
}

/// All problems of a rejected record, so that a model can fix them at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The problems, in the order of the record; never empty.
    pub problems: Vec<Problem>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
