//! `POST /hooks/NAME`: signed deliveries from other programs. They carry no token; the signature
//! authenticates the sender.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, RawPathParams, Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use deft_service::hooks::{self, HookRequest};
use deft_wire::hook::HookReceipt;
use deft_wire::{Done, Failure};

use crate::context::{Peer, Server};
use crate::deliveries::PLACES;
use crate::dispatch::{origin, read_body};
use crate::reply;
use crate::request_id::RequestId;

/// Path prefix of all hooks.
pub(crate) const PREFIX: &str = "/hooks/";

/// Maximum size of a delivery in bytes. The sender is authenticated only after the whole body has arrived.
const MAX_DELIVERY_BYTES: usize = 1024 * 1024;

/// Handles a delivery.
pub(crate) async fn receive(
    State(server): State<Arc<Server>>,
    Extension(id): Extension<RequestId>,
    Extension(peer): Extension<Peer>,
    params: RawPathParams,
    request: Request,
) -> Response<Body> {
    let hook = params.iter().next().map_or("", |(_, name)| name).to_owned();
    match take(server, hook, peer, &id, request).await {
        Ok(receipt) => reply::json(StatusCode::ACCEPTED, &receipt),
        Err(failure) => reply::problem(&failure, &id),
    }
}

async fn take(
    server: Arc<Server>,
    hook: String,
    peer: Peer,
    id: &RequestId,
    request: Request,
) -> Done<HookReceipt> {
    let origin = origin(id, request.headers());
    let headers = headers(request.headers());
    // A request that cannot be a delivery costs neither a place nor the time that its body takes.
    server.hooks.admit(&hook, &headers)?;
    let place = server.deliveries.take(peer.0.ip()).ok_or_else(|| {
        let message = format!("too many deliveries in progress; the limit is {PLACES}");
        Failure::input("too_many_requests", message).hint("send it again in a second")
    })?;
    let body = read_body(request, MAX_DELIVERY_BYTES, server.limits.request_timeout).await?;
    drop(place);
    let delivery = HookRequest {
        hook,
        headers,
        body: body.into(),
        origin,
    };
    server
        .block_delivery(move |server| hooks::receive(&server.app, &server.hooks, &delivery))
        .await
}

/// Returns the headers that are text. A header that was sent twice is ambiguous and left out.
fn headers(all: &HeaderMap) -> BTreeMap<String, String> {
    let read = all.keys().filter_map(|name| {
        let mut values = all.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(only), None) => Some((name.as_str().to_owned(), only.to_str().ok()?.to_owned())),
            _ => None,
        }
    });
    read.collect()
}
