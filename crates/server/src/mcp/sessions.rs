//! Sessions of MCP clients over HTTP, for the revisions that have sessions.
//!
//! rmcp ends a session that has exchanged no message for some minutes, and with it the calls in flight. A run
//! may take hours without a message, so that limit is off. Instead, a session ends when its client has been
//! away for an hour, with no open stream and no message. The number of sessions is limited: when it is
//! reached, the session whose client has been away longest makes room.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use deft_service::tokens::TokenId;
use futures_util::{Stream, StreamExt};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a client may be away before its session ends.
const ABSENCE_TIMEOUT: Duration = Duration::from_hours(1);

/// Interval between two looks for clients that are away.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// Maximum number of sessions at once.
const MAX_SESSIONS: usize = 1_000;

/// All sessions.
pub(super) struct Sessions {
    local: LocalSessionManager,
    most: usize,
    clients: Arc<Mutex<HashMap<SessionId, ClientState>>>,
}

/// What is known about the client of a session.
struct ClientState {
    /// The token that began the session; `None` until it is known.
    owner: Option<TokenId>,
    open_streams: usize,
    /// When the last message arrived or the last stream was closed.
    seen: Instant,
}

/// A session request that failed.
#[derive(Debug)]
pub(super) enum SessionError {
    /// All sessions are in use.
    Full,
    /// The session is unknown or has ended.
    Local(LocalSessionManagerError),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(f, "all {MAX_SESSIONS} sessions are in use; try again later"),
            Self::Local(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionError {}

impl From<LocalSessionManagerError> for SessionError {
    fn from(error: LocalSessionManagerError) -> Self {
        Self::Local(error)
    }
}

/// An open stream of a session, until dropped.
struct StreamMark {
    clients: Arc<Mutex<HashMap<SessionId, ClientState>>>,
    id: SessionId,
}

impl Drop for StreamMark {
    fn drop(&mut self) {
        if let Some(client) = self.clients.lock().get_mut(&self.id) {
            client.open_streams -= 1;
            client.seen = Instant::now();
        }
    }
}

impl Sessions {
    /// Creates a table without sessions.
    pub(super) fn new() -> Self {
        Self::with_limit(MAX_SESSIONS)
    }

    fn with_limit(most: usize) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = None;
        Self {
            local,
            most,
            clients: Arc::default(),
        }
    }

    /// Ends sessions whose clients are away, until `stop` is cancelled.
    pub(super) async fn sweep(&self, stop: CancellationToken) {
        let sweep = async {
            loop {
                tokio::time::sleep(SWEEP_INTERVAL).await;
                self.end_abandoned().await;
            }
        };
        tokio::select! {
            () = sweep => {}
            () = stop.cancelled() => {}
        }
    }

    /// Whether requests with this token may use a session. Unknown sessions are refused later.
    pub(super) fn may_use(&self, id: &str, token: &TokenId) -> bool {
        let clients = self.clients.lock();
        let owner = clients.get(id).and_then(|client| client.owner.as_ref());
        owner.is_none_or(|owner| owner == token)
    }

    /// Notes the token that began a session.
    pub(super) fn set_owner(&self, id: &str, token: &TokenId) {
        if let Some(client) = self.clients.lock().get_mut(id) {
            client.owner.get_or_insert_with(|| token.clone());
        }
    }

    async fn end_abandoned(&self) {
        let abandoned: Vec<SessionId> = {
            let clients = self.clients.lock();
            let away = clients.iter().filter(|(_, client)| client.is_away());
            away.map(|(id, _)| id.clone()).collect()
        };
        for id in abandoned {
            tracing::debug!(session = %id, "ending the session of a client that is away");
            self.end(&id).await;
        }
    }

    async fn end(&self, id: &SessionId) {
        // Fails only if the session ends at the same time.
        drop(self.close_session(id).await);
    }

    /// Ends the session whose client has been away longest, if all sessions are taken.
    async fn make_room(&self) -> Result<(), SessionError> {
        let longest = {
            let clients = self.clients.lock();
            if clients.len() < self.most {
                return Ok(());
            }
            let idle = clients
                .iter()
                .filter(|(_, client)| client.open_streams == 0);
            idle.min_by_key(|(_, client)| client.seen)
                .map(|(id, _)| id.clone())
        };
        let longest = longest.ok_or(SessionError::Full)?;
        self.end(&longest).await;
        Ok(())
    }

    fn note_message(&self, id: &SessionId) {
        if let Some(client) = self.clients.lock().get_mut(id) {
            client.seen = Instant::now();
        }
    }

    fn mark_stream(&self, id: &SessionId) -> Option<StreamMark> {
        let mut clients = self.clients.lock();
        clients.get_mut(id)?.open_streams += 1;
        Some(StreamMark {
            clients: Arc::clone(&self.clients),
            id: id.clone(),
        })
    }
}

impl ClientState {
    fn is_away(&self) -> bool {
        self.open_streams == 0 && self.seen.elapsed() >= ABSENCE_TIMEOUT
    }
}

/// Keeps the mark of a stream as long as the stream.
fn with_mark<S>(
    stream: S,
    mark: Option<StreamMark>,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static
where
    S: Stream<Item = ServerSseMessage> + Send + Sync + 'static,
{
    stream.map(move |message| {
        let _kept = &mark;
        message
    })
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        self.make_room().await?;
        let (id, transport) = self.local.create_session().await?;
        let client = ClientState {
            owner: None,
            open_streams: 0,
            seen: Instant::now(),
        };
        self.clients.lock().insert(id.clone(), client);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.clients.lock().remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let mark = self.mark_stream(id);
        Ok(with_mark(
            self.local.create_stream(id, message).await?,
            mark,
        ))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        self.note_message(id);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let mark = self.mark_stream(id);
        Ok(with_mark(
            self.local.create_standalone_stream(id).await?,
            mark,
        ))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let mark = self.mark_stream(id);
        Ok(with_mark(self.local.resume(id, last_event_id).await?, mark))
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::{Request, Response};
    use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
    use rmcp::service::RequestContext;
    use rmcp::transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService,
    };
    use rmcp::{ErrorData, RoleServer, ServerHandler};
    use serde_json::{Value, json};

    use super::*;

    /// A server whose only tool takes two hours.
    #[derive(Clone)]
    struct SlowServer;

    impl ServerHandler for SlowServer {
        async fn call_tool(
            &self,
            _: CallToolRequestParams,
            _: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            tokio::time::sleep(Duration::from_hours(2)).await;
            Ok(CallToolResult::success(vec![ContentBlock::text("late")]).into())
        }
    }

    struct World {
        sessions: Arc<Sessions>,
        service: StreamableHttpService<SlowServer, Sessions>,
    }

    impl World {
        fn new(most: usize) -> Self {
            let sessions = Arc::new(Sessions::with_limit(most));
            let config = StreamableHttpServerConfig::default().with_sse_keep_alive(None);
            let service =
                StreamableHttpService::new(|| Ok(SlowServer), Arc::clone(&sessions), config);
            Self { sessions, service }
        }

        async fn send(&self, session: Option<&str>, message: Value) -> Response<Body> {
            let mut request = Request::post("http://localhost/mcp")
                .header("accept", "application/json, text/event-stream")
                .header("content-type", "application/json")
                .header("host", "localhost");
            if let Some(session) = session {
                request = request.header("mcp-session-id", session);
            }
            let request = request.body(Body::from(message.to_string())).unwrap();
            self.service.handle(request).await.map(Body::new)
        }

        /// Starts a session; `None` if it was refused.
        async fn start(&self) -> Option<String> {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            });
            let message = json!({
                "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params,
            });
            let reply = self.send(None, message).await;
            let id = reply.headers().get("mcp-session-id")?;
            let id = id.to_str().unwrap().to_owned();
            drop(to_bytes(reply.into_body(), usize::MAX).await.unwrap());
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            assert_eq!(self.send(Some(&id), ready).await.status(), 202);
            Some(id)
        }

