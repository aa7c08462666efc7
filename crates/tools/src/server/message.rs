//! Parses bytes from a server as a protocol message, or classifies what cannot be parsed.
//!
//! Not here: which call fails because of it (`stdio.rs`, `capped.rs`).

use rmcp::model::ServerJsonRpcMessage;
use serde_json::Value;

use super::raw::{self, Problem};

/// The result of parsing bytes from a server.
pub(super) enum ParsedMessage {
    Message(Box<ServerJsonRpcMessage>),
    /// A reply that cannot be read, with the request id that it answers, if that can be found.
    BadReply(Problem, Option<i64>),
    /// Anything else, such as a log line.
    Noise,
}

/// Parses one message.
pub(super) fn read(bytes: &[u8]) -> ParsedMessage {
    let plain = skills_reply(bytes);
    if let Ok(message) = serde_json::from_slice(plain.as_deref().unwrap_or(bytes)) {
        return ParsedMessage::Message(Box::new(message));
    }
    let Some(raw) = raw::inspect(bytes) else {
        return ParsedMessage::Noise;
    };
    if let Some(listing) = listing(bytes, raw.problem) {
        return ParsedMessage::Message(Box::new(listing));
    }
    if raw.id.is_some() || raw.is_reply {
        ParsedMessage::BadReply(raw.problem, raw.id)
    } else {
        ParsedMessage::Noise
    }
}

/// Returns a reply about skills without its `_meta`, because with `_meta` the protocol library would
/// parse it as a tool result and drop the skills. Returns `None` for every other message; that check
/// costs one search.
pub(super) fn skills_reply(bytes: &[u8]) -> Option<Vec<u8>> {
    let has = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
    if !has(b"\"_meta\"") || !(has(b"\"skills\"") || has(b"\"skill\"")) {
        return None;
    }
    let mut message: Value = serde_json::from_slice(bytes).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    let is_list = result.get("skills").is_some_and(Value::is_array);
    let is_entry = result.get("skill").is_some_and(Value::is_object);
    if !is_list && !is_entry {
        return None;
    }
    result.remove("_meta")?;
    serde_json::to_vec(&message).ok()
}

/// Parses a list of tools of which only a part is invalid: one bad tool must not hide the others.
fn listing(bytes: &[u8], problem: Problem) -> Option<ServerJsonRpcMessage> {
    match problem {
        Problem::TooDeep | Problem::NotUtf8 => {}
        Problem::NotJson | Problem::NoMessage => return None,
    }
    let text = String::from_utf8_lossy(bytes);
    let value: Value = serde_json::from_slice(&raw::prune(text.as_bytes())).ok()?;
    value.get("result")?.get("tools")?.as_array()?;
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_about_skills_keeps_its_skills() {
        use rmcp::model::{JsonRpcMessage, ServerResult};
        for (field, kept) in [
            ("\"skills\":[]", true),
            ("\"skill\":{}", true),
            ("\"content\":[]", false),
        ] {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{{field},\"x\":\"\\\"skill\\\"\",\"_meta\":{{\"skills\":1}}}}}}"
            );
            let ParsedMessage::Message(message) = read(line.as_bytes()) else {
                panic!("{line} is a message");
            };
            let JsonRpcMessage::Response(response) = *message else {
                panic!("{line} is a response");
            };
            let is_custom = matches!(response.result, ServerResult::CustomResult(_));
            assert_eq!(is_custom, kept, "{line}");
        }
    }

    #[test]
    fn a_bad_tool_does_not_hide_a_listing() {
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":[{{\"name\":\"a\",\"inputSchema\":{{\"x\":{deep}}}}}]}}}}"
        );
        assert!(matches!(read(line.as_bytes()), ParsedMessage::Message(_)));
        let call = line.replace("\"tools\"", "\"content\"");
        let bad = read(call.as_bytes());
        assert!(matches!(
            bad,
            ParsedMessage::BadReply(Problem::TooDeep, Some(1))
        ));
        let odd = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"\xff\"}]}}";
        assert!(matches!(read(odd), ParsedMessage::Message(_)));
    }
}
