//! The status screen: `deft status`, `deft` without a subcommand, `--watch` with its keys, and `deft logs`.

use crate::daemon::{Daemon, wait_for};
use crate::screens::{both_widths, screen, stable};
use crate::support::World;
use crate::terminal::Terminal;

/// Creates a home with a failed run, a run that waits for an approval, and a schedule.
fn busy() -> World {
    let world = World::new();
    world
        .write(
            "home/skills/publish.yaml",
            "name: publish\ndescription: Publishes\nsteps:\n  - {id: look, tool: time.now}\n  - {id: send, tool: log, args: {message: out}}\nconfirmations:\n  - {step: send, message: \"Publish 1.2?\"}\n",
        )
        .write(
            "home/skills/broken.yaml",
            "name: broken\ndescription: Fails\nsteps:\n  - {id: fail, tool: time.now, expect: {that: \"1 == 2\"}}\n",
        )
        .write(
            "home/skills/digest.yaml",
            "name: digest\ndescription: Digests\nschedule: \"0 9 * * *\"\nsteps:\n  - {id: look, tool: time.now}\n",
        );
    assert_eq!(world.code(&["run", "publish", "--no-input", "--quiet"]), 5);
    assert_eq!(world.code(&["run", "broken", "--quiet"]), 1);
    world
}

#[test]
fn status_is_one_screen() {
    let world = busy();
    insta::assert_snapshot!(both_widths(&world, &["status"]));
}

#[test]
fn an_empty_or_missing_home_has_a_status() {
    let world = World::new();
    let none = screen(&world, &[], 80) + "\n\n" + &screen(&world, &["status"], 80);
    assert_eq!(world.code(&["init"]), 0);
    let shown = format!("{none}\n\n{}", both_widths(&world, &[]));
    insta::assert_snapshot!(shown);
}

#[test]
fn status_as_json_is_typed() {
    let world = busy();
    let status = world.json(&["status", "--json"]);
    assert_eq!(status["daemon"]["running"], false, "{status:#}");
    assert_eq!(status["next"][0]["skill"], "digest");
    assert_eq!(status["active"][0]["skill"], "publish");
    assert_eq!(status["active"][0]["position"]["number"], 2);
    assert_eq!(status["failed"][0]["skill"], "broken");
    assert_eq!(status["approvals"][0]["message"], "Publish 1.2?");
    // `deft` without a subcommand prints the same document.
    assert_eq!(world.json(&["--json"])["failed_total"], 1);
}

