//! `deft setup --yes` on a prepared machine: the files it writes, its report, and repeated setups.

use std::os::unix::fs::PermissionsExt;

use deft_testkit::{Dialect, ModelAnswer, ModelServer};
use serde_json::{Value, json};

use crate::support::{SKILL, World};

const KEY: &str = "sk-ant-0123456789abcdef";

/// Starts a double of Anthropic's API.
fn provider(answers: impl IntoIterator<Item = ModelAnswer>) -> ModelServer {
    ModelServer::start(Dialect::Anthropic, answers)
}

fn ready() -> ModelAnswer {
    ModelAnswer::text("ready")
}

/// Runs `deft setup --yes --json` with these variables, and returns the exit code and the report.
fn set_up(world: &World, args: &[&str], variables: &[(&str, &str)]) -> (i32, Value) {
    let args = [&["setup", "--yes", "--json", "--probe", "none"], args].concat();
    let mut command = world.command(&args);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let report = serde_json::from_str(&text).unwrap_or_else(|problem| {
        panic!(
            "{problem}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (output.status.code().unwrap(), report)
}

fn mode(world: &World, path: &str) -> u32 {
    world.path(path).metadata().unwrap().permissions().mode() & 0o777
}

/// Installs a fake program of the host.
pub(crate) fn program(world: &World, name: &str, script: &str) {
    let path = format!("bin/{name}");
    world.write(&path, format!("#!/bin/sh\n{script}\n"));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.path(&path), mode).unwrap();
}

pub(crate) fn bin(world: &World) -> String {
    world.path("bin").display().to_string()
}

#[test]
fn an_empty_machine_gets_a_home() {
    let world = World::new();
    let (code, report) = set_up(&world, &[], &[]);
    assert_eq!((code, &report["ok"]), (0, &json!(true)));
    assert_eq!(report["model"], Value::Null);
    assert_eq!(report["home"]["skills_written"], 26);
    assert_eq!(
        report["next"],
        json!([
            "deft secrets set ANTHROPIC_API_KEY",
            "deft setup",
            "deft up",
            "deft doctor"
        ])
    );
    assert_eq!(mode(&world, "home/config.toml"), 0o600);
}

#[test]
fn a_key_becomes_a_model_that_is_tested() {
    let world = World::new();
    let server = provider([ready()]);
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", server.url.as_str()),
    ];
    let (code, report) = set_up(&world, &[], &variables);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["found"]["keys"][0]["variable"], "ANTHROPIC_API_KEY");
    let model = &report["model"];
    assert_eq!(
        (&model["name"], &model["api_key"], &model["test"]["ok"]),
        (
            &json!("anthropic"),
            &json!("env:ANTHROPIC_API_KEY"),
            &json!(true)
        )
    );
    let asked = server.http_requests();
    assert_eq!(asked.len(), 1, "one call");
    let config = world.read("home/config.toml");
    assert!(!config.contains(KEY), "{config}");
    assert!(config.starts_with("# Settings of deft"), "{config}");
    assert_eq!(mode(&world, "home/config.toml"), 0o600);
}

