//! The initial content of a new home: the files in `defaults/`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use deft_testkit::{BotApi, Script, server_binary};
use serde_json::{Value, json};

use crate::support::World;

fn defaults() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../service/defaults")
}

fn files(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let below = path.strip_prefix(defaults()).unwrap();
            found.insert(below.to_str().unwrap().to_owned());
        }
    }
}

/// Creates a home with `deft init`.
fn seeded() -> World {
    let world = World::new();
    assert_eq!(world.code(&["init"]), 0);
    world
}

/// Every file in the folder is also in the binary's list.
#[test]
fn every_default_file_is_in_the_binary() {
    let mut there = BTreeSet::new();
    files(&defaults(), &mut there);
    assert!(there.remove("README.md"));
    // This file is stored as a record, as if an assistant had created it.
    assert!(there.remove("examples/hello-deft.json"));
    let world = seeded();
    for file in &there {
        let below = file.split_once('/').unwrap().1;
        let kept = std::fs::read_to_string(defaults().join(file)).unwrap();
        assert_eq!(world.read(&format!("home/skills/{below}")), kept, "{file}");
    }
    assert_eq!(there.len(), 26);
}

#[test]
fn the_defaults_are_valid() {
    let world = World::new();
    let folder = defaults().display().to_string();
    let skills = format!("{folder}/skills");
    for args in [
        vec!["skills", "validate", &folder, "--format", "json"],
        vec![
            "skills",
            "validate",
            "--profile",
            "agentskills",
            &skills,
            "--format",
            "json",
        ],
    ] {
        let report = world.json(&args);
        let files = report["files"].as_array().unwrap();
        assert!(files.len() >= 25, "{report:#}");
        for file in files {
            assert_eq!(
                (&file["ok"], &file["diagnostics"]),
                (&json!(true), &json!([])),
                "{file:#}"
            );
        }
    }
}

/// S0.86 to S0.93: the schedules and the number of steps of the default skills, and that they wait for their
/// tools.
#[test]
fn default_skills_equal_those_of_the_seeds() {
    let world = seeded();
    assert_eq!(world.code(&["tick"]), 0);
    let listed = world.json(&["schedule", "list", "--json"]);
    let schedules = listed["schedules"].as_array().unwrap();
    let table = [
        ("email-processor", "every hour", 15),
        ("morning-briefing", "every day at 06:00", 15),
        ("evening-recap", "every day at 18:00", 12),
        ("weekly-digest", "at 18:00 on Sunday", 15),
        ("follow-up-tracker", "every day at 09:00", 10),
        ("pre-meeting-prep", "every 15 minutes", 10),
        ("meeting-overload-warning", "every day at 20:00", 6),
        ("daily-email-classification", "every day at 05:00", 15),
    ];
    for (id, words, steps) in table {
        let entry = schedules.iter().find(|entry| entry["skill"] == id).unwrap();
        assert_eq!(
            (&entry["words"], &entry["disabled_reason"]),
            (&json!(words), &json!("missing_tools")),
            "{entry}"
        );
        if words.contains(':') {
            assert_eq!(entry["zone"], "America/New_York", "{entry}");
        }
        let shown = world.json(&["skills", "show", id, "--json"]);
        assert_eq!(shown["skill"]["max_steps"], steps, "{id}");
        assert_eq!(shown["skill"]["tier"], "agent", "{id}");
        let (needed, missing) = (
            &shown["skill"]["required_tools"],
            &shown["skill"]["missing_tools"],
        );
        assert_eq!(needed, missing, "nobody offers any of them: {id}");
    }
    // Plus the skill for the memory, which the next test checks.
    assert_eq!(schedules.len(), table.len() + 1, "{listed:#}");
}

