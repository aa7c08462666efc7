//! Formatting of the events of an answer as lines.

use std::time::Duration;

use crate::output::clip;
use crate::progress::duration;
use crate::terminal::StyledText;
use deft_service::words::mask_secrets;
use deft_wire::model::{Object, visible};

/// The maximum width of arguments, in columns; below, of missions and reasons.
const ARGS: usize = 60;
const WORDS: usize = 100;

/// The result of a call.
pub(super) enum Mark<'a> {
    Good(u64),
    Failed(u64, Option<&'a str>),
    Refused(&'a str),
    /// The model was not offered the tool.
    Hidden(&'a str),
}

/// Formats a finished call as one line: `⚙ gmail_list_messages {"query":"x"} ✓ 120 ms`.
pub(super) fn call(
    tool: &str,
    args: &Object,
    depth: usize,
    mark: &Mark<'_>,
    color: bool,
) -> StyledText {
    let paint = |code, text| StyledText::paint(code, text, color);
    if let Mark::Refused(why) | Mark::Hidden(why) = mark {
        let word = match mark {
            Mark::Hidden(_) => "⋯ hidden",
            Mark::Refused(_) | Mark::Good(_) | Mark::Failed(..) => "⊘ refused",
        };
        let named = format_call(tool, args, false);
        let line = format!(
            "{}⚙ {} {word}  {}",
            indent(depth),
            named.as_str(),
            words(why)
        );
        return paint("2", &line);
    }
    let how = match mark {
        Mark::Good(ms) => paint("32", "✓").with(format!(" {}", show_duration(*ms))),
        Mark::Failed(ms, why) => {
            let why = why.map_or(String::new(), |why| format!("  {}", words(why)));
            paint("31", "✗").with(format!(" {}{why}", show_duration(*ms)))
        }
        Mark::Refused(_) | Mark::Hidden(_) => StyledText::default(),
    };
    StyledText::from(format!("{}⚙ ", indent(depth)))
        .with(format_call(tool, args, color))
        .with(" ")
        .with(how)
}

/// Formats a call in flight.
pub(super) fn open(tool: &str, args: &Object) -> String {
    format!("⚙ {}", format_call(tool, args, false).as_str())
}

fn format_call(tool: &str, args: &Object, color: bool) -> StyledText {
    let tool = StyledText::from(tool);
    if args.is_empty() {
        return tool;
    }
    let args = serde_json::to_string(args).unwrap_or_default();
    let masked = mask_secrets(&args);
    let args = clip(&visible(masked.as_deref().unwrap_or(&args)), ARGS);
    tool.with(" ").with(StyledText::paint("2", &args, color))
}

/// Formats the dispatch of an agent.
pub(super) fn format_dispatch(agent: &str, mission: &str, depth: usize) -> String {
    format!("{}⇢ {}: {}", indent(depth), visible(agent), words(mission))
}

/// Formats the end of a dispatched agent. `note` is the reason if it failed.
pub(super) fn format_return(agent: &str, depth: usize, note: Option<&str>) -> String {
    let how = match note {
        Some(why) => format!("failed: {}", words(why)),
        None => "is done".to_owned(),
    };
    format!("{}⇠ {} {how}", indent(depth), visible(agent))
}

/// Returns `text` on one line, truncated, with secrets masked.
pub(super) fn words(text: &str) -> String {
    let masked = mask_secrets(text);
    let text = masked.as_deref().unwrap_or(text);
    let line: Vec<&str> = text.split_whitespace().collect();
    clip(&visible(&line.join(" ")), WORDS)
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(8))
}

fn show_duration(ms: u64) -> String {
    duration(Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn args(value: Value) -> Object {
        match value {
            Value::Object(args) => args,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Object::new(),
        }
    }

    #[test]
    fn calls_are_one_line() {
        let long =
            json!({"query": "from:someone@example.org newer_than:1d in:inbox", "max_results": 50});
        for (tool, args_given, depth, mark, expected) in [
            (
                "gmail_list",
                json!({}),
                0,
                Mark::Good(120),
                "⚙ gmail_list ✓ 120 ms",
            ),
            (
                "ls",
                json!({"path": "/"}),
                1,
                Mark::Good(2500),
                "  ⚙ ls {\"path\":\"/\"} ✓ 2.5 s",
            ),
            (
                "gmail_list",
                long,
                0,
                Mark::Failed(7, Some("no\nroute")),
                "⚙ gmail_list {\"query\":\"from:someone@example.org newer_than:1d in:inbox\",… ✗ 7 ms  no route",
            ),
            (
                "rm\u{1b}[2J",
                json!({}),
                0,
                Mark::Refused("it is not one of its tools"),
                "⚙ rm\\x1b[2J ⊘ refused  it is not one of its tools",
            ),
            (
                "mail",
                json!({}),
                1,
                Mark::Hidden("it was not offered yet"),
                "  ⚙ mail ⋯ hidden  it was not offered yet",
            ),
        ] {
            let line = call(tool, &args(args_given), depth, &mark, false);
            assert_eq!(line.as_str(), expected);
        }
    }
}
