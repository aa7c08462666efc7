//! Names of tools, arguments and values of calls.

use deft_model::{Effects, FailureClass};
use deft_testkit::{Kind, Script, start_work};
use deft_tools::{Call, ToolLookup};
use serde_json::{Value, json};

use crate::support::{World, call, object, value};

fn echo() -> Script {
    Script::new().tool("echo", json!({"annotations": {"readOnlyHint": true}}))
}

#[tokio::test]
async fn a_call_starts_the_server_and_returns_the_value() {
    let world = World::with("demo", &echo());
    let router = world.router();
    assert_eq!(
        router.find("echo"),
        ToolLookup::Unknown {
            servers: vec!["demo".to_owned()]
        }
    );
    assert_eq!(
        value(&router, "echo", json!({"a": 1})).await,
        json!({"a": 1})
    );
    assert_eq!(
        value(&router, "demo.echo", json!({"a": [2]})).await,
        json!({"a": [2]})
    );
    let ToolLookup::Tool(tool) = router.find("echo") else {
        panic!()
    };
    assert_eq!(
        (tool.full_name().as_str(), tool.shown.as_str()),
        ("demo.echo", "echo")
    );
    assert_eq!(router.effects("echo"), Some(Effects::None));
    let starts = world
        .witness("demo")
        .iter()
        .filter(|event| event.kind == Kind::Up)
        .count();
    assert_eq!(starts, 1);
    router.shutdown().await;
}

#[tokio::test]
async fn values_of_all_kinds_are_returned() {
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    let world = World::with(
        "demo",
        &Script::new()
            .tool("text", json!({"text": "hello ${who}"}))
            .tool("json", json!({"text": "[1, {\"a\": 2}]"}))
            .tool("structured", json!({"structured": {"result": {"n": 1}}}))
            .tool(
                "many",
                json!({"content": [{"type": "text", "text": "a"}, image]}),
            )
            .tool(
                "odd",
                json!({"content": [{"type": "hologram", "data": "x"}]}),
            )
            .tool("cross", json!({"text": "❌ no route to host"})),
    );
    let router = world.router();
    assert_eq!(
        value(&router, "text", json!({"who": "you"})).await,
        json!("hello you")
    );
    assert_eq!(
        value(&router, "json", json!({})).await,
        json!([1, {"a": 2}])
    );
    assert_eq!(
        value(&router, "structured", json!({})).await,
        json!({"n": 1})
    );
    assert_eq!(value(&router, "many", json!({})).await, json!(["a", image]));
    assert_eq!(
        value(&router, "odd", json!({})).await,
        json!({"type": "hologram", "data": "x"})
    );
    let reply = call(&router, "cross", json!({})).await.unwrap();
    assert_eq!(reply.text.as_deref(), Some("❌ no route to host"));
    assert_eq!(reply.server, "demo");
}

#[tokio::test]
async fn the_key_reaches_the_tool() {
    let world = World::with("demo", &Script::new().tool("meta", json!({"meta": true})));
    let router = world.router();
    let reply = router
        .call(Call {
            key: "run-1/step-2".to_owned(),
            ..Call::new("meta", object(json!({})))
        })
        .await
        .unwrap();
    assert_eq!(reply.value["deft/idempotencyKey"], "run-1/step-2");
    let events = world.witness("demo");
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Up, Kind::Started, Kind::Finished]);
    assert!(
        events[1..]
            .iter()
            .all(|event| event.key.as_deref() == Some("run-1/step-2"))
    );
}

#[tokio::test]
async fn clashing_names_need_their_server() {
    let mut world = World::with("one", &echo().tool("log", json!({"text": "mine"})));
    world.add("two", &echo());
    let router = world.router();
    assert!(router.list_servers().await.is_empty());
    let failure = call(&router, "echo", json!({})).await.unwrap_err();
    assert!(failure.blocked && failure.class == FailureClass::NotFound);
    assert_eq!(
        failure.message,
        "the tool `echo` is ambiguous: `one.echo` or `two.echo`"
    );
    assert_eq!(value(&router, "two.echo", json!({})).await, json!({}));
    let names = vec!["one.echo".to_owned(), "two.echo".to_owned()];
    assert_eq!(router.find("echo"), ToolLookup::Ambiguous(names));
    // A built-in tool keeps its name; a server's tool of that name is called by its full name.
    assert_eq!(
        value(&router, "log", json!({"message": "x"})).await,
        json!({"logged": true})
    );
    assert_eq!(value(&router, "one.log", json!({})).await, json!("mine"));
    let shown: Vec<_> = router
        .list()
        .into_iter()
        .filter(|tool| !tool.builtin)
        .map(|tool| tool.shown)
        .collect();
    assert_eq!(shown, ["one.echo", "one.log", "two.echo"]);
}

