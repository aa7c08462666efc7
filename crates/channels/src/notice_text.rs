//! Formatting of notices for chats, tools, the log and the terminal.

use deft_engine::{Notice, NoticeKind};
use deft_model::Failure;
use jiff::Timestamp;
use serde_json::json;

use crate::markdown::Renderer;

/// Formats `notice` for a chat. Answers of models are markdown, which a chat would show unrendered, so they
/// are converted to plain text.
pub(crate) fn chat_text(notice: &Notice) -> String {
    match notice.kind {
        NoticeKind::Answer => Renderer::plain(&notice.text).trim_end().to_owned(),
        NoticeKind::Message
        | NoticeKind::Completion
        | NoticeKind::Failure
        | NoticeKind::Blocked
        | NoticeKind::Interrupted
        | NoticeKind::Disabled
        | NoticeKind::Recovery
        | NoticeKind::Question
        | NoticeKind::Paused
        | NoticeKind::Health => text(notice),
    }
}

/// Joins title and text, for channels without titles.
pub(crate) fn text(notice: &Notice) -> String {
    if notice.title.is_empty() {
        notice.text.clone()
    } else {
        format!("{}\n{}", notice.title, notice.text)
    }
}

/// Formats `notice` as a JSON line for the log. `failed` is the delivery failure, if any.
pub(crate) fn log_line(notice: &Notice, key: &str, failed: Option<&Failure>) -> String {
    let line = json!({
        "at": Timestamp::now().to_string(),
        "key": key,
        "kind": notice.kind,
        "title": notice.title,
        "text": notice.text,
        "skill": notice.skill,
        "run": notice.run,
        "error": failed.map(|failure| failure.message.as_str()),
    });
    line.to_string()
}

/// Formats `notice` as one line for the terminal. `failed` is the delivery failure, if any.
pub(crate) fn terminal_line(notice: &Notice, failed: Option<&Failure>) -> String {
    let text = text(notice).replace('\n', ": ");
    match failed {
        None => format!("notice: {text}"),
        Some(failure) => format!("notice: {text} (not delivered yet: {})", failure.message),
    }
}
