//! Stored replies for requests with an `Idempotency-Key`: such a request is carried out once, and repeating
//! it returns the same reply for a day, also after a restart. Files hold the replies; memory only serialises
//! concurrent requests with the same key.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use axum::http::StatusCode;
use deft_service::kept_replies::{KeptReply, LARGEST, ReplyFiles, StoredReply, is_over};
use deft_wire::{Done, Failure};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex as AsyncMutex;

use crate::answer::Answer;

/// How long a reply is kept for requests that repeat its `Idempotency-Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retention {
    /// Not at all. Starting a run uses the key of the run, which never expires.
    None,
    /// For a day, in a file.
    Day,
    /// The request is carried out once, but its reply holds a secret and is never written to a file.
    Secret,
}

/// Maximum number of stored replies.
const MOST: usize = 2_000;

/// Lock held by the request that currently uses a key.
type Turn = AsyncMutex<()>;

/// Replies of the last day.
pub(crate) struct Replies {
    files: ReplyFiles,
    state: Mutex<ReplyTable>,
}

#[derive(Default)]
struct ReplyTable {
    turns: HashMap<String, Weak<Turn>>,
    /// Keys that have files, oldest first.
    order: VecDeque<(SystemTime, String)>,
}

impl Replies {
    /// Opens the replies of a home.
    pub(crate) fn new(files: ReplyFiles) -> Arc<Self> {
        let known = files.list().into_iter();
        let order = known.map(|(key, at)| (at, key)).collect();
        Arc::new(Self {
            files,
            state: Mutex::new(ReplyTable {
                order,
                ..ReplyTable::default()
            }),
        })
    }

    /// Returns the stored reply for `key`, or carries out `work` and stores its reply. A concurrent request
    /// with the same key waits.
    pub(crate) async fn once(
        self: &Arc<Self>,
        key: &str,
        body: &[u8],
        retention: Retention,
        work: BoxFuture<'static, Done<Answer>>,
    ) -> Done<Answer> {
        let key = hex(key.as_bytes());
        let turn = self.turn(&key);
        let _held = turn.lock().await;
        let body = hex(body);
        if let Some(kept) = self.begin(&key, &body).await? {
            return repeat(kept, &body);
        }
        let result = work.await;
        self.finish(key, body, stored(&result, retention)).await;
        result
    }

    /// Returns the entry of the key. If it has none, stores an entry without a reply and returns `None`.
    async fn begin(self: &Arc<Self>, key: &str, body: &str) -> Done<Option<KeptReply>> {
        let (key, body) = (key.to_owned(), body.to_owned());
        self.block(move |replies| {
            if let Some(kept) = replies.files.read(&key)? {
                return Ok(Some(kept));
            }
            replies.make_room();
            let kept = KeptReply { body, reply: None };
            replies.files.write(&key, &kept)?;
            let mut state = replies.state.lock();
            state.order.push_back((Timestamp::now().into(), key));
            Ok(None)
        })
        .await
    }

    /// Stores a reply, unless a retry may get a different one.
    async fn finish(self: &Arc<Self>, key: String, body: String, reply: StoredReply) {
        let is_final = reply.status < 500 && reply.text.len() <= LARGEST;
        let kept = self.block(move |replies| {
            let reply = Some(reply);
            if is_final {
                return replies.files.write(&key, &KeptReply { body, reply });
            }
            replies.files.remove(&key);
            Ok(())
        });
        if let Err(failure) = kept.await {
            tracing::warn!("cannot store a reply: {}", failure.message);
        }
    }

    /// Removes expired replies, and the oldest ones above the limit.
    fn make_room(&self) {
        let mut state = self.state.lock();
        while let Some((at, key)) = state.order.front() {
            if !is_over(*at) && state.order.len() < MOST {
                break;
            }
            self.files.remove(key);
            state.order.pop_front();
        }
        state.turns.retain(|_, turn| turn.strong_count() > 0);
    }

    fn turn(&self, key: &str) -> Arc<Turn> {
        let mut state = self.state.lock();
        let known = state.turns.get(key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let turn = Arc::new(Turn::default());
            state.turns.insert(key.to_owned(), Arc::downgrade(&turn));
            turn
        })
    }

    async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Done<T> + Send + 'static,
    ) -> Done<T> {
        let replies = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&replies)).await;
        done.unwrap_or_else(|problem| {
            let message = format!("the request failed: {problem}");
            Err(Failure::internal("engine", message))
        })
    }
}

/// The reply to keep: the one that was sent, or the reason why it is not sent again.
fn stored(result: &Done<Answer>, retention: Retention) -> StoredReply {
    let problem = |failure: &Failure| StoredReply {
        status: failure.status().number(),
        text: serde_json::to_string(&failure.problem(None)).unwrap_or_default(),
        is_problem: true,
    };
    match result {
        Ok(_) if retention == Retention::Secret => {
            let message =
                "this request was carried out; its reply contains a secret and is not stored";
            let hint = "if the reply was lost, revoke what it created and send it with a new key";
            problem(&Failure::input("sent_once", message).hint(hint))
        }
        Ok(answer) => StoredReply {
            status: answer.status.as_u16(),
            text: String::from_utf8_lossy(&answer.body).into_owned(),
            is_problem: false,
        },
        Err(failure) => problem(failure),
    }
}

