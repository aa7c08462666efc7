//! The audit log of commands and of MCP clients over stdio. `api/tokens.rs` tests that of requests.

use serde_json::{Value, json};

use crate::daemon::used_home;
use crate::mcp_client::McpClient;
use crate::support::{WORKFLOW, World};

/// Runs a command as the account `alice`, and returns the entries that it added.
fn added(world: &World, args: &[&str]) -> Vec<Value> {
    let before = world.path("home/logs/audit.jsonl").exists();
    let before = if before { world.audit().len() } else { 0 };
    let output = world
        .command(args)
        .env("LOGNAME", "alice")
        .output()
        .unwrap();
    let code = output.status.code().unwrap();
    if !world.path("home/logs/audit.jsonl").exists() {
        return Vec::new();
    }
    let mut entries = world.audit();
    entries.drain(..before);
    for entry in &mut entries {
        let fields = entry.as_object_mut().unwrap();
        assert!(fields.remove("timestamp").unwrap().is_string());
        assert_eq!(fields.remove("exit_code").unwrap(), code, "{args:?}");
        assert_eq!(fields.remove("who").unwrap(), "user alice");
        assert_eq!(fields.remove("from").unwrap(), "terminal");
    }
    entries
}

#[test]
fn commands_that_change_something_are_logged_without_values() {
    let world = used_home();
    world.write("home/skills/report.yaml", WORKFLOW);
    let canary = "canary-51c2";
    let cases: [(&[&str], &str); 10] = [
        (
            &["skills", "disable", "report"],
            "deft skills disable report",
        ),
        (&["skills", "enable", "report"], "deft skills enable report"),
        (
            &["skills", "enable", "nothing"],
            "deft skills enable nothing",
        ),
        (&["run", "report", "--input", canary], "deft run report"),
        (
            &["config", "set", "agent.user", canary],
            "deft config set agent.user",
        ),
        (
            &["tokens", "add", "phone", "--scope", "read"],
            "deft tokens add phone",
        ),
        (
            &["tools", "call", "text.stats", &format!("text={canary}")],
            "deft tools call text.stats",
        ),
        (
            &["jobs", "queue", &format!("tool={canary}")],
            "deft jobs queue",
        ),
        (&["runs", "cancel", "last"], "deft runs cancel last"),
        (
            &["schedule", "pause", "report"],
            "deft schedule pause report",
        ),
    ];
    for (args, what) in cases {
        assert_eq!(added(&world, args), [json!({"what": what})], "{args:?}");
    }
    let log = world.read("home/logs/audit.jsonl");
    assert!(!log.contains(canary), "{log}");
}

#[test]
fn commands_that_only_read_are_not_logged() {
    let world = used_home();
    world.write("home/skills/report.yaml", WORKFLOW);
    for args in [
        &["skills", "list"] as &[&str],
        &["run", "report", "--dry-run"],
        &["runs", "list"],
        &["status"],
        &["undo", "--list"],
        &["doctor"],
        &["skills", "import", "nowhere", "--dry-run"],
    ] {
        assert_eq!(added(&world, args), [] as [Value; 0], "{args:?}");
    }
}

/// A command in a folder without a home must not create one.
#[test]
fn a_change_without_a_home_creates_no_log() {
    let world = World::new();
    let revoked = added(&world, &["tokens", "revoke", "phone"]);
    assert_eq!(revoked, [] as [Value; 0]);
    assert!(!world.path("home").exists());
}

/// The reader of the output may exit first, as `head` does.
#[test]
fn a_change_is_logged_if_its_output_has_no_reader() {
    let world = used_home();
    world.write("home/skills/report.yaml", WORKFLOW);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = world.command(&["skills", "disable", "report", "--json"]);
    let status = command.stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let what: Vec<Value> = world
        .audit()
        .iter()
        .map(|entry| entry["what"].clone())
        .collect();
    assert_eq!(what, ["deft skills disable report"]);
}

#[test]
fn calls_of_clients_over_stdio_are_logged() {
    let world = used_home();
    for mut client in McpClient::both(&world) {
        client.call("run_list", json!({}));
        client.refused("tools/call", json!({"name": "nothing", "arguments": {}}));
        assert_eq!(client.close(), 0);
    }
    let entries = world.audit().into_iter().map(|mut entry| {
        let fields = entry.as_object_mut().unwrap();
        assert!(fields.remove("timestamp").unwrap().is_string());
        let id = fields.remove("request_id").unwrap();
        assert!(id.as_str().unwrap().starts_with("mcp:"), "{id}");
        assert!(
            fields
                .remove("who")
                .unwrap()
                .as_str()
                .unwrap()
                .starts_with("user ")
        );
        entry
    });
    let one = |tool: &str, status: u16| json!({"from": "stdio (tester)", "what": format!("tools/call {tool}"), "status": status});
    let both = [one("run_list", 200), one("nothing", 400)];
    assert_eq!(entries.collect::<Vec<_>>(), [both.clone(), both].concat());
}
