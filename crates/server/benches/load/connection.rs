//! A plain HTTP/1.1 connection that does as little work as possible, so that the benchmark measures the
//! server.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Serializes a request to bytes, which can be sent repeatedly.
pub(crate) fn request(
    method: &str,
    path: &str,
    token: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
    if !token.is_empty() {
        text.push_str(&format!("authorization: Bearer {token}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        let length = body.len();
        text.push_str(&format!(
            "content-type: application/json\r\ncontent-length: {length}\r\n"
        ));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}

/// A response of the server.
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl HttpReply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// A persistent connection.
pub(crate) struct Connection {
    stream: TcpStream,
    /// Bytes received but not yet consumed.
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            buffer: Vec::with_capacity(64 * 1024),
        }
    }

    /// Sends a request and reads the whole response.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> HttpReply {
        self.stream.write_all(request).await.unwrap();
        let head = self.read_head().await;
        let status = head[9..12].parse().unwrap();
        let mut reply = HttpReply {
            status,
            head,
            body: Vec::new(),
        };
        let chunked = reply.header("transfer-encoding") == Some("chunked");
        let length = reply.header("content-length").map(|n| n.parse().unwrap());
        reply.body = match (chunked, length) {
            (true, _) => self.read_chunks().await,
            (false, length) => self.take(length.unwrap_or(0)).await,
        };
        reply
    }

    /// Sends a request that upgrades the connection to another protocol.
    pub(crate) async fn upgrade(mut self, request: &[u8]) -> (TcpStream, Vec<u8>) {
        self.stream.write_all(request).await.unwrap();
        let head = self.read_head().await;
        assert_eq!(&head[9..12], "101", "{head}");
        (self.stream, self.buffer)
    }

    async fn read_head(&mut self) -> String {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head = self.buffer.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            self.receive().await;
        }
    }

    async fn read_chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                match find(&self.buffer, b"\r\n") {
                    Some(end) => break end,
                    None => self.receive().await,
                }
            };
            let line: Vec<u8> = self.buffer.drain(..end + 2).collect();
            let size = std::str::from_utf8(&line[..end]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            body.extend(self.take(size).await);
            self.take(2).await;
            if size == 0 {
                return body;
            }
        }
    }

    async fn take(&mut self, count: usize) -> Vec<u8> {
        while self.buffer.len() < count {
            self.receive().await;
        }
        self.buffer.drain(..count).collect()
    }

    async fn receive(&mut self) {
        let count = self.stream.read_buf(&mut self.buffer).await.unwrap();
        assert!(count > 0, "the server closed the connection");
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}
