//! A `deft up` process under test: its output as it arrives, and its end.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::World;

/// The timeout of all waits, sufficient even on a busy machine.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct Daemon {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Daemon {
    /// Starts a daemon and waits until it is ready.
    pub(crate) fn start(world: &World) -> Self {
        Self::with(world, &[], &[])
    }

    pub(crate) fn with(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut daemon = Self::spawn(world, args, variables);
        daemon.until("started in");
        daemon
    }

    /// Starts a daemon without waiting for any output.
    pub(crate) fn begin(world: &World, args: &[&str]) -> Self {
        Self::spawn(world, args, &[])
    }

    /// Starts a daemon that may open `count` files and waits until it is ready.
    pub(crate) fn with_open_files(world: &World, count: usize) -> Self {
        let deft = world.command(&["up"]);
        let mut limited = Command::new("sh");
        limited
            .args(["-c", &format!("ulimit -n {count}; exec \"$0\" up")])
            .arg(deft.get_program())
            .current_dir(world.path(""))
            .env_clear()
            .envs(
                deft.get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
        let mut daemon = Self::from_command(&mut limited);
        daemon.until("started in");
        daemon
    }

    fn spawn(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = world.command(&[&["up"], args].concat());
        Self::from_command(command.envs(variables.iter().copied()))
    }

    fn from_command(command: &mut Command) -> Self {
        let mut child = command
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

    /// Waits for a line that contains `text`, which may have arrived already.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let deadline = Instant::now() + WAIT_TIMEOUT;
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

    /// Waits for the end of the daemon and returns its status and all its output.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        while let Ok(line) = self.lines.recv_timeout(WAIT_TIMEOUT) {
            self.seen.push(line);
        }
        (status, self.seen.join("\n"))
    }

    /// Stops the daemon with SIGTERM, asserts exit code 0, and returns its output.
    pub(crate) fn stop(self) -> String {
        self.signal("-TERM");
        let (status, said) = self.end();
        assert_eq!(status.code(), Some(0), "{said}");
        said
    }

    /// Kills the daemon with SIGKILL, as in a crash.
    pub(crate) fn kill(self) {
        self.signal("-KILL");
        self.end();
    }
}

impl Drop for Daemon {
    /// Kills the process if the test failed.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Time between two questions of [`wait_for`].
const PAUSE: Duration = Duration::from_millis(2);

/// Polls `ask` until it returns a value.
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        // Without a pause, two tests at once starve the processes that they wait for on two cores.
        std::thread::park_timeout(PAUSE);
    }
}

/// Waits until a run has ended, and returns it.
pub(crate) fn ended(world: &World, id: &str) -> Value {
    wait_for(id, || {
        let shown = world.json(&["runs", "show", id, "--json"]);
        (shown["run"]["status"] == "done").then(|| shown["run"].clone())
    })
}

/// Returns the runs of a skill, newest first.
pub(crate) fn runs(world: &World, skill: &str) -> Vec<Value> {
    let listed = world.json(&["runs", "list", "--skill", skill, "--json"]);
    listed["runs"].as_array().unwrap().clone()
}

/// Creates a home that counts as initialised, so it gets no default skills.
pub(crate) fn used_home() -> World {
    let world = World::new();
    world.write("home/data/seeded", "0\n");
    world
}

/// Returns a skill as `skills show` prints it.
pub(crate) fn skill(world: &World, name: &str) -> Value {
    world.json(&["skills", "show", name, "--json"])["skill"].take()
}
