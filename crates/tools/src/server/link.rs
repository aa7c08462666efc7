//! A live connection to a server: opens it in the right protocol era and sends requests.
//!
//! Not here: when to connect (`phase.rs`), timeouts of calls and the effect of failures on the server
//! (`call.rs`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deft_model::{Failure, Object};
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientCapabilities,
    ClientConfig, ClientRequest, Implementation, MetaObject, ProtocolVersion, RequestId,
    RequestMetaObject, ServerPeerInfo,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions, RequestHandle,
    RunningService, ServiceError, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::desk::ClientChannel;
use super::guard::Guard;
use super::resolved::ResolvedOptions;
use super::stdio::Process;
use super::watch::{SentFlag, Watch};
use super::{Server, fault, http};
use crate::call::CallMark;
use crate::catalog::Era;
use crate::options::ServerAddress;

/// The metadata key for the idempotency key of a call.
const KEY: &str = "deft/idempotencyKey";

/// How long to wait for the remaining stderr output of a dead process.
const STDERR_DRAIN: Duration = Duration::from_millis(50);

pub(super) type Service = RunningService<RoleClient, Client>;

/// A connection to a server, open or closed.
pub(super) struct Link {
    pub(super) peer: Peer<RoleClient>,
    pub(super) watch: Arc<Watch>,
    /// Closes the connection.
    pub(super) close: CancellationToken,
    /// Cancelled when the connection has ended and its process has exited.
    pub(super) ended: CancellationToken,
    /// Whether deft ended the connection.
    pub(super) wanted: AtomicBool,
}

impl Link {
    /// Connects, in the known era or else in whichever works.
    pub(super) async fn open(
        server: &Server,
        known: Option<Era>,
        given: &ResolvedOptions,
        watch: Arc<Watch>,
    ) -> Result<(Self, Service), Failure> {
        let own = ConnectionOwner::default();
        let first = attempt(server, known, given, watch.clone(), &own).await?;
        let error = match first {
            Ok(opened) => return Ok(opened),
            Err(error) => error,
        };
        // The era was wrong, or a modern server was slow to answer the probe.
        let second = match (known, &error) {
            (Some(_), _) => None,
            // The server listed its protocol versions, and none is modern.
            (None, ClientInitializeError::NoCompatibleProtocolVersion { .. }) => Some(Era::Legacy),
            (None, _) => Some(Era::Modern),
        };
        if !is_about_era(&error) {
            // The stderr output of a process that has just died may not be read yet.
            tokio::time::sleep(STDERR_DRAIN).await;
            return Err(fault::classify_start(
                &server.name,
                &error,
                &watch,
                &given.redaction,
            ));
        }
        let again = attempt(server, second, given, Arc::default(), &own).await?;
        again.map_err(|_| fault::classify_start(&server.name, &error, &watch, &given.redaction))
    }

    /// Opens a further connection on behalf of clients, to a server whose era is known.
    pub(super) async fn open_line(
        server: &Server,
        era: Era,
        given: &ResolvedOptions,
        watch: Arc<Watch>,
        party: &ConnectionOwner,
    ) -> Result<(Self, Service), Failure> {
        let opened = attempt(server, Some(era), given, watch.clone(), party).await?;
        opened
            .map_err(|error| fault::classify_start(&server.name, &error, &watch, &given.redaction))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.watch.lost.is_cancelled() || self.peer.is_transport_closed()
    }

    /// Returns the server's description of itself.
    pub(super) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
    }

    /// Closes the connection on purpose.
    pub(super) fn end(&self) {
        self.wanted.store(true, Ordering::SeqCst);
        self.close.cancel();
    }

    /// Ends a connection that has become useless. A new one is opened later.
    pub(super) fn lose(&self, reason: &str) {
        self.watch.end(reason);
        self.watch.lost.cancel();
        self.close.cancel();
    }

    /// Sends a call without waiting for its answer.
    pub(super) async fn send(
        &self,
        tool: &str,
        arguments: Object,
        mark: CallMark<'_>,
        sent: SentFlag,
    ) -> Result<PendingCall<'_>, ServiceError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(sent);
        if let Some(meta) = meta(mark) {
            request.extensions.insert(RequestMetaObject(meta));
        }
        let request = ClientRequest::CallToolRequest(request);
        self.send_any(request, None).await
    }

    /// Sends any request without waiting for its answer.
    pub(super) async fn send_any(
        &self,
        request: ClientRequest,
        meta: Option<RequestMetaObject>,
    ) -> Result<PendingCall<'_>, ServiceError> {
        let options = PeerRequestOptions::no_options();
        let options = match meta {
            Some(meta) => options.with_meta(meta),
            None => options,
        };
        let handle = self.peer.send_request_with_option(request, options).await?;
        Ok(PendingCall {
            peer: &self.peer,
            id: Some(handle.id.clone()),
            handle,
        })
    }
}

