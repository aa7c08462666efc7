//! Messages to Telegram, against a double of the Bot API.

use std::sync::Arc;
use std::time::Duration;

use deft_model::{Effects, Failure, FailureClass};
use deft_testkit::{BotAnswer, BotApi};
use deft_tools::telegram::{Button, ChatId, Client, Receipt, SendOptions, UpdateContent};
use deft_tools::{
    Environment, Options, Reference, Router, Secret, SecretSource, SendError, TelegramOptions,
    ToolLookup,
};
use serde_json::{Value, json};

use crate::support::{call, value};

struct Token(String);

impl SecretSource for Token {
    fn secret(&self, reference: &str) -> Result<Secret, String> {
        match reference {
            "env:BOT" => Ok(Secret::new(&self.0)),
            _ => Err("it is not set".to_owned()),
        }
    }
}

fn options(api: &BotApi) -> TelegramOptions {
    TelegramOptions {
        token: Some(Reference::new("env:BOT")),
        base_url: api.url.clone(),
        allowed_chats: vec!["77".to_owned(), "78".to_owned()],
        ..TelegramOptions::default()
    }
}

fn client(api: &BotApi) -> Client {
    Client::new(&options(api), &Secret::new(&api.token)).unwrap()
}

fn router(api: &BotApi, telegram: TelegramOptions) -> Router {
    let options = Options {
        telegram,
        ..Options::default()
    };
    let environment = Environment {
        secrets: Arc::new(Token(api.token.clone())),
        ..Environment::default()
    };
    Router::new(options, environment)
}

async fn send(client: &Client, text: &str) -> Result<Receipt, SendError> {
    client.send("77", text, &SendOptions::default()).await
}

/// Checks that a failure contains no part of the token.
fn assert_hidden(api: &BotApi, failure: &Failure) {
    let (_, secret) = api.token.split_once(':').unwrap();
    let shown = format!("{failure:?}");
    assert!(!shown.contains(secret), "{shown}");
}

#[tokio::test]
async fn a_message_arrives_with_its_options() {
    let api = BotApi::start();
    let options = SendOptions {
        parse_mode: Some("HTML".to_owned()),
        disable_notification: true,
        disable_web_page_preview: true,
        reply_to_message_id: Some(5),
        message_thread_id: Some(6),
        skip_parts: 0,
    };
    let receipt = client(&api).send("77", "<b>hi</b>", &options).await;
    let expected = Receipt {
        chat: "77".to_owned(),
        message_ids: vec![1],
    };
    assert_eq!(receipt, Ok(expected));
    let [call] = &api.calls()[..] else { panic!() };
    assert_eq!(call.method, "sendMessage");
    assert_eq!(
        call.body,
        json!({
            "chat_id": "77", "text": "<b>hi</b>", "parse_mode": "HTML", "disable_notification": true,
            "link_preview_options": {"is_disabled": true}, "reply_parameters": {"message_id": 5},
            "message_thread_id": 6,
        })
    );
}

#[tokio::test]
async fn failures_have_classes() {
    use FailureClass::{Auth, Invalid, Network, NotFound, Other, Quota};
    let api = BotApi::start();
    let client = client(&api);
    let error = |code, text: &str| BotAnswer::Error(code, text.to_owned());
    let foreign = |status, text: &str| BotAnswer::Foreign(status, text.to_owned());
    let page = "<html>bad gateway</html>";
    for (answer, class, in_doubt, retry_after) in [
        (BotAnswer::TooMany(7), Quota, false, Some(7)),
        (error(401, "Unauthorized"), Auth, false, None),
        (error(404, "Not Found"), Auth, false, None),
        (
            error(403, "Forbidden: bot was blocked by the user"),
            Auth,
            false,
            None,
        ),
        (
            error(400, "Bad Request: chat not found"),
            NotFound,
            false,
            None,
        ),
        (
            error(400, "Bad Request: can't parse entities"),
            Invalid,
            false,
            None,
        ),
        (error(500, "Internal Server Error"), Network, true, None),
        (error(502, "Bad Gateway"), Network, true, None),
        (error(503, "Service Unavailable"), Network, false, None),
        (foreign(502, page), Network, true, None),
        (foreign(404, page), NotFound, false, None),
        (foreign(200, page), Other, true, None),
        (BotAnswer::Close, Network, true, None),
    ] {
        api.script([answer.clone()]);
        let refused = send(&client, "hi").await.unwrap_err();
        assert_eq!(
            (refused.failure.class, refused.failure.in_doubt),
            (class, in_doubt),
            "{answer:?}: {refused:?}"
        );
        assert_eq!(refused.retry_after, retry_after.map(Duration::from_secs));
        assert_hidden(&api, &refused.failure);
    }
    assert_eq!(send(&client, "hi").await.unwrap().message_ids, [1]);
}

