//! `deft tick`: schedules without a daemon, with a clock controlled by the test.

use std::process::Stdio;

use deft_testkit::Script;
use serde_json::{Value, json};

use crate::daemon::{Daemon, runs, skill};
use crate::support::{World, server};

const HOURLY: &str = "\
name: hourly
description: Looks at the clock
schedule: \"0 * * * *\"
steps:
  - {id: look, tool: time.now}
";

/// Creates a home whose skill is first seen now, so all its slots are in the future.
fn world(more: &str) -> World {
    let world = World::new();
    world.write("home/skills/hourly.yaml", format!("{HOURLY}{more}"));
    let ticked = world.json(&["tick", "--json"]);
    let nothing = json!({"fired": [], "skipped": [], "missed": [], "failed": [], "enabled": []});
    assert_eq!(ticked, nothing);
    world
}

/// Returns the next `n` slots of the skill.
fn slots(world: &World, n: &str) -> Vec<String> {
    let next = world.json(&["schedule", "next", "hourly", "-n", n, "--json"]);
    let fires = next["fires"].as_array().unwrap();
    fires
        .iter()
        .map(|at| at.as_str().unwrap().to_owned())
        .collect()
}

fn tick(world: &World, now: &str) -> Value {
    world.json(&["tick", "--now", now, "--json"])
}

fn instant(text: &Value) -> jiff::Timestamp {
    text.as_str().unwrap().parse().unwrap()
}

/// S3.6: a workflow is started by its schedule. The module `runs` tests starts by hand.
#[test]
fn due_slots_run_and_are_reported() {
    let world = world("");
    let slots = slots(&world, "2");
    let ticked = tick(&world, &slots[0]);
    let fired = &ticked["fired"][0];
    assert_eq!(
        (
            &fired["skill"],
            &fired["cause"],
            &fired["outcome"],
            &fired["status"]
        ),
        (
            &json!("hourly"),
            &json!("schedule"),
            &json!("success"),
            &json!("done")
        ),
        "{ticked:#}"
    );
    assert_eq!(instant(&fired["slot"]), slots[0].parse().unwrap());
    assert_eq!(
        tick(&world, &slots[0])["fired"],
        json!([]),
        "a slot fires once"
    );
    let output = world.run(&["tick", "--now", &slots[1]]);
    assert!(
        output.starts_with("exit 0\n--- stdout\nsuccess      hourly  "),
        "{output}"
    );
    let idle = world.run(&["tick"]);
    assert_eq!(idle, "exit 0\n--- stdout\n--- stderr\nnothing to run\n");
    assert_eq!(world.code(&["tick", "--now", "someday"]), 2);
    let shown = skill(&world, "hourly");
    assert_eq!(shown["last_run_status"], "success", "{shown:#}");
}

