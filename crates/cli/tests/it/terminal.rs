//! The binary in a real terminal: drawing, questions, keys and signals.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use deft_testkit::{Script, server_binary};
use pty_process::Size;
use pty_process::blocking::{self, Pty};
use serde_json::{Value, json};

use crate::support::World;

/// The timeout of all waits. Waits normally take less than a tenth of it.
const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

/// A process of the binary, with a terminal as its stdin, stdout and stderr.
pub(crate) struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    output: Receiver<Vec<u8>>,
    seen: vt100::Parser,
    pub(crate) raw: String,
}

impl Terminal {
    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        Self::sized(world, args, 120)
    }

    /// Starts the binary on a terminal with `columns` columns and 40 rows.
    pub(crate) fn sized(world: &World, args: &[&str], columns: u16) -> Self {
        Self::with_env(world, args, columns, &[])
    }

    /// Like [`Self::sized`], with additional environment variables.
    pub(crate) fn with_env(
        world: &World,
        args: &[&str],
        columns: u16,
        variables: &[(&str, String)],
    ) -> Self {
        let (pty, pts) = blocking::open().unwrap();
        pty.resize(Size::new(40, columns)).unwrap();
        let command = blocking::Command::new(env!("CARGO_BIN_EXE_deft"))
            .args(args)
            .current_dir(world.path(""))
            .env_clear()
            .env("HOME", world.path("user"))
            .env("DEFT_HOME", world.path("home"))
            .env("TERM", "xterm")
            .env("TZ", "Europe/Berlin")
            .envs((args.first() == Some(&"up")).then_some(("DEFT__SERVER__LISTEN", "127.0.0.1:0")))
            .envs(variables.iter().map(|(name, value)| (name, value)));
        let child = command.spawn(pts).unwrap();
        let pty = Arc::new(pty);
        let (sender, output) = channel();
        let reader = Arc::clone(&pty);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Reading fails once the process has closed the terminal.
            while let Ok(length @ 1..) = (&*reader).read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            pty,
            child,
            output,
            seen: vt100::Parser::new(40, columns, 0),
            raw: String::new(),
        }
    }

    /// Waits until the screen shows `text`.
    pub(crate) fn until(&mut self, text: &str) -> &mut Self {
        while !self.screen().contains(text) {
            let more = self.output.recv_timeout(WAIT_TIMEOUT);
            let Ok(more) = more else {
                panic!("no `{text}` on the screen:\n{}", self.screen());
            };
            self.take(&more);
        }
        self
    }

    /// Waits until `text` has been written, even if it has been overwritten since.
    pub(crate) fn until_echo(&mut self, text: &str) -> &mut Self {
        while !self.raw.contains(text) {
            let Ok(more) = self.output.recv_timeout(WAIT_TIMEOUT) else {
                panic!("no `{text}` was written:\n{}", self.screen());
            };
            self.take(&more);
        }
        self
    }

    /// Waits until the line with the cursor consists of `text`.
    pub(crate) fn until_line(&mut self, text: &str) -> &mut Self {
        let line = |seen: &vt100::Parser| {
            let (row, _) = seen.screen().cursor_position();
            let (_, columns) = seen.screen().size();
            let mut rows = seen.screen().rows(0, columns);
            rows.nth(row.into()).unwrap_or_default()
        };
        while line(&self.seen).trim_end() != text {
            let Ok(more) = self.output.recv_timeout(WAIT_TIMEOUT) else {
                panic!("no line `{text}` at the cursor:\n{}", self.screen());
            };
            self.take(&more);
        }
        self
    }

    fn take(&mut self, bytes: &[u8]) {
        self.raw.push_str(&String::from_utf8_lossy(bytes));
        self.seen.process(bytes);
    }

    /// Clears the recorded screen, so a test can wait for a text that was shown before.
    pub(crate) fn clear(&mut self) -> &mut Self {
        self.seen.process(b"\x1b[2J\x1b[H");
        self
    }

    pub(crate) fn screen(&self) -> String {
        self.seen.screen().contents()
    }

    pub(crate) fn keys(&mut self, keys: &str) -> &mut Self {
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
        self
    }

    pub(crate) fn signal(&mut self, name: &str) -> &mut Self {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(sent.success());
        self
    }

    /// Waits for the exit. Returns the exit code, or for a signal the code that shells show, and the last
    /// screen.
    pub(crate) fn end(mut self) -> (i32, String) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("it does not end:\n{}", self.screen());
            }
            if let Ok(more) = self.output.recv_timeout(Duration::from_millis(20)) {
                self.take(&more);
            }
        };
        while let Ok(more) = self.output.recv_timeout(Duration::from_millis(200)) {
            self.take(&more);
        }
        let code = status.code().or(status.signal().map(|signal| 128 + signal));
        (code.unwrap(), self.screen())
    }
}

