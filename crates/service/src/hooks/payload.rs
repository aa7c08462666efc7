//! The content of a delivery: its body as a value, and its kind.

use deft_config::{HookConfig, HookScheme};
use deft_wire::{Done, Failure};
use serde_json::{Map, Value};

use super::HookRequest;

/// Maximum length of a kind, in bytes.
const MAX_KIND_LEN: usize = 128;

/// Parses the body: JSON, or a form as an object of texts. GitHub puts JSON into the field `payload` of a
/// form.
pub(super) fn read(hook: &HookConfig, request: &HookRequest) -> Done<Value> {
    let media = request.header("content-type").unwrap_or("application/json");
    let media = media.split(';').next().unwrap_or_default().trim();
    let media = media.to_lowercase();
    if media == "application/json" || media.ends_with("+json") {
        return read_json(&request.body);
    }
    if media != "application/x-www-form-urlencoded" {
        let message = "the body is neither JSON nor a form";
        return Err(Failure::input("media_type", message)
            .hint("send the header `Content-Type: application/json`"));
    }
    let fields: Map<String, Value> = form_urlencoded::parse(&request.body)
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect();
    match fields.get("payload").and_then(Value::as_str) {
        Some(json) if hook.scheme == HookScheme::Github => read_json(json.as_bytes()),
        Some(_) | None => Ok(Value::Object(fields)),
    }
}

fn read_json(text: &[u8]) -> Done<Value> {
    serde_json::from_slice(text).map_err(|problem| {
        let message = format!("the body is not JSON: {problem}");
        Failure::input("invalid_input", message)
    })
}

/// Returns the kind of a delivery as its sender names it, or `None` if it has none or a name that is too
/// long.
pub(super) fn kind(hook: &HookConfig, request: &HookRequest, payload: &Value) -> Option<String> {
    let kind = match hook.scheme {
        HookScheme::Github => request.header("x-github-event"),
        HookScheme::Standard | HookScheme::Stripe | HookScheme::Plain => payload["type"].as_str(),
    };
    kind.filter(|kind| kind.len() <= MAX_KIND_LEN)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_are_json_or_forms() {
        let ask = |scheme, media: &str, body: &str| {
            let hook = HookConfig {
                name: "x".to_owned(),
                secret: String::new(),
                scheme,
                header: String::new(),
                events: Vec::new(),
                tolerance: Duration::ZERO,
            };
            let headers = [("content-type".to_owned(), media.to_owned())];
            let request = HookRequest {
                hook: "x".to_owned(),
                headers: headers.into(),
                body: body.into(),
                ..HookRequest::default()
            };
            read(&hook, &request).map_err(|failure| failure.code)
        };
        let plain = HookScheme::Plain;
        assert_eq!(
            ask(plain, "application/json; charset=utf-8", "{\"a\":1}"),
            Ok(json!({"a": 1}))
        );
        assert_eq!(
            ask(plain, "application/cloudevents+json", "[1]"),
            Ok(json!([1]))
        );
        let form = "application/x-www-form-urlencoded";
        assert_eq!(
            ask(plain, form, "a=1&b=x%20y+z"),
            Ok(json!({"a": "1", "b": "x y z"}))
        );
        assert_eq!(
            ask(HookScheme::Github, form, "payload=%7B%22a%22%3A1%7D"),
            Ok(json!({"a": 1}))
        );
        assert_eq!(ask(plain, "text/plain", "x"), Err("media_type"));
        assert_eq!(ask(plain, "application/json", "{"), Err("invalid_input"));
    }
}
