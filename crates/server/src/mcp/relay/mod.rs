//! Relayed requests: tools, prompts, resources and completions of servers behind deft, passed on unchanged.
//!
//! A client and a server may belong to different eras of the protocol. In the older era, a server asks its
//! client with a request during a call. In the newer era, it returns a result that asks for input, and the
//! client repeats the call. deft connects every pair of eras: `forward.rs` has the flow of a request,
//! `side.rs` the client, `parked.rs` the calls that wait for a client of the newer era.
//!
//! Not here: connections to servers, and the names under which their items are exported (`tools`).

mod forward;
mod parked;
mod retry;
mod session;
mod side;

pub(super) use forward::{Upstream, forward};
pub(super) use session::Session;
pub(super) use side::word;

use deft_service::relay::{Exports, RelayError, Seal};
use deft_service::tools::{CallFailure, explain};
use deft_wire::model::FailureClass;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, SubscriptionFilter};

use parked::ParkedCalls;

/// State shared by the relayed requests of all clients.
#[derive(Default)]
pub(super) struct Relay {
    seal: Seal,
    parked: ParkedCalls,
}

/// Converts a relay error: returns a server's protocol error unchanged as `Err`, and explains any other
/// failure.
pub(super) fn refusal(error: RelayError) -> Result<CallFailure, ErrorData> {
    match error {
        RelayError::Protocol(error) => Err(error),
        RelayError::Failure(failure) => Ok(explain(*failure, false)),
    }
}

/// Creates the error for a result that does not match the request.
pub(super) fn unreadable(server: &str) -> ErrorData {
    let message = format!("the server `{server}` returned a result of the wrong type");
    ErrorData::internal_error(message, None)
}

/// Like [`refusal`], for requests whose results cannot express failures.
pub(super) fn error(error: RelayError) -> ErrorData {
    let failure = match refusal(error) {
        Err(error) => return error,
        Ok(failure) => failure.error,
    };
    let hint = failure.hint.map(|hint| format!("\nhint: {hint}"));
    let message = format!("{}{}", failure.message, hint.unwrap_or_default());
    let code = match failure.class {
        FailureClass::Invalid | FailureClass::NotFound => ErrorCode::INVALID_PARAMS,
        FailureClass::Network
        | FailureClass::Auth
        | FailureClass::Quota
        | FailureClass::Timeout
        | FailureClass::Limit
        | FailureClass::Budget
        | FailureClass::Cancelled
        | FailureClass::Interrupted
        | FailureClass::Other => ErrorCode::INTERNAL_ERROR,
    };
    ErrorData::new(code, message, None)
}

/// Returns the subscriptions that deft accepts: those to resources that a server behind deft offers.
pub(super) fn accept_subscriptions(
    requested: &SubscriptionFilter,
    exports: Option<&Exports>,
) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| exports.is_some_and(|exports| exports.server_with(uri).is_some()));
    }
    accepted
        .resource_subscriptions
        .take_if(|uris| uris.is_empty());
    accepted
}
