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

/// Lock held by the request that currently uses a key.
type Turn = AsyncMutex<()>;

/// Replies of the last day.
pub(crate) struct Replies {
    files: ReplyFiles,
    capacity: Capacity,
    state: Mutex<ReplyTable>,
}

#[derive(Default)]
struct ReplyTable {
    turns: HashMap<String, Weak<Turn>>,
    /// Keys that have files, oldest first.
    order: VecDeque<(SystemTime, String)>,
    /// Those of them whose files may have a whole reply.
    whole: VecDeque<String>,
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
        self.finish(key, body, to_stored(&result, retention)).await;
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
        let mut state = self.state.lock();
        while let Some((at, key)) = state.order.front() {
            if !is_expired(*at) {
                break;
            }
            self.files.remove(key);
            state.order.pop_front();
        }
        state.turns.retain(|_, turn| turn.strong_count() > 0);
        let most = self.capacity.keys;
        if state.order.len() < most {
            return Ok(());
        }
        let message = format!("more than {most} requests had an `Idempotency-Key` within a day");
        let hint =
            "send requests that may be repeated without it; those that start runs are not counted";
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
    async fn a_request_with_a_key_runs_once_despite_a_restart() {
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
    async fn a_request_with_an_unknown_effect_is_not_repeated() {
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
    async fn a_reply_with_a_secret_is_never_stored() {
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
        let first = replies.once("large", b"", Retention::Day, large).await;
        assert_eq!(first.unwrap().status, StatusCode::OK);
        for key in ["a", "b", "c"] {
            let work = count.work();
            replies.once(key, b"", Retention::Day, work).await.unwrap();
        }
        for replies in [replies, open()] {
            for (key, code) in [
                ("large", Some("sent_once")),
                ("a", Some("sent_once")),
                ("b", None),
            ] {
                let work = count.work();
                let again = replies.once(key, b"", Retention::Day, work).await.unwrap();
                let text = String::from_utf8(again.body.to_vec()).unwrap();
                assert_eq!(again.is_problem, code.is_some(), "{key}: {text}");
                assert!(text.contains(code.unwrap_or("1")), "{key}: {text}");
            }
            let full = replies.once("d", b"", Retention::Day, count.work()).await;
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
