//! Exports spans and metrics to an OTLP receiver over HTTP, in the background.
//!
//! The queue is bounded: if a receiver does not respond, spans are lost, but no run is delayed. The HTTP
//! client is created before the first export. Not here: the content of spans and metrics.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use reqwest::header::{
    CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use reqwest::{Client, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::otlp::{self, Resource};
use crate::registry::Registry;
use crate::span::Span;

/// Maximum number of runs waiting for their export.
const QUEUE: usize = 1024;

/// Maximum number of spans in a request.
const BATCH: usize = 512;

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Delays before retries.
const RETRY_DELAYS: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
];

/// Upper limit for a delay requested by the receiver.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// Options of the export.
#[derive(Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// Base URL of the receiver, to which `/v1/traces` and `/v1/metrics` are appended.
    pub endpoint: String,
    /// Headers of all requests.
    pub headers: BTreeMap<String, String>,
    /// The sender, as an OpenTelemetry resource.
    pub resource: Resource,
}

/// Shows neither the values of headers nor the URL: both may be secret.
impl fmt::Debug for ExportOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&String> = self.headers.keys().collect();
        f.debug_struct("ExportOptions")
            .field("headers", &headers)
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}

/// State of the export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportState {
    /// Number of spans accepted by the receiver.
    pub exported: u64,
    /// Number of lost spans.
    pub dropped: u64,
    /// When the receiver last accepted a request.
    pub last_export: Option<Timestamp>,
    /// Why the last request failed; `None` if it succeeded.
    pub last_error: Option<String>,
    /// Number of spans that wait for the receiver.
    #[serde(skip)]
    waiting: u64,
}

/// Reads the state of an exporter.
#[derive(Clone)]
pub struct StateReader(Arc<Mutex<ExportState>>);

impl StateReader {
    /// Returns the current state.
    pub fn read(&self) -> ExportState {
        self.0.lock().clone()
    }
}

/// Callback that gets the state after every request.
pub type Report = Arc<dyn Fn(&ExportState) + Send + Sync>;

/// Exports spans in the background.
pub struct Exporter {
    queue: Sender<Vec<Span>>,
    state: Arc<Mutex<ExportState>>,
    report: Report,
    task: JoinHandle<()>,
}

/// HTTP client for a receiver.
#[derive(Clone)]
pub struct ReceiverClient {
    client: Client,
    options: ExportOptions,
    headers: HeaderMap,
}

/// Why a request failed.
struct SendError {
    message: String,
    /// Whether a retry may succeed.
    is_passing: bool,
    /// Delay requested by the receiver.
    wait: Option<Duration>,
}

impl Exporter {
    /// Starts the export task. Must be called inside a Tokio runtime.
    pub fn start(options: ExportOptions, report: Report) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let state = Arc::new(Mutex::new(ExportState::default()));
        let work = Work {
            state: Arc::clone(&state),
            report: Arc::clone(&report),
        };
        let task = tokio::spawn(work.run(options, waiting));
        Self {
            queue,
            state,
            report,
            task,
        }
    }

    /// Queues spans for export. If the queue is full, they are dropped and counted.
    pub fn hand_over(&self, spans: Vec<Span>) {
        let count = length(&spans);
        // Counted before the task can see them.
        self.state.lock().waiting += count;
        if self.queue.try_send(spans).is_err() {
            let mut state = self.state.lock();
            state.waiting -= count;
            state.dropped += count;
        }
    }

    /// Returns a reader of the state, which stays valid after the end of the export.
    pub fn reader(&self) -> StateReader {
        StateReader(Arc::clone(&self.state))
    }

    /// Sends the queued spans until `deadline`. The others are lost and counted.
    pub async fn close(self, deadline: Instant) {
        drop(self.queue);
        let mut task = self.task;
        if tokio::time::timeout_at(deadline, &mut task).await.is_ok() {
            return;
        }
        task.abort();
        let state = {
            let mut state = self.state.lock();
            state.dropped += std::mem::take(&mut state.waiting);
            let message = "the OTLP receiver did not answer before the process ended";
            state.last_error = Some(message.to_owned());
            state.clone()
        };
        tracing::warn!("some traces were not exported: the receiver does not answer");
        (self.report)(&state);
    }
}

/// The task of an exporter.
struct Work {
    state: Arc<Mutex<ExportState>>,
    report: Report,
}

impl Work {
    async fn run(self, options: ExportOptions, mut waiting: Receiver<Vec<Span>>) {
        let mut receiving = None;
        while let Some(mut spans) = waiting.recv().await {
            while spans.len() < BATCH
                && let Ok(more) = waiting.try_recv()
            {
                spans.extend(more);
            }
            let receiving = match &receiving {
                Some(receiving) => receiving,
                None => match ReceiverClient::new(options.clone()) {
                    Ok(made) => receiving.insert(made),
                    Err(message) => {
                        self.note(&spans, Err(message));
                        continue;
                    }
                },
            };
            for spans in spans.chunks(BATCH) {
                let body = otlp::trace_request(&receiving.options.resource, spans);
                let sent = receiving.send("/v1/traces", body).await;
                self.note(spans, sent);
            }
        }
    }

