//! Messages to a web address: a POST with a JSON body.
//!
//! URLs come from the configuration and are not checked against the list of `http.request`. Not here:
//! retries, signatures, and the content of the body.

use std::time::Duration;

use deft_model::{Failure, FailureClass, clip};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::classify;
use crate::delivery::{Answer, SendError, client, exchange};
use crate::redact::Redaction;
use crate::secret::Secret;
use crate::transport::transport;

/// The timeout of a post.
const ALLOWED: Duration = Duration::from_secs(30);

/// Proof that the receiver accepted a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The HTTP status of the response.
    pub status: u16,
}

/// Posts to web addresses; reuses connections.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    allowed: Duration,
}

impl Client {
    /// Creates a client.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self {
            http: client()?,
            allowed: ALLOWED,
        })
    }

    /// Sets the timeout per post.
    #[must_use]
    pub fn within(mut self, allowed: Duration) -> Self {
        self.allowed = allowed;
        self
    }

    /// Posts a JSON body. A URL often contains a secret in its path, so failures show only its host,
    /// and no header.
    pub async fn post(
        &self,
        url: &str,
        body: &Value,
        headers: &[(String, Secret)],
    ) -> Result<Receipt, SendError> {
        let url = address(url).ok_or_else(|| invalid("the address of the webhook is not a URL"))?;
        let mut hidden = Redaction::default();
        hidden.add(&Secret::new(url.as_str()), "the address");
        hidden.add(&Secret::new(url.path()), "/…");
        for (_, value) in headers {
            hidden.add(value, "***");
        }
        let request = self
            .http
            .post(url.clone())
            .headers(prepare_headers(headers)?)
            .body(body.to_string());
        let host = url.host_str().unwrap_or_default();
        let answer = exchange(request, self.allowed).await.map_err(|failure| {
            let message = format!("the webhook at `{host}`: {}", failure.message);
            hidden.failure(Failure { message, ..failure })
        })?;
        judge(host, &answer).map_err(|refused| SendError {
            failure: hidden.failure(refused.failure),
            ..refused
        })
    }
}

/// Whether `text` is an HTTP or HTTPS URL.
pub fn is_address(text: &str) -> bool {
    address(text).is_some()
}

fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Posts once, for callers without their own client.
pub async fn post(
    url: &str,
    body: &Value,
    headers: &[(String, Secret)],
) -> Result<Receipt, SendError> {
    Client::new()?.post(url, body, headers).await
}

/// The response to a delivery, with any status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Posts a body to a server on this machine and reads the response. Uses no proxy.
pub async fn deliver(
    url: &str,
    body: Vec<u8>,
    headers: &[(String, Secret)],
) -> Result<DeliveryAnswer, Failure> {
    let url = address(url).ok_or_else(|| invalid("the address is not a URL"))?;
    let http = deft_http::client().no_proxy().build();
    let http = http.map_err(|error| transport(&error))?;
    let request = http.post(url).headers(prepare_headers(headers)?).body(body);
    let answer = exchange(request, ALLOWED).await?;
    Ok(DeliveryAnswer {
        status: answer.status,
        body: answer.body,
    })
}

fn prepare_headers(headers: &[(String, Secret)]) -> Result<HeaderMap, Failure> {
    let mut map = HeaderMap::new();
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in headers {
        let parsed = (
            name.parse::<HeaderName>(),
            HeaderValue::from_str(value.expose()),
        );
        let (Ok(key), Ok(mut value)) = parsed else {
            return Err(invalid(&format!("the header `{name}` cannot be sent")));
        };
        value.set_sensitive(true);
        map.insert(key, value);
    }
    Ok(map)
}

fn judge(host: &str, answer: &Answer) -> Result<Receipt, SendError> {
    let status = answer.status;
    if (200..300).contains(&status) {
        return Ok(Receipt { status });
    }
    let excerpt = String::from_utf8_lossy(&answer.body);
    let excerpt = clip(excerpt.trim(), 300);
    let excerpt = if excerpt.is_empty() {
        excerpt
    } else {
        format!(": {excerpt}")
    };
    let class = match status {
        300..400 => FailureClass::Invalid,
        _ => classify::status(status),
    };
    let message = format!("the webhook at `{host}` answered with status {status}{excerpt}");
    Err(SendError {
        failure: Failure {
            in_doubt: classify::status_in_doubt(status),
            ..Failure::new(class, message)
        },
        retry_after: answer.retry_after,
        sent: Vec::new(),
    })
}

fn invalid(message: &str) -> Failure {
    Failure::new(FailureClass::Invalid, message)
}
