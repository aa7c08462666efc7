//! Faulty servers: only their own calls fail.

use std::time::{Duration, Instant};

use deft_model::FailureClass;
use deft_testkit::{Kind, Script};
use deft_tools::{Call, ServerState};
use serde_json::json;

use crate::support::{World, call, object, until, value};

/// A world with a faulty server and a good one.
fn with_a_good_server(bad: &Script) -> World {
    let mut world = World::with("bad", bad);
    world.add("good", &Script::new().tool("echo", json!({})));
    world
}

async fn good_works(router: &deft_tools::Router) {
    let started = Instant::now();
    assert_eq!(
        value(router, "good.echo", json!({"x": 1})).await,
        json!({"x": 1})
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_server_that_exits_during_a_call_leaves_it_in_doubt_and_restarts() {
    let world = with_a_good_server(
        &Script::new()
            .tool("die", json!({"die": "after"}))
            .tool("echo", json!({})),
    );
    let router = world.router();
    let failure = call(&router, "bad.die", json!({})).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Network);
    assert!(failure.in_doubt && !failure.blocked, "{failure}");
    assert!(failure.message.contains("exit status: 4"), "{failure}");
    let kinds: Vec<_> = world
        .witness("bad")
        .iter()
        .map(|event| event.kind)
        .collect();
    assert_eq!(kinds, [Kind::Up, Kind::Started, Kind::Finished]);
    good_works(&router).await;
    assert_eq!(value(&router, "bad.echo", json!({})).await, json!({}));
}

#[tokio::test]
async fn an_exit_before_the_call_is_sent_leaves_no_doubt() {
    let world = World::with(
        "demo",
        &Script::new()
            .tool("die", json!({"die": "before"}))
            .tool("echo", json!({})),
    );
    let router = world.router();
    let first = call(&router, "demo.die", json!({})).await.unwrap_err();
    assert!(first.in_doubt);
    // The next call waits for the restart and is not affected by the crash.
    assert_eq!(value(&router, "demo.echo", json!({})).await, json!({}));
    assert_eq!(router.health()[0].starts, 2);
}

#[tokio::test]
async fn a_reply_that_is_too_large_fails_only_its_call() {
    let mut world = with_a_good_server(
        &Script::new()
            .tool("first", json!({"huge": 3_000_000}))
            .tool("last", json!({"huge": 3_000_000, "id_last": true}))
            .tool("fits", json!({"huge": 900_000}))
            .tool("mammoth", json!({"huge": 100_000_000})),
    );
    world.options.max_reply_bytes = 1_000_000;
    let router = world.router();
    for tool in ["bad.first", "bad.last", "bad.mammoth"] {
        let failure = call(&router, tool, json!({})).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Limit, "{tool}: {failure}");
        assert!(failure.in_doubt, "the tool did its work");
        good_works(&router).await;
    }
    let reply = call(&router, "bad.fits", json!({})).await.unwrap();
    assert_eq!(reply.bytes, 900_000);
    let health = router.health();
    assert_eq!(
        (health[0].starts, &health[0].state),
        (1, &ServerState::Ready),
        "the connection survives"
    );
}

#[tokio::test]
async fn floods_and_garbage_are_skipped() {
    let world = with_a_good_server(
        &Script::new()
            .tool("flood", json!({"flood": 50_000, "text": "dry"}))
            .tool("garbage", json!({"garbage": 20_000, "text": "clean"}))
            .tool("blob", json!({"garbage_bytes": 20_000_000, "text": "slim"}))
            .tool("broken", json!({"raw_line": "{\"id\":ID,\"result\":{}}"}))
            .with("start", json!({"garbage": 100})),
    );
    let router = world.router();
    let (flood, ()) = tokio::join!(value(&router, "bad.flood", json!({})), good_works(&router));
    assert_eq!(flood, json!("dry"));
    assert_eq!(
        value(&router, "bad.garbage", json!({})).await,
        json!("clean")
    );
    assert_eq!(value(&router, "bad.blob", json!({})).await, json!("slim"));
    let failure = call(&router, "bad.broken", json!({})).await.unwrap_err();
    assert!(
        failure.message.contains("sent an invalid message") && failure.in_doubt,
        "{failure}"
    );
    good_works(&router).await;
}

#[tokio::test]
async fn an_endless_flood_ends_the_connection() {
    let world = with_a_good_server(&Script::new().tool("flood", json!({"flood": 100_000_000})));
    let router = world.router();
    let (outcome, ()) = tokio::join!(call(&router, "bad.flood", json!({})), good_works(&router));
    let failure = outcome.unwrap_err();
    assert!(
        failure.message.contains("flood") && failure.in_doubt,
        "{failure}"
    );
    good_works(&router).await;
}

