//! The tool definitions that models get.

use deft_records::tool_schemas;
use serde_json::{Value, json};

#[test]
fn the_tools_of_the_seeds() {
    let names: Vec<&str> = tool_schemas().iter().map(|tool| tool.name).collect();
    assert_eq!(
        names,
        [
            "memory_store_skill",
            "memory_update_skill",
            "memory_list_skills",
            "memory_get_skill",
            "memory_delete_skill",
            "queue_task",
            "get_job_status",
        ]
    );
}

/// Models guess the meaning of a property without a description.
#[test]
fn every_property_is_described() {
    fn walk(schema: &Value, path: &str) {
        let Some(properties) = schema["properties"].as_object() else {
            return;
        };
        for (key, property) in properties {
            let path = format!("{path}.{key}");
            assert!(property["description"].is_string(), "{path}");
            walk(property, &path);
            walk(&property["items"], &path);
        }
    }
    for tool in tool_schemas() {
        assert_eq!(tool.input["type"], "object", "{}", tool.name);
        walk(&tool.input, tool.name);
    }
}

#[test]
fn optional_values_may_be_null_and_numbers_may_be_strings() {
    let store = &tool_schemas()[0].input["properties"];
    assert_eq!(
        store["max_steps"]["type"],
        json!(["integer", "string", "null"])
    );
    assert_eq!(
        store["notify_on_completion"]["type"],
        json!(["boolean", "string", "null"])
    );
}

/// The listed fields are fields of a record, with their own names.
#[test]
fn properties_equal_the_fields_of_records() {
    let record = deft_skillfile::schema(deft_skillfile::Schema::Record);
    let known = record["properties"].as_object().expect("fields");
    let store = tool_schemas()[0].input["properties"].clone();
    for key in store.as_object().expect("fields").keys() {
        assert!(known.contains_key(key), "{key}");
    }
}
