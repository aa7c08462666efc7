//! Messages reach people once, even if sending fails on the way.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_engine::{Channel, Delivery, DeliveryError, DeliveryResult, Notice, NoticeKind};
use deft_model::{Failure, FailureClass};
use deft_scheduler::Scheduler;
use deft_store::{NoticeFilter, NoticeRow, NoticeStatus};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::time_world::{Times, at, both, clock};

/// A channel that returns the given errors first, then succeeds. Keeps what arrived.
#[derive(Default)]
struct Double {
    answers: Mutex<VecDeque<DeliveryError>>,
    tries: Mutex<Vec<String>>,
    arrived: Mutex<Vec<(String, String)>>,
}

impl Channel for Double {
    fn deliver<'a>(
        &'a self,
        parcel: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(async move {
            self.tries.lock().unwrap().push(parcel.key.to_owned());
            // Lets other deliveries run in the meantime.
            tokio::task::yield_now().await;
            let answer = self.answers.lock().unwrap().pop_front();
            if let Some(undelivered) = answer {
                return Err(undelivered);
            }
            let mut arrived = self.arrived.lock().unwrap();
            arrived.push((parcel.key.to_owned(), parcel.notice.text.clone()));
            Ok(format!("receipt {}", arrived.len()))
        })
    }
}

fn undelivered(class: FailureClass, what: &str, after: Option<u64>) -> DeliveryError {
    DeliveryError {
        failure: Failure::new(class, what),
        retry_after: after.map(Duration::from_secs),
    }
}

fn notice(text: &str) -> Notice {
    Notice {
        kind: NoticeKind::Message,
        title: "T".to_owned(),
        text: text.to_owned(),
        skill: None,
        run: None,
        target: None,
        approval: None,
        always: false,
    }
}

async fn rows(t: &Times) -> Vec<NoticeRow> {
    let mut rows = t
        .world
        .store
        .notices(NoticeFilter::default())
        .await
        .unwrap();
    rows.reverse();
    rows
}

