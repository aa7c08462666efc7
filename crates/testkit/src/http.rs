//! The test server on an HTTP port.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::binary::server_binary;
use crate::script::Arguments;

/// A running server with the streamable HTTP transport. Dropping it kills the server.
#[derive(Debug)]
pub struct HttpServer {
    child: Child,
    /// The URL for clients.
    pub url: String,
    /// The port it listens on.
    pub port: u16,
}

impl HttpServer {
    /// Starts a server on a free port. `flags` may contain `--sse` and `--sessions`.
    pub fn start(arguments: &Arguments, flags: &[&str]) -> Self {
        Self::start_on(0, arguments, flags)
    }

    /// Like [`Self::start`], on a given port.
    pub fn start_on(port: u16, arguments: &Arguments, flags: &[&str]) -> Self {
        let mut child = Command::new(server_binary())
            .args(arguments.list())
            .args(["--http", &port.to_string()])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test server starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output is piped");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("it says its port");
        let port: u16 = line.trim().parse().expect("it says a number");
        Self {
            child,
            url: format!("http://127.0.0.1:{port}/mcp"),
            port,
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // The server may have exited already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
