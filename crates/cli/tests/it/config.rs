//! `deft config` and `deft schema config`.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::support::World;

const FILE: &str = "# mine\n[time]\nzone = \"Europe/Berlin\" # home\n\n[mcp_servers.files]\ncommand = \"files\"\nenv = { API_TOKEN = \"abc\", LEVEL = \"1\" }\n";

fn world() -> World {
    let world = World::new();
    world.write("home/config.toml", FILE);
    world
}

#[test]
fn show_prints_the_origin_of_values() {
    let world = world();
    insta::assert_snapshot!(world.run(&["config", "show", "--origin"]));
    let mut command = world.command(&["config", "show", "--json"]);
    let output = command.env("DEFT__ENGINE__LEASE", "45s").output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let setting = |key: &str| {
        let settings = document["settings"].as_array().unwrap().iter();
        let mut found = settings.filter(|setting| setting["key"] == key);
        found.next().cloned().unwrap_or_default()
    };
    assert_eq!(setting("time.zone")["line"], 3);
    assert_eq!(setting("engine.lease")["value"], "45s");
    assert_eq!(setting("engine.lease")["origin"], "environment");
    assert_eq!(setting("engine.lease")["variable"], "DEFT__ENGINE__LEASE");
    assert_eq!(setting("engine.park_after")["origin"], "default");
    assert_eq!(setting("server.listen")["used"], true);
    assert_eq!(
        setting("mcp_servers.files.env.API_TOKEN")["value"],
        "(hidden)"
    );
}

#[test]
fn get_one_or_a_section() {
    let world = world();
    insta::assert_snapshot!(world.run(&["config", "get", "time.zone"]));
    insta::assert_snapshot!(world.run(&["config", "get", "mcp_servers.files"]));
    insta::assert_snapshot!(world.run(&["config", "get", "engine.run_timeout"]));
    insta::assert_snapshot!(world.run(&["config", "get", "time.zoen"]));
    insta::assert_snapshot!(world.run(&["config", "get", "timezone", "--json"]));
    insta::assert_snapshot!(world.run(&["config", "get", "time.zone", "--json"]));
}

#[test]
fn set_keeps_comments_and_order() {
    let world = world();
    insta::assert_snapshot!(world.run(&["config", "set", "time.zone", "Asia/Tokyo"]));
    for (key, value) in [
        ("skills.paths", "~/.claude/skills"),
        ("engine.lease", "45s"),
        ("mcp_servers.files.args", "[\"--root\", \"/\"]"),
        ("mcp_servers.files.env.LEVEL", "2"),
        ("llm.main.provider", "openai"),
    ] {
        assert_eq!(world.code(&["config", "set", key, value]), 0, "{key}");
    }
    insta::assert_snapshot!(world.read("home/config.toml"));
    assert_eq!(world.code(&["config", "validate"]), 0);
    let document = world.json(&["config", "set", "time.zone", "Asia/Tokyo", "--json"]);
    assert_eq!(document["changed"], false);
    assert_eq!(document["setting"]["value"], "Asia/Tokyo");
}

#[test]
fn set_refuses_values_that_would_break_the_file() {
    let world = world();
    insta::assert_snapshot!(world.run(&["config", "set", "time.zone", "Berln"]));
    insta::assert_snapshot!(world.run(&["config", "set", "time.zoen", "UTC"]));
    insta::assert_snapshot!(world.run(&["config", "set", "time", "UTC"]));
    insta::assert_snapshot!(world.run(&["config", "set", "telegram.token", "123:abc"]));
    insta::assert_snapshot!(world.run(&["config", "set", "mcp_servers.new.timeout", "5s"]));
    insta::assert_snapshot!(world.run(&["config", "set", "store.url", "postgres://h/d", "--json"]));
    assert_eq!(world.read("home/config.toml"), FILE);
}

/// Existing errors in the file do not block other changes.
#[test]
fn set_repairs_a_broken_file() {
    let world = World::new();
    world.write("home/config.toml", "[time]\nzone = 3\n\n[skils]\n");
    assert_eq!(world.code(&["tick"]), 2);
    assert_eq!(world.code(&["config", "set", "time.zone", "UTC"]), 0);
    insta::assert_snapshot!(world.run(&["config", "validate"]));
}