#[tokio::test]
async fn refused_and_missing_tokens_are_never_shown() {
    let api = BotApi::start();
    let wrong = Client::new(&options(&api), &Secret::new("1:another-token")).unwrap();
    let failure = send(&wrong, "hi").await.unwrap_err().failure;
    assert_eq!(failure.class, FailureClass::Auth);
    assert!(api.calls().is_empty());
    for token in ["no colon", "1:a/../../x", ":x", "1:"] {
        let failure = Client::new(&options(&api), &Secret::new(token)).unwrap_err();
        assert_eq!(failure.class, FailureClass::Auth, "{failure:?}");
        assert!(!format!("{failure:?}").contains(token), "{failure:?}");
    }
    // The error text of a server that repeats the request.
    let echo = format!("Unauthorized: /bot{}/sendMessage", api.token);
    api.script([BotAnswer::Error(401, echo)]);
    let failure = send(&client(&api), "hi").await.unwrap_err().failure;
    assert_hidden(&api, &failure);
    assert!(failure.message.contains("/bot***/"), "{failure}");
}

#[tokio::test]
async fn a_refused_connection_is_certain_and_a_timeout_is_in_doubt() {
    let api = BotApi::start();
    let silent = TelegramOptions {
        timeout: Duration::from_millis(50),
        ..options(&api)
    };
    api.script([BotAnswer::Hang]);
    let silent = Client::new(&silent, &Secret::new(&api.token)).unwrap();
    let failure = send(&silent, "hi").await.unwrap_err().failure;
    assert_eq!(
        (failure.class, failure.in_doubt),
        (FailureClass::Timeout, true),
        "{failure}"
    );
    assert_hidden(&api, &failure);
    let gone = TelegramOptions {
        base_url: "http://127.0.0.1:9/".to_owned(),
        ..options(&api)
    };
    let gone = Client::new(&gone, &Secret::new(&api.token)).unwrap();
    let failure = send(&gone, "hi").await.unwrap_err().failure;
    assert_eq!(
        (failure.class, failure.in_doubt),
        (FailureClass::Network, false),
        "{failure}"
    );
    assert_hidden(&api, &failure);
}

#[tokio::test]
async fn long_texts_become_messages_and_continue_after_the_last_sent() {
    let api = BotApi::start();
    let client = client(&api);
    let text = vec!["a line that is not very long"; 400].join("\n");
    api.script([BotAnswer::Ok, BotAnswer::TooMany(3)]);
    let refused = send(&client, &text).await.unwrap_err();
    assert_eq!(refused.sent, [1]);
    assert_eq!(refused.retry_after, Some(Duration::from_secs(3)));
    let rest = SendOptions {
        skip_parts: refused.sent.len(),
        ..SendOptions::default()
    };
    let receipt = client.send("77", &text, &rest).await.unwrap();
    assert_eq!(receipt.message_ids, [2, 3]);
    let mut said: Vec<String> = api
        .calls()
        .iter()
        .map(|call| call.body["text"].as_str().unwrap().to_owned())
        .collect();
    // The rejected part was sent twice.
    assert_eq!(said.remove(1), said[1]);
    assert_eq!(said.join("\n"), text);
    let empty = send(&client, " \n").await.unwrap_err().failure;
    assert_eq!(empty.class, FailureClass::Invalid);
}

