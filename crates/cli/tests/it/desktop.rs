//! Notices on the desktop, with a `notify-send` that records its arguments, and notices that stay on this
//! host.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::World;

/// Writes each argument on a line, and a separator line after the last one.
const NOTIFY_SEND: &str = "#!/bin/sh\nfor word in \"$@\"; do printf '%s\\n' \"$word\"; done >> \"${0%/*}/shown\"\n\
                           printf '%s\\n' ---- >> \"${0%/*}/shown\"\n";

/// Installs a `notify-send` with this content in the world.
fn with_program(world: &World, content: &str) {
    world.write("bin/notify-send", content);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.path("bin/notify-send"), mode).unwrap();
}

/// Returns the environment variables of a desktop session.
fn session(world: &World) -> [(String, String); 2] {
    let path = world.path("bin").display().to_string();
    [
        ("PATH".to_owned(), path),
        ("WAYLAND_DISPLAY".to_owned(), "wayland-0".to_owned()),
    ]
}

fn on_desktop(world: &World, args: &[&str]) -> Output {
    let mut command: Command = world.command(args);
    command.envs(session(world)).output().unwrap()
}

fn shown(world: &World) -> Option<String> {
    std::fs::read_to_string(world.path("bin/shown")).ok()
}

fn channel_check(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = document["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["id"] == "notify.channel");
    let check = found.unwrap();
    json!([check["status"], check["message"]])
}

fn the_notice(world: &World) -> Value {
    let mut listed = world.json(&["notices", "list", "--json"]);
    listed["notices"][0].take()
}

/// The text is not interpreted by a shell or as an option.
#[test]
fn a_desktop_is_the_default_channel() {
    let world = used_home();
    with_program(&world, NOTIFY_SEND);
    let hostile = "--hint=int:x:1 $(touch owned) `touch owned`; <b>bold</b> \\n";
    let message = format!("message={hostile}");
    let called = on_desktop(
        &world,
        &["tools", "call", "notify", &message, "title=--news"],
    );
    assert!(called.status.success(), "{called:?}");
    assert_eq!(
        shown(&world).unwrap(),
        "--app-name=deft\n--\n--news\n--hint=int:x:1 $(touch owned) `touch owned`; \
         &lt;b&gt;bold&lt;/b&gt; \\\\n\n----\n"
    );
    assert!(!world.path("owned").exists());
    let notice = the_notice(&world);
    assert_eq!(notice["status"], "sent", "{notice:#}");
    assert_eq!(notice["receipt"], "shown on the desktop", "{notice:#}");
    let log = world.read("home/logs/notices.log");
    assert!(log.contains("touch owned"), "{log}");
    let check = channel_check(&on_desktop(&world, &["doctor", "--json"]));
    assert_eq!(check, json!(["ok", "the channel of notices is configured"]));
}

/// The desktop is not used without a session, or if another channel is configured.
#[test]
fn other_channels_come_first() {
    let world = used_home();
    with_program(&world, NOTIFY_SEND);
    let path = world.path("bin").display().to_string();
    let mut command = world.command(&["tools", "call", "notify", "message=x"]);
    assert!(command.env("PATH", path).status().unwrap().success());
    assert_eq!(the_notice(&world)["receipt"], "written to the log");
    world.write("home/config.toml", "[notify]\nchannel = \"log\"\n");
    assert!(
        on_desktop(&world, &["tools", "call", "notify", "message=y"])
            .status
            .success()
    );
    assert_eq!(the_notice(&world)["receipt"], "written to the log");
    assert_eq!(shown(&world), None);
}

/// If the default channel fails, messages are not queued; a configured channel is retried.
#[test]
fn a_failed_desktop_notification_is_reported() {
    let world = used_home();
    with_program(&world, "#!/bin/sh\necho no bus >&2\nexit 3\n");
    assert!(
        on_desktop(&world, &["tools", "call", "notify", "message=x"])
            .status
            .success()
    );
    let notice = the_notice(&world);
    let receipt = notice["receipt"].as_str().unwrap();
    assert!(receipt.starts_with("written to the log: `"), "{notice:#}");
    assert!(receipt.ends_with("(exit status: 3): no bus"), "{notice:#}");
    world.write("home/config.toml", "[notify]\nchannel = \"desktop\"\n");
    assert!(
        on_desktop(&world, &["tools", "call", "notify", "message=y"])
            .status
            .success()
    );
    let notice = the_notice(&world);
    assert_eq!(notice["status"], "queued", "{notice:#}");
    // The desktop is still configured, but not available.
    let check = channel_check(&world.output(&["doctor", "--json"]));
    assert_eq!(check[0], "bad", "{check}");
}

/// Notices of the example stay on this host, whatever channel is configured, here an unreachable Telegram
/// bot.
#[test]
fn the_example_is_local_and_deletes_itself() {
    let world = World::new();
    with_program(&world, NOTIFY_SEND);
    world.write(
        "home/config.toml",
        "[telegram]\ntoken = \"env:BOT\"\nbase_url = \"http://127.0.0.1:9\"\nallowed_chats = [4711]\nchat = false\n",
    );
    let variables = session(&world);
    let variables = variables
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let variables: Vec<(&str, &str)> = variables.chain([("BOT", "1:x")]).collect();
    let mut daemon = Daemon::with(&world, &[], &variables);
    daemon.until("every minute, three times");
    for _ in 0..3 {
        assert_eq!(world.code(&["run", "hello-deft", "--detach"]), 0);
    }
    daemon.until("`hello-deft` ran three times and was removed");
    wait_for("the end of the example", || {
        (world.code(&["skills", "show", "hello-deft"]) == 2).then_some(())
    });
    let notices = wait_for("the notices", || {
        let listed = world.json(&["notices", "list", "--json"]);
        let listed = listed["notices"].as_array().unwrap().clone();
        let sent = listed.iter().all(|notice| notice["status"] == "sent");
        (listed.len() >= 4 && sent).then_some(listed)
    });
    for notice in &notices {
        assert_eq!(notice["receipt"], "shown on the desktop", "{notice:#}");
    }
    let shown = shown(&world).unwrap();
    assert!(
        shown.matches("Hello there, deft is running.").count() >= 3,
        "{shown}"
    );
    daemon.stop();
}
