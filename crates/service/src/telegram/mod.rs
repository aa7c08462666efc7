//! Telegram chats: messages to the bot are answered, in chats that are allowed.
//!
//! This file polls for updates and dispatches them. An update is stored (`inbox.rs`) before Telegram is told
//! to forget it, and its id is part of all keys, so that it is always answered and processed once. `chats.rs`
//! processes the messages of each chat, and `ask.rs` asks questions. Answers and questions are sent through
//! the outbox; all other texts are sent from here.
//!
//! Not here: producing answers, and delivering the outbox (`channels/`).

mod ask;
mod chats;
mod inbox;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use deft_model::FailureClass;
use deft_store::Store;
use deft_tools::telegram::{ChatId, Client, Update, UpdateContent};
use deft_tools::{SecretSource, SendError, TelegramOptions};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::talk::Talk;
use chats::Chats;
use deft_config::Config;
use deft_config::secrets;
use inbox::{Inbox, Press};

/// Timeout of long polling.
const POLL: Duration = Duration::from_secs(50);

/// Intervals and delays; tests use shorter ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Interval of the "typing" action.
    pub typing: Duration,
    /// The first delay after a failure; it doubles with each failure.
    pub first: Duration,
    /// The maximum delay.
    pub most: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            // Telegram shows the action for five seconds.
            typing: Duration::from_secs(4),
            first: Duration::from_secs(1),
            most: Duration::from_mins(1),
        }
    }
}

/// Settings of the bot.
#[derive(Clone)]
pub(crate) struct Settings {
    options: TelegramOptions,
    secrets: Arc<dyn SecretSource>,
    /// Whether messages are to be answered and a model is configured.
    wanted: bool,
}

impl Settings {
    pub(crate) fn from_config(config: &Config) -> Self {
        let options = config.tools.telegram.clone();
        let wanted = config.telegram_chat
            && options.token.is_some()
            && !options.allowed_chats.is_empty()
            && !config.models.is_empty();
        Self {
            secrets: secrets::source(config),
            wanted,
            options,
        }
    }

    /// Returns the client of the bot, if its messages are to be answered.
    async fn client(&self) -> Option<Result<Client, deft_model::Failure>> {
        if !self.wanted {
            return None;
        }
        let token = self.options.look_up_token(&self.secrets).await;
        Some(token.and_then(|token| Client::new(&self.options, &token)))
    }
}

/// The dependencies of the bot.
#[derive(Clone)]
pub(crate) struct Bot {
    pub talk: Arc<dyn Talk>,
    pub store: Arc<dyn Store>,
    pub pace: Pace,
}

impl Bot {
    /// Answers messages until `stop` is cancelled; applies changes of the settings.
    pub(crate) async fn serve(
        self,
        mut settings: watch::Receiver<Settings>,
        stop: CancellationToken,
    ) {
        let mut chats = None;
        loop {
            let current = settings.borrow_and_update().clone();
            let changed = tokio::select! {
                () = stop.cancelled() => return,
                changed = settings.changed() => changed,
                () = self.listen(&current, &mut chats, &stop) => return,
            };
            if changed.is_err() {
                return;
            }
        }
    }

    /// Answers messages with the configured bot; never returns. The chats survive a change of the settings:
    /// answers in progress continue.
    async fn listen(
        &self,
        settings: &Settings,
        chats: &mut Option<Chats>,
        stop: &CancellationToken,
    ) {
        let client = match settings.client().await {
            Some(Ok(client)) => client,
            Some(Err(failure)) => {
                let (why, hint) = (failure.message, failure.hint);
                tracing::error!(%why, hint, "messages to the bot are not answered");
                return std::future::pending().await;
            }
            None => return std::future::pending().await,
        };
        let chats = match chats {
            Some(chats) => {
                chats.follow(client.clone());
                chats.clone()
            }
            None => match self.open(client.clone(), stop).await {
                Ok(opened) => chats.insert(opened).clone(),
                Err(error) => {
                    tracing::error!(%error, "messages to the bot are not answered");
                    return std::future::pending().await;
                }
            },
        };
        let mut poll = Poll {
            client,
            chats,
            allowed: settings.options.allowed_chats.clone(),
            strangers: HashSet::new(),
            trouble: PollBackoff::new(self.pace),
        };
        poll.run().await;
    }

