//! The listener: where it may listen, how many connections it takes, how long it waits for them.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener as StdListener, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use deft_wire::{Done, Failure};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::add_extension::AddExtension;

use crate::context::{Peer, Server};
use crate::router;

/// How long a client may take to send the head of a request.
const HEADERS: Duration = Duration::from_secs(10);

/// The largest head of a request, and how much of a reply is buffered.
const BUFFER: usize = 64 * 1024;

/// The most connections at once.
const CONNECTIONS: usize = 512;

/// How long requests that are under way may take once the daemon stops.
const GRACE: Duration = Duration::from_secs(2);

/// How long to wait when the host has no socket to give.
const NO_SOCKET: Duration = Duration::from_millis(100);

/// What a client gets for which there is no place.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Takes an address of this machine.
pub(crate) fn bind(listen: &str) -> Done<(TcpListener, SocketAddr)> {
    let found = listen.to_socket_addrs();
    let found = found.map(Iterator::collect::<Vec<_>>).map_err(|problem| {
        let message = format!("`server.listen`: cannot find `{listen}`: {problem}");
        Failure::input("listen", message).hint("use an address such as `127.0.0.1:9876`")
    })?;
    if found.is_empty() || !found.iter().all(|address| address.ip().is_loopback()) {
        let message = format!(
            "`server.listen` is `{listen}`, which other machines can reach, and deft does not encrypt yet"
        );
        let hint =
            "listen on `127.0.0.1:9876`; other machines come in by a tunnel such as `ssh -L`";
        return Err(Failure::input("not_loopback", message).hint(hint));
    }
    let bound = found.iter().map(StdListener::bind).reduce(Result::or);
    let listener = bound.unwrap_or_else(|| Err(ErrorKind::NotFound.into()));
    let listener = listener.and_then(|listener| {
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    });
    let listener = listener.map_err(|problem| taken(listen, &problem))?;
    let address = listener.local_addr();
    let address = address.map_err(|problem| taken(listen, &problem))?;
    Ok((listener, address))
}

fn taken(listen: &str, problem: &std::io::Error) -> Failure {
    if problem.kind() == ErrorKind::AddrInUse {
        let message = format!("another program listens on `{listen}`");
        let hint = "stop it and start `deft up` again, or choose another port: `deft config set server.listen 127.0.0.1:9877`";
        return Failure::input("port_taken", message).hint(hint);
    }
    let message = format!("cannot listen on `{listen}`: {problem}");
    Failure::input("listen", message).hint("use an address such as `127.0.0.1:9876`")
}

/// Answers until the daemon stops.
pub(crate) async fn serve(listener: TcpListener, server: &Arc<Server>) {
    let stop = server.stop.clone();
    let router = router::build(server);
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Usually there are too many open files; the next try may work.
            tokio::time::sleep(NO_SOCKET).await;
            continue;
        };
        match Arc::clone(&places).try_acquire_owned() {
            Ok(place) => {
                let router = AddExtension::new(router.clone(), Peer(peer));
                let stop = stop.clone();
                connections.spawn(async move {
                    answer(stream, router, stop).await;
                    drop(place);
                });
            }
            // A socket that cannot take so few bytes gets nothing.
            Err(_) => drop(stream.try_write(FULL)),
        }
    }
    drop((listener, router));
    connections.close();
    connections.wait().await;
}

/// Serves one connection. A request that is under way when the daemon stops is answered, unless it takes long.
async fn answer(stream: TcpStream, router: AddExtension<Router, Peer>, stop: CancellationToken) {
    // Small replies are sent at once; where that cannot be set they are sent all the same.
    drop(stream.set_nodelay(true));
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stop.cancelled() => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            // What takes longer is cut off.
            tokio::time::timeout(GRACE, connection)
                .await
                .unwrap_or(Ok(()))
        }
    };
    if let Err(problem) = ended {
        tracing::debug!(%problem, "a connection ended early");
    }
}
