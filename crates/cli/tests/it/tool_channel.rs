//! Notices delivered by a tool of a server.

use std::path::{Path, PathBuf};

use deft_testkit::{Event, Kind, Script, server_binary, witness};
use serde_json::{Value, json};

use crate::daemon::{Daemon, used_home};
use crate::support::World;

/// Creates a home whose notices are sent by a tool of the server `chat`. Returns the home and the server's
/// log.
fn world(tool: Value, notify: &str) -> (World, PathBuf) {
    let world = used_home();
    world.write("server/x", "");
    let script = Script::new().tool("slack_post", tool);
    let arguments = script.write(&world.path("server"), "chat");
    let config = format!(
        "[notify]\nchannel = \"tool:slack_post\"\n{notify}\n\n\
         [mcp_servers.chat]\ncommand = {}\nargs = {}\n",
        json!(server_binary()),
        json!(arguments.list()),
    );
    world.write("home/config.toml", config);
    (world, arguments.witness)
}

fn schema() -> Value {
    json!({"type": "object", "required": ["channel", "message"], "additionalProperties": false,
        "properties": {"channel": {"type": "integer"}, "message": {"type": "string"}}})
}

fn notify(world: &World, text: &str) {
    let message = format!("message={text}");
    assert_eq!(world.code(&["tools", "call", "notify", &message]), 0);
}

fn the_notice(world: &World) -> Value {
    let mut listed = world.json(&["notices", "list", "--json"]);
    listed["notices"][0].take()
}

/// Returns the calls that really arrived at the server.
fn arrived(log: &Path) -> Vec<Event> {
    let mut all = witness(log);
    all.retain(|event| event.kind == Kind::Finished);
    all
}

fn channel_check(world: &World) -> Value {
    let doctor = world.output(&["doctor", "--json"]);
    let document: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let checks = document["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["id"] == "notify.channel");
    let check = found.unwrap();
    json!([check["status"], check["message"], check["hint"]])
}

#[test]
fn a_tool_carries_notices_with_their_key() {
    let tool = json!({"schema": schema(), "text": "posted as 17"});
    let (world, log) = world(tool, "target = \"4711\"");
    assert_eq!(
        channel_check(&world),
        json!(["ok", "notices are delivered by `slack_post`", null])
    );
    notify(&world, "Drink water!");
    let calls = arrived(&log);
    let calls: Vec<_> = calls
        .iter()
        .map(|call| (call.tool.as_str(), &call.arguments, call.key.as_deref()))
        .collect();
    // The target is a number, because the schema of the tool requires one.
    let arguments = json!({"channel": 4711, "message": "Drink water!"});
    let [(tool, given, Some(key))] = calls[..] else {
        panic!("{calls:?}");
    };
    assert_eq!((tool, given), ("slack_post", &arguments));
    assert!(key.starts_with("notice-"), "{key}");
    let notice = the_notice(&world);
    assert_eq!(
        (&notice["status"], &notice["receipt"]),
        (&json!("sent"), &json!("chat.slack_post: posted as 17"))
    );
    assert!(world.read("home/logs/notices.log").contains("Drink water!"));
}

/// An unsuitable tool is reported before a message is sent, and no message is lost.
#[test]
fn an_unsuitable_tool_is_refused_with_a_hint() {
    let schema = json!({"type": "object", "required": ["phrase"], "properties": {"phrase": {"type": "string"}}});
    let (world, log) = world(json!({"schema": schema}), "");
    let message = "cannot tell which argument of `slack_post` takes the text of a notice";
    assert_eq!(
        channel_check(&world),
        json!([
            "bad",
            message,
            "`deft config set notify.text_argument NAME`; it has `phrase`"
        ])
    );
    let mut daemon = Daemon::start(&world);
    daemon.until(message);
    daemon.stop();
    notify(&world, "hello");
    let notice = the_notice(&world);
    assert_eq!(
        (&notice["status"], &notice["attempts"], &notice["error"]),
        (
            &json!("queued"),
            &json!(0),
            &json!(format!("invalid: {message}"))
        ),
        "it waits until that is mended"
    );
    assert_eq!(
        world.code(&["config", "set", "notify.text_argument", "phrase"]),
        0
    );
    assert_eq!(channel_check(&world)[0], "ok");
    notify(&world, "again");
    let texts: Vec<Value> = arrived(&log)
        .into_iter()
        .map(|call| call.arguments["phrase"].clone())
        .collect();
    assert_eq!(texts, ["again"], "the first one has its time");
}

/// While the server is down, messages stay queued, however often delivery is tried.
#[test]
fn messages_stay_queued_while_the_server_is_down() {
    let (world, _) = world(json!({"schema": schema()}), "target = \"1\"");
    let config = world.read("home/config.toml");
    let broken = config.replace(&json!(server_binary()).to_string(), "\"/no/such/program\"");
    world.write("home/config.toml", &broken);
    assert_eq!(channel_check(&world)[0], "bad");
    notify(&world, "later");
    let notice = the_notice(&world);
    assert_eq!(
        (&notice["status"], &notice["attempts"]),
        (&json!("queued"), &json!(0)),
        "{notice:#}"
    );
    assert!(notice["next_try_at"].is_string());
}

/// A permanent error of the tool ends delivery; a temporary error is retried.
#[test]
fn the_result_of_the_tool_decides_delivery() {
    for (answer, status) in [
        (json!({"error": "401 unauthorized: token expired"}), "dead"),
        (json!({"error": "503 service unavailable"}), "queued"),
        (json!({"text": "❌ could not post"}), "queued"),
    ] {
        let mut tool = answer.clone();
        tool["schema"] = schema();
        let (world, _) = world(tool, "target = \"1\"");
        notify(&world, "hello");
        let notice = the_notice(&world);
        assert_eq!(
            (&notice["status"], &notice["attempts"]),
            (&json!(status), &json!(1)),
            "{answer}: {notice:#}"
        );
    }
    // A target that the tool cannot accept is a permanent error.
    let (world, _) = world(json!({"schema": schema()}), "target = \"nobody\"");
    notify(&world, "hello");
    assert_eq!(the_notice(&world)["status"], "dead");
}

/// A tool that creates notices cannot be used to deliver them.
#[test]
fn a_channel_that_creates_notices_is_refused() {
    let world = used_home();
    let set = |to: &str| world.run(&["config", "set", "notify.channel", to]);
    let output = set("tool:notify");
    assert!(output.starts_with("exit 2\n"), "{output}");
    assert!(
        output.contains("cannot be `notify`: it would create notices instead of sending them"),
        "{output}"
    );
    let output = set("telegrm");
    assert!(output.contains("did you mean `telegram`?"), "{output}");
    assert!(set("tool:").starts_with("exit 2\n"));
    assert!(set("tool:chat.slack_post").starts_with("exit 0\n"));
}
