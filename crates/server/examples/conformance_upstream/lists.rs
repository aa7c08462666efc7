//! The tools, prompts, resources and templates of the server.

use std::sync::Arc;

use rmcp::model::{JsonObject, Prompt, PromptArgument, Resource, ResourceTemplate, Tool};
use serde_json::{Value, json};

const SIMPLE: [&str; 25] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_error_handling",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_roots",
    "test_reconnection",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_capabilities",
];

fn object(value: &Value) -> JsonObject {
    value.as_object().unwrap().clone()
}

fn tool(name: &'static str, schema: &Value) -> Tool {
    Tool::new(
        name,
        format!("The tool {name} of the suite"),
        object(schema),
    )
}

fn with_text(name: &'static str, argument: &str) -> Tool {
    let properties = json!({ argument: { "type": "string" } });
    tool(
        name,
        &json!({ "type": "object", "properties": properties, "required": [argument] }),
    )
}

/// All tools.
pub(crate) fn tools() -> Vec<Tool> {
    let nothing = || json!({ "type": "object", "properties": {} });
    let mut tools: Vec<Tool> = SIMPLE.iter().map(|name| tool(name, &nothing())).collect();
    tools.push(with_text("test_sampling", "prompt"));
    tools.push(with_text("test_elicitation", "message"));
    tools.push(with_text("test_wait", "note"));
    tools.push(with_text("test_wait_for_answer", "note"));
    tools.push(with_text("test_touch", "uri"));
    tools.push(with_text("test_tell_secret", "by"));
    let mut structured = tool("test_structured", &nothing());
    structured.output_schema = Some(Arc::new(object(&json!({
        "type": "object",
        "properties": { "answer": { "type": "integer" } },
    }))));
    tools.push(structured);
    tools
}

/// All prompts.
pub(crate) fn prompts() -> Vec<Prompt> {
    let argument = |name: &str| PromptArgument::new(name).with_required(true);
    let prompt = |name: &str, arguments: Vec<PromptArgument>| {
        let arguments = (!arguments.is_empty()).then_some(arguments);
        Prompt::new(name, Some("A prompt of the suite"), arguments)
    };
    vec![
        prompt("test_simple_prompt", Vec::new()),
        prompt(
            "test_prompt_with_arguments",
            vec![argument("arg1"), argument("arg2")],
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            vec![argument("resourceUri")],
        ),
        prompt("test_prompt_with_image", Vec::new()),
        prompt("test_input_required_result_prompt", Vec::new()),
    ]
}

/// All resources.
pub(crate) fn resources() -> Vec<Resource> {
    let resource = |uri: &str, kind: &str| {
        Resource::new(uri, uri.trim_start_matches("test://")).with_mime_type(kind)
    };
    vec![
        resource("test://static-text", "text/plain"),
        resource("test://static-binary", "image/png"),
        resource("test://watched-resource", "text/plain"),
    ]
}

/// All templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("test://template/{id}/data", "template")
            .with_mime_type("application/json"),
    ]
}
