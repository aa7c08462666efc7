//! Messages that are not answered yet, in the store: what was heard survives a crash.

use std::sync::{Arc, Mutex, PoisonError};

use deft_store::{Error, Store};
use serde::{Deserialize, Serialize};

/// Where they are kept.
const INBOX: &str = "telegram.inbox";

/// A message that is to be answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The number of the update.
    pub id: i64,
    pub chat: String,
    pub text: String,
    /// The conversation begins anew with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
}

impl Entry {
    /// Names what is said, however often it is said.
    pub(super) fn key(&self) -> String {
        format!("telegram:{}", self.id)
    }
}

/// The messages of all chats, the oldest first.
#[derive(Clone)]
pub(super) struct Inbox {
    store: Arc<dyn Store>,
    entries: Arc<Mutex<Vec<Entry>>>,
    /// One change is written at a time, so that an older one never counts.
    writing: Arc<tokio::sync::Mutex<()>>,
}

impl Inbox {
    pub(super) async fn open(store: Arc<dyn Store>) -> Result<Self, Error> {
        let kept = store.setting(INBOX).await?;
        let entries = kept.and_then(|text| serde_json::from_str(&text).ok());
        Ok(Self {
            store,
            entries: Arc::new(Mutex::new(entries.unwrap_or_default())),
            writing: Arc::default(),
        })
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    /// Keeps a message; false if it is there already.
    pub(super) async fn add(&self, entry: Entry) -> bool {
        {
            let mut entries = self.lock();
            if entries.iter().any(|known| known.id == entry.id) {
                return false;
            }
            entries.push(entry);
        }
        self.write().await;
        true
    }

    /// Forgets a message that was answered.
    pub(super) async fn remove(&self, id: i64) {
        self.lock().retain(|entry| entry.id != id);
        self.write().await;
    }

    async fn write(&self) {
        let _one = self.writing.lock().await;
        let text = serde_json::to_string(&*self.lock()).unwrap_or_default();
        if let Err(error) = self.store.keep_setting(INBOX, &text).await {
            tracing::error!(%error, "messages to the bot would not survive a crash");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
