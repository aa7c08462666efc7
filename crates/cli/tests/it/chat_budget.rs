//! Budgets for models: setting them, reaching them, raising them and resuming.

use std::process::Stdio;

use deft_testkit::{Gate, ModelAnswer};
use serde_json::{Value, json};

use crate::chat_support::{deft, home, model};
use crate::daemon::{Daemon, runs, wait_for};
use crate::support::World;

fn scope(world: &World, name: &str) -> Value {
    let shown = world.json(&["budget", "show", "--json"]);
    let scopes = shown["scopes"].as_array().unwrap();
    let found = scopes.iter().find(|scope| scope["scope"] == name);
    found.cloned().unwrap_or_default()
}

/// The budget is spent, a message is refused, the limit is raised, and the message is answered.
#[test]
fn a_spent_daily_budget_can_be_raised() {
    let model = model([
        ModelAnswer::text("Hello.").usage(12400, 0, 100),
        ModelAnswer::text("Hello again."),
    ]);
    let world = home(&model, "");
    let limit = |tokens| {
        let args = ["budget", "set", "--tokens-per-day", tokens];
        assert_eq!(deft(&world, &args).code, 0);
    };
    limit("16000");
    assert_eq!(deft(&world, &["chat", "-p", "Hi"]).code, 0);
    let all = scope(&world, "all");
    assert_eq!(
        all,
        json!({
            "scope": "all", "calls": 1, "estimated_calls": 0, "estimated_tokens": 0,
            "input_tokens": 12400, "output_tokens": 100, "cost_usd": 12.6,
            "reserved_tokens": 0, "reserved_usd": 0.0, "limit_tokens": 16000, "limit_usd": null,
            "on_exhausted": "pause",
        })
    );
    let refused = deft(&world, &["chat", "-p", "Hi"]);
    assert_eq!(
        (refused.code, refused.stdout.as_str()),
        (6, ""),
        "{refused:?}"
    );
    assert!(refused.stderr.contains("16000"), "{refused:?}");
    assert_eq!(model.requests().len(), 1, "nothing was asked");
    assert_eq!(scope(&world, "all"), all, "nothing is held back or counted");
    // An agent that reached its limit is paused until the limit allows more.
    let paused = world.json(&["budget", "show", "--json"])["paused"].clone();
    assert_eq!(
        (&paused[0]["agent"], &paused[0]["until"]),
        (&json!("thinker"), &json!("limit")),
        "{paused:#}"
    );
    assert_eq!(deft(&world, &["chat", "-p", "Hi"]).code, 6);
    limit("90000");
    let paused = world.json(&["budget", "show", "--json"])["paused"].clone();
    assert_eq!(paused, json!([]), "a raised limit lifts it");
    let output = deft(&world, &["chat", "-p", "Hi"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "Hello again.\n"),
        "{output:?}"
    );
    assert_eq!(scope(&world, "agent:thinker")["calls"], 2);
}

#[test]
fn an_agent_with_a_usage_spike_is_paused_and_resumed() {
    let model = model([
        ModelAnswer::text("Hello.").usage(5400, 0, 100),
        ModelAnswer::text("Hello again."),
    ]);
    let world = home(&model, "");
    let set = [
        "budget",
        "set",
        "--agent",
        "thinker",
        "--spike-tokens",
        "4000",
    ];
    assert_eq!(deft(&world, &set).code, 0);
    assert_eq!(deft(&world, &["chat", "-p", "Hi"]).code, 0);
    let paused = world.json(&["budget", "show", "--json"]);
    let paused = &paused["paused"][0];
    assert_eq!(
        (&paused["agent"], &paused["until"]),
        (&json!("thinker"), &json!("resume")),
        "{paused:#}"
    );
    let refused = deft(&world, &["chat", "-p", "Hi"]);
    assert_eq!(refused.code, 6, "{refused:?}");
    assert!(
        refused.stderr.contains("deft budget resume thinker"),
        "{refused:?}"
    );
    let notices = world.json(&["notices", "list", "--json"]);
    assert_eq!(
        notices["notices"].as_array().unwrap().len(),
        1,
        "{notices:#}"
    );
    let resume = ["budget", "resume", "thinker", "--json"];
    assert_eq!(
        world.json(&resume),
        json!({"ok": true, "agent": "thinker", "was_paused": true})
    );
    assert_eq!(
        world.json(&resume),
        json!({"ok": true, "agent": "thinker", "was_paused": false})
    );
    let output = deft(&world, &["chat", "-p", "Hi"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "Hello again.\n"),
        "{output:?}"
    );
}

