//! Tests of the built-in tools.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_model::{Effects, FailureClass};
use deft_testkit::{HttpServer, Script};
use deft_tools::{Call, Definition, Level, LogLine, Notice, ToolLookup};
use serde_json::json;

use crate::support::{World, call, object, value};

#[tokio::test]
async fn tools_can_be_registered() {
    let router = World::new().router();
    let schema =
        json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    router.register_fn(
        Definition::new("double", "Double a number.", Effects::None, schema),
        |arguments, context| async move {
            let n = arguments["n"].as_i64().unwrap_or_default();
            Ok(json!({"double": n * 2, "key": context.key}))
        },
    );
    let call = Call {
        key: "k".to_owned(),
        ..Call::new("double", object(json!({"n": "4"})))
    };
    let reply = router.call(call).await.unwrap();
    assert_eq!(reply.value, json!({"double": 8, "key": "k"}));
    assert_eq!(
        (reply.server.as_str(), reply.tool.as_str()),
        ("deft", "double")
    );
    assert_eq!(router.effects("double"), Some(Effects::None));
    let failure = crate::support::call(&router, "double", json!({}))
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Invalid);
}

#[tokio::test]
async fn a_slow_tool_is_stopped() {
    let router = World::new().router();
    router.register_fn(
        Definition::new("slow", "Wait.", Effects::Once, json!({})),
        |_, _| async move {
            tokio::time::sleep(Duration::from_mins(1)).await;
            Ok(json!(null))
        },
    );
    let call = Call {
        deadline: Some(Duration::from_millis(20)),
        ..Call::new("slow", object(json!({})))
    };
    let failure = router.call(call).await.unwrap_err();
    assert_eq!(
        (failure.class, failure.in_doubt),
        (FailureClass::Timeout, true)
    );
}

#[tokio::test]
async fn time_log_and_notify() {
    let mut world = World::new();
    let lines: Arc<Mutex<Vec<LogLine>>> = Arc::default();
    let notices: Arc<Mutex<Vec<Notice>>> = Arc::default();
    let (to_lines, to_notices) = (lines.clone(), notices.clone());
    world.environment.logs = Arc::new(move |line| to_lines.lock().unwrap().push(line));
    world.environment.notices = Arc::new(move |notice| {
        to_notices.lock().unwrap().push(notice);
        Box::pin(std::future::ready(Ok(())))
    });
    world.environment.now = Arc::new(|| "2026-03-29T01:30:00Z".parse().unwrap());
    let router = world.router();
    let now = value(&router, "time.now", json!({"zone": "Europe/Berlin"})).await;
    assert_eq!(now["iso"], "2026-03-29T03:30:00+02:00");
    assert_eq!(now["weekday"], "Sunday");
    assert_eq!(
        call(&router, "time.now", json!({"zone": "Mars/Base"}))
            .await
            .unwrap_err()
            .class,
        FailureClass::Invalid
    );
    value(&router, "log", json!({"message": "hm", "level": "warning"})).await;
    assert_eq!(lines.lock().unwrap()[0].level, Level::Warning);
    let call = Call {
        key: "r/1".to_owned(),
        ..Call::new("notify", object(json!({"message": "done", "title": "t"})))
    };
    assert_eq!(
        router.call(call).await.unwrap().value,
        json!({"accepted": true})
    );
    let notice = notices.lock().unwrap()[0].clone();
    assert_eq!(
        (notice.message.as_str(), notice.key.as_str(), notice.target),
        ("done", "r/1", None)
    );
}

#[tokio::test]
async fn disabled_tools_name_their_setting() {
    let router = World::new().router();
    for (tool, arguments, key) in [
        (
            "http.request",
            json!({"url": "http://example.com"}),
            "tools.http.allow",
        ),
        ("file.read", json!({"path": "x"}), "tools.file.folders"),
        (
            "file.write",
            json!({"path": "x", "content": ""}),
            "tools.file.write",
        ),
        ("shell.run", json!({"command": "id"}), "tools.shell.enabled"),
    ] {
        let failure = call(&router, tool, arguments).await.unwrap_err();
        assert!(
            failure.blocked && failure.hint.as_ref().unwrap().contains(key),
            "{tool}: {failure:?}"
        );
        assert!(
            matches!(router.find(tool), ToolLookup::Missing { .. }),
            "{tool}"
        );
    }
}