#[tokio::test]
async fn a_bare_name_waits_for_unlisted_servers() {
    let mut world = World::with("one", &echo());
    world.add("two", &echo());
    let router = world.router();
    assert_eq!(value(&router, "one.echo", json!({})).await, json!({}));
    assert!(
        world.witness("two").is_empty(),
        "a full name starts one server only"
    );
    let failure = call(&router, "echo", json!({})).await.unwrap_err();
    assert!(failure.message.contains("is ambiguous"), "{failure}");
}

#[tokio::test]
async fn a_missing_tool_is_blocked_with_near_names() {
    let world = World::with("demo", &Script::new().tool("git_create_branch", json!({})));
    let router = world.router();
    let failure = call(&router, "git_creat_branch", json!({}))
        .await
        .unwrap_err();
    assert!(failure.blocked && !failure.in_doubt && failure.class == FailureClass::NotFound);
    assert_eq!(
        failure.hint.as_deref(),
        Some("did you mean `git_create_branch`?")
    );
    assert_eq!(
        router.find("git_creat_branch"),
        ToolLookup::Missing {
            nearest: vec!["git_create_branch".to_owned()]
        }
    );
}

#[tokio::test]
async fn arguments_are_checked_before_anything_is_sent() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["count"],
        "properties": {"count": {"type": "integer"}, "title": {"type": "string"}}});
    let world = World::with(
        "demo",
        &Script::new().tool("add", json!({"schema": schema})),
    );
    let router = world.router();
    let failure = call(&router, "add", json!({"titel": "x"}))
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Invalid);
    assert_eq!(
        failure.message,
        "invalid arguments for `add`: `titel` is unknown; `count` is missing"
    );
    assert_eq!(failure.hint.as_deref(), Some("did you mean `title`?"));
    assert_eq!(
        value(&router, "add", json!({"count": "7"})).await,
        json!({"count": 7})
    );
    let started = world
        .witness("demo")
        .iter()
        .filter(|event| event.kind == Kind::Started)
        .count();
    assert_eq!(started, 1);
}

#[tokio::test]
async fn repairs_are_for_models_only() {
    let mut world = World::with(
        "demo",
        &Script::new().tool("telegram_send_message", json!({})),
    );
    world.options.telegram.chat = Some("42".to_owned());
    let router = world.router();
    let given = json!({"text": "hi", "silent": "true", "extra": null});
    let plain = call(&router, "telegram_send_message", given.clone())
        .await
        .unwrap();
    // The chat is filled in for every caller.
    assert_eq!(
        plain.value,
        json!({"text": "hi", "silent": "true", "extra": null, "chat_id": "42"})
    );
    assert_eq!(plain.repairs, ["inject_chat_id"]);
    let by_model = router
        .call(Call {
            by_model: true,
            ..Call::new("telegram_send_message", object(given))
        })
        .await
        .unwrap();
    assert_eq!(
        by_model.value,
        json!({"text": "hi", "silent": true, "chat_id": "42"})
    );
    assert_eq!(
        by_model.repairs,
        [
            "coerce_string_booleans",
            "strip_null_values",
            "inject_chat_id"
        ]
    );
}

#[tokio::test]
async fn the_start_work_example_heals() {
    let world = World::with("work", &start_work());
    let router = world.router();
    let issue = value(&router, "jira_view_issue", json!({"issue_key": "AAP-1"})).await;
    assert_eq!(issue["key"], "AAP-1");
    let branch = json!({"branch": "feature/x", "from_branch": "main"});
    let failure = call(&router, "git_create_branch", branch.clone())
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Network);
    assert_eq!(
        value(&router, "git_push_branch", branch.clone()).await,
        json!("❌ push failed: no route to host")
    );
    value(&router, "vpn_connect", json!({})).await;
    assert_eq!(
        value(&router, "git_create_branch", branch).await,
        json!("✅ created feature/x")
    );
    assert_eq!(
        call(&router, "k8s_get_pods", json!({}))
            .await
            .unwrap_err()
            .class,
        FailureClass::Auth
    );
    value(&router, "kube_login", json!({"cluster": "ephemeral"})).await;
    assert_eq!(
        value(&router, "k8s_get_pods", json!({})).await[0]["name"],
        "web-1"
    );
    assert_eq!(router.effects("vpn_connect"), Some(Effects::Idempotent));
    assert_eq!(router.effects("git_create_branch"), Some(Effects::Once));
    assert_eq!(router.effects("git_push_branch"), None);
}