        async fn call(&self, session: &str) -> Response<Body> {
            let message = json!({
                "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "slow" },
            });
            self.send(Some(session), message).await
        }

        async fn has(&self, session: &str) -> bool {
            self.sessions.has_session(&session.into()).await.unwrap()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_an_hour_after_its_last_call() {
        let world = World::new(MAX_SESSIONS);
        let stop = CancellationToken::new();
        let (swept, until) = (Arc::clone(&world.sessions), stop.clone());
        let sweep = tokio::spawn(async move { swept.sweep(until).await });
        let id = world.start().await.unwrap();
        let reply = world.call(&id).await;
        let read = to_bytes(reply.into_body(), usize::MAX);
        let text = tokio::time::timeout(3 * ABSENCE_TIMEOUT, read)
            .await
            .unwrap()
            .unwrap();
        let text = String::from_utf8(text.to_vec()).unwrap();
        assert!(text.contains("late"), "{text}");
        tokio::time::sleep(ABSENCE_TIMEOUT.saturating_sub(SWEEP_INTERVAL)).await;
        assert!(world.has(&id).await);
        tokio::time::sleep(3 * SWEEP_INTERVAL).await;
        assert!(!world.has(&id).await);
        assert!(world.sessions.clients.lock().is_empty());
        stop.cancel();
        sweep.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_absent_client_is_removed_first() {
        let world = World::new(2);
        let first = world.start().await.unwrap();
        let call = world.call(&first).await;
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let second = world.start().await.unwrap();
        let third = world.start().await.unwrap();
        assert!(world.has(&first).await && world.has(&third).await);
        assert!(!world.has(&second).await, "the first has a call in flight");
        let other = world.call(&third).await;
        assert_eq!(world.start().await, None);
        drop((call, other));
        assert!(world.start().await.is_some());
    }
}
