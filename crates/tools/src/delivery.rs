//! The failure that all senders of messages share, and the exchange of HTTP requests.
//!
//! Not here: when to retry (the outbox decides that from the failure), and the content (`telegram/`,
//! `webhook.rs`).

use std::time::Duration;

use deft_model::{Failure, FailureClass};
use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder};

use crate::limit::words;
use crate::transport::transport;

/// The largest response to read; receipts are small.
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// A message that was not delivered, or only in part.
#[derive(Clone, Debug, PartialEq)]
pub struct SendError {
    /// The failure, with its class and whether the message may still have arrived.
    pub failure: Failure,
    /// The delay before the next try, if the receiver asked for one.
    pub retry_after: Option<Duration>,
    /// The ids of the parts that were delivered in this try; the next try continues after them.
    pub sent: Vec<i64>,
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            retry_after: None,
            sent: Vec::new(),
        }
    }
}

/// A complete HTTP response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
}

/// Creates the client for outgoing messages. It connects only to configured addresses, so unlike
/// `http.request` it checks no list of hosts and uses proxies.
pub(crate) fn client() -> Result<Client, Failure> {
    deft_http::client().build().map_err(|error| {
        let message = format!(
            "the HTTP client could not be created: {}",
            error.without_url()
        );
        Failure::new(FailureClass::Other, message)
    })
}

/// Sends a request and reads the response within `allowed`.
pub(crate) async fn exchange(
    request: RequestBuilder,
    allowed: Duration,
) -> Result<Answer, Failure> {
    let work = async {
        let mut answer = request.send().await.map_err(|error| transport(&error))?;
        let status = answer.status().as_u16();
        let retry_after = retry_after(answer.headers());
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| transport(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_RESPONSE_BYTES {
                let message = format!("the answer is larger than {MAX_RESPONSE_BYTES} bytes");
                return Err(Failure::new(FailureClass::Limit, message).in_doubt());
            }
        }
        Ok(Answer {
            status,
            retry_after,
            body,
        })
    };
    tokio::time::timeout(allowed, work)
        .await
        .unwrap_or_else(|_| {
            let message = format!("no answer within {}", words(allowed));
            Err(Failure::new(FailureClass::Timeout, message).in_doubt())
        })
}

/// Returns the delay that a server asks for.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    deft_http::retry_after(|name| headers.get(name)?.to_str().ok())
}
