//! Ends long-lived responses, such as the feed, when their token is revoked.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use axum::http::header::CONTENT_TYPE;
use futures_util::StreamExt;

use crate::access::Caller;
use crate::context::Server;

/// Interval between checks of a token.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Waits until the token of a caller is revoked.
pub(crate) async fn wait_until_revoked(server: Arc<Server>, caller: Caller) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        if !server.tokens.is_valid(&caller.token) {
            return;
        }
    }
}

/// Ends a stream of events when the token that requested it is revoked.
pub(crate) fn end_with_token(
    server: &Arc<Server>,
    caller: Caller,
    response: Response<Body>,
) -> Response<Body> {
    let kind = response.headers().get(CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    let end = Box::pin(wait_until_revoked(Arc::clone(server), caller));
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(end)))
}
