//! Chats of calls: inserted, replaced and rejected.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::secret::Plain;
use crate::tool::{Annotations, BUILTIN_SERVER};

fn telegram(allowed: &[&str]) -> TelegramOptions {
    TelegramOptions {
        chat: Some("4711".to_owned()),
        allowed_chats: allowed.iter().map(|&chat| chat.to_owned()).collect(),
        ..TelegramOptions::default()
    }
}

fn tool(server: &str, name: &str, schema: Value) -> ToolInfo {
    ToolInfo {
        name: name.to_owned(),
        server: server.to_owned(),
        shown: name.to_owned(),
        title: None,
        description: String::new(),
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations: Annotations::default(),
        builtin: server == BUILTIN_SERVER,
    }
}

fn sender(parameter: &str, schema: &Value) -> ToolInfo {
    let schema = json!({"properties": {"text": {"type": "string"}, parameter: schema}});
    tool("desk", "send", schema)
}

fn call<'a>(tool: &'a ToolInfo, telegram: &'a TelegramOptions, by_model: bool) -> ChatCall<'a> {
    ChatCall {
        tool,
        telegram,
        reveal: &Plain,
        by_model,
    }
}

fn inject_chat(tool: &ToolInfo, by_model: bool, arguments: Value) -> Value {
    let Value::Object(mut arguments) = arguments else {
        unreachable!()
    };
    call(tool, &telegram(&[]), by_model).inject(&mut arguments);
    Value::Object(arguments)
}

/// S0.44: a parameter of any server's tool that is named like a chat gets the primary chat.
#[test]
fn a_parameter_with_the_name_of_a_chat_is_filled_in() {
    for name in ["chat_id", "chatId", "chat-id", "ChatID", "telegram_chat_id"] {
        let tool = sender(name, &json!({"type": "string"}));
        assert_eq!(
            inject_chat(&tool, false, json!({})),
            json!({name: "4711"}),
            "{name}"
        );
    }
    for (name, schema) in [
        ("chat", json!({"type": "string"})),
        ("chat_title", json!({"type": "string"})),
        ("from_chat_id", json!({"type": "string"})),
        ("chat_id", json!({"type": "boolean"})),
    ] {
        let tool = sender(name, &schema);
        assert_eq!(inject_chat(&tool, true, json!({})), json!({}), "{name}");
    }
    let schema = json!({"properties": {"chat": {"type": "string"}}});
    let chat = json!({"chat": "4711"});
    let named = tool("desk", "telegram_send", schema.clone());
    assert_eq!(inject_chat(&named, false, json!({})), chat);
    let served = tool("my-telegram", "send", schema);
    assert_eq!(inject_chat(&served, false, json!({})), chat);
    let vague = tool("desk", "telegram_send_message", json!({"type": "object"}));
    assert_eq!(
        inject_chat(&vague, false, json!({})),
        json!({"chat_id": "4711"})
    );
}

/// S0.44: strings and numbers are ids; any other value, or one that is too long, is replaced.
#[test]
fn an_id_is_kept_and_other_values_are_replaced() {
    let server = sender("chat_id", &json!({}));
    let bot_schema = json!({"properties": {"chat_id": {}}});
    let bot = tool(BUILTIN_SERVER, "telegram_send_message", bot_schema);
    let long = "1".repeat(21);
    for (given, by_model, by_person, by_bot) in [
        (json!(null), true, true, true),
        (json!(" "), true, true, true),
        (json!(true), true, false, true),
        (json!(["5"]), true, false, true),
        (json!(1.5), true, false, true),
        (json!(long), true, false, true),
        (json!("1".repeat(20)), false, false, false),
        (json!(5), false, false, false),
        (json!(-100_123), false, false, false),
        (json!("@news"), false, false, false),
    ] {
        let is_replaced = |tool: &ToolInfo, by_model: bool| {
            let after = inject_chat(tool, by_model, json!({"chat_id": given}));
            assert!(
                after["chat_id"] == given || after["chat_id"] == "4711",
                "{after}"
            );
            after["chat_id"] == "4711"
        };
        let found = (
            is_replaced(&server, true),
            is_replaced(&server, false),
            is_replaced(&bot, false),
        );
        assert_eq!(found, (by_model, by_person, by_bot), "{given}");
    }
    // A long name that is listed is not invented.
    let listed = telegram(&["@a_channel_with_a_long_name"]);
    let mut arguments =
        Object::from_iter([("chat_id".to_owned(), json!("@a_channel_with_a_long_name"))]);
    let before = arguments.clone();
    call(&server, &listed, true).inject(&mut arguments);
    assert_eq!(arguments, before);
}

#[test]
fn a_chat_that_filters_a_search_is_not_filled_in() {
    let mut search = sender("chat_id", &json!({"type": "string"}));
    search.annotations.read_only_hint = Some(true);
    assert_eq!(inject_chat(&search, true, json!({})), json!({}));
    let made_up = json!({"chat_id": "the chat of the user, whichever"});
    assert_eq!(
        inject_chat(&search, true, made_up),
        json!({"chat_id": "4711"})
    );
    let schema = json!({"required": ["chat_id"], "properties": {"chat_id": {}}});
    search.input_schema = Arc::new(schema);
    assert_eq!(
        inject_chat(&search, true, json!({})),
        json!({"chat_id": "4711"})
    );
}

/// `allowed_chats` applies to every tool; the primary chat is always allowed.
#[test]
fn chats_outside_the_list_are_refused() {
    let telegram = telegram(&["42", "@news"]);
    let server = sender("chat_id", &json!({}));
    let notify = tool(BUILTIN_SERVER, "notify", json!({}));
    let own = tool(BUILTIN_SERVER, "conversation_list", json!({}));
    for (tool, arguments, refused) in [
        (&server, json!({"chat_id": "42"}), None),
        (&server, json!({"chat_id": 42}), None),
        (&server, json!({"chat_id": "4711"}), None),
        (&server, json!({"text": "815"}), None),
        (&server, json!({"chat_id": "815"}), Some("815")),
        (&server, json!({"chat_id": 815}), Some("815")),
        (&server, json!({"from_chat_id": "815"}), Some("815")),
        (&server, json!({"chat_ids": ["42", 815]}), Some("815")),
        (&server, json!({"chat_id": 815.0}), Some("815")),
        (&server, json!({"to": {"chat_id": 815}}), Some("815")),
        (&server, json!({"all": [{"chat_id": 815}]}), Some("815")),
        (&notify, json!({"target": "815"}), Some("815")),
        (&notify, json!({"message": "815"}), None),
        (&own, json!({"chat_id": "815"}), None),
    ] {
        let checked = call(tool, &telegram, false).check(arguments.as_object().unwrap());
        let expected =
            refused.map(|chat| format!("the chat `{chat}` is not one of `telegram.allowed_chats`"));
        let message = checked.err().map(|failure| failure.message);
        assert_eq!(message, expected, "{arguments}");
    }
    let failure = call(&server, &telegram, false)
        .check(json!({"chat_id": "815"}).as_object().unwrap())
        .unwrap_err();
    assert_eq!(
        failure.hint.as_deref(),
        Some("leave `chat_id` out, or use `4711`, `42`, `@news`")
    );
    let unlimited = self::telegram(&[]);
    let checked =
        call(&server, &unlimited, false).check(json!({"chat_id": "815"}).as_object().unwrap());
    assert_eq!(checked, Ok(()));
}
