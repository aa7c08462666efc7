//! Tools whose results the suite checks.

use std::fs;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    AudioContent, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ResourceContents,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::ask::{ask, form};

/// A red dot, as PNG.
pub(crate) const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// Silence, as WAV.
const AUDIO: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
const PAUSE: Duration = Duration::from_millis(20);

/// Returns a result with one text.
pub(crate) fn text_result(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text.into())]).into()
}

/// Returns a text as a resource.
pub(crate) fn text_resource(uri: &str, kind: &str, text: &str) -> ResourceContents {
    ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(kind.to_owned()),
        text: text.to_owned(),
        meta: None,
    }
}

/// Returns the content of a tool that takes no input; `None` for other tools.
pub(crate) fn plain(name: &str) -> Option<CallToolResponse> {
    let image = || ContentBlock::image(IMAGE, "image/png");
    let content = match name {
        "test_simple_text" => vec![ContentBlock::text(
            "This is a simple text response for testing.",
        )],
        "test_image_content" => vec![image()],
        "test_audio_content" => {
            vec![ContentBlock::Audio(AudioContent::new(AUDIO, "audio/wav"))]
        }
        "test_embedded_resource" => vec![ContentBlock::resource(text_resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        ))],
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            image(),
            ContentBlock::resource(text_resource(
                "test://mixed-content-resource",
                "application/json",
                "{\"test\":\"data\",\"value\":123}",
            )),
        ],
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            return Some(CallToolResult::error(vec![ContentBlock::text(text)]).into());
        }
        "test_structured" => {
            let value = json!({ "answer": 42, "nested": { "list": [1, 2.5, null] } });
            return Some(CallToolResult::structured(value).into());
        }
        _ => return None,
    };
    Some(CallToolResult::success(content).into())
}

/// Sends log messages.
pub(crate) async fn log(context: &RequestContext<RoleServer>) -> CallToolResponse {
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        send_line(context, LoggingLevel::Info, line).await;
        tokio::time::sleep(PAUSE).await;
    }
    text_result("Logging test completed")
}

/// Sends a log message if the request asks for logs.
pub(crate) async fn log_if_wanted(context: &RequestContext<RoleServer>) -> CallToolResponse {
    if let Some(level) = context.meta.log_level() {
        send_line(context, level, "logLevel was requested").await;
    }
    text_result("Logging tool completed")
}

pub(crate) async fn send_line(
    context: &RequestContext<RoleServer>,
    level: LoggingLevel,
    line: &str,
) {
    let line = LoggingMessageNotificationParam::new(level, json!(line)).with_logger("upstream");
    drop(context.peer.notify_logging_message(line).await);
}

/// Reports progress in three steps.
pub(crate) async fn progress(context: &RequestContext<RoleServer>) -> CallToolResponse {
    for (done, message) in [(0.0, "Starting"), (50.0, "Halfway"), (100.0, "Complete")] {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, done)
                .with_total(100.0)
                .with_message(message);
            drop(context.peer.notify_progress(progress).await);
        }
        tokio::time::sleep(PAUSE).await;
    }
    text_result("Progress test completed")
}

/// Waits for cancellation and writes its state to the file `note`. Reports to clients that asked for progress
/// that it waits.
pub(crate) async fn wait(
    context: &RequestContext<RoleServer>,
    arguments: &JsonObject,
) -> Result<CallToolResponse, ErrorData> {
    let note = note(arguments)?;
    fs::write(note, "waiting").unwrap();
    if let Some(token) = context.meta.get_progress_token() {
        let progress = ProgressNotificationParam::new(token, 0.0).with_message("waiting");
        drop(context.peer.notify_progress(progress).await);
    }
    context.ct.cancelled().await;
    fs::write(note, "cancelled").unwrap();
    Ok(text_result("cancelled"))
}

/// Asks the client. If the call is cancelled or the client can no longer be asked, writes this to the file
/// `note`. Which of the two the server notices first is undetermined.
pub(crate) async fn wait_for_answer(
    context: &RequestContext<RoleServer>,
    arguments: &JsonObject,
) -> Result<CallToolResponse, ErrorData> {
    let note = note(arguments)?;
    let question = form("Go on?", &json!({ "go": { "type": "boolean" } }), &["go"]);
    let answer = tokio::select! {
        answer = ask(context, None, "question", question) => answer,
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
    };
    if answer.is_err() {
        fs::write(note, "given up").unwrap();
    }
    Ok(answer?.map_or_else(|asks| asks, |answer| text_result(answer.to_string())))
}

fn note(arguments: &JsonObject) -> Result<&str, ErrorData> {
    let note = arguments.get("note").and_then(Value::as_str);
    note.ok_or_else(|| ErrorData::invalid_params("`note` is missing", None))
}
