//! `deft up`, started by a person and by a service manager.

use std::os::unix::net::UnixDatagram;

use deft_testkit::{Kind, Script, witness};
use serde_json::{Value, json};

use crate::daemon::{Daemon, WAIT_TIMEOUT, ended, runs, skill, used_home, wait_for};
use crate::support::{World, server};

/// Fires each second and leaves a notice.
const TICKING: &str = "\
name: ticking
description: Leaves a notice each second
schedule: \"* * * * * *\"
steps:
  - {id: say, tool: notify, args: {title: ticking, message: \"tick, tock\"}}
";

fn schedule(world: &World, name: &str) -> Value {
    let listed = world.json(&["schedule", "list", "--json"]);
    let all = listed["schedules"].as_array().unwrap();
    let found = all.iter().find(|entry| entry["skill"] == name);
    found.cloned().unwrap_or_default()
}

#[test]
fn the_first_start_logs_its_progress() {
    let world = World::new();
    world.write("home/skills/ticking.yaml", TICKING);
    let mut daemon = Daemon::start(&world);
    daemon.until("this home is new: created 26 files in `skills`");
    daemon.until("deft run countdown");
    daemon.until("INFO notice: ticking: tick, tock");
    daemon.until("INFO `ticking` succeeded run=run_");
    // The log has the same lines with the same times.
    let logged = world.run(&["logs", "-n", "500"]);
    let time = "2026-01-31 09:00:00".len();
    for text in [
        " INFO  notice: ticking: tick, tock",
        " INFO  `ticking` succeeded run=",
    ] {
        let mut rests = logged.lines().filter_map(|line| line.get(time..));
        assert!(rests.any(|rest| rest.starts_with(text)), "{logged}");
    }
    let line = wait_for("the log of notices", || {
        let log = std::fs::read_to_string(world.path("home/logs/notices.log")).ok()?;
        let line = log.lines().find(|line| line.contains("tick, tock"))?;
        serde_json::from_str::<Value>(line).ok()
    });
    assert_eq!(
        (&line["kind"], &line["title"]),
        (&json!("message"), &json!("ticking"))
    );
    let hello = world.json(&["skills", "show", "hello-deft", "--json"]);
    assert_eq!(hello["skill"]["tier"], "direct", "{hello:#}");
    let hello = schedule(&world, "hello-deft");
    assert_eq!(
        (&hello["enabled"], &hello["words"]),
        (&json!(true), &json!("every minute")),
        "{hello}"
    );
    let waiting = schedule(&world, "email-processor");
    assert_eq!(waiting["disabled_reason"], "missing_tools");
    let table = world.run(&["schedule", "list"]);
    assert!(table.contains("disabled: tools missing"), "{table}");
    let found = world.run(&["doctor"]);
    let named = found
        .lines()
        .find(|line| line.contains("waiting for tools or a model:"));
    assert!(
        named.is_some_and(|line| line.contains("email-processor")),
        "{found}"
    );
    let counted = world.json(&["run", "countdown", "--date", "2099-01-01", "--json"]);
    assert_eq!(counted["outcome"], "success", "{counted:#}");
    daemon.stop();

    // A deleted skill stays deleted, and a second start sends no greeting.
    assert_eq!(world.code(&["skills", "delete", "hello-deft"]), 0);
    let output = Daemon::start(&world).stop();
    assert!(!output.contains("this home is new"), "{output}");
    assert_eq!(schedule(&world, "hello-deft"), Value::Null);
}

#[test]
fn a_second_daemon_names_the_running_process() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let second = world.output(&["up", "--json"]);
    assert_eq!(second.status.code(), Some(2));
    let answer: Value = serde_json::from_slice(&second.stdout).unwrap();
    let message = answer["error"]["message"].as_str().unwrap();
    assert_eq!(answer["error"]["code"], "already_up");
    assert!(
        message.contains(&format!("(process {})", daemon.id())),
        "{message}"
    );
    daemon.stop();
    Daemon::start(&world).stop();
}

#[test]
fn the_daemon_stops_at_its_limit_and_at_ctrl_c() {
    let world = used_home();
    let (status, said) = Daemon::with(&world, &["--for", "1s"], &[]).end();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.ends_with("stopped"), "{said}");
    let daemon = Daemon::start(&world);
    daemon.signal("-INT");
    assert_eq!(daemon.end().0.code(), Some(130));
}

#[test]
fn the_log_can_be_read_by_machines() {
    let world = World::new();
    world.write("home/skills/ticking.yaml", TICKING);
    let mut daemon = Daemon::with(&world, &["--log", "json"], &[]);
    daemon.until("notice: ticking: tick, tock");
    let output = daemon.stop();
    let log = world.read("home/logs/deft.log");
    for lines in [output, log] {
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["level"], "INFO");
        assert_eq!(lines.last().unwrap()["message"], "stopped");
    }
}

