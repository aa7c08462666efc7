//! Delivery of notices to the configured channel: a Telegram chat, a webhook, a tool, the desktop, or the log
//! of the home.
//!
//! Not here: retries, and when a notice is given up (`deft-outbox`).

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use deft_config::{ChannelKind, Config, Home, LogLimits, notifier, secrets};
use deft_engine::{Channel, Delivery, DeliveryError, DeliveryResult, Notice};
use deft_model::{Failure, FailureClass};
use deft_tools::desktop::{LOCAL_TARGET, Notifier};
use deft_tools::telegram::Client;
use deft_tools::{Router, Secret, SecretSource, TelegramOptions, webhook};
use parking_lot::RwLock;
use serde_json::json;

use crate::ShowLine;
use crate::chat::{chat_of, delivery_error, not_sent, send};
use crate::log_file::LogFile;
use crate::notice_text::{log_line, terminal_line};
use crate::tool::ToolChannel;

/// Opens the channel that the configuration names. `tell` shows each logged notice at the terminal.
pub fn open(home: &Home, router: &Router, tell: ShowLine) -> Arc<dyn Channel> {
    Arc::new(Channels::new(&home.path, &home.config, router, tell))
}

/// The channel of a daemon; it can switch to a changed configuration.
pub struct LiveChannel(RwLock<Arc<Channels>>);

impl LiveChannel {
    /// Opens the channel that the configuration names.
    pub fn open(home: &Home, router: &Router, tell: ShowLine) -> Arc<Self> {
        let channels = Channels::new(&home.path, &home.config, router, tell);
        Arc::new(Self(RwLock::new(Arc::new(channels))))
    }

    /// Applies `config` to all later messages.
    pub fn follow(&self, config: &Config) {
        let mut way = self.0.write();
        *way = Arc::new(way.with_config(config));
    }

    /// If notices go to a tool that cannot deliver them, returns the problem and a hint. Asks servers for the
    /// tool if necessary.
    pub async fn tool_problem(&self) -> Option<(String, String)> {
        let channels = Arc::clone(&self.0.read());
        channels.tool_problem().await
    }
}

/// If notices go to a tool that cannot deliver them, returns the problem and a hint. Asks servers for the
/// tool if necessary.
pub async fn tool_problem(home: &Home, router: &Router) -> Option<(String, String)> {
    let channels = Channels::new(&home.path, &home.config, router, |_| {});
    channels.tool_problem().await
}

impl Channel for LiveChannel {
    fn deliver<'a>(
        &'a self,
        parcel: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        let channels = Arc::clone(&self.0.read());
        Box::pin(async move { channels.deliver(parcel).await })
    }
}

/// Returns the channel in effect. Without `notify.channel` this is Telegram if a bot and a chat are
/// configured, else the desktop if this host has one, else the log.
pub fn kind(config: &Config) -> ChannelKind {
    let telegram = &config.tools.telegram;
    let bot = telegram.token.is_some() && telegram.primary_chat().is_some();
    let usual = || match notifier() {
        _ if bot => ChannelKind::Telegram,
        Some(_) => ChannelKind::Desktop,
        None => ChannelKind::Log,
    };
    config.notify.channel.clone().unwrap_or_else(usual)
}

/// If the configured channel cannot deliver notices, returns the problem and a hint.
pub fn problem(config: &Config) -> Option<(&'static str, &'static str)> {
    let telegram = &config.tools.telegram;
    let nowhere = config.notify.target.is_none() && telegram.primary_chat().is_none();
    match kind(config) {
        // A tool is checked against its schema, which is not known here (`tool_problem`).
        ChannelKind::Log | ChannelKind::Tool(_) => None,
        ChannelKind::Desktop => notifier().is_none().then_some((
            "notices go to the desktop, but this process has no desktop session; they are only written to `logs/notices.log`",
            "install `notify-send` and start deft in the desktop session, or set `notify.channel`",
        )),
        _ if nowhere => Some((
            "notices cannot be delivered: `notify.target` is not set",
            "`deft config set notify.target CHAT_OR_URL`",
        )),
        ChannelKind::Telegram if telegram.token.is_none() => Some((
            "notices go to Telegram, but `telegram.token` is not set",
            "`deft config set telegram.token env:TELEGRAM_TOKEN`",
        )),
        ChannelKind::Webhook if !posts(config.notify.target.as_deref()) => Some((
            "notices go to a webhook, but `notify.target` is not a URL",
            "`deft config set notify.target https://HOST/PATH`",
        )),
        ChannelKind::Telegram | ChannelKind::Webhook => None,
    }
}

/// Whether `target` is an address that a webhook can post to.
fn posts(target: Option<&str>) -> bool {
    target.is_some_and(webhook::is_address)
}

struct Channels {
    kind: ChannelKind,
    target: Option<String>,
    telegram: TelegramOptions,
    tool: Option<ToolChannel>,
    desktop: Option<Notifier>,
    /// Whether `notify.channel` is set to the desktop.
    wants_desktop: bool,
    secrets: Arc<dyn SecretSource>,
    home: PathBuf,
    log_limits: LogLimits,
    router: Router,
    tell: ShowLine,
}

