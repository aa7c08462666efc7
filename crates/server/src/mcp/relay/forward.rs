//! Forwards a request to a server and returns its result, whatever eras the two sides belong to.

use std::collections::BTreeMap;

use deft_service::relay::{self, RelayCall, RelayError, RelayEvent, RelayMessage, RelayRequest};
use futures_util::StreamExt as _;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use rmcp::model::{
    ClientRequest, InputRequest, InputRequiredResult, InputResponses, ResultType, ServerRequest,
    ServerResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::{Deserialize, Serialize};

use super::parked::{OpenQuestion, ParkedCall};
use super::retry::{self, RetryParts};
use super::side::{ClientSide, unsupported_error};
use crate::mcp::handler::McpServer;

/// Maximum number of times that a server may ask for input in one request.
const MAX_ROUNDS: usize = 16;

/// The server and item that a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mcp) struct Upstream {
    /// The server.
    pub(in crate::mcp) server: String,
    /// Name of the tool or prompt, or URI of the resource, as the server knows it.
    pub(in crate::mcp) name: String,
}

/// State that a client of the newer era sends back when it repeats a request.
#[derive(Serialize, Deserialize)]
enum State {
    /// State of the server, to be passed on.
    Server(String),
    /// Id of a parked call.
    Parked(u64),
}

/// Why [`ForwardedRequest::watch`] returned.
enum Pause {
    Ended(Box<Result<ServerResult, RelayError>>),
    /// The server waits for an answer from a client that cannot be asked while its request is in flight.
    Asked(Box<OpenQuestion>),
    Cancelled,
}

/// A request being forwarded.
struct ForwardedRequest<'a> {
    server: &'a McpServer,
    upstream: &'a Upstream,
    side: ClientSide<'a>,
    /// The request, without the state and answers of a retry.
    request: ClientRequest,
}

/// Forwards a request and returns the server's result.
pub(in crate::mcp) async fn forward(
    server: &McpServer,
    upstream: &Upstream,
    mut request: ClientRequest,
    context: &RequestContext<RoleServer>,
) -> Result<ServerResult, RelayError> {
    let parts = retry::take(&mut request);
    let journey = ForwardedRequest {
        server,
        upstream,
        side: ClientSide::new(context, server.session()),
        request,
    };
    let result = Box::pin(journey.make(parts)).await?;
    Ok(complete_result(result))
}

