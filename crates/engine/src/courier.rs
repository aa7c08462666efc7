//! Carries messages from the outbox to people: at least once, with receipts, again after failures,
//! and given up at some point with the reason kept.
//!
//! Where messages go is the business of whoever implements [`Channel`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deft_model::{Digest, Failure, FailureClass, RunId};
use deft_store::{NewNotice, NoticeEnd, NoticeRow, Store};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::engine::Inner;
use crate::notice::Notice;
use crate::{Engine, Error};

/// What a channel answers: a receipt, or why it could not and when to try again.
pub type Delivered = Result<String, Undelivered>;

/// A way to people.
pub trait Channel: Send + Sync + 'static {
    /// Hands a message over.
    fn deliver<'a>(
        &'a self,
        parcel: &'a Parcel<'a>,
    ) -> Pin<Box<dyn Future<Output = Delivered> + Send + 'a>>;
}

/// A message on its way.
pub struct Parcel<'a> {
    /// The message.
    pub notice: &'a Notice,
    /// The same for every try, so that a receiver may notice.
    pub key: &'a str,
    row: &'a NoticeRow,
    store: &'a dyn Store,
}

impl Parcel<'_> {
    /// Whether nobody tried before; a try that could not be made at all counts for none.
    pub fn is_first_try(&self) -> bool {
        self.row.attempts <= 1
    }

    /// How many parts of the message arrived at earlier tries, where the receiver takes several.
    pub fn arrived(&self) -> usize {
        usize::try_from(self.row.parts).unwrap_or(usize::MAX)
    }

    /// Remembers that so many parts have arrived in all. It is stored at once, because this try may
    /// be cut off before it ends.
    pub async fn keep_arrived(&self, parts: usize) {
        let parts = u32::try_from(parts).unwrap_or(u32::MAX);
        // A part that is sent twice is better than a message that ends in the middle.
        if let Err(error) = self.store.keep_parts(self.row.id, parts).await {
            tracing::warn!(notice = self.row.id, %error, "how much of a message arrived is not kept");
        }
    }
}

/// Why a message did not arrive. A failure that is `blocked` says that nobody could try, because
/// what carries the message is not there: it counts for no try, and is never the last word.
#[derive(Clone, Debug, PartialEq)]
pub struct Undelivered {
    /// What went wrong.
    pub failure: Failure,
    /// How long the receiver wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// Messages are carried so many at a time.
const TOGETHER: u32 = 16;

/// How long a message is nobody else's while somebody tries to send it.
const TRY: SignedDuration = SignedDuration::from_secs(120);

/// How long a try may take: it is over before the message may be somebody else's, and a channel
/// that hangs does not hold up other messages for good.
const PATIENCE: Duration = Duration::from_mins(1);

/// Waits between tries; after the last one a message is given up.
const LADDER: [SignedDuration; 8] = [
    SignedDuration::from_secs(5),
    SignedDuration::from_secs(30),
    SignedDuration::from_mins(2),
    SignedDuration::from_mins(10),
    SignedDuration::from_mins(30),
    SignedDuration::from_hours(1),
    SignedDuration::from_hours(3),
    SignedDuration::from_hours(6),
];

/// How soon and how late somebody looks again whether what carries messages is back.
const LOOK_AGAIN: [SignedDuration; 2] =
    [SignedDuration::from_secs(30), SignedDuration::from_mins(10)];

impl Engine {
    /// Tries to send every message that is due. Says how many arrived.
    pub async fn deliver(&self, channel: &Arc<dyn Channel>) -> Result<usize, Error> {
        let mut arrived = 0;
        loop {
            let now = self.inner.now();
            let until = now.saturating_add(TRY).unwrap_or(Timestamp::MAX);
            let due = self.store().take_notices(now, until, TOGETHER).await?;
            if due.is_empty() {
                return Ok(arrived);
            }
            let tries = due.iter().map(|row| self.try_to_send(row, channel));
            for sent in join_all(tries).await {
                arrived += usize::from(sent?);
            }
        }
    }

