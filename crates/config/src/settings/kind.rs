//! Kinds of values: each with a description in words, a check and a JSON Schema.
//!
//! A check looks at one value, without its file, line or neighbouring keys.

use deft_model::{Choice, FailureClass};
use serde_json::{Value, json};

use super::ChannelKind;

/// The kind of value that a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// `true` or `false`.
    Truth,
    /// A whole number, at least 0.
    Count,
    /// A whole number, at least 1.
    Positive,
    /// A number, at least 0.
    Number,
    /// `30s`, `1h30m`, or a number of seconds.
    Duration,
    /// A list of strings.
    Texts,
    /// A list of chat ids, which are numbers or strings.
    Chats,
    /// The name of a time zone.
    Zone,
    /// A host and a port.
    Address,
    /// A web address.
    Url,
    /// The address of the database.
    Store,
    /// One of the given words.
    Words(&'static [&'static str]),
    /// A channel for notices.
    Channel,
    /// A reference to a secret, never the secret itself.
    Secret,
    /// A string, or a reference to a secret.
    Reference,
    /// A list of heal rules.
    Heals,
    /// Any value; deft does not check it.
    Any,
}

/// Why a value is invalid, without the name of its key.
#[derive(Debug, PartialEq)]
pub struct KindError {
    /// A sentence without its beginning, "`key` ".
    pub message: String,
    pub hint: Option<String>,
}

impl KindError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

const REFERENCE_HINT: &str =
    "`deft secrets set NAME` stores the value and prints the reference to write here";