impl Channel for Channels {
    fn deliver<'a>(
        &'a self,
        parcel: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(async move {
            let (notice, key) = (parcel.notice, parcel.key);
            if let Some(chat) = chat_of(notice) {
                // Answers and questions belong to their chat and are not logged as notices.
                return self.to_chat(parcel, chat).await;
            }
            let sent = match self.route(notice) {
                Route::Log => return self.to_log(parcel, "written to the log".to_owned()),
                Route::Desktop(notifier) => match to_desktop(notifier, notice).await {
                    // The desktop is only the default here: log the notice instead of retrying.
                    Err(failed) if !self.wants_desktop => {
                        let receipt = format!("written to the log: {}", failed.failure.message);
                        return self.to_log(parcel, receipt);
                    }
                    sent => sent,
                },
                Route::Telegram => self.to_telegram(parcel).await,
                Route::Webhook => self.to_webhook(notice, key).await,
                Route::Tool(tool) => tool.deliver(&self.router, notice, key).await,
            };
            // Every notice is also logged once, at the first try that could be made, so the log has it even
            // if the receiver is down.
            let failed = sent.as_ref().err().map(|undelivered| &undelivered.failure);
            if parcel.is_first_try()
                && failed.is_none_or(|failure| !failure.blocked)
                && let Err(error) = self.log(parcel, failed)
            {
                tracing::warn!(%error, "cannot log a notice");
            }
            sent
        })
    }
}

/// The destination of one message.
enum Route<'a> {
    Log,
    Desktop(&'a Notifier),
    Telegram,
    Webhook,
    Tool(&'a ToolChannel),
}

impl Channels {
    fn route(&self, notice: &Notice) -> Route<'_> {
        let desktop = || self.desktop.as_ref().map_or(Route::Log, Route::Desktop);
        if is_local(notice) {
            return desktop();
        }
        match (&self.kind, &self.tool) {
            (ChannelKind::Desktop, _) => desktop(),
            (ChannelKind::Telegram, _) => Route::Telegram,
            (ChannelKind::Webhook, _) => Route::Webhook,
            (ChannelKind::Tool(_), Some(tool)) => Route::Tool(tool),
            (ChannelKind::Log | ChannelKind::Tool(_), _) => Route::Log,
        }
    }

    fn to_log(&self, parcel: &Delivery<'_>, receipt: String) -> DeliveryResult {
        self.log(parcel, None)
            .map(|()| receipt)
            .map_err(|error| delivery_error(FailureClass::Other, error.to_string()))
    }

    fn log(&self, parcel: &Delivery<'_>, failed: Option<&Failure>) -> io::Result<()> {
        let log = self.home.join("logs").join("notices.log");
        let line = log_line(parcel.notice, parcel.key, failed);
        LogFile::open(&log, self.log_limits)?.append(&line)?;
        (self.tell)(&terminal_line(parcel.notice, failed));
        Ok(())
    }

    fn new(home: &Path, config: &Config, router: &Router, tell: ShowLine) -> Self {
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
            wants_desktop: config.notify.channel == Some(ChannelKind::Desktop),
            kind,
            telegram,
            tool,
            desktop: notifier(),
            home: home.to_owned(),
            log_limits: config.logs.limits,
            router: router.clone(),
            tell,
        }
    }

    /// Returns the channels for `config` in the same home.
    fn with_config(&self, config: &Config) -> Self {
        Self::new(&self.home, config, &self.router, self.tell)
    }

    async fn tool_problem(&self) -> Option<(String, String)> {
        let problem = self.tool.as_ref()?.problem(&self.router).await?;
        Some((problem.message, problem.hint))
    }

    async fn to_telegram(&self, parcel: &Delivery<'_>) -> DeliveryResult {
        let chat = parcel.notice.target.as_ref().or(self.target.as_ref());
        let Some(chat) = chat else {
            let message = "no chat to send to: `notify.target` is not set";
            return Err(delivery_error(FailureClass::Invalid, message.to_owned()));
        };
        self.to_chat(parcel, chat).await
    }

    async fn to_chat(&self, parcel: &Delivery<'_>, chat: &str) -> DeliveryResult {
        // Waiting does not repair an unusable token: fail now instead of staying blocked.
        let client = self.client().await.map_err(|failure| DeliveryError {
            failure: Failure {
                blocked: false,
                ..failure
            },
            retry_after: None,
        })?;
        send(&client, chat, parcel).await
    }

    async fn client(&self) -> Result<Client, Failure> {
        let token = self.telegram.look_up_token(&self.secrets).await?;
        Client::new(&self.telegram, &token)
    }

    async fn to_webhook(&self, notice: &Notice, key: &str) -> DeliveryResult {
        let url = notice.target.as_ref().or(self.target.as_ref());
        let Some(url) = url else {
            let message = "no address to post to: `notify.target` is not set";
            return Err(delivery_error(FailureClass::Invalid, message.to_owned()));
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

/// Whether `notice` must stay on this host, whatever channel is configured.
fn is_local(notice: &Notice) -> bool {
    notice.target.as_deref() == Some(LOCAL_TARGET)
}

async fn to_desktop(notifier: &Notifier, notice: &Notice) -> DeliveryResult {
    let title = match notice.title.as_str() {
        "" => "deft",
        title => title,
    };
    let shown = notifier.show(title, &notice.text).await;
    shown
        .map(|()| "shown on the desktop".to_owned())
        .map_err(|failure| DeliveryError {
            failure,
            retry_after: None,
        })
}
