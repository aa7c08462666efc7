//! The doorbell of a daemon: a local socket by which other processes report that there is something to do.
//!
//! A ring carries only where to look; the daemon then reads the store or the configuration, or asks the
//! servers. Ringing without a daemon is not an error, and a daemon also polls the store.

use std::path::{Path, PathBuf};

/// Returns the path of the socket of `home`.
fn place(home: &Path) -> PathBuf {
    home.join("data").join("doorbell")
}

/// Where the daemon should look for changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// The store: there is work.
    Work,
    /// The servers: their tools may have changed.
    Tools,
    /// The configuration: it has changed.
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

/// Rings the doorbell of `home`. Does nothing if no daemon is running.
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

/// Calls `on_ring` for every ring, until the future is dropped. If the socket cannot be opened or breaks, logs
/// a warning and waits forever.
#[cfg(unix)]
pub async fn listen(home: &Path, on_ring: impl Fn(Ring)) {
    let place = place(home);
    // Remove the socket of an earlier daemon. That daemon has exited, because this process holds the lock of the
    // home.
    drop(std::fs::remove_file(&place));
    let socket = match tokio::net::UnixDatagram::bind(&place) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::warn!(%error, "cannot receive wake-ups from other processes; their changes are noticed within a second");
            return std::future::pending().await;
        }
    };
    let mut bytes = [0; 16];
    loop {
        match socket.recv(&mut bytes).await {
            Ok(_) => on_ring(Ring::from_byte(bytes[0])),
            Err(error) => {
                tracing::warn!(%error, "receiving wake-ups from other processes failed; their changes are noticed within a second");
                return std::future::pending().await;
            }
        }
    }
}

#[cfg(not(unix))]
pub async fn listen(_: &Path, _: impl Fn(Ring)) {
    std::future::pending().await
}
