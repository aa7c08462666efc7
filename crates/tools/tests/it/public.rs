//! Public third-party servers: connect, list, call.
//!
//! `crates/tools/tests/servers/install.sh` installs them. If one is missing the test fails; nothing is
//! skipped.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use deft_model::{Effects, FailureClass};
use deft_tools::{Era, ServerOptions};
use serde_json::json;

use crate::support::{World, call, value};

fn program(path: &str) -> String {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"),
        PathBuf::from,
    );
    let program = cache.join("deft/mcp").join(path);
    assert!(
        program.exists(),
        "{} is missing; run `crates/tools/tests/servers/install.sh`",
        program.display()
    );
    program.to_string_lossy().into_owned()
}

fn with(name: &str, path: &str, arguments: &[&str]) -> World {
    let mut world = World::new();
    world.options.servers.insert(
        name.to_owned(),
        ServerOptions::command(program(path), arguments),
    );
    world
}

/// Returns the tools of the server, after checking its era.
fn tools(world: &World, era: Era) -> Vec<String> {
    let catalog = world.catalogs.lock().unwrap().last().cloned().unwrap();
    let protocol = match era {
        Era::Legacy => "2025-11-25",
        Era::Modern => "2026-07-28",
    };
    assert_eq!((catalog.era, catalog.protocol.as_str()), (era, protocol));
    catalog.tools.iter().map(|tool| tool.name.clone()).collect()
}

async fn everything(world: &World) {
    let router = world.router();
    assert_eq!(
        value(&router, "echo", json!({"message": "hi"})).await,
        json!("Echo: hi")
    );
    assert_eq!(
        value(&router, "get-sum", json!({"a": "2", "b": 3})).await,
        json!("The sum of 2 and 3 is 5.")
    );
    let weather = value(
        &router,
        "get-structured-content",
        json!({"location": "New York"}),
    )
    .await;
    assert_eq!(weather["conditions"], "Cloudy");
    let image = value(&router, "get-tiny-image", json!({})).await;
    assert_eq!(
        (&image[1]["type"], &image[1]["mimeType"]),
        (&json!("image"), &json!("image/png"))
    );
    let failure = call(&router, "echo", json!({"mesage": 1}))
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Invalid);
    assert_eq!(tools(world, Era::Legacy).len(), 13);
    let probe = router.probe("everything").await.unwrap();
    assert_eq!(
        probe.implementation.as_deref(),
        Some("mcp-servers/everything 2.0.0")
    );
    router.shutdown().await;
}

#[tokio::test]
async fn server_everything_over_stdio() {
    everything(&with(
        "everything",
        "node_modules/.bin/mcp-server-everything",
        &["stdio"],
    ))
    .await;
}

struct RunningServer(Child);

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn server_everything_over_http() {
    let port = free_port();
    let child = Command::new(program("node_modules/.bin/mcp-server-everything"))
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _running = RunningServer(child);
    let listens = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    crate::support::until("it listens", listens).await;
    let mut world = World::new();
    let url = format!("http://127.0.0.1:{port}/mcp");
    world
        .options
        .servers
        .insert("everything".to_owned(), ServerOptions::url(url));
    everything(&world).await;
}

#[tokio::test]
async fn server_filesystem() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let world = with(
        "files",
        "node_modules/.bin/mcp-server-filesystem",
        &[&folder.to_string_lossy()],
    );
    let router = world.router();
    let path = folder.join("note.txt");
    let path = path.to_string_lossy();
    value(
        &router,
        "write_file",
        json!({"path": path, "content": "hello"}),
    )
    .await;
    assert_eq!(
        value(&router, "read_text_file", json!({"path": path})).await,
        json!({"content": "hello"})
    );
    let failure = call(&router, "read_text_file", json!({"path": "/etc/passwd"}))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.class, failure.in_doubt),
        (FailureClass::Auth, false),
        "{failure}"
    );
    assert_eq!(router.effects("read_text_file"), Some(Effects::None));
    assert_eq!(router.effects("edit_file"), Some(Effects::Once));
    assert_eq!(tools(&world, Era::Legacy).len(), 14);
    router.shutdown().await;
}

#[tokio::test]
async fn mcp_server_time() {
    let world = with(
        "time",
        "python/bin/mcp-server-time",
        &["--local-timezone", "UTC"],
    );
    let router = world.router();
    let times = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let converted = value(&router, "time.convert_time", times).await;
    assert_eq!(converted["time_difference"], "+9.0h");
    // The server's name `time` is also the prefix of a built-in tool.
    assert!(value(&router, "time.now", json!({})).await["unix"].is_number());
    assert_eq!(
        tools(&world, Era::Modern),
        ["get_current_time", "convert_time"]
    );
    router.shutdown().await;
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .status()
        .unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn mcp_server_git() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    std::fs::write(folder.path().join("a.txt"), "a").unwrap();
    let path = folder.path().canonicalize().unwrap();
    let path = path.to_string_lossy();
    let world = with("git", "python/bin/mcp-server-git", &["--repository", &path]);
    let router = world.router();
    let status = value(&router, "git_status", json!({"repo_path": path})).await;
    assert!(status.as_str().unwrap().contains("a.txt"), "{status}");
    let failure = call(&router, "git_status", json!({"repo_path": "/nowhere"}))
        .await
        .unwrap_err();
    assert!(
        failure.message.contains("/nowhere") && !failure.in_doubt,
        "{failure}"
    );
    assert_eq!(tools(&world, Era::Modern).len(), 12);
    router.shutdown().await;
}
