//! Many WebSocket clients at once, some of which never read.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::connection::{Connection, request};
use crate::figures;

pub(crate) struct Feed {
    pub(crate) address: String,
    pub(crate) token: String,
    pub(crate) clients: usize,
    pub(crate) stalled: usize,
    pub(crate) seconds: u64,
}

/// Figures of one client.
#[derive(Default)]
struct ClientFigures {
    events: usize,
    resyncs: usize,
    /// Delays between the instant in an event and its arrival, for every tenth event.
    delays: Vec<Duration>,
}

impl Feed {
    pub(crate) async fn run(self) -> Value {
        let mut stalled = Vec::new();
        for _ in 0..self.stalled {
            stalled.push(self.connect().await);
        }
        let mut clients = Vec::new();
        for _ in 0..self.clients {
            clients.push(self.connect().await);
        }
        let end = Instant::now() + Duration::from_secs(self.seconds);
        let tasks: Vec<_> = clients
            .into_iter()
            .map(|(stream, rest)| tokio::spawn(read(stream, rest, end)))
            .collect();
        let mut received = Vec::new();
        for task in tasks {
            received.push(task.await.unwrap());
        }
        let mut delays: Vec<_> = received.iter().flat_map(|one| one.delays.clone()).collect();
        delays.sort();
        json!({
            "clients": self.clients,
            "events_min": received.iter().map(|one| one.events).min(),
            "events_max": received.iter().map(|one| one.events).max(),
            "resyncs": received.iter().map(|one| one.resyncs).sum::<usize>(),
            "delay_p50_ms": figures::percentile(&delays, 50),
            "delay_p99_ms": figures::percentile(&delays, 99),
        })
    }

    async fn connect(&self) -> (TcpStream, Vec<u8>) {
        let headers = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let request = request("GET", "/ws", &self.token, &headers, "");
        Connection::open(&self.address)
            .await
            .upgrade(&request)
            .await
    }
}

async fn read(mut stream: TcpStream, mut buffer: Vec<u8>, end: Instant) -> ClientFigures {
    let mut received = ClientFigures::default();
    loop {
        let mut at = 0;
        while let Some((text, length)) = frame(&buffer[at..]) {
            received.take(text);
            at += length;
        }
        buffer.drain(..at);
        let more = tokio::time::timeout_at(end.into(), stream.read_buf(&mut buffer)).await;
        match more {
            Ok(count) => assert!(count.unwrap() > 0, "the server closed a feed"),
            Err(_) => return received,
        }
    }
}

impl ClientFigures {
    fn take(&mut self, text: &[u8]) {
        if text.is_empty() {
            return; // a ping
        }
        let text = std::str::from_utf8(text).unwrap();
        if text.contains("\"resync\"") {
            self.resyncs += 1;
            return;
        }
        self.events += 1;
        if self.events.is_multiple_of(10) {
            let event: Value = serde_json::from_str(text).unwrap();
            let at: Timestamp = event["at"].as_str().unwrap().parse().unwrap();
            let delay = Timestamp::now().duration_since(at);
            self.delays.push(delay.unsigned_abs());
        }
    }
}

/// Returns the payload of the first frame and the length of the frame, if the buffer contains all of it.
/// Frames of a server are not masked.
fn frame(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let short = usize::from(*bytes.get(1)?);
    let (start, length) = match short {
        126 => (
            4,
            usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)),
        ),
        127 => panic!("a frame of this feed is shorter than 64 kB"),
        short => (2, short),
    };
    let text = bytes.get(start..start + length)?;
    Some((text, start + length))
}
