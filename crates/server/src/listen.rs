//! The listener: binds the address, limits the number of connections, and applies timeouts.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use deft_service::tls::TlsReloader;
use deft_wire::problem::PROBLEM_TYPE;
use deft_wire::{Done, Failure};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig as TlsConfig;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::add_extension::AddExtension;

use crate::connection_permits::{BusyBody, ConnectionPermit, ConnectionPermits};
use crate::context::{Peer, Server};
use crate::router;
use crate::stall::StallGuard;

/// Maximum size of a request head, and size of the write buffer, in bytes.
const BUFFER: usize = 64 * 1024;

/// Maximum number of connections waiting to be accepted. Clients of a larger burst are delayed by a second.
const BACKLOG: u32 = 1024;

/// Time after which a client that accepts no data is disconnected.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Time that requests in flight get to finish once the daemon stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause after a failed `accept`.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// First byte of a TLS handshake.
const HANDSHAKE: u8 = 22;

/// Response to an unencrypted request on an encrypted listener.
const NOT_ENCRYPTED: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n\
    Content-Length: 37\r\n\r\nthis address is encrypted: use https\n";

/// Binds an address. An address that other machines can reach requires encrypted connections.
pub(crate) fn bind(listen: &str, is_encrypted: bool) -> Done<(TcpListener, SocketAddr)> {
    let found = listen.to_socket_addrs();
    let found = found.map(Iterator::collect::<Vec<_>>).map_err(|problem| {
        let message = format!("`server.listen`: cannot find `{listen}`: {problem}");
        Failure::input("listen", message).hint("use an address such as `127.0.0.1:9876`")
    })?;
    let is_local = found.iter().all(|address| address.ip().is_loopback());
    if !is_local && !is_encrypted {
        let message = format!(
            "`server.listen` is `{listen}`, which other machines can reach, but no certificate is set"
        );
        let hint = "set `server.tls_cert` and `server.tls_key`, or listen on `127.0.0.1:9876`";
        return Err(Failure::input("not_loopback", message).hint(hint));
    }
    let bound = found.into_iter().map(open).reduce(Result::or);
    let listener = bound.unwrap_or_else(|| Err(ErrorKind::NotFound.into()));
    let listener = listener.map_err(|problem| bind_failure(listen, &problem))?;
    let address = listener.local_addr();
    let address = address.map_err(|problem| bind_failure(listen, &problem))?;
    Ok((listener, address))
}

fn open(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn bind_failure(listen: &str, problem: &std::io::Error) -> Failure {
    if problem.kind() == ErrorKind::AddrInUse {
        let message = format!("another program listens on `{listen}`");
        let hint = "stop it and start `deft up` again, or choose another port: `deft config set server.listen 127.0.0.1:9877`";
        return Failure::input("port_taken", message).hint(hint);
    }
    let message = format!("cannot listen on `{listen}`: {problem}");
    Failure::input("listen", message).hint("use an address such as `127.0.0.1:9876`")
}

/// Serves connections; shared by all of them.
struct ConnectionServer {
    router: Router,
    stop: CancellationToken,
    drained: CancellationToken,
    request_timeout: Duration,
}

/// Serves connections until the daemon has drained. While it drains, the guard lets only health checks
/// through.
pub(crate) async fn serve(listener: TcpListener, tls: Option<TlsReloader>, server: &Arc<Server>) {
    let permits = ConnectionPermits::new(server.limits.connections);
    let full = full_reply(server.limits.connections);
    let answerer = Arc::new(ConnectionServer {
        router: router::build(server),
        stop: server.stop.clone(),
        drained: server.drained.clone(),
        request_timeout: server.limits.request_timeout,
    });
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = server.drained.cancelled() => break,
        };
        let Ok((stream, peer)) = accepted else {
            // Usually the process has too many open files; the next try may work.
            tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            continue;
        };
        let Some(permit) = permits.take() else {
            // Best effort: a full socket buffer or a client that expects TLS gets no reply.
            if tls.is_none() {
                drop(stream.try_write(full.as_bytes()));
            }
            continue;
        };
        let (answerer, tls) = (
            Arc::clone(&answerer),
            tls.as_ref().map(TlsReloader::current),
        );
        connections.spawn(async move {
            let permit = Arc::new(permit);
            tokio::select! {
                () = answerer.greet(stream, Peer(peer), tls, &permit) => {}
                () = permit.wait_until_lost() => tracing::debug!("closed an idle connection to make room"),
            }
        });
    }
    drop((listener, answerer));
    connections.close();
    connections.wait().await;
}

