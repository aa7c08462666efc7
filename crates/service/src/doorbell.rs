//! The doorbell of a daemon: a local socket that says "there is something to do".
//!
//! It carries no news; the daemon looks into the store, or asks the servers. A home without a daemon is
//! no failure: a daemon also glances at the store by itself.

use std::path::{Path, PathBuf};

/// Where the socket of a home is.
fn place(home: &Path) -> PathBuf {
    home.join("data").join("doorbell")
}

/// Where a daemon is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// Into the store: there is work.
    Work,
    /// At the servers: their tools may have changed.
    Tools,
    /// At the configuration, which was changed.
    Settings,
}

impl Ring {
    const fn byte(self) -> u8 {
        match self {
            Self::Work => b'!',
            Self::Tools => b't',
            Self::Settings => b's',
        }
    }

    fn from_byte(byte: u8) -> Self {
        let known = [Self::Tools, Self::Settings].into_iter();
        let mut known = known.filter(|ring| ring.byte() == byte);
        known.next().unwrap_or(Self::Work)
    }
}

/// Rings, if a daemon is up.
#[cfg(unix)]
pub fn ring(home: &Path, ring: Ring) {
    use std::os::unix::net::UnixDatagram;
    let Ok(socket) = UnixDatagram::unbound() else {
        return;
    };
    drop(socket.set_nonblocking(true));
    drop(socket.send_to(&[ring.byte()], place(home)));
}

#[cfg(not(unix))]
pub fn ring(_: &Path, _: Ring) {}

/// Calls `heard` for every ring, until it is dropped. A socket that cannot be made is none.
#[cfg(unix)]
pub async fn listen(home: &Path, heard: impl Fn(Ring)) {
    let place = place(home);
    // One that was left by a process that is gone; the lock of the home says that it is.
    drop(std::fs::remove_file(&place));
    let socket = match tokio::net::UnixDatagram::bind(&place) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::warn!(%error, "the doorbell cannot be opened; changes of other processes are noticed within a second");
            return std::future::pending().await;
        }
    };
    let mut bytes = [0; 16];
    loop {
        match socket.recv(&mut bytes).await {
            Ok(_) => heard(Ring::from_byte(bytes[0])),
            Err(error) => {
                tracing::warn!(%error, "the doorbell is broken");
                return std::future::pending().await;
            }
        }
    }
}

#[cfg(not(unix))]
pub async fn listen(_: &Path, _: impl Fn(Ring)) {
    std::future::pending().await
}
