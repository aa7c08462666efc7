//! What is known of a tool.

use std::sync::Arc;

use deft_model::Effects;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name under which built-in tools are listed.
pub const BUILTIN_SERVER: &str = "deft";

/// What a server says about the behaviour of a tool. Hints, not promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Repeating it changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It deals with the outside world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// What repeating a call would do, if the server says anything about it.
    pub fn effects(self) -> Option<Effects> {
        if self.read_only_hint == Some(true) {
            return Some(Effects::None);
        }
        if self.idempotent_hint == Some(true) {
            return Some(Effects::Idempotent);
        }
        (self != Self::default()).then_some(Effects::Once)
    }

    /// Whether it may destroy something as far as the server says: one that says nothing may, unless it
    /// only reads. These are the defaults of MCP.
    fn may_destroy(self) -> bool {
        self.read_only_hint != Some(true) && self.destructive_hint != Some(false)
    }

    /// Whether it may destroy something only because the server does not say that it does not.
    pub fn leaves_open(self) -> bool {
        self.may_destroy() && self.destructive_hint.is_none()
    }

    pub(crate) fn from_effects(effects: Effects) -> Self {
        Self {
            read_only_hint: Some(effects == Effects::None),
            idempotent_hint: Some(effects != Effects::Once),
            ..Self::default()
        }
    }
}

/// A tool that a server lists and that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisabledTool {
    /// The name the server gives it, as far as it can be shown.
    pub name: String,
    /// What is wrong with it, as in "its schema is invalid: …".
    pub reason: String,
}

/// One tool of one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// The name the server gives it.
    pub name: String,
    /// The server it belongs to.
    pub server: String,
    /// What a caller may pass: the bare name where that is unique, else `server.tool`.
    pub shown: String,
    /// Its title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Arc<Value>,
    /// The JSON Schema of its structured answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Value>>,
    /// What the server says about its behaviour.
    #[serde(default)]
    pub annotations: Annotations,
    /// Whether it is one of deft's own.
    #[serde(default)]
    pub builtin: bool,
}

impl ToolInfo {
    /// The name that is always valid: `server.tool`, or the name of a built-in tool.
    pub fn full_name(&self) -> String {
        if self.builtin {
            self.name.clone()
        } else {
            format!("{}.{}", self.server, self.name)
        }
    }

    /// What repeating a call would do, if anything is known of it.
    pub fn effects(&self) -> Option<Effects> {
        self.annotations.effects()
    }

    /// The first sentence of the description, on one line.
    pub fn summary(&self) -> String {
        first_sentence(&self.description)
    }
}

/// The text up to the first full stop that ends a sentence, or the first line.
pub fn first_sentence(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    let end = line
        .char_indices()
        .find(|(at, letter)| {
            matches!(letter, '.' | '!' | '?')
                && line[at + 1..]
                    .chars()
                    .next()
                    .is_none_or(char::is_whitespace)
                && !is_abbreviation(&line[..*at])
        })
        .map_or(line.len(), |(at, _)| at + 1);
    line[..end].to_owned()
}

/// `e.g.` and `i.e.` end no sentence.
fn is_abbreviation(before: &str) -> bool {
    ["e.g", "i.e", "etc", "vs", "approx"]
        .iter()
        .any(|short| before.to_lowercase().ends_with(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_kept() {
        for (text, expected) in [
            (
                "Send a message to a chat. Needs a token.",
                "Send a message to a chat.",
            ),
            (
                "Lists files, e.g. images. More.",
                "Lists files, e.g. images.",
            ),
            ("\n  Reads v1.2 files\nand more", "Reads v1.2 files"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }

    #[test]
    fn effects_follow_the_hints() {
        let hints = |read_only, idempotent, destructive| Annotations {
            read_only_hint: read_only,
            idempotent_hint: idempotent,
            destructive_hint: destructive,
            open_world_hint: None,
        };
        assert_eq!(hints(Some(true), None, None).effects(), Some(Effects::None));
        assert_eq!(
            hints(Some(false), Some(true), None).effects(),
            Some(Effects::Idempotent)
        );
        assert_eq!(hints(None, None, Some(true)).effects(), Some(Effects::Once));
        assert_eq!(hints(None, None, None).effects(), None);
    }

    /// The defaults of MCP: `readOnlyHint` false, `destructiveHint` true.
    #[test]
    fn a_tool_of_which_nothing_is_said_may_destroy() {
        let hints = |read_only_hint, destructive_hint| Annotations {
            read_only_hint,
            destructive_hint,
            ..Annotations::default()
        };
        for (given, may_destroy, leaves_open) in [
            (hints(None, None), true, true),
            (hints(Some(false), None), true, true),
            (hints(Some(true), None), false, false),
            (hints(Some(true), Some(true)), false, false),
            (hints(None, Some(false)), false, false),
            (hints(None, Some(true)), true, false),
        ] {
            assert_eq!(
                (given.may_destroy(), given.leaves_open()),
                (may_destroy, leaves_open)
            );
        }
    }
}
