//! Telegram as a chat: what people write to the bot is answered, in the chats that are allowed.
//!
//! This file asks for what is new and hands it on. An update is written down (`inbox.rs`) before
//! Telegram is told to forget it, and named by its number wherever it goes, so that it is answered
//! whatever happens and worked on once. `chats.rs` works on it, chat by chat, and `ask.rs` asks
//! back.
//!
//! Not here: notices, which go through the outbox; and what an answer is.

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
use deft_tools::telegram::{ChatId, Client, Incoming, Update};
use deft_tools::{SecretSource, TelegramOptions, Undelivered};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::secrets;
use crate::talk::Talk;
use chats::Chats;
use inbox::Inbox;

/// Where the number of the next update is kept.
const OFFSET: &str = "telegram.offset";

/// How long Telegram may wait for something to tell us.
const POLL: Duration = Duration::from_secs(50);

/// How long things take; other lengths are for tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// How often it is shown that somebody works.
    pub typing: Duration,
    /// The first wait after a failure; it doubles.
    pub first: Duration,
    /// The longest one.
    pub most: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            // Telegram shows it for five seconds.
            typing: Duration::from_secs(4),
            first: Duration::from_secs(1),
            most: Duration::from_mins(1),
        }
    }
}

/// What the configuration says about it.
#[derive(Clone)]
pub(super) struct Settings {
    options: TelegramOptions,
    secrets: Arc<dyn SecretSource>,
    /// Messages are to be answered, and somebody can.
    wanted: bool,
}

impl Settings {
    pub(super) fn of(config: &Config) -> Self {
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

    /// The bot, if messages to it are to be answered.
    fn client(&self) -> Option<Result<Client, deft_model::Failure>> {
        self.wanted
            .then(|| Client::new(&self.options, &*self.secrets))
    }
}

/// Everything that answering takes.
#[derive(Clone)]
pub(super) struct Bot {
    pub talk: Arc<dyn Talk>,
    pub store: Arc<dyn Store>,
    pub pace: Pace,
}

impl Bot {
    /// Answers until it is told to stop; follows the settings.
    pub(super) async fn serve(
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

    /// Answers with the bot of the settings, for ever. The chats outlive a change of them: what is
    /// worked on goes on.
    async fn listen(
        &self,
        settings: &Settings,
        chats: &mut Option<Chats>,
        stop: &CancellationToken,
    ) {
        let client = match settings.client() {
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
            store: Arc::clone(&self.store),
            allowed: settings.options.allowed_chats.clone(),
            strangers: HashSet::new(),
            trouble: Trouble::new(self.pace),
        };
        poll.run().await;
    }

    /// The chats, with what an earlier process did not get to.
    async fn open(
        &self,
        client: Client,
        stop: &CancellationToken,
    ) -> Result<Chats, deft_store::Error> {
        let inbox = Inbox::open(Arc::clone(&self.store)).await?;
        let chats = Chats::new(self.clone(), client, inbox.clone(), stop.clone());
        for entry in inbox.entries() {
            chats.take(entry);
        }
        Ok(chats)
    }
}

/// The loop that asks what is new.
struct Poll {
    client: Client,
    chats: Chats,
    store: Arc<dyn Store>,
    allowed: Vec<String>,
    /// Chats that were turned away and told of in the log.
    strangers: HashSet<String>,
    trouble: Trouble,
}

impl Poll {
    async fn run(&mut self) {
        let mut next = self.offset().await;
        loop {
            let updates = match self.client.updates(next, POLL).await {
                Ok(updates) => {
                    self.trouble.is_over();
                    updates
                }
                Err(refused) => {
                    let wait = self.trouble.wait(&refused);
                    tokio::time::sleep(wait).await;
                    continue;
                }
            };
            let Some(last) = updates.iter().map(|update| update.id).max() else {
                continue;
            };
            for update in updates.into_iter().filter(|update| update.id >= next) {
                self.take(update).await;
            }
            next = last + 1;
            if let Err(error) = self.store.keep_setting(OFFSET, &next.to_string()).await {
                // Telegram is asked from here on, and an update that comes again is known.
                tracing::error!(%error, "the place among the messages of the bot was not kept");
            }
        }
    }

    async fn offset(&self) -> i64 {
        let kept = self.store.setting(OFFSET).await.ok().flatten();
        kept.and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    async fn take(&mut self, update: Update) {
        let (Incoming::Message { chat, .. } | Incoming::Pressed { chat, .. }) = &update.what else {
            return;
        };
        if !self.knows(chat) {
            return;
        }
        match update.what {
            Incoming::Message { chat, from, text } => {
                self.chats.hear(update.id, &chat.id, &from, text).await;
            }
            Incoming::Pressed {
                chat,
                from,
                message,
                query,
                data,
            } => {
                self.chats.press(&chat.id, &from, message, &query, &data);
            }
            Incoming::Other => {}
        }
    }

    /// Whether a chat is allowed. One that is not is told of once, and never answered.
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
                "somebody writes to the bot from a chat that is not allowed"
            );
        }
        known
    }
}

/// Failures to hear: each kind is told of once, and waits grow.
struct Trouble {
    pace: Pace,
    told: Option<String>,
    next: Duration,
}

impl Trouble {
    fn new(pace: Pace) -> Self {
        Self {
            pace,
            told: None,
            next: pace.first,
        }
    }

    /// How long to wait.
    fn wait(&mut self, refused: &Undelivered) -> Duration {
        let failure = &refused.failure;
        if self.told.as_ref() != Some(&failure.message) {
            let (why, hint) = (&failure.message, &failure.hint);
            tracing::warn!(%why, hint, "the bot cannot be heard; it is tried again");
            self.told = Some(failure.message.clone());
        }
        let wait = match (refused.retry_after, failure.class) {
            (Some(asked), _) => return asked,
            // A wrong token does not get better soon.
            (None, FailureClass::Auth) => self.pace.most,
            (None, _) => self.next,
        };
        self.next = (self.next * 2).min(self.pace.most);
        wait
    }

    fn is_over(&mut self) {
        if self.told.take().is_some() {
            tracing::info!("the bot is heard again");
        }
        self.next = self.pace.first;
    }
}
