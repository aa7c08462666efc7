//! Messages over a double of the Telegram Bot API, checked at both ends.

use std::sync::mpsc::channel;

use deft_testkit::{BotAnswer, BotApi, HttpDouble, Reaction};
use serde_json::{Value, json};

use crate::daemon::{Daemon, WAIT_TIMEOUT, used_home, wait_for};
use crate::support::World;

fn world(bot: &BotApi) -> World {
    let world = used_home();
    configure(&world, bot);
    world
}

fn configure(world: &World, bot: &BotApi) {
    world.write("token", format!("{}\n", bot.token)).write(
        "home/config.toml",
        format!(
            "[notify]\ntarget = \"4711\"\n\n[telegram]\ntoken = {}\nbase_url = {}\n",
            json!(format!("file:{}", world.path("token").display())),
            json!(bot.url)
        ),
    );
}

fn notify(world: &World, text: &str) {
    let message = format!("message={text}");
    assert_eq!(world.code(&["tools", "call", "notify", &message]), 0);
}

fn the_notice(world: &World) -> Value {
    let listed = world.json(&["notices", "list", "--json"]);
    let all = listed["notices"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{listed:#}");
    all[0].clone()
}

/// After temporary errors of the service the message still arrives, once, and the receipt confirms it.
#[test]
fn a_message_arrives_once_despite_failures() {
    let bot = BotApi::start();
    bot.script([
        BotAnswer::Error(500, "Internal Server Error".to_owned()),
        BotAnswer::TooMany(1),
    ]);
    let world = world(&bot);
    let daemon = Daemon::start(&world);
    notify(&world, "Drink water!");
    let sent = wait_for("the receipt", || {
        let notice = the_notice(&world);
        (notice["status"] == "sent").then_some(notice)
    });
    assert_eq!(
        (&sent["attempts"], &sent["receipt"], &sent["notice"]["text"]),
        (
            &json!(3),
            &json!("telegram 4711 [1]"),
            &json!("Drink water!")
        ),
        "{sent:#}"
    );
    daemon.stop();
    let calls = bot.calls();
    assert_eq!(calls.len(), 3);
    assert!(
        calls
            .iter()
            .all(|call| call.body == json!({"chat_id": "4711", "text": "Drink water!"}))
    );
    let log = world.read("home/logs/notices.log");
    assert!(log.contains("Drink water!"), "everything is in the log too");
}

/// Without a daemon the command itself sends the message, and leaves a failed delivery to the next process.
#[test]
fn a_message_stays_queued_after_a_broken_connection() {
    let bot = BotApi::start();
    bot.script([BotAnswer::Close]);
    let world = world(&bot);
    notify(&world, "later");
    let notice = the_notice(&world);
    assert_eq!(
        (&notice["status"], &notice["attempts"]),
        (&json!("queued"), &json!(1)),
        "{notice:#}"
    );
    assert!(
        notice["error"].as_str().unwrap().starts_with("network: "),
        "{notice:#}"
    );
    assert!(notice["next_try_at"].is_string());
}

/// A request to a service that hangs times out and is retried later.
#[test]
fn a_hanging_service_is_retried() {
    let bot = BotApi::start();
    bot.script([BotAnswer::Hang]);
    let world = world(&bot);
    world.write(
        "home/config.toml",
        format!("{}timeout = \"200ms\"\n", world.read("home/config.toml")),
    );
    notify(&world, "anybody?");
    let notice = the_notice(&world);
    assert_eq!(
        (&notice["status"], &notice["attempts"]),
        (&json!("queued"), &json!(1))
    );
    let error = notice["error"].as_str().unwrap();
    assert!(error.starts_with("timeout: "), "{error}");
}

/// A long text is split into several messages. Delivered parts are not sent again, even by another process.
#[test]
fn a_long_message_continues_after_the_last_sent_part() {
    let bot = BotApi::start();
    bot.script([
        BotAnswer::Ok,
        BotAnswer::Error(500, "Internal Server Error".to_owned()),
        BotAnswer::Ok,
        BotAnswer::TooMany(1),
    ]);
    let world = world(&bot);
    let letters = ["a", "b", "c"].map(|letter| letter.repeat(4000));
    notify(&world, &letters.join("\n"));
    assert_eq!(the_notice(&world)["status"], "queued");
    // The first process has exited; the daemon continues.
    let daemon = Daemon::start(&world);
    let sent = wait_for("the receipt", || {
        let notice = the_notice(&world);
        (notice["status"] == "sent").then_some(notice)
    });
    daemon.stop();
    assert_eq!(sent["receipt"], "telegram 4711 [3] after 2 sent earlier");
    let said: Vec<String> = bot
        .calls()
        .iter()
        .map(|call| call.body["text"].as_str().unwrap()[..1].to_owned())
        .collect();
    // `b` and `c` failed once each.
    assert_eq!(said, ["a", "b", "b", "c", "c"]);
}

/// A permanent error is not retried, is shown by doctor, and the message can be sent again.
#[test]
fn a_wrong_chat_fails_permanently_and_is_reported() {
    let bot = BotApi::start();
    bot.script([BotAnswer::Error(
        400,
        "Bad Request: chat not found".to_owned(),
    )]);
    let world = world(&bot);
    notify(&world, "hello?");
    let dead = world.json(&["notices", "list", "--dead", "--json"]);
    assert_eq!(dead["notices"][0]["status"], "dead", "{dead:#}");
    let doctor = world.json(&["doctor", "--json"]);
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["id"] == "notices.dead")
        .unwrap();
    assert_eq!(check["status"], "bad");
    assert_eq!(
        world.json(&["notices", "retry", "--json"]),
        json!({"queued": 1})
    );
    assert_eq!(
        the_notice(&world)["status"],
        "sent",
        "the command carried it"
    );
}

/// S0.48: for a reminder without a chat, the person's own chat is used.
#[test]
fn a_reminder_without_a_chat_goes_to_the_primary_one() {
    let bot = BotApi::start();
    let world = world(&bot);
    let args = json!({
        "name": "Drink water reminder",
        "trigger_type": "cron",
        "trigger_config": {"in_minutes": 5},
        "instructions": "Send a reminder to drink water",
        "required_tools": ["telegram_send_message"],
        "execution_plan": [
            {"id": "step1", "toolName": "telegram_send_message", "parameters": {"message": "Drink water!"}}
        ],
        "notify_on_completion": false,
    });
    let call = [
        "tools",
        "call",
        "memory_store_skill",
        "--json",
        "--args",
        &args.to_string(),
    ];
    let stored = world.json(&call);
    let next = stored["value"]["skill"]["trigger"]["next"][0]
        .as_str()
        .unwrap();
    let ticked = world.json(&["tick", "--now", next, "--json"]);
    assert_eq!(ticked["fired"][0]["outcome"], "success", "{ticked:#}");
    let calls = bot.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        calls[0].body,
        json!({"chat_id": "4711", "text": "Drink water!"})
    );
    let listed = world.json(&["notices", "list", "--json"]);
    assert_eq!(listed["notices"], json!([]), "the reminder is the message");
    let said = ticked.to_string() + &world.read("home/logs/deft.log");
    assert!(!said.contains(&bot.token), "the token is nobody's business");
}

