//! The HTTP transport of the server: one thread per connection, responses as plain JSON or, with `--sse`, as
//! a stream of events.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use deft_testkit::wire::{Request, response};
use serde_json::Value;

use crate::protocol::Server;
use crate::{Sink, lock};

/// Listens on a local port and prints its number to stdout.
pub(crate) fn serve(server: &Arc<Server>, port: u16, flags: &[String]) -> ExitCode {
    let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) else {
        return ExitCode::FAILURE;
    };
    let port = listener.local_addr().map_or(0, |address| address.port());
    writeln!(std::io::stdout(), "{port}").ok();
    let door = Arc::new(HttpTransport {
        server: server.clone(),
        sse: flags.iter().any(|flag| flag == "--sse"),
        sessions: flags.iter().any(|flag| flag == "--sessions"),
        token: server.script()["token"].as_str().map(str::to_owned),
    });
    for stream in listener.incoming().flatten() {
        let door = door.clone();
        std::thread::spawn(move || door.connection(&stream));
    }
    ExitCode::SUCCESS
}

struct HttpTransport {
    server: Arc<Server>,
    sse: bool,
    sessions: bool,
    token: Option<String>,
}

/// Collects the messages sent in response to one request.
#[derive(Default)]
struct CollectedBodies(Mutex<Vec<Vec<u8>>>);

impl Sink for CollectedBodies {
    fn raw(&self, line: &[u8]) {
        lock(&self.0).push(line.to_vec());
    }
}

impl HttpTransport {
    fn connection(&self, stream: &TcpStream) {
        stream.set_nodelay(true).ok();
        let mut reader = BufReader::new(stream);
        let mut writer = stream;
        while let Some(request) = Request::read(&mut reader) {
            let answer = self.answer(&request);
            if writer.write_all(&answer).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> Vec<u8> {
        if let Some(token) = &self.token
            && request.header("authorization") != Some(&format!("Bearer {token}"))
        {
            return response(401, "text/plain", &[], b"who are you");
        }
        let message = serde_json::from_slice::<Value>(&request.body);
        let (true, Ok(message)) = (request.method == "POST", message) else {
            return response(405, "text/plain", &[], b"");
        };
        if message["id"].is_null() || message["method"].is_null() {
            let sink: Arc<dyn Sink> = Arc::new(CollectedBodies::default());
            self.server.handle(message, &sink);
            return response(202, "text/plain", &[], b"");
        }
        let collected = Arc::new(CollectedBodies::default());
        let sink: Arc<dyn Sink> = collected.clone();
        let session = message["method"] == "initialize" && self.sessions;
        self.server.handle(message.clone(), &sink);
        let lines = wait(&collected, &message);
        self.reply(&lines, session)
    }

    fn reply(&self, lines: &[Vec<u8>], session: bool) -> Vec<u8> {
        let last = lines.last().map(Vec::as_slice).unwrap_or_default();
        if let Ok(value) = serde_json::from_slice::<Value>(last)
            && let Some(status) = value["http_status"].as_u64()
        {
            return response(
                u16::try_from(status).unwrap_or(500),
                "text/plain",
                &[],
                b"as told",
            );
        }
        let headers: &[&str] = if session {
            &["Mcp-Session-Id: s-1"]
        } else {
            &[]
        };
        if self.sse {
            let mut body = Vec::new();
            for line in lines {
                body.extend_from_slice(b"event: message\ndata: ");
                body.extend_from_slice(line);
                body.extend_from_slice(b"\n\n");
            }
            return response(200, "text/event-stream", headers, &body);
        }
        response(200, "application/json", headers, last)
    }
}

/// Waits for the response to `message`; notifications may precede it.
fn wait(collected: &CollectedBodies, message: &Value) -> Vec<Vec<u8>> {
    let id = message["id"].to_string();
    loop {
        let lines = lock(&collected.0).clone();
        let text = lines
            .last()
            .map(|line| String::from_utf8_lossy(line).into_owned());
        if text.is_some_and(|text| {
            text.contains("http_status") || text.contains(&format!("\"id\":{id}"))
        }) {
            return lines;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
