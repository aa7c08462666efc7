//! Chats, each with a queue: messages of one chat are answered in order, those of different chats
//! concurrently.

mod presses;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use deft_model::{FailureClass, RunId, RunOrigin, RunStatus};
use deft_store::Error;
use deft_tools::telegram::{Client, SendOptions};
use parking_lot::{Mutex, MutexGuard, RwLock};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::Bot;
use super::ask::{self, OpenQuestions, People};
use super::inbox::{Entry, Inbox, InboxItem, Press};
use super::words;
use crate::talk::{Attention, ConversationQuery, NewChatMessage};
use deft_wire::Done;
use deft_wire::chat::{ChatAnswer, ChatUsage};

/// Maximum number of attempts to send a text that is not an answer.
const TRIES: u32 = 8;

/// The chats of the bot.
#[derive(Clone)]
pub(super) struct Chats(Arc<Shared>);

struct Shared {
    bot: Bot,
    client: RwLock<Client>,
    inbox: Inbox,
    open: OpenQuestions,
    chats: Mutex<HashMap<String, Chat>>,
    stop: CancellationToken,
}

/// A chat.
struct Chat {
    queue: UnboundedSender<Entry>,
    /// Messages outside the queue, sent in order.
    out_of_band: UnboundedSender<String>,
    /// The message in progress: its update id, and its run once admitted.
    current: Option<(i64, Arc<OnceLock<RunId>>)>,
    usage: ChatUsage,
    /// Messages whose runs wait, and whose chats were notified.
    waiting: HashSet<i64>,
}

impl Chats {
    pub(super) fn new(bot: Bot, client: Client, inbox: Inbox, stop: CancellationToken) -> Self {
        Self(Arc::new(Shared {
            bot,
            client: RwLock::new(client),
            inbox,
            open: OpenQuestions::default(),
            chats: Mutex::default(),
            stop,
        }))
    }

    /// Uses another bot from now on.
    pub(super) fn follow(&self, client: Client) {
        *self.0.client.write() = client;
    }

    /// Returns the id of the next update of a bot.
    pub(super) fn next(&self, bot: &str) -> i64 {
        self.0.inbox.next(bot)
    }

    /// Acknowledges an update that needs no action.
    pub(super) async fn pass(&self, id: i64) -> Result<(), Error> {
        self.0.inbox.take(id, InboxItem::Nothing).await.map(drop)
    }

    /// Handles a new message.
    pub(super) async fn handle_message(
        &self,
        id: i64,
        chat: &str,
        from: &str,
        text: Option<String>,
    ) -> Result<(), Error> {
        let Some(text) = text else {
            self.pass(id).await?;
            self.reply(chat, words::NO_TEXT.to_owned());
            return Ok(());
        };
        if let Some(command) = words::Command::read(&text) {
            let fresh = || InboxItem::Fresh {
                chat: chat.to_owned(),
            };
            let taken = match command {
                words::Command::New => fresh(),
                words::Command::Help
                | words::Command::Stop
                | words::Command::Cost
                | words::Command::Skills
                | words::Command::Unknown => InboxItem::Nothing,
            };
            self.0.inbox.take(id, taken).await?;
            self.command(command, chat).await;
            return Ok(());
        }
        if let Some(answer) = ask::in_words(&text)
            && let Some(approval) = self.0.open.only(chat)
        {
            return self
                .press(Press {
                    id,
                    chat: chat.to_owned(),
                    from: from.to_owned(),
                    data: deft_channels::button_data(&approval, answer),
                    message: None,
                    query: None,
                })
                .await;
        }
        let chat = chat.to_owned();
        let taken = self.0.inbox.take(id, InboxItem::Message { chat, text });
        if let Some(entry) = taken.await? {
            self.take(entry);
        }
        Ok(())
    }

    /// Adds a message to the queue of its chat.
    pub(super) fn take(&self, entry: Entry) {
        let shared = &self.0;
        let chat = entry.chat.clone();
        // The worker lives as long as the queue, except during shutdown.
        shared.with(&chat, |chat| drop(chat.queue.send(entry)));
    }

    async fn command(&self, command: words::Command, chat: &str) {
        let text = match command {
            words::Command::Help => words::HELP.to_owned(),
            words::Command::New => words::FRESH.to_owned(),
            words::Command::Stop => self.stop(chat).await,
            words::Command::Cost => match self.0.bot.talk.spending().await {
                Ok(today) => words::cost(&self.0.with(chat, |chat| chat.usage), &today),
                Err(failure) => failure.message,
            },
            words::Command::Skills => match self.0.bot.talk.skills(None).await {
                Ok(skills) => words::skills(&skills),
                Err(failure) => failure.message,
            },
            words::Command::Unknown => words::UNKNOWN.to_owned(),
        };
        self.reply(chat, text);
    }

