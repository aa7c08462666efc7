//! Answers of chats in the outbox: added once, with the end of their run, and delivered in order.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_engine::{
    Attention, Channel, ChatAnswer, Delivery, DeliveryError, DeliveryResult, NewChatMessage,
    Notice, NoticeKind,
};
use deft_model::{Failure, FailureClass, RunStatus};
use deft_store::{NoticeFilter, NoticeRow};
use deft_store_testkit::Memory;
use serde_json::json;

use crate::thinker::{call_reply, text_reply, thinker, world_with_model};
use crate::time_world::{Times, at, both};
use crate::world::{Folder, World, load};

const CHAT: &str = "telegram:7";

async fn say(world: &World, text: &str) -> ChatAnswer {
    let say = NewChatMessage {
        channel: CHAT.to_owned(),
        answer_to: Some(CHAT.to_owned()),
        text: text.to_owned(),
        key: Some(text.to_owned()),
        ..NewChatMessage::default()
    };
    let attention = Attention {
        parks: true,
        ..Attention::default()
    };
    world.engine.say(say, attention).await.unwrap()
}

/// Returns all notices, oldest first: kind, receiver and text.
async fn queued_notices(world: &World) -> Vec<(NoticeKind, String, String)> {
    let rows = world.store.notices(NoticeFilter::default()).await;
    let read = |row: &NoticeRow| {
        let notice: Notice = serde_json::from_str(&row.body).unwrap();
        (notice.kind, notice.target.unwrap_or_default(), notice.text)
    };
    rows.unwrap().iter().rev().map(read).collect()
}

fn answer(text: &str) -> (NoticeKind, String, String) {
    (NoticeKind::Answer, CHAT.to_owned(), text.to_owned())
}

/// The end of the run stores it; a process that retries after a crash adds no second one.
#[tokio::test]
async fn an_answer_is_queued_once() {
    let (models, asked) = thinker(|_, _| Ok(text_reply("Hello, Ada!")));
    let world = world_with_model(&[], models);
    for _ in 0..2 {
        let sent = say(&world, "Hi").await;
        let run = &sent.run.id;
        world.engine.see_to_answer(run, CHAT).await.unwrap();
    }
    assert_eq!(queued_notices(&world).await, [answer("Hello, Ada!")]);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

/// A run that is stopped without a driver stores no answer; the caller that waits for it does.
#[tokio::test]
async fn a_message_cancelled_while_waiting_is_answered() {
    let (models, _) = thinker(|_, _| Ok(call_reply(&[("act", json!({"n": 1}))])));
    let home = tempfile::tempdir().unwrap();
    let folder = Folder(Arc::new(Mutex::new(load(&home, &[]))));
    let parts = (deft_tools::Options::default(), models);
    let world = World::from_parts(home, folder, Arc::new(Memory::new()), parts, |options| {
        options.agent.approve = vec!["act".to_owned()];
        options.agent.tools = vec!["act".to_owned()];
    });
    let sent = say(&world, "Act").await;
    assert_eq!(sent.run.status, RunStatus::Waiting, "{:?}", sent.run);
    let asked = queued_notices(&world).await;
    assert_eq!(asked[0].0, NoticeKind::Question);
    let run = &sent.run.id;
    // The run has not ended yet.
    world.engine.see_to_answer(run, CHAT).await.unwrap();
    assert_eq!(queued_notices(&world).await, asked);
    world.engine.cancel(run, "ada").await.unwrap();
    for _ in 0..2 {
        world.engine.see_to_answer(run, CHAT).await.unwrap();
    }
    let expected = [asked[0].clone(), answer("✗ cancelled by ada")];
    assert_eq!(queued_notices(&world).await, expected);
}

/// Records when each delivery starts and ends. The first try is told to wait.
#[derive(Default)]
struct Slow(Mutex<Vec<String>>);

impl Channel for Slow {
    fn deliver<'a>(
        &'a self,
        parcel: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        let note = |what: &str| {
            let mut notes = self.0.lock().unwrap();
            notes.push(format!("{what} {}", parcel.notice.text));
            notes.len()
        };
        Box::pin(async move {
            if note("begins") == 1 {
                return Err(DeliveryError {
                    failure: Failure::new(FailureClass::Quota, "429"),
                    retry_after: Some(Duration::from_secs(9)),
                });
            }
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            note("ends");
            Ok("receipt".to_owned())
        })
    }
}

/// Messages to one chat neither mix nor overtake each other, and a delayed one delays those behind it. Other
/// chats are not affected.
#[tokio::test]
async fn messages_to_one_chat_are_sent_in_order() {
    both(async |t: Times| {
        let slow = Arc::new(Slow::default());
        let channel: Arc<dyn Channel> = Arc::clone(&slow) as _;
        for (key, place) in [("one", "a"), ("two", "a"), ("other", "b"), ("three", "a")] {
            let notice = Notice {
                kind: NoticeKind::Answer,
                title: String::new(),
                text: key.to_owned(),
                skill: None,
                run: None,
                target: Some(place.to_owned()),
                approval: None,
                always: false,
            };
            t.world.engine.outbox().post(key, &notice).await.unwrap();
        }
        assert_eq!(
            t.world.engine.outbox().deliver_due(&channel).await.unwrap(),
            1
        );
        let notes = std::mem::take(&mut *slow.0.lock().unwrap());
        assert_eq!(notes, ["begins one", "begins other", "ends other"]);
        slow.0.lock().unwrap().push("again".to_owned());
        t.world.clock.set(at("13:00:09"));
        assert_eq!(
            t.world.engine.outbox().deliver_due(&channel).await.unwrap(),
            3
        );
        let expected = [
            "again",
            "begins one",
            "ends one",
            "begins two",
            "ends two",
            "begins three",
            "ends three",
        ];
        assert_eq!(*slow.0.lock().unwrap(), expected);
        let rows = t.world.store.notices(NoticeFilter::default()).await;
        let attempts: Vec<u32> = rows.unwrap().iter().rev().map(|row| row.attempts).collect();
        assert_eq!(
            attempts,
            [2, 1, 1, 1],
            "what was not tried counts for no try"
        );
    })
    .await;
}
