//! A minimal HTTP/1.1 for doubles: requests with a length, responses with a length or in chunks.

use std::io::BufRead;

/// A received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// Returns the value of a header. `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Reads the next request of a connection. Returns `None` at its end.
    pub fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let mut words = line.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = Vec::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(':') else {
                break;
            };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut request = Self {
            method,
            path,
            headers,
            body: Vec::new(),
        };
        let length = request.header("content-length").map_or(Ok(0), str::parse);
        request.body = vec![0; length.ok()?];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }
}

/// Returns a response as bytes. `headers` are whole lines.
pub fn response(status: u16, kind: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut head = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n",
        body.len()
    );
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Returns the head of a chunked response. `headers` are whole lines.
pub fn stream_head(status: u16, headers: &[String]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Status\r\nTransfer-Encoding: chunked\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// Encodes one chunk of a body. An empty chunk ends the body.
pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    out
}