#[tokio::test]
async fn a_message_arrives_once_after_several_failures() {
    both(async |t: Times| {
        let double = Arc::new(Double::default());
        double.answers.lock().unwrap().extend([
            undelivered(FailureClass::Quota, "429 too many requests", Some(17)),
            undelivered(FailureClass::Other, "500 internal server error", None),
            undelivered(FailureClass::Timeout, "no answer", None),
        ]);
        let channel: Arc<dyn Channel> = Arc::clone(&double) as _;
        let engine = &t.world.engine;
        assert!(engine.outbox().post("k", &notice("hello")).await.unwrap());
        // A second message with the same key is not added.
        assert!(!engine.outbox().post("k", &notice("hello")).await.unwrap());
        let mut tried = Vec::new();
        while let Some(next) = t.world.store.next_notice().await.unwrap() {
            t.world.clock.set(next);
            let arrived = engine.outbox().deliver_due(&channel).await.unwrap();
            let error = rows(&t).await[0].error.clone();
            tried.push((clock(next), arrived, error.unwrap_or_default()));
        }
        let line = |time: &str, arrived, error: &str| (time.to_owned(), arrived, error.to_owned());
        assert_eq!(
            tried,
            [
                line("13:00", 0, "quota: 429 too many requests"),
                // The delay that the receiver asks for takes precedence over the default.
                line("13:00:17", 0, "other: 500 internal server error"),
                line("13:00:47", 0, "timeout: no answer"),
                line("13:02:47", 1, ""),
            ]
        );
        let row = rows(&t).await.remove(0);
        assert_eq!(row.status, NoticeStatus::Sent);
        assert_eq!(row.receipt.as_deref(), Some("receipt 1"));
        assert_eq!((row.attempts, row.ended_at), (4, Some(at("13:02:47"))));
        // Every try used the same key.
        let keys = double.tries.lock().unwrap().clone();
        assert_eq!(keys, vec![keys[0].clone(); 4]);
        assert_eq!(double.arrived.lock().unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_message_with_a_wrong_token_is_dead_and_kept() {
    both(async |t: Times| {
        let double = Arc::new(Double::default());
        let refused = undelivered(FailureClass::Auth, "401 wrong token", None);
        double.answers.lock().unwrap().push_back(refused);
        let channel: Arc<dyn Channel> = Arc::clone(&double) as _;
        t.world
            .engine
            .outbox()
            .post("k", &notice("hello"))
            .await
            .unwrap();
        assert_eq!(
            t.world.engine.outbox().deliver_due(&channel).await.unwrap(),
            0
        );
        let row = rows(&t).await.remove(0);
        assert_eq!(row.status, NoticeStatus::Dead);
        assert_eq!(row.error.as_deref(), Some("auth: 401 wrong token"));
        assert_eq!(t.world.store.next_notice().await.unwrap(), None);
        // A person fixes the token and retries.
        let again = t
            .world
            .store
            .retry_notices(None, at("14:00"))
            .await
            .unwrap();
        assert_eq!(again, 1);
        t.world.clock.set(at("14:00"));
        assert_eq!(
            t.world.engine.outbox().deliver_due(&channel).await.unwrap(),
            1
        );
        assert_eq!(rows(&t).await[0].status, NoticeStatus::Sent);
    })
    .await;
}

#[tokio::test]
async fn delivery_retries_are_limited() {
    both(async |t: Times| {
        let double = Arc::new(Double::default());
        let down = || undelivered(FailureClass::Network, "no route", None);
        double
            .answers
            .lock()
            .unwrap()
            .extend(std::iter::repeat_with(down).take(20));
        let channel: Arc<dyn Channel> = Arc::clone(&double) as _;
        t.world
            .engine
            .outbox()
            .post("k", &notice("hello"))
            .await
            .unwrap();
        while let Some(next) = t.world.store.next_notice().await.unwrap() {
            t.world.clock.set(next);
            t.world.engine.outbox().deliver_due(&channel).await.unwrap();
        }
        let row = rows(&t).await.remove(0);
        assert_eq!((row.status, row.attempts), (NoticeStatus::Dead, 9));
        let hours = row.ended_at.unwrap().duration_since(row.at).as_hours();
        assert_eq!(hours, 10);
    })
    .await;
}

/// A missing channel: deliveries are not counted as tries, and the message is never abandoned.
#[tokio::test]
async fn a_missing_channel_keeps_messages_queued() {
    both(async |t: Times| {
        let double = Arc::new(Double::default());
        let gone = || DeliveryError {
            failure: Failure::new(FailureClass::NotFound, "unknown tool `x`").mark_blocked(),
            retry_after: None,
        };
        let answers = std::iter::repeat_with(gone).take(30);
        double.answers.lock().unwrap().extend(answers);
        let channel: Arc<dyn Channel> = Arc::clone(&double) as _;
        t.world
            .engine
            .outbox()
            .post("k", &notice("hello"))
            .await
            .unwrap();
        let mut looks = Vec::new();
        while let Some(next) = t.world.store.next_notice().await.unwrap() {
            t.world.clock.set(next);
            t.world.engine.outbox().deliver_due(&channel).await.unwrap();
            looks.push(clock(next));
        }
        // Waits double with the age of the message, up to ten minutes.
        assert_eq!(
            looks[..7],
            [
                "13:00", "13:00:30", "13:01", "13:02", "13:04", "13:08", "13:16"
            ]
        );
        assert_eq!((looks.len(), looks[7].as_str()), (31, "13:26"));
        let row = rows(&t).await.remove(0);
        assert_eq!((row.status, row.attempts), (NoticeStatus::Sent, 1));
    })
    .await;
}

#[tokio::test]
async fn two_couriers_never_deliver_the_same_message() {
    both(async |t: Times| {
        let double = Arc::new(Double::default());
        let channel: Arc<dyn Channel> = Arc::clone(&double) as _;
        for n in 0..100 {
            let (key, text) = (format!("k{n}"), format!("hello {n}"));
            t.world
                .engine
                .outbox()
                .post(&key, &notice(&text))
                .await
                .unwrap();
        }
        let carry = || {
            let (engine, channel) = (t.world.engine.clone(), Arc::clone(&channel));
            tokio::spawn(async move { engine.outbox().deliver_due(&channel).await.unwrap() })
        };
        let couriers = [carry(), carry(), carry()];
        let mut arrived = 0;
        for courier in couriers {
            arrived += courier.await.unwrap();
        }
        assert_eq!(arrived, 100);
        assert_eq!(double.tries.lock().unwrap().len(), 100);
        let mut seen: Vec<String> = double
            .arrived
            .lock()
            .unwrap()
            .iter()
            .map(|(_, text)| text.clone())
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 100);
    })
    .await;
}

/// A channel that never answers.
struct Silent;

impl Channel for Silent {
    fn deliver<'a>(
        &'a self,
        _: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_channel_does_not_block_others() {
    let t = Times::with_store(Arc::new(deft_store_testkit::Memory::new()), &[]);
    t.world
        .engine
        .outbox()
        .post("k", &notice("hello"))
        .await
        .unwrap();
    let channel: Arc<dyn Channel> = Arc::new(Silent);
    assert_eq!(
        t.world.engine.outbox().deliver_due(&channel).await.unwrap(),
        0
    );
    let row = rows(&t).await.remove(0);
    assert_eq!(row.error.as_deref(), Some("timeout: no answer within 60 s"));
    assert_eq!(row.try_at, Some(at("13:00:05")));
}

/// A channel that delivers a message letter by letter, and stops where it is told to.
#[derive(Default)]
struct Letters {
    /// After how many letters each try stops; later tries deliver the rest.
    stops: Mutex<VecDeque<(usize, bool)>>,
    arrived: Mutex<String>,
}

impl Channel for Letters {
    fn deliver<'a>(
        &'a self,
        parcel: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(async move {
            let mut stop = self.stops.lock().unwrap().pop_front();
            let letters = parcel.notice.text.chars().enumerate();
            for (place, letter) in letters.skip(parcel.arrived_parts()) {
                match &mut stop {
                    Some((0, true)) => std::future::pending().await,
                    Some((0, false)) => {
                        return Err(undelivered(FailureClass::Network, "cut off", None));
                    }
                    Some((left, _)) => *left -= 1,
                    None => {}
                }
                self.arrived.lock().unwrap().push(letter);
                parcel.keep_arrived(place + 1).await;
            }
            Ok("all of it".to_owned())
        })
    }
}

/// Parts that have arrived are not sent again: not after a failure, not after a try that hung, and not after
/// a person asked for a retry.
#[tokio::test(start_paused = true)]
async fn each_part_of_a_message_arrives_once() {
    let t = Times::with_store(Arc::new(deft_store_testkit::Memory::new()), &[]);
    let letters = Arc::new(Letters::default());
    letters
        .stops
        .lock()
        .unwrap()
        .extend([(2, false), (0, false), (3, true)]);
    let channel: Arc<dyn Channel> = Arc::clone(&letters) as _;
    t.world
        .engine
        .outbox()
        .post("k", &notice("abcdefg"))
        .await
        .unwrap();
    let mut seen = Vec::new();
    while let Some(next) = t.world.store.next_notice().await.unwrap() {
        t.world.clock.set(next);
        t.world.engine.outbox().deliver_due(&channel).await.unwrap();
        seen.push(letters.arrived.lock().unwrap().clone());
    }
    assert_eq!(seen, ["ab", "ab", "abcde", "abcdefg"]);
    let row = rows(&t).await.remove(0);
    assert_eq!((row.status, row.parts), (NoticeStatus::Sent, 7));
}

/// A channel that delivers a message when the test allows it.
struct SlowChannel {
    begun: Semaphore,
    allowed: Semaphore,
}

impl Channel for SlowChannel {
    fn deliver<'a>(
        &'a self,
        _: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(async {
            self.begun.add_permits(1);
            drop(self.allowed.acquire().await);
            Ok("delivered".to_owned())
        })
    }
}

/// Starts a daemon that is told to stop while it delivers a message.
async fn stop_during_delivery(t: &Times, grace: Duration) -> (Arc<SlowChannel>, JoinHandle<()>) {
    let slow = Arc::new(SlowChannel {
        begun: Semaphore::new(0),
        allowed: Semaphore::new(0),
    });
    let engine = t.world.engine.clone();
    engine.outbox().post("k", &notice("hello")).await.unwrap();
    let stop = CancellationToken::new();
    let (channel, pool, until) = (Arc::clone(&slow) as _, t.pool.clone(), stop.clone());
    let daemon = tokio::spawn(async move {
        let scheduler = Scheduler::new(&engine);
        let served = scheduler.serve(&pool, channel, until, grace).await;
        served.unwrap();
    });
    drop(slow.begun.acquire().await);
    stop.cancel();
    (slow, daemon)
}

#[tokio::test]
async fn a_daemon_that_stops_finishes_its_deliveries() {
    both(async |t: Times| {
        let (slow, daemon) = stop_during_delivery(&t, Duration::from_mins(1)).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(!daemon.is_finished());
        slow.allowed.add_permits(1);
        daemon.await.unwrap();
        let row = rows(&t).await.remove(0);
        assert_eq!(
            (row.status, row.receipt.as_deref()),
            (NoticeStatus::Sent, Some("delivered"))
        );
    })
    .await;
}

#[tokio::test]
async fn a_daemon_that_stops_does_not_wait_longer_than_allowed_for_a_delivery() {
    both(async |t: Times| {
        let (slow, daemon) = stop_during_delivery(&t, Duration::ZERO).await;
        daemon.await.unwrap();
        // The delivery was dropped with the daemon.
        assert_eq!(Arc::strong_count(&slow), 1);
        assert_eq!(rows(&t).await[0].status, NoticeStatus::Queued);
    })
    .await;
}
