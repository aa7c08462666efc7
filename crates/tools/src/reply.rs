//! Converts a tool's result to a value ("What a tool step's value is" in the contract).

use deft_model::Failure;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use crate::classify;
use crate::redact::Redaction;

/// A successful result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) value: Value,
    pub(crate) text: Option<String>,
    pub(crate) bytes: usize,
}

impl Answer {
    /// Removes all secrets.
    pub(crate) fn redact(self, redaction: &Redaction) -> Self {
        if redaction.is_empty() {
            return self;
        }
        Self {
            value: redaction.value(self.value),
            text: self.text.map(|text| redaction.redact_owned(text)),
            bytes: self.bytes,
        }
    }
}

/// One piece of content.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Other(Value),
}

/// The content of a result.
struct Parts {
    contents: Vec<Part>,
    structured: Option<Value>,
    is_error: bool,
}

/// Returns the value of a result, or the failure that it reports.
pub(crate) fn answer(result: CallToolResult) -> Result<Answer, Failure> {
    evaluate(Parts {
        contents: result.content.into_iter().map(part).collect(),
        structured: result.structured_content,
        is_error: result.is_error.unwrap_or(false),
    })
}

/// Like [`answer`], for a result that the protocol library could not parse, for instance because of a
/// kind of content that is newer than the library.
pub(crate) fn lenient(result: &Value) -> Option<Result<Answer, Failure>> {
    let contents = result.get("content")?.as_array()?;
    let contents = contents
        .iter()
        .map(|content| match serde_json::from_value(content.clone()) {
            Ok(block) => part(block),
            Err(_) => Part::Other(content.clone()),
        })
        .collect();
    Some(evaluate(Parts {
        contents,
        structured: result.get("structuredContent").cloned(),
        is_error: result.get("isError") == Some(&Value::Bool(true)),
    }))
}

fn evaluate(parts: Parts) -> Result<Answer, Failure> {
    let text = joined_text(&parts.contents);
    if parts.is_error {
        return Err(reported_failure(text.as_deref(), parts.structured.as_ref()));
    }
    let bytes = parts.contents.iter().map(size).sum();
    let value = match parts.structured {
        Some(structured) => unwrap_result(structured),
        None => contents_value(parts.contents),
    };
    Ok(Answer { value, text, bytes })
}

fn reported_failure(text: Option<&str>, structured: Option<&Value>) -> Failure {
    let message = match (text, structured) {
        (Some(text), _) if !text.trim().is_empty() => text.trim().to_owned(),
        (_, Some(structured)) => structured.to_string(),
        _ => "the tool reported an error without a text".to_owned(),
    };
    Failure::new(classify::text(&message), message).mark_reported()
}

fn joined_text(contents: &[Part]) -> Option<String> {
    let texts: Vec<&str> = contents
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Other(_) => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Unwraps an object whose only key is `result`: some SDKs wrap plain values in one.
fn unwrap_result(mut structured: Value) -> Value {
    let is_lone = structured.as_object().is_some_and(|map| map.len() == 1);
    match structured.get_mut("result") {
        Some(result) if is_lone => result.take(),
        Some(_) | None => structured,
    }
}

fn contents_value(mut contents: Vec<Part>) -> Value {
    match contents.len() {
        0 => Value::Null,
        1 => contents.pop().map_or(Value::Null, part_value),
        _ => contents.into_iter().map(part_value).collect(),
    }
}

/// Parses a text only if it is an object or a list: `"5"` stays a text.
fn part_value(part: Part) -> Value {
    match part {
        Part::Text(text) => {
            let start = text.trim_start().as_bytes().first().copied();
            let parsed = match start {
                Some(b'{' | b'[') => serde_json::from_str(&text).ok(),
                Some(_) | None => None,
            };
            parsed.unwrap_or(Value::String(text))
        }
        Part::Other(value) => value,
    }
}

fn size(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Other(value) => ["data", "blob", "text"]
            .iter()
            .filter_map(|key| value.get(key)?.as_str())
            .map(str::len)
            .sum(),
    }
}