    fn note(&self, spans: &[Span], sent: Result<(), String>) {
        let state = {
            let mut state = self.state.lock();
            state.waiting = state.waiting.saturating_sub(length(spans));
            match sent {
                Ok(()) => {
                    state.exported += length(spans);
                    state.last_export = Some(Timestamp::now());
                    state.last_error = None;
                }
                Err(message) => {
                    tracing::warn!("{} spans were not exported: {message}", spans.len());
                    state.dropped += length(spans);
                    state.last_error = Some(message);
                }
            }
            state.clone()
        };
        (self.report)(&state);
    }
}

impl ReceiverClient {
    /// Creates a client for the receiver.
    pub fn new(options: ExportOptions) -> Result<Self, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in &options.headers {
            let wrong = || format!("the header `{name}` cannot be sent");
            let name: HeaderName = name.parse().map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            // Keeps it out of logs of the HTTP client.
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-protobuf"),
        );
        let client = deft_http::client().timeout(TIMEOUT).build();
        Ok(Self {
            client: client.map_err(|error| error.to_string())?,
            options,
            headers,
        })
    }

    /// Sends all metrics of `registry`.
    pub async fn send_metrics(&self, registry: &Registry) -> Result<(), String> {
        let now = Timestamp::now();
        let body = otlp::metric_request(&self.options.resource, registry, now);
        self.send("/v1/metrics", body).await
    }

    /// Tests the receiver with a request that contains no spans.
    pub async fn probe(&self) -> Result<(), String> {
        let sent = self.try_once("/v1/traces", Vec::new()).await;
        sent.map_err(|error| error.message)
    }

    /// Sends a request, with retries if the failure may be temporary.
    async fn send(&self, path: &str, body: Vec<u8>) -> Result<(), String> {
        let mut waits = RETRY_DELAYS.into_iter();
        loop {
            let error = match self.try_once(path, body.clone()).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let (true, Some(wait)) = (error.is_passing, waits.next()) else {
                return Err(error.message);
            };
            tokio::time::sleep(error.wait.unwrap_or(wait).min(MAX_WAIT)).await;
        }
    }

    async fn try_once(&self, path: &str, body: Vec<u8>) -> Result<(), SendError> {
        let url = format!("{}{path}", self.options.endpoint.trim_end_matches('/'));
        let request = self.client.post(&url).headers(self.headers.clone());
        // The probe has an empty body, whose length the client does not send by itself; receivers need it.
        let request = request.header(CONTENT_LENGTH, body.len());
        let answer = request.body(body).send().await.map_err(|error| SendError {
            // The URL may contain a key; the innermost reason does not.
            message: format!("the OTLP receiver does not answer: {}", reason(&error)),
            is_passing: true,
            wait: None,
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let is_passing = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        let asked = answer.headers().get(RETRY_AFTER);
        let asked = asked.and_then(|value| value.to_str().ok()?.parse().ok());
        Err(SendError {
            message: format!("the OTLP receiver answered {}", status.as_u16()),
            is_passing,
            wait: asked.map(Duration::from_secs),
        })
    }
}

/// Fetches a page with a bearer token. Fails unless the response has a success status.
pub async fn fetch_page(url: &str, token: &str) -> Result<(), String> {
    let client = deft_http::client().timeout(TIMEOUT).no_proxy().build();
    let client = client.map_err(|error| error.to_string())?;
    let answer = client.get(url).bearer_auth(token).send().await;
    let answer = answer.map_err(|error| reason(&error))?;
    if answer.status().is_success() {
        return Ok(());
    }
    Err(format!("it answered {}", answer.status().as_u16()))
}

fn length(spans: &[Span]) -> u64 {
    u64::try_from(spans.len()).unwrap_or(u64::MAX)
}

/// Returns the innermost cause of a failed request.
fn reason(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    if std::ptr::eq(inner, std::ptr::from_ref(error)) {
        return "the request failed".to_owned();
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_headers_are_never_shown() {
        let options = ExportOptions {
            endpoint: "https://user:s3cret@example.com".to_owned(),
            headers: BTreeMap::from([("authorization".to_owned(), "Bearer s3cret".to_owned())]),
            resource: Resource::new("deft", BTreeMap::new()),
        };
        let shown = format!("{options:?}");
        assert!(
            shown.contains("authorization") && !shown.contains("s3cret"),
            "{shown}"
        );
        let client = ReceiverClient::new(options).unwrap();
        let shown = format!("{:?}", client.headers);
        assert!(
            shown.contains("authorization") && !shown.contains("s3cret"),
            "{shown}"
        );
    }
}
