//! The chat of a call to a server's tool (S0.42, S0.44, S0.48, S1.3).

use std::borrow::Cow;

use deft_model::{FailureClass, Object};
use deft_testkit::{Kind, Script};
use deft_tools::{Call, Reveal};
use serde_json::{Value, json};

use crate::support::{World, call, object, value};

/// A server with a tool that requires a chat, one whose chat is a number, and one without a chat.
fn world(allowed: &[&str]) -> World {
    let strict = json!({"schema": {"type": "object", "required": ["chat_id", "message"],
        "properties": {"chat_id": {"type": "string"}, "message": {"type": "string"}}}});
    let number = json!({"schema": {"type": "object", "required": ["chatId"],
        "properties": {"chatId": {"type": "integer"}}}});
    let none = json!({"schema": {"type": "object", "additionalProperties": false,
        "properties": {"message": {"type": "string"}}}});
    let script = Script::new()
        .tool("send", strict)
        .tool("send_number", number)
        .tool("write", none);
    let mut world = World::with("desk", &script);
    world.options.telegram.chat = Some("4711".to_owned());
    world.options.telegram.allowed_chats = allowed.iter().map(|&chat| chat.to_owned()).collect();
    world
}

fn called(world: &World) -> usize {
    let events = world.witness("desk");
    let started = events.iter().filter(|event| event.kind == Kind::Started);
    started.count()
}

/// S0.48, S1.3: the primary chat is inserted for every caller, in the type that the tool accepts.
#[tokio::test]
async fn the_primary_chat_is_filled_in_for_a_server() {
    let world = world(&[]);
    let router = world.router();
    assert_eq!(
        value(&router, "send", json!({"message": "hi"})).await,
        json!({"message": "hi", "chat_id": "4711"})
    );
    assert_eq!(
        value(&router, "send_number", json!({})).await,
        json!({"chatId": 4711})
    );
    assert_eq!(
        value(&router, "send", json!({"message": "hi", "chat_id": 815})).await,
        json!({"message": "hi", "chat_id": "815"})
    );
    assert_eq!(
        value(&router, "write", json!({"message": "hi"})).await,
        json!({"message": "hi"})
    );
    // The prepared arguments are the arguments that are sent.
    let given = object(json!({"message": "hi", "chat_id": "1".repeat(21)}));
    let mended = router.repair_arguments("send", given).unwrap();
    assert_eq!(
        Value::Object(mended),
        json!({"message": "hi", "chat_id": "4711"})
    );
}

/// S0.42, S0.44: the chat comes last, after nulls and invented parameters are removed.
#[tokio::test]
async fn arguments_of_a_model_are_repaired_in_order() {
    let world = world(&[]);
    let router = world.router();
    for chat in [json!(null), json!("1".repeat(30)), json!(true)] {
        let arguments = object(json!({"message": "hi", "chat_id": chat}));
        let reply = router
            .call(Call {
                by_model: true,
                ..Call::new("send", arguments)
            })
            .await
            .unwrap();
        assert_eq!(reply.value, json!({"message": "hi", "chat_id": "4711"}));
        assert_eq!(reply.repairs.last(), Some(&"inject_chat_id"));
    }
}

/// `telegram.allowed_chats` is enforced for every caller, before anything is sent.
#[tokio::test]
async fn a_chat_that_is_not_allowed_is_refused() {
    let world = world(&["42"]);
    let router = world.router();
    for chat in [json!("42"), json!(42), json!("4711")] {
        value(&router, "send", json!({"message": "hi", "chat_id": chat})).await;
    }
    let failure = call(&router, "send", json!({"message": "hi", "chat_id": "815"}))
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Invalid);
    assert_eq!(
        failure.message,
        "the chat `815` is not one of `telegram.allowed_chats`"
    );
    let model = router.repair_arguments("send", object(json!({"message": "hi", "chat_id": 815})));
    assert_eq!(model.unwrap_err().message, failure.message);
    let some = object(json!({"chat_id": "815"}));
    assert_eq!(router.check_chats("send", some).unwrap_err(), failure);
    assert_eq!(called(&world), 3);
}

struct Vault;

impl Reveal for Vault {
    fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        text.replace("<a placeholder that is long>", "815").into()
    }

    fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        text.replace("815", "<a placeholder that is long>").into()
    }
}

/// A chat can be a secret: its value is checked, but never shown.
#[tokio::test]
async fn a_chat_from_a_secret_is_checked_and_not_shown() {
    let arguments = || -> Object {
        object(json!({"message": "hi", "chat_id": "<a placeholder that is long>"}))
    };
    let call = || Call {
        by_model: true,
        reveal: &Vault,
        ..Call::new("send", arguments())
    };
    let open = world(&["815"]);
    let reply = open.router().call(call()).await.unwrap();
    assert_eq!(reply.value["chat_id"], "815");
    let closed = world(&["42"]);
    let failure = closed.router().call(call()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Invalid);
    assert!(!format!("{failure:?}").contains("815"), "{failure:?}");
}

/// Without a primary chat the failure names the setting.
#[tokio::test]
async fn without_a_primary_chat_the_setting_is_named() {
    let mut world = world(&[]);
    world.options.telegram.chat = None;
    let failure = call(&world.router(), "send", json!({"message": "hi"}))
        .await
        .unwrap_err();
    assert_eq!(
        failure.hint.as_deref(),
        Some("set `notify.target` to the id of a chat")
    );
}