/// S0.44: chat ids invented by models are ignored.
#[test]
fn an_invented_chat_is_replaced() {
    let bot = BotApi::start();
    let world = world(&bot);
    let args = json!({"text": "hi", "chat_id": "the_chat_of_the_user_who_asked"}).to_string();
    let sent = world.json(&[
        "tools",
        "call",
        "telegram_send_message",
        "--args",
        &args,
        "--json",
    ]);
    assert_eq!(sent["value"]["chat_id"], "4711", "{sent:#}");
}

/// A bot configured while deft is running is used without a restart.
#[test]
fn another_channel_is_used_without_a_restart() {
    let bot = BotApi::start();
    let world = used_home();
    let mut daemon = Daemon::start(&world);
    notify(&world, "to the log");
    daemon.until("notice: to the log");
    configure(&world, &bot);
    daemon.until("configuration reloaded");
    notify(&world, "to the chat");
    wait_for("the chat", || {
        let sent = bot.calls();
        let texts: Vec<&Value> = sent.iter().map(|call| &call.body["text"]).collect();
        (texts == ["to the chat"]).then_some(())
    });
    daemon.stop();
}

/// A webhook receives a POST with an idempotency key that is the same for retries.
#[test]
fn a_webhook_gets_the_message_as_json() {
    let (sender, heard) = channel();
    let hook = HttpDouble::start(move |request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        sender.send(body).unwrap();
        Reaction::Answer(204, Vec::new(), String::new())
    });
    let target = json!(format!("{}/hook", hook.url));
    let told = || {
        let world = used_home();
        world.write(
            "home/config.toml",
            format!("[notify]\nchannel = \"webhook\"\ntarget = {target}\n"),
        );
        notify(&world, "ping");
        let body = heard.recv_timeout(WAIT_TIMEOUT).unwrap();
        assert_eq!(
            (&body["kind"], &body["text"]),
            (&json!("message"), &json!("ping")),
            "{body}"
        );
        assert_eq!(the_notice(&world)["receipt"], "http 204");
        body["key"].as_str().unwrap().to_owned()
    };
    // Two homes may share a receiver, so their keys must differ.
    assert_ne!(told(), told());
}

/// A message that the receiver refuses is still written to the log.
#[test]
fn refused_webhook_messages_are_logged() {
    let hook = HttpDouble::start(|_| Reaction::Answer(500, Vec::new(), String::new()));
    let world = used_home();
    let target = json!(format!("{}/hook", hook.url));
    world.write(
        "home/config.toml",
        format!("[notify]\nchannel = \"webhook\"\ntarget = {target}\n"),
    );
    notify(&world, "ping");
    let log = world.read("home/logs/notices.log");
    let line: Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!(line["text"], "ping");
    let why = line["error"].as_str().unwrap();
    assert!(why.contains("answered with status 500"), "{why}");
}

#[test]
fn an_invalid_target_is_reported() {
    for (target, status) in [("not-a-url", "bad"), ("https://example.com/hook", "ok")] {
        let world = used_home();
        world.write(
            "home/config.toml",
            format!("[notify]\nchannel = \"webhook\"\ntarget = \"{target}\"\n"),
        );
        let output = world.output(&["doctor", "--json"]);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut checks = found["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["id"] == "notify.channel");
        assert_eq!(check.unwrap()["status"], status, "{target}");
    }
}
