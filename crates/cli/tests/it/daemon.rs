//! A `deft up` that a test has started: its lines as they come, and how it ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::World;

/// More than anything here takes, even on a machine with other things to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Daemon {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Daemon {
    /// Starts one and waits until it says that it is ready.
    pub(crate) fn start(world: &World) -> Self {
        Self::with(world, &[], &[])
    }

    pub(crate) fn with(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut daemon = Self::spawn(world, args, variables);
        daemon.until("started in");
        daemon
    }

    /// Starts one whose lines the test waits for itself.
    pub(crate) fn begin(world: &World, args: &[&str]) -> Self {
        Self::spawn(world, args, &[])
    }

    fn spawn(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = world
            .command(&[&["up"], args].concat())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            seen: Vec::new(),
        }
    }

    /// Waits for a line with a text, which may have come already.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        if let Some(line) = self.seen.iter().find(|line| line.contains(text)) {
            return line.clone();
        }
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no line with `{text}`:\n{}", self.seen.join("\n"));
            };
            self.seen.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end and gives everything that it said.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.seen.push(line);
        }
        (status, self.seen.join("\n"))
    }

    /// Asks it to stop, which it has to do in good order.
    pub(crate) fn stop(self) -> String {
        self.signal("-TERM");
        let (status, said) = self.end();
        assert_eq!(status.code(), Some(0), "{said}");
        said
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(self) {
        self.signal("-KILL");
        self.end();
    }
}

impl Drop for Daemon {
    /// A test that failed leaves nothing behind.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Asks again and again until there is an answer.
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

/// Waits until a run is over.
pub(crate) fn ended(world: &World, id: &str) -> Value {
    wait_for(id, || {
        let shown = world.json(&["runs", "show", id, "--json"]);
        (shown["run"]["status"] == "done").then(|| shown["run"].clone())
    })
}

/// Runs of a skill, newest first.
pub(crate) fn runs(world: &World, skill: &str) -> Vec<Value> {
    let listed = world.json(&["runs", "list", "--skill", skill, "--json"]);
    listed["runs"].as_array().unwrap().clone()
}

/// A home that had its first start already, and so has nothing in it.
pub(crate) fn used_home() -> World {
    let world = World::new();
    world.write("home/data/seeded", "0\n");
    world
}

/// A skill of the store or a file as `skills show` has it.
pub(crate) fn skill(world: &World, name: &str) -> Value {
    world.json(&["skills", "show", name, "--json"])["skill"].take()
}
