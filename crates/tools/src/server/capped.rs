//! An HTTP client for the protocol library that limits the size of responses.
//!
//! The library's own client limits events but not plain bodies, and turns some statuses into texts.
//! This client limits both, keeps the status, and answers a request whose reply is too large with
//! deft's own error, so that only that call fails.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{BoxStream, unfold};
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, RequestBuilder, Response};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::fault::{MALFORMED, TOO_LARGE};
use super::message::{self, ParsedMessage};

const SESSION: &str = "mcp-session-id";
const EVENTS: &str = "text/event-stream";
/// The maximum number of bytes to read from an error response.
const REFUSAL: usize = 64 * 1024;

/// The failure of a request.
pub(super) type Fault = StreamableHttpError<reqwest::Error>;
/// The headers of a request.
pub(super) type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// An HTTP client with a response limit of `most` bytes.
#[derive(Clone)]
pub(super) struct CappedClient {
    client: Client,
    most: usize,
}

impl CappedClient {
    pub(super) fn new(client: Client, most: usize) -> Self {
        Self { client, most }
    }

    async fn post(
        &self,
        request: RequestBuilder,
        message: &ClientJsonRpcMessage,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let answer = request.json(message).send().await?;
        let status = answer.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !status.is_success() {
            return error_response(answer, message, in_session).await;
        }
        let session = header(&answer, SESSION);
        let id = id_of(message);
        if header(&answer, CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with(EVENTS)) {
            let events = events(answer, id.cloned(), self.most);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let body = read(answer, self.most).await?;
        match (id, body) {
            // A notification has no answer.
            (None, _) => Ok(StreamableHttpPostResponse::Accepted),
            (Some(id), None) => Ok(StreamableHttpPostResponse::Json(
                too_large(id.clone()),
                session,
            )),
            (Some(id), Some(body)) => {
                let message = match message::read(&body) {
                    ParsedMessage::Message(message) => *message,
                    ParsedMessage::BadReply(problem, _) => {
                        refused_reply(id.clone(), MALFORMED, problem.words())
                    }
                    ParsedMessage::Noise => {
                        refused_reply(id.clone(), MALFORMED, "the reply is not JSON")
                    }
                };
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
        }
    }
}

fn id_of(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        JsonRpcMessage::Response(_)
        | JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Error(_) => None,
    }
}

fn header(answer: &Response, name: &str) -> Option<String> {
    let value = answer.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

fn too_large(id: RequestId) -> ServerJsonRpcMessage {
    refused_reply(id, TOO_LARGE, "the reply is too large")
}

/// Returns an error reply in place of one that cannot be passed on.
fn refused_reply(id: RequestId, code: i32, reason: &'static str) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode(code), reason, None);
    ServerJsonRpcMessage::error(error, Some(id))
}

/// Reads the body; `None` if it is longer than `most` bytes.
async fn read(mut answer: Response, most: usize) -> Result<Option<Vec<u8>>, Fault> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > most {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// Converts a response with an error status.
async fn error_response(
    answer: Response,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Result<StreamableHttpPostResponse, Fault> {
    let status = answer.status();
    let challenge = header(&answer, WWW_AUTHENTICATE.as_str()).unwrap_or_default();
    match status {
        StatusCode::UNAUTHORIZED => {
            return Err(Fault::AuthRequired(AuthRequiredError::new(challenge)));
        }
        StatusCode::FORBIDDEN => {
            return Err(Fault::InsufficientScope(InsufficientScopeError::new(
                challenge, None,
            )));
        }
        StatusCode::NOT_FOUND if in_session => return Err(Fault::SessionExpired),
        _ => {}
    }
    let body = read(answer, REFUSAL)
        .await
        .ok()
        .flatten()
        .unwrap_or_default();
    let error = match serde_json::from_slice(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
        Ok(_) | Err(_) => None,
    };
    if let Some(request) = probe(message).filter(|_| status.is_client_error() && !in_session) {
        // A server of the older era does not know the probe; the rejection itself is the answer.
        let error = error.map_or_else(
            || {
                ErrorData::new(
                    ErrorCode::METHOD_NOT_FOUND,
                    format!("status {status}"),
                    None,
                )
            },
            |error| error.error,
        );
        let answer = ServerJsonRpcMessage::error(error, Some(request.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match error {
        Some(error) => Ok(StreamableHttpPostResponse::Json(
            ServerJsonRpcMessage::Error(error),
            None,
        )),
        None => Err(HttpStatusError::new(status.as_u16(), None).into()),
    }
}

/// Returns the id if the message is the probe for the server's era.
fn probe(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::DiscoverRequest(_)).then_some(&request.id)
        }
        JsonRpcMessage::Response(_)
        | JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Error(_) => None,
    }
}

/// Reads server-sent events from a body.
struct Reader {
    answer: Response,
    buffer: Vec<u8>,
    /// Number of buffered bytes already searched for the end of an event.
    searched: usize,
    most: usize,
    id: Option<RequestId>,
    done: bool,
}

fn events(answer: Response, id: Option<RequestId>, most: usize) -> Events {
    let reader = Reader {
        answer,
        buffer: Vec::new(),
        searched: 0,
        most,
        id,
        done: false,
    };
    unfold(reader, |mut reader| async move {
        let item = reader.next().await?;
        Some((item, reader))
    })
    .boxed()
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Sse, SseError>> {
        loop {
            if self.done {
                return None;
            }
            if let Some(block) = self.block() {
                if let Some(event) = self.event(&block) {
                    return Some(Ok(event));
                }
                continue;
            }
            if self.buffer.len() > self.most {
                self.done = true;
                let message = too_large(self.id.clone()?);
                let data = serde_json::to_string(&message).ok();
                return Some(Ok(Sse {
                    data,
                    ..Sse::default()
                }));
            }
            match self.answer.chunk().await {
                Ok(Some(chunk)) => self.buffer.extend_from_slice(&chunk),
                Ok(None) => self.done = true,
                Err(error) => {
                    self.done = true;
                    return Some(Err(SseError::Body(Box::new(error))));
                }
            }
        }
    }

    /// Parses one event. A reply that cannot be read becomes an error reply, because the library would
    /// drop it silently.
    fn event(&self, block: &[u8]) -> Option<Sse> {
        let (mut event, data) = parse(block);
        // The library needs `id` and `retry` to resume the stream, even without data.
        let place = |event: Sse| (event.id.is_some() || event.retry.is_some()).then_some(event);
        let Some(data) = data else {
            return place(event);
        };
        let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
        let data = message::skills_reply(&data).unwrap_or(data);
        let is_readable = serde_json::from_slice::<ServerJsonRpcMessage>(&data).is_ok();
        if is_readable || !is_message {
            event.data = Some(String::from_utf8_lossy(&data).into_owned());
            return Some(event);
        }
        let message = match (message::read(&data), &self.id) {
            (ParsedMessage::Message(message), _) => *message,
            (ParsedMessage::BadReply(problem, _), Some(id)) => {
                refused_reply(id.clone(), MALFORMED, problem.words())
            }
            (ParsedMessage::BadReply(..) | ParsedMessage::Noise, _) => return place(event),
        };
        event.data = serde_json::to_string(&message).ok();
        Some(event)
    }

    /// Returns the lines up to the next empty line, if the buffer has one.
    fn block(&mut self) -> Option<Vec<u8>> {
        let from = self.searched.saturating_sub(3);
        let window = &self.buffer[from..];
        let end = |mark: &[u8]| {
            window
                .windows(mark.len())
                .position(|at| at == mark)
                .map(|at| from + at + mark.len())
        };
        let end = match (end(b"\n\n"), end(b"\r\n\r\n")) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return None;
        };
        self.searched = 0;
        let rest = self.buffer.split_off(end);
        Some(std::mem::replace(&mut self.buffer, rest))
    }
}

/// Parses the fields of an event, and its data as bytes.
fn parse(block: &[u8]) -> (Sse, Option<Vec<u8>>) {
    let (mut event, mut data): (Sse, Option<Vec<u8>>) = (Sse::default(), None);
    for line in block.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => {
                let data = data.get_or_insert_default();
                if !data.is_empty() {
                    data.push(b'\n');
                }
                data.extend_from_slice(value);
            }
            b"event" => event.event = Some(text()),
            b"id" => event.id = Some(text()),
            b"retry" => event.retry = text().parse().ok(),
            _ => {}
        }
    }
    (event, data)
}

impl StreamableHttpClient for CappedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let mut request = self
            .client
            .post(uri.as_ref())
            .header(ACCEPT, "text/event-stream, application/json")
            .headers(headers.into_iter().collect());
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = &session {
            request = request.header(SESSION, session.as_ref());
        }
        self.post(request, &message, session.is_some()).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        self.client
            .delete_session(uri, session, token, headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Fault> {
        let most = self.most;
        self.client
            .get_stream_with_max_sse_event_size(uri, session, last, token, headers, most)
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_across_chunks() {
        let (event, data) =
            parse(b"event: message\r\nid: 7\r\n: comment\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n");
        assert_eq!(data.as_deref(), Some(&b"{\"a\":\n1}"[..]));
        assert_eq!(
            (event.event.as_deref(), event.id.as_deref()),
            (Some("message"), Some("7"))
        );
        assert_eq!(parse(b": ping\n\n").1, None);
    }
}