/// Returns the metadata with the idempotency key and trace context of a call. The protocol reserves the
/// names of the trace fields.
fn meta(mark: CallMark<'_>) -> Option<MetaObject> {
    let mut meta = MetaObject::new();
    if !mark.key.is_empty() {
        meta.0.insert(KEY.to_owned(), mark.key.into());
    }
    if let Some(trace) = mark.trace {
        let parent = trace.parent();
        meta.0.insert("traceparent".to_owned(), parent.into());
        let state = trace.state.clone();
        let state = state.map(|state| ("tracestate".to_owned(), state.into()));
        meta.0.extend(state);
    }
    (!meta.0.is_empty()).then_some(meta)
}

/// A call in flight. If it is dropped before it is answered, the server gets a cancellation.
pub(super) struct PendingCall<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
    pub(super) handle: RequestHandle<RoleClient>,
}

impl PendingCall<'_> {
    /// Marks the call as over: its answer has arrived, or cannot arrive any more.
    pub(super) fn mark_ended(mut self) {
        self.id = None;
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("the caller cancelled the request".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            // A closed connection needs no cancellation.
            drop(peer.notify_cancelled(params).await);
        });
    }
}

/// The party on whose behalf a connection is made: deft itself, or clients of deft.
#[derive(Default)]
pub(super) struct ConnectionOwner {
    /// The client capabilities to declare to the server.
    pub(super) capabilities: ClientCapabilities,
    /// Receives the server's requests; `None` if all are declined.
    pub(super) desk: Option<Arc<ClientChannel>>,
}

type OpenResult = Result<(Link, Service), ClientInitializeError>;

/// Tries to connect once. The outer failure is one that another era would not fix.
async fn attempt(
    server: &Server,
    era: Option<Era>,
    given: &ResolvedOptions,
    watch: Arc<Watch>,
    party: &ConnectionOwner,
) -> Result<OpenResult, Failure> {
    match server.options.address() {
        Ok(ServerAddress::Command(program)) => {
            let process = Process::start(server, program, given, watch.clone())?;
            Ok(serve(process, &server.name, era, watch, party).await)
        }
        Ok(ServerAddress::Url(url)) => {
            let transport = http::transport(server, url, given, watch.clone())?;
            Ok(serve(transport, &server.name, era, watch, party).await)
        }
        Err(problem) => Err(fault::unusable(&server.name, problem)),
    }
}

async fn serve<T>(
    transport: T,
    server: &str,
    era: Option<Era>,
    watch: Arc<Watch>,
    party: &ConnectionOwner,
) -> OpenResult
where
    T: Transport<RoleClient> + Sync + 'static,
{
    let close = CancellationToken::new();
    let client = Client::new(identity(party.capabilities.clone()), party.desk.clone());
    let guard = Guard::new(transport, server, watch.clone(), era.is_none());
    let guard = guard.with_desk(party.desk.clone());
    let starting = serve_client_with_lifecycle_and_ct(client, guard, mode(era), close.clone());
    let service = Box::pin(starting).await?;
    let link = Link {
        peer: service.peer().clone(),
        watch,
        close,
        ended: CancellationToken::new(),
        wanted: AtomicBool::new(false),
    };
    Ok((link, service))
}

/// Returns the handshake for an era. Probing a silent server costs time only once: the outcome is
/// remembered, and stored with the catalog.
fn mode(era: Option<Era>) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match era {
        Some(Era::Legacy) => ClientLifecycleMode::Initialize,
        Some(Era::Modern) => ClientLifecycleMode::Discover { preferred_versions },
        None => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    }
}

/// Returns deft's client description. For itself deft offers no sampling, no elicitation and no roots,
/// because nothing behind it could answer; for a client it offers what that client offers.
fn identity(capabilities: ClientCapabilities) -> ClientConfig {
    let implementation = Implementation::new("deft", env!("CARGO_PKG_VERSION"));
    let mut config = ClientConfig::new(capabilities, implementation);
    config.protocol_version = ProtocolVersion::V_2025_11_25;
    config
}

/// Whether a failed start might succeed in the other era.
fn is_about_era(error: &ClientInitializeError) -> bool {
    matches!(
        error,
        ClientInitializeError::JsonRpcError(_)
            | ClientInitializeError::ExpectedInitResponse(_)
            | ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::NoCompatibleProtocolVersion { .. }
            | ClientInitializeError::ConflictInitResponseId(..)
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
            | ClientInitializeError::LegacyFallbackFailed { .. }
    )
}
