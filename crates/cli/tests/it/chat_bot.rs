//! `deft up` with a bot and a model, as seen from Telegram and from the model.

use deft_testkit::{BotAnswer, BotApi, Gate, ModelAnswer, ModelServer};
use serde_json::{Value, json};

use crate::chat_support::{messages, model, section};
use crate::daemon::{Daemon, runs, used_home, wait_for};
use crate::support::World;

const ADA: i64 = 4711;
const STRANGER: i64 = 666;

fn configure(world: &World, bot: &BotApi, model: &ModelServer) {
    world.write("token", format!("{}\n", bot.token)).write(
        "home/config.toml",
        format!(
            "{}[agent]\napprove = [\"notify\"]\ntools = [\"needed\", \"notify\"]\n\n[telegram]\ntoken = {}\nbase_url = {}\nallowed_chats = [{ADA}]\n",
            section(&model.url),
            json!(format!("file:{}", world.path("token").display())),
            json!(bot.url)
        ),
    );
}

fn world(bot: &BotApi, model: &ModelServer) -> World {
    let world = used_home();
    configure(&world, bot, model);
    world
}

/// Returns the texts sent to a chat.
fn texts(bot: &BotApi, chat: i64) -> Vec<String> {
    let to = |body: &Value| match &body["chat_id"] {
        Value::String(id) => id.parse().ok(),
        id => id.as_i64(),
    };
    let all = bot.calls_of("sendMessage").into_iter();
    all.filter(|body| to(body) == Some(chat))
        .map(|body| body["text"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the latest notice.
fn latest_notice(world: &World) -> Value {
    let all = world.json(&["notices", "list", "--json"]);
    all["notices"].get(0).cloned().unwrap_or_default()
}

fn last_message(request: &Value) -> String {
    messages(request).pop().unwrap().1
}

#[test]
fn only_allowed_people_are_answered() {
    let (bot, gate) = (BotApi::start(), Gate::default());
    let model = model([
        ModelAnswer::text("**Hello**, Ada!").gate(1, &gate),
        ModelAnswer::text("You said hi."),
    ]);
    let world = world(&bot, &model);
    let daemon = Daemon::start(&world);
    bot.write(STRANGER, "Let me in");
    bot.write(ADA, "Hi");
    // The bot shows that it is typing.
    let typing = bot.until_called("sendChatAction", 1);
    assert_eq!(typing[0]["action"], "typing", "{typing:?}");
    assert_eq!(texts(&bot, ADA), Vec::<String>::new());
    gate.open();
    bot.until_called("sendMessage", 1);
    bot.write(ADA, "What did I say?");
    bot.until_called("sendMessage", 2);
    let log = daemon.stop();
    assert_eq!(texts(&bot, ADA), ["Hello, Ada!", "You said hi."]);
    assert_eq!(texts(&bot, STRANGER), Vec::<String>::new());
    assert!(log.contains(&STRANGER.to_string()), "{log}");
    assert!(!log.contains(&bot.token), "the token is nobody's business");
    let asked = model.requests();
    assert_eq!(asked.len(), 2);
    let prompt: Vec<String> = messages(&asked[1])
        .into_iter()
        .filter(|(role, _)| role != "system")
        .map(|(_, text)| text)
        .collect();
    assert_eq!(prompt, ["Hi", "**Hello**, Ada!", "What did I say?"]);
    let kept = world.json(&["chat", "list", "--channel", "telegram:4711", "--json"]);
    assert_eq!(kept["conversations"].as_array().unwrap().len(), 1);
}

#[test]
fn commands_are_answered_in_their_order() {
    let bot = BotApi::start();
    let model = model([]);
    let world = world(&bot, &model);
    let daemon = Daemon::start(&world);
    let commands = ["/cost", "/skills", "/foo", "/help", "/cost", "/foo"];
    for command in commands {
        bot.write(ADA, command);
    }
    bot.until_called("sendMessage", commands.len());
    daemon.stop();
    let sent = texts(&bot, ADA);
    assert_eq!((&sent[0], &sent[2]), (&sent[4], &sent[5]), "{sent:?}");
    assert!(sent[0].contains("since the last restart"), "{sent:?}");
    assert_ne!(sent[1], sent[2]);
}

/// An approval is answered by a button, also if deft restarts in between.
#[test]
fn a_question_is_answered_by_a_button() {
    for restart in [false, true] {
        let bot = BotApi::start();
        let model = model([
            ModelAnswer::call("notify", json!({"message": "All hands!"})),
            ModelAnswer::text("They know."),
        ]);
        let world = world(&bot, &model);
        let mut daemon = Daemon::start(&world);
        bot.write(ADA, "Tell everybody");
        let question = bot.until_called("sendMessage", 1).remove(0);
        let button = &question["reply_markup"]["inline_keyboard"][0][0];
        assert_eq!(button["text"], "Approve", "{question:#}");
        if restart {
            daemon.kill();
            daemon = Daemon::start(&world);
        }
        bot.press(ADA, 1, button["callback_data"].as_str().unwrap());
        wait_for("the answer", || {
            let sent = texts(&bot, ADA);
            let there = |text: &str| sent.iter().any(|one| one == text);
            (there("They know.") && there("All hands!")).then_some(())
        });
        let edited = bot.until_called("editMessageText", 1);
        let shown = edited[0]["text"].as_str().unwrap();
        assert!(shown.contains("approved by"), "{shown}");
        daemon.stop();
        let sent = texts(&bot, ADA);
        let times = |text: &str| sent.iter().filter(|one| *one == text).count();
        assert_eq!(
            (times("All hands!"), times("They know.")),
            (1, 1),
            "{sent:?}"
        );
        assert_eq!(model.requests().len(), 2, "restart {restart}");
    }
}

/// Covers a crash in the middle of an answer, and a message that arrives while deft is not running.
#[test]
fn no_message_is_lost_or_answered_twice() {
    let bot = BotApi::start();
    let model = model([
        ModelAnswer::text("First."),
        ModelAnswer::hang(),
        ModelAnswer::text("Second."),
        ModelAnswer::text("Third."),
    ]);
    let world = world(&bot, &model);
    let daemon = Daemon::start(&world);
    bot.write(ADA, "one");
    bot.until_called("sendMessage", 1);
    bot.write(ADA, "two");
    wait_for("the question", || {
        (model.requests().len() == 2).then_some(())
    });
    daemon.kill();
    bot.write(ADA, "three");
    let daemon = Daemon::start(&world);
    bot.until_called("sendMessage", 3);
    daemon.stop();
    // After another start no work is left.
    let seen = bot.calls_of("getUpdates").len();
    let daemon = Daemon::start(&world);
    bot.until_called("getUpdates", seen + 1);
    daemon.stop();
    assert_eq!(texts(&bot, ADA), ["First.", "Second.", "Third."]);
    let asked: Vec<String> = model.requests().iter().map(last_message).collect();
    assert_eq!(asked, ["one", "two", "two", "three"]);
    assert_eq!(bot.unconfirmed_updates(), Vec::<i64>::new());
    assert_eq!(runs(&world, "chat").len(), 3);
}

/// The delivery of an answer fails, and deft crashes before it retries. The run has ended, so only the outbox
/// has the answer.
#[test]
fn an_undelivered_answer_survives_a_crash() {
    let bot = BotApi::start();
    // Three messages; only the first one is delivered.
    let parts = ["a", "b", "c"].map(|letter| letter.repeat(4000));
    bot.script_for("sendMessage", [BotAnswer::Ok, BotAnswer::TooMany(1)]);
    let model = model([ModelAnswer::text(&parts.join("\n"))]);
    let world = world(&bot, &model);
    let daemon = Daemon::start(&world);
    bot.write(ADA, "Tell me a story");
    let refused = wait_for("a refusal", || {
        let notice = latest_notice(&world);
        notice["error"].is_string().then_some(notice)
    });
    assert_eq!(
        (&refused["notice"]["kind"], &refused["status"]),
        (&json!("answer"), &json!("queued")),
        "{refused:#}"
    );
    daemon.kill();
    assert_eq!(runs(&world, "chat")[0]["outcome"], "success");
    let daemon = Daemon::start(&world);
    wait_for("the receipt", || {
        let notice = latest_notice(&world);
        (notice["status"] == "sent").then_some(())
    });
    daemon.stop();
    let sent = texts(&bot, ADA);
    let [first, second, third] = parts;
    // The second part was sent twice because it was refused once.
    assert_eq!(sent, [first, second.clone(), second, third]);
    assert_eq!(model.requests().len(), 1);
}

/// After a restart deft sends a stored question whose delivery failed again, once, and it can be answered in
/// the chat.
#[test]
fn an_undelivered_question_survives_a_crash() {
    let bot = BotApi::start();
    bot.script_for("sendMessage", [BotAnswer::TooMany(1)]);
    let model = model([
        ModelAnswer::call("notify", json!({"message": "All hands!"})),
        ModelAnswer::text("They know."),
    ]);
    let world = world(&bot, &model);
    let daemon = Daemon::start(&world);
    bot.write(ADA, "Tell everybody");
    wait_for("a refusal", || {
        let notice = latest_notice(&world);
        notice["error"].is_string().then_some(())
    });
    daemon.kill();
    let daemon = Daemon::start(&world);
    let question = wait_for("the question", || {
        let sent = bot.calls_of("sendMessage").into_iter().skip(1);
        let mut asked = sent.filter(|body| body["reply_markup"].is_object());
        asked.next()
    });
    let button = &question["reply_markup"]["inline_keyboard"][0][0];
    bot.press(ADA, 1, button["callback_data"].as_str().unwrap());
    wait_for("the answer", || {
        let sent_texts = texts(&bot, ADA);
        sent_texts
            .iter()
            .any(|text| text == "They know.")
            .then_some(())
    });
    daemon.stop();
    let asked = bot.calls_of("sendMessage").into_iter();
    let asked = asked.filter(|body| body["reply_markup"].is_object());
    assert_eq!(asked.count(), 2, "one was refused");
    assert_eq!(runs(&world, "chat").len(), 1);
}

#[test]
fn the_model_can_be_changed_without_a_restart() {
    let bot = BotApi::start();
    let old = model([ModelAnswer::text("From the old one.")]);
    let new = model([ModelAnswer::text("From the new one.")]);
    let world = world(&bot, &old);
    let mut daemon = Daemon::start(&world);
    bot.write(ADA, "one");
    bot.until_called("sendMessage", 1);
    configure(&world, &bot, &new);
    daemon.until("configuration reloaded");
    bot.write(ADA, "two");
    bot.until_called("sendMessage", 2);
    daemon.stop();
    assert_eq!(texts(&bot, ADA), ["From the old one.", "From the new one."]);
    assert_eq!((old.requests().len(), new.requests().len()), (1, 1));
}
