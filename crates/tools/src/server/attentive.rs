//! An HTTP client that detects when the server has dropped the session: otherwise unsolicited messages
//! of the server, such as changes of resources, would stop silently.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::stream::BoxStream;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::authorized::AuthorizedClient;
use super::capped::{Fault, Headers};
use super::watch::Watch;

/// The HTTP client of a connection. Clones belong to the same connection.
#[derive(Clone)]
pub(super) struct SessionWatchClient {
    client: AuthorizedClient,
    watch: Arc<Watch>,
    /// Whether the connection was opened before: another `initialize` means a new session.
    is_open: Arc<AtomicBool>,
    /// Whether the server has a stream for unsolicited messages; some do not.
    has_stream: Arc<AtomicBool>,
}

impl SessionWatchClient {
    pub(super) fn new(client: AuthorizedClient, watch: Arc<Watch>) -> Self {
        Self {
            client,
            watch,
            is_open: Arc::default(),
            has_stream: Arc::default(),
        }
    }
}

impl StreamableHttpClient for SessionWatchClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let opens = opens_session(&message);
        let client = &self.client;
        let posted = client.post_message(uri, message, session, token, headers);
        let answer = posted.await?;
        if opens && self.is_open.swap(true, Ordering::Relaxed) {
            self.watch.session_renewed.notify_one();
        }
        Ok(answer)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        let client = &self.client;
        client.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let client = &self.client;
        let stream = client.get_stream(uri, session, last, token, headers).await;
        if stream.is_ok() {
            self.has_stream.store(true, Ordering::Relaxed);
        } else if self.has_stream.load(Ordering::Relaxed) {
            self.watch.stream_lost.notify_one();
        }
        stream
    }
}

fn opens_session(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::InitializeRequest(_))
        }
        JsonRpcMessage::Response(_)
        | JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Error(_) => false,
    }
}
