//! `deft mcp install`: adds deft to the MCP servers of other programs. Each entry is verified by another
//! reader: `deft mcp import` of the same file, and the MCP Inspector if it knows the format.

use deft_testkit::node_referee;
use serde_json::{Value, json};

use crate::daemon::used_home;
use crate::mcp_serve_referees::INSPECTOR;
use crate::support::World;
use crate::terminal::Terminal;

/// The clients, each with its file for the user and its file for a project.
const CLIENTS: [(&str, &str, Option<&str>); 6] = [
    (
        "claude-desktop",
        "user/.config/Claude/claude_desktop_config.json",
        None,
    ),
    ("claude-code", "user/.claude.json", Some(".mcp.json")),
    ("cursor", "user/.cursor/mcp.json", Some(".cursor/mcp.json")),
    (
        "vscode",
        "user/.config/Code/User/mcp.json",
        Some(".vscode/mcp.json"),
    ),
    (
        "codex",
        "user/.codex/config.toml",
        Some(".codex/config.toml"),
    ),
    ("goose", "user/.config/goose/config.yaml", None),
];

fn install(world: &World, client: &str, more: &[&str]) -> Value {
    let mut words = vec!["mcp", "install", "--client", client, "--json"];
    words.extend(more);
    world.json(&words)
}

/// Returns the first server that another home would import from a file.
fn imported(world: &World, file: &str) -> Value {
    world.write("other/config.toml", "");
    let path = world.path(file);
    let other = world.path("other");
    let words = ["--home", other.to_str().unwrap(), "--json"];
    let done = world.json(&[&["mcp", "import", path.to_str().unwrap()][..], &words].concat());
    assert_eq!(done["ok"], true, "{done:#}");
    let listed = world.json(&[&["mcp", "list"][..], &words].concat());
    listed["servers"][0].clone()
}

#[test]
fn every_client_gets_a_readable_and_removable_entry() {
    let world = used_home();
    let home = world.path("home");
    for (client, file, _) in CLIENTS {
        let added = install(&world, client, &[]);
        assert_eq!(
            (&added["effect"], &added["backup"]),
            (&json!("added"), &Value::Null),
            "{added:#}"
        );
        assert_eq!(added["path"], json!(world.path(file)));
        let text = world.read(file);
        let again = install(&world, client, &[]);
        assert_eq!(again["effect"], "unchanged", "{again:#}");
        assert_eq!(world.read(file), text);
        // Another home may import this entry; this home must not import itself.
        let target = format!(
            "{} mcp serve --home {}",
            env!("CARGO_BIN_EXE_deft"),
            home.display()
        );
        assert_eq!(imported(&world, file)["target"], json!(target), "{client}");
        let path = world.path(file);
        let own = world.json(&["mcp", "import", path.to_str().unwrap(), "--json"]);
        assert_eq!(own["servers"][0]["effect"], "refused", "{own:#}");
        let removed = install(&world, client, &["--remove"]);
        assert_eq!(removed["effect"], "removed", "{removed:#}");
        let backup = std::fs::read_to_string(removed["backup"].as_str().unwrap()).unwrap();
        assert_eq!(backup, text);
        let nothing = install(&world, client, &["--remove"]);
        assert_eq!(nothing["effect"], "unchanged", "{nothing:#}");
    }
}

#[test]
fn a_client_can_call_the_daemon_with_a_token_from_the_environment() {
    let world = used_home();
    world.write(
        "home/config.toml",
        "[server]\nlisten = \"127.0.0.1:9999\"\n",
    );
    for (client, file, _) in &CLIENTS[1..] {
        let added = install(&world, client, &["--http"]);
        assert_eq!(added["effect"], "added", "{added:#}");
        let next = added["next"].to_string();
        assert!(
            next.contains("DEFT_TOKEN") && next.contains("deft up"),
            "{next}"
        );
        let server = imported(&world, file);
        assert_eq!(server["target"], "http://127.0.0.1:9999/mcp", "{client}");
        let config = world.read("other/config.toml");
        assert!(
            config.contains("Bearer env:DEFT_TOKEN"),
            "{client}: {config}"
        );
        // Installing without `--http` replaces the HTTP entry.
        assert_eq!(install(&world, client, &[])["effect"], "changed");
        assert!(!world.read(file).contains("DEFT_TOKEN"), "{client}");
    }
    let refused = install(&world, "claude-desktop", &["--http"]);
    assert_eq!(refused["error"]["code"], "usage", "{refused:#}");
}

#[test]
fn a_project_has_its_own_file() {
    let world = used_home();
    for (client, _, file) in CLIENTS {
        let done = install(&world, client, &["--scope", "project"]);
        match file {
            Some(file) => assert_eq!(done["path"], json!(world.path(file)), "{done:#}"),
            None => assert_eq!(done["error"]["code"], "usage", "{done:#}"),
        }
    }
}