impl Kind {
    /// Describes the accepted values, for messages.
    pub fn takes(self) -> String {
        let words = match self {
            Self::Text => "a string",
            Self::Truth => "`true` or `false`",
            Self::Count => "a whole number",
            Self::Positive => "a whole number of at least 1",
            Self::Number => "a number of at least 0",
            Self::Duration => "a duration such as `30s` or `5m`, or a number of seconds",
            Self::Texts => "a list of strings",
            Self::Chats => "a list of chat ids",
            Self::Zone => "the name of a zone such as `Europe/Berlin`",
            Self::Address => "a host and a port such as `127.0.0.1:9876`",
            Self::Url => "a URL that starts with `http://` or `https://`",
            Self::Store => "an address such as `sqlite://data/deft.db`",
            Self::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                return words.join(", ");
            }
            Self::Channel => "`log`, `desktop`, `telegram`, `webhook` or `tool:NAME`",
            Self::Secret => "a reference, `env:NAME`, `file:PATH` or `keyring:NAME`",
            Self::Reference => "a string, or a reference such as `env:NAME` or `file:PATH`",
            Self::Heals => "a list of `heal` rules",
            Self::Any => "any value",
        };
        words.to_owned()
    }

    /// Whether values of this kind are strings, so that `4` means the string `4`.
    pub fn is_text(self) -> bool {
        match self {
            Self::Text
            | Self::Zone
            | Self::Address
            | Self::Url
            | Self::Store
            | Self::Words(_)
            | Self::Channel
            | Self::Secret
            | Self::Reference => true,
            Self::Truth
            | Self::Count
            | Self::Positive
            | Self::Number
            | Self::Duration
            | Self::Texts
            | Self::Chats
            | Self::Heals
            | Self::Any => false,
        }
    }

    /// Checks `value`.
    pub fn check(self, value: &Value) -> Result<(), KindError> {
        let other = || {
            KindError::new(format!(
                "takes {}, not {}",
                self.takes(),
                describe_value(value)
            ))
        };
        let text = || value.as_str().ok_or_else(other);
        match self {
            Self::Text | Self::Reference => text().map(drop),
            Self::Truth => value.as_bool().map(drop).ok_or_else(other),
            Self::Count => value.as_u64().map(drop).ok_or_else(other),
            Self::Positive => at_least(value, 1).ok_or_else(other),
            Self::Number => {
                let number = value.as_f64().filter(|number| *number >= 0.0);
                number.map(drop).ok_or_else(other)
            }
            Self::Duration => duration(value, other).map(drop),
            Self::Texts => each(value, Value::is_string).ok_or_else(other),
            Self::Chats => each(value, |chat| chat.is_string() || chat.is_i64()).ok_or_else(other),
            Self::Zone => zone(text()?),
            Self::Address => address(text()?).ok_or_else(other),
            Self::Url => {
                let url = text()?;
                let fits = url.starts_with("http://") || url.starts_with("https://");
                fits.then_some(()).ok_or_else(other)
            }
            Self::Store => super::store::parse(text()?)
                .map(drop)
                .map_err(|problem| KindError {
                    message: problem.message,
                    hint: Some(problem.hint),
                }),
            Self::Words(words) => word(text()?, words, other),
            Self::Channel => channel(text()?, other),
            Self::Secret => secret(value),
            Self::Heals => value.as_array().map(drop).ok_or_else(other),
            Self::Any => Ok(()),
        }
    }

    /// Returns the JSON Schema of values of this kind.
    pub fn schema(self) -> Value {
        match self {
            Self::Text | Self::Zone | Self::Address | Self::Reference => json!({"type": "string"}),
            Self::Truth => json!({"type": "boolean"}),
            Self::Count => json!({"type": "integer", "minimum": 0}),
            Self::Positive => json!({"type": "integer", "minimum": 1}),
            Self::Number => json!({"type": "number", "minimum": 0}),
            Self::Duration => {
                json!({"anyOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0}]})
            }
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Chats => json!({"type": "array", "items": {"type": ["string", "integer"]}}),
            Self::Url => json!({"type": "string", "pattern": "^https?://"}),
            Self::Store => json!({"type": "string", "pattern": "^sqlite:"}),
            Self::Words(words) => json!({"enum": words}),
            Self::Channel => json!({"anyOf": [
                {"enum": ChannelKind::WORDS},
                {"type": "string", "pattern": "^tool:.", "not": {"const": "tool:notify"}},
            ]}),
            Self::Secret => json!({"type": "string", "pattern": "^(env|file|keyring):."}),
            Self::Heals => json!({"type": "array", "items": heal_schema()}),
            Self::Any => json!({}),
        }
    }
}

/// Describes `value` for a message. Long strings are not shown, because they might be secrets.
fn describe_value(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() <= 40 => format!("the string `{text}`"),
        Value::String(_) => "this string".to_owned(),
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}

fn at_least(value: &Value, least: u64) -> Option<()> {
    value.as_u64().filter(|number| *number >= least).map(drop)
}

fn each(value: &Value, fits: impl Fn(&Value) -> bool) -> Option<()> {
    value.as_array()?.iter().all(fits).then_some(())
}

/// Parses a duration: a string, or a number of seconds.
pub(super) fn duration(
    value: &Value,
    other: impl Fn() -> KindError,
) -> Result<std::time::Duration, KindError> {
    if let Some(seconds) = value.as_f64() {
        return deft_schedule::from_seconds(seconds).map_err(|_| other());
    }
    let length = deft_schedule::parse_duration(value.as_str().ok_or_else(&other)?);
    let length = length.map_err(|problem| KindError {
        message: format!("is invalid: {}", problem.message),
        hint: problem.hint,
    })?;
    length.try_into().map_err(|_| other())
}

fn zone(name: &str) -> Result<(), KindError> {
    deft_schedule::parse_zone(name)
        .map(drop)
        .map_err(|problem| KindError {
            message: format!("is invalid: {}", problem.message),
            hint: problem.hint,
        })
}

fn address(text: &str) -> Option<()> {
    let (host, port) = text.rsplit_once(':')?;
    (!host.is_empty() && port.parse::<u16>().is_ok()).then_some(())
}

fn word(given: &str, words: &[&str], other: impl Fn() -> KindError) -> Result<(), KindError> {
    if words.contains(&given) {
        return Ok(());
    }
    match deft_model::nearest(given, words.iter().copied()) {
        Some(near) => Err(other().hint(format!("did you mean `{near}`?"))),
        None => Err(other()),
    }
}

fn channel(given: &str, other: impl Fn() -> KindError) -> Result<(), KindError> {
    match ChannelKind::from_word(given) {
        Some(ChannelKind::Tool(name)) if ChannelKind::is_circle(&name) => {
            let message = format!(
                "cannot be `{name}`: it would create notices instead of sending \
                 them"
            );
            Err(KindError::new(message)
                .hint("name a tool that sends messages; `deft tools list` shows all tools"))
        }
        Some(_) => Ok(()),
        None => word(given, ChannelKind::WORDS, other),
    }
}

/// Checks a reference to a secret. The message does not show `value`, which may be the secret itself.
fn secret(value: &Value) -> Result<(), KindError> {
    let Some(text) = value.as_str() else {
        return Err(KindError::new("takes a reference to a secret").hint(REFERENCE_HINT));
    };
    match text.split_once(':') {
        Some(("env" | "file" | "keyring", rest)) if !rest.trim().is_empty() => Ok(()),
        Some(("env" | "file" | "keyring", _)) => {
            Err(KindError::new(format!("has nothing after `{text}`")).hint(REFERENCE_HINT))
        }
        _ => Err(KindError::new(
            "takes a reference and not the secret itself, because this file is read, copied and \
             shown",
        )
        .hint(REFERENCE_HINT)),
    }
}

/// Checks an entry of `engine.heal`.
pub(super) fn check_heal(entry: &Value) -> Result<(), KindError> {
    const SHAPE: &str = "write `{when = \"auth\", tool = \"NAME\", args = {…}}`";
    const KEYS: [&str; 3] = ["when", "tool", "args"];
    let wrong = |message: String| Err(KindError::new(message).hint(SHAPE));
    let Some(entry) = entry.as_object() else {
        return wrong(format!(
            "has {}, which is not a `heal` rule",
            describe_value(entry)
        ));
    };
    if let Some(stranger) = entry.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return wrong(format!(
            "has a `heal` rule with the unknown key `{stranger}`"
        ));
    }
    if entry
        .get("tool")
        .and_then(Value::as_str)
        .is_none_or(str::is_empty)
    {
        return wrong("has a `heal` rule without `tool`".to_owned());
    }
    if entry.get("args").is_some_and(|args| !args.is_object()) {
        return wrong("has a `heal` rule whose `args` is not a table".to_owned());
    }
    classes(entry.get("when").unwrap_or(&Value::Null)).map(drop)
}