    /// Opens the chats, with messages and answers that an earlier process did not finish.
    async fn open(
        &self,
        client: Client,
        stop: &CancellationToken,
    ) -> Result<Chats, deft_engine::Error> {
        let inbox = Inbox::open(Arc::clone(&self.store)).await?;
        let chats = Chats::new(self.clone(), client, inbox.clone(), stop.clone());
        for press in inbox.presses() {
            chats.act(press);
        }
        for entry in inbox.entries() {
            chats.take(entry);
        }
        Ok(chats)
    }
}

/// The polling loop.
struct Poll {
    client: Client,
    chats: Chats,
    allowed: Vec<String>,
    /// Chats that were rejected, and logged once.
    strangers: HashSet<String>,
    trouble: PollBackoff,
}

impl Poll {
    async fn run(&mut self) {
        loop {
            // Telegram forgets all updates before this id; they are all stored.
            let next = self.chats.next(self.client.bot());
            let updates = match self.client.updates(next, POLL).await {
                Ok(updates) => {
                    self.trouble.report_recovery();
                    updates
                }
                Err(refused) => {
                    let wait = self.trouble.wait(&refused);
                    tokio::time::sleep(wait).await;
                    continue;
                }
            };
            for update in updates.into_iter().filter(|update| update.id >= next) {
                if let Err(error) = self.take(update).await {
                    // This update and all later ones come again.
                    tracing::error!(%error, "a message to the bot could not be stored; retrying");
                    tokio::time::sleep(self.trouble.pace.most).await;
                    break;
                }
            }
        }
    }

    async fn take(&mut self, update: Update) -> Result<(), deft_store::Error> {
        let id = update.id;
        match update.what {
            UpdateContent::Message { chat, from, text } if self.knows(&chat) => {
                self.chats.handle_message(id, &chat.id, &from, text).await
            }
            UpdateContent::Pressed {
                chat,
                from,
                message,
                query,
                data,
            } if self.knows(&chat) => {
                let press = Press {
                    id,
                    chat: chat.id,
                    from,
                    data,
                    message: Some(message),
                    query: Some(query),
                };
                self.chats.press(press).await
            }
            UpdateContent::Message { .. }
            | UpdateContent::Pressed { .. }
            | UpdateContent::Other => self.chats.pass(id).await,
        }
    }

    /// Whether a chat is allowed. A chat that is not allowed is logged once and never answered.
    fn knows(&mut self, chat: &ChatId) -> bool {
        let is = |allowed: &String| {
            let named = chat.name.as_ref();
            *allowed == chat.id || named.is_some_and(|name| name.eq_ignore_ascii_case(allowed))
        };
        let known = self.allowed.iter().any(is);
        if !known && self.strangers.insert(chat.id.clone()) {
            let chat = &chat.id;
            tracing::warn!(
                %chat,
                hint = "add it to `telegram.allowed_chats` if it is yours",
                "a message to the bot came from a chat that is not allowed"
            );
        }
        known
    }
}

/// Failures to receive updates: each kind is logged once, and delays grow.
struct PollBackoff {
    pace: Pace,
    reported: Option<String>,
    next: Duration,
}

impl PollBackoff {
    fn new(pace: Pace) -> Self {
        Self {
            pace,
            reported: None,
            next: pace.first,
        }
    }

    /// Returns the delay before the next attempt.
    fn wait(&mut self, refused: &SendError) -> Duration {
        let failure = &refused.failure;
        if self.reported.as_ref() != Some(&failure.message) {
            let (why, hint) = (&failure.message, &failure.hint);
            tracing::warn!(%why, hint, "cannot receive messages of the bot; retrying");
            self.reported = Some(failure.message.clone());
        }
        let wait = match (refused.retry_after, failure.class) {
            (Some(asked), _) => return asked,
            // A wrong token will not be fixed soon.
            (None, FailureClass::Auth) => self.pace.most,
            (None, _) => self.next,
        };
        self.next = (self.next * 2).min(self.pace.most);
        wait
    }

    fn report_recovery(&mut self) {
        if self.reported.take().is_some() {
            tracing::info!("receiving messages of the bot again");
        }
        self.next = self.pace.first;
    }
}
