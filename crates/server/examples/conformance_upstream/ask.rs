//! Questions to the client, asked in the way of the request's era.

use rmcp::model::{
    CallToolResponse, ClientResult, CreateMessageRequest, CreateMessageRequestParams,
    ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ListRootsRequest, ProtocolVersion, SamplingMessage,
    ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

/// Creates a question with a form of these fields.
pub(crate) fn form(message: &str, properties: &Value, required: &[&str]) -> InputRequest {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).unwrap();
    InputRequest::Elicitation(ElicitRequest::new(
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.to_owned(),
            requested_schema,
        },
    ))
}

/// Creates a request for sampling.
pub(crate) fn sampling(prompt: &str) -> InputRequest {
    let messages = vec![SamplingMessage::user_text(prompt)];
    let params = CreateMessageRequestParams::new(messages, 100);
    InputRequest::CreateMessage(CreateMessageRequest::new(params))
}

/// Creates a request for the client's roots.
pub(crate) fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

/// Whether the request belongs to the newer era.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Returns the client's answer, or the result that asks for it.
pub(crate) async fn ask(
    context: &RequestContext<RoleServer>,
    responses: Option<&InputResponses>,
    key: &str,
    request: InputRequest,
) -> Result<Result<Value, CallToolResponse>, ErrorData> {
    if is_modern(context) {
        let given = responses.and_then(|responses| responses.get(key));
        return Ok(match given.filter(|given| given.is_object()) {
            Some(given) => Ok(given.clone()),
            None => Err(require([(key, request)], None)),
        });
    }
    let request = match request {
        InputRequest::Elicitation(it) => ServerRequest::ElicitRequest(it),
        InputRequest::CreateMessage(it) => ServerRequest::CreateMessageRequest(it),
        InputRequest::ListRoots(it) => ServerRequest::ListRootsRequest(it),
        _ => return Err(ErrorData::internal_error("an unknown question", None)),
    };
    let result: ClientResult = context
        .peer
        .send_request(request)
        .await
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(Ok(serde_json::to_value(result).unwrap()))
}

/// Returns a result of a call that asks for input.
pub(crate) fn require<const N: usize>(
    requests: [(&str, InputRequest); N],
    state: Option<String>,
) -> CallToolResponse {
    required(requests, state).into()
}

/// Returns a result that asks for input, for requests other than calls.
pub(crate) fn required<const N: usize>(
    requests: [(&str, InputRequest); N],
    state: Option<String>,
) -> InputRequiredResult {
    let requests = requests.map(|(key, request)| (key.to_owned(), request));
    InputRequiredResult::new(Some(InputRequests::from(requests)), state)
}
