//! Tests of the OpenAPI document: it contains every route and keeps the rules of OpenAPI 3.1 that can be
//! checked by hand.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::openapi::document;
use crate::routes::table;
use crate::stored_json_tests;

/// Collects every `$ref` below a value.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get("$ref") {
                found.insert(target.clone());
            }
            fields.values().for_each(|one| references(one, found));
        }
        Value::Array(items) => items.iter().for_each(|one| references(one, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_file_matches_the_types() {
    stored_json_tests::check("src/openapi.json", &document(&table()), 3);
}

#[test]
fn every_route_is_described() {
    let routes = table();
    let document = document(&routes);
    let paths = document["paths"].as_object().unwrap();
    let described: usize = paths
        .values()
        .map(|path| path.as_object().unwrap().len())
        .sum();
    // The feed, the hooks, the sign-in and the two health pages are not in the table.
    assert_eq!(described, routes.len() + 5);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    for route in &routes {
        assert!(paths.contains_key(route.path), "{}", route.path);
    }
}

#[test]
fn every_reference_resolves() {
    let document = document(&table());
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for target in found {
        let pointer = target
            .strip_prefix('#')
            .unwrap_or_else(|| panic!("{target}"));
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
}

#[test]
fn parameters_and_operations_are_well_formed() {
    let document = document(&table());
    let mut ids = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        assert!(path.starts_with('/'), "{path}");
        for (method, operation) in methods.as_object().unwrap() {
            let at = format!("{method} {path}");
            assert!(ids.insert(operation["operationId"].to_string()), "{at}");
            assert!(operation["responses"]["default"].is_object(), "{at}");
            assert!(operation["summary"].is_string(), "{at}");
            let parameters = operation["parameters"].as_array().unwrap();
            let in_path = |one: &&Value| one["in"] == "path";
            let named: BTreeSet<&str> = parameters
                .iter()
                .filter(in_path)
                .map(|one| one["name"].as_str().unwrap())
                .collect();
            let parts = path.split('/').filter_map(|part| part.strip_prefix('{'));
            let wanted: BTreeSet<&str> = parts.map(|part| part.trim_end_matches('}')).collect();
            assert_eq!(named, wanted, "{at}");
            for parameter in parameters {
                assert!(parameter["schema"].is_object(), "{at}: {parameter}");
                let path_needs = parameter["in"] != "path" || parameter["required"] == true;
                assert!(path_needs, "{at}: {parameter}");
            }
            let has_body = operation.get("requestBody").is_some();
            assert!(
                !has_body || matches!(method.as_str(), "post" | "put"),
                "{at}"
            );
        }
    }
}
