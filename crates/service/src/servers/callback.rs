//! The callback page of a sign-in in the browser: a local HTTP listener that receives the redirect.
//!
//! It listens on the loopback address only, for one sign-in, and answers no other request. A request without
//! the state of the sign-in does not come from the authorization server.

use std::net::Ipv4Addr;
use std::time::Duration;

use deft_wire::{Done, Failure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PATH: &str = "/callback";
/// Maximum size of a request head in bytes, and the timeout for one request.
const MAX_HEAD_BYTES: usize = 16 * 1024;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The listener for the redirect.
pub(super) struct Callback {
    listener: TcpListener,
    origin: String,
}

impl Callback {
    /// Listens on a port of the loopback address; 0 selects a free port.
    pub(super) async fn listen(port: u16) -> Done<Self> {
        let failed = |problem: std::io::Error| {
            let message = format!("cannot listen on port {port} of this machine: {problem}");
            Failure::input("callback_port", message)
                .hint("choose another `oauth.callback_port`, or 0 for a free one")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            origin: format!("http://{address}"),
        })
    }

    /// Returns the redirect address for the browser.
    pub(super) fn address(&self) -> String {
        format!("{}{PATH}", self.origin)
    }

    /// Waits for the redirect with `state`, and returns its full address.
    pub(super) async fn wait(&self, state: &str) -> String {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                // Most likely out of file descriptors; some may be free in a moment.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let answered = tokio::time::timeout(REQUEST_TIMEOUT, answer(stream, state)).await;
            if let Ok(Some(target)) = answered {
                return format!("{}{target}", self.origin);
            }
        }
    }
}

/// Answers one request. Returns its target if it is the redirect with `state`.
async fn answer(mut stream: TcpStream, state: &str) -> Option<String> {
    let head = read_head(&mut stream).await?;
    let mut words = head.lines().next()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let is_ours = method == "GET" && has_state(target, state);
    let (status, text) = if is_ours {
        (
            "200 OK",
            "deft has received the sign-in. You can close this window and go back to the terminal.",
        )
    } else {
        ("404 Not Found", "deft is not waiting for this sign-in.")
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    // The browser may have closed the connection; the redirect has arrived regardless.
    drop(stream.write_all(answer.as_bytes()).await);
    drop(stream.shutdown().await);
    is_ours.then(|| target.to_owned())
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut part = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut part).await.ok()?;
        if count == 0 || head.len() + count > MAX_HEAD_BYTES {
            return None;
        }
        head.extend_from_slice(&part[..count]);
    }
    String::from_utf8(head).ok()
}

/// The protocol library generates states that need no URL decoding.
fn has_state(target: &str, state: &str) -> bool {
    let Some((path, query)) = target.split_once('?') else {
        return false;
    };
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    path == PATH && pairs.any(|(name, value)| name == "state" && value == state)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn request(callback: &Callback, text: &str) -> String {
        let address = callback.listener.local_addr().unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        drop(stream.read_to_string(&mut answer).await);
        answer.lines().next().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn only_a_redirect_with_the_state_ends_the_wait() {
        let callback = Callback::listen(0).await.unwrap();
        let asking = async {
            for other in [
                "GET /callback?state=other&code=c HTTP/1.1\r\n\r\n",
                "GET /callback HTTP/1.1\r\n\r\n",
                "GET /?state=right HTTP/1.1\r\n\r\n",
                "POST /callback?state=right HTTP/1.1\r\n\r\n",
            ] {
                assert_eq!(request(&callback, other).await, "HTTP/1.1 404 Not Found");
            }
            let right = "GET /callback?code=c%20d&state=right HTTP/1.1\r\nHost: x\r\n\r\n";
            assert_eq!(request(&callback, right).await, "HTTP/1.1 200 OK");
        };
        let (target, ()) = tokio::join!(callback.wait("right"), asking);
        assert_eq!(
            target,
            format!("{}?code=c%20d&state=right", callback.address())
        );
    }

    #[tokio::test]
    async fn a_port_in_use_is_reported() {
        let first = Callback::listen(0).await.unwrap();
        let port = first.listener.local_addr().unwrap().port();
        let failure = Callback::listen(port).await.err().unwrap();
        assert_eq!(failure.code, "callback_port");
    }
}
