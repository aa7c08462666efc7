//! Hostile servers: their messages are limited, contain no secrets and have no effects.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use deft_model::FailureClass;
use deft_testkit::Script;
use deft_tools::{DisabledTool, Reference, Secret, SecretSource, ServerState};
use serde_json::json;

use crate::support::{World, call, until, value};

/// A source of secrets by reference.
struct Secrets(BTreeMap<&'static str, &'static str>);

impl SecretSource for Secrets {
    fn secret(&self, reference: &str) -> Result<Secret, String> {
        let found = self.0.get(reference).copied();
        found.map(Secret::new).ok_or_else(|| "unknown".to_owned())
    }
}

const OWN: &str = "own/Secret+1234567";
const KEY: &str = "sk-provider-KEY-0123456789";

/// A world whose server received its own secret, and knows the key of a model provider without having
/// received it.
fn with_secrets(script: &Script) -> World {
    let mut world = World::new();
    let server = world.add("bad", script);
    server
        .env
        .insert("OWN".to_owned(), Reference::new("env:OWN"));
    server.env.insert("KEY".to_owned(), Reference::new(KEY));
    world.options.withheld = vec![Reference::new("env:PROVIDER")];
    let known = BTreeMap::from([("env:OWN", OWN), ("env:PROVIDER", KEY)]);
    world.environment.secrets = Arc::new(Secrets(known));
    world
}

/// A keyring that reports each lookup, and waits until its user has unlocked it.
struct LockedKeyring {
    asked: tokio::sync::mpsc::UnboundedSender<String>,
    unlocked: Mutex<mpsc::Receiver<()>>,
}

impl SecretSource for LockedKeyring {
    fn secret(&self, reference: &str) -> Result<Secret, String> {
        self.asked.send(reference.to_owned()).unwrap();
        let unlocked = self.unlocked.lock().unwrap();
        unlocked.recv_timeout(Duration::from_secs(30)).unwrap();
        Ok(Secret::new(format!("secret-of-{reference}")))
    }

    fn runs_program(&self, _: &str) -> bool {
        true
    }
}

/// Calls wait for a locked keyring together, on no thread of the runtime, and never hide only the secrets of replaced
/// options.
#[tokio::test]
async fn secrets_are_looked_up_once_and_again_for_new_options() {
    let (asked, mut lookups) = tokio::sync::mpsc::unbounded_channel();
    let (user, unlocked) = mpsc::channel();
    let unlocked = Mutex::new(unlocked);
    let mut world = World::new();
    world.environment.secrets = Arc::new(LockedKeyring { asked, unlocked });
    world.options.withheld = vec![Reference::new("keyring:old")];
    let router = world.router();
    let redact = || {
        let router = router.clone();
        tokio::spawn(async move { router.redaction().await })
    };
    let waiting = [redact(), redact()];
    assert_eq!(lookups.recv().await.unwrap(), "keyring:old");
    let mut options = world.options.clone();
    options.withheld = vec![Reference::new("keyring:new")];
    router.reload(options);
    user.send(()).unwrap();
    assert_eq!(lookups.recv().await.unwrap(), "keyring:new");
    user.send(()).unwrap();
    for redaction in waiting {
        let redaction = redaction.await.unwrap();
        assert_eq!(redaction.text("a secret-of-keyring:new"), "a ***");
    }
    assert!(lookups.try_recv().is_err(), "looked up once for both");
}

