//! All tables on terminals with 80 and 120 columns: key columns are never truncated.
//!
//! The instants are years away, so they look the same on every day.

use std::path::Path;

use deft_testkit::{ModelAnswer, Script};
use serde_json::json;

use crate::chat_support::{deft, home, model};
use crate::support::{World, server};
use crate::terminal::Terminal;

/// Fails at its second step.
const BACKUP: &str = "\
name: nightly-backup-of-everything
description: Copies the documents, the mail and the photos to the other disk, then checks every copy
schedule: \"0 3 * * *\"
steps:
  - {id: copy, tool: time.now}
  - {id: check, tool: compare}
";

const GREET: &str = "\
name: greet
description: Greets
schedule: \"0 9 1 5 *\"
steps:
  - {id: hello, tool: time.now}
";

const DEPLOY: &str = "\
name: deploy
description: Deploys the site
steps:
  - {id: push, tool: time.now}
confirmations:
  - {step: push, message: \"Deploy version 41 to production? 12 services restart one after the other.\"}
";

/// Creates a home in which every list has entries.
fn busy_home(model: &deft_testkit::ModelServer) -> World {
    let world = home(model, "[time]\nzone = \"Europe/Berlin\"\n");
    let script = Script::new()
        .tool("tide_table", json!({"text": "low", "description": "Says when the water is high and when it is low, for every harbour of the coast."}))
        .tool("compare", json!({"error": "3 of 1200 copies differ from their originals: mail/2019.mbox, photos/a.jpg, photos/b.jpg", "annotations": {"readOnlyHint": true}}));
    let config = world.read("home/config.toml") + &server(&world, &script);
    world.write("home/config.toml", config);
    world.write("home/skills/backup.yaml", BACKUP);
    world.write("home/skills/greet.yaml", GREET);
    world.write("home/skills/deploy.yaml", DEPLOY);
    world
}

/// Returns the screen of a command, without the parts that differ between runs.
fn screen(world: &World, args: &[&str], columns: u16) -> String {
    let terminal = Terminal::sized(world, args, columns);
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{args:?}:\n{screen}");
    let widest = screen.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(columns.into()), "{args:?}:\n{screen}");
    plain(&screen, &world.path(""))
}

fn plain(screen: &str, place: &Path) -> String {
    let place = format!("{}/", place.display().to_string().trim_end_matches('/'));
    let screen = screen.replace(&place, "[world]/");
    let digits = |word: &str| {
        let id = ["run_", "conv_", "job_", "task_", "apr_", "q_"];
        let id = id.into_iter().find(|start| word.starts_with(start));
        id.map(|start| format!("{start}{}", "0".repeat(word.len() - start.len())))
    };
    let line = |line: &str| {
        let words = line
            .split(' ')
            .map(|word| digits(word).unwrap_or_else(|| word.to_owned()));
        words.collect::<Vec<_>>().join(" ")
    };
    screen.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Like [`screen`], for a table with recent instants, whose widths differ too.
fn recent(world: &World, args: &[&str], columns: u16) -> String {
    let screen = screen(world, args, columns);
    let cells = |line: &str| {
        let indent = if line.starts_with("    ") { "    " } else { "" };
        let cells = line
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty());
        let is_recent = |cell: &str| cell == "now" || cell.ends_with(" ago");
        let cells = cells.map(|cell| match cell {
            cell if is_recent(cell) => "[ago]",
            cell if cell.ends_with(" ms") => "[took]",
            cell => cell,
        });
        format!("{indent}{}", cells.collect::<Vec<_>>().join("  "))
    };
    screen.lines().map(cells).collect::<Vec<_>>().join("\n")
}

fn assert_recent(world: &World, name: &str, args: &[&str]) {
    for columns in [80, 120] {
        insta::assert_snapshot!(format!("{name}_{columns}"), recent(world, args, columns));
    }
}

fn assert_screens(world: &World, name: &str, args: &[&str]) {
    for columns in [80, 120] {
        insta::assert_snapshot!(format!("{name}_{columns}"), screen(world, args, columns));
    }
}

#[test]
fn lists_of_skills_and_schedules() {
    let server = model([]);
    let world = busy_home(&server);
    assert_screens(&world, "skills_list", &["skills", "list"]);
    assert_screens(
        &world,
        "schedule_simulate",
        &[
            "schedule",
            "simulate",
            "--from",
            "2030-01-05T00:00",
            "--to",
            "2030-01-07T00:00",
        ],
    );
    assert_eq!(world.code(&["mcp", "probe", "demo"]), 0);
    assert_screens(&world, "tools_list", &["tools", "list", "--server", "demo"]);
    assert_screens(
        &world,
        "schedule_next",
        &[
            "schedule",
            "next",
            "nightly-backup-of-everything",
            "--from",
            "2030-03-30T00:00",
            "-n",
            "3",
        ],
    );
    let budget = screen(&world, &["budget", "show"], 80);
    let (budget, _day) = budget.split_once("\non ").unwrap();
    insta::assert_snapshot!("budget_80", budget);
}