#[test]
fn the_first_set_creates_a_private_home() {
    let world = World::new();
    assert_eq!(world.code(&["config", "set", "time.zoen", "UTC"]), 2);
    assert!(!world.path("home").exists());
    assert_eq!(world.code(&["config", "set", "time.zone", "UTC"]), 0);
    let mode = |path: &str| world.path(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("home"), 0o700);
    assert_eq!(mode("home/config.toml"), 0o600);
    assert_eq!(world.read("home/config.toml"), "[time]\nzone = \"UTC\"\n");
    world.write("home/config.toml", "# mine\n");
    assert_eq!(world.code(&["config", "set", "time.zone", "UTC"]), 0);
    assert_eq!(
        world.read("home/config.toml"),
        "# mine\n\n[time]\nzone = \"UTC\"\n"
    );
}

#[test]
fn concurrent_changes_are_all_kept() {
    let world = World::new();
    world.write("home/config.toml", "");
    let keys = ["lease", "park_after", "tool_timeout", "run_timeout"];
    let start = |key: &&str| {
        let mut command = world.command(&["config", "set", &format!("engine.{key}"), "7s"]);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = keys.iter().map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(
        world.read("home/config.toml").matches("7s").count(),
        keys.len()
    );
    let mut names: Vec<_> = std::fs::read_dir(world.path("home"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["config.toml", "logs"], "no other file is left");
}

#[test]
fn validate_finds_every_mistake() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&["config", "validate"]));
    world.write(
        "home/config.toml",
        "[time]\nzone = 3\n[skils]\n[secrets]\nA = \"x\"\n",
    );
    insta::assert_snapshot!(world.run(&["config", "validate"]));
    insta::assert_snapshot!(world.run(&["config", "validate", "--json"]));
    insta::assert_snapshot!(world.run(&["tick"]));
    world.write("home/config.toml", "[time\n");
    insta::assert_snapshot!(world.run(&["config", "validate"]));
    insta::assert_snapshot!(world.run(&["config", "path"]));
    assert_eq!(world.code(&["--version"]), 0);
}

#[test]
fn the_schema_knows_every_section() {
    let schema = World::new().json(&["schema", "config"]);
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    let sections: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    insta::assert_debug_snapshot!(sections);
    insta::assert_json_snapshot!(schema["properties"]["mcp_servers"]);
    let events = World::new().json(&["schema", "events"]);
    let first = &events["anyOf"][0]["oneOf"][0]["properties"]["type"];
    assert_eq!(first["const"], "skill_started");
}

/// With an error in the file, commands that only read still work, and other commands refuse.
#[test]
fn read_commands_work_with_a_broken_file() {
    let world = World::new();
    world.write("home/skills/report.yaml", crate::support::WORKFLOW);
    assert_eq!(world.code(&["run", "report"]), 0);
    let reading: &[&[&str]] = &[
        &["runs", "list"],
        &["skills", "list"],
        &["skills", "show", "report"],
        &["schedule", "next", "report"],
        &["schedule", "list"],
        &["notices", "list"],
        &["approvals", "list"],
        &["tools", "list"],
        &["mcp", "list"],
        &[],
    ];
    let acting: &[&[&str]] = &[
        &["run", "report"],
        &["tick"],
        &["skills", "disable", "report"],
    ];
    for (config, said) in [
        (
            "[time]\nzone = \"Mars/Base\"\n",
            "2: `time.zone` is invalid",
        ),
        (
            "[notfy]\nchannel = 5\n",
            "1: unknown key `notfy`; setting ignored",
        ),
        (
            "[engine\nlease = 5\n\n[store]\nurl = \"sqlite://data/deft.db\"\n",
            "1: not TOML",
        ),
        (
            "[mcp_servers.x]\ncommand = 5\n",
            "2: `mcp_servers.x.command` takes a string",
        ),
    ] {
        world.write("home/config.toml", config);
        for args in reading {
            let text = world.run(args);
            assert!(text.starts_with("exit 0\n"), "{args:?}: {text}");
            assert!(text.contains(said), "{args:?}: {text}");
        }
        let runs = world.json(&["runs", "list", "--json"]);
        assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");
        for args in acting {
            assert_eq!(world.code(args), 2, "{args:?} with {config}");
        }
    }
    // The error may concern the choice of the database, so even reading is refused.
    for config in [
        "[store]\nurl = \"postgres://x\"\n",
        "[store]\nulr = \"sqlite://other.db\"\n",
        "[stroe]\nurl = \"sqlite://other.db\"\n",
        "[store]\nurl = \"sqlite://other.db\n",
        "store.url = sqlite\n",
    ] {
        world.write("home/config.toml", config);
        assert_eq!(world.code(&["runs", "list"]), 2, "{config}");
    }
}
