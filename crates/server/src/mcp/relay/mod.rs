//! Requests for servers behind deft: tools, prompts, resources and completions that deft passes on as they are.
//!
//! A client and a server may be of different eras. In the older one a server asks its client by a request of its own
//! in the middle of a call; in the newer one by a result that asks for input, after which the client calls again. Each
//! pair of eras is joined here: `forward.rs` has the way, `side.rs` the client, `parked.rs` the calls that wait for a
//! client of the newer era.
//!
//! Not here: connections to servers, and the names under which they are offered, which are in `tools`.

mod forward;
mod parked;
mod retry;
mod session;
mod side;

pub(super) use forward::{Upstream, forward};
pub(super) use session::Session;
pub(super) use side::word;

use deft_service::relay::{RelayError, Seal};
use deft_service::tools::{CallFailure, explain};
use deft_wire::model::FailureClass;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;

use parked::ParkedCalls;

/// What all requests of all clients share.
#[derive(Default)]
pub(super) struct Relay {
    seal: Seal,
    parked: ParkedCalls,
}

/// Why there is no result: an error of the server as it is, or a failure that deft explains.
pub(super) fn refusal(error: RelayError) -> Result<CallFailure, ErrorData> {
    match error {
        RelayError::Protocol(error) => Err(error),
        RelayError::Failure(failure) => Ok(explain(*failure, false)),
    }
}

/// The error of a result that is none of the request.
pub(super) fn unreadable(server: &str) -> ErrorData {
    let message = format!("the server `{server}` answered with something else than was asked for");
    ErrorData::internal_error(message, None)
}

/// The same where the protocol has no results that are failures.
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
