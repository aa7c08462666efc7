//! State and answers of retries, in the three kinds of requests that support them.

use rmcp::model::{ClientRequest, InputResponses};

/// Answers that the last result asked for, and the state that it contained.
#[derive(Clone, Debug, Default)]
pub(super) struct RetryParts {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// Removes the retry parts from a request and returns them.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of requests; only three can be tried again"
)]
pub(super) fn take(request: &mut ClientRequest) -> RetryParts {
    let (responses, state) = match request {
        ClientRequest::CallToolRequest(it) => {
            let params = &mut it.params;
            (params.input_responses.take(), params.request_state.take())
        }
        ClientRequest::GetPromptRequest(it) => {
            let params = &mut it.params;
            (params.input_responses.take(), params.request_state.take())
        }
        ClientRequest::ReadResourceRequest(it) => {
            let params = &mut it.params;
            (params.input_responses.take(), params.request_state.take())
        }
        _ => (None, None),
    };
    RetryParts { responses, state }
}

/// Returns the request with these retry parts.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of requests; only three can be tried again"
)]
pub(super) fn put(request: &ClientRequest, parts: RetryParts) -> ClientRequest {
    let mut request = request.clone();
    match &mut request {
        ClientRequest::CallToolRequest(it) => {
            it.params.input_responses = parts.responses;
            it.params.request_state = parts.state;
        }
        ClientRequest::GetPromptRequest(it) => {
            it.params.input_responses = parts.responses;
            it.params.request_state = parts.state;
        }
        ClientRequest::ReadResourceRequest(it) => {
            it.params.input_responses = parts.responses;
            it.params.request_state = parts.state;
        }
        _ => {}
    }
    request
}