#[test]
fn the_service_manager_is_notified() {
    let world = used_home();
    let place = world.path("notify");
    let socket = UnixDatagram::bind(&place).unwrap();
    socket.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let hear = || {
        let mut said = [0; 64];
        let length = socket.recv(&mut said).unwrap();
        String::from_utf8_lossy(&said[..length]).into_owned()
    };
    let place = place.display().to_string();
    let daemon = Daemon::with(&world, &[], &[("NOTIFY_SOCKET", &place)]);
    assert_eq!(hear(), "READY=1");
    daemon.stop();
    assert_eq!(hear(), "STOPPING=1");
}

#[test]
fn changes_of_skill_files_are_loaded() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let at_nine = "name: report\ndescription: Reports\nschedule: \"0 9 * * *\"\nsteps:\n  - {id: a, tool: time.now}\n";
    world.write("home/skills/report.yaml", at_nine);
    let words = |words: &str| {
        wait_for(words, || {
            let entry = schedule(&world, "report");
            let stored = skill(&world, "report")["record_id"].is_number();
            (stored && entry["words"] == words).then_some(entry)
        })
    };
    words("every day at 09:00");
    world.write("home/skills/report.yaml", at_nine.replace("0 9", "30 7"));
    words("every day at 07:30");
    assert_eq!(world.code(&["skills", "disable", "report"]), 0);
    assert_eq!(schedule(&world, "report")["disabled_reason"], "user");
    // An edit of the file does not override a person's decision.
    world.write("home/skills/report.yaml", at_nine.replace("0 9", "0 6"));
    let still = words("every day at 06:00");
    assert_eq!(still["disabled_reason"], "user");
    assert_eq!(world.code(&["skills", "enable", "report"]), 0);
    std::fs::remove_file(world.path("home/skills/report.yaml")).unwrap();
    wait_for("the end of the file", || {
        let listed = world.json(&["tools", "call", "memory_get_skill", "name=report", "--json"]);
        (listed["value"]["skill"]["disabled_reason"] == "file_removed").then_some(())
    });
    world.write("home/skills/report.yaml", at_nine);
    let back = words("every day at 09:00");
    assert_eq!(
        back["enabled"],
        true,
        "{back}\n{:#}",
        skill(&world, "report")
    );
    daemon.stop();
}

/// A skill and a run wait for a tool; a new server with the tool lets both continue.
#[test]
fn a_server_that_is_added_is_used() {
    let world = used_home();
    world
        .write(
            "home/skills/waiting.yaml",
            "name: waiting\ndescription: Waits for its tool\nenabled: false\nrequired_tools: [fetch_it]\nschedule: \"0 9 * * *\"\nsteps:\n  - {id: a, tool: fetch_it}\n",
        )
        .write(
            "home/skills/eager.yaml",
            "name: eager\ndescription: Does not wait\nschedule: \"* * * * * *\"\nsteps:\n  - {id: a, tool: fetch_it}\n",
        );
    let mut daemon = Daemon::start(&world);
    assert_eq!(
        schedule(&world, "waiting")["disabled_reason"],
        "missing_tools"
    );
    let run = wait_for("a run that waits", || {
        let waits = |run: &Value| run["status"] == "waiting";
        runs(&world, "eager").into_iter().find(waits)
    });
    let words = json!({"annotations": {"readOnlyHint": true}, "text": "fetched"});
    let config = server(&world, &Script::new().tool("fetch_it", words));
    world.write("home/config.toml", "[mcp_servers.demo]\ncommand = 7\n");
    daemon.until("the configuration is invalid; the previous one stays in effect");
    world.write("home/config.toml", config);
    daemon.until("configuration reloaded");
    let run = ended(&world, run["id"].as_str().unwrap());
    assert_eq!(run["outcome"], "success", "{run:#}");
    wait_for("the skill", || {
        (schedule(&world, "waiting")["enabled"] == true).then_some(())
    });
    daemon.stop();
}

