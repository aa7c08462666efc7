//! Stored replies for requests with an `Idempotency-Key`: such a request is carried out once, and repeating
//! it returns the same reply for a day, also after a restart. Files hold the replies; memory only serialises
//! concurrent requests with the same key.
//!
//! Space is limited, the promise is not: of a reply that is too large, and of the oldest replies, only the fact
//! remains that the request was carried out. When there are too many keys, a request with a new one is refused.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use axum::http::StatusCode;
use deft_service::kept_replies::{KeptReply, MAX_REPLY_BYTES, ReplyFiles, StoredReply, is_expired};
use deft_wire::{Done, Failure};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

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

/// Maximum numbers of the last day.
#[derive(Clone, Copy)]
struct Capacity {
    /// Keys, each with a small file.
    keys: usize,
    /// Whole replies.
    replies: usize,
}

const CAPACITY: Capacity = Capacity {
    keys: 10_000,
    replies: 2_000,
};

/// The right to use a key, until dropped.
pub(crate) struct Turn {
    key: String,
    _held: OwnedMutexGuard<()>,
}

/// Replies of the last day.
pub(crate) struct Replies {
    files: ReplyFiles,
    capacity: Capacity,
    state: Mutex<ReplyTable>,
}

#[derive(Default)]
struct ReplyTable {
    turns: HashMap<String, Weak<AsyncMutex<()>>>,
    /// Keys that have files, oldest first.
    order: VecDeque<(SystemTime, String)>,
    /// Those of them whose files may have a whole reply.
    whole: VecDeque<String>,
}

impl ReplyTable {
    /// Removes the keys that are older than a day, and returns them.
    fn remove_expired(&mut self) -> Vec<String> {
        let mut expired = Vec::new();
        while let Some((_, key)) = self.order.pop_front_if(|(at, _)| is_expired(*at)) {
            self.whole.retain(|whole| *whole != key);
            expired.push(key);
        }
        expired
    }
}

impl Replies {
    /// Opens the replies of a home.
    pub(crate) fn new(files: ReplyFiles) -> Arc<Self> {
        Self::with_capacity(files, CAPACITY)
    }

    fn with_capacity(files: ReplyFiles, capacity: Capacity) -> Arc<Self> {
        let mut state = ReplyTable::default();
        for (key, at) in files.list() {
            state.whole.push_back(key.clone());
            state.order.push_back((at, key));
        }
        Arc::new(Self {
            files,
            capacity,
            state: Mutex::new(state),
        })
    }

    /// Waits until no other request with this key is in progress.
    pub(crate) async fn wait_for_turn(&self, key: String) -> Turn {
        let lock = self.lock_of(&key);
        Turn {
            key,
            _held: lock.lock_owned().await,
        }
    }

    /// Returns the stored reply for the key of `turn`, or carries out `work` and stores its reply. `body` is the
    /// digest of the request, which must be the same each time.
    pub(crate) async fn once(
        self: &Arc<Self>,
        turn: Turn,
        body: String,
        retention: Retention,
        work: BoxFuture<'static, Done<Answer>>,
    ) -> Done<Answer> {
        if let Some(kept) = self.begin(&turn.key, &body).await? {
            return repeat(kept, &body);
        }
        let result = work.await;
        let reply = to_stored(&result, retention);
        self.finish(turn.key.clone(), body, reply).await;
        result
    }

