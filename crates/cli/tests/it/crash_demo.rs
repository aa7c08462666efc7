//! Interrupted runs: the demonstration, and the messages.

use crate::daemon::Daemon;
use crate::screens::screen;
use crate::support::World;

/// The demo kills a process, resumes the run and verifies it.
#[test]
fn the_crash_demo_verifies_that_no_step_ran_twice() {
    let world = World::new();
    let shown = [80, 120].map(|columns| screen(&world, &["demo", "crash"], columns));
    insta::assert_snapshot!(shown[0]);
    assert_eq!(shown[0], shown[1]);
}

#[test]
fn the_crash_demo_has_a_document() {
    let world = World::new();
    world.write("tmp/x", "");
    let mut command = world.command(&["demo", "crash", "--json"]);
    let output = command.env("TMPDIR", world.path("tmp")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["verified"], true, "{report:#}");
    assert_eq!(report["lines"], 5);
    let steps = report["steps"].as_array().unwrap();
    let before = steps.iter().filter(|step| step["before_crash"] == true);
    assert_eq!(before.count(), 2, "{report:#}");
    assert!(steps.iter().all(|step| step["begun"] == 1), "{report:#}");
    // The home of the demo is removed.
    assert_eq!(std::fs::read_dir(world.path("tmp")).unwrap().count(), 1);
}

const SLOW: &str = "name: slow\ndescription: Takes its time\nsteps:\n  - {id: a, tool: time.now}\n  - {id: b, wait: 3s}\n  - {id: c, tool: time.now}\n";

/// After a daemon is killed and another one starts, the log, `runs show` and its JSON report the
/// interruption.
#[test]
fn an_interrupted_crash_demo_is_reported() {
    let world = World::new();
    world.write("home/skills/slow.yaml", SLOW);
    let first = Daemon::start(&world);
    let queued = world.output(&["run", "slow", "--detach"]);
    let id = String::from_utf8(queued.stdout).unwrap().trim().to_owned();
    crate::daemon::wait_for("the wait", || {
        let run = world.json(&["runs", "show", &id, "--json"]);
        let begun = run["run"]["steps"][0]["status"] == "success";
        begun.then_some(())
    });
    first.kill();
    let mut second = Daemon::start(&world);
    second.until("resuming 1 interrupted run: slow, step 2 of 3");
    let run = crate::daemon::ended(&world, &id);
    assert_eq!(run["outcome"], "success", "{run:#}");
    let shown = world.json(&["runs", "show", &id, "--json"]);
    let gap = &shown["run"]["interruptions"][0];
    assert_eq!(gap["cause"], "process_ended", "{shown:#}");
    let text = world.run(&["runs", "show", &id]);
    assert!(text.contains("interrupted last activity "), "{text}");
    // The outage counts neither as work nor as waiting for a person, in the details and in the list.
    let idle = shown["run"]["interrupted_ms"].as_u64();
    assert!(idle > Some(0), "{shown:#}");
    assert_eq!(shown["run"].get("waited_ms"), None, "{shown:#}");
    let listed = world.json(&["runs", "list", "--json"]);
    assert_eq!(listed["runs"][0]["interrupted_ms"].as_u64(), idle);
    assert!(text.contains("later) by another process"), "{text}");
    let events = world.run(&["runs", "logs", "last"]);
    assert!(events.contains("skill_recovered"), "{events}");
}
