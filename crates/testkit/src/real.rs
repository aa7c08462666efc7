//! A real model on a real server: `llama.cpp` with a model of 135 million parameters, for tests of the
//! transport. The model is too small for meaningful answers.
//!
//! `model/install.sh` installs it. If it is missing, tests fail; none are skipped.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// A running server. It exits when this is dropped, or with the test process.
pub struct RealModel {
    /// The base URL for clients.
    pub url: String,
    /// The port it listens on.
    pub port: u16,
    child: Child,
}

impl RealModel {
    /// Returns the server shared by this test process, started on first use.
    pub fn get_shared() -> &'static Self {
        static ONLY: OnceLock<RealModel> = OnceLock::new();
        ONLY.get_or_init(Self::start)
    }

    /// Starts a server on a free port.
    pub fn start() -> Self {
        Self::start_on(0)
    }

    /// Like [`Self::start`], on a given port. Returns when the model is loaded.
    pub fn start_on(port: u16) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("model");
        let mut child = Command::new(python())
            .arg(folder.join("serve.py"))
            .arg(port.to_string())
            .current_dir(std::env::temp_dir())
            // The server exits when this pipe is closed, which also happens if the test is killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the model server starts");
        let stderr = child.stderr.take().expect("its errors are piped");
        let log = std::thread::spawn(move || {
            let mut log = Vec::new();
            BufReader::new(stderr).read_to_end(&mut log).ok();
            String::from_utf8_lossy(&log).into_owned()
        });
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output is piped");
        BufReader::new(stdout).read_line(&mut line).ok();
        let Ok(port) = line.trim().parse() else {
            child.kill().ok();
            panic!(
                "the model server said `{line}`:\n{}",
                log.join().unwrap_or_default()
            );
        };
        Self {
            url: format!("http://127.0.0.1:{port}"),
            port,
            child,
        }
    }
}

impl Drop for RealModel {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn python() -> PathBuf {
    let cache = std::env::var("XDG_CACHE_HOME").map_or_else(
        |_| PathBuf::from(std::env::var("HOME").expect("a home")).join(".cache"),
        PathBuf::from,
    );
    let python = cache.join("deft/model/python/bin/python");
    assert!(
        python.exists(),
        "{} is missing; run `crates/testkit/model/install.sh`",
        python.display()
    );
    python
}
