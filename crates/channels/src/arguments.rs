//! Finds the arguments of a tool that take the text and the target of a notice.
//!
//! The schema of a tool names its arguments. Common names are recognised; other names must be set in the
//! configuration. Nothing is guessed.
//!
//! Not here: calling the tool (`tool.rs`).

use deft_model::nearest;
use serde_json::Value;

/// Argument names for the text, most likely first.
const TEXTS: [&str; 7] = [
    "text",
    "message",
    "content",
    "body",
    "markdown",
    "msg",
    "markdown_text",
];

/// Argument names for the chat, channel or person, most likely first.
const TARGETS: [&str; 10] = [
    "chat_id",
    "target",
    "channel_id",
    "channel",
    "to",
    "recipient",
    "conversation_id",
    "room_id",
    "room",
    "user_id",
];

/// Argument names set in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArgumentSettings {
    /// `notify.text_argument`.
    pub text: Option<String>,
    /// `notify.target_argument`.
    pub target: Option<String>,
    /// Whether `notify.target` is set.
    pub has_target: bool,
}

/// The arguments of a tool that delivers notices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    /// The argument that takes the text.
    pub text: String,
    /// The argument that takes the target, if the tool has one.
    pub target: Option<String>,
}

/// Why a tool cannot deliver notices, and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolProblem {
    pub message: String,
    pub hint: String,
}

/// Finds the arguments of `tool` for text and target. Fails if an argument cannot be identified, or if the
/// tool requires another argument.
pub(crate) fn names(
    tool: &str,
    schema: &Value,
    settings: &ArgumentSettings,
) -> Result<Names, ToolProblem> {
    let arguments = Arguments::from_schema(tool, schema);
    let text = match &settings.text {
        Some(name) => arguments.named_argument(name, "notify.text_argument")?,
        None => arguments
            .likely(&TEXTS, &["string"])
            .ok_or_else(|| ToolProblem {
                message: format!(
                    "cannot tell which argument of `{tool}` takes the text of a notice"
                ),
                hint: arguments.say("notify.text_argument"),
            })?,
    };
    let target = match &settings.target {
        Some(name) => Some(arguments.named_argument(name, "notify.target_argument")?),
        None => arguments.likely(&TARGETS, &["string", "integer", "number"]),
    };
    if settings.has_target && target.is_none() {
        return Err(ToolProblem {
            message: format!("cannot tell which argument of `{tool}` takes `notify.target`"),
            hint: arguments.say("notify.target_argument"),
        });
    }
    arguments.check_other_arguments(&text, target.as_deref(), settings)?;
    Ok(Names { text, target })
}

/// The arguments in the schema of a tool.
struct Arguments<'a> {
    tool: &'a str,
    /// Name and schema of each argument; empty if the schema does not list them.
    known: Vec<(&'a str, &'a Value)>,
    required: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    fn from_schema(tool: &'a str, schema: &'a Value) -> Self {
        let known = schema["properties"].as_object();
        let required = schema["required"].as_array();
        Self {
            tool,
            known: known
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.as_str(), schema))
                .collect(),
            required: required
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect(),
        }
    }

    /// Returns the configured argument `name` if the tool has it. `key` is its configuration key.
    fn named_argument(&self, name: &str, key: &str) -> Result<String, ToolProblem> {
        let mut names = self.known.iter().map(|(known, _)| *known);
        // A schema without properties accepts any argument.
        if self.known.is_empty() || names.any(|known| known == name) {
            return Ok(name.to_owned());
        }
        let near = nearest(name, self.known.iter().map(|(known, _)| *known));
        Err(ToolProblem {
            message: format!("`{}` has no argument `{name}`", self.tool),
            hint: match near {
                Some(near) => format!("`deft config set {key} {near}`"),
                None => self.say(key),
            },
        })
    }

    /// Returns the first of `names` that the tool has with one of the types `kinds`. Required arguments take
    /// precedence.
    fn likely(&self, names: &[&str], kinds: &[&str]) -> Option<String> {
        let fits = |name: &&&str| {
            let mut known = self.known.iter();
            known.any(|(known, schema)| known == *name && takes(schema, kinds))
        };
        let found: Vec<&&str> = names.iter().filter(fits).collect();
        let needed = found.iter().find(|name| self.required.contains(**name));
        let chosen = needed.or(found.first())?;
        Some((**chosen).to_owned())
    }

    /// Fails if the tool requires an argument that a notice cannot fill.
    fn check_other_arguments(
        &self,
        text: &str,
        target: Option<&str>,
        settings: &ArgumentSettings,
    ) -> Result<(), ToolProblem> {
        let tool = self.tool;
        let is_needed = |name: &str| self.required.contains(&name);
        if !settings.has_target && target.is_some_and(is_needed) {
            return Err(ToolProblem {
                message: format!("`{tool}` requires a target, but `notify.target` is not set"),
                hint: "`deft config set notify.target CHAT_OR_CHANNEL`".to_owned(),
            });
        }
        let mut others = self.required.iter();
        match others.find(|name| **name != text && Some(**name) != target) {
            None => Ok(()),
            Some(other) => Err(ToolProblem {
                message: format!(
                    "`{tool}` requires the argument `{other}`, which a notice does \
                     not have"
                ),
                hint: "choose a tool that requires only a text and a target, or set \
                       `notify.text_argument` and `notify.target_argument`"
                    .to_owned(),
            }),
        }
    }

    fn say(&self, key: &str) -> String {
        let names: Vec<&str> = self.known.iter().map(|(name, _)| *name).collect();
        let there = match names.as_slice() {
            [] => String::new(),
            names => format!("; it has `{}`", names.join("`, `")),
        };
        format!("`deft config set {key} NAME`{there}")
    }
}

