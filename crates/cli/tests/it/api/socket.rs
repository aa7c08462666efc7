//! A WebSocket client that can also break the rules of the protocol.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::client::{Api, Reply};

/// A WebSocket client with the parts of the protocol that these tests need.
pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
}

impl Socket {
    pub(crate) fn open(api: &Api, path: &str) -> Self {
        Self::ask(api, path, &api.address, &[])
            .unwrap_or_else(|refused| panic!("{path}: {refused:?}"))
    }

    /// Asks for a WebSocket with a header `Host` and others; gives the reply if it is refused.
    pub(crate) fn ask(
        api: &Api,
        path: &str,
        host: &str,
        headers: &[(&str, &str)],
    ) -> Result<Self, Reply> {
        let mut stream = api.connect();
        let mut head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let reply = Reply::read(&mut stream);
        if reply.status == 101 {
            Ok(Self { stream })
        } else {
            Err(reply)
        }
    }

    pub(crate) fn frame(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head).unwrap();
        let length = match head[1] {
            126 => {
                let mut bytes = [0; 2];
                self.stream.read_exact(&mut bytes).unwrap();
                u16::from_be_bytes(bytes).into()
            }
            127 => {
                let mut bytes = [0; 8];
                self.stream.read_exact(&mut bytes).unwrap();
                usize::try_from(u64::from_be_bytes(bytes)).unwrap()
            }
            short => short.into(),
        };
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (head[0] & 0x0f, body)
    }

    /// Returns the next message.
    pub(crate) fn next(&mut self) -> Value {
        loop {
            let (kind, body) = self.frame();
            if kind == 1 {
                return serde_json::from_slice(&body).unwrap();
            }
        }
    }

    /// Reads until a message of type `kind`, and returns all messages read.
    pub(crate) fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            seen.push(self.next());
            if seen.last().unwrap()["type"] == kind {
                return seen;
            }
        }
    }

    /// Closes the connection, and waits for the server's close frame.
    pub(crate) fn say_goodbye(mut self) {
        self.stream.write_all(&[0x88, 0x80, 0, 0, 0, 0]).unwrap();
        while self.frame().0 != 8 {}
    }

    pub(crate) fn send(&mut self, text: &str) {
        let mut frame = vec![0x81];
        let length = u16::try_from(text.len()).unwrap();
        match u8::try_from(length) {
            Ok(short) if short < 126 => frame.push(0x80 | short),
            _ => {
                frame.push(0x80 | 0x7e);
                frame.extend(length.to_be_bytes());
            }
        }
        // A mask of zeros leaves the text unchanged.
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).unwrap();
    }
}
