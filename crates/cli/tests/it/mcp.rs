//! `deft mcp`.

use deft_testkit::{Script, server_binary};
use serde_json::json;

use crate::support::{World, server};

/// Creates a home with a server `demo` that has one tool.
pub(crate) fn with_server() -> World {
    let world = World::new();
    world.write("server/x", "");
    let script = Script::new()
        .tool(
            "echo",
            json!({
                "description": "Say it again. And again.",
                "schema": {"type": "object", "properties": {
                    "text": {"type": "string", "description": "What to say"},
                    "count": {"type": "integer"},
                }, "required": ["text"]},
                "text": "said ${text}",
            }),
        )
        .tool("fail", json!({"error": "quota exceeded for today"}));
    let arguments = script.write(&world.path("server"), "demo");
    let binary = server_binary();
    let mut words = vec!["mcp", "add", "demo", "--", binary.to_str().unwrap()];
    let paths = [arguments.script, arguments.witness, arguments.state];
    words.extend(paths.iter().map(|path| path.to_str().unwrap()));
    assert_eq!(world.code(&words), 0);
    world
}

/// An unusable tool is reported wherever its server is shown.
#[test]
fn a_bad_tool_is_disabled_and_reported_with_the_reason() {
    let world = World::new();
    world.write("server/x", "");
    let arguments = Script::new()
        .tool("bad", json!({"schema": {"type": "objekt"}}))
        .tool("good", json!({}))
        .write(&world.path("server"), "demo");
    let binary = server_binary();
    let mut words = vec!["mcp", "add", "demo", "--", binary.to_str().unwrap()];
    let paths = [arguments.script, arguments.witness, arguments.state];
    words.extend(paths.iter().map(|path| path.to_str().unwrap()));
    assert_eq!(world.code(&words), 0);
    let probe = world.json(&["mcp", "probe", "--json"])["servers"][0].take();
    assert_eq!(
        (&probe["ok"], &probe["tools"]),
        (&json!(true), &json!(["good"]))
    );
    let reason = probe["disabled"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("its schema is invalid: "), "{reason}");
    let listed = world.json(&["tools", "list", "--server", "demo", "--json"]);
    assert_eq!(
        listed["disabled"],
        json!([{"server": "demo", "name": "bad", "reason": reason}])
    );
    let text = world.run(&["tools", "list", "--server", "demo"]);
    let line = format!("disabled: `demo.bad`: {reason}");
    assert!(text.contains(&line), "{text}");
    let text = world.run(&["mcp", "probe"]);
    assert!(
        text.contains(&format!("disabled   bad: {reason}")),
        "{text}"
    );
    let text = world.run(&["doctor"]);
    let line = format!("the tool `demo.bad` is disabled: {reason}");
    assert!(text.contains(&line), "{text}");
    let text = world.run(&["tools", "call", "demo.bad"]);
    assert!(
        text.contains("is disabled: its schema is invalid"),
        "{text}"
    );
}

/// A server whose probe failed is shown differently from one that was never probed.
#[test]
fn a_failed_probe_is_stored() {
    let world = World::new();
    assert_eq!(
        world.code(&["mcp", "add", "gone", "--", "/no/such/program"]),
        0
    );
    let known = |world: &World| world.json(&["mcp", "list", "--json"])["servers"][0].take();
    assert_eq!(known(&world)["error"], json!(null));
    assert_eq!(world.code(&["mcp", "probe"]), 1);
    let server = known(&world);
    let error = server["error"].as_str().unwrap();
    let text = world.run(&["mcp", "list"]);
    assert!(text.contains(&format!(": {error}")), "{text}");
    assert!(text.contains("gone    stdio      failed "), "{text}");
    assert!(server["failed_at"].as_str().unwrap().contains('T'));
    // A new server with the same name does not inherit the failure.
    assert_eq!(world.code(&["mcp", "remove", "gone"]), 0);
    assert_eq!(
        world.code(&["mcp", "add", "gone", "--", "/no/such/program"]),
        0
    );
    assert_eq!(known(&world)["error"], json!(null));
}