const SPENDS: &str = "\
---
name: spends
description: Says something each minute.
metadata:
  required_tools: [notify]
  trigger_config: {\"schedule\": \"* * * * *\"}
  budget: {\"tokens\": 5500, \"per\": \"day\", \"on_exhausted\": \"skip\"}
---
Say it.
";

const SAYS: &str = "\
name: says
description: Says something each second.
schedule: \"* * * * * *\"
steps:
  - {id: mind, agent: Say it., tools: [notify]}
";

/// A paused agent in a daemon resumes when the limit in the configuration file is raised.
#[test]
fn a_daemon_follows_a_raised_limit() {
    let model = model([
        ModelAnswer::text("One.").usage(5100, 0, 100),
        ModelAnswer::text("Two."),
    ]);
    let world = home(&model, "");
    world.write("home/skills/says.yaml", SAYS);
    let limit = |tokens| {
        let args = ["budget", "set", "--tokens-per-day", tokens];
        assert_eq!(deft(&world, &args).code, 0);
    };
    limit("5500");
    let mut daemon = Daemon::start(&world);
    let refused = wait_for("a refusal", || {
        let refused = |run: &Value| run["error"]["class"] == "budget";
        runs(&world, "says").into_iter().find(refused)
    });
    assert_eq!(refused["outcome"], "error", "{refused:#}");
    limit("90000");
    daemon.until("budgets, notices");
    wait_for("the next answer", || {
        let answered = |run: &Value| run["outputs"] == "Two.";
        runs(&world, "says").into_iter().find(answered)
    });
    daemon.stop();
}

/// A run started by hand is skipped too, and the command prints the reason.
#[test]
fn a_run_over_budget_is_skipped_with_the_reason() {
    let model = model([ModelAnswer::text("Said.").usage(5100, 0, 100)]);
    let world = home(&model, "");
    world.write("home/skills/spends/SKILL.md", SPENDS);
    assert_eq!(deft(&world, &["run", "spends"]).code, 0);
    let skipped = deft(&world, &["run", "spends"]);
    assert_eq!(
        (skipped.code, skipped.stdout.as_str()),
        (0, ""),
        "{skipped:?}"
    );
    assert!(
        skipped.stderr.contains("skipped") && skipped.stderr.contains("5200 of 5500 tokens"),
        "{skipped:?}"
    );
    assert_eq!(model.requests().len(), 1, "nothing was asked");
    let latest = &runs(&world, "spends")[0];
    assert_eq!(latest["outcome"], "skipped", "{latest:#}");
    assert_eq!(
        latest["usage"],
        json!({"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "llm_calls": 0})
    );
}

#[test]
fn a_slot_after_the_daily_budget_is_spent_is_skipped_with_the_reason() {
    let model = model([ModelAnswer::text("Said.").usage(5400, 0, 100)]);
    let world = home(&model, "");
    world.write("home/skills/spends/SKILL.md", SPENDS);
    assert_eq!(world.code(&["tick"]), 0);
    let next = world.json(&["schedule", "next", "spends", "-n", "2", "--json"]);
    let slots: Vec<&str> = next["fires"]
        .as_array()
        .unwrap()
        .iter()
        .map(|at| at.as_str().unwrap())
        .collect();
    let first = world.json(&["tick", "--now", slots[0], "--json"]);
    assert_eq!(first["fired"][0]["outcome"], "success", "{first:#}");
    let second = world.json(&["tick", "--now", slots[1], "--json"]);
    let said = second.to_string();
    assert_eq!(model.requests().len(), 1, "{second:#}");
    assert!(said.contains("budget"), "{second:#}");
    let latest = &runs(&world, "spends")[0];
    assert_eq!(latest["outcome"], "skipped", "{latest:#} {second:#}");
    assert_eq!(latest["error"]["class"], "budget", "{latest:#}");
}

/// Tokens reserved for a call in flight are not spent, so the next call waits for it.
#[test]
fn reserved_tokens_do_not_pause_other_calls() {
    let gate = Gate::default();
    let model = model([
        ModelAnswer::text("One two three four").gate(3, &gate),
        ModelAnswer::text("Five."),
    ]);
    let world = home(&model, "");
    let ask = |text: &str| {
        let mut command = world.command(&["chat", "-p", text]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    };
    let first = ask("Count");
    let held = wait_for("a reservation", || {
        scope(&world, "all")["reserved_tokens"]
            .as_u64()
            .filter(|held| *held > 0)
    });
    // The limit allows one reservation, but not two.
    let limit = (held + held / 2).to_string();
    let args = ["budget", "set", "--tokens-per-day", &limit];
    assert_eq!(deft(&world, &args).code, 0);
    let second = ask("Go on");
    wait_for("the second run", || {
        (runs(&world, "chat").len() == 2).then_some(())
    });
    gate.open();
    for (child, expected) in [(first, "One two three four\n"), (second, "Five.\n")] {
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            expected,
            "{output:?}"
        );
    }
    let paused = world.json(&["budget", "show", "--json"])["paused"].clone();
    assert_eq!(paused, json!([]));
}