/// Creates a home with a workflow whose second step behaves as scripted.
fn hanging(words: Value) -> World {
    let world = World::new();
    world.write("server/x", "");
    let script = Script::new().tool("hang", words);
    let arguments = script.write(&world.path("server"), "demo");
    let args: Vec<Value> = arguments.list().into_iter().map(Value::from).collect();
    let config = format!(
        "[mcp_servers.demo]\ncommand = {}\nargs = {}\n",
        json!(server_binary()),
        json!(args)
    );
    world.write("home/config.toml", config).write(
        "home/skills/slow.yaml",
        "name: slow\ndescription: Takes its time\nsteps:\n  - {id: first, tool: time.now}\n  - {id: wait, tool: hang}\noutputs: {said: \"{{ wait }}\"}\n",
    );
    world
}

fn reading() -> Value {
    json!({"annotations": {"readOnlyHint": true}, "hang": true})
}

/// Changes the script so that the server responds from its next start on.
fn answers(world: &World) {
    let words = json!({"annotations": {"readOnlyHint": true}, "text": "at last"});
    let script = Script::new().tool("hang", words);
    script.write(&world.path("server"), "demo");
}

/// Returns the only run.
fn the_run(world: &World) -> Value {
    let listed = world.json(&["runs", "list", "--json"]);
    let runs = listed["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1, "{listed:#}");
    runs[0].clone()
}

/// The line of the running step, with the start of its elapsed time.
const RUNNING: &str = "wait  hang  1";

#[test]
fn ctrl_c_stops_the_run() {
    let world = hanging(reading());
    let mut terminal = Terminal::start(&world, &["run", "slow"]);
    terminal.until(RUNNING).keys("\x03");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    let run = the_run(&world);
    assert_eq!(run["outcome"], "cancelled", "{run:#}");
    assert_eq!(run["owner_gone"], false);
    let id = run["id"].as_str().unwrap();
    assert!(screen.contains("cancelled"), "{screen}");
    assert!(
        screen.contains(&format!("`deft runs resume {id}`")),
        "{screen}"
    );
    // The suggested command works.
    answers(&world);
    let resumed = world.json(&["runs", "resume", id, "--json"]);
    assert_eq!(
        resumed["outputs"],
        json!({"said": "at last"}),
        "{resumed:#}"
    );
}

/// The first start of `deft up` prints, in colours, that it is ready and what to try, and exits when the
/// terminal is closed.
#[test]
fn up_prints_that_it_has_started() {
    let world = World::new();
    let mut terminal = Terminal::start(&world, &["up"]);
    terminal.until("started in").until("deft run countdown");
    terminal.signal("-HUP");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("stopped"), "{screen}");
}

/// The frozen server does not notice that it should exit, so closing it takes a while.
#[test]
fn a_second_ctrl_c_exits_despite_a_frozen_server() {
    let world = hanging(json!({"annotations": {"readOnlyHint": true}, "freeze": true}));
    let mut terminal = Terminal::start(&world, &["run", "slow"]);
    terminal.until(RUNNING).keys("\x03");
    terminal.until("cancelled").keys("\x03");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert_eq!(the_run(&world)["outcome"], "cancelled");
}

#[test]
fn sigterm_stops_the_run() {
    let world = hanging(reading());
    let mut terminal = Terminal::start(&world, &["run", "slow"]);
    terminal.until(RUNNING).signal("-TERM");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    let run = the_run(&world);
    assert_eq!(run["outcome"], "cancelled", "{run:#}");
    assert_eq!(run["error"]["message"], "stopped by a signal to end");
}

/// Ctrl-C also stops a command line, and the next command is not started.
#[test]
fn ctrl_c_stops_a_command_line() {
    let world = hanging(reading());
    let mut terminal = Terminal::start(&world, &["cmd", "slow\nslow"]);
    called(&world, &terminal);
    terminal.keys("\x03");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    let run = the_run(&world);
    assert_eq!(
        (&run["cause"], &run["outcome"]),
        (&json!("cmd"), &json!("cancelled"))
    );
}

/// Waits until the server was called.
fn called(world: &World, terminal: &Terminal) {
    let log = world.path("server/demo.log");
    let called = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("hang"));
    let deadline = std::time::Instant::now() + WAIT_TIMEOUT;
    while !called() {
        assert!(
            std::time::Instant::now() < deadline,
            "{}",
            terminal.screen()
        );
        std::thread::yield_now();
    }
}

/// With `--json` an existing run is always printed, even if it was interrupted.
#[test]
fn an_interrupted_run_is_printed_as_json() {
    let world = hanging(reading());
    let mut terminal = Terminal::start(&world, &["run", "slow", "--json"]);
    called(&world, &terminal);
    terminal.keys("\x03");
    let status = terminal.child.wait().unwrap();
    while let Ok(more) = terminal.output.recv_timeout(Duration::from_millis(200)) {
        terminal.take(&more);
    }
    assert_eq!(status.code(), Some(130));
    let from = terminal.raw.find('{').unwrap();
    let run: Value = serde_json::from_str(&terminal.raw[from..]).unwrap();
    assert_eq!(
        (&run["skill"], &run["outcome"]),
        (&json!("slow"), &json!("cancelled"))
    );
}