impl ForwardedRequest<'_> {
    async fn make(&self, parts: RetryParts) -> Result<ServerResult, RelayError> {
        let mut call = match self.resume(parts)? {
            Ok(call) => call,
            Err(asks_again) => return Ok(asks_again),
        };
        for _ in 0..MAX_ROUNDS {
            let result = match self.watch(&mut call).await {
                Pause::Ended(result) => (*result)?,
                Pause::Asked(question) => return self.park(call, *question),
                // Dropping the call cancels it at the server.
                Pause::Cancelled => return Err(cancelled_error()),
            };
            let ServerResult::InputRequiredResult(input) = result else {
                return Ok(result);
            };
            if self.side.is_modern {
                return self.seal(input);
            }
            let parts = tokio::select! {
                parts = self.collect(input) => parts?,
                () = self.side.wait_until_cancelled() => return Err(cancelled_error()),
            };
            call = self.start(parts);
        }
        let message = "the server keeps asking for input";
        Err(RelayError::Protocol(ErrorData::internal_error(
            message, None,
        )))
    }

    /// Starts the request, or continues the parked call that its state names. The inner `Err` is a result
    /// that asks the same question again, because the client has not answered it.
    fn resume(&self, parts: RetryParts) -> Result<Result<RelayCall, ServerResult>, RelayError> {
        let Some(sealed) = parts.state else {
            return Ok(Ok(self.start(RetryParts {
                state: None,
                ..parts
            })));
        };
        let seal = &self.server.relay().seal;
        let opened = seal.open(&self.purpose(), &sealed);
        let state = opened.and_then(|state| serde_json::from_str(state).ok());
        match state.ok_or_else(unknown_state)? {
            State::Server(state) => Ok(Ok(self.start(RetryParts {
                state: Some(state),
                ..parts
            }))),
            State::Parked(id) => {
                let parked = self.server.relay().parked.take(id);
                let ParkedCall { call, question } = parked.ok_or_else(no_longer_parked)?;
                match question.answer(parts.responses.as_ref()) {
                    Ok(()) => Ok(Ok(call)),
                    Err(question) => self.park(call, *question).map(Err),
                }
            }
        }
    }

    fn start(&self, parts: RetryParts) -> RelayCall {
        let request = RelayRequest {
            server: self.upstream.server.clone(),
            request: retry::put(&self.request, parts),
            meta: self.side.meta(),
            client: self.side.describe(),
        };
        relay::start(self.server.app(), request)
    }

    /// Forwards messages until the call ends or is cancelled, or until it asks a client that can answer only
    /// with a new request.
    async fn watch(&self, call: &mut RelayCall) -> Pause {
        let mut asked = FuturesUnordered::new();
        loop {
            let message = tokio::select! {
                event = call.next() => match event {
                    RelayEvent::Message(message) => *message,
                    RelayEvent::Ended(result) => return Pause::Ended(result),
                },
                Some(()) = asked.next(), if !asked.is_empty() => continue,
                () = self.side.wait_until_cancelled() => return Pause::Cancelled,
            };
            match message {
                RelayMessage::Progress(progress) => self.side.progress(progress).await,
                RelayMessage::Log(line) => self.side.log(line).await,
                RelayMessage::Request(request, reply) => {
                    if !self.side.can(&request) {
                        drop(reply.send(Err(unsupported_error())));
                    } else if self.side.is_modern {
                        return Pause::Asked(Box::new(OpenQuestion { request, reply }));
                    } else {
                        asked.push(async move {
                            // Sending fails if the server no longer waits; its own result is on the way then.
                            drop(reply.send(self.side.ask(request).await));
                        });
                    }
                }
            }
        }
    }

    /// Parks a call until the client repeats its request with an answer.
    fn park(&self, call: RelayCall, question: OpenQuestion) -> Result<ServerResult, RelayError> {
        let input = question.to_input();
        let id = self
            .server
            .relay()
            .parked
            .keep(ParkedCall { call, question });
        let state = self.close(&State::Parked(id))?;
        Ok(InputRequiredResult::new(input, Some(state)).into())
    }

    /// Seals the state in a result that asks for input, so that only a retry of this request can use it.
    fn seal(&self, mut input: InputRequiredResult) -> Result<ServerResult, RelayError> {
        if let Some(state) = input.request_state.take() {
            input.request_state = Some(self.close(&State::Server(state))?);
        }
        Ok(input.into())
    }

    fn close(&self, state: &State) -> Result<String, RelayError> {
        let text = serde_json::to_string(state).ok();
        let seal = &self.server.relay().seal;
        let sealed = text.and_then(|text| seal.close(&self.purpose(), &text));
        sealed.ok_or_else(|| {
            RelayError::Protocol(ErrorData::internal_error(
                "the state cannot be sealed",
                None,
            ))
        })
    }

    /// Returns the context that states are sealed for: a state is valid for the same request of the same
    /// caller.
    fn purpose(&self) -> String {
        let Upstream { server, name } = self.upstream;
        let (method, caller) = (self.request.method(), self.side.caller());
        format!("{server}\n{method}\n{name}\n{caller}")
    }

    /// Asks a client of the older era for the input that a server of the newer era needs.
    async fn collect(&self, input: InputRequiredResult) -> Result<RetryParts, RelayError> {
        let requests = input.input_requests.unwrap_or_default();
        let asked = requests.into_iter().map(|(key, request)| async move {
            let request = as_request(request).filter(|request| self.side.can(request));
            let request = request.ok_or_else(unsupported_error)?;
            let result = self.side.ask(request).await?;
            let value = serde_json::to_value(result).unwrap_or_default();
            Ok::<_, ErrorData>((key, value))
        });
        let responses = try_join_all(asked).await.map_err(RelayError::Protocol)?;
        let responses: InputResponses = responses.into_iter().collect::<BTreeMap<_, _>>();
        Ok(RetryParts {
            responses: (!responses.is_empty()).then_some(responses),
            state: input.request_state,
        })
    }
}

fn as_request(input: InputRequest) -> Option<ServerRequest> {
    match input {
        InputRequest::Elicitation(it) => Some(ServerRequest::ElicitRequest(it)),
        InputRequest::CreateMessage(it) => Some(ServerRequest::CreateMessageRequest(it)),
        InputRequest::ListRoots(it) => Some(ServerRequest::ListRootsRequest(it)),
        _ => None,
    }
}

fn unknown_state() -> RelayError {
    RelayError::Protocol(ErrorData::invalid_params(
        "the request state is unknown",
        None,
    ))
}

/// Creates the error for a parked call that was already answered or has timed out.
fn no_longer_parked() -> RelayError {
    let message = "the call is not waiting for an answer\nhint: call again without `requestState`";
    RelayError::Protocol(ErrorData::invalid_params(message, None))
}

fn cancelled_error() -> RelayError {
    RelayError::Protocol(ErrorData::internal_error("the request was cancelled", None))
}

/// Marks a result as complete. The newer era requires this; servers of the older era omit it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of results; these are the ones that are passed on"
)]
fn complete_result(mut result: ServerResult) -> ServerResult {
    let kind = match &mut result {
        ServerResult::CallToolResult(it) => &mut it.result_type,
        ServerResult::GetPromptResult(it) => &mut it.result_type,
        ServerResult::ReadResourceResult(it) => &mut it.result_type,
        ServerResult::CompleteResult(it) => &mut it.result_type,
        _ => return result,
    };
    kind.get_or_insert(ResultType::COMPLETE);
    result
}