/// Builds the response for a client when all connections are busy.
fn full_reply(most: usize) -> String {
    let message = format!("all {most} connections are busy");
    let failure = Failure::input("too_many_connections", message)
        .hint("try again in a second; `server.max_connections` allows more");
    let body = serde_json::to_string(&failure.problem(None)).unwrap_or_default();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
         Content-Type: {PROBLEM_TYPE}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

impl ConnectionServer {
    /// Serves one connection, with TLS if a certificate is configured.
    async fn greet(
        &self,
        stream: TcpStream,
        peer: Peer,
        tls: Option<Arc<TlsConfig>>,
        permit: &Arc<ConnectionPermit>,
    ) {
        // Sends small responses without delay. A failure only costs time.
        drop(stream.set_nodelay(true));
        let Some(tls) = tls else {
            return self.answer(stream, peer, permit).await;
        };
        match tokio::time::timeout(self.request_timeout, shake_hands(stream, tls)).await {
            Ok(Ok(stream)) => self.answer(stream, peer, permit).await,
            Ok(Err(problem)) => tracing::debug!(%problem, "a connection was not encrypted"),
            Err(_) => tracing::debug!("a connection was not encrypted in time"),
        }
    }

    /// Serves the requests on a connection. When the daemon stops, the request in flight is completed, unless
    /// it takes longer than `SHUTDOWN_TIMEOUT`.
    async fn answer<S>(&self, stream: S, peer: Peer, permit: &Arc<ConnectionPermit>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let router = AddExtension::new(self.router.clone(), peer);
        let router = TowerToHyperService::new(router);
        let permit = Arc::clone(permit);
        let service = service_fn(move |request| {
            let busy = permit.begin();
            let answered = router.call(request);
            async move {
                let response = answered.await?;
                Ok::<_, Infallible>(response.map(|body| BusyBody::new(body, busy)))
            }
        });
        let stream = TokioIo::new(StallGuard::new(stream, STALL_TIMEOUT));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.request_timeout)
            .max_buf_size(BUFFER)
            .serve_connection(stream, service)
            .with_upgrades();
        let mut connection = pin!(connection);
        // A connection opened while the daemon drains carries health checks and stays open until the drain
        // ends.
        let end = if self.stop.is_cancelled() {
            &self.drained
        } else {
            &self.stop
        };
        let ended = tokio::select! {
            ended = connection.as_mut() => Some(ended),
            () = end.cancelled() => None,
        };
        let ended = match ended {
            Some(ended) => ended,
            None => {
                connection.as_mut().graceful_shutdown();
                // Requests that take longer are aborted.
                tokio::time::timeout(SHUTDOWN_TIMEOUT, connection)
                    .await
                    .unwrap_or(Ok(()))
            }
        };
        if let Err(problem) = ended {
            tracing::debug!(%problem, "a connection ended early");
        }
    }
}

/// Performs the TLS handshake. A client that does not speak TLS gets an explanation as plain HTTP.
async fn shake_hands(stream: TcpStream, tls: Arc<TlsConfig>) -> io::Result<TlsStream<TcpStream>> {
    let mut first = [0];
    let read = stream.peek(&mut first).await?;
    if read == 1 && first != [HANDSHAKE] {
        drop(stream.try_write(NOT_ENCRYPTED));
        return Err(io::Error::other("the client does not speak TLS"));
    }
    TlsAcceptor::from(tls).accept(stream).await
}
