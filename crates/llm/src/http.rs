//! One try over HTTP: the only file of this crate with a socket.
//!
//! Not here: timeouts, retries, and the meaning of the bytes.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deft_model::{Failure, FailureClass, ModelReply, ModelRequest};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};
use tokio::time::timeout;

use crate::address::{address, join};
use crate::exchange::{self, MAX_BYTES, ReplyReader};
use crate::head::Head;
use crate::provider::{Pong, Provider, Reply};
use crate::provider_failure::ProviderFailure;
use crate::{ModelOptions, ReplyListener};

/// One client for all models. It is created for the first request, because reading the certificates of the
/// host takes longer than most commands.
pub(crate) type Shared = Arc<OnceLock<Result<Client, String>>>;

/// How long to wait for the end of the connection after the end of a response.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(50);

/// The hint if no server answers.
const UNREACHABLE_HINT: &str = "is the model server running, and is `base_url` right?";

/// The hint if the connection breaks.
const BROKEN_CONNECTION_HINT: &str = "is the model server still running? its log may show why it closed the \
     connection";

/// A model behind HTTP.
pub(crate) struct Http {
    pub(crate) options: ModelOptions,
    pub(crate) client: Shared,
}

impl Provider for Http {
    fn reply<'a>(
        &'a self,
        request: &'a ModelRequest,
        listener: Option<ReplyListener<'a>>,
    ) -> Reply<'a> {
        Box::pin(self.ask(request, listener))
    }

    fn ping(&self) -> Pong<'_> {
        Box::pin(self.ping_provider())
    }
}

impl Http {
    async fn ask(
        &self,
        request: &ModelRequest,
        listener: Option<ReplyListener<'_>>,
    ) -> Result<ModelReply, ProviderFailure> {
        let wire = exchange::wire(self.options.provider);
        let sent = exchange::request(&self.options, request, listener.is_some());
        let url = address(wire, &self.options, &sent)?;
        let host = host(&url);
        let client = self.client()?;
        let call = with_headers(client.post(url), &sent.headers)?.json(&sent.body);
        let mut response = call
            .send()
            .await
            .map_err(|error| transport(&error, &host))?;
        let head = head(&response);
        let mut reader = ReplyReader::new(&self.options, request, head, listener);
        loop {
            match response.chunk().await {
                Ok(Some(bytes)) => reader.take(&bytes)?,
                Ok(None) => return reader.end(),
                // The response may have been complete before the connection broke.
                Err(error) => return reader.end().map_err(|_| transport(&error, &host)),
            }
            if reader.has_ended() {
                // The response is complete, although some servers keep the connection open. A connection that
                // the server ends properly can be reused.
                timeout(CLOSE_TIMEOUT, response.chunk()).await.ok();
                return reader.end();
            }
        }
    }

    async fn ping_provider(&self) -> Result<(), ProviderFailure> {
        let mut last = Ok(());
        for path in exchange::wire(self.options.provider).pings() {
            let (head, body) = self.get(path).await?;
            last = exchange::verdict(&self.options, &head, &body);
            if !matches!(head.status, 404 | 405) {
                break;
            }
        }
        last
    }

    /// Returns the provider's list of models, as received.
    pub(crate) async fn listing(&self) -> Result<Vec<u8>, ProviderFailure> {
        let pings = exchange::wire(self.options.provider).pings();
        let (head, body) = self.get(pings.first().copied().unwrap_or_default()).await?;
        exchange::verdict(&self.options, &head, &body).map(|()| body)
    }

    async fn get(&self, path: &[&str]) -> Result<(Head, Vec<u8>), ProviderFailure> {
        let wire = exchange::wire(self.options.provider);
        let headers = wire.headers(self.options.key());
        let url = join(wire, &self.options, path)?;
        let host = host(&url);
        let call = with_headers(self.client()?.get(url), &headers)?;
        let mut response = call
            .send()
            .await
            .map_err(|error| transport(&error, &host))?;
        let head = head(&response);
        let mut body = Vec::new();
        while let Some(bytes) = response
            .chunk()
            .await
            .map_err(|error| transport(&error, &host))?
        {
            body.extend_from_slice(&bytes);
            if body.len() > MAX_BYTES {
                return Err(ProviderFailure::too_large(MAX_BYTES));
            }
        }
        Ok((head, body))
    }

    fn client(&self) -> Result<&Client, ProviderFailure> {
        let made = self.client.get_or_init(|| {
            deft_http::client()
                .build()
                .map_err(|error| error.without_url().to_string())
        });
        made.as_ref().map_err(|error| {
            ProviderFailure::permanent(
                FailureClass::Other,
                format!("the HTTP client could not be created: {error}"),
            )
        })
    }
}

fn with_headers(
    mut call: RequestBuilder,
    headers: &[(&'static str, String)],
) -> Result<RequestBuilder, Failure> {
    for (name, value) in headers {
        // The value may be a key, so it is kept out of logs.
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            Failure::new(
                FailureClass::Auth,
                "the key contains characters that are invalid in a header",
            )
            .hint("check `api_key` of the model")
        })?;
        value.set_sensitive(true);
        call = call.header(HeaderName::from_static(name), value);
    }
    Ok(call)
}

fn head(response: &Response) -> Head {
    let kind = text(response.headers(), CONTENT_TYPE.as_str());
    Head {
        status: response.status().as_u16(),
        kind: kind.map(str::to_lowercase),
        after: deft_http::retry_after(|name| text(response.headers(), name)),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns host and port, the only parts of an address that are ever printed.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn transport(error: &reqwest::Error, host: &str) -> ProviderFailure {
    if error.is_timeout() {
        let message = format!("connecting to `{host}` timed out");
        return ProviderFailure::transient(FailureClass::Timeout, message).hint(UNREACHABLE_HINT);
    }
    if error.is_connect() {
        let message = format!("`{host}` cannot be reached: {}", cause(error));
        return ProviderFailure::transient(FailureClass::Network, message).hint(UNREACHABLE_HINT);
    }
    let message = format!("lost the connection to `{host}`: {}", cause(error));
    ProviderFailure::transient(FailureClass::Network, message).hint(BROKEN_CONNECTION_HINT)
}

/// Returns the innermost cause, which is the only informative one.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if std::ptr::eq(cause, std::ptr::from_ref(error)) {
        return "no reason is given".to_owned();
    }
    cause.to_string().to_lowercase()
}
