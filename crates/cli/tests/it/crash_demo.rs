//! Runs that are interrupted: the demonstration, and what people are told.

use crate::daemon::Daemon;
use crate::screens::screen;
use crate::support::World;

/// The demo kills a process, resumes the run and verifies it; its home is removed.
#[test]
fn the_crash_demo_verifies_that_no_step_ran_twice() {
    let world = World::new();
    let shown = [80, 120].map(|columns| screen(&world, &["demo", "crash"], columns));
    insta::assert_snapshot!(shown[0]);
    assert_eq!(shown[0], shown[1]);
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap();
    let left = left.filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("deft-demo-")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn the_crash_demo_has_a_document() {
    let world = World::new();
    let report = world.json(&["demo", "crash", "--json"]);
    assert_eq!(report["verified"], true, "{report:#}");
    assert_eq!(report["lines"], 5);
    let steps = report["steps"].as_array().unwrap();
    let before = steps.iter().filter(|step| step["before_crash"] == true);
    assert_eq!(before.count(), 2, "{report:#}");
    assert!(steps.iter().all(|step| step["begun"] == 1), "{report:#}");
}

const SLOW: &str = "name: slow\ndescription: Takes its time\nsteps:\n  - {id: a, tool: time.now}\n  - {id: b, wait: 3s}\n  - {id: c, tool: time.now}\n";

/// A daemon that is killed, and the next one: the log, `runs show` and its JSON say what happened.
#[test]
fn an_interrupted_run_says_so() {
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
    let text = world.run(&["runs", "show", "last"]);
    assert!(text.contains("interrupted "), "{text}");
    assert!(text.contains("later) by another process"), "{text}");
    let events = world.run(&["runs", "logs", "last"]);
    assert!(events.contains("skill_recovered"), "{events}");
}