    /// Stops the current answer of a chat, and drops the queued messages.
    async fn stop(&self, chat: &str) -> String {
        let current = self.0.with(chat, |chat| chat.current.clone());
        let working = current.as_ref().map(|(id, _)| *id);
        let entries = self.0.inbox.entries().into_iter();
        let behind = entries.filter(|entry| entry.chat == chat && Some(entry.id) != working);
        for entry in behind {
            self.0.inbox.remove(entry.id).await;
        }
        let run = current.as_ref().and_then(|(_, run)| run.get());
        let Some(run) = run else {
            return words::NOTHING.to_owned();
        };
        match self.0.bot.talk.stop(run, "/stop in telegram").await {
            // The stopped answer reports this itself.
            Ok(()) => words::STOPPING.to_owned(),
            Err(failure) => failure.message,
        }
    }

    /// Sends a text outside the queue.
    fn reply(&self, chat: &str, text: String) {
        // The task that sends it lives as long as the chat.
        self.0.with(chat, |chat| drop(chat.out_of_band.send(text)));
    }
}

impl Chat {
    fn new(queue: UnboundedSender<Entry>, out_of_band: UnboundedSender<String>) -> Self {
        Self {
            queue,
            out_of_band,
            current: None,
            usage: ChatUsage::default(),
            waiting: HashSet::new(),
        }
    }
}

/// Answers the messages of a chat in order.
async fn work(shared: Arc<Shared>, mut entries: UnboundedReceiver<Entry>) {
    while let Some(entry) = entries.recv().await {
        if shared.stop.is_cancelled() {
            // The next start finds it in the inbox.
            return;
        }
        shared.answer(entry).await;
    }
}

/// Sends the messages outside the queue of a chat, in order.
async fn send_unqueued(shared: Arc<Shared>, chat: String, mut texts: UnboundedReceiver<String>) {
    while let Some(text) = texts.recv().await {
        shared.send(&chat, &text).await;
    }
}

impl Shared {
    async fn answer(self: &Arc<Self>, entry: Entry) {
        // The message may have been stopped or answered while it was queued.
        if !self
            .inbox
            .entries()
            .iter()
            .any(|known| known.id == entry.id)
        {
            return;
        }
        let admitted = Arc::new(OnceLock::new());
        self.with(&entry.chat, |chat| {
            chat.current = Some((entry.id, Arc::clone(&admitted)));
        });
        let answer = tokio::select! {
            answer = self.wait_for_answer(&entry, admitted) => answer,
            never = self.show_typing(&entry.chat) => never,
        };
        self.with(&entry.chat, |chat| chat.current = None);
        match answer {
            Ok(answer) if answer.status != RunStatus::Done => self.wait(entry, &answer).await,
            Ok(answer) => {
                self.with(&entry.chat, |chat| {
                    chat.usage.add(&answer.usage);
                    chat.waiting.remove(&entry.id);
                });
                let place = entry.place();
                let left = self.bot.talk.ensure_answer_sent(&answer, &place);
                self.forget(&entry, left.await).await;
            }
            Err(failure) => {
                let text = words::failure(&failure.message, failure.hint.as_deref());
                let (key, place) = (entry.key(), entry.place());
                let left = self.bot.talk.post_text(&key, &place, &text);
                self.forget(&entry, left.await).await;
            }
        }
    }

    /// Removes a message whose answer was queued in the outbox; retries later if that failed.
    async fn forget(self: &Arc<Self>, entry: &Entry, left: Done<()>) {
        match left {
            Ok(()) => self.inbox.remove(entry.id).await,
            Err(failure) => {
                let why = failure.message;
                tracing::error!(%why, "an answer could not be stored; retrying");
                self.retry_later(entry.clone());
            }
        }
    }