#[tokio::test]
async fn invalid_chats_become_the_primary_chat() {
    let api = BotApi::start();
    let told = TelegramOptions {
        chat: Some("42".to_owned()),
        allowed_chats: Vec::new(),
        ..options(&api)
    };
    let router = router(&api, told.clone());
    let long = "1".repeat(21);
    for (given, chat) in [
        (None, "42"),
        (Some(json!(null)), "42"),
        (Some(json!(true)), "42"),
        (Some(json!(["77"])), "42"),
        (Some(json!(1.5)), "42"),
        (Some(json!("")), "42"),
        (Some(json!(long)), "42"),
        (Some(json!("1".repeat(20))), &long[..20]),
        (Some(json!("-100123")), "-100123"),
        (Some(json!(-100_123)), "-100123"),
        (Some(json!("@news")), "@news"),
    ] {
        let mut arguments = json!({"text": "hi"});
        if let Some(given) = &given {
            arguments["chat_id"] = given.clone();
        }
        // The double only knows chat ids of the usual length; the test checks the request.
        call(&router, "telegram_send_message", arguments).await.ok();
        let asked = api.calls().last().unwrap().body["chat_id"].clone();
        assert_eq!(asked, json!(chat), "{given:?}");
    }
    router.reload(Options {
        telegram: options(&api),
        ..Options::default()
    });
    let reply = value(&router, "telegram_send_message", json!({"message": "hi"})).await;
    assert_eq!(reply["chat_id"], "77", "the first that is listened to");
    router.reload(Options {
        telegram: TelegramOptions {
            allowed_chats: Vec::new(),
            ..options(&api)
        },
        ..Options::default()
    });
    let failure = call(&router, "telegram_send_message", json!({"text": "hi"}))
        .await
        .unwrap_err();
    assert!(failure.hint.unwrap().contains("notify.target"));
}

/// The bot sends only to `telegram.allowed_chats` and the primary chat.
#[tokio::test]
async fn the_bot_writes_to_allowed_chats_only() {
    let api = BotApi::start();
    let router = router(&api, options(&api));
    for chat in [json!("78"), json!(77)] {
        let arguments = json!({"text": "hi", "chat_id": chat});
        value(&router, "telegram_send_message", arguments).await;
    }
    let arguments = json!({"text": "hi", "chat_id": "79"});
    let failure = call(&router, "telegram_send_message", arguments)
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Invalid);
    assert_eq!(
        failure.message,
        "the chat `79` is not one of `telegram.allowed_chats`"
    );
    let arguments = json!({"message": "hi", "target": "79"});
    call(&router, "notify", arguments).await.unwrap_err();
    assert_eq!(api.calls().len(), 2);
}

#[tokio::test]
async fn the_tool_waits_only_in_the_middle_of_a_message() {
    let api = BotApi::start();
    let router = router(&api, options(&api));
    let tool = "telegram_send_message";
    assert_eq!(router.effects(tool), Some(Effects::Once));
    let long = "word ".repeat(2000);
    api.script([BotAnswer::Ok, BotAnswer::TooMany(0), BotAnswer::TooMany(0)]);
    let reply = value(&router, tool, json!({"text": long})).await;
    assert_eq!(reply, json!({"chat_id": "77", "message_ids": [1, 2, 3]}));
    api.script([BotAnswer::TooMany(0)]);
    let failure = call(&router, tool, json!({"text": long}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.class, failure.in_doubt),
        (FailureClass::Quota, false)
    );
    let no_chat = BotAnswer::Error(400, "Bad Request: chat not found".to_owned());
    api.script([BotAnswer::Ok, no_chat]);
    let failure = call(&router, tool, json!({"text": long}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.class, failure.in_doubt),
        (FailureClass::NotFound, true),
        "half of it is out"
    );
    for arguments in [json!({}), json!({"text": "a", "message": "b"})] {
        let failure = call(&router, tool, arguments).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Invalid);
    }
}

