//! The tool `telegram_send_message`.
//!
//! Models invent chat ids, and plans omit them; in both cases the primary chat is used (S0.44, S0.48),
//! which is inserted with the other arguments (`arguments/chat.rs`).

use std::sync::{Arc, OnceLock};

use deft_model::{Effects, Failure, Object};
use serde_json::{Value, json};

use super::{BuiltinTool, Context, Definition, Settings, handler, invalid};
use crate::delivery;
use crate::environment::Environment;
use crate::telegram::{Client, SendOptions};

pub(super) fn tool(settings: &Settings, environment: &Environment) -> BuiltinTool {
    let definition = Definition::new(
        "telegram_send_message",
        "Send a message to a Telegram chat. Without a usable `chat_id` it goes to the primary chat; long texts become several messages.",
        Effects::Once,
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "text": {"type": "string", "description": "What to say"},
                "message": {"type": "string", "description": "Another name for `text`"},
                "chat_id": {"description": "A chat, as a number or a string; default: the primary chat"},
                "parse_mode": {"enum": ["Markdown", "MarkdownV2", "HTML"]},
                "disable_notification": {"type": "boolean", "description": "Whether it arrives without a sound"},
                "disable_web_page_preview": {"type": "boolean"},
                "reply_to_message_id": {"type": "integer"},
                "message_thread_id": {"type": "integer", "description": "The topic of a forum"}
            }
        }),
    );
    let (settings, environment) = (settings.clone(), environment.clone());
    let http: Arc<OnceLock<Result<reqwest::Client, Failure>>> = Arc::default();
    let run = handler(move |arguments: Object, context: Context| {
        let options = settings.load().telegram.clone();
        let (environment, http) = (environment.clone(), http.clone());
        async move {
            let http = http.get_or_init(delivery::client).clone()?;
            let token = options.look_up_token(&environment.secrets).await?;
            let client = Client::with_connections(http, &options, &token)?;
            send(&client, &arguments, &context).await
        }
    });
    BuiltinTool::new(definition, run).only_if(
        |options| options.telegram.token.is_some(),
        "`deft config set telegram.token env:NAME` names the variable with the token of the bot",
    )
}

async fn send(client: &Client, arguments: &Object, context: &Context) -> Result<Value, Failure> {
    let text_of = |name| arguments.get(name).and_then(Value::as_str);
    let text = match (text_of("text"), text_of("message")) {
        (Some(text), None) | (None, Some(text)) => text,
        (Some(_), Some(_)) => return Err(invalid("give `text` or `message`, not both")),
        (None, None) => return Err(invalid("`text` is missing")),
    };
    let chat = chat(arguments.get("chat_id"))?;
    let mut how = send_options(arguments);
    let mut ids = Vec::new();
    let started = tokio::time::Instant::now();
    loop {
        let refused = match client.send(&chat, text, &how).await {
            Ok(receipt) => {
                ids.extend(receipt.message_ids);
                return Ok(json!({"chat_id": receipt.chat, "message_ids": ids}));
            }
            Err(refused) => refused,
        };
        how.skip_parts += refused.sent.len();
        ids.extend(refused.sent);
        let left = context.allowed.saturating_sub(started.elapsed());
        match refused.retry_after {
            // Part of the message was sent: waiting is better than repeating parts or leaving it
            // incomplete.
            Some(wait) if how.skip_parts > 0 && wait < left => tokio::time::sleep(wait).await,
            _ => {
                return Err(Failure {
                    in_doubt: refused.failure.in_doubt || how.skip_parts > 0,
                    ..refused.failure
                });
            }
        }
    }
}

/// Returns the given chat. Fails if none is given: without a primary chat none was inserted.
fn chat(given: Option<&Value>) -> Result<String, Failure> {
    let named = match given {
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        Some(Value::Number(number)) if number.is_i64() => Some(number.to_string()),
        _ => None,
    };
    named.filter(|chat| !chat.is_empty()).ok_or_else(|| {
        invalid("no chat is given and no primary chat is configured")
            .hint("set `notify.target` to the id of a chat")
    })
}

fn send_options(arguments: &Object) -> SendOptions {
    let truth = |name| arguments.get(name).and_then(Value::as_bool) == Some(true);
    let number = |name| arguments.get(name).and_then(Value::as_i64);
    let mode = arguments.get("parse_mode").and_then(Value::as_str);
    SendOptions {
        parse_mode: mode.map(str::to_owned),
        disable_notification: truth("disable_notification"),
        disable_web_page_preview: truth("disable_web_page_preview"),
        reply_to_message_id: number("reply_to_message_id"),
        message_thread_id: number("message_thread_id"),
        skip_parts: 0,
    }
}