/// Reasons wrap between words, and the instant of a one-shot schedule is shown once.
#[test]
fn status_cuts_and_repeats_nothing() {
    let world = World::new();
    world.write(
        "home/skills/collect.yaml",
        "name: collect\ndescription: d\nsteps:\n  - {id: collect_the_reports, tool: shell.run}\n",
    );
    assert_eq!(world.code(&["run", "collect", "--quiet"]), 1);
    assert_eq!(
        world.code(&["remind", "celebrate", "at", "2099-03-03", "09:00"]),
        0
    );
    let screen = |args: &[&str]| Terminal::sized(&world, args, 80).end().1;
    let shown = screen(&["status"]);
    let words: Vec<&str> = shown.split_whitespace().collect();
    let reason = "blocked: step `collect_the_reports` cannot run: the tool `shell.run` is disabled";
    assert!(words.join(" ").contains(reason), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
    for shown in [shown, screen(&["schedule", "list"])] {
        let line = shown.lines().find(|line| line.contains("celebrate"));
        let line = line.unwrap_or_default();
        assert_eq!(line.matches("Mar").count(), 1, "{shown}");
        assert!(line.trim_end().ends_with("once"), "{shown}");
    }
}

/// An approval is shown with its call. Secrets are shown by name, and long calls are truncated.
#[test]
fn a_question_names_its_call() {
    let world = World::new();
    world
        .write("home/config.toml", "[secrets]\nTOKEN = \"file:token\"\n")
        .write("home/token", "s3cr3t-value\n")
        .write(
            "home/skills/send.yaml",
            "name: send\ndescription: d\nsecrets: [TOKEN]\nsteps:\n  - id: say\n    tool: log\n    args: {level: info, message: \"{{ secrets.TOKEN }} and many more words about what this call will write into the log\"}\nconfirmations:\n  - {step: say, message: \"Send it?\"}\n",
        );
    assert_eq!(world.code(&["run", "send", "--no-input", "--quiet"]), 5);
    for args in [["approvals", "list"].as_slice(), &["status"]] {
        let shown = Terminal::sized(&world, args, 80).end().1;
        assert!(shown.contains("Send it?"), "{shown}");
        let call = shown.lines().find(|line| line.contains("log("));
        let call = call.unwrap_or_default();
        assert!(
            call.contains("log(level: info, message: [secret TOKEN] and many"),
            "{shown}"
        );
        assert!(call.contains('…') && call.chars().count() <= 80, "{shown}");
        assert!(!shown.contains("s3cr3t-value"), "{shown}");
    }
}

/// A key answers the approval, the screen shows the result, and the terminal is restored.
#[test]
fn watch_answers_an_approval_by_key() {
    let world = busy();
    for columns in [80, 120] {
        let mut terminal = Terminal::sized(&world, &["status", "--watch"], columns);
        terminal.until("q quit");
        if columns == 80 {
            let first = stable(&world, &terminal.screen());
            insta::assert_snapshot!("watch_80", first);
            terminal.keys("\x1b[B\x1b[A");
            terminal.keys("a").until("approved: publish");
            // The last line of the new screen: without approvals only this key is available.
            terminal.until("none pending").until("\nq quit");
        }
        insta::assert_snapshot!(
            format!("watch_{columns}_after"),
            stable(&world, &terminal.screen())
        );
        terminal.keys("q");
        let raw_end = "\x1b[?1049l";
        let (code, _) = {
            terminal.until_echo(raw_end);
            terminal.end()
        };
        assert_eq!(code, 0);
    }
    let answered = world.json(&["approvals", "list", "--all", "--json"]);
    assert_eq!(answered["approvals"][0]["answer"], "yes", "{answered:#}");
    assert_eq!(answered["approvals"][0]["by"], "deft status");
}

/// The terminal is also restored after a signal.
#[test]
fn watch_restores_the_terminal_after_a_signal() {
    let world = World::new();
    let mut terminal = Terminal::sized(&world, &["status", "--watch"], 80);
    terminal.until("q quit").signal("-TERM");
    terminal.until_echo("\x1b[?25h\x1b[?1049l");
    assert_eq!(terminal.end().0, 130);
}

#[test]
fn watch_needs_a_terminal() {
    let world = World::new();
    let refused = world.run(&["status", "--watch"]);
    assert!(refused.contains("`--watch` needs a terminal"), "{refused}");
}

/// `deft logs` prints the last lines of the daemon's log, and new ones as they are written. A detached run
/// that fails is shown in the log, in the notices and on the status screen.
#[test]
fn a_failed_detached_run_is_shown() {
    let world = busy();
    let mut daemon = Daemon::start(&world);
    let mut follow = Terminal::sized(&world, &["logs", "-f"], 120);
    follow.until("started in");
    let queued = world.output(&["run", "broken", "--detach"]);
    let run = String::from_utf8(queued.stdout).unwrap().trim().to_owned();
    daemon.until("`broken` failed");
    follow.until("`broken` failed").keys("\x03");
    follow.end();
    let logged = world.json(&["logs", "-n", "200", "--json"]);
    let lines = logged["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["run"] == run.as_str());
    assert_eq!(line.unwrap()["level"], "WARN", "{logged:#}");
    wait_for("the notice", || {
        let notices = world.json(&["notices", "list", "--json"]);
        let notices = notices["notices"].as_array().unwrap();
        let about = notices.iter().find(|notice| notice["run"] == run.as_str());
        let text = about?["notice"]["text"].as_str()?;
        text.contains("failed").then_some(())
    });
    let status = world.json(&["status", "--json"]);
    assert_eq!(status["daemon"]["running"], true, "{status:#}");
    assert_eq!(status["failed"][0]["id"], run.as_str());
    assert_eq!(status["failed_total"], 2);
}
