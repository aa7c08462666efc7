//! Parked calls: calls to servers of the older era that wait for a client of the newer era. The client got a
//! result that asks for input and may or may not return with the answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use deft_service::relay::RelayCall;
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{ClientResult, InputRequest, InputRequests, InputResponses, ServerRequest};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;

/// Time after which a parked call is given up.
const PARK_TIMEOUT: Duration = Duration::from_mins(5);
/// Maximum number of parked calls. The oldest is dropped to make room for a new one.
const MAX_PARKED: usize = 256;

/// Sends the answer to the server.
type Reply = oneshot::Sender<Result<ClientResult, ErrorData>>;

/// A question from a server, and the sender for its answer.
pub(super) struct OpenQuestion {
    pub(super) request: ServerRequest,
    pub(super) reply: Reply,
}

/// A parked call.
pub(super) struct ParkedCall {
    pub(super) call: RelayCall,
    pub(super) question: OpenQuestion,
}

/// All parked calls by id. Dropping a call cancels it at its server.
#[derive(Clone, Default)]
pub(super) struct ParkedCalls {
    calls: Arc<Mutex<CallTable>>,
}

#[derive(Default)]
struct CallTable {
    next: u64,
    calls: HashMap<u64, ParkedCall>,
}

impl ParkedCalls {
    /// Parks a call and returns its id.
    pub(super) fn keep(&self, call: ParkedCall) -> u64 {
        let mut waiting = self.calls.lock();
        waiting.next += 1;
        let id = waiting.next;
        if waiting.calls.len() >= MAX_PARKED {
            let oldest = waiting.calls.keys().min().copied();
            let given_up = oldest.and_then(|oldest| waiting.calls.remove(&oldest));
            drop(given_up);
        }
        waiting.calls.insert(id, call);
        drop(waiting);
        let calls = Arc::downgrade(&self.calls);
        tokio::spawn(async move {
            tokio::time::sleep(PARK_TIMEOUT).await;
            if let Some(calls) = calls.upgrade() {
                let expired = calls.lock().calls.remove(&id);
                drop(expired);
            }
        });
        id
    }

    /// Removes and returns the call with this id.
    pub(super) fn take(&self, id: u64) -> Option<ParkedCall> {
        self.calls.lock().calls.remove(&id)
    }
}

/// Key of a parked call's only question.
const KEY: &str = "question";

impl OpenQuestion {
    /// Converts the question to an input request for the client.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`rmcp` has many kinds of messages and may add more"
    )]
    pub(super) fn to_input(&self) -> Option<InputRequests> {
        let request = match self.request.clone() {
            ServerRequest::ElicitRequest(it) => InputRequest::Elicitation(it),
            ServerRequest::CreateMessageRequest(it) => InputRequest::CreateMessage(it),
            ServerRequest::ListRootsRequest(it) => InputRequest::ListRoots(it),
            _ => return None,
        };
        Some(InputRequests::from([(KEY.to_owned(), request)]))
    }

    /// Sends the client's answer to the server. Returns the question if the client has not answered it.
    pub(super) fn answer(self, responses: Option<&InputResponses>) -> Result<(), Box<Self>> {
        let response = responses.and_then(|responses| responses.get(KEY));
        let Some(result) = response.and_then(|response| read(&self.request, response)) else {
            return Err(Box::new(self));
        };
        // Sending fails if the server no longer waits; its own result is on the way then.
        drop(self.reply.send(Ok(result)));
        Ok(())
    }
}

/// Parses an answer in the form that the question asks for.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of messages and may add more"
)]
pub(super) fn read(request: &ServerRequest, response: &Value) -> Option<ClientResult> {
    fn parse<T: DeserializeOwned>(response: &Value) -> Option<T> {
        serde_json::from_value(response.clone()).ok()
    }
    match request {
        ServerRequest::ElicitRequest(_) => parse(response).map(ClientResult::ElicitResult),
        ServerRequest::CreateMessageRequest(_) => {
            parse(response).map(ClientResult::CreateMessageResult)
        }
        ServerRequest::ListRootsRequest(_) => parse(response).map(ClientResult::ListRootsResult),
        _ => None,
    }
}