#[test]
fn a_second_run_changes_nothing() {
    let world = World::new();
    let server = provider([ready(), ready()]);
    world
        .write("user/.claude/skills/greet/SKILL.md", SKILL)
        .write(
            "user/.config/Claude/claude_desktop_config.json",
            r#"{"mcpServers": {"files": {"command": "npx", "env": {"API_TOKEN": "ghp_0123456789abcdef"}}}}"#,
        )
        .write("home/config.toml", "# mine\n[time]\nzone = \"Asia/Tokyo\" # here\n");
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", server.url.as_str()),
    ];
    let (code, first) = set_up(&world, &[], &variables);
    assert_eq!(code, 0, "{first:#}");
    assert_eq!(first["skills"], json!(["~/.claude/skills"]));
    assert_eq!(first["servers"][0]["effect"], "new");
    let config = world.read("home/config.toml");
    assert!(config.starts_with("# mine\n[time]\nzone = \"Asia/Tokyo\" # here\n"));
    // A plaintext value in the other program's file becomes a secret.
    assert!(!config.contains("ghp_"), "{config}");
    assert!(config.contains("file:secrets/FILES_API_TOKEN"), "{config}");
    assert_eq!(
        world.read("home/secrets/FILES_API_TOKEN"),
        "ghp_0123456789abcdef\n"
    );
    assert_eq!(mode(&world, "home/secrets/FILES_API_TOKEN"), 0o600);
    let (code, again) = set_up(&world, &[], &variables);
    assert_eq!(code, 0, "{again:#}");
    assert_eq!(world.read("home/config.toml"), config);
    let nothing = (
        &again["model"]["changed"],
        &again["skills"],
        &again["servers"],
    );
    assert_eq!(nothing, (&json!(false), &json!([]), &json!([])));
    // The configuration was readable by others, and the first setup fixes that.
    assert_eq!(mode(&world, "home/config.toml"), 0o600);
    assert_eq!(
        world.json(&["mcp", "list", "--json"])["servers"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// The first setup reports what it did, and the second that nothing is left to do.
#[test]
fn setup_prints_one_line_per_section() {
    let world = World::new();
    world
        .write("user/.claude/skills/greet/SKILL.md", SKILL)
        .write(
            "user/.cursor/mcp.json",
            r#"{"mcpServers": {"files": {"command": "npx"}}}"#,
        )
        .write(".agents/skills/other/SKILL.md", SKILL);
    let home = world.path("user/.deft").display().to_string();
    let run = || {
        let args = [
            "setup",
            "--yes",
            "--probe",
            "none",
            "--no-test",
            "--service",
        ];
        let mut command = world.command(&args);
        let command = command
            .env("ANTHROPIC_API_KEY", KEY)
            .env("DEFT_HOME", &home);
        let output = command.output().unwrap();
        let place = world.path("").display().to_string();
        String::from_utf8(output.stdout)
            .unwrap()
            .replace(&place, "[world]/")
    };
    insta::assert_snapshot!(run());
    insta::assert_snapshot!(run());
}

#[test]
fn a_refused_key_is_reported_with_a_hint() {
    let world = World::new();
    let server = provider([ModelAnswer::error(401, "invalid x-api-key")]);
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", server.url.as_str()),
    ];
    let (code, report) = set_up(&world, &[], &variables);
    assert_eq!((code, &report["ok"]), (1, &json!(false)));
    let test = &report["model"]["test"];
    assert_eq!(test["ok"], false);
    let error = test["error"].as_str().unwrap();
    assert!(error.contains("invalid x-api-key"), "{error}");
    assert!(test["hint"].is_string(), "{test:#}");
    assert!(!report.to_string().contains(KEY));
    assert_eq!(report["next"][0], "deft setup");
}

#[test]
fn flags_replace_questions_in_scripts() {
    let world = World::new();
    let server = ModelServer::start(Dialect::OpenAi, [ready()]);
    let url = server.url.as_str();
    let args = ["--base-url", url, "--model", "double"];
    let (code, report) = set_up(&world, &args, &[("ANTHROPIC_API_KEY", KEY)]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["model"]["name"], "local");
    // With a second model, the model for agents is set explicitly.
    let args = ["--provider", "anthropic", "--no-test"];
    let (code, report) = set_up(&world, &args, &[("ANTHROPIC_API_KEY", KEY)]);
    assert_eq!((code, &report["model"]["test"]), (0, &Value::Null));
    let chosen = world.json(&["config", "get", "agent.llm", "--json"]);
    assert_eq!(chosen["setting"]["value"], "anthropic");
    let (code, refused) = set_up(&world, &["--provider", "openai"], &[]);
    assert_eq!((code, &refused["error"]["code"]), (2, &json!("no_model")));
}

#[test]
fn a_local_server_is_found_and_used() {
    let world = World::new();
    let server = ModelServer::start(Dialect::Ollama, [ready()]);
    let (code, report) = set_up(&world, &[], &[("OLLAMA_HOST", server.url.as_str())]);
    assert_eq!(code, 0, "{report:#}");
    let model = &report["model"];
    assert_eq!(
        (&model["provider"], &model["model"], &model["api_key"]),
        (&json!("ollama"), &json!("double:latest"), &Value::Null)
    );
}

#[test]
fn the_service_is_written_and_started_on_request_only() {
    let world = World::new();
    let server = provider([ready(), ready(), ready()]);
    let path = bin(&world);
    program(&world, "systemctl", "echo \"$*\" >> systemctl.log");
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", server.url.as_str()),
        ("PATH", path.as_str()),
    ];
    let (_, report) = set_up(&world, &[], &variables);
    assert_eq!(report["service"], Value::Null);
    let (code, report) = set_up(&world, &["--service"], &variables);
    assert_eq!(code, 0, "{report:#}");
    let unit = &report["service"];
    assert_eq!(
        (&unit["effect"], &unit["started"]),
        (&json!("written"), &json!(true))
    );
    assert_eq!(world.read("systemctl.log"), "--user enable --now deft\n");
    let text = world.read("user/.config/systemd/user/deft.service");
    let start = text
        .lines()
        .find(|line| line.starts_with("ExecStart="))
        .unwrap();
    let home = world.path("home").display().to_string();
    assert!(
        start.ends_with(&format!(" up --home {home} --grace 30s")),
        "{start}"
    );
    // A service does not see the variables of the shell, so the key is stored.
    assert_eq!(report["model"]["api_key"], "file:secrets/ANTHROPIC_API_KEY");
    assert_eq!(
        world.read("home/secrets/ANTHROPIC_API_KEY"),
        format!("{KEY}\n")
    );
    // A unit written by a person is kept.
    let own = "[Service]\nExecStart=/my/deft up\n";
    world.write("user/.config/systemd/user/deft.service", own);
    let (_, report) = set_up(&world, &["--no-test"], &variables);
    assert_eq!(report["service"]["effect"], "kept");
    assert_eq!(world.read("user/.config/systemd/user/deft.service"), own);
}

#[test]
fn a_missing_service_manager_is_reported() {
    let world = World::new();
    let (code, report) = set_up(&world, &["--service"], &[]);
    let unit = &report["service"];
    assert_eq!((code, &unit["effect"]), (1, &json!("written")));
    let error = unit["error"].as_str().unwrap();
    assert!(error.starts_with("`systemctl` is not in `PATH`"), "{error}");
}

/// Without a terminal, setup fails instead of waiting for answers.
#[test]
fn setup_without_a_terminal_needs_yes() {
    let world = World::new();
    for args in [
        &["setup"][..],
        &["setup", "--no-input"],
        &["setup", "--json"],
    ] {
        assert_eq!(world.code(args), 2, "{args:?}");
    }
    assert!(!world.path("home").exists());
}

#[test]
fn commands_suggest_setup_while_no_model_is_configured() {
    let world = World::new();
    for args in [&["chat", "-p", "hi"][..], &["doctor"], &[]] {
        let output = world.run(args);
        assert!(output.contains("deft setup"), "{args:?}: {output}");
    }
    let server = provider([ready()]);
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", server.url.as_str()),
    ];
    set_up(&world, &[], &variables);
    assert!(!world.run(&[]).contains("deft setup"));
}
