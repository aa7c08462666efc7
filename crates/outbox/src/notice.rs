//! Messages to people as values: text, subject and receiver.
//!
//! They wait in the outbox of the store; `courier.rs` hands them over.

use deft_model::Outcome;
use serde::{Deserialize, Serialize};

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A skill said something with the `notify` tool.
    Message,
    /// A run has done its work.
    Completion,
    /// A run failed.
    Failure,
    /// A run could not begin or go on, because something it needs is not there.
    Blocked,
    /// A run was cut off inside a step that must not be repeated unasked.
    Interrupted,
    /// A skill was switched off after failures.
    Disabled,
    /// What failed works again.
    Recovery,
    /// A run waits for the answer of a person.
    Question,
    /// The answer to a message, for the chat it came from.
    Answer,
    /// An agent was paused because it took too much.
    Paused,
    /// Something about deft itself has changed.
    Health,
}

impl Kind {
    /// The kind of a message about the end of a run.
    pub fn from_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Blocked => Self::Blocked,
            Outcome::Interrupted => Self::Interrupted,
            Outcome::Success => Self::Completion,
            Outcome::Error | Outcome::Skipped | Outcome::Missed | Outcome::Cancelled => {
                Self::Failure
            }
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Completion => "completion",
            Self::Failure => "failure",
            Self::Blocked => "blocked",
            Self::Interrupted => "interrupted",
            Self::Disabled => "disabled",
            Self::Recovery => "recovery",
            Self::Question => "question",
            Self::Answer => "answer",
            Self::Paused => "paused",
            Self::Health => "health",
        }
    }
}

/// A message to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What it is about.
    pub kind: Kind,
    /// A heading.
    pub title: String,
    /// What is said.
    pub text: String,
    /// The skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Where to; the default of the host when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The question that it asks, if the receiver can answer at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Whether a yes to that question may be for all calls of its tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
}

impl Notice {
    /// A message about a run, for the people whom the host tells by default.
    pub fn about_run(kind: Kind, title: &str, text: String, skill: &str, run: &str) -> Self {
        Self {
            kind,
            title: title.to_owned(),
            text,
            skill: Some(skill.to_owned()),
            run: Some(run.to_owned()),
            target: None,
            approval: None,
            always: false,
        }
    }

    /// The text that the store keeps.
    pub fn body(&self) -> String {
        // Texts in a struct always serialize; the fallback keeps the promise without a panic.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}
