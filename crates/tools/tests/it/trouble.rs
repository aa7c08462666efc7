//! Secrets, failures, deadlines.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use deft_model::FailureClass;
use deft_testkit::{Kind, Script};
use deft_tools::{Call, Reference, Reveal, Secret, SecretSource};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{World, call, object, until, value};

struct Vault;

impl Reveal for Vault {
    fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains("<<pin>>") {
            text.replace("<<pin>>", "1234-s3cret").into()
        } else {
            text.into()
        }
    }

    fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        text.replace("1234-s3cret", "<<pin>>").into()
    }
}

impl SecretSource for Vault {
    fn secret(&self, reference: &str) -> Result<Secret, String> {
        (reference == "env:PIN")
            .then(|| Secret::new("c0nf\"ig/key"))
            .ok_or_else(|| "it is not set".to_owned())
    }
}

#[tokio::test]
async fn secrets_reach_only_the_tool() {
    let mut world = World::with(
        "demo",
        &Script::new()
            .tool("echo", json!({}))
            .tool("refuse", json!({"error": "bad pin ${pin}"}))
            .tool("crash", json!({"die": "before"}))
            .with("stderr", json!("started with c0nf\"ig/key")),
    );
    world.environment.secrets = Arc::new(Vault);
    let demo = world.options.servers.get_mut("demo").unwrap();
    demo.env.insert("PIN".to_owned(), Reference::new("env:PIN"));
    let router = world.router();
    let secret = |tool| Call {
        reveal: &Vault,
        ..Call::new(tool, object(json!({"pin": ["a <<pin>>"], "n": "<<pin>>"})))
    };
    let reply = router.call(secret("echo")).await.unwrap();
    assert_eq!(
        reply.value,
        json!({"pin": ["a 1234-s3cret"], "n": "1234-s3cret"})
    );
    let failure = router.call(secret("refuse")).await.unwrap_err();
    assert!(
        failure.message.contains("<<pin>>") && !failure.message.contains("s3cret"),
        "{failure}"
    );
    let lost = call(&router, "crash", json!({})).await.unwrap_err();
    assert!(lost.message.contains("started with ***"), "{lost}");
    assert!(!format!("{:?} {:?}", world.options, router.health()).contains("c0nf"));
}

/// A secret from a server's configuration never occurs in its results, in any encoding.
#[tokio::test]
async fn secrets_of_the_configuration_stay_with_the_server() {
    let (standard, safe) = ("YzBuZiJpZy9rZXk=", "YzBuZiJpZy9rZXk");
    let script = Script::new()
        .tool("variable", json!({"env": "PIN"}))
        .tool(
            "json",
            json!({"text": "{\"key\": \"c0nf\\\"ig/key\", \"n\": 1}"}),
        )
        .tool(
            "quoted",
            json!({"text": "it said {\"key\": \"c0nf\\\"ig/key\"}"}),
        )
        .tool("encoded", json!({"text": format!("{standard} {safe}")}))
        .tool(
            "structured",
            json!({"structured": {"c0nf\"ig/key": [format!("Basic {standard}")]}}),
        )
        .tool("refuse", json!({"error": format!("bad key {safe}")}))
        .tool(
            "rpc",
            json!({"rpc_error": {"code": -32603, "message": "bad key c0nf\"ig/key"}}),
        );
    let mut world = World::with("demo", &script);
    world.environment.secrets = Arc::new(Vault);
    let demo = world.options.servers.get_mut("demo").unwrap();
    demo.env.insert("PIN".to_owned(), Reference::new("env:PIN"));
    demo.env.insert("PLAIN".to_owned(), Reference::new("Basic"));
    let router = world.router();
    for (tool, expected) in [
        ("variable", json!("***")),
        ("json", json!({"key": "***", "n": 1})),
        ("quoted", json!("it said {\"key\": \"***\"}")),
        ("encoded", json!("*** ***")),
        ("structured", json!({"***": ["Basic ***"]})),
    ] {
        let reply = call(&router, tool, json!({})).await.unwrap();
        assert_eq!(reply.value, expected, "{tool}");
        assert!(!format!("{reply:?}").contains("c0nf"), "{reply:?}");
    }
    for tool in ["refuse", "rpc"] {
        let failure = call(&router, tool, json!({})).await.unwrap_err();
        assert!(failure.message.ends_with("bad key ***"), "{failure}");
    }
}

#[tokio::test]
async fn a_missing_secret_blocks_the_server() {
    let mut world = World::with("demo", &Script::new().tool("echo", json!({})));
    let demo = world.options.servers.get_mut("demo").unwrap();
    demo.env
        .insert("PIN".to_owned(), Reference::new("env:NOPE"));
    let failure = call(&world.router(), "demo.echo", json!({}))
        .await
        .unwrap_err();
    assert!(
        failure.blocked && failure.message.contains("env:NOPE"),
        "{failure}"
    );
}

