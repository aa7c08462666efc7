//! A small HTTP client that can also send what no good client would.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::daemon::PATIENCE;
use crate::support::World;

/// The API of a daemon.
pub(super) struct Api {
    pub(super) address: String,
    pub(super) token: String,
}

/// What the server answered.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Api {
    /// The API of the daemon that is up in a world.
    pub(super) fn find(world: &World) -> Self {
        let state: Value = serde_json::from_str(&world.read("home/server.json")).unwrap();
        let url = state["url"].as_str().unwrap();
        Self {
            address: url.strip_prefix("http://").unwrap().to_owned(),
            token: world.read("home/token").trim().to_owned(),
        }
    }

    pub(super) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    /// Sends a request with the token.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n",
            self.address, self.token
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.raw(&[head.as_bytes(), body].concat())
    }

    /// Sends bytes and reads until the server closes.
    pub(super) fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // The server may refuse and close before it has read everything.
        drop(stream.write_all(bytes));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        Reply::parse(&answer)
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

impl Reply {
    fn parse(answer: &[u8]) -> Self {
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(answer)));
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_lowercase(), value.to_owned()))
        };
        Self {
            status: status.parse().unwrap(),
            headers: lines.filter_map(header).collect(),
            body: answer[end + 4..].to_vec(),
        }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|problem| panic!("{problem}: {}", String::from_utf8_lossy(&self.body)))
    }
}
