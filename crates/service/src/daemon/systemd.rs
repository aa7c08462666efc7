//! Reports the state of the daemon to systemd (`sd_notify`): a datagram to the socket in `NOTIFY_SOCKET`.

/// Reports a state to systemd, if deft runs under it.
#[cfg(target_os = "linux")]
pub(super) fn tell(state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let Ok(name) = deft_config::env::text(deft_config::env::NOTIFY_SOCKET) else {
        return;
    };
    let address = match name.strip_prefix('@') {
        Some(hidden) => SocketAddr::from_abstract_name(hidden),
        None => SocketAddr::from_pathname(&name),
    };
    let sent =
        UnixDatagram::unbound().and_then(|socket| socket.send_to_addr(state.as_bytes(), &address?));
    if let Err(error) = sent {
        tracing::warn!(%error, "cannot notify the service manager");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn tell(_: &str) {}
