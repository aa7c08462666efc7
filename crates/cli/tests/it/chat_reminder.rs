//! "Remind me in 5 minutes to drink water", from the request to the delivered message.

use deft_testkit::{BotApi, ModelAnswer};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::chat_support::{deft, model, section, tools};
use crate::support::World;

fn store() -> ModelAnswer {
    ModelAnswer::call(
        "memory_store_skill",
        json!({
            "name": "Drink water reminder",
            "trigger_type": "cron",
            "trigger_config": {"in_minutes": 5},
            "instructions": "Send a reminder to drink water",
            "required_tools": ["telegram_send_message"],
            "execution_plan": [{
                "id": "step1", "toolName": "telegram_send_message",
                "parameters": {"message": "Drink water!"},
            }],
            "notify_on_completion": false,
        }),
    )
}

/// S0.54: in a new home, a message that needs no tools has a small prompt.
#[test]
fn a_plain_question_uses_few_tokens() {
    let world = World::new();
    world.write("home/config.toml", section("http://127.0.0.1:1"));
    world.json(&["init", "--yes", "--json"]);
    let question = "What is the capital of France?";
    let shown = world.json(&["chat", "-p", question, "--show-prompt", "--json"]);
    let offered = shown["tools"].as_array().unwrap().iter();
    let offered: Vec<&Value> = offered.map(|tool| &tool["name"]).collect();
    assert_eq!(offered, ["skill", "get_tool_catalog", "skill_run"]);
    // Four characters per token, as providers count.
    let sent = [&shown["system"], &shown["messages"], &shown["tools"]];
    let tokens = sent
        .map(|part| part.to_string().len())
        .iter()
        .sum::<usize>()
        / 4;
    assert!((500..=1_000).contains(&tokens), "{tokens}: {shown:#}");
}

/// Uses a new home, whose default skills include the playbook for reminders.
#[test]
fn a_reminder_is_set_in_a_chat() {
    let bot = BotApi::start();
    let model = model([
        store(),
        ModelAnswer::text("I will remind you in 5 minutes."),
    ]);
    let world = World::new();
    world.write("token", format!("{}\n", bot.token)).write(
        "home/config.toml",
        format!(
            "{}[telegram]\ntoken = {}\nbase_url = {}\nallowed_chats = [4711]\n",
            section(&model.url),
            json!(format!("file:{}", world.path("token").display())),
            json!(bot.url)
        ),
    );
    let before = Timestamp::now();
    let output = deft(
        &world,
        &["chat", "-p", "Remind me in 5 minutes to drink water"],
    );
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "I will remind you in 5 minutes.\n"),
        "{output:?}"
    );
    assert!(
        output.stderr.contains("schedules do not run"),
        "no warning that the reminder cannot run: {output:?}"
    );
    let asked = model.requests();
    assert_eq!(asked.len(), 2, "{output:?}");
    let prompt = asked[0]["messages"].to_string();
    assert!(
        prompt.contains("IN is once, EVERY repeats"),
        "the playbook is missing: {prompt}"
    );
    let offered = tools(&asked[0]);
    for tool in ["get_tool_catalog", "memory_store_skill"] {
        assert!(offered.contains(&tool.to_owned()), "{offered:?}");
    }
    assert!(prompt.contains("telegram_send_message"), "{prompt}");
    let chars =
        |asked: &Value| asked["messages"].to_string().len() + asked["tools"].to_string().len();
    let tokens: usize = asked.iter().map(|asked| chars(asked) / 4).sum();
    assert!(tokens <= 6_000, "{tokens} tokens in all");

    let tick = |minutes| {
        let now = before + SignedDuration::from_mins(minutes);
        let ticked = world.json(&["tick", "--now", &now.to_string(), "--json"]);
        let fired = ticked["fired"].as_array().unwrap().clone();
        let of = |one: &&Value| one["skill"] == "drink-water-reminder";
        fired.iter().filter(of).cloned().collect::<Vec<Value>>()
    };
    assert_eq!(tick(4), Vec::<Value>::new(), "it is not time yet");
    let fired = tick(6);
    assert_eq!(fired.len(), 1, "{fired:#?}");
    assert_eq!(fired[0]["outcome"], "success", "{fired:#?}");
    let water = json!({"chat_id": "4711", "text": "Drink water!"});
    let sent = || {
        let all = bot.calls_of("sendMessage");
        all.into_iter().filter(|body| *body == water).count()
    };
    assert_eq!(sent(), 1, "{:#?}", bot.calls());
    assert_eq!(tick(6), Vec::<Value>::new(), "once is once");
    assert_eq!(tick(20), Vec::<Value>::new());
    assert_eq!((sent(), model.requests().len()), (1, 2));
}
