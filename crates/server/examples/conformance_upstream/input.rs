//! Tools that need input from the client.

use std::hash::{DefaultHasher, Hash, Hasher};

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ErrorData, InputResponses,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::ask::{ask, form, require, roots, sampling};
use super::content::text_result;

type CallOutcome = Result<CallToolResponse, ErrorData>;

/// Calls the tool of this name; returns `None` if it is not one of these.
pub(crate) async fn call(
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<CallOutcome> {
    let responses = params.input_responses.as_ref();
    let state = params.request_state.as_deref();
    Some(match params.name.as_ref() {
        "test_sampling" => sample(params, context).await,
        "test_elicitation" => elicit(params, context).await,
        "test_elicitation_sep1034_defaults" => {
            shown(
                context,
                responses,
                "Please accept the defaults",
                &defaults(),
            )
            .await
        }
        "test_elicitation_sep1330_enums" => {
            shown(context, responses, "Please choose", &enums()).await
        }
        "test_roots" => list_roots(context, responses).await,
        "test_input_required_result_elicitation" => Ok(name(responses)),
        "test_input_required_result_sampling" => Ok(capital(responses)),
        "test_input_required_result_list_roots" => Ok(client_roots(responses)),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => confirm(state),
        "test_input_required_result_multiple_inputs" => gather(responses, state),
        "test_input_required_result_multi_round" => rounds(state),
        "test_input_required_result_capabilities" => Ok(declared(responses, context)),
        "test_streaming_elicitation" => {
            let value = form("Provide a value", &text_field("value"), &["value"]);
            Ok(require([("value", value)], None))
        }
        "test_missing_capability" => needs_sampling(context),
        _ => return None,
    })
}

fn text_field(name: &str) -> Value {
    json!({ name: { "type": "string" } })
}

fn response<'a>(responses: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    let response = responses.and_then(|responses| responses.get(key));
    response.filter(|response| response.is_object())
}

fn argument<'a>(params: &'a CallToolRequestParams, name: &str) -> &'a str {
    let arguments = params.arguments.as_ref();
    let value = arguments.and_then(|arguments| arguments.get(name));
    value.and_then(Value::as_str).unwrap_or("Hello")
}

async fn sample(
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> CallOutcome {
    let request = sampling(argument(params, "prompt"));
    let responses = params.input_responses.as_ref();
    Ok(match ask(context, responses, "sampling", request).await? {
        Ok(answer) => {
            let said_by_model = &answer["content"];
            let text = said_by_model["text"]
                .as_str()
                .or_else(|| said_by_model[0]["text"].as_str());
            text_result(format!("LLM response: {}", text.unwrap_or_default()))
        }
        Err(asks) => asks,
    })
}

async fn elicit(
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> CallOutcome {
    let fields = json!({
        "username": { "type": "string", "description": "User's response" },
        "email": { "type": "string", "description": "User's email address" },
    });
    let request = form(argument(params, "message"), &fields, &["username", "email"]);
    answer(context, params.input_responses.as_ref(), request).await
}

async fn shown(
    context: &RequestContext<RoleServer>,
    responses: Option<&InputResponses>,
    message: &str,
    fields: &Value,
) -> CallOutcome {
    answer(context, responses, form(message, fields, &[])).await
}

async fn answer(
    context: &RequestContext<RoleServer>,
    responses: Option<&InputResponses>,
    request: rmcp::model::InputRequest,
) -> CallOutcome {
    Ok(match ask(context, responses, "form", request).await? {
        Ok(answer) => {
            let action = answer["action"].as_str().unwrap_or_default();
            text_result(format!("action={action}, content={}", answer["content"]))
        }
        Err(asks) => asks,
    })
}

async fn list_roots(
    context: &RequestContext<RoleServer>,
    responses: Option<&InputResponses>,
) -> CallOutcome {
    Ok(match ask(context, responses, "roots", roots()).await? {
        Ok(answer) => text_result(answer["roots"].to_string()),
        Err(asks) => asks,
    })
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "description": "Name", "default": "John Doe" },
        "age": { "type": "integer", "description": "Age", "default": 30 },
        "score": { "type": "number", "description": "Score", "default": 95.5 },
        "status": {
            "type": "string",
            "description": "Status",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": { "type": "boolean", "description": "Verified", "default": true },
    })
}

