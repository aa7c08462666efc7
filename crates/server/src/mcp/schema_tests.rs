//! Generates the schemas of `schemas.json`.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::catalog::object;
use super::schemas::document;
use crate::stored_json_tests;

/// The types, by the names used in [`super::schemas`].
pub(super) mod types {
    pub(crate) use deft_wire::approval::{ApprovalDocument, ApprovalList};
    pub(crate) use deft_wire::job::JobView;
    pub(crate) use deft_wire::mcp::{
        ApprovalAnswerRequest, ApprovalListRequest, CancelledRun, RunListRequest, RunPage,
        RunRequest, SkillRun, SkillRunRequest, TextResult,
    };
    pub(crate) use deft_wire::own_tools::{
        ConversationResult, ConversationsResult, FactDeletedResult, FactSavedResult, FactsResult,
        SkillDeletedResult, SkillListResult, SkillResult, SkillStoredResult,
    };
    pub(crate) use deft_wire::run::RunDocument;
    pub(crate) use deft_wire::tool::ToolCatalog;
}

#[test]
fn the_file_matches_the_types() {
    stored_json_tests::check("src/mcp/schemas.json", &document(), 1);
}

/// Returns the schema of a type with all subschemas inlined, because many clients do not resolve references.
pub(super) fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    name_any(&mut schema);
    let mut schema = object(schema);
    // The name of a Rust type means nothing to a client.
    schema.remove("title");
    schema
}

/// Simplifies schemas for clients with partial support: "any value" becomes an empty schema instead of
/// `true`, and numbers lose their format.
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

/// Whether a `type` is a number or a nullable number.
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
