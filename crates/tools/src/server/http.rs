//! The transport to a server at a URL, over streamable HTTP.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use deft_model::{Failure, FailureClass};
use http::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::Server;
use super::attentive::SessionWatchClient;
use super::authorized::AuthorizedClient;
use super::capped::CappedClient;
use super::resolved::ResolvedOptions;
use super::watch::Watch;

/// Room for the parts of a message around the reply itself, in bytes.
const ENVELOPE: usize = 64 * 1024;

/// Creates the transport to a server at a URL.
pub(super) fn transport(
    server: &Server,
    url: &str,
    given: &ResolvedOptions,
    watch: Arc<Watch>,
) -> Result<StreamableHttpClientTransport<SessionWatchClient>, Failure> {
    let (name, options) = (&server.name, &server.options);
    let most = server.max_reply_bytes + ENVELOPE;
    let client = deft_http::client()
        .connect_timeout(Duration::from_secs(10).min(options.startup_timeout))
        // Headers must reach only this host, so only redirects within the same origin are followed.
        .redirect(Policy::custom(|attempt| {
            let same = attempt
                .previous()
                .first()
                .is_some_and(|first| first.origin() == attempt.url().origin());
            if same && attempt.previous().len() < 5 {
                attempt.follow()
            } else {
                attempt.stop()
            }
        }))
        .build()
        .map_err(|error| unusable(name, &error.to_string()))?;
    let client = CappedClient::new(client, most);
    let client = AuthorizedClient::new(client, server.access.clone());
    let client = SessionWatchClient::new(client, watch);
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .max_concurrent_requests(options.concurrency.saturating_add(2))
        .max_sse_event_size(most)
        .custom_headers(headers(name, given)?);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn headers(
    name: &str,
    given: &ResolvedOptions,
) -> Result<HashMap<HeaderName, HeaderValue>, Failure> {
    let mut headers = HashMap::new();
    for (header, value) in &given.headers {
        let parsed = (
            header.parse::<HeaderName>(),
            HeaderValue::from_str(value.expose()),
        );
        let (Ok(header), Ok(mut value)) = parsed else {
            return Err(unusable(
                name,
                &format!("the header `{header}` cannot be sent"),
            ));
        };
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn unusable(name: &str, reason: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("the server `{name}` cannot be used: {reason}"),
    )
    .mark_blocked()
}