/// S0.58: a server that does not announce changes is queried again when a person refreshes the list.
#[test]
fn a_refresh_reaches_the_daemon() {
    for refresh in [&["tools", "list", "--refresh"][..], &["mcp", "probe"]] {
        let world = used_home();
        let read = json!({"readOnlyHint": true});
        let script = Script::new()
            .tool("unlock", json!({"annotations": read, "reveal": ["secret"]}))
            .tool(
                "secret",
                json!({"annotations": read, "hidden": true, "text": "found"}),
            )
            .with("announces", json!(false));
        world
            .write("home/config.toml", server(&world, &script))
            .write(
                "home/skills/waiting.yaml",
                "name: waiting\ndescription: Waits for its tool\nenabled: false\nrequired_tools: [secret]\nschedule: \"0 9 * * *\"\nsteps:\n  - {id: a, tool: secret}\n",
            )
            .write(
                "home/skills/opening.yaml",
                "name: opening\ndescription: Brings the tool\nsteps:\n  - {id: a, tool: unlock}\n",
            );
        let daemon = Daemon::start(&world);
        // Through the daemon's own connection.
        let queued = world.json(&["run", "opening", "--detach", "--json"]);
        let opened = ended(&world, queued["id"].as_str().unwrap());
        assert_eq!(opened["outcome"], "success", "{opened:#}");
        assert_eq!(
            schedule(&world, "waiting")["disabled_reason"],
            "missing_tools"
        );
        assert_eq!(world.code(refresh), 0);
        wait_for("the skill", || {
            (schedule(&world, "waiting")["enabled"] == true).then_some(())
        });
        daemon.stop();
    }
}

/// A server that cannot be started blocks nothing and is reported once.
#[test]
fn an_unresponsive_server_is_reported() {
    let world = used_home();
    world
        .write(
            "home/config.toml",
            "[mcp_servers.gone]\ncommand = \"/nowhere/at-all\"\n",
        )
        .write("home/skills/ticking.yaml", TICKING);
    let mut daemon = Daemon::start(&world);
    daemon.until("notice: ticking: tick, tock");
    let line = daemon.until("a server does not answer");
    assert!(line.contains("gone"), "{line}");
    let output = daemon.stop();
    assert_eq!(
        output.matches("a server does not answer").count(),
        1,
        "{output}"
    );
}

#[test]
fn a_detached_run_is_executed_and_can_be_cancelled() {
    let world = used_home();
    let words = json!({"annotations": {"readOnlyHint": true}, "hang": true});
    let config = server(&world, &Script::new().tool("hang", words));
    world.write("home/config.toml", config).write(
        "home/skills/slow.yaml",
        "name: slow\ndescription: Takes its time\nsteps:\n  - {id: wait, tool: hang}\n",
    );
    world.write(
        "home/skills/quick.yaml",
        "name: quick\ndescription: Takes no time\nsteps:\n  - {id: now, tool: time.now}\n",
    );
    let daemon = Daemon::start(&world);
    let queue = |name: &str| {
        let queued = world.json(&["run", name, "--detach", "--json"]);
        queued["id"].as_str().unwrap().to_owned()
    };
    let quick = queue("quick");
    assert_eq!(ended(&world, &quick)["outcome"], "success");
    let slow = queue("slow");
    wait_for("the call", || {
        let called = witness(&world.path("server/demo.log"));
        called
            .iter()
            .any(|event| event.tool == "hang")
            .then_some(())
    });
    assert_eq!(world.code(&["runs", "cancel", &slow]), 0);
    assert_eq!(ended(&world, &slow)["outcome"], "cancelled");
    daemon.stop();
}

/// `max_running = 0` means no limit, for every way to start a run.
#[test]
fn runs_are_executed_without_a_limit() {
    let world = used_home();
    world
        .write("home/config.toml", "[engine]\nmax_running = 0\n")
        .write(
            "home/skills/quick.yaml",
            "name: quick\ndescription: Takes no time\nsteps:\n  - {id: now, compute: \"result = 1\"}\n",
        )
        .write("home/skills/ticking.yaml", TICKING);
    let job = r#"{"name": "Greet", "action": {"type": "tool_call", "toolName": "notify", "parameters": {"message": "a job"}}}"#;
    let mut daemon = Daemon::start(&world);
    daemon.until("notice: ticking: tick, tock");
    let queued = world.json(&["run", "quick", "--detach", "--json"]);
    let job = world.json(&["jobs", "queue", "--args", job, "--json"]);
    for id in [&queued["id"], &job["taskId"]] {
        let run = ended(&world, id.as_str().unwrap());
        assert_eq!(run["outcome"], "success", "{run:#}");
    }
    let run = world.json(&["run", "quick", "--json"]);
    assert_eq!(run["outcome"], "success", "{run:#}");
    daemon.stop();
    let queued = world.json(&["run", "quick", "--detach", "--json"]);
    assert_eq!(world.code(&["tick"]), 0);
    let run = ended(&world, queued["id"].as_str().unwrap());
    assert_eq!(run["outcome"], "success", "{run:#}");
}

