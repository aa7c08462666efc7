//! Generator of `openapi.json`, used in tests: OpenAPI 3.1 from the table of routes. Its schemas are those of
//! the types of `wire`.

use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::route::{Route, Verb};

/// Generates the document.
pub(crate) fn document(routes: &[Route]) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut replies = settings.into_generator();
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[word(route.verb)] = operation(route, &mut replies);
    }
    let health = replies.subschema_for::<deft_wire::listener::HealthView>();
    for (path, operation) in other_paths(&health) {
        paths.insert(path.to_owned(), json!({"get": operation}));
    }
    let receipt = replies.subschema_for::<deft_wire::hook::HookReceipt>();
    paths.insert("/hooks/{name}".to_owned(), json!({"post": hook(&receipt)}));
    let token = replies.subschema_for::<deft_wire::token::SignInResult>();
    paths.insert(
        crate::page::SIGN_IN.to_owned(),
        json!({"post": sign_in(&token)}),
    );
    let problem = replies.subschema_for::<deft_wire::problem::ProblemView>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "deft",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Everything that the command line of deft can do. docs/http.md describes tokens, keys and pages.",
        },
        "paths": paths,
        "components": {
            "schemas": replies.take_definitions(true),
            "responses": {"problem": {
                "description": "The request could not be carried out.",
                "content": {deft_wire::problem::PROBLEM_TYPE: {"schema": problem}},
            }},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    })
}

/// Describes paths outside the table: they respond with other media types or need no token.
fn other_paths(health: &Schema) -> [(&'static str, Value); 3] {
    let health = |id: &str, summary: &str, is_refused: bool| {
        let reply = |description: &str| json!({"description": description, "content": {"application/json": {"schema": health}}});
        let mut responses = json!({
            "200": reply("The check passed."),
            "default": {"$ref": "#/components/responses/problem"},
        });
        if is_refused {
            responses["503"] = reply("Not ready; lists the reasons.");
        }
        json!({
            "operationId": id,
            "summary": summary,
            "tags": ["health"],
            "security": [],
            "parameters": [],
            "responses": responses,
        })
    };
    let query = |name: &str, schema: Value| json!({"name": name, "in": "query", "required": false, "schema": schema});
    let events = json!({
        "operationId": "get_events",
        "summary": "Stream events as server-sent events",
        "tags": ["events"],
        "x-scope": "read",
        "parameters": [
            query("after", json!({"type": "integer", "minimum": 0})),
            query("run", json!({"type": "string"})),
            query("skill", json!({"type": "string"})),
        ],
        "responses": {
            "200": {"description": "A stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            "default": {"$ref": "#/components/responses/problem"},
        },
    });
    [
        ("/api/v1/events", events),
        (
            "/healthz",
            health("get_healthz", "Check that the process is running", false),
        ),
        (
            "/readyz",
            health("get_readyz", "Check that deft is ready", true),
        ),
    ]
}

/// Describes deliveries to hooks, which are signed and have the format of their sender.
fn hook(receipt: &Schema) -> Value {
    json!({
        "operationId": "post_hooks_name",
        "summary": "Receive a signed delivery, which fires the skills of the hook",
        "tags": ["hooks"],
        "security": [],
        "parameters": [{
            "name": "name", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1},
        }],
        "requestBody": {"required": false, "content": {
            "application/json": {"schema": {}},
            "application/x-www-form-urlencoded": {"schema": {"type": "object"}},
        }},
        "responses": {
            "202": {"description": "Accepted.", "content": {"application/json": {"schema": receipt}}},
            "default": {"$ref": "#/components/responses/problem"},
        },
    })
}

/// Describes the sign-in of a browser, which has a code in place of a token.
fn sign_in(token: &Schema) -> Value {
    json!({
        "operationId": "post_sign_in",
        "summary": "Exchange a code of `deft open`, sent as the bearer token, for a token",
        "tags": ["tokens"],
        "security": [],
        "parameters": [],
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": {"schema": token}}},
            "default": {"$ref": "#/components/responses/problem"},
        },
    })
}

fn word(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
        Verb::Put => "put",
        Verb::Delete => "delete",
    }
}

fn operation(route: &Route, replies: &mut SchemaGenerator) -> Value {
    let description = &route.description;
    let reply = (description.reply)(replies);
    let mut responses = Map::new();
    for status in description.statuses {
        let shape = json!({
            "description": if *status == 202 { "Accepted; the work continues." } else { "Done." },
            "content": {"application/json": {"schema": reply}},
        });
        responses.insert(status.to_string(), shape);
    }
    if let Some(refusal) = description.refusal {
        let problem = replies.subschema_for::<deft_wire::problem::ProblemView>();
        let shape = json!({
            "description": "It was tried and failed.",
            "content": {
                "application/json": {"schema": refusal(replies)},
                deft_wire::problem::PROBLEM_TYPE: {"schema": problem},
            },
        });
        responses.insert("422".to_owned(), shape);
    }
    let problem = json!({"$ref": "#/components/responses/problem"});
    responses.insert("default".to_owned(), problem);
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": description.summary,
        "tags": [tag(route)],
        "x-scope": route.scope.word(),
        "parameters": parameters(route),
        "responses": responses,
    });
    if let Some(body) = description.body {
        let schema = body(&mut requests());
        let needed = schema.get("required").is_some();
        operation["requestBody"] = json!({
            "required": needed,
            "content": {"application/json": {"schema": schema}},
        });
    }
    operation
}

/// Creates a generator for schemas of requests, which are inlined.
fn requests() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    settings.into_generator()
}

fn parameters(route: &Route) -> Vec<Value> {
    let parts = route.path.split('/');
    let names = parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Value> = names
        .map(|name| {
            json!({
                "name": name,
                "in": "path",
                "required": true,
                "schema": {"type": "string", "minLength": 1},
            })
        })
        .collect();
    if let Some(query) = route.description.query {
        let schema = query(&mut requests()).to_value();
        let needed = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, shape) in schema["properties"].as_object().into_iter().flatten() {
            all.push(json!({
                "name": name,
                "in": "query",
                "required": needed.iter().any(|one| one == name),
                "schema": without_null(shape),
            }));
        }
    }
    if route.verb == Verb::Post {
        all.push(json!({
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        }));
    }
    all
}

/// Removes null from the type of a query parameter: an absent parameter is omitted, never null.
fn without_null(shape: &Value) -> Value {
    let mut shape = shape.clone();
    if let Some(kinds) = shape["type"].as_array() {
        let kinds: Vec<&Value> = kinds.iter().filter(|kind| **kind != "null").collect();
        if let [only] = kinds[..] {
            shape["type"] = only.clone();
        }
    }
    if let Some(fields) = shape.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    shape
}

/// `get_runs_id` for `GET /api/v1/runs/{id}`.
fn operation_id(route: &Route) -> String {
    let path = route.path.trim_start_matches("/api/v1");
    let parts = path
        .split(['/', '{', '}', '.'])
        .filter(|part| !part.is_empty());
    let parts: Vec<&str> = std::iter::once(word(route.verb)).chain(parts).collect();
    parts.join("_")
}

fn tag(route: &Route) -> &'static str {
    let path = route
        .path
        .trim_start_matches("/api/v1/")
        .trim_start_matches('/');
    path.split('/').next().unwrap_or_default()
}