#[test]
fn add_and_remove_edit_the_file() {
    let world = World::new();
    world.write("home/config.toml", "# mine\n[time]\nzone = \"UTC\"\n");
    insta::assert_snapshot!(world.run(&[
        "mcp", "add", "files", "--env", "LEVEL=1", "--", "npx", "-y", "files"
    ]));
    insta::assert_snapshot!(world.run(&[
        "mcp",
        "add",
        "web",
        "--url",
        "https://h/mcp",
        "--header",
        "Authorization: Bearer abc"
    ]));
    insta::assert_snapshot!(world.run(&["mcp", "add", "web", "--url", "https://h/mcp"]));
    insta::assert_snapshot!(world.run(&["mcp", "add", "web"]));
    insta::assert_snapshot!(world.run(&["mcp", "add", "a.b", "--url", "https://h/mcp"]));
    insta::assert_snapshot!(world.run(&["mcp", "add", "bad", "--url", "h/mcp", "--json"]));
    insta::assert_snapshot!(world.read("home/config.toml"));
    insta::assert_snapshot!(world.run(&["mcp", "list"]));
    insta::assert_snapshot!(world.run(&["mcp", "remove", "wbe"]));
    insta::assert_snapshot!(world.run(&["mcp", "remove", "web"]));
    assert_eq!(world.code(&["mcp", "remove", "files"]), 0);
    assert_eq!(
        world.read("home/config.toml"),
        "# mine\n[time]\nzone = \"UTC\"\n"
    );
    insta::assert_snapshot!(world.run(&["mcp", "list"]));
}

const CLAUDE: &str = r#"{
  // what I use
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "files", "${userHome}/notes"], "env": { "LEVEL": "1" } },
    "github": { "type": "http", "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${GITHUB_TOKEN}" } },
    "old one": { "type": "sse", "url": "https://h/sse" },
    "off": { "command": "x", "disabled": true, "env": { "API_KEY": "abc", "REGION": "${REGION:-eu}" }, "alwaysAllow": [] },
    "my.search": { "httpUrl": "https://h/mcp", "url": "https://h/sse" },
    "odd": { "args": [] },
  },
}"#;

const CODE: &str = r#"{
  "inputs": [{ "id": "key", "type": "promptString" }],
  "servers": {
    "asks": { "type": "stdio", "command": "x", "env": { "KEY": "${input:key}", "A": "${env:A}" } },
    "needs": { "type": "stdio", "command": "x", "args": ["--key", "${input:key}", "${workspaceFolder}"] }
  }
}"#;

#[test]
fn import_reads_files_of_other_hosts() {
    let world = World::new();
    world.write("claude.json", CLAUDE).write("mcp.json", CODE);
    insta::assert_snapshot!(world.run(&["mcp", "import", "claude.json", "--dry-run"]));
    assert!(!world.path("home").exists());
    assert_eq!(world.code(&["mcp", "import", "claude.json"]), 1);
    insta::assert_snapshot!(world.run(&["mcp", "import", "mcp.json"]));
    insta::assert_snapshot!(
        world
            .read("home/config.toml")
            .replace(world.path("user").to_str().unwrap(), "[user]")
    );
    assert_eq!(world.code(&["config", "validate"]), 0);
    let again = world.json(&["mcp", "import", "mcp.json", "--json"]);
    assert_eq!(again["servers"][0]["effect"], "unchanged");
}

#[test]
fn import_reads_codex_and_the_projects_of_claude_code() {
    let world = World::new();
    world
        .write(
            "config.toml",
            "model = \"o9\"\n[mcp_servers.docs]\ncommand = \"docs\"\nenv_vars = [\"HOME\"]\n\n\
             [mcp_servers.web]\nurl = \"https://x.example/mcp\"\nbearer_token_env_var = \"WEB_TOKEN\"\n",
        )
        .write(
            "claude.json",
            r#"{"projects": {"/a": {"mcpServers": {"jira": {"command": "jira"}}},
                "/b": {"mcpServers": {"jira": {"command": "another"}, "db": {"command": "db"}}}}}"#,
        );
    assert_eq!(world.code(&["mcp", "import", "config.toml"]), 0);
    assert_eq!(world.code(&["mcp", "import", "claude.json"]), 0);
    insta::assert_snapshot!(world.read("home/config.toml"));
    world.write("broken.toml", "[mcp_servers");
    let refused = world.json(&["mcp", "import", "broken.toml", "--json"]);
    assert_eq!(refused["error"]["code"], "not_toml");
}

