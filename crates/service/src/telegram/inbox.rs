//! The stored state of the bot: the position in its updates, messages to answer, and buttons that were
//! pressed.
//!
//! All of it is one value that is written at once. An update is stored together with the id of the next one,
//! so that it is processed once, regardless of repetitions by Telegram and crashes. Only then is Telegram
//! told to forget it.
//!
//! Not here: acting on updates.
use std::collections::BTreeSet;
use std::sync::Arc;

use deft_engine::read_setting;
use deft_store::{Error, Store};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

/// The setting with the state.
const INBOX: &str = "telegram.inbox";

/// The setting that an earlier version used for the id of the next update.
const OFFSET: &str = "telegram.offset";

/// A message to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The id of the update.
    pub id: i64,
    /// The id of the bot, because each bot numbers its own updates.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bot: String,
    pub chat: String,
    pub text: String,
    /// Whether it starts a new conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
}

impl Entry {
    /// Returns the chat's name in conversations and the outbox.
    pub(super) fn place(&self) -> String {
        format!("telegram:{}", self.chat)
    }

    /// Returns the key of the message, which is the same for each retry.
    pub(super) fn key(&self) -> String {
        match self.bot.as_str() {
            "" => format!("telegram:{}", self.id),
            bot => format!("telegram:{bot}:{}", self.id),
        }
    }
}

/// A person's answer to a question, by a button or in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Press {
    /// The id of the update.
    pub id: i64,
    pub chat: String,
    /// The display name of the person.
    pub from: String,
    /// The data of the button.
    pub data: String,
    /// The message with the button, if one was pressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<i64>,
    /// The callback query to answer, if a button was pressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

impl Press {
    /// Returns who answered, for the record.
    pub(super) fn sender(&self) -> String {
        format!("{} in telegram chat {}", self.from, self.chat)
    }
}

/// The part of an update that is stored.
pub(super) enum InboxItem {
    /// Nothing that must survive a crash.
    Nothing,
    /// A message to answer.
    Message { chat: String, text: String },
    /// The next message of a chat starts a new conversation.
    Fresh { chat: String },
    /// An answer to a question.
    Press(Press),
}

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Book {
    /// The bot that the update ids belong to.
    bot: String,
    /// The id of the next update.
    next: i64,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    fresh: BTreeSet<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Entry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    presses: Vec<Press>,
}

/// The stored format: the whole state, or only messages, as stored by an earlier version.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredInbox {
    Messages(Vec<Entry>),
    Book(Book),
}

impl Book {
    async fn read(store: &dyn Store) -> Result<Self, deft_engine::Error> {
        let Some(kept) = read_setting(store, INBOX).await? else {
            return Ok(Self::default());
        };
        Ok(match kept {
            StoredInbox::Book(book) => book,
            StoredInbox::Messages(messages) => Self {
                next: read_setting(store, OFFSET).await?.unwrap_or_default(),
                messages,
                ..Self::default()
            },
        })
    }

    /// Records an update, and returns the message to answer, if it is one.
    fn take(&mut self, id: i64, taken: InboxItem) -> Option<Entry> {
        self.next = id + 1;
        match taken {
            InboxItem::Nothing => None,
            InboxItem::Fresh { chat } => {
                self.fresh.insert(chat);
                None
            }
            InboxItem::Press(press) => {
                self.presses.push(press);
                None
            }
            InboxItem::Message { chat, text } => {
                let entry = Entry {
                    id,
                    bot: self.bot.clone(),
                    fresh: self.fresh.remove(&chat),
                    chat,
                    text,
                };
                self.messages.push(entry.clone());
                Some(entry)
            }
        }
    }
}

/// The stored state of the bot, with messages of all chats, oldest first.
#[derive(Clone)]
pub(super) struct Inbox {
    store: Arc<dyn Store>,
    book: Arc<Mutex<Book>>,
    /// Serialises writes, so that an older state never replaces a newer one.
    writing: Arc<tokio::sync::Mutex<()>>,
}

impl Inbox {
    pub(super) async fn open(store: Arc<dyn Store>) -> Result<Self, deft_engine::Error> {
        let book = Book::read(&*store).await?;
        Ok(Self {
            store,
            book: Arc::new(Mutex::new(book)),
            writing: Arc::default(),
        })
    }

    /// Returns the id of the next update of a bot. If the bot changed, its ids start anew.
    pub(super) fn next(&self, bot: &str) -> i64 {
        let mut book = self.lock();
        if book.bot != bot {
            // An earlier version did not store the bot; its state belongs to the current one.
            let same = book.bot.is_empty();
            bot.clone_into(&mut book.bot);
            book.next = if same { book.next } else { 0 };
        }
        book.next
    }

    /// Returns the messages that are not answered yet.
    pub(super) fn entries(&self) -> Vec<Entry> {
        self.lock().messages.clone()
    }