/// A killed process reports nothing, so later commands must detect the abandoned run.
#[test]
fn an_abandoned_run_of_a_killed_process_can_be_resumed() {
    let world = hanging(reading());
    let mut terminal = Terminal::start(&world, &["run", "slow"]);
    terminal.until(RUNNING);
    let alive = the_run(&world);
    assert_eq!(
        (&alive["status"], &alive["owner_gone"]),
        (&json!("running"), &json!(false))
    );
    terminal.signal("-KILL");
    assert_eq!(terminal.end().0, 128 + 9);
    let gone = the_run(&world);
    assert_eq!(
        (&gone["status"], &gone["owner_gone"]),
        (&json!("running"), &json!(true))
    );
    let id = gone["id"].as_str().unwrap();
    let listed = world.run(&["runs", "list"]);
    assert!(listed.contains("  abandoned  "), "{listed}");
    assert!(
        listed.contains("`deft runs resume ID` or `deft up` continues the run"),
        "{listed}"
    );
    let found = world.run(&["doctor"]);
    let words = "runs.interrupted   1 run interrupted and not resumed";
    assert!(found.contains(words), "{found}");
    let shown = world.run(&["runs", "show", id]);
    assert!(
        shown.contains("running, but its process has exited"),
        "{shown}"
    );
    assert!(
        shown.contains(&format!("`deft runs resume {id}`")),
        "{shown}"
    );
    answers(&world);
    let resumed = world.json(&["runs", "resume", id, "--json"]);
    assert_eq!(resumed["outcome"], "success", "{resumed:#}");
}

const ASKING: &str = "\
name: asking
description: Two steps and a question
steps:
  - {id: first, tool: time.now}
  - {id: second, tool: time.now}
confirmations:
  - {step: second, message: \"Go on?\", default: true}
";

fn asking() -> World {
    let world = World::new();
    world.write("home/skills/asking.yaml", ASKING);
    world
}

#[test]
fn a_typed_answer_resolves_the_question() {
    for (typed, code, outcome) in [
        ("y\r", 0, "success"),
        ("\r", 0, "success"),
        ("no\r", 1, "cancelled"),
    ] {
        let world = asking();
        let mut terminal = Terminal::start(&world, &["run", "asking"]);
        terminal.until("Go on? [Y/n/always/skip]").keys("what\r");
        // After an invalid answer the question is repeated.
        terminal.until("what\nGo on? [Y/n/always/skip]").keys(typed);
        let (ended, screen) = terminal.end();
        assert_eq!(ended, code, "{screen}");
        assert_eq!(the_run(&world)["outcome"], outcome, "{screen}");
    }
}

/// A person can only agree to a question that is shown.
#[test]
fn input_typed_before_a_question_is_ignored() {
    let world = World::new();
    let pipe = world.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let command = json!(["cat", pipe]);
    let slow = format!("{{id: first, tool: shell.run, args: {{command: {command}}}}}");
    let skill = ASKING.replace("{id: first, tool: time.now}", &slow);
    world
        .write("home/config.toml", "[tools.shell]\nenabled = true\n")
        .write("home/skills/asking.yaml", skill);
    let mut terminal = Terminal::start(&world, &["run", "asking"]);
    // The step is waiting for a writer of the pipe.
    let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    terminal.keys("yes\r").until_echo("yes");
    writer.write_all(b"x").unwrap();
    drop(writer);
    terminal.until("Go on? [Y/n/always/skip]").keys("no\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 1, "{screen}");
    assert_eq!(the_run(&world)["outcome"], "cancelled", "{screen}");
}

/// Ctrl-C at the prompt is not an answer.
#[test]
fn ctrl_c_at_a_question_stops_the_run() {
    let world = asking();
    let mut terminal = Terminal::start(&world, &["run", "asking"]);
    terminal.until("Go on? [Y/n/always/skip]").keys("\x03");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    let run = the_run(&world);
    assert_eq!(run["outcome"], "cancelled", "{run:#}");
}

/// The tree is redrawn in place: each step has one line, however often it was drawn.
#[test]
fn the_tree_is_drawn_in_place() {
    let world = asking();
    let mut terminal = Terminal::start(&world, &["run", "asking", "--yes"]);
    terminal.until("success after");
    let drawn = terminal.raw.matches("first").count();
    let (code, screen) = terminal.end();
    assert_eq!(code, 0);
    assert!(drawn > 1, "it was drawn once:\n{screen}");
    let lines: Vec<&str> = screen.lines().collect();
    assert_eq!(lines.len(), 3, "{screen}");
    assert!(lines[0].starts_with("  ✓ first  time.now  "), "{screen}");
    assert!(lines[1].starts_with("  ✓ second  time.now  "), "{screen}");
    assert!(lines[2].starts_with("success after "), "{screen}");
}