    /// Repeats the request until there is an answer or a question. After a crash another process may resume
    /// the run; the next messages of the chat wait for it nevertheless.
    async fn wait_for_answer(
        &self,
        entry: &Entry,
        admitted: Arc<OnceLock<RunId>>,
    ) -> Done<ChatAnswer> {
        loop {
            let answer = self.say(entry, Arc::clone(&admitted)).await?;
            if matches!(answer.status, RunStatus::Done | RunStatus::Waiting)
                || self.stop.is_cancelled()
            {
                return Ok(answer);
            }
            // Allows stopping the run. The id may already be set.
            drop(admitted.set(answer.run));
            tokio::select! {
                () = tokio::time::sleep(self.bot.pace.first) => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    async fn say(&self, entry: &Entry, admitted: Arc<OnceLock<RunId>>) -> Done<ChatAnswer> {
        let talk = &self.bot.talk;
        let channel = entry.place();
        let conversation = if entry.fresh {
            None
        } else {
            let latest = ConversationQuery::latest(Some(&channel));
            let latest = talk.conversations(latest).await?;
            latest.into_iter().next().map(|found| found.id)
        };
        let people = People {
            talk: Arc::clone(talk),
            chat: entry.chat.clone(),
            place: channel.clone(),
            open: self.open.clone(),
        };
        let attention = Attention {
            asker: Some(Arc::new(people)),
            assume_yes: None,
            parks: true,
            admitted: Some(admitted),
            ..Attention::default()
        };
        let say = NewChatMessage {
            conversation,
            agent: None,
            answer_to: Some(channel.clone()),
            channel,
            text: entry.text.clone(),
            key: Some(entry.key()),
            alone: false,
            model: None,
            origin: RunOrigin::default(),
        };
        talk.say(say, attention, Arc::new(|_| {})).await
    }

    /// Shows "typing" until the future is dropped.
    async fn show_typing<T>(&self, chat: &str) -> T {
        loop {
            // Failures to show it are ignored.
            drop(self.client().show_typing(chat).await);
            tokio::time::sleep(self.bot.pace.typing).await;
        }
    }

    /// Schedules another check of a message whose run waits or is driven by another process.
    async fn wait(self: &Arc<Self>, entry: Entry, answer: &ChatAnswer) {
        // The conversation has begun.
        let entry = Entry {
            fresh: false,
            ..entry
        };
        let waits = answer.status == RunStatus::Waiting;
        let first = self.with(&entry.chat, |chat| waits && chat.waiting.insert(entry.id));
        if first {
            self.send(&entry.chat, &words::waits(answer)).await;
        }
        self.retry_later(entry);
    }

    /// Checks a message again after a delay.
    fn retry_later(self: &Arc<Self>, entry: Entry) {
        let (chats, again) = (Chats(Arc::clone(self)), self.bot.pace.most);
        tokio::spawn(async move {
            tokio::time::sleep(again).await;
            chats.take(entry);
        });
    }

    /// Sends a text that is not an answer, with retries. A permanent failure is logged; after a restart the
    /// text is not sent again.
    async fn send(&self, chat: &str, text: &str) {
        let mut how = SendOptions::default();
        let mut wait = self.bot.pace.first;
        for _ in 0..TRIES {
            let Err(refused) = self.client().send(chat, text, &how).await else {
                return;
            };
            how.skip_parts += refused.sent.len();
            let failure = refused.failure;
            let passes = matches!(
                failure.class,
                FailureClass::Network | FailureClass::Timeout | FailureClass::Quota
            );
            if !passes {
                let (why, hint) = (failure.message, failure.hint);
                return tracing::error!(%why, hint, chat, "a message to a chat was not sent");
            }
            tracing::debug!(
                why = failure.message,
                chat,
                "sending a message to a chat again"
            );
            tokio::time::sleep(refused.retry_after.unwrap_or(wait)).await;
            wait = (wait * 2).min(self.bot.pace.most);
        }
        tracing::error!(chat, "a message to a chat was not sent in {TRIES} attempts");
    }

    fn client(&self) -> Client {
        self.client.read().clone()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Chat>> {
        self.chats.lock()
    }

    /// Calls `what` with a chat, which is created if it is new.
    fn with<T>(self: &Arc<Self>, chat: &str, what: impl FnOnce(&mut Chat) -> T) -> T {
        let mut chats = self.lock();
        let begin = || {
            let (queue, entries) = unbounded_channel();
            tokio::spawn(work(Arc::clone(self), entries));
            let (out_of_band, texts) = unbounded_channel();
            tokio::spawn(send_unqueued(Arc::clone(self), chat.to_owned(), texts));
            Chat::new(queue, out_of_band)
        };
        let chat = chats.entry(chat.to_owned()).or_insert_with(begin);
        what(chat)
    }
}
