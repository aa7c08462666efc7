//! The bot with a fake Bot API and scripted answers.

mod answers;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use deft_engine::{Delivery, Notice, NoticeKind, answer_text, question_key};
use deft_model::{Failure as Fault, FailureClass, RunStatus};
use deft_store::{NewNotice, NoticeEnd, Store};
use deft_store_testkit::Memory;
use deft_testkit::{BotAnswer, BotApi, BotCall};
use deft_tools::telegram::Client;
use deft_tools::{Reference, Secret, SecretSource, TelegramOptions};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Bot, Pace, Settings};
use crate::ask::Question;
use crate::talk::fake::{Fake, FakeAction, Leaves, Outbox, answer, failed};
use deft_channels as channels;
use deft_wire::Failure;
use deft_wire::chat::ChatAnswer;

/// The id of the fake bot.
const BOT: &str = "8304042211";

struct Token(String);

impl SecretSource for Token {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Ok(Secret::new(&self.0))
    }
}

/// Queues messages for chats in the outbox of a store, like the engine.
struct StoredOutbox(Arc<dyn Store>);

impl StoredOutbox {
    async fn leave(&self, key: String, to: &str, text: &str, approval: Option<String>) {
        let notice = Notice {
            kind: NoticeKind::Answer,
            title: String::new(),
            text: text.to_owned(),
            skill: None,
            run: None,
            target: Some(to.to_owned()),
            approval,
            always: false,
        };
        let new = NewNotice {
            key,
            skill: None,
            body: serde_json::to_string(&notice).unwrap(),
            at: Timestamp::now(),
        };
        self.0.add_notice(new).await.unwrap();
    }
}

impl Outbox for StoredOutbox {
    fn answer<'a>(&'a self, answer: &'a ChatAnswer, to: &'a str) -> Leaves<'a> {
        let error = answer.error.as_ref().map(|error| Fault {
            hint: error.hint.clone(),
            ..Fault::new(error.class, error.message.clone())
        });
        let text = answer_text(&answer.text, error.as_ref());
        let key = format!("answer {}", answer.run);
        Box::pin(async move { self.leave(key, to, &text, None).await })
    }

    fn post_text<'a>(&'a self, key: &'a str, to: &'a str, text: &'a str) -> Leaves<'a> {
        Box::pin(self.leave(key.to_owned(), to, text, None))
    }

    fn ask<'a>(&'a self, question: &'a Question, to: &'a str) -> Leaves<'a> {
        // Each run asks the same approval again here, so the run is part of the key.
        let key = format!("{} of {}", question_key(&question.approval), question.run);
        let approval = Some(question.approval.clone());
        Box::pin(self.leave(key, to, &question.message, approval))
    }
}

struct World {
    api: BotApi,
    fake: Arc<Fake>,
    store: Arc<dyn Store>,
    settings: Option<watch::Sender<Settings>>,
    stop: CancellationToken,
    serving: Option<JoinHandle<()>>,
    delivery: Option<JoinHandle<()>>,
}