/// The paths of the servers are fixed, because the list does not start them.
#[test]
fn lists_of_servers() {
    let world = World::new();
    world.write(
        "home/config.toml",
        "[mcp_servers.files]\ncommand = \"/opt/servers/bin/files-server\"\nargs = [\"--root\", \"/srv/documents\", \"--read-only\", \"--follow-links\"]\n\n\
         [mcp_servers.mail]\nurl = \"https://mail.example.org/mcp\"\n\n\
         [mcp_servers.old]\ncommand = \"old-server\"\nenabled = false\n",
    );
    assert_screens(&world, "mcp_list", &["mcp", "list"]);
}

#[test]
fn lists_of_runs_and_questions() {
    let server = model([]);
    let world = busy_home(&server);
    assert_eq!(world.code(&["run", "nightly-backup-of-everything"]), 1);
    assert_eq!(world.code(&["run", "deploy"]), 5);
    assert_recent(&world, "runs_list", &["runs", "list"]);
    assert_recent(&world, "approvals_list", &["approvals", "list"]);
    let asked = world.json(&["approvals", "list", "--json"]);
    let id = asked["approvals"][0]["id"].as_str().unwrap();
    assert_eq!(world.code(&["approvals", "approve", id, "--always"]), 0);
    assert_recent(&world, "approvals_grants", &["approvals", "grants"]);
    let task = ["jobs", "queue", "name=count-the-ships", "tool=time.now"];
    assert_eq!(world.code(&task), 0);
    assert_recent(&world, "jobs_list", &["jobs", "list"]);
    let notice = [
        "tools",
        "call",
        "notify",
        "message=The tide turns at 14:32; the harbour closes at 16:00 and opens again at 04:00",
    ];
    assert_eq!(world.code(&notice), 0);
    assert_recent(&world, "notices_list", &["notices", "list"]);
    world.write("home/skills/greet/SKILL.md", crate::support::SKILL);
    world.code(&["skills", "delete", "greet", "--yes"]);
    assert_recent(&world, "undo_list", &["undo", "--list"]);
}

#[test]
fn lists_of_chats() {
    let server = model([ModelAnswer::text("At 14:32.")]);
    let world = busy_home(&server);
    let output = deft(
        &world,
        &["chat", "-p", "When is the water high in the harbour?"],
    );
    assert_eq!(output.code, 0, "{output:?}");
    assert_recent(&world, "chat_list", &["chat", "list"]);
    assert_recent(&world, "chat_search", &["chat", "search", "water"]);
}

/// In a pipe and with `--wide` each row is one line, with full ids.
#[test]
fn a_wide_table_has_one_line_for_each_row() {
    let server = model([]);
    let world = busy_home(&server);
    let piped = deft(&world, &["skills", "list"]).stdout;
    assert_eq!(piped.lines().count(), 4, "{piped}");
    let terminal = Terminal::sized(&world, &["skills", "list", "--wide"], 250);
    let (_, screen) = terminal.end();
    assert_eq!(screen.trim_end(), piped.trim_end());
}

/// A list longer than the screen is shown in the pager from the environment.
#[test]
fn long_lists_are_paged() {
    let world = crate::daemon::used_home();
    for n in 0..60 {
        let skill = GREET.replace("name: greet", &format!("name: greet-{n}"));
        world.write(&format!("home/skills/greet-{n}.yaml"), skill);
    }
    let pager = world.path("pager");
    world.write(
        "pager",
        "#!/bin/sh\nwhile read -r line; do n=$((n+1)); done\necho \"$n lines\"\n",
    );
    std::fs::set_permissions(&pager, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let variables = [
        ("DEFT_PAGER", pager.display().to_string()),
        ("PATH", "/bin:/usr/bin".to_owned()),
    ];
    let terminal = Terminal::with_env(&world, &["skills", "list"], 80, &variables);
    assert_eq!(terminal.end(), (0, "61 lines".to_owned()));
    let variables = [("DEFT_PAGER", String::new())];
    let terminal = Terminal::with_env(&world, &["skills", "list"], 80, &variables);
    let (code, screen) = terminal.end();
    assert_eq!((code, screen.contains("greet-9 ")), (0, true), "{screen}");
}
