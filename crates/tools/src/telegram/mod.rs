//! A client of the Telegram Bot API: sends messages and receives those of people.
//!
//! Every API method is a POST with a JSON body to a path that contains the token, so URLs must never be
//! shown. `Client::call` sends all requests; the methods build the bodies and parse the results.
//!
//! Not here: retries and delays (the outbox decides them from the failure), the default chat
//! (`arguments/chat.rs`), and who may write to the bot.

mod chat;
mod fault;
mod split;

use std::time::Duration;

use deft_model::{Failure, FailureClass};
use reqwest::Url;
use serde_json::{Value, json};

use crate::delivery::{self, SendError};
use crate::options::TelegramOptions;
use crate::redact::Redaction;
use crate::secret::Secret;

pub use chat::{Button, ChatId, Update, UpdateContent};

/// Splits a text into parts that each fit one message.
pub fn parts(text: &str) -> Vec<&str> {
    split::split(text)
}

/// Options for sending a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendOptions {
    /// `Markdown`, `MarkdownV2` or `HTML`; `None` is plain text.
    pub parse_mode: Option<String>,
    /// Whether to deliver it without a sound.
    pub disable_notification: bool,
    /// Whether to show no previews of links.
    pub disable_web_page_preview: bool,
    /// The id of the message to reply to.
    pub reply_to_message_id: Option<i64>,
    /// The id of the forum topic to post in.
    pub message_thread_id: Option<i64>,
    /// The number of parts of a long text that arrived in an earlier try.
    pub skip_parts: usize,
}

/// Proof that a message arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The id of the chat, as Telegram reports it.
    pub chat: String,
    /// The ids of the sent messages, one per part.
    pub message_ids: Vec<i64>,
}

/// A client for one bot.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    token: Secret,
    allowed: Duration,
    redaction: Redaction,
}

impl Client {
    /// Creates a client for the bot with this token.
    pub fn new(options: &TelegramOptions, token: &Secret) -> Result<Self, Failure> {
        Self::with_connections(delivery::client()?, options, token)
    }

    /// Like [`new`](Self::new), with an existing HTTP client.
    pub(crate) fn with_connections(
        http: reqwest::Client,
        options: &TelegramOptions,
        token: &Secret,
    ) -> Result<Self, Failure> {
        let (id, rest) = token.expose().split_once(':').unwrap_or_default();
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        // Any other character would change the path of the request.
        if id.is_empty() || rest.is_empty() || ![id, rest].iter().all(|s| s.bytes().all(letters)) {
            let message = "`telegram.token` does not look like the token of a bot";
            return Err(Failure::new(FailureClass::Auth, message)
                .hint("it has the form `123456:ABC…`, as @BotFather gives it")
                .mark_blocked());
        }
        let base = Url::parse(&options.base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"));
        let base = base.ok_or_else(|| {
            let message = format!("`telegram.base_url` is not a URL: `{}`", options.base_url);
            Failure::new(FailureClass::Invalid, message).mark_blocked()
        })?;
        let mut redaction = Redaction::default();
        redaction.add(token, "***");
        // The part after the colon is the secret; a server may quote it alone.
        redaction.add(&Secret::new(rest), "***");
        Ok(Self {
            http,
            base,
            token: token.clone(),
            allowed: options.timeout,
            redaction,
        })
    }

    /// Returns the bot's id, which is not secret.
    pub fn bot(&self) -> &str {
        let token = self.token.expose();
        token.split_once(':').map_or("", |(bot, _)| bot)
    }

    /// Sends a text to a chat, in as many messages as needed.
    pub async fn send(
        &self,
        chat: &str,
        text: &str,
        options: &SendOptions,
    ) -> Result<Receipt, SendError> {
        let parts = split::split(text);
        if parts.is_empty() {
            return Err(Failure::new(FailureClass::Invalid, "the message has no text").into());
        }
        let mut receipt = Receipt {
            chat: chat.to_owned(),
            message_ids: Vec::new(),
        };
        for (place, part) in parts.iter().enumerate().skip(options.skip_parts) {
            let asked = body(chat, part, options, place == 0);
            let sent = self.call("sendMessage", &asked, self.allowed).await;
            let sent = sent.map_err(|refused| SendError {
                sent: std::mem::take(&mut receipt.message_ids),
                ..refused
            })?;
            let id = sent["message_id"].as_i64().unwrap_or_default();
            receipt.message_ids.push(id);
            if let Some(id) = sent["chat"]["id"].as_i64() {
                receipt.chat = id.to_string();
            }
        }
        Ok(receipt)
    }

    /// Calls a method of the API and returns its `result`.
    async fn call(
        &self,
        method: &str,
        body: &Value,
        allowed: Duration,
    ) -> Result<Value, SendError> {
        let base = self.base.as_str().trim_end_matches('/');
        let url = format!("{base}/bot{}/{method}", self.token.expose());
        let request = self.http.post(url).json(body);
        let answered = match delivery::exchange(request, allowed).await {
            Ok(answer) => fault::judge(&answer),
            Err(failure) => Err(SendError::from(Failure {
                message: format!("telegram: {}", failure.message),
                ..failure
            })),
        };
        answered.map_err(|refused| SendError {
            failure: self.redaction.failure(refused.failure),
            ..refused
        })
    }
}

fn body(chat: &str, text: &str, options: &SendOptions, first: bool) -> Value {
    let mut body = json!({"chat_id": chat, "text": text});
    if let Some(mode) = &options.parse_mode {
        body["parse_mode"] = mode.as_str().into();
    }
    if options.disable_notification {
        body["disable_notification"] = true.into();
    }
    if options.disable_web_page_preview {
        body["link_preview_options"] = json!({"is_disabled": true});
    }
    // Only the first part is a reply; the others follow it.
    if let Some(id) = options.reply_to_message_id.filter(|_| first) {
        body["reply_parameters"] = json!({"message_id": id});
    }
    if let Some(id) = options.message_thread_id {
        body["message_thread_id"] = id.into();
    }
    body
}
