//! The result of sending a message to a person: the failure that
//! all senders share, and what an HTTP answer means to them.
//!
//! Not here: when to try again (the outbox decides that from the failure), and
//! what is sent (`telegram/`, `webhook.rs`).

use std::time::Duration;

use deft_model::{Failure, FailureClass};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder};

use crate::limit::words;
use crate::transport::transport;

/// The largest answer that is read; receipts are small.
const MOST_BYTES: usize = 1024 * 1024;

/// A message that did not arrive, or not as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct SendError {
    /// What went wrong, with its class and whether it may have arrived all the same.
    pub failure: Failure,
    /// How long the other side wants to be left alone, if it said so.
    pub retry_after: Option<Duration>,
    /// The ids of the parts that arrived at this try; the next one goes on behind them.
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

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
}

/// The client for messages to the outside. It goes only where the configuration
/// says, so unlike `http.request` it asks no list of hosts and uses proxies.
pub(crate) fn client() -> Result<Client, Failure> {
    deft_http::client().build().map_err(|error| {
        let message = format!(
            "the HTTP client could not be created: {}",
            error.without_url()
        );
        Failure::new(FailureClass::Other, message)
    })
}

/// Sends a request and reads the answer, all within the time allowed.
pub(crate) async fn exchange(
    request: RequestBuilder,
    allowed: Duration,
) -> Result<Answer, Failure> {
    let work = async {
        let mut answer = request.send().await.map_err(|error| transport(&error))?;
        let status = answer.status().as_u16();
        let retry_after = seconds(answer.headers());
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| transport(&error))? {
            body.extend_from_slice(&chunk);
            if body.len() > MOST_BYTES {
                let message = format!("the answer is larger than {MOST_BYTES} bytes");
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

/// `Retry-After` in seconds; the form with a date is not worth a clock here.
fn seconds(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    Some(Duration::from_secs(text.trim().parse().ok()?))
}