#[tokio::test]
async fn without_a_token_the_tool_is_missing_with_a_hint() {
    let api = BotApi::start();
    let router = router(&api, TelegramOptions::default());
    let listed: Vec<Value> = router.list().iter().map(|tool| json!(tool.name)).collect();
    assert!(!listed.contains(&json!("telegram_send_message")));
    assert!(matches!(
        router.find("telegram_send_message"),
        ToolLookup::Missing { .. }
    ));
    let failure = call(&router, "telegram_send_message", json!({"text": "hi"}))
        .await
        .unwrap_err();
    assert!(failure.blocked && failure.hint.unwrap().contains("config set telegram.token"));
    let missing = TelegramOptions {
        token: Some(Reference::new("env:OTHER")),
        ..options(&api)
    };
    let secrets: Arc<dyn SecretSource> = Arc::new(Token(api.token.clone()));
    let failure = missing.look_up_token(&secrets).await.unwrap_err();
    assert_eq!((failure.class, failure.blocked), (FailureClass::Auth, true));
}

/// Messages and button presses arrive unchanged, unknown updates do no harm, and confirmed updates are
/// never delivered again.
#[tokio::test(flavor = "multi_thread")]
async fn updates_are_received() {
    let api = BotApi::start();
    let client = client(&api);
    api.write(77, "hello");
    api.press(77, 5, "yes apr_1");
    api.push(
        json!({"message": {"chat": {"id": -100, "username": "news"}, "from": {}, "photo": []}}),
    );
    api.push(json!({"poll": {}}));
    let wait = Duration::from_secs(20);
    let updates = client.updates(0, wait).await.unwrap();
    let chat = |id: &str, name: Option<&str>| ChatId {
        id: id.to_owned(),
        name: name.map(str::to_owned),
    };
    let expected = [
        UpdateContent::Message {
            chat: chat("77", None),
            from: "Ada".to_owned(),
            text: Some("hello".to_owned()),
        },
        UpdateContent::Pressed {
            chat: chat("77", None),
            from: "Ada".to_owned(),
            message: 5,
            query: "q1".to_owned(),
            data: "yes apr_1".to_owned(),
        },
        UpdateContent::Message {
            chat: chat("-100", Some("@news")),
            from: "an unknown person".to_owned(),
            text: None,
        },
        UpdateContent::Other,
    ];
    let what: Vec<UpdateContent> = updates.iter().map(|update| update.what.clone()).collect();
    assert_eq!(what, expected);
    assert_eq!(api.unconfirmed_updates(), [1, 2, 3, 4]);
    let again = client.clone();
    let next = tokio::spawn(async move { again.updates(5, wait).await });
    tokio::task::block_in_place(|| api.until_called("getUpdates", 2));
    api.write(78, "later");
    let next = next.await.unwrap().unwrap();
    assert_eq!(next.iter().map(|update| update.id).collect::<Vec<_>>(), [5]);
}

#[tokio::test]
async fn two_listeners_are_distinguished() {
    let api = BotApi::start();
    let conflict = "Conflict: terminated by other getUpdates request";
    api.script([BotAnswer::Error(409, conflict.to_owned())]);
    let refused = client(&api).updates(0, Duration::ZERO).await.unwrap_err();
    assert_eq!(
        refused.failure.message,
        format!("telegram: {conflict} (409)")
    );
    let hint = refused.failure.hint.unwrap();
    assert!(
        hint.starts_with("another program reads the messages"),
        "{hint}"
    );
}

/// A question is a single message, even if it is long.
#[tokio::test]
async fn buttons_belong_to_their_question() {
    let api = BotApi::start();
    let client = client(&api);
    let button = Button {
        label: "Approve".to_owned(),
        data: "yes apr_1".to_owned(),
    };
    let long = "why? ".repeat(2000);
    let id = client.send_buttons("77", &long, &[button]).await.unwrap();
    assert_eq!(id, 1);
    client.edit("77", id, "done").await.unwrap();
    client.answer_press("q1", "Taken.").await.unwrap();
    let methods: Vec<String> = api.calls().into_iter().map(|call| call.method).collect();
    assert_eq!(
        methods,
        ["sendMessage", "editMessageText", "answerCallbackQuery"]
    );
    let keyboard =
        json!({"inline_keyboard": [[{"text": "Approve", "callback_data": "yes apr_1"}]]});
    assert_eq!(api.calls()[0].body["reply_markup"], keyboard);
}
