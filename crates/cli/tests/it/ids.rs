//! `last` and prefixes of ids, wherever commands take an id.

use serde_json::Value;

use crate::support::World;

const ASKS: &str = "name: asks\ndescription: Asks\nsteps:\n  - {id: look, tool: time.now}\nconfirmations:\n  - {step: look, message: \"Look?\"}\n";

fn home() -> World {
    let world = World::new();
    world.write("home/skills/asks.yaml", ASKS).write(
        "home/skills/quick.yaml",
        "name: quick\ndescription: Quick\nsteps:\n  - {id: look, tool: time.now}\n",
    );
    world
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

#[test]
fn last_and_id_prefixes_select_runs() {
    let world = home();
    let runs = [0, 1, 2].map(|_| world.json(&["run", "quick", "--json"]));
    let last = text(&runs[2], "id");
    for id in ["last", last, &last[..last.len() - 1], &last["run_".len()..]] {
        let shown = world.json(&["runs", "show", id, "--json"]);
        assert_eq!(shown["run"]["id"], last, "{id}");
    }
    // The message counts all matches, and the hint names some.
    let refused = world.json(&["runs", "show", "run_", "--json"]);
    assert_eq!(refused["error"]["code"], "ambiguous", "{refused:#}");
    assert_eq!(refused["error"]["message"], "`run_` matches 3 runs");
    let hint = text(&refused["error"], "hint");
    assert!(hint.contains(&format!("{last} (quick)")), "{hint}");
    for command in [
        &["runs", "logs", "last"][..],
        &["runs", "export", "last"],
        &["runs", "rerun", "last"],
        &["runs", "cancel", "last"],
    ] {
        assert_eq!(world.code(command), 0, "{command:?}");
    }
    let unknown = world.json(&["runs", "show", "nope", "--json"]);
    assert_eq!(unknown["error"]["message"], "unknown run `nope`");
}

#[test]
fn last_selects_questions_and_jobs() {
    let world = home();
    let none = world.json(&["approvals", "approve", "last", "--json"]);
    assert_eq!(none["error"]["message"], "no approval yet", "{none:#}");
    for _ in 0..2 {
        assert_eq!(world.code(&["run", "asks", "--no-input"]), 5);
    }
    let waiting = world.json(&["approvals", "list", "--json"]);
    let ids: Vec<&str> = waiting["approvals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| text(a, "id"))
        .collect();
    let common = ids[0]
        .chars()
        .zip(ids[1].chars())
        .take_while(|(a, b)| a == b)
        .count();
    let refused = world.json(&["approvals", "approve", &ids[0][..common], "--json"]);
    assert_eq!(refused["error"]["code"], "ambiguous", "{refused:#}");
    assert!(
        text(&refused["error"], "hint").contains("asks: Look?"),
        "{refused:#}"
    );
    let approved = world.json(&["approvals", "approve", "last", "--json"]);
    assert_eq!(approved["approval"]["answer"], "yes", "{approved:#}");
    // `last` refers to pending approvals only, so it is now another one.
    let rejected = world.json(&["approvals", "reject", "last", "--json"]);
    assert_ne!(rejected["approval"]["id"], approved["approval"]["id"]);

    let job = world.json(&[
        "jobs",
        "queue",
        "name=hello",
        "action={\"type\":\"tool_call\",\"toolName\":\"time.now\",\"parameters\":{}}",
        "--json",
    ]);
    let shown = world.json(&["jobs", "show", "last", "--json"]);
    assert_eq!(shown["job"]["taskId"], job["taskId"], "{shown:#}");
    let none = world.json(&["notices", "retry", "last", "--json"]);
    assert_eq!(none["error"]["code"], "unknown_notice", "{none:#}");
    let none = world.json(&["chat", "show", "last", "--json"]);
    assert_eq!(none["error"]["code"], "unknown_conversation", "{none:#}");
}

/// A resumed run shows finished steps as done, and the time a person took to answer does not count as work.
#[test]
fn a_resumed_run_shows_finished_steps() {
    let world = World::new();
    world.write(
        "home/skills/late.yaml",
        "name: late\ndescription: Late\nsteps:\n  - {id: first, tool: time.now}\n  - {id: second, tool: log, args: {message: hi}}\nconfirmations:\n  - {step: second, message: \"Go on?\"}\n",
    );
    assert_eq!(world.code(&["run", "late", "--no-input", "--quiet"]), 5);
    let mut terminal = crate::terminal::Terminal::sized(&world, &["runs", "resume", "last"], 80);
    terminal.until("Go on?");
    let screen = terminal.screen();
    assert!(screen.contains("✓ first"), "{screen}");
    terminal.keys("y\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    let run = world.json(&["runs", "show", "last", "--json"]);
    let run = &run["run"];
    let (whole, waited) = (run["duration_ms"].as_u64(), run["waited_ms"].as_u64());
    assert!(waited > Some(0) && waited <= whole, "{run:#}");
    let listed = world.json(&["runs", "list", "--json"]);
    assert_eq!(listed["runs"][0]["waited_ms"].as_u64(), waited);
    // Both tables show the time without the wait.
    let took = world.run(&["runs", "show", "last"]);
    let took = took
        .lines()
        .find_map(|line| line.trim().strip_prefix("took"));
    let worked = took.and_then(|took| took.split(", waited").next());
    let worked = worked.unwrap_or_default().trim().to_owned();
    let list = world.run(&["runs", "list", "--wide"]);
    assert!(list.contains(&format!("  {worked}  ")), "{worked}: {list}");
}
