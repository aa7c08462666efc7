//! Where messages to people go: a chat, an address on the web, a tool, or the log of the home.
//!
//! Not here: when they are tried again, and when they are given up (that is the engine's part).

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use deft_config::{ChannelKind, Config, Home, LogLimits, secrets};
use deft_engine::{Channel, DeliveryError, DeliveryResult, Notice, NoticeKind, Parcel};
use deft_model::{Failure, FailureClass, visible};
use deft_tools::telegram::{self, Client, SendOptions};
use deft_tools::{Router, Secret, SecretSource, TelegramOptions, webhook};
use parking_lot::RwLock;
use serde_json::json;

use crate::Tell;
use crate::buttons::buttons;
use crate::log_file::LogFile;
use crate::notice_text::{chat_text, log_line, terminal_line};
use crate::tool::ToolChannel;

/// The channel that the configuration names.
pub fn open(home: &Home, router: &Router, tell: Tell) -> Arc<dyn Channel> {
    Arc::new(Channels::new(&home.path, &home.config, router, tell))
}

/// The channel of a daemon, whose configuration may change.
pub struct LiveChannel(RwLock<Arc<Channels>>);

impl LiveChannel {
    /// Opens the channel that the configuration names.
    pub fn open(home: &Home, router: &Router, tell: Tell) -> Arc<Self> {
        let channels = Channels::new(&home.path, &home.config, router, tell);
        Arc::new(Self(RwLock::new(Arc::new(channels))))
    }

    /// Uses another configuration from the next message on.
    pub fn follow(&self, config: &Config) {
        let mut way = self.0.write();
        *way = Arc::new(way.following(config));
    }

    /// Why messages cannot arrive by the tool that is to carry them, if one is.
    pub async fn tool_problem(&self) -> Option<(String, String)> {
        let channels = Arc::clone(&self.0.read());
        channels.tool_problem().await
    }
}

/// Why messages cannot arrive by the tool that is to carry them, if one is.
pub async fn tool_problem(home: &Home, router: &Router) -> Option<(String, String)> {
    let channels = Channels::new(&home.path, &home.config, router, |_| {});
    channels.tool_problem().await
}

impl Channel for LiveChannel {
    fn deliver<'a>(
        &'a self,
        parcel: &'a Parcel<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        let channels = Arc::clone(&self.0.read());
        Box::pin(async move { channels.deliver(parcel).await })
    }
}

/// The channel that is configured; a bot that has a chat is one without further words.
pub fn kind(config: &Config) -> ChannelKind {
    let telegram = &config.tools.telegram;
    let bot = telegram.token.is_some() && telegram.primary_chat().is_some();
    let usual = if bot {
        ChannelKind::Telegram
    } else {
        ChannelKind::Log
    };
    config.notify.channel.clone().unwrap_or(usual)
}

/// Why messages cannot arrive by the channel that is configured, and what to do about it.
pub fn problem(config: &Config) -> Option<(&'static str, &'static str)> {
    let telegram = &config.tools.telegram;
    let nowhere = config.notify.target.is_none() && telegram.primary_chat().is_none();
    match kind(config) {
        // What a tool needs its schema says, once that is known.
        ChannelKind::Log | ChannelKind::Tool(_) => None,
        _ if nowhere => Some((
            "notices have nowhere to go: `notify.target` is not set",
            "`deft config set notify.target CHAT_OR_URL`",
        )),
        ChannelKind::Telegram if telegram.token.is_none() => Some((
            "notices go to Telegram, and `telegram.token` is not set",
            "`deft config set telegram.token env:TELEGRAM_TOKEN`",
        )),
        ChannelKind::Webhook if !posts(config.notify.target.as_deref()) => Some((
            "notices go to a webhook, and `notify.target` is not its address",
            "`deft config set notify.target https://HOST/PATH`",
        )),
        ChannelKind::Telegram | ChannelKind::Webhook => None,
    }
}

/// Whether a target can be posted to.
fn posts(target: Option<&str>) -> bool {
    target.is_some_and(webhook::is_address)
}

/// How a target begins that is a Telegram chat, whatever notices usually go to.
const CHAT: &str = "telegram:";

struct Channels {
    kind: ChannelKind,
    target: Option<String>,
    telegram: TelegramOptions,
    tool: Option<ToolChannel>,
    secrets: Arc<dyn SecretSource>,
    home: PathBuf,
    log_limits: LogLimits,
    router: Router,
    tell: Tell,
}

impl Channel for Channels {
    fn deliver<'a>(
        &'a self,
        parcel: &'a Parcel<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(async move {
            let (notice, key) = (parcel.notice, parcel.key);
            if let Some(chat) = chat_of(notice) {
                // What is said in a conversation is kept there, and is no notice.
                return self.to_chat(parcel, chat).await;
            }
            let sent = match (&self.kind, &self.tool) {
                (ChannelKind::Telegram, _) => self.to_telegram(parcel).await,
                (ChannelKind::Webhook, _) => self.to_webhook(notice, key).await,
                (ChannelKind::Tool(_), Some(tool)) => tool.deliver(&self.router, notice, key).await,
                (ChannelKind::Log | ChannelKind::Tool(_), _) => {
                    return self
                        .log(parcel, None)
                        .map(|()| "written to the log".to_owned())
                        .map_err(|error| undelivered(FailureClass::Other, error.to_string()));
                }
            };
            // Everything is in the log too, once: with the first try that could be made, so that it is
            // there also when the receiver is not.
            let failed = sent.as_ref().err().map(|undelivered| &undelivered.failure);
            if parcel.is_first_try()
                && failed.is_none_or(|failure| !failure.blocked)
                && let Err(error) = self.log(parcel, failed)
            {
                tracing::warn!(%error, "a notice is not in the log");
            }
            sent
        })
    }
}