/// Whether an argument accepts one of the types `kinds`. A schema without a type accepts every type.
fn takes(schema: &Value, kinds: &[&str]) -> bool {
    let fits = |kind: &Value| kind.as_str().is_some_and(|kind| kinds.contains(&kind));
    match &schema["type"] {
        Value::Array(several) => several.iter().any(fits),
        Value::String(_) => fits(&schema["type"]),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ArgumentSettings, Names, names};

    /// Builds a schema from words like `name:type`; a leading `!` marks a required argument.
    fn schema(arguments: &str) -> Value {
        let mut schema = json!({"type": "object", "properties": {}, "required": []});
        for argument in arguments.split_whitespace() {
            let (name, kind) = argument.split_once(':').unwrap_or((argument, "string"));
            let bare = name.trim_start_matches('!');
            schema["properties"][bare] = json!({ "type": kind });
            if bare != name {
                schema["required"].as_array_mut().unwrap().push(bare.into());
            }
        }
        schema
    }

    /// The arguments of a tool; the configured `text,target,notify.target`; the expected result.
    const CASES: &[(&str, &str, &str)] = &[
        ("text message chat_id", ",,1", "text chat_id"),
        ("text !message chat_id:integer", ",,1", "message chat_id"),
        ("!content !channel", ",,1", "content channel"),
        ("!text thread_ts", ",,", "text -"),
        ("!text channel", ",,", "text channel"),
        ("text:object message", ",,", "message -"),
        ("phrase whom", "phrase,whom,1", "phrase whom"),
        ("", "words,,", "words -"),
        ("", "words,who,1", "words who"),
        (
            "phrase whom",
            ",,",
            "cannot tell which argument of `t` takes the text of a notice (`deft config set \
             notify.text_argument NAME`; it has `phrase`, `whom`)",
        ),
        (
            "",
            ",,",
            "cannot tell which argument of `t` takes the text of a notice (`deft config set \
             notify.text_argument NAME`)",
        ),
        (
            "text whom",
            ",,1",
            "cannot tell which argument of `t` takes `notify.target` (`deft config set \
             notify.target_argument NAME`; it has `text`, `whom`)",
        ),
        (
            "phrase whom",
            "phrse,,",
            "`t` has no argument `phrse` (`deft config set notify.text_argument phrase`)",
        ),
        (
            "!text !chat_id",
            ",,",
            "`t` requires a target, but `notify.target` is not set (`deft config set notify.target \
             CHAT_OR_CHANNEL`)",
        ),
        (
            "!text !body !to",
            ",,1",
            "`t` requires the argument `body`, which a notice does not have (choose a tool that \
             requires only a text and a target, or set `notify.text_argument` and \
             `notify.target_argument`)",
        ),
    ];

    #[test]
    fn arguments_are_chosen_by_the_schema() {
        for (arguments, configured, expected) in CASES {
            let mut given = configured.split(',').map(str::to_owned);
            let mut next = || given.next().filter(|name| !name.is_empty());
            let settings = ArgumentSettings {
                text: next(),
                target: next(),
                has_target: next().is_some(),
            };
            let found = match names("t", &schema(arguments), &settings) {
                Ok(Names { text, target }) => {
                    format!("{text} {}", target.unwrap_or("-".to_owned()))
                }
                Err(unfit) => format!("{} ({})", unfit.message, unfit.hint),
            };
            assert_eq!(&found, expected, "{arguments:?} with {configured:?}");
        }
    }
}
