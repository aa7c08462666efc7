//! Shortens a request to fit the context of its model.
//!
//! Old results are cut first, then whole exchanges of the history are dropped, the oldest first, then the
//! newest results are cut too. The messages of a person and of the model in this run are kept. Not here: the
//! prompt and the tools, which the host has fitted before.

use deft_model::{Message, ModelRequest};

use super::transcript::COMMAND_LABEL;
use crate::prompt::RESULT_TAG;

/// Number of characters of an old result that are kept.
const OLD_RESULT_CHARS: usize = 200;

/// Minimum number of characters of the newest results that are kept.
const NEWEST: usize = 600;

/// Follows a shortened text.
const NOTE: &str = "[cut: the rest of this result was left out to keep to the model's context]";

/// Shortens a request to `most` tokens, as far as possible. The first `before` messages are the history.
pub(super) fn shorten(request: &mut ModelRequest, mut before: usize, most: u64) {
    let fixed = request.head_tokens();
    let fits =
        |messages: &[Message]| fixed + messages.iter().map(Message::tokens).sum::<u64>() <= most;
    if fits(&request.messages) {
        return;
    }
    let spoke = |message: &Message| matches!(message, Message::Assistant { .. });
    let newest = request.messages.iter().rposition(spoke);
    for place in 0..newest.unwrap_or(0) {
        cut(&mut request.messages[place], OLD_RESULT_CHARS);
        if fits(&request.messages) {
            return;
        }
    }
    while before > 0 {
        // Providers need results together with their calls, and answers make no sense without the question.
        let next = request.messages[1..before].iter();
        let asked = |message: &Message| matches!(message, Message::User { .. });
        let exchange = next.clone().position(asked).map_or(before, |at| at + 1);
        request.messages.drain(..exchange);
        before -= exchange;
        if fits(&request.messages) {
            return;
        }
    }
    let newest = request.messages.iter().rposition(spoke).unwrap_or(0);
    let results = request.messages.len() - newest;
    let room = most.saturating_sub(
        fixed
            + request.messages[..newest]
                .iter()
                .map(Message::tokens)
                .sum::<u64>(),
    );
    // Two characters per token is a low estimate that leaves room for the frames.
    let room = usize::try_from(room)
        .unwrap_or(usize::MAX)
        .saturating_mul(2);
    let keep = (room / results.max(1)).max(NEWEST);
    for message in &mut request.messages[newest..] {
        cut(message, keep);
    }
}

/// Cuts the end of a result and closes its frame again. Results of commands are in a message of the user,
/// each in a frame.
fn cut(message: &mut Message, keep: usize) {
    let open = format!("<{RESULT_TAG} ");
    let text = match message {
        Message::Tool { text, .. } => text,
        Message::User { text } if text.starts_with(COMMAND_LABEL) && text.contains(&open) => text,
        Message::User { .. } | Message::Assistant { .. } => return,
    };
    let Some((end, _)) = text.char_indices().nth(keep) else {
        return;
    };
    let head = &text[..end];
    let close = format!("</{RESULT_TAG}>");
    // If the cut left a frame open, close it after the remaining text.
    let opened = head.matches(&open).count() > head.matches(&close).count();
    let close = if opened { close } else { String::new() };
    *text = format!("{head}\n{close}\n{NOTE}");
}

#[cfg(test)]
mod tests {
    use deft_model::{CallArgs, Object, ToolCall};

    use super::*;

    fn user(text: &str) -> Message {
        let text = text.to_owned();
        Message::User { text }
    }

    fn assistant(id: &str) -> Message {
        Message::Assistant {
            text: String::new(),
            calls: vec![ToolCall {
                id: id.to_owned(),
                name: "look".to_owned(),
                args: CallArgs::Object(Object::new()),
            }],
            opaque: None,
        }
    }

    fn result(id: &str, length: usize) -> Message {
        Message::Tool {
            id: id.to_owned(),
            name: "look".to_owned(),
            text: format!("<result tool=\"look\">\n{}\n</result>", "x".repeat(length)),
            failed: false,
        }
    }

    fn long(request: &ModelRequest) -> Vec<usize> {
        let messages = request.messages.iter();
        let text = messages.map(|message| match message {
            Message::User { text } | Message::Tool { text, .. } => text.len(),
            Message::Assistant { .. } => 0,
        });
        text.collect()
    }

    /// Returns a request with two finished exchanges, a question, a finished call and a call that has just
    /// ended.
    fn request() -> ModelRequest {
        ModelRequest {
            messages: vec![
                user("first"),
                assistant("a"),
                result("a", 3_000),
                user("second"),
                assistant("b"),
                user("now"),
                assistant("c"),
                result("c", 3_000),
                assistant("d"),
                result("d", 3_000),
            ],
            ..ModelRequest::default()
        }
    }

    #[test]
    fn old_results_are_shortened_first() {
        let whole = 3_000 + 31;
        let old = OLD_RESULT_CHARS + "\n</result>\n".len() + NOTE.len();
        for (most, expected) in [
            (u64::MAX, vec![5, 0, whole, 6, 0, 3, 0, whole, 0, whole]),
            (2_300, vec![5, 0, old, 6, 0, 3, 0, whole, 0, whole]),
            (1_400, vec![5, 0, old, 6, 0, 3, 0, old, 0, whole]),
            (1_240, vec![6, 0, 3, 0, old, 0, whole]),
        ] {
            let mut request = request();
            shorten(&mut request, 5, most);
            assert_eq!(long(&request), expected, "{most}");
        }
    }

    #[test]
    fn the_newest_result_is_shortened_last_and_stays_framed() {
        let mut request = request();
        shorten(&mut request, 5, 800);
        let Some(Message::Tool { text, .. }) = request.messages.last() else {
            panic!("the result is gone");
        };
        assert!(text.ends_with(&format!("x\n</result>\n{NOTE}")), "{text}");
        assert!((NEWEST..1_500).contains(&text.len()), "{}", text.len());
        assert_eq!(request.messages[0], user("now"), "what is asked stays");
        let all: u64 = request.messages.iter().map(Message::tokens).sum();
        assert!(all <= 800, "{all}");
    }

    #[test]
    fn a_question_is_never_shortened() {
        let mut alone = ModelRequest {
            messages: vec![user(&"word ".repeat(1_000))],
            ..ModelRequest::default()
        };
        let before = alone.clone();
        shorten(&mut alone, 0, 100);
        assert_eq!(alone, before);
    }
}
