//! A small HTTP client that can also send malformed requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::daemon::WAIT_TIMEOUT;
use crate::support::World;

/// The API of a daemon.
pub(crate) struct Api {
    pub(crate) address: String,
    pub(crate) token: String,
}

/// A response of the server.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Api {
    /// Finds the API of the daemon running in a world.
    pub(crate) fn find(world: &World) -> Self {
        let state: Value = serde_json::from_str(&world.read("home/server.json")).unwrap();
        let url = state["url"].as_str().unwrap();
        Self {
            address: url.strip_prefix("http://").unwrap().to_owned(),
            token: world.read("home/token").trim().to_owned(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    /// Sends a request with the token.
    pub(crate) fn send(
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

    /// Sends bytes and reads until the server closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // The server may refuse and close before it has read everything.
        drop(stream.write_all(bytes));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        Reply::parse(&answer)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        stream
    }
}

impl Api {
    pub(super) fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_with(path, body, &[])
    }

    pub(super) fn post_with(&self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Reply {
        let json = [("Content-Type", "application/json")];
        let headers = [&json, headers].concat();
        self.send("POST", path, &headers, body.to_string().as_bytes())
    }

    pub(super) fn put(&self, path: &str, body: &Value) -> Reply {
        let json = [("Content-Type", "application/json")];
        self.send("PUT", path, &json, body.to_string().as_bytes())
    }

    /// Returns the JSON document at a path. Panics if the status is not 200.
    pub(super) fn read(&self, path: &str) -> Value {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.json());
        reply.json()
    }

    /// The entries of a list, page by page; the address says how many a page has.
    pub(super) fn read_pages(&self, path: &str, list: &str) -> Vec<Vec<Value>> {
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.read(&format!("{path}{cursor}"));
            pages.push(page[list].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return pages,
            }
        }
    }

    /// The server-sent events of an address, once the stream has begun.
    pub(super) fn follow(&self, path: &str, header: &str) -> impl Iterator<Item = Value> + use<> {
        let mut stream = self.connect();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{header}\r\n",
            self.address, self.token
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        assert_eq!(lines.next().as_deref(), Some("HTTP/1.1 200 OK"), "{path}");
        lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
    }

    /// Sends the same request many times on one connection without waiting for replies, which is as fast as a client
    /// can be.
    pub(super) fn flood(&self, method: &str, path: &str, times: usize) -> Vec<Reply> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.address, self.token
        );
        let mut replies = BufReader::new(self.connect());
        let mut sender = replies.get_ref().try_clone().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || sender.write_all(request.repeat(times).as_bytes()).unwrap());
            (0..times).map(|_| Reply::read(&mut replies)).collect()
        })
    }
}

impl Reply {
    /// Reads one reply and leaves what follows it. Its head says how long it is.
    pub(super) fn read(stream: &mut impl Read) -> Self {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let mut reply = Self::parse(&head);
        // A reply that leads to another protocol has no body.
        let length = reply.header("content-length");
        let length = length.map_or(0, |length| length.parse().unwrap());
        reply.body = vec![0; length];
        stream.read_exact(&mut reply.body).unwrap();
        reply
    }

    pub(super) fn parse(answer: &[u8]) -> Self {
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(answer)));
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_lowercase(), value.to_owned()))
        };
        let mut reply = Self {
            status: status.parse().unwrap(),
            headers: lines.filter_map(header).collect(),
            body: answer[end + 4..].to_vec(),
        };
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.body = join_chunks(&reply.body);
        }
        reply
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|problem| panic!("{problem}: {}", String::from_utf8_lossy(&self.body)))
    }
}

fn join_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        all.extend(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    all
}
