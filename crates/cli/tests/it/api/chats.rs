//! Chats over HTTP: a message, its answer immediately or later, and the events in between.

use deft_testkit::{Gate, ModelAnswer};
use serde_json::{Value, json};

use super::client::Api;
use super::socket::Socket;
use crate::chat_support::{home, messages, model};
use crate::daemon::{Daemon, wait_for};

#[test]
fn a_message_is_answered_and_the_conversation_continues() {
    let server = model([
        ModelAnswer::text("Hello, Ada.").usage(20, 0, 4),
        ModelAnswer::text("You are Ada."),
    ]);
    let world = home(&server, "");
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let first = api.post_with(
        "/api/v1/chats",
        &json!({"text": "I am Ada"}),
        &[("Idempotency-Key", "hello-1"), ("X-Request-Id", "chat-1")],
    );
    let reply = first.json();
    assert_eq!((first.status, &reply["status"]), (200, &json!("done")));
    let answer = &reply["answer"];
    assert_eq!(
        (&answer["text"], &answer["outcome"], &answer["error"]),
        (&json!("Hello, Ada."), &json!("success"), &Value::Null)
    );
    assert_eq!(
        (
            &answer["usage"]["input_tokens"],
            &answer["usage"]["llm_calls"]
        ),
        (&json!(20), &json!(1))
    );
    let conversation = answer["conversation"].as_str().unwrap().to_owned();
    // A repeated message is answered only once.
    let again = api.post_with(
        "/api/v1/chats",
        &json!({"text": "I am Ada"}),
        &[("Idempotency-Key", "hello-1")],
    );
    assert_eq!(again.json()["run"], reply["run"]);
    assert_eq!(server.requests().len(), 1);

    let next = json!({"text": "Who am I?", "conversation": conversation});
    let next = api.post("/api/v1/chats", &next).json();
    assert_eq!(next["answer"]["text"], "You are Ada.");
    let prompt = messages(&server.requests()[1]);
    let prompt: Vec<&str> = prompt.iter().map(|(_, text)| text.as_str()).collect();
    assert!(
        prompt.iter().any(|text| text.contains("Hello, Ada.")),
        "the model knows what was said: {prompt:?}"
    );
    let shown = api.read(&format!("/api/v1/chats/{conversation}"));
    let stored = shown["conversation"]["messages"].as_array().unwrap();
    let stored: Vec<(&str, &str)> = stored
        .iter()
        .map(|one| (one["role"].as_str().unwrap(), one["text"].as_str().unwrap()))
        .collect();
    assert_eq!(
        stored,
        [
            ("user", "I am Ada"),
            ("assistant", "Hello, Ada."),
            ("user", "Who am I?"),
            ("assistant", "You are Ada.")
        ]
    );
    let listed = api.read("/api/v1/chats?channel=api");
    assert_eq!(listed["conversations"][0]["id"], json!(conversation));
    let found = api.read("/api/v1/messages?search=Ada");
    assert_eq!(found["messages"].as_array().unwrap().len(), 3, "{found:#}");
    daemon.stop();
}

/// A client that does not wait follows the feed, or polls.
#[test]
fn a_slow_answer_is_followed_and_fetched() {
    let gate = Gate::default();
    let server = model([ModelAnswer::text("It is done.").gate(0, &gate)]);
    let world = home(&server, "");
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let mut feed = Socket::open(&api, &format!("/ws?token={}", api.token));
    let sent = api.post("/api/v1/chats?wait=0", &json!({"text": "Do it"}));
    let reply = sent.json();
    assert_eq!(
        (sent.status, &reply["status"], &reply["answer"]),
        (202, &json!("running"), &Value::Null)
    );
    gate.open();
    let seen = feed.until("skill_completed");
    let own = seen
        .iter()
        .all(|event| event["execution_id"] == reply["run"]);
    assert!(own, "{seen:#?}");
    let run = reply["run"].as_str().unwrap();
    let shown = wait_for("the answer", || {
        let shown = api.read("/api/v1/chats/last")["conversation"].clone();
        shown["open_run"].is_null().then_some(shown)
    });
    assert_eq!(shown["messages"][1]["text"], "It is done.", "{shown:#}");
    let outcome = api.read(&format!("/api/v1/runs/{run}"));
    assert_eq!(outcome["run"]["outcome"], "success", "{outcome:#}");
    daemon.stop();
}
