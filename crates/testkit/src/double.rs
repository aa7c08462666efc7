//! A web server inside the test process that answers as it is told and
//! remembers what it was asked.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::gate::Gate;
use crate::wire::{Request, chunk, response, stream_head};

/// How one request is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// With a status, header lines and a body of JSON.
    Answer(u16, Vec<String>, String),
    /// Not at all: the connection stays open until the client gives up.
    Hang,
    /// With the end of the connection.
    Close,
    /// With a status, header lines (the content type among them) and a body in pieces.
    Stream(u16, Vec<String>, Vec<Piece>),
}

/// A part of a body that is written bit by bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// These bytes, in a write of their own.
    Bytes(Vec<u8>),
    /// Nothing until the gate is open.
    Gate(Gate),
    /// Nothing more; the connection stays open until the client gives up.
    Hang,
    /// Nothing more: the connection ends in the middle of the body.
    Cut,
}

type React = dyn Fn(&Request) -> Reaction + Send + Sync;

struct Shared {
    react: Box<React>,
    requests: Mutex<Vec<Request>>,
    over: AtomicBool,
}

/// A server on a free port of this machine; it stops when this is dropped.
pub struct HttpDouble {
    /// The address to give to a client, without a path.
    pub url: String,
    port: u16,
    shared: Arc<Shared>,
}

impl HttpDouble {
    /// Starts a server that asks `react` what to do with each request.
    pub fn start(react: impl Fn(&Request) -> Reaction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let shared = Arc::new(Shared {
            react: Box::new(react),
            requests: Mutex::default(),
            over: AtomicBool::new(false),
        });
        let inner = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if inner.over.load(Ordering::SeqCst) {
                    return;
                }
                let inner = inner.clone();
                std::thread::spawn(move || inner.serve(&stream));
            }
        });
        Self {
            url: format!("http://127.0.0.1:{port}"),
            port,
            shared,
        }
    }

    /// Starts a server that reacts in this order, and then always as the last time.
    pub fn script(reactions: impl IntoIterator<Item = Reaction>) -> Self {
        let mut left: Vec<Reaction> = reactions.into_iter().collect();
        left.reverse();
        let left = Mutex::new(left);
        Self::start(move |_| {
            let mut left = lock(&left);
            match left.len() {
                0 => Reaction::Close,
                1 => left[0].clone(),
                _ => left.pop().expect("there is more than one"),
            }
        })
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) {
        stream.set_nodelay(true).ok();
        let mut reader = BufReader::new(stream);
        let mut writer = stream;
        while let Some(request) = Request::read(&mut reader) {
            let reaction = (self.react)(&request);
            lock(&self.requests).push(request);
            match reaction {
                Reaction::Answer(status, headers, body) => {
                    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
                    let bytes = response(status, "application/json", &headers, body.as_bytes());
                    if writer.write_all(&bytes).is_err() {
                        return;
                    }
                }
                Reaction::Hang => return hang(&mut reader),
                Reaction::Close => return,
                Reaction::Stream(status, headers, pieces) => {
                    if writer.write_all(&stream_head(status, &headers)).is_err() {
                        return;
                    }
                    if !write_pieces(&mut writer, &mut reader, &pieces) {
                        return;
                    }
                }
            }
        }
    }
}

/// True when the body was written to its end, so that the connection can be used again.
fn write_pieces(writer: &mut impl Write, reader: &mut impl Read, pieces: &[Piece]) -> bool {
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) if bytes.is_empty() => {}
            Piece::Bytes(bytes) => {
                if writer.write_all(&chunk(bytes)).is_err() {
                    return false;
                }
            }
            Piece::Gate(gate) => gate.wait(),
            Piece::Hang => {
                hang(reader);
                return false;
            }
            Piece::Cut => return false,
        }
    }
    writer.write_all(&chunk(&[])).is_ok()
}

/// Ends when the client closes its side.
fn hang(reader: &mut impl Read) {
    std::io::copy(reader, &mut std::io::sink()).ok();
}

impl Drop for HttpDouble {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections, so that it sees the end.
        TcpStream::connect(("127.0.0.1", self.port)).ok();
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
