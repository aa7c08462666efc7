//! Messages to a web address: a POST with a JSON body.
//!
//! Addresses come from the configuration and are not held against the list of
//! `http.request`. Not here: retries, signatures, and what the body says.

use std::time::Duration;

use deft_model::{Failure, FailureClass};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::classify;
use crate::delivery::{Answer, SendError, client, exchange};
use crate::redact::Redaction;
use crate::secret::Secret;
use crate::transport::transport;

/// How long a post may take.
const ALLOWED: Duration = Duration::from_secs(30);

/// Proof that a post was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The status of the answer.
    pub status: u16,
}

/// Posts to web addresses; keeps connections.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    allowed: Duration,
}

impl Client {
    /// A client.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self {
            http: client()?,
            allowed: ALLOWED,
        })
    }

    /// The same client with another limit of time per post.
    #[must_use]
    pub fn within(mut self, allowed: Duration) -> Self {
        self.allowed = allowed;
        self
    }

    /// Posts a JSON body. An address often holds a secret in its path, so no
    /// failure shows more of it than the host, and none shows a header.
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
            .headers(prepared(headers)?)
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

/// Whether this is an address that can be posted to.
pub fn is_address(text: &str) -> bool {
    address(text).is_some()
}

fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Posts once, for callers without a client of their own.
pub async fn post(
    url: &str,
    body: &Value,
    headers: &[(String, Secret)],
) -> Result<Receipt, SendError> {
    Client::new()?.post(url, body, headers).await
}

/// The answer to a delivery, whatever it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAnswer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

/// Posts a body to a server of this machine and reads the answer. No proxy is asked.
pub async fn deliver(
    url: &str,
    body: Vec<u8>,
    headers: &[(String, Secret)],
) -> Result<DeliveryAnswer, Failure> {
    let url = address(url).ok_or_else(|| invalid("the address is not a URL"))?;
    let http = deft_http::client().no_proxy().build();
    let http = http.map_err(|error| transport(&error))?;
    let request = http.post(url).headers(prepared(headers)?).body(body);
    let answer = exchange(request, ALLOWED).await?;
    Ok(DeliveryAnswer {
        status: answer.status,
        body: answer.body,
    })
}

fn prepared(headers: &[(String, Secret)]) -> Result<HeaderMap, Failure> {
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
    let said = String::from_utf8_lossy(&answer.body);
    let said: String = said.trim().chars().take(300).collect();
    let said = if said.is_empty() {
        said
    } else {
        format!(": {said}")
    };
    let class = match status {
        300..400 => FailureClass::Invalid,
        _ => classify::status(status),
    };
    let message = format!("the webhook at `{host}` answered with status {status}{said}");
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