/// Delivers messages to chats like the engine, and retries immediately.
async fn deliver(store: Arc<dyn Store>, client: Client) {
    loop {
        let now = Timestamp::now();
        let until = now + Duration::from_mins(1);
        for row in store.take_notices(now, until, 16).await.unwrap() {
            let notice: Notice = serde_json::from_str(&row.body).unwrap();
            let chat = channels::chat_of(&notice).unwrap();
            let parcel = Delivery::new(&notice, &row.key, &row, &*store);
            let end = match channels::send(&client, chat, &parcel).await {
                Ok(receipt) => NoticeEnd::Sent { receipt },
                Err(refused) => NoticeEnd::Again {
                    at: now,
                    error: refused.failure.message,
                },
            };
            store.end_notice(row.id, end, now).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn settings(api: &BotApi, allowed: &[&str]) -> Settings {
    Settings {
        options: TelegramOptions {
            token: Some(Reference::new("env:BOT")),
            base_url: api.url.clone(),
            allowed_chats: allowed.iter().map(|chat| (*chat).to_owned()).collect(),
            ..TelegramOptions::default()
        },
        secrets: Arc::new(Token(api.token.clone())),
        wanted: true,
    }
}

fn world() -> World {
    let world = World {
        api: BotApi::start(),
        fake: Arc::new(Fake::default()),
        store: Arc::new(Memory::new()),
        settings: None,
        stop: CancellationToken::new(),
        serving: None,
        delivery: None,
    };
    let outbox = StoredOutbox(world.store.clone());
    world.fake.outbox.set(Box::new(outbox)).ok();
    world
}

impl World {
    fn serve(&mut self) {
        let settings = settings(&self.api, &["7", "8"]);
        if self.delivery.is_none() {
            let token = Secret::new(&self.api.token);
            let client = Client::new(&settings.options, &token).unwrap();
            self.delivery = Some(tokio::spawn(deliver(self.store.clone(), client)));
        }
        let (sender, receiver) = watch::channel(settings);
        self.stop = CancellationToken::new();
        let bot = Bot {
            talk: self.fake.clone(),
            store: self.store.clone(),
            pace: Pace {
                typing: Duration::from_millis(20),
                first: Duration::from_millis(1),
                most: Duration::from_millis(20),
            },
        };
        self.serving = Some(tokio::spawn(bot.serve(receiver, self.stop.clone())));
        self.settings = Some(sender);
    }

    async fn end(&mut self) {
        self.stop.cancel();
        if let Some(serving) = self.serving.take() {
            serving.await.unwrap();
        }
    }

    /// Waits for messages of the bot, and returns the chat and text of each.
    fn messages(&self, count: usize) -> Vec<(String, String)> {
        let calls = self.until(move |calls| requests(calls, "sendMessage").len() >= count);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        requests(&calls, "sendMessage")
            .iter()
            .map(|body| (text(&body["chat_id"]), text(&body["text"])))
            .collect()
    }

    fn until(&self, wanted: impl Fn(&[BotCall]) -> bool) -> Vec<BotCall> {
        tokio::task::block_in_place(|| self.api.until(wanted))
    }

    /// Returns the stored state.
    async fn inbox(&self) -> Value {
        let kept = self.store.setting("telegram.inbox").await.unwrap();
        kept.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
    }

    /// Waits until the stored state is `value`.
    async fn wait_state(&self, value: &Value) {
        let wait = async {
            while self.inbox().await != *value {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
        assert!(waited.is_ok(), "{} is kept", self.inbox().await);
    }

    /// Waits until `updates` updates are stored and everything is done.
    async fn wait_done(&self, updates: i64) {
        self.wait_state(&json!({"bot": BOT, "next": updates + 1}))
            .await;
    }

    /// Waits until `updates` updates are stored.
    async fn wait_updates(&self, updates: i64) {
        let wait = async {
            while self.inbox().await["next"] != updates + 1 {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
        assert!(waited.is_ok(), "{} is kept", self.inbox().await);
    }
}

fn requests(calls: &[BotCall], method: &str) -> Vec<Value> {
    let calls = calls.iter().filter(|call| call.method == method);
    calls.map(|call| call.body.clone()).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(one, other): &(&str, &str)| ((*one).to_owned(), (*other).to_owned());
    list.iter().map(own).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_answered_once_and_strangers_never() {
    let mut world = world();
    world.api.write(666, "let me in");
    world.api.write(7, "hello");
    world.serve();
    assert_eq!(world.messages(1), pairs(&[("7", "you said: hello")]));
    world.wait_done(2).await;
    let sent = world.fake.said.lock().unwrap().clone();
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (sent[0].channel.as_str(), sent[0].key.as_deref()),
        ("telegram:7", Some("telegram:8304042211:2"))
    );
    assert_eq!(
        sent[0].conversation.as_deref(),
        Some("conv_old"),
        "one conversation per chat"
    );
    world.end().await;
    // Another process continues after it.
    world.api.write(8, "and you");
    world.serve();
    assert_eq!(
        world.messages(2)[1],
        ("8".to_owned(), "you said: and you".to_owned())
    );
    assert_eq!(world.fake.texts(), ["hello", "and you"]);
    world.end().await;
}

/// A message that was received but not answered survives a crash; its key prevents it from being processed
/// twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_survives_a_crash() {
    let mut world = world();
    world.fake.then([FakeAction::Wait], "never sent");
    world.api.write(7, "slow");
    world.serve();
    world.fake.heard.notified().await;
    let message = json!({"id": 1, "bot": BOT, "chat": "7", "text": "slow"});
    world
        .wait_state(&json!({"bot": BOT, "next": 2, "messages": [message]}))
        .await;
    world.serving.take().unwrap().abort();
    world.serve();
    assert_eq!(world.messages(1), pairs(&[("7", "you said: slow")]));
    let sent = world.fake.said.lock().unwrap().clone();
    assert_eq!(sent[0].key, sent[1].key);
    world.wait_done(1).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_wait_only_for_earlier_ones_of_their_chat() {
    let mut world = world();
    world.fake.then([FakeAction::Wait], "first");
    world.serve();
    world.api.write(7, "one");
    world.fake.heard.notified().await;
    world.api.write(7, "two");
    world.api.write(8, "other");
    assert_eq!(world.messages(1), pairs(&[("8", "you said: other")]));
    // The action is repeated.
    let shown = |calls: &[BotCall]| {
        let shown = requests(calls, "sendChatAction");
        shown.iter().filter(|body| body["chat_id"] == "7").count()
    };
    let calls = world.until(|calls| shown(calls) >= 2);
    let sign = json!({"chat_id": "7", "action": "typing"});
    assert_eq!(requests(&calls, "sendChatAction")[0], sign);
    world.fake.go.notify_one();
    let rest = [
        ("8", "you said: other"),
        ("7", "first"),
        ("7", "you said: two"),
    ];
    assert_eq!(world.messages(3), pairs(&rest));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_by_a_button_or_a_word() {
    let mut world = world();
    world.fake.then([FakeAction::Ask("delete it?")], "answer: ");
    world.fake.then([FakeAction::Ask("really?")], "answer: ");
    world.serve();
    world.api.write(7, "delete it");
    world.messages(1);
    let asked = requests(&world.api.calls(), "sendMessage").remove(0);
    assert_eq!(
        asked,
        json!({"chat_id": "7", "text": "delete it?", "reply_markup": {"inline_keyboard": [[
            {"text": "Approve", "callback_data": "yes apr_1"},
            {"text": "Reject", "callback_data": "no apr_1"},
        ]]}})
    );
    // Only people of the chat may press its buttons.
    world.api.press(666, 1, "yes apr_1");
    world.api.press(7, 1, "no apr_1");
    assert_eq!(world.messages(2)[1].1, "answer: no");
    let calls = world.until(|calls| {
        !requests(calls, "editMessageText").is_empty()
            && !requests(calls, "answerCallbackQuery").is_empty()
    });
    assert_eq!(
        requests(&calls, "editMessageText"),
        [
            json!({"chat_id": "7", "message_id": 1, "text": "delete it?\n\n✗ rejected by Ada in telegram chat 7"})
        ]
    );
    world.api.write(7, "again");
    world.messages(3);
    world.api.write(7, " Yes ");
    assert_eq!(world.messages(4)[3].1, "answer: yes");
    world.end().await;
}

/// The question was asked by a process that no longer exists.
#[tokio::test(flavor = "multi_thread")]
async fn a_button_of_an_earlier_process_is_accepted() {
    let mut world = world();
    world.serve();
    world.api.press(7, 55, "yes apr_1");
    world.api.press(7, 56, "yes apr_gone");
    world.api.press(7, 57, "nonsense");
    let calls = world.until(|calls| requests(calls, "answerCallbackQuery").len() == 3);
    let mut told: Vec<Value> = requests(&calls, "answerCallbackQuery");
    told.sort_by_key(|body| body["text"].to_string());
    let texts: Vec<&Value> = told.iter().map(|body| &body["text"]).collect();
    assert_eq!(
        texts,
        [
            "Got it.",
            "This approval is no longer pending.",
            "This approval is no longer pending."
        ]
    );
    let calls = world.until(|calls| !requests(calls, "editMessageText").is_empty());
    let edited = requests(&calls, "editMessageText");
    let text = "delete it?\n\n✓ approved by Ada in telegram chat 7";
    assert_eq!(
        edited,
        [json!({"chat_id": "7", "message_id": 55, "text": text})]
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_answered_at_once() {
    let mut world = world();
    world.fake.then([FakeAction::Hang], "");
    world.serve();
    world.api.write(7, "think");
    world.fake.heard.notified().await;
    world.api.write(7, "unheard");
    world.wait_updates(2).await;
    for (at, (command, answer)) in [
        ("/start", "Send me a message and I answer."),
        ("/skills@double_bot", "mail.send: Sends a mail"),
        ("/cost", "This chat, since the last restart: 0 calls"),
        ("/frob", "Unknown command."),
    ]
    .into_iter()
    .enumerate()
    {
        world.api.write(7, command);
        let sent = world.messages(at + 1);
        assert!(sent[at].1.starts_with(answer), "{command}: {sent:?}");
    }
    world.api.write(7, "/stop");
    let mut sent = world.messages(6).split_off(4);
    sent.sort();
    assert_eq!(sent, pairs(&[("7", "Stopping."), ("7", "✗ stopped")]));
    assert_eq!(
        *world.fake.stopped.lock().unwrap(),
        ["run_1 by /stop in telegram"]
    );
    world.api.write(7, "/new");
    world.messages(7);
    world.api.write(7, "fresh");
    assert_eq!(world.messages(8)[7].1, "you said: fresh");
    let sent_messages = world.fake.said.lock().unwrap().clone();
    assert_eq!(
        world.fake.texts(),
        ["think", "fresh"],
        "what waited was stopped too"
    );
    assert_eq!(sent_messages[1].conversation, None);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trouble_passes() {
    let mut world = world();
    let conflict = "Conflict: terminated by other getUpdates request";
    world.api.script_for(
        "getUpdates",
        [
            BotAnswer::Error(409, conflict.to_owned()),
            BotAnswer::Error(401, "Unauthorized".to_owned()),
            BotAnswer::TooMany(0),
            BotAnswer::Close,
            BotAnswer::Foreign(502, "<html>".to_owned()),
        ],
    );
    world.api.script_for(
        "sendMessage",
        [
            BotAnswer::Close,
            BotAnswer::TooMany(0),
            BotAnswer::Error(500, "x".to_owned()),
        ],
    );
    world.fake.ends(
        [],
        failed(FailureClass::Budget, "the budget of today is used up"),
    );
    world.api.write(7, "hello");
    world.serve();
    let sent = world.messages(4);
    assert_eq!(
        sent[3],
        (
            "7".to_owned(),
            "✗ the budget of today is used up".to_owned()
        )
    );
    world.wait_done(1).await;
    assert!(requests(&world.api.calls(), "getUpdates").len() >= 6);
    world.end().await;
}

/// A run that waits is checked again, and its answer arrives when it is ready.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_after_a_question_arrives_later() {
    let mut world = world();
    // It waits, and then another process works on it.
    for status in [RunStatus::Waiting, RunStatus::Waiting, RunStatus::Running] {
        world.fake.ends([], answer(status, None));
    }
    world.serve();
    world.api.write(7, "work");
    let sent = world.messages(2);
    let told = [
        ("7", "… waiting. I will answer when it continues."),
        ("7", "you said: work"),
    ];
    assert_eq!(sent, pairs(&told));
    assert_eq!(world.fake.texts(), ["work"; 4]);
    world.end().await;
}