/// S0.83: their tools are always available, but no model is called before a person enables them.
#[test]
fn memory_skills_are_disabled_until_a_person_enables_them() {
    let world = seeded();
    assert_eq!(world.code(&["tick"]), 0);
    let listed = world.json(&["schedule", "list", "--json"]);
    let schedules = listed["schedules"].as_array().unwrap();
    let found = |id: &str| schedules.iter().find(|entry| entry["skill"] == id);
    let entry = found("memory-synthesis").unwrap();
    assert_eq!(
        (&entry["words"], &entry["disabled_reason"]),
        (&json!("at 03:00 on Sunday"), &json!("user")),
        "{entry}"
    );
    assert_eq!(found("conversation-backfill"), None);
    let shown = world.json(&["skills", "show", "conversation-backfill", "--json"]);
    let trigger = &shown["skill"]["trigger"];
    assert_eq!(
        (&trigger["type"], &trigger["words"]),
        (&json!("event"), &json!("when a conversation has ended")),
        "{trigger}"
    );
    for id in ["memory-synthesis", "conversation-backfill"] {
        let shown = world.json(&["skills", "show", id, "--json"]);
        let skill = &shown["skill"];
        assert_eq!(
            (&skill["tier"], &skill["missing_tools"], &skill["max_steps"]),
            (&json!("agent"), &json!([]), &json!(30)),
            "{id}"
        );
    }
    assert_eq!(world.code(&["skills", "enable", "memory-synthesis"]), 0);
    let listed = world.json(&["schedule", "list", "--json"]);
    let schedules = listed["schedules"].as_array().unwrap();
    let entry = schedules
        .iter()
        .find(|entry| entry["skill"] == "memory-synthesis");
    assert_eq!(entry.unwrap()["disabled_reason"], Value::Null);
}

/// S0.94: the playbooks exist under their names.
#[test]
fn the_playbooks_of_the_seeds_exist() {
    let world = seeded();
    let listed = world.json(&["skills", "list", "--json"]);
    let skills = listed["skills"].as_array().unwrap();
    let playbooks: BTreeSet<&str> = skills
        .iter()
        .filter(|skill| {
            skill["tags"]
                .as_array()
                .unwrap()
                .contains(&json!("playbook"))
        })
        .map(|skill| skill["id"].as_str().unwrap())
        .collect();
    let expected = [
        "contact-lookup",
        "cron-scheduling",
        "daily-briefing",
        "email-classify",
        "email-compose",
        "email-triage",
        "file-operations",
        "memory-recall",
        "message-cleanup",
        "research-and-share",
        "schedule-meeting",
        "system-health-check",
        "telegram-conversation",
        "vercel-deployments",
        "web-browsing",
    ];
    assert_eq!(playbooks, BTreeSet::from(expected));
}

/// The examples in the playbook are accepted exactly as written.
#[test]
fn the_examples_of_cron_scheduling_are_accepted() {
    let bot = BotApi::start();
    let world = seeded();
    world.write("token", &bot.token).write("server/x", "");
    let script = Script::new().tool("searcher_news_search", json!({"text": "no news"}));
    let arguments = script.write(&world.path("server"), "news");
    let args: Vec<Value> = arguments.list().into_iter().map(Value::from).collect();
    let config = format!(
        "[notify]\ntarget = \"4711\"\n\n[telegram]\ntoken = {}\nbase_url = {}\n\n[mcp_servers.news]\ncommand = {}\nargs = {}\n",
        json!(format!("file:{}", world.path("token").display())),
        json!(bot.url),
        json!(server_binary()),
        json!(args),
    );
    world.write("home/config.toml", config);
    let page = world.read("home/skills/cron-scheduling/SKILL.md");
    let examples: Vec<&str> = page
        .split("```json\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    let mut tiers = Vec::new();
    for example in &examples {
        let call = [
            "tools",
            "call",
            "memory_store_skill",
            "--json",
            "--args",
            example,
        ];
        let stored = world.json(&call);
        assert_eq!(stored["ok"], true, "{example}\n{stored:#}");
        let stored = &stored["value"];
        assert_eq!(
            (&stored["waits_for"], &stored["skill"]["enabled"]),
            (&json!([]), &json!(true))
        );
        tiers.push(stored["skill"]["tier"].as_str().unwrap().to_owned());
    }
    assert_eq!(tiers, ["direct", "agent"]);
}