#[tokio::test]
async fn failures_have_classes() {
    let world = World::with(
        "demo",
        &Script::new()
            .tool("route", json!({"error": "ssh: connect: No route to host"}))
            .tool("token", json!({"error": "401 token expired"}))
            .tool("quota", json!({"error": "daily quota used up"}))
            .tool("gone", json!({"error": "page not found"}))
            .tool("other", json!({"error": "unlimited weirdness"}))
            .tool(
                "params",
                json!({"rpc_error": {"code": -32602, "message": "bad params"}}),
            )
            .tool(
                "method",
                json!({"rpc_error": {"code": -32601, "message": "no method"}}),
            )
            .tool(
                "internal",
                json!({"rpc_error": {"code": -32603, "message": "connection refused"}}),
            ),
    );
    let router = world.router();
    for (tool, class) in [
        ("route", FailureClass::Network),
        ("token", FailureClass::Auth),
        ("quota", FailureClass::Quota),
        ("gone", FailureClass::NotFound),
        ("other", FailureClass::Other),
        ("params", FailureClass::Invalid),
        ("method", FailureClass::NotFound),
        ("internal", FailureClass::Network),
    ] {
        let failure = call(&router, tool, json!({})).await.unwrap_err();
        assert_eq!(failure.class, class, "{tool}: {failure}");
        assert!(!failure.in_doubt && !failure.blocked, "{tool}");
    }
}

#[tokio::test]
async fn a_tool_may_fail_twice_and_then_work() {
    let world = World::with(
        "demo",
        &Script::new().tool(
            "flaky",
            json!({"fail": {"times": 2, "error": "no"}, "text": "yes"}),
        ),
    );
    let router = world.router();
    for _ in 0..2 {
        assert!(call(&router, "flaky", json!({})).await.is_err());
    }
    assert_eq!(value(&router, "flaky", json!({})).await, json!("yes"));
}

#[tokio::test]
async fn a_deadline_leaves_the_call_in_doubt_and_cancels_it_at_the_server() {
    let world = World::with(
        "demo",
        &Script::new()
            .tool("hang", json!({"hang": true}))
            .tool("echo", json!({})),
    );
    let router = world.router();
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
    let deadline = Some(Duration::from_millis(100));
    let failure = router
        .call(Call {
            deadline,
            ..Call::new("hang", object(json!({})))
        })
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Timeout);
    assert!(failure.in_doubt && !failure.blocked, "{failure}");
    until("the server is told", || {
        world
            .witness("demo")
            .iter()
            .any(|event| event.kind == Kind::Cancelled)
    })
    .await;
    assert_eq!(
        value(&router, "echo", json!({"still": "here"})).await,
        json!({"still": "here"})
    );
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_notifies_the_server() {
    let world = World::with("demo", &Script::new().tool("hang", json!({"hang": true})));
    let router = world.router();
    let cancel = CancellationToken::new();
    let call = Call {
        cancel: cancel.clone(),
        ..Call::new("demo.hang", object(json!({})))
    };
    let stop = async {
        until("the call is there", || {
            world
                .witness("demo")
                .iter()
                .any(|event| event.kind == Kind::Started)
        })
        .await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(router.call(call), stop);
    let failure = outcome.unwrap_err();
    assert_eq!(failure.class, FailureClass::Cancelled);
    assert!(failure.in_doubt);
    until("the server is told", || {
        world
            .witness("demo")
            .iter()
            .any(|event| event.kind == Kind::Cancelled)
    })
    .await;
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_too() {
    let world = World::with("demo", &Script::new().tool("hang", json!({"hang": true})));
    let router = world.router();
    let call = router.call(Call::new("demo.hang", object(json!({}))));
    assert!(
        tokio::time::timeout(Duration::from_secs(2), call)
            .await
            .is_err()
    );
    until("the server is told", || {
        world
            .witness("demo")
            .iter()
            .any(|event| event.kind == Kind::Cancelled)
    })
    .await;
}

#[tokio::test]
async fn concurrent_calls_are_limited() {
    let mut world = World::with("demo", &Script::new().tool("slow", json!({"delay_ms": 30})));
    world.options.servers.get_mut("demo").unwrap().concurrency = 2;
    let router = world.router();
    let calls: Vec<_> = (0..6)
        .map(|n| {
            let router = router.clone();
            tokio::spawn(async move { call(&router, "demo.slow", json!({"n": n})).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let (mut open, mut most) = (0_i32, 0);
    for event in world.witness("demo") {
        match event.kind {
            Kind::Started => open += 1,
            Kind::Finished => open -= 1,
            Kind::Up | Kind::Cancelled => {}
        }
        most = most.max(open);
    }
    assert_eq!(most, 2);
}
