//! The MCP Inspector, a third-party client, tests `deft mcp serve` over stdio and `/mcp` of a running daemon
//! over HTTP, in both eras.
//!
//! `crates/server/tests/referees/install.sh` installs it. If it is missing, the tests fail; none are skipped.

use std::process::Output;

use deft_testkit::node_referee;
use serde_json::Value;

use crate::daemon::{Daemon, used_home};
use crate::support::{PAGE, WORKFLOW, World};

pub(crate) const INSPECTOR: &str =
    "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
const REVIEW: &str = "---\nname: review\ndescription: Reviews code\nmetadata:\n  author: Ada\n---\n\n# Review\n\nRead the diff.\n";
const ECHO: &str = "name: echo\ndescription: Says it again\nexpose: true\ninputs:\n  - {name: text, type: string, required: true, description: What to say}\nsteps:\n  - {id: note, tool: log, args: {message: \"{{ text }}\"}}\noutputs: {said: \"{{ text }}\"}\n";

fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/review/SKILL.md", REVIEW)
        .write("home/skills/review/references/more.md", "# More\n")
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/report.yaml", WORKFLOW)
        .write("home/skills/echo.yaml", ECHO)
        .write("scratch/x", "");
    world
}

/// The transport between the Inspector and deft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Stdio,
    Http,
}

/// Runs the Inspector once against the server of a world.
fn inspect(world: &World, way: Way, era: &str, args: &[&str]) -> Output {
    let mut inspector = node_referee(INSPECTOR);
    inspector.arg("--cli");
    match way {
        Way::Stdio => inspector
            .args([env!("CARGO_BIN_EXE_deft"), "mcp", "serve", "--home"])
            .arg(world.path("home")),
        Way::Http => {
            let state: Value = serde_json::from_str(&world.read("home/server.json")).unwrap();
            let url = state["url"].as_str().unwrap();
            let token = world.read("home/token");
            inspector
                .args(["--server-url", &format!("{url}/mcp"), "--transport", "http"])
                .args([
                    "--header",
                    &format!("Authorization: Bearer {}", token.trim()),
                ])
        }
    };
    let output = inspector
        .args(["--protocol-era", era, "--format", "json", "-q"])
        .args(args)
        .env("HOME", world.path("scratch"))
        .env("MCP_CATALOG_PATH", world.path("scratch/catalog.json"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{way:?} {era} {args:?}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn result(world: &World, way: Way, era: &str, args: &[&str]) -> Value {
    let output = inspect(world, way, era, args);
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["result"].take()
}

fn judge(way: Way, era: &str) {
    let world = world();
    let daemon = (way == Way::Http).then(|| Daemon::start(&world));
    let tools = result(&world, way, era, &["--method", "tools/list", "--strict"]);
    assert!(tools["tools"].as_array().unwrap().len() > 10, "{tools:#}");
    let output = result(
        &world,
        way,
        era,
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "echo",
            "--tool-arg",
            "text=hi",
        ],
    );
    assert_eq!(
        output["structuredContent"]["outputs"]["said"], "hi",
        "{output:#}"
    );
    let resources = result(&world, way, era, &["--method", "resources/list"]);
    assert_eq!(resources["resources"].as_array().unwrap().len(), 4);
    let page = result(
        &world,
        way,
        era,
        &[
            "--method",
            "resources/read",
            "--uri",
            "skill://review/references/more.md",
        ],
    );
    assert_eq!(page["contents"][0]["text"], "# More\n", "{page:#}");
    let prompts = result(&world, way, era, &["--method", "prompts/list"]);
    assert_eq!(prompts["prompts"].as_array().unwrap().len(), 4);
    let prompt = result(
        &world,
        way,
        era,
        &["--method", "prompts/get", "--prompt-name", "review"],
    );
    assert!(
        prompt["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("diff")
    );
    let verdict = inspect(
        &world,
        way,
        era,
        &["--method", "skills/list", "--verify", "--require-digests"],
    );
    let verdict = String::from_utf8(verdict.stdout).unwrap();
    assert!(verdict.contains("review"), "{verdict}");
    drop(daemon);
}

#[test]
fn the_inspector_accepts_sessions() {
    judge(Way::Stdio, "legacy");
}

#[test]
fn the_inspector_accepts_requests_without_a_session() {
    judge(Way::Stdio, "modern");
}

#[test]
fn the_inspector_accepts_sessions_over_http() {
    judge(Way::Http, "legacy");
}

#[test]
fn the_inspector_accepts_requests_over_http_without_a_session() {
    judge(Way::Http, "modern");
}