/// Returns the response to a repeated request.
fn repeat(kept: KeptReply, body: &str) -> Done<Answer> {
    if kept.body != body {
        let message = "this `Idempotency-Key` belongs to a request with another body";
        return Err(Failure::input("key_taken", message).hint("use a new key"));
    }
    let Some(reply) = kept.reply else {
        let message = "deft stopped while processing this request; it may have taken effect";
        let hint = "check whether it took effect; if not, send it again with a new key";
        return Err(Failure::input("key_unfinished", message).hint(hint));
    };
    Ok(Answer {
        status: StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK),
        body: reply.text.into(),
        is_problem: reply.is_problem,
        tag: None,
    })
}

fn hex(bytes: &[u8]) -> String {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Counts how often a request is carried out.
    struct Counter(AtomicU32);

    impl Counter {
        fn work(self: &Arc<Self>) -> BoxFuture<'static, Done<Answer>> {
            let counter = Arc::clone(self);
            Box::pin(async move {
                let count = counter.0.fetch_add(1, Ordering::SeqCst);
                Answer::json(StatusCode::OK, &count)
            })
        }
    }

    #[tokio::test]
    async fn a_request_with_a_key_is_carried_out_once_also_across_a_restart() {
        let home = tempfile::tempdir().unwrap();
        let open = || Replies::new(ReplyFiles::open(home.path()));
        let count = Arc::new(Counter(AtomicU32::new(0)));
        let replies = open();
        let body = |answer: Done<Answer>| answer.map(|answer| answer.body);
        let first = body(replies.once("a", b"{}", Retention::Day, count.work()).await).unwrap();
        for replies in [replies, open()] {
            let again = replies.once("a", b"{}", Retention::Day, count.work()).await;
            assert_eq!(body(again).unwrap(), first);
            let other = replies
                .once("a", b"{1}", Retention::Day, count.work())
                .await;
            assert_eq!(other.unwrap_err().code, "key_taken");
        }
        open()
            .once("b", b"{}", Retention::Day, count.work())
            .await
            .unwrap();
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_request_whose_effect_is_not_known_is_not_carried_out_again() {
        let home = tempfile::tempdir().unwrap();
        let replies = Replies::new(ReplyFiles::open(home.path()));
        let never: BoxFuture<'static, Done<Answer>> = Box::pin(std::future::pending());
        let cut_off = replies.once("a", b"{}", Retention::Day, never);
        let time = std::time::Duration::from_millis(200);
        tokio::time::timeout(time, cut_off).await.unwrap_err();
        let count = Arc::new(Counter(AtomicU32::new(0)));
        let replies = Replies::new(ReplyFiles::open(home.path()));
        let again = replies.once("a", b"{}", Retention::Day, count.work()).await;
        assert_eq!(again.unwrap_err().code, "key_unfinished");
        assert_eq!(count.0.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn a_reply_with_a_secret_is_never_written() {
        let home = tempfile::tempdir().unwrap();
        let files = ReplyFiles::open(home.path());
        let replies = Replies::new(files.clone());
        let count = Arc::new(Counter(AtomicU32::new(7)));
        let once = || replies.once("a", b"{}", Retention::Secret, count.work());
        assert_eq!(once().await.unwrap().body, "7");
        let again = once().await.unwrap();
        assert_eq!((again.status.as_u16(), again.is_problem), (409, true));
        let (key, _) = files.list().remove(0);
        let kept = files.read(&key).unwrap().unwrap().reply.unwrap();
        assert!(kept.text.contains("sent_once"), "{}", kept.text);
        assert_eq!(count.0.load(Ordering::SeqCst), 8);
    }

    #[tokio::test]
    async fn a_fault_of_deft_is_not_kept() {
        let home = tempfile::tempdir().unwrap();
        let replies = Replies::new(ReplyFiles::open(home.path()));
        for _ in 0..2 {
            let fault = Box::pin(async { Err(Failure::internal("engine", "broken")) });
            let failure = replies
                .once("a", b"", Retention::Day, fault)
                .await
                .unwrap_err();
            assert_eq!(failure.code, "engine");
        }
        let wrong = Box::pin(async { Err(Failure::input("invalid_input", "wrong")) });
        replies
            .once("a", b"", Retention::Day, wrong)
            .await
            .unwrap_err();
        let count = Arc::new(Counter(AtomicU32::new(0)));
        let kept = replies
            .once("a", b"", Retention::Day, count.work())
            .await
            .unwrap();
        assert_eq!((kept.status.as_u16(), kept.is_problem), (400, true));
    }
}
