//! Telegram as a chat: what people write to the bot is answered, in the chats that are allowed.
//!
//! This file asks for what is new and hands it on. An update is written down (`inbox.rs`) before
//! Telegram is told to forget it, and named by its number wherever it goes, so that it is answered
//! whatever happens and worked on once. `chats.rs` works on it, chat by chat, and `ask.rs` asks
//! back. Answers and questions go through the outbox; what is said beside them is sent from here.
//!
//! Not here: what an answer is, and how the outbox is carried (`channels/`).

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

/// How long Telegram may wait for something to tell us.
const POLL: Duration = Duration::from_secs(50);

/// How long things take; other lengths are for tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How often "typing" is shown.
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

/// Settings of the bot.
#[derive(Clone)]
pub(crate) struct Settings {
    options: TelegramOptions,
    secrets: Arc<dyn SecretSource>,
    /// Messages are to be answered, and a model can answer them.
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

    /// The bot, if messages to it are to be answered.
    fn client(&self) -> Option<Result<Client, deft_model::Failure>> {
        self.wanted
            .then(|| Client::new(&self.options, &*self.secrets))
    }
}

/// Everything that answering takes.
#[derive(Clone)]
pub(crate) struct Bot {
    pub talk: Arc<dyn Talk>,
    pub store: Arc<dyn Store>,
    pub pace: Pace,
}

impl Bot {
    /// Answers until it is told to stop; follows the settings.
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

/// The loop that asks for updates.
struct Poll {
    client: Client,
    chats: Chats,
    allowed: Vec<String>,
    /// Chats that were turned away and told of in the log.
    strangers: HashSet<String>,
    trouble: Trouble,
}

impl Poll {
    async fn run(&mut self) {
        loop {
            // Telegram forgets what comes before this number, all of which is written down.
            let next = self.chats.next(self.client.bot());
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
            for update in updates.into_iter().filter(|update| update.id >= next) {
                if let Err(error) = self.take(update).await {
                    // It comes again, with all that follow it.
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
                self.chats.hear(id, &chat.id, &from, text).await
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
                "a message to the bot came from a chat that is not allowed"
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
    fn wait(&mut self, refused: &SendError) -> Duration {
        let failure = &refused.failure;
        if self.told.as_ref() != Some(&failure.message) {
            let (why, hint) = (&failure.message, &failure.hint);
            tracing::warn!(%why, hint, "cannot receive messages of the bot; retrying");
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
            tracing::info!("receiving messages of the bot again");
        }
        self.next = self.pace.first;
    }
}