/// Comments and order are kept, and values of other entries are not printed.
#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let world = used_home();
    let text = "{\n  // mine\n  \"mcpServers\": {\n    \"shop\": {\"url\": \"https://x\", \"headers\": {\"Authorization\": \"Bearer sk-canary\"}}\n  },\n  \"theme\": \"dark\"\n}\n";
    world.write("user/.cursor/mcp.json", text);
    let words = ["mcp", "install", "--client", "cursor", "--dry-run"];
    let shown = world
        .run(&words)
        .replace(env!("CARGO_BIN_EXE_deft"), "/deft");
    assert!(!shown.contains("sk-canary"), "{shown}");
    insta::assert_snapshot!(shown);
    assert_eq!(world.read("user/.cursor/mcp.json"), text);
    let done = install(&world, "cursor", &[]);
    assert!(!done.to_string().contains("sk-canary"), "{done:#}");
    let written = world.read("user/.cursor/mcp.json");
    assert!(written.starts_with("{\n  // mine\n"), "{written}");
    let backup = std::fs::read_to_string(done["backup"].as_str().unwrap()).unwrap();
    assert_eq!(backup, text);
    install(&world, "cursor", &["--remove"]);
    assert_eq!(world.read("user/.cursor/mcp.json"), text);
}

#[test]
fn an_unreadable_file_is_not_changed() {
    let world = used_home();
    world
        .write(
            "user/.cursor/mcp.json",
            "{\n  \"mcpServers\": {\"a\" 1}\n}\n",
        )
        .write("user/.codex/config.toml", "a = 1\nb =\n")
        .write(
            "user/.config/goose/config.yaml",
            "extensions: {a: {type: builtin}}\n",
        );
    for (client, code, place) in [
        ("cursor", "not_json", "line 2 column 22"),
        ("codex", "not_toml", "config.toml:2:"),
        ("goose", "cannot_edit", "config.yaml"),
    ] {
        let refused = install(&world, client, &[]);
        assert_eq!(refused["error"]["code"], code, "{refused:#}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(place), "{message}");
    }
    let pasted = install(&world, "goose", &[])["error"]["hint"].take();
    assert!(
        pasted.as_str().unwrap().contains("extensions:\n  deft:"),
        "{pasted}"
    );
}

/// Keys that a person added to the entry are kept.
#[test]
fn an_older_entry_is_updated() {
    let world = used_home();
    world.write(
        "user/.claude.json",
        "{\n  \"mcpServers\": {\n    \"deft\": {\"command\": \"/old/deft\", \"args\": [\"mcp\", \"serve\"], \"env\": {\"TZ\": \"UTC\"}}\n  }\n}\n",
    );
    assert_eq!(install(&world, "claude-code", &[])["effect"], "changed");
    let document: Value = serde_json::from_str(&world.read("user/.claude.json")).unwrap();
    let entry = &document["mcpServers"]["deft"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_deft"));
    assert_eq!(entry["env"], json!({"TZ": "UTC"}));
}

#[test]
fn a_person_is_asked_before_a_file_is_written() {
    let world = used_home();
    let words = ["mcp", "install", "--client", "cursor"];
    let mut terminal = Terminal::start(&world, &words);
    terminal.until("[y/N]");
    terminal.keys("n\n");
    terminal.until("nothing was written");
    assert!(!world.path("user/.cursor/mcp.json").exists());
    let mut terminal = Terminal::start(&world, &words);
    terminal.until("[y/N]");
    terminal.keys("y\n");
    terminal.until("restart Cursor");
    assert!(world.path("user/.cursor/mcp.json").exists());
}

/// The Inspector starts deft from the written file and lists its tools.
#[test]
fn the_inspector_starts_deft_from_the_file_of_a_client() {
    let world = used_home();
    world.write("scratch/x", "");
    for (client, file, _) in &CLIENTS[..3] {
        install(&world, client, &[]);
        let output = node_referee(INSPECTOR)
            .args(["--cli", "--config"])
            .arg(world.path(file))
            .args([
                "--server",
                "deft",
                "--method",
                "tools/list",
                "--format",
                "json",
                "-q",
            ])
            .env("HOME", world.path("scratch"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("skill_run"),
            "{client}: {text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn doctor_shows_where_deft_is_installed() {
    let world = used_home();
    install(&world, "cursor", &[]);
    install(&world, "codex", &[]);
    world.write(
        "user/.config/goose/config.yaml",
        "extensions:\n  deft:\n    type: stdio\n    cmd: /gone/deft\n    args: [mcp, serve]\n",
    );
    let checks = world.json(&["doctor", "--json"])["checks"].take();
    let checks = checks.as_array().unwrap().iter();
    let found: Vec<&str> = checks
        .filter(|check| check["id"] == "hosts.installed")
        .map(|check| check["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        found,
        [
            "deft is installed in Cursor, Codex",
            "goose starts `/gone/deft`, which does not exist"
        ]
    );
}
