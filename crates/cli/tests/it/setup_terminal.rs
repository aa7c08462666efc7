//! `deft setup` in a terminal, on prepared machines: with nothing, a key, a local model, files of another
//! program, a crontab.

use deft_testkit::{Dialect, ModelAnswer, ModelServer};
use serde_json::json;

use crate::setup::{bin, program};
use crate::support::{SKILL, World};
use crate::terminal::Terminal;

const DOWN: &str = "\x1b[B";
const ENTER: &str = "\r";
const MODEL: &str = "Which model should deft use?";
// The ends of questions: a screen is complete when it shows one of them.
const SERVICE: &str = "as a service? (y/N)";
const CHAT: &str = "Start a chat now? (Y/n)";
const CHOOSE: &str = "esc to skip]";
const TICK: &str = "enter to continue]";

fn start(world: &World, columns: u16, variables: &[(&str, &str)]) -> Terminal {
    start_with(world, columns, variables, &[])
}

/// Starts setup with a home below the user's home, so paths are short and the same everywhere.
fn start_with(world: &World, columns: u16, variables: &[(&str, &str)], more: &[&str]) -> Terminal {
    let mut all = vec![("DEFT_HOME", world.path("user/.deft").display().to_string())];
    all.extend(
        variables
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned())),
    );
    let args = [&["setup", "--probe", "none"], more].concat();
    Terminal::with_env(world, &args, columns, &all)
}

/// Removes the varying parts of a screen: response times and ports.
fn steady(screen: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in screen.lines() {
        let mut line = line.trim_end().to_owned();
        if let Some((before, _)) = line.split_once(" answers after ") {
            line = format!("{before} answers after [time]");
        }
        if let Some((before, rest)) = line.split_once("http://127.0.0.1:") {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            line = format!("{before}http://127.0.0.1:[port]{rest}");
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Declines the remaining questions, waits for the end and returns the screen.
fn decline(mut terminal: Terminal) -> String {
    terminal.until(SERVICE).keys(ENTER);
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    steady(&screen)
}

#[test]
fn an_empty_machine() {
    for columns in [80, 120] {
        let world = World::new();
        let mut terminal = start(&world, columns, &[]);
        terminal.until(MODEL).keys(DOWN).keys(ENTER);
        let screen = decline(terminal);
        insta::assert_snapshot!(format!("nothing_{columns}"), screen);
    }
}

#[test]
fn a_key_ends_in_a_chat() {
    let world = World::new();
    let answers = ["ready", "Good morning."].map(ModelAnswer::text);
    let server = ModelServer::start(Dialect::Anthropic, answers);
    let key = "sk-ant-0123456789abcdef";
    let variables = [
        ("ANTHROPIC_API_KEY", key),
        ("ANTHROPIC_BASE_URL", server.url.as_str()),
    ];
    let mut terminal = start(&world, 80, &variables);
    terminal.until(MODEL).until(CHOOSE);
    insta::assert_snapshot!("key_question", steady(&terminal.screen()));
    terminal.keys(ENTER).until("Model:").keys(ENTER);
    terminal.until(SERVICE).keys(ENTER).until(CHAT);
    insta::assert_snapshot!("key", steady(&terminal.screen()));
    terminal
        .keys(ENTER)
        .until("`/help` lists commands")
        .until_line(">")
        .keys("hello\r");
    // A key pressed before the prompt returns is dropped.
    terminal.until("Good morning.").until_line(">").keys("\x04");
    let raw = terminal.raw.clone();
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(!raw.contains(key) && !world.read("user/.deft/config.toml").contains(key));
}

#[test]
fn a_local_model() {
    let world = World::new();
    let server = ModelServer::start(Dialect::Ollama, [ModelAnswer::text("ready")]);
    let mut terminal = start(&world, 80, &[("OLLAMA_HOST", server.url.as_str())]);
    terminal.until(MODEL).keys(ENTER);
    terminal.until(SERVICE).keys(ENTER).until(CHAT).keys("n\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    insta::assert_snapshot!("local_model", steady(&screen));
}

#[test]
fn files_of_another_host() {
    let world = World::new();
    world
        .write("user/.claude/skills/greet/SKILL.md", SKILL)
        .write(
            "user/.config/Claude/claude_desktop_config.json",
            r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "files"]}, "tracker": {"url": "https://tracker.example.com/mcp"}}}"#,
        )
        .write(
            ".mcp.json",
            r#"{"mcpServers": {"unknown": {"command": "sh"}}}"#,
        );
    let mut terminal = start(&world, 80, &[]);
    terminal.until(MODEL).keys(DOWN).keys(ENTER);
    terminal.until("Skill folders").keys(ENTER);
    terminal.until("MCP servers to import").until(TICK);
    insta::assert_snapshot!("other_host_question", steady(&terminal.screen()));
    terminal.keys(ENTER);
    let screen = decline(terminal);
    insta::assert_snapshot!("other_host", screen);
    let config = world.read("user/.deft/config.toml");
    assert!(
        config.contains("paths = [\"~/.claude/skills\"]"),
        "{config}"
    );
    assert!(config.contains("[mcp_servers.tracker]"), "{config}");
    assert!(!config.contains("mcp_servers.unknown"), "{config}");
    // A second setup asks only about the items left out.
    let mut terminal = start(&world, 80, &[]);
    terminal.until(MODEL).keys(DOWN).keys(ENTER);
    terminal.until("[ ] unknown").keys(ENTER);
    insta::assert_snapshot!("other_host_again", decline(terminal));
    assert_eq!(world.read("user/.deft/config.toml"), config);
}