/// An approval parks the run, even across a restart, and the answer resumes it.
#[test]
fn an_answer_continues_a_run() {
    let world = used_home();
    world.write(
        "home/skills/asking.yaml",
        "name: asking\ndescription: Asks first\nsteps:\n  - {id: now, tool: time.now}\nconfirmations:\n  - {step: now, message: \"Go on?\"}\n",
    );
    let daemon = Daemon::start(&world);
    let queued = world.json(&["run", "asking", "--detach", "--json"]);
    let question = wait_for("the question", || {
        let asked = world.json(&["approvals", "list", "--json"]);
        asked["approvals"][0]["id"].as_str().map(str::to_owned)
    });
    daemon.stop();
    let daemon = Daemon::start(&world);
    assert_eq!(world.code(&["approvals", "approve", &question]), 0);
    let run = ended(&world, queued["id"].as_str().unwrap());
    assert_eq!(run["outcome"], "success", "{run:#}");
    daemon.stop();
}

/// After a daemon is killed, its runs are resumed if the current call may be repeated, and otherwise end as
/// interrupted.
#[test]
fn interrupted_runs_are_reported_after_a_kill() {
    for (effects, outcome) in [("none", "success"), ("once", "interrupted")] {
        let world = used_home();
        let script = |words: Value| Script::new().tool("hang", words);
        let config = server(&world, &script(json!({"hang": true})));
        world.write("home/config.toml", config).write(
            "home/skills/slow.yaml",
            format!("name: slow\ndescription: Takes its time\nsteps:\n  - {{id: first, tool: time.now}}\n  - {{id: wait, tool: hang, effects: {effects}}}\n"),
        );
        let daemon = Daemon::start(&world);
        let queued = world.json(&["run", "slow", "--detach", "--json"]);
        let id = queued["id"].as_str().unwrap();
        let called = |times: usize| {
            wait_for("the call", || {
                let called = witness(&world.path("server/demo.log"));
                let begun = called.iter().filter(|event| event.kind == Kind::Started);
                (begun.count() == times).then_some(())
            });
        };
        called(1);
        daemon.kill();
        let left = world.json(&["runs", "show", id, "--json"]);
        assert_eq!(left["run"]["owner_gone"], true, "{left:#}");
        server(&world, &script(json!({"text": "at last"})));
        let daemon = Daemon::start(&world);
        let run = ended(&world, id);
        assert_eq!(run["outcome"], outcome, "{effects}: {run:#}");
        called(if effects == "once" { 1 } else { 2 });
        daemon.stop();
    }
}

/// On shutdown, running tasks may finish within the grace period; unfinished runs are left for the next
/// start.
#[test]
fn shutdown_waits_for_runs_up_to_a_limit() {
    for (delay, grace, when_stopped) in [(1_500, "20s", "done"), (60_000, "1s", "running")] {
        let world = used_home();
        let words = json!({"annotations": {"readOnlyHint": true}, "delay_ms": delay, "text": "ok"});
        let config = server(&world, &Script::new().tool("work", words));
        world.write("home/config.toml", config).write(
            "home/skills/slow.yaml",
            "name: slow\ndescription: Takes its time\nsteps:\n  - {id: wait, tool: work}\n",
        );
        let daemon = Daemon::with(&world, &["--grace", grace], &[]);
        let queued = world.json(&["run", "slow", "--detach", "--json"]);
        wait_for("the call", || {
            let called = witness(&world.path("server/demo.log"));
            called
                .iter()
                .any(|event| event.tool == "work")
                .then_some(())
        });
        let output = daemon.stop();
        let id = queued["id"].as_str().unwrap();
        let left = world.json(&["runs", "show", id, "--json"]);
        assert_eq!(left["run"]["status"], when_stopped, "{output}");
        let told = output.contains("runs were left unfinished");
        assert_eq!(told, when_stopped == "running", "{output}");
        let next = Daemon::start(&world);
        assert_eq!(world.code(&["runs", "cancel", id]), 0);
        let over = ended(&world, id);
        let expected = if told { "cancelled" } else { "success" };
        assert_eq!(over["outcome"], expected, "{over:#}");
        next.stop();
    }
}

/// Hidden files are reported in one line, however many they are.
#[test]
fn hidden_files_are_counted() {
    let world = used_home();
    world.write("home/config.toml", "[skills]\npaths = [\"more\"]\n");
    for name in ["one", "two", "three"] {
        let text = TICKING.replace("ticking", name);
        world
            .write(&format!("home/skills/{name}.yaml"), &text)
            .write(&format!("home/more/{name}.yaml"), &text);
    }
    let output = Daemon::start(&world).stop();
    let line = "3 skill files hidden by files with the same skill name hint=\"`deft skills doctor` lists them\"";
    assert!(output.contains(line), "{output}");
    assert_eq!(output.matches("hidden by").count(), 1, "{output}");
}