fn enums() -> Value {
    let options = ["option1", "option2", "option3"];
    let titled = json!([
        { "const": "value1", "title": "First" },
        { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["One", "Two", "Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    })
}

fn name(responses: Option<&InputResponses>) -> CallToolResponse {
    match response(responses, "user_name") {
        Some(answer) => {
            let name = answer["content"]["name"].as_str().unwrap_or("friend");
            text_result(format!("Hello, {name}!"))
        }
        None => {
            let request = form("What is your name?", &text_field("name"), &["name"]);
            require([("user_name", request)], None)
        }
    }
}

fn capital(responses: Option<&InputResponses>) -> CallToolResponse {
    match response(responses, "capital_question") {
        Some(answer) => {
            let text = answer["content"]["text"].as_str().unwrap_or_default();
            text_result(format!("Sampling response: {text}"))
        }
        None => {
            let request = sampling("What is the capital of France?");
            require([("capital_question", request)], None)
        }
    }
}

fn client_roots(responses: Option<&InputResponses>) -> CallToolResponse {
    match response(responses, "client_roots") {
        Some(answer) => text_result(format!("Client roots: {}", answer["roots"])),
        None => require([("client_roots", roots())], None),
    }
}

/// Appends a checksum to a state.
fn sealed(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    ("upstream", text).hash(&mut hasher);
    format!("{text}.{:x}", hasher.finish())
}

fn opened(state: &str) -> Result<&str, ErrorData> {
    let text = state.rsplit_once('.').map(|(text, _)| text);
    text.filter(|text| sealed(text) == state).ok_or_else(|| {
        ErrorData::invalid_params("requestState failed integrity verification", None)
    })
}

fn confirm(state: Option<&str>) -> CallOutcome {
    let Some(state) = state else {
        let request = form(
            "Please confirm",
            &json!({ "ok": { "type": "boolean" } }),
            &["ok"],
        );
        return Ok(require([("confirm", request)], Some(sealed("confirm"))));
    };
    opened(state)?;
    Ok(text_result("Confirmed: state-ok"))
}

fn gather(responses: Option<&InputResponses>, state: Option<&str>) -> CallOutcome {
    if let Some(state) = state {
        opened(state)?;
    }
    let keys = ["user_name", "greeting", "client_roots"];
    let all = keys.iter().all(|key| response(responses, key).is_some());
    if all && state.is_some() {
        return Ok(text_result("All inputs received"));
    }
    let name = form("What is your name?", &text_field("name"), &["name"]);
    let requests = [
        ("user_name", name),
        ("greeting", sampling("Generate a greeting")),
        ("client_roots", roots()),
    ];
    Ok(require(requests, Some(sealed("gather"))))
}

fn rounds(state: Option<&str>) -> CallOutcome {
    let step = |key, message, field, next: &str| {
        let request = form(message, &text_field(field), &[field]);
        require([(key, request)], Some(sealed(next)))
    };
    Ok(match state.map(opened).transpose()? {
        None => step("step1", "What is your name?", "name", "1"),
        Some("1") => step("step2", "What is your favorite color?", "color", "2"),
        Some(_) => text_result("Multi-round flow complete"),
    })
}

fn declared(
    responses: Option<&InputResponses>,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    if responses.is_some() {
        return text_result("Capability-aware flow complete");
    }
    let has = context.client_capabilities().unwrap_or_default();
    let name = || form("What is your name?", &text_field("name"), &["name"]);
    let greeting = || sampling("Generate a greeting");
    match (has.elicitation.is_some(), has.sampling.is_some()) {
        (true, true) => require([("user_name", name()), ("greeting", greeting())], None),
        (true, false) => require([("user_name", name())], None),
        (false, true) => require([("greeting", greeting())], None),
        (false, false) => text_result("The client can be asked nothing"),
    }
}

fn needs_sampling(context: &RequestContext<RoleServer>) -> CallOutcome {
    if context
        .client_capabilities()
        .is_some_and(|has| has.sampling.is_some())
    {
        return Ok(text_result("Required capability declared"));
    }
    let required = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(required))
}
