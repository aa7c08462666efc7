//! Dispatch of HTTP requests to routes: checks the scope, reads the idempotency key and the body within
//! limits, and builds the response.

use std::sync::Arc;
use std::time::Duration;

use axum::RequestExt;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, Request};
use axum::http::header::{
    CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
};
use axum::http::{Response, StatusCode, Uri};
use deft_service::hex::hex_digest;
use deft_wire::model::{RunOrigin, TraceContext};
use deft_wire::problem::PROBLEM_TYPE;
use deft_wire::{Done, Failure};
use http_body_util::LengthLimitError;

use crate::access::Caller;
use crate::answer::Answer;
use crate::context::Server;
use crate::replies::Retention;
use crate::reply;
use crate::request_id::RequestId;
use crate::route::{RawCall, Route, Verb};

/// Maximum size of a request body, in bytes.
pub(crate) const MAX_BODY: usize = 4 * 1024 * 1024;

/// Maximum length of an idempotency key.
const MAX_KEY: usize = 255;

/// Handles a request with its route.
pub(crate) async fn dispatch(
    server: Arc<Server>,
    route: Arc<Route>,
    request: Request,
) -> Response<Body> {
    let id = request.extensions().get::<RequestId>().cloned();
    let id = id.unwrap_or_else(|| RequestId::read(request.headers()));
    let known = request.headers().get(IF_NONE_MATCH).cloned();
    let origin = origin(&id, request.headers());
    match carry_out(server, &route, origin, request).await {
        Ok(answer) => respond(answer, route.verb == Verb::Get, known.as_ref()),
        Err(failure) => reply::problem(&failure, &id),
    }
}

async fn carry_out(
    server: Arc<Server>,
    route: &Route,
    origin: RunOrigin,
    mut request: Request,
) -> Done<Answer> {
    let caller = request.extensions().get::<Caller>().cloned();
    let caller = caller.ok_or_else(|| Failure::internal("engine", "a request without a caller"))?;
    caller.check(route.scope)?;
    let params = params(&mut request).await?;
    let key = key(request.headers())?;
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let body = match route.verb {
        Verb::Get | Verb::Delete => Bytes::new(),
        Verb::Post | Verb::Put => read_json(request, server.limits.request_timeout).await?,
    };
    let token = caller.token.clone();
    let content = hex_digest(&content(&uri, &body));
    let path = uri.path().to_owned();
    let raw = RawCall {
        server: Arc::clone(&server),
        caller,
        key: key.clone(),
        origin,
        params,
        uri,
        body,
    };
    let retention = route.retention;
    match key.filter(|_| retention != Retention::None) {
        Some(key) => {
            // The id of the token and not its name, which another token may get later.
            let key = hex_digest(format!("{} {method} {path} {key}", token.as_str()).as_bytes());
            let turn = server.replies.wait_for_turn(key).await;
            let work = (route.handler)(raw);
            // A separate task, so that the request is completed and its reply stored even if the client
            // disconnects. Clients that wait for their turn have none, so they can leave.
            let kept =
                tokio::spawn(
                    async move { server.replies.once(turn, content, retention, work).await },
                );
            kept.await.unwrap_or_else(|problem| {
                let message = format!("the request failed: {problem}");
                Err(Failure::internal("engine", message))
            })
        }
        None => (route.handler)(raw).await,
    }
}

/// The part of a request that must be the same when its idempotency key is used again: the body, and the query
/// without the time to wait for the result.
fn content(uri: &Uri, body: &[u8]) -> Vec<u8> {
    let query = uri.query().unwrap_or_default().split('&');
    let query: Vec<&str> = query.filter(|pair| !pair.starts_with("wait=")).collect();
    [query.join("&").as_bytes(), b"\n", body].concat()
}

async fn params(request: &mut Request) -> Done<Vec<(String, String)>> {
    let found = request.extract_parts::<RawPathParams>().await;
    let found = found.map_err(|problem| {
        let message = format!("invalid address: {}", problem.body_text());
        Failure::input("invalid_input", message)
    })?;
    let found = found.iter();
    Ok(found
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}

/// Returns the origin of a request, for the journals of the runs that it starts.
pub(crate) fn origin(id: &RequestId, headers: &HeaderMap) -> RunOrigin {
    RunOrigin {
        request_id: Some(id.0.clone()),
        trace: trace(headers).map(Arc::new),
    }
}

/// Parses the headers of W3C trace context. Invalid headers count as absent, as the specification requires.
fn trace(headers: &HeaderMap) -> Option<TraceContext> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    TraceContext::parse(text("traceparent")?, text("tracestate")).ok()
}

/// Reads the header `Idempotency-Key`.
fn key(headers: &HeaderMap) -> Done<Option<String>> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() || text.len() > MAX_KEY {
        let message = format!(
            "the header `Idempotency-Key` must have 1 to {MAX_KEY} printable ASCII characters"
        );
        return Err(Failure::input("invalid_input", message).hint("use a UUID"));
    }
    Ok(Some(text.to_owned()))
}

/// Reads the body, which must be empty or JSON.
pub(crate) async fn read_json(request: Request, time: Duration) -> Done<Bytes> {
    let is_json = is_json(request.headers());
    let body = read_body(request, MAX_BODY, time).await?;
    if !body.is_empty() && !is_json {
        let message = "the content type of the body is not JSON";
        return Err(Failure::input("media_type", message)
            .hint("send the header `Content-Type: application/json`"));
    }
    Ok(body)
}

/// Reads a body of at most `most` bytes within `time`.
pub(crate) async fn read_body(request: Request, most: usize, time: Duration) -> Done<Bytes> {
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > most) {
        return Err(too_large(most));
    }
    let read = axum::body::to_bytes(request.into_body(), most);
    let body = tokio::time::timeout(time, read).await;
    let body = body.map_err(|_| {
        let message = format!("the body did not arrive within {} s", time.as_secs_f32());
        Failure::input("slow_body", message).hint("send it immediately")
    })?;
    body.map_err(|problem| {
        if problem.into_inner().is::<LengthLimitError>() {
            return too_large(most);
        }
        let message = "the body ended early";
        Failure::input("invalid_input", message).hint("send the whole body")
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn too_large(most: usize) -> Failure {
    let message = format!("the body is larger than {} MiB", most / 1024 / 1024);
    Failure::input("body_too_large", message).hint("send less, or pass a file name in the inputs")
}

/// Builds the response. A client that already has the same content gets no body.
fn respond(answer: Answer, is_read: bool, known: Option<&HeaderValue>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status;
    let kind = if answer.is_problem {
        PROBLEM_TYPE
    } else {
        "application/json"
    };
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    if is_read && let Some(tag) = answer.tag.or_else(|| tag(&answer.body)) {
        let same = known.is_some_and(|known| matches(known, &tag));
        response.headers_mut().insert(ETAG, tag);
        if same {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
    }
    *response.body_mut() = Body::from(answer.body);
    response
}

pub(crate) fn tag(body: &[u8]) -> Option<HeaderValue> {
    let digest = hex_digest(body);
    // Weak, because the reply may be compressed.
    HeaderValue::from_str(&format!("W/\"{}\"", &digest[..32])).ok()
}

fn matches(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(known), Ok(tag)) = (known.to_str(), tag.to_str()) else {
        return false;
    };
    let bare = |text: &str| text.trim().trim_start_matches("W/").to_owned();
    known.trim() == "*" || known.split(',').any(|one| bare(one) == bare(tag))
}