    async fn try_to_send(
        &self,
        row: &NoticeRow,
        channel: &Arc<dyn Channel>,
    ) -> Result<bool, Error> {
        let key = key_of(row);
        let delivered = match serde_json::from_str::<Notice>(&row.body) {
            Ok(notice) => {
                let parcel = Parcel {
                    notice: &notice,
                    key: &key,
                    row,
                    store: &**self.store(),
                };
                let sent = tokio::time::timeout(PATIENCE, channel.deliver(&parcel)).await;
                sent.unwrap_or_else(|_| Err(no_answer()))
            }
            Err(error) => Err(Undelivered {
                failure: Failure::new(FailureClass::Invalid, error.to_string()),
                retry_after: None,
            }),
        };
        let now = self.inner.now();
        let (end, sent) = match delivered {
            Ok(receipt) => (NoticeEnd::Sent { receipt }, true),
            Err(undelivered) => (after_failure(row, &undelivered, now), false),
        };
        if let NoticeEnd::Again { at, error } | NoticeEnd::Later { at, error } = &end {
            tracing::warn!(notice = row.id, %error, next_try = %at, "a message did not arrive");
        }
        if let NoticeEnd::Dead { error } = &end {
            tracing::error!(notice = row.id, skill = row.skill, %error, "a message was given up");
        }
        self.store().end_notice(row.id, end, now).await?;
        Ok(sent)
    }
}

/// The key of a message: the same for every try, and another one in every home. Its number alone
/// would be used again by a new database, and a receiver would take its first message for an old one.
fn key_of(row: &NoticeRow) -> String {
    let run = row.run.as_ref().map_or("", RunId::as_str);
    let at = row.at.as_nanosecond();
    let whole = format!("{}\n{run}\n{}\n{at}\n{}", row.id, row.key, row.body);
    let digest = Digest::from_bytes(Sha256::digest(whole).into()).to_string();
    format!("notice-{}", digest.get(..32).unwrap_or(&digest))
}

fn no_answer() -> Undelivered {
    let message = format!("no answer within {} s", PATIENCE.as_secs());
    Undelivered {
        failure: Failure::new(FailureClass::Timeout, message),
        retry_after: None,
    }
}

/// What follows a try that failed. A wrong address or token does not get better by waiting.
fn after_failure(row: &NoticeRow, undelivered: &Undelivered, now: Timestamp) -> NoticeEnd {
    let failure = &undelivered.failure;
    let error = format!("{}: {}", failure.class, failure.message);
    if failure.blocked {
        // The older a message, the longer the wait, so that waits grow without being counted.
        let [least, most] = LOOK_AGAIN;
        let wait = now.duration_since(row.at).clamp(least, most);
        let at = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
        return NoticeEnd::Later { at, error };
    }
    let hopeless = matches!(
        failure.class,
        FailureClass::Auth | FailureClass::Invalid | FailureClass::NotFound
    );
    let step = usize::try_from(row.attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(wait) = LADDER.get(step).filter(|_| !hopeless) else {
        return NoticeEnd::Dead { error };
    };
    let asked = undelivered.retry_after;
    let asked = asked.and_then(|wait| SignedDuration::try_from(wait).ok());
    let wait = asked.map_or(*wait, |asked| asked.max(SignedDuration::from_secs(1)));
    NoticeEnd::Again {
        at: now.saturating_add(wait).unwrap_or(Timestamp::MAX),
        error,
    }
}

impl Inner {
    /// Leaves a message that belongs to no run.
    pub(crate) async fn leave(&self, key: String, notice: &Notice) -> Result<bool, Error> {
        let new = NewNotice {
            key,
            skill: notice.skill.clone(),
            body: notice.body(),
            at: self.now(),
        };
        let added = self.parts.store.add_notice(new).await?;
        self.bells.messages.notify_waiters();
        Ok(added)
    }
}

impl Engine {
    /// Leaves a message for people; the same key is told once.
    pub async fn tell(&self, key: &str, notice: &Notice) -> Result<bool, Error> {
        self.inner.leave(key.to_owned(), notice).await
    }
}
