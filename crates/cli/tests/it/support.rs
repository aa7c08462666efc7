//! A world: a temporary folder with a home, in which tests run the binary.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use deft_testkit::{Script, server_binary};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    /// Returns a command for the binary in this world, without the host's environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deft"));
        command
            .args(args)
            .current_dir(self.path(""))
            .env_clear()
            .env("HOME", self.path("user"))
            .env("DEFT_HOME", self.path("home"))
            .env("TZ", "Europe/Berlin");
        if args.first() == Some(&"up") {
            // Many daemons run concurrently, so each gets a free port.
            command.env("DEFT__SERVER__LISTEN", "127.0.0.1:0");
        }
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs the binary. Returns the exit code, stdout and stderr, with the path of the world and content
    /// hashes replaced.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let output = self.output(args);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let place = format!(
            "{}/",
            self.path("").display().to_string().trim_end_matches('/')
        );
        let out = format!(
            "exit {}\n--- stdout\n{}--- stderr\n{}",
            output.status.code().unwrap(),
            text(&output.stdout),
            text(&output.stderr),
        );
        out.replace(&place, "[world]/")
    }

    /// Runs the binary and parses stdout as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.output(args);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|problem| {
            panic!("{problem}: {}", String::from_utf8_lossy(&output.stdout))
        })
    }

    /// Returns the entries of the audit log.
    pub(crate) fn audit(&self) -> Vec<Value> {
        let log = self.read("home/logs/audit.jsonl");
        let read = |line| serde_json::from_str(line).unwrap();
        log.lines().map(read).collect()
    }

    /// Returns the entries of the audit log without those of commands.
    pub(crate) fn audited_requests(&self) -> Vec<Value> {
        let mut entries = self.audit();
        entries.retain(|entry| entry["from"] != "terminal");
        entries
    }

    pub(crate) fn code(&self, args: &[&str]) -> i32 {
        self.output(args).status.code().unwrap()
    }
}

pub(crate) const SKILL: &str =
    "---\nname: greet\ndescription: Greets.\n---\n\n# Greet\n\nSay hello.\n";
pub(crate) const PAGE: &str = "---\nname: email.send\ndescription: Send an email\ntags: [mail]\n---\n\n# email.send\n\nSends.\n\n## Flags\n\n--to   Whom (required)\n";
pub(crate) const WORKFLOW: &str = "name: report\ndescription: Reports\nschedule: \"0 8 * * 1-5\"\nsteps:\n  - id: log_it\n    tool: log\n    args:\n      message: hello\noutputs:\n  done: true\n";

/// Returns the configuration of a server that follows a script.
pub(crate) fn server(world: &World, script: &Script) -> String {
    world.write("server/x", "");
    let arguments = script.write(&world.path("server"), "demo");
    let args: Vec<Value> = arguments.list().into_iter().map(Value::from).collect();
    format!(
        "[mcp_servers.demo]\ncommand = {}\nargs = {}\n",
        json!(server_binary()),
        json!(args)
    )
}