#[tokio::test]
async fn an_unreadable_reply_fails_its_call_at_once() {
    let reply = |result: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{result}}}");
    let deep = reply("{\"content\":[],\"structuredContent\":\"DEEP\"}");
    let odd = reply("{\"content\":[{\"type\":\"text\",\"text\":\"BADBYTE\"}]}");
    let world = World::with(
        "bad",
        &Script::new()
            .tool("deep", json!({ "raw_line": deep }))
            .tool("odd", json!({ "raw_line": odd }))
            .tool(
                "half",
                json!({"raw_line": "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"a"}),
            )
            .tool("echo", json!({})),
    );
    let router = world.router();
    for (tool, reason) in [
        ("deep", "the reply is nested too deeply"),
        ("odd", "the reply is not UTF-8"),
        ("half", "the reply is not JSON"),
    ] {
        let started = Instant::now();
        let failure = call(&router, tool, json!({})).await.unwrap_err();
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "{tool}: {failure}"
        );
        assert_eq!(failure.class, FailureClass::Invalid, "{tool}: {failure}");
        assert!(
            failure.message.ends_with(reason) && failure.in_doubt,
            "{failure}"
        );
        assert_eq!(value(&router, "echo", json!({})).await, json!({}));
    }
    assert_eq!(router.health()[0].starts, 1, "the connection survives");
}

#[tokio::test]
async fn a_reply_without_an_id_ends_the_connection_at_once() {
    let world = World::with(
        "bad",
        &Script::new()
            .tool(
                "lost",
                json!({"raw_line": "{\"jsonrpc\":\"2.0\",\"result\":\"DEEP\"}"}),
            )
            .tool("echo", json!({})),
    );
    let router = world.router();
    let started = Instant::now();
    let failure = call(&router, "lost", json!({})).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(10), "{failure}");
    assert!(
        failure
            .message
            .contains("nested too deeply, and its `id` cannot be read"),
        "{failure}"
    );
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
}

#[tokio::test]
async fn one_bad_tool_is_disabled_and_the_others_work() {
    let world = World::with(
        "bad",
        &Script::new()
            .tool(
                "deep",
                json!({"schema": {"type": "object", "properties": {"x": "DEEP"}}}),
            )
            .tool("type", json!({"schema": {"type": "objekt"}}))
            .tool("list", json!({"schema": ["no object"]}))
            .tool("bell\u{7}", json!({}))
            .tool("odd", json!({"description": "BADBYTE"}))
            .tool("echo", json!({})),
    );
    let router = world.router();
    assert_eq!(
        value(&router, "echo", json!({"x": 1})).await,
        json!({"x": 1})
    );
    assert_eq!(value(&router, "odd", json!({})).await, json!({}));
    let health = router.health().remove(0);
    assert_eq!((health.tools, health.starts), (2, 1));
    let reasons: BTreeMap<&str, &str> = health
        .disabled
        .iter()
        .map(|DisabledTool { name, reason }| (name.as_str(), reason.as_str()))
        .collect();
    assert_eq!(
        reasons.keys().copied().collect::<Vec<_>>(),
        ["bell?", "deep", "list", "type"]
    );
    assert_eq!(reasons["deep"], "its schema is nested too deeply");
    assert_eq!(
        reasons["bell?"],
        "its name has characters that cannot be shown"
    );
    assert!(
        reasons["type"].starts_with("its schema is invalid: "),
        "{reasons:?}"
    );
    assert!(
        reasons["list"].starts_with("it cannot be read: "),
        "{reasons:?}"
    );
    for name in ["deep", "bad.deep"] {
        let failure = call(&router, name, json!({})).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Invalid, "{failure}");
        assert!(
            failure.message.contains("is disabled: its schema"),
            "{failure}"
        );
    }
    let probe = router.probe("bad").await.unwrap();
    assert_eq!(probe.disabled, health.disabled);
}