/// X3: concurrent ticks fire a slot only once.
#[test]
fn concurrent_ticks_run_a_slot_once() {
    let world = world("");
    let slot = &slots(&world, "1")[0];
    let ticks: Vec<_> = (0..4)
        .map(|_| {
            let mut command = world.command(&["tick", "--now", slot, "--json"]);
            command.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut fired = 0;
    for tick in ticks {
        let output = tick.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let ticked: Value = serde_json::from_slice(&output.stdout).unwrap();
        fired += ticked["fired"].as_array().unwrap().len();
    }
    assert_eq!((fired, runs(&world, "hourly").len()), (1, 1));
}

/// deft was down for five hours: the skill's misfire rule applies to its slots, and each slot is recorded.
#[test]
fn missed_slots_follow_the_misfire_rule() {
    for (misfire, fired, missed) in [("once", 1, 4), ("skip", 0, 5), ("all", 5, 0)] {
        let world = world(&format!("misfire: {misfire}\n"));
        let slots = slots(&world, "5");
        let late: jiff::Timestamp = slots[4].parse().unwrap();
        let late = late + jiff::SignedDuration::from_mins(30);
        let ticked = tick(&world, &late.to_string());
        let count = |key: &str| {
            let rows = ticked[key].as_array().unwrap().iter();
            rows.map(|run| run["slot_count"].as_u64().unwrap())
                .sum::<u64>()
        };
        assert_eq!(
            (count("fired"), count("missed")),
            (fired, missed),
            "{misfire}: {ticked:#}"
        );
        let again = tick(&world, &late.to_string());
        assert_eq!(
            (&again["fired"], &again["missed"]),
            (&json!([]), &json!([]))
        );
    }
}

/// A failure sets the exit code (for cron's mail), notifies a person, and starts a backoff.
#[test]
fn a_failure_is_reported_and_counted() {
    let world = World::new();
    world.write(
        "home/skills/hourly.yaml",
        HOURLY.replace("tool: time.now", "compute: \"result = 1 / 0\""),
    );
    assert_eq!(world.code(&["tick"]), 0);
    let slot = &slots(&world, "1")[0];
    let output = world.output(&["tick", "--now", slot, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let ticked: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ticked["fired"][0]["outcome"], "error", "{ticked:#}");
    let shown = skill(&world, "hourly");
    assert_eq!(
        (&shown["failures"], &shown["enabled"]),
        (&json!(1), &json!(true))
    );
    assert!(shown["backoff_until"].is_string(), "{shown:#}");
    let notices = world.json(&["notices", "list", "--json"]);
    let notice = &notices["notices"][0];
    assert_eq!(
        (&notice["notice"]["kind"], &notice["status"]),
        (&json!("failure"), &json!("sent")),
        "{notices:#}"
    );
    assert!(
        notice["notice"]["text"]
            .as_str()
            .unwrap()
            .contains("ZeroDivisionError")
    );
    let log = world.read("home/logs/notices.log");
    assert!(log.contains("ZeroDivisionError"), "{log}");
}

/// A one-shot skill that fails is retried with increasing backoff, relative to the time passed with `--now`.
#[test]
fn backoff_is_relative_to_the_tick_time() {
    let world = World::new();
    let once = HOURLY
        .replace("tool: time.now", "compute: \"result = 1 / 0\"")
        .replace(
            "schedule: \"0 * * * *\"",
            "trigger_config: {at: \"2090-03-01T12:00:00Z\"}",
        );
    world.write("home/skills/hourly.yaml", once);
    assert_eq!(world.code(&["tick"]), 0);
    let next = |world: &World| {
        let listed = world.json(&["schedule", "list", "--json"]);
        instant(&listed["schedules"][0]["next"]).to_string()
    };
    for (now, expected) in [
        ("2090-03-01T12:00:07Z", "2090-03-01T12:01:00Z"),
        ("2090-03-01T12:01:07Z", "2090-03-01T12:06:00Z"),
    ] {
        assert_eq!(world.code(&["tick", "--now", now]), 1);
        assert_eq!(next(&world), expected);
    }
}

/// X14: the last good revision of a broken file stays in use, whichever command runs first after the edit.
#[test]
fn the_last_good_revision_of_a_broken_file_stays_in_use() {
    let world = World::new();
    // The name of the file differs from the name of the skill.
    world.write("home/skills/mine.yaml", HOURLY);
    assert_eq!(world.code(&["tick"]), 0);
    let revision = skill(&world, "hourly")["revision"].clone();
    let slots = slots(&world, "2");
    world.write("home/skills/mine.yaml", HOURLY.replace("steps:", "stps:"));
    let ticked = tick(&world, &slots[0]);
    let fired = &ticked["fired"][0];
    assert_eq!(
        (&fired["skill"], &fired["outcome"], &fired["revision"]),
        (&json!("hourly"), &json!("success"), &revision),
        "{ticked:#}"
    );
    let shown = skill(&world, "hourly");
    assert_eq!(
        (&shown["enabled"], &shown["revision"]),
        (&json!(true), &revision)
    );
    let output = world.run(&["skills", "doctor"]);
    assert!(output.starts_with("exit 1\n"), "{output}");
    assert!(
        output.contains("; the last valid version of `hourly` stays in use"),
        "{output}"
    );
    let output = world.run(&["doctor"]);
    assert!(
        output.contains("for 1 of them the last good version is in use"),
        "{output}"
    );
    // A run by hand uses the last good revision too, and prints a warning (S2.18).
    let output = world.run(&["run", "hourly"]);
    assert!(output.starts_with("exit 0\n"), "{output}");
    assert!(
        output.contains(
            "warning: the file of `hourly` has errors; its last good version is in use; hint: "
        ),
        "{output}"
    );
    let mut daemon = Daemon::start(&world);
    daemon.until("a skill file is broken; `hourly` uses its last good revision");
    daemon.stop();
    // A repaired file is used again; the skill of a deleted file is removed.
    world.write(
        "home/skills/mine.yaml",
        HOURLY.replace("Looks", "Looks again"),
    );
    let ticked = tick(&world, &slots[1]);
    let fired = &ticked["fired"][0];
    assert_eq!(fired["outcome"], "success", "{ticked:#}");
    assert_ne!(fired["revision"], revision);
    std::fs::remove_file(world.path("home/skills/mine.yaml")).unwrap();
    assert_eq!(world.code(&["tick"]), 0);
    world.write("home/skills/mine.yaml", "stps: []\n");
    assert_eq!(world.code(&["skills", "show", "hourly"]), 2);
}

/// Skills that become enabled automatically are listed; a skill that asks a model is not enabled without one.
#[test]
fn skills_that_enable_themselves_are_listed() {
    let world = World::new();
    let needs = "enabled: false\n  required_tools: [telegram_send_message]\n";
    let page = format!(
        "---\nname: thinks\ndescription: d\nmetadata:\n  trigger_type: cron\n  trigger_config: {{schedule: \"0 9 * * *\"}}\n  {needs}---\nThink.\n"
    );
    world.write("home/skills/thinks/SKILL.md", page);
    let flow = HOURLY.to_owned() + &needs.replace("  ", "");
    world.write("home/skills/hourly.yaml", flow);
    let tick = |args: &[&str]| {
        let output = world.command(args).env("BOT", "1:x").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let enabled = || -> Value {
        let ticked: Value = serde_json::from_str(&tick(&["tick", "--json"])).unwrap();
        ticked["enabled"].clone()
    };
    assert_eq!(enabled(), json!([]));
    let bot = "[telegram]\ntoken = \"env:BOT\"\n";
    world.write("home/config.toml", bot);
    assert_eq!(enabled(), json!(["hourly"]));
    let model = "[llm.local]\nprovider = \"ollama\"\nmodel = \"m\"\n";
    world.write("home/config.toml", format!("{bot}{model}"));
    let printed = tick(&["tick"]);
    assert!(printed.starts_with("enabled      thinks  "), "{printed}");
    assert!(printed.contains("each run asks a model"), "{printed}");
    assert_eq!(enabled(), json!([]));
}

/// A run waits for its tool; the first tick after the tool is available again resumes it, an earlier tick
/// does not.
#[test]
fn a_run_continues_when_its_tool_is_available_again() {
    let world = World::new();
    world.write(
        "home/skills/hourly.yaml",
        "name: hourly\ndescription: Fetches it\nschedule: \"0 * * * *\"\nsteps:\n  - {id: a, tool: fetch_it}\n",
    );
    world.json(&["tick", "--json"]);
    let slot = slots(&world, "1").remove(0);
    let waits = tick(&world, &slot);
    assert_eq!(waits["fired"][0]["status"], "waiting", "{waits:#}");
    assert_eq!(tick(&world, &slot)["fired"], json!([]));
    let words = json!({"annotations": {"readOnlyHint": true}, "text": "fetched"});
    let config = server(&world, &Script::new().tool("fetch_it", words));
    world.write("home/config.toml", config);
    let back = tick(&world, &slot);
    let fired = &back["fired"][0];
    assert_eq!(
        (&fired["id"], &fired["outcome"]),
        (&waits["fired"][0]["id"], &json!("success")),
        "{back:#}"
    );
}
