//! The form in which the result of a call is shown to a model, in both modes.
//!
//! Results come from outside and may say anything, even "ignore your instructions". They are put into a frame
//! that the system prompt explains ([`RESULT_TAG`]), and nothing inside can close it. Pages and lists of
//! skills are the host's own text, and the model asked for them to follow them: they have no frame
//! (`PAGE_TOOLS`).
//!
//! Not here: the explanation of the frame (the prompt), secrets (they are removed before).

use deft_command::{CommandResult, CommandStatus};
use deft_model::{Choice, Failure, ProblemCode, value_text};
use serde_json::Value;

use super::state::{Call, CallEnd, Target};
use super::words::clip;
use crate::event::Interpretation;
use crate::prompt::{RESULT_TAG, neutralise};

/// Names in the router of the host's tools that return pages of skills.
const PAGE_TOOLS: [&str; 2] = ["get_skill", "skill"];

/// Follows the result of a call that was made before.
const ALREADY_DONE_MARK: &str = "[already done before your last answer; not repeated]";

/// Returns the result of a call as the model reads it, and whether the call failed. At most `most` characters
/// of the result itself are shown.
pub(super) fn show_result(name: &str, call: &Call, end: &CallEnd, most: usize) -> (String, bool) {
    match end {
        CallEnd::Value(value) if is_page(call) => (cut(&value_text(value), most).join(""), false),
        CallEnd::TextReply {
            how: Interpretation::Text,
            text,
        } => (cut(text, most).join(""), false),
        CallEnd::TextReply {
            how: Interpretation::Made,
            text,
        } => {
            let result = frame_content(name, text, false, most);
            (format!("{result}\n{ALREADY_DONE_MARK}"), false)
        }
        CallEnd::TextReply { how, text } => (
            frame_content(name, &result_text(*how, text), true, most),
            true,
        ),
        CallEnd::Value(value) => match command_result(call, value) {
            Some(result) => {
                let failed = result.status == CommandStatus::Error;
                (
                    frame_content(name, &result.to_string(), failed, most),
                    failed,
                )
            }
            None => (frame_content(name, &value_text(value), false, most), false),
        },
        CallEnd::Failed(failure) => (
            frame_content(name, &show_failure(failure), true, most),
            true,
        ),
    }
}

fn is_page(call: &Call) -> bool {
    matches!(&call.target, Some(Target::Tool { tool, .. }) if PAGE_TOOLS.contains(&tool.as_str()))
}

/// Returns the result of a command, which is shown as a head and a text and not as JSON (S2.46).
fn command_result(call: &Call, value: &Value) -> Option<CommandResult> {
    match &call.target {
        Some(Target::Tool { skill: Some(_), .. }) => serde_json::from_value(value.clone()).ok(),
        _ => None,
    }
}

/// Returns the framed result of a call that was not made.
pub(super) fn not_made(name: &str) -> String {
    frame_content(name, "not made: the agent ended before", true, usize::MAX)
}

fn result_text(how: Interpretation, text: &str) -> String {
    match how {
        Interpretation::Text | Interpretation::Made | Interpretation::Problem => text.to_owned(),
        Interpretation::Refused => format!("refused: {text}"),
        Interpretation::Mistaken => format!("error (invalid): {text}"),
        Interpretation::Declined => format!("declined: {text}"),
        Interpretation::Described => format!("not made: {text}"),
    }
}

fn show_failure(failure: &Failure) -> String {
    let code = failure.code.map_or(failure.class.word(), ProblemCode::word);
    let text = format!("error ({code}): {}", failure.message);
    match &failure.hint {
        Some(hint) => format!("{text}\nhint: {hint}"),
        None => text,
    }
}

fn frame_content(name: &str, content: &str, failed: bool, most: usize) -> String {
    let name = attribute(name);
    let status = if failed { " status=\"error\"" } else { "" };
    let [content, note] = cut(content, most);
    let (content, _) = neutralise(&content);
    format!("<{RESULT_TAG} tool=\"{name}\"{status}>\n{content}\n</{RESULT_TAG}>{note}")
}

/// Returns the first `most` characters of a text and a note about the rest. The note goes after the frame,
/// because it is ours.
fn cut(text: &str, most: usize) -> [String; 2] {
    match text.char_indices().nth(most) {
        None => [text.to_owned(), String::new()],
        Some((end, _)) => {
            let all = text.chars().count();
            let note = format!("\n[cut: the first {most} of {all} characters are shown]");
            [text[..end].to_owned(), note]
        }
    }
}

/// Converts a name to the value of an attribute: one line, without characters that would end it.
fn attribute(name: &str) -> String {
    let tame = |c: char| match c {
        '"' | '<' | '>' => '\'',
        c if c.is_control() || c.is_whitespace() => ' ',
        c => c,
    };
    clip(name).chars().map(tame).collect()
}
