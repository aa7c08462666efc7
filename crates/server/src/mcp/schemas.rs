//! JSON Schemas of arguments and results, from the types of `wire`.

use std::sync::LazyLock;

use deft_service::relay::CONTROL_TOOLS;
use deft_wire::approval::{ApprovalDocument, ApprovalList};
use deft_wire::mcp::{
    ApprovalAnswerRequest, ApprovalListRequest, CancelledRun, RunListRequest, RunPage, RunRequest,
    SkillRun, SkillRunRequest, TextResult,
};
use deft_wire::model::Effects;
use deft_wire::run::RunDocument;
use deft_wire::tool::ToolCatalog;
use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::catalog::{Control, object};

/// A tool that controls runs or questions.
#[derive(Clone)]
pub(super) struct ControlTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) effects: Effects,
    pub(super) input: Value,
    pub(super) output: JsonObject,
    pub(super) control: Control,
}

/// The schema of a type, with everything in place: many clients follow no references.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    name_any(&mut schema);
    let mut schema = object(schema);
    // The name of a type in Rust says nothing to a client.
    schema.remove("title");
    schema
}

/// Writes what many clients do not know in a simpler way: "any value" as an empty schema instead of `true`, and numbers
/// without a format.
fn name_any(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            // Clients warn about formats that JSON Schema does not define, such as `uint64`.
            if keys.get("type").is_some_and(is_number) {
                keys.shift_remove("format");
            }
            for (key, value) in keys {
                if key == "properties" {
                    let properties = value.as_object_mut().into_iter().flatten();
                    for (_, property) in properties {
                        name_any_of(property);
                    }
                } else if key == "items" {
                    name_any_of(value);
                } else {
                    name_any(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(name_any),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a `type` is a number, or a number or null.
fn is_number(kind: &Value) -> bool {
    let kinds = kind
        .as_array()
        .map_or(std::slice::from_ref(kind), Vec::as_slice);
    kinds
        .iter()
        .any(|kind| kind == "integer" || kind == "number")
}

fn name_any_of(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    name_any(schema);
}

/// The arguments of `skill_run`.
pub(super) fn skill_run_input() -> Value {
    Value::Object(schema::<SkillRunRequest>())
}

/// The result of a run of a skill.
pub(super) fn skill_run_output() -> JsonObject {
    static SCHEMA: LazyLock<JsonObject> = LazyLock::new(schema::<SkillRun>);
    SCHEMA.clone()
}

/// The result of one of deft's own tools. They return objects with more keys than are named here.
pub(super) fn own_output(name: &str) -> JsonObject {
    let shape = |properties: Value| object(json!({ "type": "object", "properties": properties }));
    match name {
        "get_tool_catalog" => schema::<ToolCatalog>(),
        "get_skill" | "skill" => schema::<TextResult>(),
        "memory_store_skill" | "memory_update_skill" => shape(json!({
            "success": { "type": "boolean" },
            "id": { "type": "integer" },
            "stored": { "type": "string", "description": "What was stored, in words." },
            "skill": { "type": "object" },
        })),
        "memory_list_skills" => shape(json!({
            "success": { "type": "boolean" },
            "count": { "type": "integer" },
            "skills": { "type": "array", "items": { "type": "object" } },
        })),
        "memory_get_skill" => shape(json!({
            "success": { "type": "boolean" },
            "skill": { "type": "object" },
        })),
        "memory_delete_skill" => shape(json!({
            "success": { "type": "boolean" },
            "deleted": { "type": "string" },
            "id": { "type": "integer" },
        })),
        _ => shape(json!({})),
    }
}

/// The tools that control runs and questions.
pub(super) fn control_tools() -> Vec<ControlTool> {
    static TOOLS: LazyLock<Vec<ControlTool>> = LazyLock::new(make_control_tools);
    TOOLS.clone()
}

fn make_control_tools() -> Vec<ControlTool> {
    let [
        run_list,
        run_show,
        run_cancel,
        approval_list,
        approval_answer,
    ] = CONTROL_TOOLS;
    vec![
        ControlTool {
            name: run_list,
            description: "List runs, newest first.",
            effects: Effects::None,
            input: Value::Object(schema::<RunListRequest>()),
            output: schema::<RunPage>(),
            control: Control::ListRuns,
        },
        ControlTool {
            name: run_show,
            description: "Show a run with its steps, outputs and error.",
            effects: Effects::None,
            input: Value::Object(schema::<RunRequest>()),
            output: schema::<RunDocument>(),
            control: Control::ShowRun,
        },
        ControlTool {
            name: run_cancel,
            description: "Cancel a run. Steps that are done stay done.",
            effects: Effects::Idempotent,
            input: Value::Object(schema::<RunRequest>()),
            output: schema::<CancelledRun>(),
            control: Control::CancelRun,
        },
        ControlTool {
            name: approval_list,
            description: "List questions that runs ask a person before they continue.",
            effects: Effects::None,
            input: Value::Object(schema::<ApprovalListRequest>()),
            output: schema::<ApprovalList>(),
            control: Control::ListApprovals,
        },
        ControlTool {
            name: approval_answer,
            description: "Have the person answer a question of a run. The person is asked by the client and decides, \
                          whatever `answer` says.",
            effects: Effects::Once,
            input: Value::Object(schema::<ApprovalAnswerRequest>()),
            output: schema::<ApprovalDocument>(),
            control: Control::AnswerApproval,
        },
    ]
}
