//! Replies to requests with an `Idempotency-Key`: the same request gets the same reply for a day, and is carried out
//! once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deft_wire::{Done, Failure};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex as AsyncMutex;

use crate::answer::Answer;

/// How long a reply is kept.
const KEPT: Duration = Duration::from_hours(24);

/// The most replies that are kept.
const MOST: usize = 2_000;

/// The largest reply that is kept; a larger one is made again.
const LARGEST: usize = 256 * 1024;

type Slot = Arc<AsyncMutex<Option<KeptReply>>>;

/// The replies of the last day.
#[derive(Default)]
pub(crate) struct Replies {
    known: Mutex<ReplyTable>,
}

#[derive(Default)]
struct ReplyTable {
    slots: HashMap<String, Slot>,
    /// The keys, oldest first.
    order: VecDeque<(Instant, String)>,
}

struct KeptReply {
    body: [u8; 32],
    result: Done<Answer>,
}

impl Replies {
    /// The kept reply, or that of `work`. A second request waits for the first one.
    pub(crate) async fn once(
        &self,
        key: &str,
        body: &[u8],
        work: BoxFuture<'static, Done<Answer>>,
    ) -> Done<Answer> {
        let slot = self.slot(key, Instant::now());
        let mut kept = slot.lock().await;
        let digest: [u8; 32] = Sha256::digest(body).into();
        if let Some(kept) = &*kept {
            if kept.body != digest {
                let message = "this `Idempotency-Key` belongs to a request with another body";
                return Err(Failure::input("key_taken", message).hint("use a new key"));
            }
            return kept.result.clone();
        }
        let result = work.await;
        // A fault of deft itself may be over when the client tries again.
        let is_final = match &result {
            Ok(answer) => answer.body.len() <= LARGEST,
            Err(failure) => failure.status().number() < 500,
        };
        if is_final {
            *kept = Some(KeptReply {
                body: digest,
                result: result.clone(),
            });
        }
        result
    }

    fn slot(&self, key: &str, now: Instant) -> Slot {
        let mut known = self.known.lock();
        while let Some((since, oldest)) = known.order.front() {
            let is_old = now.saturating_duration_since(*since) > KEPT;
            if !is_old && known.order.len() < MOST {
                break;
            }
            let oldest = oldest.clone();
            known.order.pop_front();
            known.slots.remove(&oldest);
        }
        if let Some(slot) = known.slots.get(key) {
            return Arc::clone(slot);
        }
        let slot = Slot::default();
        known.slots.insert(key.to_owned(), Arc::clone(&slot));
        known.order.push_back((now, key.to_owned()));
        slot
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn a_request_with_a_key_is_carried_out_once() {
        let replies = Replies::default();
        let count = Arc::new(AtomicU32::new(0));
        let ask = |key: &'static str, body: &'static [u8]| {
            let count = Arc::clone(&count);
            let work = Box::pin(async move {
                let count = count.fetch_add(1, Ordering::SeqCst);
                Answer::json(StatusCode::OK, &count)
            });
            replies.once(key, body, work)
        };
        let text = |answer: Done<Answer>| answer.map(|answer| answer.body);
        let first = text(ask("a", b"{}").await).unwrap();
        assert_eq!(text(ask("a", b"{}").await).unwrap(), first);
        assert_eq!(text(ask("a", b"{1}").await).unwrap_err().code, "key_taken");
        text(ask("b", b"{}").await).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn the_number_of_replies_is_bounded() {
        let replies = Replies::default();
        for number in 0..MOST + 100 {
            replies.slot(&number.to_string(), Instant::now());
        }
        assert!(replies.known.lock().slots.len() <= MOST);
    }
}
