//! The page at `/`, which signs a browser in and shows the state of deft. It contains no data itself: its
//! script asks the API with the token of the browser.
//!
//! Not here: codes and tokens (`deft_service::tokens`).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Extension, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
};
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use deft_service::tokens;
use deft_wire::Done;
use deft_wire::token::SignInResult;

use crate::access::{self, Caller};
use crate::context::{Peer, Server};
use crate::request_id::RequestId;
use crate::{feed, reply};

/// The address of the page, which is also one of the WebSocket.
pub(crate) const PATH: &str = "/";

/// The script of the page.
pub(crate) const SCRIPT: &str = "/page.js";

/// The style of the page.
pub(crate) const STYLE: &str = "/page.css";

/// Where the page exchanges a code for a token.
pub(crate) const SIGN_IN: &str = "/sign-in";

/// The page may load and ask only what this server serves.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Name of the token that a response created, for the audit log.
#[derive(Clone, Debug)]
pub(crate) struct CreatedToken(pub(crate) String);

/// Whether a request needs no token: it asks for the page or signs a browser in.
pub(crate) fn is_open(headers: &HeaderMap, uri: &Uri) -> bool {
    match uri.path() {
        SCRIPT | STYLE | SIGN_IN => true,
        PATH => !access::is_upgrade(headers),
        _ => false,
    }
}

/// Serves the page, or the feed to a WebSocket.
pub(crate) async fn open(
    server: State<Arc<Server>>,
    id: Extension<RequestId>,
    caller: Extension<Caller>,
    peer: Extension<Peer>,
    headers: HeaderMap,
    uri: Uri,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response<Body> {
    if access::is_upgrade(&headers) {
        return feed::upgrade(server, id, caller, peer, uri, upgrade).await;
    }
    let mut response = asset("text/html; charset=utf-8", include_str!("index.html"));
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(REFERRER_POLICY, "no-referrer");
    response
}

/// Serves the script.
pub(crate) async fn script() -> Response<Body> {
    asset("text/javascript; charset=utf-8", include_str!("page.js"))
}

/// Serves the style.
pub(crate) async fn style() -> Response<Body> {
    asset("text/css; charset=utf-8", include_str!("page.css"))
}

fn asset(kind: &'static str, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Exchanges a code of `deft open` for a token. The code is in the header for tokens, and the body is not read:
/// a client without a token could keep a connection busy by sending it slowly.
pub(crate) async fn sign_in(
    State(server): State<Arc<Server>>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    uri: Uri,
) -> Response<Body> {
    match redeem(&server, &headers, &uri).await {
        Ok(result) => {
            let mut response = reply::json(StatusCode::OK, &result);
            response.extensions_mut().insert(CreatedToken(result.name));
            response
        }
        Err(failure) => reply::problem(&failure, &id),
    }
}

async fn redeem(server: &Arc<Server>, headers: &HeaderMap, uri: &Uri) -> Done<SignInResult> {
    let code = access::token(headers, uri).ok();
    let code = code.filter(|code| server.tokens.has_code(code));
    let code = code.ok_or_else(tokens::unknown_code)?;
    server
        .block(move |server| tokens::redeem_code(server.app.home(), &code))
        .await
}
