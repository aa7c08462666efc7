//! Notices as values: text, subject and receiver.
//!
//! They are queued in the outbox of the store; `courier.rs` delivers them.

use deft_model::Outcome;
use serde::{Deserialize, Serialize};

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A skill sent a message with the `notify` tool.
    Message,
    /// A run succeeded.
    Completion,
    /// A run failed.
    Failure,
    /// A run could not start or continue, because something it needs is missing.
    Blocked,
    /// A run was cut off inside a step that must not be repeated without asking.
    Interrupted,
    /// A skill was disabled after failures.
    Disabled,
    /// A skill or server that had failed works again.
    Recovery,
    /// A run waits for an answer.
    Question,
    /// The answer to a chat message, for the chat it came from.
    Answer,
    /// An agent was paused because it exceeded a limit.
    Paused,
    /// The health of deft itself has changed.
    Health,
}

impl Kind {
    /// Returns the kind of a notice about a run that ended with `outcome`.
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

    /// The name of the kind, as stored.
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
    /// The kind.
    pub kind: Kind,
    /// The heading.
    pub title: String,
    /// The body.
    pub text: String,
    /// The skill that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The receiver; `None` means the default of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The id of the approval that it asks for, if the receiver can answer directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Whether the answer may approve all calls of the tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
}

impl Notice {
    /// Returns a notice about a run, for the default receiver.
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

    /// Returns the notice as JSON, as the store keeps it.
    pub fn body(&self) -> String {
        // Text fields always serialize; the fallback avoids a panic.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}
