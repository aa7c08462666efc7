//! A test server that implements the tool protocol by hand, so it can also violate it.
//!
//! `deft-test-server SCRIPT [WITNESS [STATE]] [--http PORT [--sse] [--sessions]]`
//!
//! Not here: any library for the protocol. `Script` in the library of this crate documents the keys of a
//! script.

#![allow(
    clippy::disallowed_methods,
    reason = "the witness log needs the real time"
)]

mod behaviour;
mod http;
mod protocol;
mod skills;
mod spoil;
mod state;

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use protocol::Server;

/// Takes a lock, even if it is poisoned.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A destination for messages to the client.
pub(crate) trait Sink: Send + Sync {
    /// Sends a line as it is.
    fn raw(&self, line: &[u8]);

    /// Sends a message, with the placeholders of the script replaced by invalid content.
    fn send(&self, message: &Value) {
        self.raw(&spoil::spoil(message.to_string()));
    }
}

struct Stdout;

impl Sink for Stdout {
    fn raw(&self, line: &[u8]) {
        let mut out = std::io::stdout().lock();
        let mut bytes = line.to_vec();
        bytes.push(b'\n');
        // Errors are ignored: the client may have disconnected.
        out.write_all(&bytes).and_then(|()| out.flush()).ok();
    }
}

fn main() -> ExitCode {
    let mut paths = Vec::new();
    let mut flags = Vec::new();
    let mut arguments = std::env::args().skip(1);
    let mut port = None;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--http" => port = arguments.next().and_then(|port| port.parse().ok()),
            flag if flag.starts_with("--") => flags.push(argument),
            _ => paths.push(argument),
        }
    }
    let script = paths
        .first()
        .and_then(|path| std::fs::read_to_string(path).ok());
    let Some(script) = script.and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
        return ExitCode::from(2);
    };
    let server = Arc::new(Server::new(script, paths.get(1), paths.get(2)));
    match port {
        Some(port) => http::serve(&server, port, &flags),
        None => serve_stdio(&server),
    }
}

/// Reads messages from stdin until it is closed.
fn serve_stdio(server: &Arc<Server>) -> ExitCode {
    if let Some(code) = start(server.script()) {
        return code;
    }
    let sink: Arc<dyn Sink> = Arc::new(Stdout);
    let mut input = std::io::stdin().lock();
    let mut line = String::new();
    while let Ok(1..) = input.read_line(&mut line) {
        if let Ok(message) = serde_json::from_str::<Value>(&line) {
            server.handle(message, &sink);
        }
        line.clear();
    }
    ExitCode::SUCCESS
}

/// Performs the startup behaviour of the script, before any input is read. Returns an exit code if the server
/// must exit.
fn start(script: &Value) -> Option<ExitCode> {
    let start = &script["start"];
    if let Some(text) = script["stderr"].as_str() {
        let text = spoil::spoil(text.to_owned());
        let mut out = std::io::stderr();
        out.write_all(&text)
            .and_then(|()| out.write_all(b"\n"))
            .ok();
    }
    if let Some(millis) = start["delay_ms"].as_u64() {
        std::thread::sleep(Duration::from_millis(millis));
    }
    for n in 0..start["garbage"].as_u64().unwrap_or(0) {
        Stdout.raw(format!("this is no message {n}").as_bytes());
    }
    if start["die"] == json!(true) {
        return Some(ExitCode::from(3));
    }
    if start["hang"] == json!(true) {
        loop {
            std::thread::sleep(Duration::from_mins(1));
        }
    }
    None
}