    /// Returns the entry of the key. If it has none, stores an entry without a reply and returns `None`.
    async fn begin(self: &Arc<Self>, key: &str, body: &str) -> Done<Option<KeptReply>> {
        let (key, body) = (key.to_owned(), body.to_owned());
        self.block(move |replies| {
            if let Some(kept) = replies.files.read(&key)? {
                return Ok(Some(kept));
            }
            replies.make_room()?;
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
        let is_final = reply.status < 500;
        let kept = self.block(move |replies| {
            let reply = Some(reply);
            if is_final {
                replies.files.write(&key, &KeptReply { body, reply })?;
                return replies.drop_oldest(key);
            }
            replies.forget(&key);
            Ok(())
        });
        if let Err(failure) = kept.await {
            tracing::warn!("cannot store a reply: {}", failure.message);
        }
    }

    /// Removes expired replies. Fails if there are too many others.
    fn make_room(&self) -> Done<()> {
        let most = self.capacity.keys;
        let (expired, has_room) = {
            let mut state = self.state.lock();
            let expired = state.remove_expired();
            state.turns.retain(|_, turn| turn.strong_count() > 0);
            (expired, state.order.len() < most)
        };
        for key in expired {
            self.files.remove(&key);
        }
        if has_room {
            return Ok(());
        }
        let message = format!("more than {most} requests had an `Idempotency-Key` within a day");
        let hint = "send requests that are safe to repeat without this header; requests that start runs are not counted";
        Err(Failure::input("too_many_requests", message).hint(hint))
    }

    /// Counts a stored reply. If there are too many, only the fact remains of the oldest that it was sent.
    fn drop_oldest(&self, key: String) -> Done<()> {
        let oldest = {
            let mut state = self.state.lock();
            state.whole.push_back(key);
            if state.whole.len() <= self.capacity.replies {
                return Ok(());
            }
            state.whole.pop_front()
        };
        let Some(oldest) = oldest else { return Ok(()) };
        let Some(kept) = self.files.read(&oldest)? else {
            return Ok(());
        };
        let reply = kept.reply.map(|_| sent_once("is no longer stored"));
        self.files.write(&oldest, &KeptReply { reply, ..kept })
    }

    /// Removes the record of a request that may be carried out again.
    fn forget(&self, key: &str) {
        self.files.remove(key);
        self.state.lock().order.retain(|(_, known)| known != key);
    }

    fn lock_of(&self, key: &str) -> Arc<AsyncMutex<()>> {
        let mut state = self.state.lock();
        let known = state.turns.get(key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let lock = Arc::new(AsyncMutex::default());
            state.turns.insert(key.to_owned(), Arc::downgrade(&lock));
            lock
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
fn to_stored(result: &Done<Answer>, retention: Retention) -> StoredReply {
    match result {
        Ok(_) if retention == Retention::Secret => sent_once("contains a secret and is not stored"),
        Ok(answer) if answer.body.len() > MAX_REPLY_BYTES => sent_once("is too large to be stored"),
        Ok(answer) => StoredReply {
            status: answer.status.as_u16(),
            text: String::from_utf8_lossy(&answer.body).into_owned(),
            is_problem: false,
        },
        Err(failure) => problem(failure),
    }
}

/// What remains of a reply that is not sent again.
fn sent_once(reason: &str) -> StoredReply {
    let message = format!("this request was carried out; its reply {reason}");
    let hint = "look up its result; if the reply had a token, revoke it and send the request with a new key";
    problem(&Failure::input("sent_once", message).hint(hint))
}

fn problem(failure: &Failure) -> StoredReply {
    StoredReply {
        status: failure.status().number(),
        text: serde_json::to_string(&failure.problem(None)).unwrap_or_default(),
        is_problem: true,
    }
}

/// Returns the response to a repeated request.
fn repeat(kept: KeptReply, body: &str) -> Done<Answer> {
    if kept.body != body {
        let message = "this `Idempotency-Key` belongs to a request with another body or query";
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use deft_service::hex::hex_digest;

    use super::*;

    /// Counts how often a request is carried out.
    struct Counter(AtomicU32);

    async fn once(
        replies: &Arc<Replies>,
        key: &str,
        body: &[u8],
        retention: Retention,
        work: BoxFuture<'static, Done<Answer>>,
    ) -> Done<Answer> {
        let turn = replies.wait_for_turn(hex_digest(key.as_bytes())).await;
        replies.once(turn, hex_digest(body), retention, work).await
    }

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
    async fn a_request_with_a_key_runs_once_despite_a_restart() {
        let home = tempfile::tempdir().unwrap();
        let open = || Replies::new(ReplyFiles::open(home.path()));
        let count = Arc::new(Counter(AtomicU32::new(0)));
        let replies = open();
        let body = |answer: Done<Answer>| answer.map(|answer| answer.body);
        let first = body(once(&replies, "a", b"{}", Retention::Day, count.work()).await).unwrap();
        for replies in [replies, open()] {
            let again = once(&replies, "a", b"{}", Retention::Day, count.work()).await;
            assert_eq!(body(again).unwrap(), first);
            let other = once(&replies, "a", b"{1}", Retention::Day, count.work()).await;
            assert_eq!(other.unwrap_err().code, "key_taken");
        }
        once(&open(), "b", b"{}", Retention::Day, count.work())
            .await
            .unwrap();
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_request_with_an_unknown_effect_is_not_repeated() {
        let home = tempfile::tempdir().unwrap();
        let replies = Replies::new(ReplyFiles::open(home.path()));
        let never: BoxFuture<'static, Done<Answer>> = Box::pin(std::future::pending());
        let cut_off = once(&replies, "a", b"{}", Retention::Day, never);
        let time = std::time::Duration::from_millis(200);
        tokio::time::timeout(time, cut_off).await.unwrap_err();
        let count = Arc::new(Counter(AtomicU32::new(0)));
        let replies = Replies::new(ReplyFiles::open(home.path()));
        let again = once(&replies, "a", b"{}", Retention::Day, count.work()).await;
        assert_eq!(again.unwrap_err().code, "key_unfinished");
        assert_eq!(count.0.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn a_client_that_leaves_gives_up_its_turn() {
        let home = tempfile::tempdir().unwrap();
        let replies = Replies::new(ReplyFiles::open(home.path()));
        let turn = replies.wait_for_turn("a".to_owned()).await;
        let wait = replies.wait_for_turn("a".to_owned());
        let left = tokio::time::timeout(std::time::Duration::ZERO, wait).await;
        assert!(left.is_err());
        drop(turn);
        drop(replies.wait_for_turn("a".to_owned()).await);
    }

    #[tokio::test]
    async fn a_reply_with_a_secret_is_never_stored() {
        let home = tempfile::tempdir().unwrap();
        let files = ReplyFiles::open(home.path());
        let replies = Replies::new(files.clone());
        let count = Arc::new(Counter(AtomicU32::new(7)));
        let again = || once(&replies, "a", b"{}", Retention::Secret, count.work());
        assert_eq!(again().await.unwrap().body, "7");
        let again = again().await.unwrap();
        assert_eq!((again.status.as_u16(), again.is_problem), (409, true));
        let (key, _) = files.list().remove(0);
        let kept = files.read(&key).unwrap().unwrap().reply.unwrap();
        assert!(kept.text.contains("sent_once"), "{}", kept.text);
        assert_eq!(count.0.load(Ordering::SeqCst), 8);
    }

    #[tokio::test]
    async fn a_request_runs_once_if_its_reply_is_not_stored() {
        let home = tempfile::tempdir().unwrap();
        let capacity = Capacity {
            keys: 4,
            replies: 2,
        };
        let open = || Replies::with_capacity(ReplyFiles::open(home.path()), capacity);
        let count = Arc::new(Counter(AtomicU32::new(0)));
        let large: BoxFuture<'static, Done<Answer>> =
            Box::pin(async { Answer::json(StatusCode::OK, &"x".repeat(MAX_REPLY_BYTES)) });
        let replies = open();
        let first = once(&replies, "large", b"", Retention::Day, large).await;
        assert_eq!(first.unwrap().status, StatusCode::OK);
        for key in ["a", "b", "c"] {
            let work = count.work();
            once(&replies, key, b"", Retention::Day, work)
                .await
                .unwrap();
        }
        for replies in [replies, open()] {
            for (key, code) in [
                ("large", Some("sent_once")),
                ("a", Some("sent_once")),
                ("b", None),
            ] {
                let work = count.work();
                let again = once(&replies, key, b"", Retention::Day, work)
                    .await
                    .unwrap();
                let text = String::from_utf8(again.body.to_vec()).unwrap();
                assert_eq!(again.is_problem, code.is_some(), "{key}: {text}");
                assert!(text.contains(code.unwrap_or("1")), "{key}: {text}");
            }
            let full = once(&replies, "d", b"", Retention::Day, count.work()).await;
            assert_eq!(full.unwrap_err().code, "too_many_requests");
        }
        assert_eq!(count.0.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn an_internal_error_is_not_stored() {
        let home = tempfile::tempdir().unwrap();
        let replies = Replies::new(ReplyFiles::open(home.path()));
        for _ in 0..2 {
            let fault = Box::pin(async { Err(Failure::internal("engine", "broken")) });
            let failure = once(&replies, "a", b"", Retention::Day, fault)
                .await
                .unwrap_err();
            assert_eq!(failure.code, "engine");
        }
        let wrong = Box::pin(async { Err(Failure::input("invalid_input", "wrong")) });
        once(&replies, "a", b"", Retention::Day, wrong)
            .await
            .unwrap_err();
        let count = Arc::new(Counter(AtomicU32::new(0)));
        let kept = once(&replies, "a", b"", Retention::Day, count.work())
            .await
            .unwrap();
        assert_eq!((kept.status.as_u16(), kept.is_problem), (400, true));
    }
}
