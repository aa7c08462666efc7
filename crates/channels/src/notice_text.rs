//! The text of a notice, as a chat, a tool, the log and the terminal show it.

use deft_engine::{Notice, NoticeKind};
use deft_model::Failure;
use jiff::Timestamp;
use serde_json::json;

use crate::markdown::Renderer;

/// A message as a chat shows it. Answers of models are markdown, which chats show as it is written.
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

/// A message as one text, for channels that know no headings.
pub(crate) fn text(notice: &Notice) -> String {
    if notice.title.is_empty() {
        notice.text.clone()
    } else {
        format!("{}\n{}", notice.title, notice.text)
    }
}

/// A notice as a line of the log.
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

/// A notice as the terminal shows it.
pub(crate) fn terminal_line(notice: &Notice, failed: Option<&Failure>) -> String {
    let text = text(notice).replace('\n', ": ");
    match failed {
        None => format!("notice: {text}"),
        Some(failure) => format!("notice: {text} (not delivered yet: {})", failure.message),
    }
}