#[tokio::test]
async fn no_output_of_a_server_contains_a_secret() {
    let both = "ENV(OWN) ENV(KEY)";
    let world = with_secrets(
        &Script::new()
            .with("version", json!(both))
            .with("instructions", json!(both))
            .tool(
                "tell",
                json!({"title": both, "description": both, "text": both, "schema": {
                    "type": "object", "properties": {"ENV(OWN)": {"default": "ENV(KEY)"}}}}),
            )
            .tool("tool ENV(OWN)", json!({}))
            .tool("fail", json!({ "error": both }))
            .tool(
                "refuse",
                json!({"rpc_error": {"code": -1, "message": both}}),
            )
            .tool(
                "die",
                json!({"run": "echo \"$OWN $KEY\" >&2", "die": "before"}),
            ),
    );
    let router = world.router();
    assert_eq!(value(&router, "tell", json!({})).await, json!("*** ***"));
    let mut said = vec![
        format!("{:?}", router.list()),
        format!("{:?}", router.probe("bad").await),
    ];
    for tool in ["fail", "refuse", "die"] {
        let failure = call(&router, tool, json!({})).await.unwrap_err();
        assert!(failure.message.contains("*** ***"), "{tool}: {failure}");
        said.push(format!("{failure:?}"));
    }
    said.push(format!("{:?}", router.health()));
    said.push(format!("{:?}", world.catalogs.lock().unwrap()));
    for text in &said {
        assert!(!text.contains(OWN) && !text.contains(KEY), "{text}");
    }
    let tools = router.list();
    let tool = tools.iter().find(|tool| tool.name == "tell").unwrap();
    assert_eq!(
        (tool.title.as_deref(), tool.description.as_str()),
        (Some("*** ***"), "*** ***")
    );
    assert_eq!(
        *tool.input_schema,
        json!({"type": "object", "properties": {"***": {"default": "***"}}})
    );
    let health = router.health().remove(0);
    assert_eq!(health.disabled[0].reason, "its name contains a secret");
}

#[tokio::test]
async fn the_key_of_a_provider_is_hidden_in_results_of_built_in_tools() {
    let mut world = with_secrets(&Script::new());
    std::fs::write(world.path().join("key.txt"), format!("key={KEY}\n")).unwrap();
    world.options.file.folders = vec![world.path().to_owned()];
    world.options.shell.enabled = true;
    let router = world.router();
    let read = value(&router, "file.read", json!({"path": "key.txt"})).await;
    assert_eq!(read, json!("key=***\n"));
    let shown = value(
        &router,
        "shell.run",
        json!({"command": "od -An -tx1 key.txt"}),
    )
    .await;
    assert!(shown["stdout"].as_str().unwrap().contains("***"), "{shown}");
    let failed = call(
        &router,
        "shell.run",
        json!({"command": "cat key.txt >&2; exit 1"}),
    )
    .await;
    assert!(failed.unwrap_err().message.ends_with("key=***"));
}

#[tokio::test]
async fn a_flood_of_requests_is_limited_and_logged_in_total() {
    let log = crate::support::Log::default();
    let _guard = log.follow();
    let world = World::with(
        "bad",
        &Script::new()
            .tool("ask", json!({"requests": 20_000, "text": "done"}))
            .tool("shout", json!({"flood": 20_000, "text": "done"})),
    );
    let router = world.router();
    assert_eq!(value(&router, "ask", json!({})).await, json!("done"));
    assert_eq!(value(&router, "shout", json!({})).await, json!("done"));
    router.shutdown().await;
    until("the server is gone", || {
        router.health()[0].state == ServerState::Stopped
    })
    .await;
    let lines = log.lines();
    assert!(lines.len() <= 3, "{} lines: {:?}", lines.len(), &lines[..3]);
    let summary = lines
        .iter()
        .find(|line| line.contains("too many unsolicited messages"));
    let summary = summary.unwrap_or_else(|| panic!("{lines:?}"));
    assert!(
        summary.contains("requests=20000") && summary.contains("notifications=20000"),
        "{summary}"
    );
}

#[tokio::test]
async fn error_output_is_limited_with_a_count_of_dropped_lines() {
    let world = World::with(
        "bad",
        &Script::new().tool("die", json!({"stderr_lines": 100_000, "die": "before"})),
    );
    let router = world.router();
    let failure = call(&router, "die", json!({})).await.unwrap_err();
    assert!(failure.message.len() < 1000, "{failure}");
    assert!(failure.message.contains("lines dropped"), "{failure}");
    assert!(failure.message.contains("complaint 99999"), "{failure}");
}