    /// Returns the answers to questions that have not been acted on yet.
    pub(super) fn presses(&self) -> Vec<Press> {
        self.lock().presses.clone()
    }

    /// Stores an update. If that fails, the update is not acknowledged and comes again.
    pub(super) async fn take(&self, id: i64, taken: InboxItem) -> Result<Option<Entry>, Error> {
        self.change(|book| book.take(id, taken)).await
    }

    /// Removes a message that was answered.
    pub(super) async fn remove(&self, id: i64) {
        let forgotten = self.change(|book| book.messages.retain(|entry| entry.id != id));
        if let Err(error) = forgotten.await {
            // Its key prevents it from being processed again.
            tracing::warn!(%error, "cannot delete an answered message to the bot from the store");
        }
    }

    /// Removes an answer that was acted on.
    pub(super) async fn forget_press(&self, id: i64) {
        let forgotten = self.change(|book| book.presses.retain(|press| press.id != id));
        if let Err(error) = forgotten.await {
            // A question is only answered once.
            tracing::warn!(%error, "cannot delete a processed answer from the store");
        }
    }

    /// Stores a change, then applies it to the copy in memory.
    async fn change<T>(&self, change: impl FnOnce(&mut Book) -> T) -> Result<T, Error> {
        let _one = self.writing.lock().await;
        let mut book = self.lock().clone();
        let changed = change(&mut book);
        let text = serde_json::to_string(&book).unwrap_or_default();
        self.store.keep_setting(INBOX, &text).await?;
        *self.lock() = book;
        Ok(changed)
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock()
    }
}

#[cfg(test)]
mod tests {
    use deft_store::{Sqlite, SqliteOptions};
    use deft_store_testkit::Memory;

    use super::*;

    fn message(text: &str) -> InboxItem {
        InboxItem::Message {
            chat: "7".to_owned(),
            text: text.to_owned(),
        }
    }

    fn entry(id: i64, bot: &str, text: &str, fresh: bool) -> Entry {
        Entry {
            id,
            bot: bot.to_owned(),
            chat: "7".to_owned(),
            text: text.to_owned(),
            fresh,
        }
    }

    #[tokio::test]
    async fn accepted_updates_survive_a_restart() {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let inbox = Inbox::open(Arc::clone(&store)).await.unwrap();
        assert_eq!(inbox.next("1"), 0);
        let chat = || "7".to_owned();
        inbox
            .take(3, InboxItem::Fresh { chat: chat() })
            .await
            .unwrap();
        let inbox = Inbox::open(Arc::clone(&store)).await.unwrap();
        assert_eq!(inbox.next("1"), 4);
        let first = entry(4, "1", "first", true);
        let taken = inbox.take(4, message("first")).await.unwrap();
        assert_eq!(taken.as_ref(), Some(&first));
        assert_eq!(first.key(), "telegram:1:4");
        let second = entry(5, "1", "second", false);
        inbox.take(5, message("second")).await.unwrap();
        inbox.remove(4).await;
        let inbox = Inbox::open(store).await.unwrap();
        assert_eq!((inbox.next("1"), inbox.entries()), (6, vec![second]));
        // Another bot has its own ids, and the messages to the first one are kept.
        assert_eq!((inbox.next("2"), inbox.entries().len()), (0, 1));
    }

    /// An update that could not be stored is not acknowledged.
    #[tokio::test]
    async fn updates_that_cannot_be_stored_are_not_confirmed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, options) = (folder.path().join("db"), SqliteOptions::default());
        drop(Sqlite::open(&path, &options).unwrap());
        let store = Sqlite::open_read_only(&path, &options).unwrap();
        let inbox = Inbox::open(Arc::new(store)).await.unwrap();
        let refused = inbox.take(1, message("hello")).await;
        assert!(refused.is_err(), "{refused:?}");
        assert_eq!((inbox.next("1"), inbox.entries()), (0, Vec::new()));
    }

    #[tokio::test]
    async fn the_previous_format_is_read() {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let old = r#"[{"id": 8, "chat": "7", "text": "hello"}]"#;
        store.keep_setting(INBOX, old).await.unwrap();
        store.keep_setting(OFFSET, "9").await.unwrap();
        let inbox = Inbox::open(store).await.unwrap();
        assert_eq!(inbox.next("1"), 9);
        assert_eq!(inbox.entries(), [entry(8, "", "hello", false)]);
        assert_eq!(inbox.entries()[0].key(), "telegram:8");
    }

    /// A damaged inbox is not replaced by an empty one, so that it can still be repaired.
    #[tokio::test]
    async fn a_damaged_inbox_is_an_error_that_names_it() {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        store.keep_setting(INBOX, "{\"next\": ").await.unwrap();
        let error = Inbox::open(store).await.err().unwrap();
        assert_eq!(
            error.to_string(),
            "the setting `telegram.inbox` cannot be read: EOF while parsing a value at line 1 \
             column 9"
        );
    }
}
