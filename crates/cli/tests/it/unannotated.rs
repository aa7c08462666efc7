//! Tools of servers without annotations: a chat asks, and `always` is remembered for the tool, also in later
//! processes, until it is revoked or the tool changes.

use deft_testkit::{BotApi, Kind, ModelAnswer, Script, witness};
use serde_json::{Value, json};

use crate::chat_support::{home, model, section};
use crate::daemon::{Daemon, used_home};
use crate::support::{World, server};
use crate::terminal::Terminal;

const ADA: i64 = 4711;

/// Returns the script of a server with a tool without annotations, and a read-only tool.
fn script(description: &str) -> Script {
    Script::new()
        .tool(
            "post",
            json!({"description": description, "text": "posted"}),
        )
        .tool(
            "look",
            json!({"annotations": {"readOnlyHint": true}, "text": "seen"}),
        )
}

fn called(world: &World) -> usize {
    let log = witness(&world.path("server/demo.log"));
    let started = log.iter().filter(|event| event.kind == Kind::Started);
    started.count()
}

fn posts(turns: usize) -> Vec<ModelAnswer> {
    let turn = |n: usize| {
        let look = ModelAnswer::call("look", json!({}));
        let post = ModelAnswer::call("post", json!({ "n": n }));
        [look, post, ModelAnswer::text(&format!("Done {n}."))]
    };
    (1..=turns).flat_map(turn).collect()
}

/// Sends a message in a new chat, answers each approval, and ends when the answer arrives. Returns the
/// screen.
fn chat(world: &World, answers: &[&str], done: &str) -> String {
    let mut terminal = Terminal::start(world, &["chat"]);
    terminal.until("`/help` lists commands").until("> ");
    terminal.keys("post it\r");
    for answer in answers {
        terminal
            .until("[y/N/always/skip]")
            .keys(&format!("{answer}\r"));
    }
    terminal.until(done).until_line(">");
    terminal.keys("/quit\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    screen
}

#[test]
fn an_always_answer_is_valid_until_revoked_or_the_tool_changes() {
    let model = model(posts(4));
    let world = home(&model, "[agent]\ntools = [\"post\", \"look\"]\n\n");
    let config = world.read("home/config.toml");
    let with = |description: &str| {
        let server = server(&world, &script(description));
        world.write("home/config.toml", config.clone() + &server);
    };
    with("Posts a note.");
    let screen = chat(&world, &["always"], "Done 1.");
    let question =
        "Call `post`? Its server does not say whether it changes or deletes something.   n: 1 ";
    assert!(screen.replace('\n', " ").contains(question), "{screen}");
    assert_eq!(called(&world), 2);

    // Another process uses the grant, and commands show it.
    let screen = chat(&world, &[], "Done 2.");
    assert!(!screen.contains("[y/N"), "{screen}");
    assert_eq!(called(&world), 4);
    let shown = world.json(&["tools", "show", "post", "--json"]);
    let approval = &shown["tool"]["approval"];
    assert_eq!(approval["asked_in_chats"], false, "{shown:#}");
    assert_eq!(
        approval["always"]["by"], "the person at the terminal",
        "{shown:#}"
    );
    let grants = world.json(&["approvals", "grants", "--json"]);
    let grant = &grants["grants"][0];
    assert_eq!(
        (&grant["tool"], &grant["skill"], &grant["describes"]),
        (
            &json!("demo.post"),
            &Value::Null,
            &json!("every call of `demo.post` in chats")
        ),
        "{grants:#}"
    );

    assert_eq!(world.code(&["tools", "forget", "post"]), 0);
    assert_eq!(world.code(&["tools", "forget", "post"]), 2);
    let shown = world.run(&["tools", "show", "post"]);
    assert!(
        shown.contains("chats ask before each call: the server does not say"),
        "{shown}"
    );
    chat(&world, &["a"], "Done 3.");
    assert_eq!(called(&world), 6);

    // The server changes the description of the tool.
    with("Posts a note and deletes the others.");
    chat(&world, &["no"], "Done 4.");
    let shown = world.run(&["tools", "show", "post"]);
    assert!(
        shown.contains("the tool has changed since you chose `always`"),
        "{shown}"
    );
}

/// Telegram has a button for `always`, but only for tools to which it applies.
#[test]
fn telegram_has_a_button_for_always() {
    let (bot, model) = (BotApi::start(), model(posts(2)));
    let world = used_home();
    let config = format!(
        "{}[agent]\ntools = [\"post\", \"look\"]\n\n[telegram]\ntoken = {}\nbase_url = {}\nallowed_chats = [{ADA}]\n\n{}",
        section(&model.url),
        json!(format!("file:{}", world.path("token").display())),
        json!(bot.url),
        server(&world, &script("Posts a note."))
    );
    world
        .write("token", format!("{}\n", bot.token))
        .write("home/config.toml", config);
    let daemon = Daemon::start(&world);
    bot.write(ADA, "post it");
    let asked = bot.until_called("sendMessage", 1).remove(0);
    let buttons = &asked["reply_markup"]["inline_keyboard"];
    let labels: Vec<&Value> = buttons
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|button| &button["text"])
        .collect();
    assert_eq!(labels, ["Approve", "Always", "Reject"], "{asked:#}");
    let always = buttons
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .find(|button| button["text"] == "Always")
        .unwrap();
    bot.press(ADA, 1, always["callback_data"].as_str().unwrap());
    bot.until_called("sendMessage", 2);
    bot.write(ADA, "post it again");
    bot.until_called("sendMessage", 3);
    daemon.stop();
    let texts: Vec<Value> = bot
        .calls_of("sendMessage")
        .iter()
        .skip(1)
        .map(|body| body["text"].clone())
        .collect();
    assert_eq!(texts, ["Done 1.", "Done 2."]);
    assert_eq!(called(&world), 4);
}

/// A daemon logs problems of a skill with tools once (S3.26).
#[test]
fn a_daemon_logs_unknown_tools_once() {
    let world = used_home();
    let config = server(&world, &script("Posts a note."));
    let skill = |tool: &str| {
        format!("name: wrong\ndescription: Wrong\nsteps:\n  - {{id: one, tool: {tool}}}\n")
    };
    world
        .write("home/config.toml", config)
        .write("home/skills/wrong.yaml", skill("demo.psot"));
    let mut daemon = Daemon::start(&world);
    let line = daemon.until("no server provides `demo.psot`");
    assert!(
        line.contains("wrong") && line.contains("did you mean `demo.post`?"),
        "{line}"
    );
    world.write("home/skills/wrong.yaml", skill("demo.lok"));
    daemon.until("no server provides `demo.lok`");
    let output = daemon.stop();
    assert_eq!(output.matches("no server provides").count(), 2, "{output}");
}
