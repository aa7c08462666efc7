//! Relayed calls for a client with a person who accepts what a server proposes.

use deft_model::Object;
use deft_tools::{RelayClient, RelayEvent, RelayMessage, RelayRequest, Router};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientRequest, ClientResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequiredResult,
    RequestMetaObject, ServerRequest, ServerResult,
};
use serde_json::{Value, json};

/// The maximum number of rounds of requests from a server.
const MAX_ROUNDS: usize = 4;

/// Calls a tool and answers every request of the server.
pub(crate) async fn call(router: &Router, server: &str, tool: &str, arguments: &Object) {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = Some(arguments.clone());
    for _ in 0..MAX_ROUNDS {
        let Some(input) = once(router, server, params.clone()).await else {
            return;
        };
        let requests = input.input_requests.unwrap_or_default();
        let answers = requests.into_iter().filter_map(|(key, request)| {
            let InputRequest::Elicitation(request) = request else {
                return None;
            };
            Some((key, json!(accept(&request.params))))
        });
        params.input_responses = Some(answers.collect());
        params.request_state = input.request_state;
    }
}

async fn once(
    router: &Router,
    server: &str,
    params: CallToolRequestParams,
) -> Option<InputRequiredResult> {
    let mut call = router.relay(RelayRequest {
        server: server.to_owned(),
        request: ClientRequest::CallToolRequest(CallToolRequest::new(params)),
        meta: RequestMetaObject::default(),
        client: RelayClient {
            capabilities: capabilities(),
            session: Some(1),
            log_level: None,
        },
    });
    let result = loop {
        match call.next().await {
            RelayEvent::Message(message) => {
                if let RelayMessage::Request(request, reply) = *message {
                    drop(reply.send(answer(&request)));
                }
            }
            RelayEvent::Ended(result) => break result,
        }
    };
    match *result {
        Ok(ServerResult::InputRequiredResult(input)) => Some(input),
        other => {
            eprintln!("{other:?}");
            None
        }
    }
}

fn capabilities() -> ClientCapabilities {
    serde_json::from_value(json!({ "elicitation": { "form": { "applyDefaults": true } } })).unwrap()
}

fn answer(request: &ServerRequest) -> Result<ClientResult, ErrorData> {
    if let ServerRequest::ElicitRequest(request) = request {
        return Ok(ClientResult::ElicitResult(accept(&request.params)));
    }
    Err(ErrorData::invalid_request("not this", None))
}

/// Returns the form with the server's defaults; a checkbox without a default is ticked.
fn accept(form: &ElicitRequestParams) -> ElicitResult {
    let form = serde_json::to_value(form).unwrap();
    let fields = form["requestedSchema"]["properties"].as_object();
    let content: Object = fields
        .into_iter()
        .flatten()
        .filter_map(|(name, field)| {
            let value = field.get("default").cloned();
            let ticked = || (field["type"] == "boolean").then_some(Value::Bool(true));
            Some((name.clone(), value.or_else(ticked)?))
        })
        .collect();
    let mut result = ElicitResult::new(ElicitationAction::Accept);
    result.content = Some(content.into());
    result
}
