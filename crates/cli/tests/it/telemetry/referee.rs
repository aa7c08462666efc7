//! The programs of `crates/telemetry/tests/referees`. If they are missing, the tests fail; none are skipped.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::daemon::WAIT_TIMEOUT;

fn python(program: &str) -> Command {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"),
        PathBuf::from,
    );
    let python = cache.join("deft/telemetry-referees/python/bin/python");
    assert!(
        python.exists(),
        "{} is missing; run `crates/telemetry/tests/referees/install.sh`",
        python.display()
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../telemetry/tests/referees");
    let mut command = Command::new(python);
    command.arg(folder.join(program));
    command
}

/// An OTLP receiver. Dropping it kills the process.
pub(crate) struct OtlpReceiver {
    child: Child,
    lines: Receiver<String>,
    pub(crate) url: String,
}

impl OtlpReceiver {
    /// Starts a receiver that responds to the first `busy` requests with 503.
    pub(crate) fn start(busy: u32) -> Self {
        let mut child = python("receiver.py")
            .arg(busy.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let port = lines.recv_timeout(WAIT_TIMEOUT).unwrap();
        Self {
            child,
            lines,
            url: format!("http://127.0.0.1:{port}"),
        }
    }

    /// Waits for the next request.
    pub(crate) fn next(&self) -> Value {
        let line = self.lines.recv_timeout(WAIT_TIMEOUT).unwrap();
        let got: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(got.get("problem"), None, "{got}");
        got
    }

    /// Waits for the next request with spans, and returns them sorted by name.
    pub(crate) fn spans(&self) -> Vec<Value> {
        loop {
            let mut got = self.next();
            if let Some(spans) = got["spans"].as_array_mut() {
                let mut spans = std::mem::take(spans);
                spans.sort_by_key(|span| span["name"].to_string());
                return spans;
            }
        }
    }

    /// Returns the requests already received.
    pub(crate) fn waiting(&self) -> Vec<Value> {
        let lines = self.lines.try_iter();
        lines
            .map(|line| serde_json::from_str(&line).unwrap())
            .collect()
    }
}

impl Drop for OtlpReceiver {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Parses a page of metrics with the Prometheus parser.
pub(crate) fn parse_page(page: &[u8]) -> Value {
    let mut child = python("prometheus.py")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(page).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(page));
    serde_json::from_slice(&output.stdout).unwrap()
}
