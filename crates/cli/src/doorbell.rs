//! The doorbell of a daemon: a local socket that says "there is something to do".
//!
//! It carries no news; whoever hears it looks into the store. Nobody at home is no failure: the
//! daemon also glances at the store by itself.

use std::path::{Path, PathBuf};

/// Where the socket of a home is.
fn place(home: &Path) -> PathBuf {
    home.join("data").join("doorbell")
}

/// Rings, if anybody is at home.
#[cfg(unix)]
pub(crate) fn ring(home: &Path) {
    use std::os::unix::net::UnixDatagram;
    let Ok(socket) = UnixDatagram::unbound() else {
        return;
    };
    drop(socket.set_nonblocking(true));
    drop(socket.send_to(b"!", place(home)));
}

#[cfg(not(unix))]
pub(crate) fn ring(_: &Path) {}

/// Calls `heard` for every ring, until it is dropped. A socket that cannot be made is none.
#[cfg(unix)]
pub(crate) async fn listen(home: &Path, heard: impl Fn()) {
    let place = place(home);
    // One that was left by a process that is gone; the lock of the home says that it is.
    drop(std::fs::remove_file(&place));
    let socket = match tokio::net::UnixDatagram::bind(&place) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::warn!(%error, "there is no doorbell; others are noticed within a second");
            return std::future::pending().await;
        }
    };
    let mut any = [0; 16];
    loop {
        match socket.recv(&mut any).await {
            Ok(_) => heard(),
            Err(error) => {
                tracing::warn!(%error, "the doorbell is broken");
                return std::future::pending().await;
            }
        }
    }
}

#[cfg(not(unix))]
pub(crate) async fn listen(_: &Path, _: impl Fn()) {
    std::future::pending().await
}