/// Parses the failure classes that a heal rule handles.
pub(super) fn classes(value: &Value) -> Result<Vec<FailureClass>, KindError> {
    let words: Vec<&str> = match value {
        Value::String(word) => vec![word],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    let known = || FailureClass::WORDS.iter().map(|(word, _)| *word);
    if words.is_empty() {
        let list: Vec<&str> = known().collect();
        return Err(KindError::new("has a `heal` rule without `when`")
            .hint(format!("failure classes are {}", list.join(", "))));
    }
    let class = |word: &str| {
        FailureClass::from_word(word).ok_or_else(|| {
            let near = deft_model::nearest(word, known());
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "failure classes are {}",
                    known().collect::<Vec<_>>().join(", ")
                ),
            };
            KindError::new(format!(
                "has a `heal` rule for `{word}`, which is not a failure class"
            ))
            .hint(hint)
        })
    };
    words.into_iter().map(class).collect()
}

fn heal_schema() -> Value {
    let words: Vec<&str> = FailureClass::WORDS.iter().map(|(word, _)| *word).collect();
    json!({
        "type": "object",
        "properties": {
            "when": {"anyOf": [{"enum": words}, {"type": "array", "items": {"enum": words}}]},
            "tool": {"type": "string"},
            "args": {"type": "object"},
        },
        "required": ["when", "tool"],
        "additionalProperties": false,
    })
}
