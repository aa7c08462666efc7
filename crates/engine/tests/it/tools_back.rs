//! Tools that become available again: runs that are woken without a daemon, and servers that a daemon asks
//! again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_engine::Clock;
use deft_model::{Object, RunStatus};
use deft_scheduler::Pool;
use deft_store_testkit::Memory;
use deft_testkit::{Script, server_binary};
use deft_tools::{Call, ServerOptions};
use jiff::SignedDuration;
use serde_json::json;

use crate::time_clock::Daemon;
use crate::time_world::{Times, both, record};
use crate::world::{Folder, World, load};

/// A run continues as soon as its tool is back; a run whose tool is still missing keeps waiting.
#[tokio::test]
async fn waiting_runs_resume_when_their_tools_return() {
    both(async |t: Times| {
        let every = json!({"interval_minutes": 30});
        t.add(record("Later", every.clone(), "later")).await;
        t.add(record("Never", every, "never")).await;
        t.tick("13:30").await;
        let engine = &t.world.engine;
        assert_eq!(engine.wake_ready().await.unwrap(), 0);
        t.install("later");
        assert_eq!(engine.wake_ready().await.unwrap(), 1);
        t.drain().await;
        assert_eq!(t.slots("later").await, ["13:30 success"]);
        assert_eq!(t.runs("never").await[0].status, RunStatus::Waiting);
        assert_eq!(engine.wake_ready().await.unwrap(), 0);
    })
    .await;
}

/// S0.58: a skill waits for a tool of a server that announces no changes; the daemon asks every ten minutes.
#[tokio::test]
async fn a_daemon_lists_silent_servers_again() {
    let home = tempfile::tempdir().unwrap();
    let script = Script::new()
        .tool("unlock", json!({"reveal": ["secret"]}))
        .tool("secret", json!({"hidden": true, "text": "found"}))
        .with("announces", json!(false));
    let arguments = script.write(home.path(), "demo").list();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut tools = deft_tools::Options::default();
    let server = ServerOptions::command(server_binary().to_string_lossy(), &arguments);
    tools.servers.insert("demo".to_owned(), server);
    let skill = "name: waits\ndescription: d\nenabled: false\nrequired_tools: [secret]\nschedule: \"0 9 * * *\"\nsteps:\n  - {id: a, tool: secret}\n";
    let snapshot = load(&home, &[("waits.yaml", skill)]);
    let folder = Folder(Arc::new(Mutex::new(snapshot)));
    let world = World::with_servers(home, folder, Arc::new(Memory::new()), tools, |_| {});
    let t = Times {
        world,
        pool: Pool::new(4),
        checks: std::sync::OnceLock::new(),
    };
    let router = t.world.engine.router().clone();
    assert_eq!(router.list_servers().await, []);
    t.world.engine.library().sync_files().await.unwrap();
    router
        .call(Call::new("unlock", Object::new()))
        .await
        .unwrap();
    let daemon = Daemon::start(&t);
    assert_eq!(t.standing("waits").await, "off (missing_tools)");
    // If the daemon does not wait yet when the clock moves, the next move wakes it.
    loop {
        let later = t.world.clock.now() + SignedDuration::from_mins(10);
        t.world.clock.set(later);
        let moved = tokio::time::timeout(Duration::from_millis(200), async {
            while t.standing("waits").await == "off (missing_tools)" {
                tokio::task::yield_now().await;
            }
        });
        if moved.await.is_ok() {
            break;
        }
    }
    assert_eq!(t.standing("waits").await, "on, next 27 09:00");
    daemon.end().await;
    router.shutdown().await;
}