#[test]
fn import_replaces_only_with_force() {
    let world = World::new();
    world.write(
        "home/config.toml",
        "[mcp_servers.files]\ncommand = \"mine\" # mine\n",
    );
    world.write(
        "a.json",
        r#"{"mcpServers": {"files": {"command": "theirs"}}}"#,
    );
    insta::assert_snapshot!(world.run(&["mcp", "import", "a.json"]));
    insta::assert_snapshot!(world.run(&["mcp", "import", "a.json", "--force"]));
    assert_eq!(
        world.read("home/config.toml"),
        "[mcp_servers.files]\ncommand = \"theirs\"\n"
    );
}

#[test]
fn an_empty_import_is_reported() {
    let world = World::new();
    world
        .write("a.json", "{}")
        .write("b.json", "{\"mcpServers\": {\"a\": }}")
        .write("c.json", "{\"mcpServers\": {}}");
    for file in ["a.json", "b.json", "c.json", "d.json"] {
        insta::assert_snapshot!(world.run(&["mcp", "import", file]));
    }
}

#[test]
fn probe_lists_the_features_of_a_server() {
    let world = with_server();
    assert_eq!(
        world.json(&["mcp", "list", "--json"])["servers"][0]["tools"],
        json!(null)
    );
    let document = world.json(&["mcp", "probe", "--json"]);
    assert_eq!(document["ok"], true, "{document:#}");
    let server = &document["servers"][0];
    assert_eq!(server["server"], "demo");
    assert_eq!(server["tools"], json!(["echo", "fail"]));
    assert!(
        server["era"] == "initialize" && server["protocol"] == "2025-11-25",
        "{server:#}"
    );
    let listed = world.json(&["mcp", "list", "--json"]);
    assert_eq!(listed["servers"][0]["tools"], 2);
    assert!(listed["servers"][0]["listed_at"].is_string());
    let text = world.run(&["mcp", "probe", "demo"]);
    assert!(
        text.starts_with("exit 0\n--- stdout\ndemo\n  is "),
        "{text}"
    );
    assert!(text.contains("\n  tools      2: echo, fail\n"), "{text}");
    assert!(text.contains("\n  protocol   2025-11-25\n"), "{text}");
    // After an edit the stored state of the server no longer applies.
    assert_eq!(
        world.code(&["config", "set", "mcp_servers.demo.args", "[]"]),
        0
    );
    assert_eq!(
        world.json(&["mcp", "list", "--json"])["servers"][0]["tools"],
        json!(null)
    );
}

#[test]
fn probe_explains_why_a_server_fails() {
    let world = World::new();
    world.write(
        "home/config.toml",
        "[mcp_servers.gone]\ncommand = \"/nowhere/server\"\n[mcp_servers.off]\ncommand = \"x\"\nenabled = false\n",
    );
    insta::assert_snapshot!(world.run(&["mcp", "probe"]));
    insta::assert_snapshot!(world.run(&["mcp", "probe", "goen"]));
    let document = world.json(&["mcp", "probe", "gone", "--json"]);
    assert_eq!(document["ok"], false);
    assert!(document["servers"][0]["class"].is_string(), "{document:#}");
    insta::assert_snapshot!(World::new().run(&["mcp", "probe"]));
}

/// The server writes the same lines to stderr as `npm`.
#[test]
fn probe_omits_output_of_npm() {
    let world = World::new();
    let script = Script::new().tool("echo", json!({"text": "x"}));
    let demo = server(&world, &script);
    let noise = "echo 'npm warn deprecated x@1: old' >&2; echo 'npm error code E404' >&2; \
                 echo \"npm error 404  'x@*' is not in this registry.\" >&2; \
                 echo 'npm error A complete log of this run can be found in: /tmp/x' >&2; exit 1";
    world.write(
        "home/config.toml",
        format!(
            "{demo}[mcp_servers.npm]\ncommand = \"/bin/sh\"\nargs = [\"-c\", {}]\n",
            json!(noise)
        ),
    );
    let found = world.run(&["mcp", "probe"]);
    assert!(
        found.contains("code E404 | 'x@*' is not in this registry."),
        "{found}"
    );
    assert!(
        !found.contains("npm warn") && !found.contains("complete log"),
        "{found}"
    );
    assert!(!found.contains("legacy"), "{found}");
}
