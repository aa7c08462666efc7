//! Server-sent events, for `curl` and plain pages: `GET /api/v1/events`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Query, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use axum::http::{Response, Uri};
use deft_wire::{Done, Failure};

use super::FeedQuery;
use super::subscription::{News, Subscription};
use crate::context::Server;
use crate::reply;
use crate::request_id::RequestId;

/// Interval between comment lines, which show both sides that the connection is alive.
const PING: Duration = Duration::from_secs(15);

/// Responds with a stream of events that ends when the daemon stops.
pub(crate) async fn stream(
    State(server): State<Arc<Server>>,
    Extension(id): Extension<RequestId>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    match open(server, &uri, &headers).await {
        Ok(body) => {
            let mut response = Response::new(body);
            let kind = HeaderValue::from_static("text/event-stream");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        Err(failure) => reply::problem(&failure, &id),
    }
}

async fn open(server: Arc<Server>, uri: &Uri, headers: &HeaderMap) -> Done<Body> {
    let mut query = read_query(uri)?;
    if let Some(last) = headers.get("last-event-id") {
        let number = last.to_str().ok().and_then(|text| text.trim().parse().ok());
        let number = number.ok_or_else(|| {
            let message = "the header `Last-Event-ID` is not the `id` of an event";
            Failure::input("invalid_input", message)
        })?;
        query.after = Some(number);
    }
    let stop = server.stop.clone();
    let subscription = Subscription::open(server, query).await?;
    let stream = futures_util::stream::unfold(subscription, move |mut subscription| {
        let stop = stop.clone();
        async move {
            let piece = tokio::select! {
                news = subscription.next() => piece(news)?,
                () = tokio::time::sleep(PING) => ": ping\n\n".to_owned(),
                () = stop.cancelled() => return None,
            };
            Some((Ok::<_, Infallible>(Bytes::from(piece)), subscription))
        }
    });
    Ok(Body::from_stream(stream))
}

/// Parses the query of a feed request.
pub(super) fn read_query(uri: &Uri) -> Done<FeedQuery> {
    let query = Query::<FeedQuery>::try_from_uri(uri).map_err(|problem| {
        let message = format!("invalid query: {}", problem.body_text());
        Failure::input("invalid_input", message).hint("`after` is the `seq` of an event")
    })?;
    Ok(query.0)
}

/// Formats an event for the stream. Returns `None` to end the stream; after a failure the client reconnects
/// with the last id.
fn piece(news: Done<News>) -> Option<String> {
    match news {
        Ok(News::Event(event)) => Some(format!("id: {}\ndata: {}\n\n", event.seq, event.text)),
        Ok(News::Resync(text)) => Some(format!("data: {text}\n\n")),
        Ok(News::End) => None,
        Err(failure) => {
            tracing::warn!("a feed ended: {}", failure.message);
            None
        }
    }
}