/// The built-in tools that the catalog tests keep, so that a new tool does not change the expected
/// values.
const OWN: [&str; 5] = ["get_tool_catalog", "log", "notify", "shell.run", "time.now"];

#[tokio::test]
async fn the_catalog_has_the_shape_of_the_seeds() {
    let mut world = World::with(
        "gmail",
        &Script::new().tool(
            "gmail_send_email",
            json!({"description": "Send an email. With care."}),
        ),
    );
    world.add(
        "telegram",
        &Script::new()
            .tool("b", json!({}))
            .tool("a", json!({"description": "First"})),
    );
    let router = world.router();
    router.retain(|name| OWN.contains(&name));
    let catalog = value(&router, "get_tool_catalog", json!({})).await;
    assert_eq!(catalog["success"], true);
    let groups = catalog["data"]["catalog"].as_object().unwrap();
    assert_eq!(
        groups.keys().collect::<Vec<_>>(),
        ["deft", "gmail", "telegram"]
    );
    assert_eq!(
        groups["gmail"],
        json!([{"name": "gmail_send_email", "description": "Send an email."}])
    );
    assert_eq!(
        groups["telegram"][0],
        json!({"name": "a", "description": "First"})
    );
    let own = groups["deft"].as_array().unwrap();
    let own: Vec<&Value> = own.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(
        own,
        ["get_tool_catalog", "log", "notify", "time.now"],
        "tools that are off are not shown"
    );
    assert_eq!(catalog["data"]["summary"], "7 tools across 3 MCP servers");
}

#[tokio::test]
async fn the_catalog_can_be_searched() {
    let mut script = Script::new()
        .tool(
            "gmail_send_email",
            json!({"description": "Send an email. With care."}),
        )
        .tool(
            "gmail_list_emails",
            json!({"description": "List what arrived."}),
        );
    for nth in 0..9 {
        script = script.tool(&format!("sheet_{nth}"), json!({"description": "A sheet."}));
    }
    let world = World::with("google", &script);
    let router = world.router();
    router.retain(|name| OWN.contains(&name));
    let found = async |search: &str| {
        let found = value(&router, "get_tool_catalog", json!({ "search": search })).await;
        let groups = found["data"]["catalog"].as_object().unwrap().clone();
        let tools = groups.values().flat_map(|tools| tools.as_array().unwrap());
        let names: Vec<String> = tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        let summary = found["data"]["summary"].as_str().unwrap().to_owned();
        (summary, names.join(" "))
    };
    let cases = [
        (
            "gmail_list_emails",
            "1 tool of 15 that fit",
            "gmail_list_emails",
        ),
        (
            "time.now, google.sheet_3",
            "2 tools of 15 that fit",
            "time.now sheet_3",
        ),
        (
            "Send Email!",
            "3 tools of 15 that fit",
            "notify gmail_list_emails gmail_send_email",
        ),
        (
            "sheet",
            "the first 8 of 9 tools that fit",
            "sheet_0 sheet_1 sheet_2 sheet_3 sheet_4 sheet_5 sheet_6 sheet_7",
        ),
        (
            "weather",
            "no match among 15 tools; try other words, or `{}` to list all",
            "",
        ),
        (" ", "15 tools across 2 MCP servers", "*"),
    ];
    for (search, summary, names) in cases {
        let (said, shown) = found(search).await;
        let shown = if names == "*" { "*" } else { shown.as_str() };
        assert_eq!((said.as_str(), shown), (summary, names), "{search}");
    }
}

#[tokio::test]
async fn only_selected_tools_are_visible() {
    let mut world = World::with(
        "demo",
        &Script::new()
            .tool("a_one", json!({}))
            .tool("a_two", json!({}))
            .tool("b", json!({})),
    );
    let demo = world.options.servers.get_mut("demo").unwrap();
    demo.include_tools = vec!["a_*".to_owned()];
    demo.exclude_tools = vec!["a_two".to_owned()];
    let router = world.router();
    assert!(router.list_servers().await.is_empty());
    let names: Vec<_> = router
        .list()
        .into_iter()
        .filter(|tool| !tool.builtin)
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["a_one"]);
}