#[tokio::test]
async fn files_are_accessible_only_inside_the_folder() {
    let mut world = World::new();
    let open = world.path().join("open");
    std::fs::create_dir_all(open.join("sub")).unwrap();
    std::fs::write(world.path().join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(world.path().join("secret.txt"), open.join("link")).unwrap();
    std::os::unix::fs::symlink(world.path(), open.join("up")).unwrap();
    world.options.file.folders = vec![open.clone()];
    world.options.file.write = true;
    world.options.file.max_bytes = 100;
    let router = world.router();
    value(
        &router,
        "file.write",
        json!({"path": "sub/a.txt", "content": "one\n"}),
    )
    .await;
    value(
        &router,
        "file.append",
        json!({"path": "sub/a.txt", "content": "two\n"}),
    )
    .await;
    let absolute = open.join("sub/a.txt").to_string_lossy().into_owned();
    assert_eq!(
        value(&router, "file.read", json!({"path": absolute})).await,
        json!("one\ntwo\n")
    );
    let names = value(&router, "file.list", json!({"path": "sub"})).await;
    assert_eq!(
        names,
        json!([{"name": "a.txt", "type": "file", "size": 8}]),
        "and no temporary file"
    );
    assert_eq!(
        value(&router, "file.exists", json!({"path": "sub/b.txt"})).await,
        json!(false)
    );
    assert_eq!(
        value(&router, "file.delete", json!({"path": "sub/a.txt"})).await,
        json!({"deleted": true})
    );
    assert_eq!(
        value(&router, "file.delete", json!({"path": "sub/a.txt"})).await,
        json!({"deleted": false})
    );
    for path in [
        "link",
        "up/secret.txt",
        "../secret.txt",
        "sub/../../secret.txt",
        "/etc/passwd",
        "",
    ] {
        for tool in ["file.read", "file.exists", "file.delete"] {
            let failure = call(&router, tool, json!({"path": path}))
                .await
                .unwrap_err();
            assert_eq!(
                failure.class,
                FailureClass::Invalid,
                "{tool} {path}: {failure}"
            );
        }
        let written = call(&router, "file.write", json!({"path": path, "content": "x"})).await;
        assert_eq!(written.unwrap_err().class, FailureClass::Invalid, "{path}");
    }
    assert_eq!(
        std::fs::read_to_string(world.path().join("secret.txt")).unwrap(),
        "secret"
    );
    let large = call(
        &router,
        "file.write",
        json!({"path": "big", "content": "x".repeat(101)}),
    )
    .await;
    assert_eq!(large.unwrap_err().class, FailureClass::Limit);
    assert_eq!(
        call(&router, "file.read", json!({"path": "nope"}))
            .await
            .unwrap_err()
            .class,
        FailureClass::NotFound
    );
    assert_eq!(router.effects("file.append"), Some(Effects::Once));
}

#[tokio::test]
async fn programs_run_within_limits() {
    let mut world = World::new();
    let open = world.path().join("open");
    std::fs::create_dir(&open).unwrap();
    world.options.file.folders = vec![open.clone()];
    world.options.shell.enabled = true;
    world.options.shell.max_bytes = 1000;
    let router = world.router();
    let run = |arguments| call(&router, "shell.run", arguments);
    let reply = run(json!({"command": ["cat"], "stdin": "hello"}))
        .await
        .unwrap();
    assert_eq!(reply.value["stdout"], "hello");
    let reply =
        run(json!({"command": "pwd; echo $SECRET_OF_TESTS; echo oops >&2", "env": {"A": "b"}}))
            .await
            .unwrap();
    let expected = format!("{}\n\n", open.canonicalize().unwrap().display());
    assert_eq!(
        (
            reply.value["stdout"].as_str(),
            reply.value["stderr"].as_str()
        ),
        (Some(expected.as_str()), Some("oops\n"))
    );
    let failure = run(json!({"command": "echo no route to host >&2; exit 7"}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.class, failure.in_doubt),
        (FailureClass::Network, false)
    );
    let fine = run(json!({"command": "exit 7", "check": false}))
        .await
        .unwrap();
    assert_eq!(fine.value["exit_code"], 7);
    let long = run(json!({"command": "head -c 100000 /dev/zero | tr '\\0' x"}))
        .await
        .unwrap();
    assert_eq!(
        (
            long.value["stdout"].as_str().unwrap().len(),
            &long.value["truncated"]
        ),
        (1000, &json!(true))
    );
    let line = "sleep 777.5 & echo $! > pid; wait";
    let late = run(json!({"command": line, "timeout": 0.3}))
        .await
        .unwrap_err();
    assert_eq!((late.class, late.in_doubt), (FailureClass::Timeout, true));
    let pid = std::fs::read_to_string(open.join("pid")).unwrap();
    let gone = || !std::path::Path::new(&format!("/proc/{}", pid.trim())).exists();
    crate::support::until("the group is killed", gone).await;
    assert!(
        run(json!({"command": ["id"], "cwd": "/etc"}))
            .await
            .is_err()
    );
    world.options.shell.allow = vec!["echo".to_owned()];
    router.reload(world.options.clone());
    assert_eq!(
        run(json!({"command": ["echo", "hi"]})).await.unwrap().value["stdout"],
        "hi\n"
    );
    assert!(run(json!({"command": ["id"]})).await.is_err());
    assert!(run(json!({"command": "echo hi"})).await.is_err());
}

#[tokio::test]
async fn requests_go_to_allowed_hosts_only() {
    let mut world = World::new();
    let arguments = Script::new()
        .tool("echo", json!({}))
        .write(world.path(), "web");
    let server = HttpServer::start(&arguments, &[]);
    let other = HttpServer::start(&arguments, &[]);
    world.options.http.allow = vec![format!("127.0.0.1:{}", server.port)];
    world.options.http.max_bytes = 300;
    let router = world.router();
    let post = json!({"method": "POST", "url": server.url, "json": {"jsonrpc": "2.0", "id": 1, "method": "ping"}});
    let reply = call(&router, "http.request", post.clone()).await.unwrap();
    assert_eq!(
        (&reply.value["status"], &reply.value["body"]["result"]),
        (&json!(200), &json!({}))
    );
    let refused = call(&router, "http.request", json!({"url": server.url}))
        .await
        .unwrap_err();
    assert_eq!(
        (refused.class, refused.in_doubt),
        (FailureClass::Invalid, false),
        "405: {refused}"
    );
    let accepted = call(
        &router,
        "http.request",
        json!({"url": server.url, "accept_status": [405]}),
    )
    .await
    .unwrap();
    assert_eq!(accepted.value["status"], 405);
    let list = json!({"method": "POST", "url": server.url, "json": {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "echo", "arguments": {"x": "y".repeat(400)}}}});
    assert_eq!(
        call(&router, "http.request", list).await.unwrap_err().class,
        FailureClass::Limit
    );
    let closed = call(&router, "http.request", json!({"url": other.url}))
        .await
        .unwrap_err();
    assert_eq!(
        closed.hint.as_deref(),
        Some("add `127.0.0.1` to `tools.http.allow`")
    );
    assert_eq!(
        router.effects_of("http.request", &object(json!({"method": "GET"}))),
        Some(Effects::None)
    );
    assert_eq!(
        router.effects_of("http.request", &object(post)),
        Some(Effects::Once)
    );
    let url = server.url.clone();
    drop(server);
    // A new router has no open connection that could break during the request.
    let gone = call(
        &world.router(),
        "http.request",
        json!({"method": "POST", "url": url}),
    )
    .await
    .unwrap_err();
    assert_eq!(
        (gone.class, gone.in_doubt),
        (FailureClass::Network, false),
        "{gone}"
    );
}

#[tokio::test]
async fn pipes_do_not_block_file_tools() {
    let mut world = World::new();
    let made = std::process::Command::new("mkfifo")
        .arg(world.path().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    world.options.file.folders = vec![world.path().to_owned()];
    world.options.file.write = true;
    let router = world.router();
    let failure = call(&router, "file.read", json!({"path": "pipe"})).await;
    assert_eq!(failure.unwrap_err().message, "`pipe` is not a file");
    let append = json!({"path": "pipe", "content": "x"});
    assert!(call(&router, "file.append", append).await.is_err());
    let entries = value(&router, "file.list", json!({"path": "."})).await;
    assert_eq!(
        entries,
        json!([{"name": "pipe", "type": "other", "size": 0}])
    );
}
