//! An HTTP server inside the test process that responds as scripted and records its requests.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::gate::Gate;
use crate::wire::{Request, chunk, response, stream_head};

/// The reaction to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// A response with a status, header lines and a JSON body.
    Answer(u16, Vec<String>, String),
    /// No response: the connection stays open until the client gives up.
    Hang,
    /// The connection is closed.
    Close,
    /// A response with a status, header lines (including the content type) and a body in pieces.
    Stream(u16, Vec<String>, Vec<Piece>),
}

/// A piece of a streamed body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes, sent in one write.
    Bytes(Vec<u8>),
    /// A pause until the gate opens.
    Gate(Gate),
    /// No further data: the connection stays open until the client gives up.
    Hang,
    /// No further data: the connection is closed in the middle of the body.
    Cut,
}

type React = dyn Fn(&Request) -> Reaction + Send + Sync;

struct Shared {
    react: Box<React>,
    requests: Mutex<Vec<Request>>,
    over: AtomicBool,
}

/// A server on a free local port. Dropping it stops the server.
pub struct HttpDouble {
    /// The URL for clients, without a path.
    pub url: String,
    port: u16,
    shared: Arc<Shared>,
}

impl HttpDouble {
    /// Starts a server that calls `react` for each request.
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

    /// Starts a server that uses these reactions in order, and repeats the last one.
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

    /// Returns the requests received so far.
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

/// Writes the pieces of a body. Returns true if the body is complete, so the connection can be reused.
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

/// Waits until the client closes its side.
fn hang(reader: &mut impl Read) {
    std::io::copy(reader, &mut std::io::sink()).ok();
}

impl Drop for HttpDouble {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then sees `over` and ends.
        TcpStream::connect(("127.0.0.1", self.port)).ok();
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
