//! Leaks the secret in the variable `UP_SECRET` through every channel of the protocol.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject, LoggingLevel,
    ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::ask::{ask, form};
use super::content::{send_line, text_result};

/// Returns a sentence with the secret.
fn sentence() -> String {
    let secret = std::env::var("UP_SECRET").unwrap_or_default();
    format!("the secret is {secret}")
}

/// Returns an error with the secret.
pub(crate) fn refusal() -> ErrorData {
    ErrorData::invalid_params(sentence(), Some(json!({ "told": sentence() })))
}

/// Leaks the secret in the way named by the argument `by`.
pub(crate) async fn tell(
    context: &RequestContext<RoleServer>,
    arguments: &JsonObject,
) -> Result<CallToolResponse, ErrorData> {
    let told = sentence();
    match arguments.get("by").and_then(Value::as_str) {
        Some("text") => Ok(text_result(told)),
        Some("structured") => {
            let value = json!({ "told": [&told], &told: 1 });
            Ok(CallToolResult::structured(value).into())
        }
        Some("failure") => Ok(CallToolResult::error(vec![ContentBlock::text(told)]).into()),
        Some("log") => {
            send_line(context, LoggingLevel::Error, &told).await;
            Ok(text_result("told"))
        }
        Some("progress") => {
            if let Some(token) = context.meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, 1.0).with_message(told);
                drop(context.peer.notify_progress(progress).await);
            }
            Ok(text_result("told"))
        }
        Some("question") => {
            let question = form(&told, &json!({ "go": { "type": "boolean" } }), &["go"]);
            let answer = ask(context, None, "question", question).await?;
            Ok(answer.map_or_else(|asks| asks, |_| text_result("told")))
        }
        _ => Err(refusal()),
    }
}