impl Channels {
    fn log(&self, parcel: &Parcel<'_>, failed: Option<&Failure>) -> io::Result<()> {
        let log = self.home.join("logs").join("notices.log");
        let line = log_line(parcel.notice, parcel.key, failed);
        LogFile::open(&log, self.log_limits)?.append(&line)?;
        (self.tell)(&terminal_line(parcel.notice, failed));
        Ok(())
    }

    fn new(home: &Path, config: &Config, router: &Router, tell: Tell) -> Self {
        let telegram = config.tools.telegram.clone();
        let kind = kind(config);
        let tool = kind.tool();
        let tool = tool.map(|name| ToolChannel::new(name, &config.notify));
        let chat = || {
            telegram
                .primary_chat()
                .filter(|_| kind == ChannelKind::Telegram)
        };
        Self {
            target: config.notify.target.clone().or_else(chat),
            secrets: secrets::source(config),
            kind,
            telegram,
            tool,
            home: home.to_owned(),
            log_limits: config.logs.limits,
            router: router.clone(),
            tell,
        }
    }

    /// The way that another configuration names, in the same home.
    fn following(&self, config: &Config) -> Self {
        Self::new(&self.home, config, &self.router, self.tell)
    }

    async fn tool_problem(&self) -> Option<(String, String)> {
        let problem = self.tool.as_ref()?.problem(&self.router).await?;
        Some((problem.message, problem.hint))
    }

    async fn to_telegram(&self, parcel: &Parcel<'_>) -> DeliveryResult {
        let chat = parcel.notice.target.as_ref().or(self.target.as_ref());
        let Some(chat) = chat else {
            let message = "no chat to send to: `notify.target` is not set";
            return Err(undelivered(FailureClass::Invalid, message.to_owned()));
        };
        self.to_chat(parcel, chat).await
    }

    async fn to_chat(&self, parcel: &Parcel<'_>, chat: &str) -> DeliveryResult {
        // A bot without a usable token gets no better by waiting.
        let client =
            Client::new(&self.telegram, &*self.secrets).map_err(|failure| DeliveryError {
                failure: Failure {
                    blocked: false,
                    ..failure
                },
                retry_after: None,
            })?;
        send(&client, chat, parcel).await
    }

    async fn to_webhook(&self, notice: &Notice, key: &str) -> DeliveryResult {
        let url = notice.target.as_ref().or(self.target.as_ref());
        let Some(url) = url else {
            let message = "no address to post to: `notify.target` is not set";
            return Err(undelivered(FailureClass::Invalid, message.to_owned()));
        };
        let body = json!({
            "kind": notice.kind,
            "title": notice.title,
            "text": notice.text,
            "skill": notice.skill,
            "run": notice.run,
            "key": key,
        });
        let headers = [("Idempotency-Key".to_owned(), Secret::new(key))];
        match webhook::post(url, &body, &headers).await {
            Ok(receipt) => Ok(format!("http {}", receipt.status)),
            Err(failed) => Err(not_sent(failed)),
        }
    }
}

/// The Telegram chat in which a message answers or asks. A message from a chat is answered in that chat,
/// wherever notices go.
pub fn chat_of(notice: &Notice) -> Option<&str> {
    let talks = matches!(notice.kind, NoticeKind::Answer | NoticeKind::Question);
    notice.target.as_ref()?.strip_prefix(CHAT).filter(|_| talks)
}

/// Sends a message to a chat, in as many parts as it takes. Those that arrived are remembered.
pub async fn send(client: &Client, chat: &str, parcel: &Parcel<'_>) -> DeliveryResult {
    let (notice, earlier) = (parcel.notice, parcel.arrived());
    let text = chat_text(notice);
    if let Some(approval) = &notice.approval {
        // Whatever the call is about to do, it cannot look like something else.
        let (text, buttons) = (visible(&text), buttons(approval, notice.always));
        let sent = client.send_buttons(chat, &text, &buttons).await;
        let id = sent.map_err(not_sent)?;
        return Ok(format!("telegram {chat} {:?}", [id]));
    }
    let parts = telegram::parts(&text);
    if parts.is_empty() {
        let message = "the message has no text".to_owned();
        return Err(undelivered(FailureClass::Invalid, message));
    }
    let (mut ids, mut to) = (Vec::new(), chat.to_owned());
    for (place, part) in parts.iter().enumerate().skip(earlier) {
        let sent = client.send(chat, part, &SendOptions::default()).await;
        let receipt = sent.map_err(not_sent)?;
        ids.extend(receipt.message_ids);
        to = receipt.chat;
        // The last one is remembered by the receipt.
        if place + 1 < parts.len() {
            parcel.keep_arrived(place + 1).await;
        }
    }
    Ok(match earlier {
        0 => format!("telegram {to} {ids:?}"),
        _ => format!("telegram {to} {ids:?} after {earlier} sent earlier"),
    })
}

/// The first message that a receipt of Telegram names.
pub fn first_message(receipt: &str) -> Option<i64> {
    let (_, ids) = receipt.strip_prefix("telegram ")?.split_once('[')?;
    let first = ids.split([',', ']']).next()?;
    first.parse().ok()
}

fn not_sent(failed: deft_tools::SendError) -> DeliveryError {
    DeliveryError {
        failure: failed.failure,
        retry_after: failed.retry_after,
    }
}

fn undelivered(class: FailureClass, message: String) -> DeliveryError {
    DeliveryError {
        failure: Failure::new(class, message),
        retry_after: None,
    }
}
