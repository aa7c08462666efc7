//! Processes that leave their group, their parent and their environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deft_model::FailureClass;
use deft_testkit::{Script, server_binary};
use deft_tools::{Call, Options, Router, ServerOptions};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{World, call, object, until, value};

/// Lines for `sh` that start a process which outlives the shell, and the names of files with its
/// process id.
const RUNAWAYS: [(&str, &str); 4] = [
    (
        "session",
        "setsid sh -c 'echo $$ > session; exec sleep 1000' &",
    ),
    (
        "daemon",
        "(setsid sh -c '(echo $$ > /dev/null; exec sh -c \"echo \\$\\$ > daemon; exec sleep 1000\") &' &)",
    ),
    (
        "cleared",
        "env -i /bin/sh -c '(setsid /bin/sh -c \"echo \\$\\$ > cleared; exec sleep 1000\" &) &'",
    ),
    (
        "misled",
        "DEFT_OWNER=nobody setsid sh -c '(sh -c \"echo \\$\\$ > misled; exec sleep 1000\" &)'",
    ),
];

/// Returns a line that starts all runaways in a folder.
fn start_runaways(folder: &Path) -> String {
    let lines: Vec<&str> = RUNAWAYS.iter().map(|(_, line)| *line).collect();
    // They must not keep the pipes of their parent open.
    format!(
        "cd '{}' && exec >/dev/null 2>&1 </dev/null\n{}",
        folder.display(),
        lines.join("\n")
    )
}

async fn numbers(folder: &Path) -> Vec<String> {
    let mut numbers = Vec::new();
    for (name, _) in RUNAWAYS {
        let file: PathBuf = folder.join(name);
        let read = || std::fs::read_to_string(&file).unwrap_or_default();
        until(name, || read().ends_with('\n')).await;
        numbers.push(read().trim().to_owned());
    }
    numbers
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| &rest[..1]);
    !matches!(state, None | Some("Z" | "X"))
}

async fn all_end(numbers: &[String]) {
    for ((name, _), pid) in RUNAWAYS.iter().zip(numbers) {
        until(&format!("`{name}` ends"), || !is_alive(pid)).await;
    }
}

#[tokio::test]
async fn processes_of_a_server_end_with_it() {
    let mut world = World::new();
    let line = start_runaways(world.path());
    world.add("bad", &Script::new().tool("run", json!({ "run": line })));
    let router = world.router();
    value(&router, "bad.run", json!({})).await;
    let numbers = numbers(world.path()).await;
    assert!(numbers.iter().all(|pid| is_alive(pid)), "{numbers:?}");
    router.shutdown().await;
    all_end(&numbers).await;
}

#[tokio::test]
async fn processes_of_an_abandoned_server_are_killed() {
    let mut world = World::new();
    let line = start_runaways(world.path());
    let script = Script::new().tool("run", json!({ "run": line })).tool(
        "lost",
        json!({"raw_line": "{\"jsonrpc\":\"2.0\",\"result\":\"DEEP\"}"}),
    );
    world.add("bad", &script);
    let router = world.router();
    value(&router, "run", json!({})).await;
    let numbers = numbers(world.path()).await;
    assert!(call(&router, "lost", json!({})).await.is_err());
    all_end(&numbers).await;
}

#[tokio::test]
async fn processes_of_a_stopped_program_are_killed() {
    let mut world = World::new();
    world.options.shell.enabled = true;
    let router = world.router();
    let line = format!("({})\nsleep 1000", start_runaways(world.path()));
    let arguments = object(json!({"command": line}));
    let stop = CancellationToken::new();
    let running = Call {
        cancel: stop.clone(),
        ..Call::new("shell.run", arguments)
    };
    let (stopped, numbers) = tokio::join!(router.call(running), async {
        let numbers = numbers(world.path()).await;
        stop.cancel();
        numbers
    });
    assert_eq!(stopped.unwrap_err().class, FailureClass::Cancelled);
    all_end(&numbers).await;
}

#[tokio::test]
async fn processes_of_a_finished_program_may_continue() {
    let mut world = World::new();
    world.options.shell.enabled = true;
    world.options.file.folders = vec![world.path().to_owned()];
    let router = world.router();
    let line = "setsid sh -c 'echo $$ > left; exec sleep 1000' >/dev/null 2>&1 </dev/null &";
    value(&router, "shell.run", json!({ "command": line })).await;
    let read = || std::fs::read_to_string(world.path().join("left")).unwrap_or_default();
    until("it runs", || read().ends_with('\n')).await;
    // Killing another call does not affect it.
    let other = json!({"command": "sleep 1000", "timeout": 0.1});
    assert!(call(&router, "shell.run", other).await.is_err());
    let left = read();
    assert!(is_alive(left.trim()), "{left}");
    Command::new("kill")
        .args(["-9", left.trim()])
        .status()
        .unwrap();
}

/// Set in a copy of the test below that is started to be killed; contains a folder.
const VICTIM: &str = "DEFT_TEST_RUNAWAY";

#[tokio::test]
async fn all_processes_end_when_the_router_is_killed() {
    if let Some(folder) = std::env::var_os(VICTIM) {
        return victim(folder.as_ref()).await;
    }
    let world = World::new();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "runaway::all_processes_end_when_the_router_is_killed",
        ])
        .env(VICTIM, world.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("everything has started", || {
        world.path().join("ready").exists()
    })
    .await;
    let numbers = numbers(world.path()).await;
    assert!(numbers.iter().all(|pid| is_alive(pid)), "{numbers:?}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    all_end(&numbers).await;
}

/// Lets a server start all runaways, and waits to be killed.
async fn victim(folder: &Path) {
    let arguments = Script::new()
        .tool("run", json!({"run": start_runaways(folder)}))
        .write(folder, "bad");
    let arguments = arguments.list();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = ServerOptions::command(server_binary().to_string_lossy(), &arguments);
    let mut options = Options::default();
    options.servers.insert("bad".to_owned(), server);
    options.shell.enabled = true;
    let router = Router::new(options, deft_tools::Environment::default());
    value(&router, "run", json!({})).await;
    numbers(folder).await;
    // deft searches for orphans periodically, and whenever it kills something.
    let forced = json!({"command": "sleep 1000", "timeout": 0.1});
    assert!(call(&router, "shell.run", forced).await.is_err());
    std::fs::write(folder.join("ready"), "").unwrap();
    std::future::pending::<()>().await;
}