#[tokio::test]
async fn an_endless_line_ends_the_connection() {
    let world = with_a_good_server(
        &Script::new().tool("blob", json!({"garbage_bytes": 200_000_000, "hang": true})),
    );
    let router = world.router();
    let failure = call(&router, "bad.blob", json!({})).await.unwrap_err();
    assert!(
        failure.message.contains("not a protocol message"),
        "{failure}"
    );
    good_works(&router).await;
}

#[tokio::test]
async fn a_server_that_is_never_ready_times_out() {
    for script in [
        Script::new().with("start", json!({"hang": true})),
        Script::new().with("start", json!({"die": true})),
    ] {
        let mut world = with_a_good_server(&script.with("stderr", json!("cannot open display")));
        world
            .options
            .servers
            .get_mut("bad")
            .unwrap()
            .startup_timeout = Duration::from_millis(500);
        let router = world.router();
        let (outcome, ()) = tokio::join!(call(&router, "bad.x", json!({})), good_works(&router));
        let failure = outcome.unwrap_err();
        assert_eq!(failure.class, FailureClass::Network);
        assert!(failure.blocked && !failure.in_doubt, "{failure}");
        assert!(failure.message.contains("cannot open display"), "{failure}");
    }
}

#[tokio::test]
async fn a_hanging_start_does_not_delay_bare_names() {
    let world = with_a_good_server(&Script::new().with("start", json!({"hang": true})));
    let router = world.router();
    let started = Instant::now();
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let mut world = World::new();
    let server = deft_tools::ServerOptions::command("/no/such/program", &[]);
    world.options.servers.insert("demo".to_owned(), server);
    let failure = call(&world.router(), "demo.x", json!({}))
        .await
        .unwrap_err();
    assert!(
        failure.blocked
            && failure
                .message
                .contains("`/no/such/program`: the program does not exist"),
        "{failure}"
    );
}

#[tokio::test]
async fn the_circuit_opens_after_five_failures() {
    let world = with_a_good_server(&Script::new().with("start", json!({"die": true})));
    let mut options = world.options.clone();
    // The tool is known from a stored catalog, so calls reach the server.
    let router = world.router();
    let tools = Script::new().tool("echo", json!({}));
    options
        .servers
        .insert("bad".to_owned(), world.server("bad", &tools));
    let earlier = deft_tools::Router::new(options, world.environment.clone());
    assert!(earlier.list_servers().await.is_empty());
    earlier.shutdown().await;
    world.server("bad", &Script::new().with("start", json!({"die": true})));
    router.restore(world.catalogs.lock().unwrap().clone());
    for n in 0..5 {
        let failure = call(&router, "bad.echo", json!({})).await.unwrap_err();
        assert!(
            failure.message.contains("could not be started"),
            "{n}: {failure}"
        );
    }
    let failure = call(&router, "bad.echo", json!({})).await.unwrap_err();
    assert!(failure.blocked && failure.class == FailureClass::Network && !failure.in_doubt);
    assert!(
        failure
            .message
            .contains("failed repeatedly; next attempt in"),
        "{failure}"
    );
    assert!(matches!(
        router.health()[0].state,
        ServerState::CircuitOpen { .. }
    ));
    good_works(&router).await;
}

#[tokio::test]
async fn an_unresponsive_server_is_restarted() {
    // One call that blocks the whole process, as in a single-threaded server.
    let world = World::with(
        "demo",
        &Script::new()
            .tool("freeze", json!({"freeze": true}))
            .tool("echo", json!({})),
    );
    let router = world.router();
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
    let deadline = Some(Duration::from_millis(200));
    let failure = router
        .call(Call {
            deadline,
            ..Call::new("freeze", object(json!({})))
        })
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Timeout);
    until("it is ended", || {
        router.health()[0].state != ServerState::Ready
    })
    .await;
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
}

#[tokio::test]
async fn requests_of_a_server_are_declined() {
    let world = World::with(
        "demo",
        &Script::new()
            .tool("elicit", json!({"ask": "elicitation/create"}))
            .tool("sample", json!({"ask": "sampling/createMessage"}))
            .tool("roots", json!({"ask": "roots/list"}))
            .tool("ping", json!({"ask": "ping"})),
    );
    let router = world.router();
    for tool in ["elicit", "sample", "roots"] {
        let answer = value(&router, tool, json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{tool}: {answer}");
    }
    assert_eq!(value(&router, "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn endless_pages_are_limited() {
    let world = World::with(
        "demo",
        &Script::new()
            .tool("echo", json!({}))
            .with("page", json!(1))
            .with("endless_pages", json!(true)),
    );
    let router = world.router();
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
}
