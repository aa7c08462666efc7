//! The description of a tool and its behaviour hints.

use std::sync::Arc;

use deft_model::Effects;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The server name under which built-in tools are listed.
pub const BUILTIN_SERVER: &str = "deft";

/// A server's hints about the behaviour of a tool. They are not guaranteed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Annotations {
    /// Whether the tool changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// Whether the tool may destroy data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Whether repeating a call has no further effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Whether the tool interacts with systems outside the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// Returns the effects of repeating a call; `None` without any hints.
    pub fn effects(self) -> Option<Effects> {
        if self.read_only_hint == Some(true) {
            return Some(Effects::None);
        }
        if self.idempotent_hint == Some(true) {
            return Some(Effects::Idempotent);
        }
        (self != Self::default()).then_some(Effects::Once)
    }

    /// Whether the tool may destroy data. Without hints it may, unless it is read-only; these are the
    /// defaults of MCP.
    fn may_destroy(self) -> bool {
        self.read_only_hint != Some(true) && self.destructive_hint != Some(false)
    }

    /// Whether the tool counts as destructive only because it has no `destructiveHint`.
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

/// A tool that a server lists but that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisabledTool {
    /// The server's name for the tool, as far as it can be shown.
    pub name: String,
    /// Why it is disabled, such as "its schema is invalid: …".
    pub reason: String,
}

/// One tool of one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// The server's name for the tool.
    pub name: String,
    /// The name of the server.
    pub server: String,
    /// The shortest unambiguous name for calls: the bare name where it is unique, else `server.tool`.
    pub shown: String,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool's description.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Arc<Value>,
    /// The JSON Schema of its structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Value>>,
    /// The server's hints about its behaviour.
    #[serde(default)]
    pub annotations: Annotations,
    /// Whether the tool is built into deft.
    #[serde(default)]
    pub builtin: bool,
}

impl ToolInfo {
    /// Returns the name that is always valid: `server.tool`, or the name of a built-in tool.
    pub fn full_name(&self) -> String {
        if self.builtin {
            self.name.clone()
        } else {
            format!("{}.{}", self.server, self.name)
        }
    }

    /// Returns the effects of repeating a call; `None` if unknown.
    pub fn effects(&self) -> Option<Effects> {
        self.annotations.effects()
    }

    /// Returns the first sentence of the description, on one line.
    pub fn summary(&self) -> String {
        first_sentence(&self.description)
    }
}

/// Returns the first line of `text` up to the end of its first sentence.
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

/// Whether the text ends with an abbreviation such as `e.g.`, whose full stop does not end the
/// sentence.
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
    fn an_unannotated_tool_is_destructive() {
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
