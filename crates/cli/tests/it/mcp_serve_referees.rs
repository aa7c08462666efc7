//! The MCP Inspector, a client that others wrote, judges `deft mcp serve` over stdio in both eras.
//!
//! `crates/server/tests/referees/install.sh` installs it. If it is missing the test fails; nothing is skipped.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::daemon::used_home;
use crate::support::{PAGE, WORKFLOW, World};

const REVIEW: &str = "---\nname: review\ndescription: Reviews code\nmetadata:\n  author: Ada\n---\n\n# Review\n\nRead the diff.\n";
const ECHO: &str = "name: echo\ndescription: Says it again\nexpose: true\ninputs:\n  - {name: text, type: string, required: true, description: What to say}\nsteps:\n  - {id: note, tool: log, args: {message: \"{{ text }}\"}}\noutputs: {said: \"{{ text }}\"}\n";

fn referee(path: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"),
        PathBuf::from,
    );
    let file = cache.join("deft/referees").join(path);
    assert!(
        file.exists(),
        "{} is missing; run `crates/server/tests/referees/install.sh`",
        file.display()
    );
    file
}

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

/// One look of the Inspector at the server of a world.
fn inspect(world: &World, era: &str, args: &[&str]) -> Output {
    let home = world.path("home");
    let output = Command::new(referee("bin/node"))
        .arg(referee(
            "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
        ))
        .args([
            "--cli",
            env!("CARGO_BIN_EXE_deft"),
            "mcp",
            "serve",
            "--home",
        ])
        .arg(home)
        .args(["--protocol-era", era, "--format", "json", "-q"])
        .args(args)
        .env("HOME", world.path("scratch"))
        .env("MCP_CATALOG_PATH", world.path("scratch/catalog.json"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{era} {args:?}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn result(world: &World, era: &str, args: &[&str]) -> Value {
    let output = inspect(world, era, args);
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["result"].take()
}

fn judge(era: &str) {
    let world = world();
    let tools = result(&world, era, &["--method", "tools/list", "--strict"]);
    assert!(tools["tools"].as_array().unwrap().len() > 10, "{tools:#}");
    let said = result(
        &world,
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
        said["structuredContent"]["outputs"]["said"], "hi",
        "{said:#}"
    );
    let resources = result(&world, era, &["--method", "resources/list"]);
    assert_eq!(resources["resources"].as_array().unwrap().len(), 4);
    let page = result(
        &world,
        era,
        &[
            "--method",
            "resources/read",
            "--uri",
            "skill://review/references/more.md",
        ],
    );
    assert_eq!(page["contents"][0]["text"], "# More\n", "{page:#}");
    let prompts = result(&world, era, &["--method", "prompts/list"]);
    assert_eq!(prompts["prompts"].as_array().unwrap().len(), 4);
    let prompt = result(
        &world,
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
        era,
        &["--method", "skills/list", "--verify", "--require-digests"],
    );
    let verdict = String::from_utf8(verdict.stdout).unwrap();
    assert!(verdict.contains("review"), "{verdict}");
}

#[test]
fn the_inspector_accepts_sessions() {
    judge("legacy");
}

#[test]
fn the_inspector_accepts_requests_without_a_session() {
    judge("modern");
}