/// Setup does not propose skills that `deft export` wrote.
#[test]
fn exported_skills_are_not_proposed() {
    let world = World::new();
    world
        .write("user/.deft/skills/greet/SKILL.md", SKILL)
        .write("user/.deft/skills/email/send.md", crate::support::PAGE);
    let mut export = world.command(&["export", "--to", "claude"]);
    let home = world.path("user/.deft");
    let exported = export.env("DEFT_HOME", &home).output().unwrap();
    assert!(exported.status.success(), "{exported:?}");
    assert!(world.path("user/.claude/skills/greet/SKILL.md").exists());
    let mut terminal = start(&world, 80, &[]);
    terminal.until(MODEL).keys(DOWN).keys(ENTER);
    let screen = decline(terminal);
    assert!(
        screen.contains("all skill folders found are configured already"),
        "{screen}"
    );
    // Another skill of the same program is proposed.
    let other = SKILL.replace("greet", "other");
    world.write("user/.claude/skills/other/SKILL.md", other);
    let mut terminal = start(&world, 80, &[]);
    terminal.until(MODEL).keys(DOWN).keys(ENTER);
    terminal.until("~/.claude/skills (1 skill)").keys(ENTER);
    decline(terminal);
}

#[test]
fn a_crontab() {
    let world = World::new();
    let table = "echo '# jobs'\necho 'MAILTO=ada'\necho '0 9 * * 1-5 /home/ada/report.sh'\necho '@daily backup'";
    program(&world, "crontab", table);
    let path = bin(&world);
    let mut terminal = start(&world, 80, &[("PATH", path.as_str())]);
    terminal.until(MODEL).keys(DOWN).keys(ENTER);
    terminal.until("enable them? (y/N)").keys("y").keys(ENTER);
    insta::assert_snapshot!("crontab", decline(terminal));
    let listed = world
        .command(&["skills", "list", "cron", "--json"])
        .env("DEFT_HOME", world.path("user/.deft"))
        .output();
    let listed: serde_json::Value = serde_json::from_slice(&listed.unwrap().stdout).unwrap();
    let skills = listed["skills"].as_array().unwrap().iter();
    // The search also matches a default skill.
    let jobs = skills.filter(|skill| skill["dialect"] == "workflow");
    let jobs: Vec<_> = jobs.map(|job| (&job["id"], &job["enabled"])).collect();
    let off = json!(false);
    let expected = [(&json!("cron-backup"), &off), (&json!("cron-report"), &off)];
    assert_eq!(jobs, expected, "{listed:#}");
    // A second setup has nothing left to import.
    let mut terminal = start(&world, 80, &[("PATH", path.as_str())]);
    terminal.until(MODEL).keys(DOWN).keys(ENTER);
    let again = decline(terminal);
    assert!(again.contains("all lines are imported already"), "{again}");
}

/// A typed key is stored as a secret, and a model that refuses it can be changed immediately.
#[test]
fn a_wrong_key_can_be_typed_again() {
    let world = World::new();
    let answers = [
        ModelAnswer::error(401, "no such key"),
        ModelAnswer::text("ready"),
    ];
    let server = ModelServer::start(Dialect::Anthropic, answers);
    let mut terminal = start(&world, 80, &[("ANTHROPIC_BASE_URL", server.url.as_str())]);
    for key in ["sk-ant-wrong-0123456789", "sk-ant-right-0123456789"] {
        terminal.until(MODEL).keys(ENTER);
        terminal
            .until("Which provider is your API key for?")
            .keys(ENTER);
        terminal.until("(not shown)").keys(&format!("{key}\r"));
        terminal.until("Model:").keys(ENTER);
        if key.contains("wrong") {
            terminal.until("Choose another model? (Y/n)");
            insta::assert_snapshot!("wrong_key", steady(&terminal.screen()));
            // Clear the screen, so only new text matches below.
            terminal.clear().keys(ENTER);
        }
    }
    terminal.until(SERVICE).keys(ENTER).until(CHAT).keys("n\r");
    let raw = terminal.raw.clone();
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(!raw.contains("0123456789"), "{screen}");
    let config = world.read("user/.deft/config.toml");
    assert!(
        config.contains("api_key = \"file:secrets/ANTHROPIC_API_KEY\""),
        "{config}"
    );
    assert!(!config.contains("sk-ant"), "{config}");
    let stored = world.read("user/.deft/secrets/ANTHROPIC_API_KEY");
    assert_eq!(stored, "sk-ant-right-0123456789\n");
}

/// A server with its own URL may need no key; an empty answer means no key.
#[test]
fn a_server_without_a_key() {
    for key in ["", "sk-0123456789"] {
        let world = World::new();
        let server = ModelServer::start(Dialect::OpenAi, [ModelAnswer::text("ready")]);
        let args = ["--provider", "openai", "--base-url", server.url.as_str()];
        let mut terminal = start_with(&world, 80, &[], &args);
        let question = "(not shown, empty if the server needs none):";
        terminal.until(question).keys(&format!("{key}\r"));
        terminal.until("Model:").keys("own-model\r");
        terminal.until(SERVICE).keys(ENTER).until(CHAT).keys("n\r");
        let (code, screen) = terminal.end();
        assert_eq!(code, 0, "{screen}");
        assert!(
            screen.contains("own-model (openai) answers after"),
            "{screen}"
        );
        let config = world.read("user/.deft/config.toml");
        assert_eq!(config.contains("api_key"), !key.is_empty(), "{config}");
        let stored = world.path("user/.deft/secrets/OPENAI_API_KEY").exists();
        assert_eq!(stored, !key.is_empty());
    }
}

#[test]
fn ctrl_c_ends_setup() {
    let world = World::new();
    let mut terminal = start(&world, 80, &[]);
    terminal.until(MODEL).keys("\x03");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
}
