//! Tests of servers at a URL.

use std::sync::Arc;

use deft_model::FailureClass;
use deft_testkit::{HttpServer, Script};
use deft_tools::{Reference, Secret, SecretSource, ServerOptions, ServerState};
use serde_json::json;

use crate::support::{World, call, value};

fn script() -> Script {
    Script::new()
        .tool("echo", json!({}))
        .tool("quota", json!({"http_status": 429}))
        .tool("forbidden", json!({"http_status": 403}))
        .tool("gateway", json!({"http_status": 504}))
        .tool("broken", json!({"http_status": 500}))
        .tool("error", json!({"error": "page not found"}))
        .tool("huge", json!({"huge": 3_000_000}))
}

fn world(script: &Script, flags: &[&str]) -> (World, HttpServer) {
    let mut world = World::new();
    let server = HttpServer::start(&script.write(world.path(), "web"), flags);
    world
        .options
        .servers
        .insert("web".to_owned(), ServerOptions::url(&server.url));
    world.options.max_reply_bytes = 1_000_000;
    (world, server)
}

#[tokio::test]
async fn calls_over_http_in_all_forms() {
    for era in ["legacy", "modern"] {
        for flags in [
            &[][..],
            &["--sse"],
            &["--sessions"],
            &["--sse", "--sessions"],
        ] {
            let (world, _server) = world(&script().with("era", json!(era)), flags);
            let router = world.router();
            assert_eq!(
                value(&router, "echo", json!({"a": 1})).await,
                json!({"a": 1}),
                "{era} {flags:?}"
            );
            let failure = call(&router, "error", json!({})).await.unwrap_err();
            assert_eq!(failure.class, FailureClass::NotFound, "{era} {flags:?}");
            let huge = call(&router, "huge", json!({})).await.unwrap_err();
            assert_eq!(
                (huge.class, huge.in_doubt),
                (FailureClass::Limit, true),
                "{era} {flags:?}: {huge}"
            );
            assert_eq!(
                value(&router, "echo", json!({})).await,
                json!({}),
                "{era} {flags:?}"
            );
            router.shutdown().await;
        }
    }
}

#[tokio::test]
async fn http_statuses_decide_the_class() {
    let (world, _server) = world(&script(), &[]);
    let router = world.router();
    for (tool, class, in_doubt) in [
        ("quota", FailureClass::Quota, false),
        ("forbidden", FailureClass::Auth, false),
        ("gateway", FailureClass::Timeout, true),
        ("broken", FailureClass::Network, true),
    ] {
        let failure = call(&router, tool, json!({})).await.unwrap_err();
        assert_eq!(
            (failure.class, failure.in_doubt),
            (class, in_doubt),
            "{tool}: {failure}"
        );
        assert!(!failure.blocked, "{tool}");
    }
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
}

struct Token;

impl SecretSource for Token {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Ok(Secret::new("t0ken"))
    }
}

#[tokio::test]
async fn headers_carry_secrets() {
    let script = script()
        .tool("leak", json!({"text": "you are t0ken, Bearer dDBrZW4="}))
        .with("token", json!("t0ken"));
    let (mut world, _server) = world(&script, &[]);
    let failure = call(&world.router(), "web.echo", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.class, failure.blocked),
        (FailureClass::Auth, true),
        "{failure}"
    );
    world.environment.secrets = Arc::new(Token);
    let headers = &mut world.options.servers.get_mut("web").unwrap().headers;
    headers.insert(
        "Authorization".to_owned(),
        Reference::new("Bearer env:TOKEN"),
    );
    let router = world.router();
    assert_eq!(value(&router, "web.echo", json!({})).await, json!({}));
    let leak = value(&router, "web.leak", json!({})).await;
    assert_eq!(leak, json!("you are ***, Bearer ***"));
}

#[tokio::test]
async fn calls_work_after_a_server_returns() {
    let (world, server) = world(&script(), &[]);
    let router = world.router();
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
    let port = server.port;
    drop(server);
    let failure = call(&router, "echo", json!({})).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Network, "{failure}");
    let arguments = script().write(world.path(), "web");
    let _again = HttpServer::start_on(port, &arguments, &[]);
    assert_eq!(
        value(&router, "echo", json!({"back": 1})).await,
        json!({"back": 1})
    );
    assert_eq!(router.health()[0].state, ServerState::Ready);
}

#[tokio::test]
async fn an_unreachable_address_is_a_network_failure() {
    let mut world = World::new();
    world.options.servers.insert(
        "web".to_owned(),
        ServerOptions::url("http://127.0.0.1:9/mcp"),
    );
    let failure = call(&world.router(), "web.echo", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.class, failure.blocked, failure.in_doubt),
        (FailureClass::Network, true, false),
        "{failure}"
    );
}

#[tokio::test]
async fn an_unreadable_reply_fails_its_call_at_once() {
    let reply = |result: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"content\":{result}}}}}")
    };
    let script = Script::new()
        .tool("deep", json!({"raw_line": reply("\"DEEP\"")}))
        .tool("odd", json!({"raw_line": reply("[\"BADBYTE\"]")}))
        .tool(
            "half",
            json!({"raw_line": "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{"}),
        )
        .tool("bad", json!({"schema": {"properties": {"x": "DEEP"}}}))
        .tool("echo", json!({}));
    for flags in [&[][..], &["--sse"]] {
        let (world, _server) = world(&script, flags);
        let router = world.router();
        for (tool, reason) in [
            ("deep", "the reply is nested too deeply"),
            ("odd", "the reply is not UTF-8"),
            ("half", "the reply is not JSON"),
            ("bad", "its schema is nested too deeply"),
        ] {
            let failure = call(&router, tool, json!({})).await.unwrap_err();
            assert_eq!(failure.class, FailureClass::Invalid, "{flags:?} {failure}");
            assert!(failure.message.ends_with(reason), "{flags:?} {failure}");
        }
        assert_eq!(value(&router, "echo", json!({})).await, json!({}));
    }
}
