//! Calls of servers of the older era that wait for a client of the newer one: the client got a result that asks for
//! input, and comes back with the answers or does not.

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

/// How long a client may take to come back.
const PATIENCE: Duration = Duration::from_mins(5);
/// The most calls that wait at once; the oldest is given up for a new one.
const MOST: usize = 256;

/// What the server waits for.
type Reply = oneshot::Sender<Result<ClientResult, ErrorData>>;

/// A question of a server and the way back.
pub(super) struct OpenQuestion {
    pub(super) request: ServerRequest,
    pub(super) reply: Reply,
}

/// A call that waits.
pub(super) struct ParkedCall {
    pub(super) call: RelayCall,
    pub(super) question: OpenQuestion,
}

/// All calls that wait, by their ids. Dropping one cancels it at its server.
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
    /// Keeps a call; its id.
    pub(super) fn keep(&self, call: ParkedCall) -> u64 {
        let mut waiting = self.calls.lock();
        waiting.next += 1;
        let id = waiting.next;
        if waiting.calls.len() >= MOST {
            let oldest = waiting.calls.keys().min().copied();
            let given_up = oldest.and_then(|oldest| waiting.calls.remove(&oldest));
            drop(given_up);
        }
        waiting.calls.insert(id, call);
        drop(waiting);
        let calls = Arc::downgrade(&self.calls);
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(calls) = calls.upgrade() {
                let expired = calls.lock().calls.remove(&id);
                drop(expired);
            }
        });
        id
    }

    /// The call with this id; it is kept no longer.
    pub(super) fn take(&self, id: u64) -> Option<ParkedCall> {
        self.calls.lock().calls.remove(&id)
    }
}

/// The key of the only question of a call that waits.
const KEY: &str = "question";

impl OpenQuestion {
    /// What the client is asked.
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

    /// Answers the server; gives the question back if the client has not answered it.
    pub(super) fn answer(self, responses: Option<&InputResponses>) -> Result<(), Box<Self>> {
        let response = responses.and_then(|responses| responses.get(KEY));
        let Some(result) = response.and_then(|response| read(&self.request, response)) else {
            return Err(Box::new(self));
        };
        // A server that no longer waits has an answer of its own on the way.
        drop(self.reply.send(Ok(result)));
        Ok(())
    }
}

/// An answer as the question asks for it.
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