fn part(block: ContentBlock) -> Part {
    match block {
        ContentBlock::Text(text) => Part::Text(text.text),
        ContentBlock::Image(image) => Part::Other(media("image", image.mime_type, image.data)),
        ContentBlock::Audio(audio) => Part::Other(media("audio", audio.mime_type, audio.data)),
        ContentBlock::Resource(embedded) => Part::Other(resource(embedded.resource)),
        ContentBlock::ResourceLink(link) => {
            let mut value = json!({"type": "resource_link", "uri": link.uri, "name": link.name});
            if let Some(kind) = link.mime_type {
                value["mimeType"] = kind.into();
            }
            Part::Other(value)
        }
        other => Part::Other(serde_json::to_value(other).unwrap_or(Value::Null)),
    }
}

fn media(kind: &str, mime_type: String, data: String) -> Value {
    // Moved, not copied: the data may be large.
    let fields = [
        ("type", kind.to_owned()),
        ("mimeType", mime_type),
        ("data", data),
    ];
    let fields = fields.map(|(name, text)| (name.to_owned(), Value::String(text)));
    Value::Object(fields.into_iter().collect())
}

fn resource(contents: ResourceContents) -> Value {
    let mut value = match contents {
        ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => json!({"type": "resource", "uri": uri, "mimeType": mime_type, "text": text}),
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => json!({"type": "resource", "uri": uri, "mimeType": mime_type, "blob": blob}),
        other => serde_json::to_value(other).unwrap_or(Value::Null),
    };
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, field| !field.is_null());
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use deft_model::FailureClass;

    fn value(result: Value) -> Result<Value, Failure> {
        answer(serde_json::from_value(result).unwrap()).map(|answer| answer.value)
    }

    fn text(text: &str) -> Value {
        json!({"content": [{"type": "text", "text": text}]})
    }

    #[test]
    fn reply_values_follow_the_contract() {
        for (result, expected) in [
            (text("hello"), json!("hello")),
            (text("5"), json!("5")),
            (text(" {\"a\": 1}"), json!({"a": 1})),
            (text("[1, 2]"), json!([1, 2])),
            (text("[not json"), json!("[not json")),
            (text("❌ no route to host"), json!("❌ no route to host")),
            (
                json!({"content": [], "structuredContent": {"result": [1]}}),
                json!([1]),
            ),
            (
                json!({"content": [], "structuredContent": {"result": 1, "n": 2}}),
                json!({"result": 1, "n": 2}),
            ),
            (json!({"content": [], "structuredContent": 7}), json!(7)),
            (json!({"content": []}), Value::Null),
            (
                json!({"content": [{"type": "text", "text": "a"}, {"type": "image", "mimeType": "image/png", "data": "AA=="}]}),
                json!(["a", {"type": "image", "mimeType": "image/png", "data": "AA=="}]),
            ),
            (
                json!({"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "t"}}]}),
                json!({"type": "resource", "uri": "x:y", "text": "t"}),
            ),
        ] {
            assert_eq!(value(result.clone()).unwrap(), expected, "{result}");
        }
    }

    #[test]
    fn an_error_is_classified_by_its_text() {
        let failure =
            value(json!({"isError": true, "content": [{"type": "text", "text": "HTTP 403"}]}))
                .unwrap_err();
        assert_eq!(
            (failure.class, failure.message.as_str()),
            (FailureClass::Auth, "HTTP 403")
        );
        assert!(!failure.in_doubt);
    }

    #[test]
    fn unknown_content_is_kept_unchanged() {
        let odd =
            json!({"content": [{"type": "hologram", "data": "x"}, {"type": "text", "text": "a"}]});
        let answer = lenient(&odd).unwrap().unwrap();
        assert_eq!(
            answer.value,
            json!([{"type": "hologram", "data": "x"}, "a"])
        );
        assert_eq!(answer.bytes, 2);
    }
}
