//! The life cycle of servers: eras, listings, reloads, shutdown.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use deft_testkit::{Kind, Script};
use deft_tools::{Era, Options, Router, ServerState, ToolLookup};
use serde_json::json;

use crate::support::{World, call, until, value};

#[tokio::test]
async fn both_eras_are_supported_and_stored() {
    for (era, expected, protocol) in [
        ("legacy", Era::Legacy, "2025-11-25"),
        ("modern", Era::Modern, "2026-07-28"),
        ("both", Era::Modern, "2026-07-28"),
    ] {
        let world = World::with(
            "demo",
            &Script::new()
                .tool("echo", json!({}))
                .with("era", json!(era)),
        );
        let router = world.router();
        assert_eq!(
            value(&router, "echo", json!({"a": 1})).await,
            json!({"a": 1}),
            "{era}"
        );
        let catalog = world.catalogs.lock().unwrap().last().cloned().unwrap();
        assert_eq!(
            (catalog.era, catalog.protocol.as_str()),
            (expected, protocol)
        );
        assert_eq!(catalog.implementation.as_deref(), Some("demo 1.0"));
        let probe = router.probe("demo").await.unwrap();
        assert_eq!(
            (probe.protocol.as_deref(), probe.error),
            (Some(protocol), None)
        );
        // The era in the catalog is used at the next start.
        let again = world.router();
        again.restore([catalog]);
        assert_eq!(value(&again, "echo", json!({})).await, json!({}), "{era}");
    }
}

#[tokio::test]
async fn a_wrong_stored_era_is_corrected() {
    let world = World::with(
        "demo",
        &Script::new()
            .tool("echo", json!({}))
            .with("era", json!("modern")),
    );
    assert!(world.router().list_servers().await.is_empty());
    let mut catalog = world.catalogs.lock().unwrap().last().cloned().unwrap();
    catalog.era = Era::Legacy;
    let router = world.router();
    router.restore([catalog]);
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
}

#[tokio::test]
async fn a_slow_modern_server_is_not_mistaken_for_a_silent_one() {
    let script = Script::new()
        .tool("echo", json!({}))
        .with("era", json!("modern"))
        .with("start", json!({"delay_ms": 6000}));
    let world = World::with("demo", &script);
    assert_eq!(value(&world.router(), "echo", json!({})).await, json!({}));
}

#[tokio::test]
async fn a_server_without_an_era_answer_is_probed_once() {
    let script = Script::new()
        .tool("echo", json!({}))
        .with("start", json!({"silent_probe": true}));
    let world = World::with("demo", &script);
    let router = world.router();
    let started = Instant::now();
    assert_eq!(value(&router, "echo", json!({})).await, json!({}));
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
    let catalogs = world.catalogs.lock().unwrap().clone();
    let again = world.router();
    again.restore(catalogs);
    let started = Instant::now();
    assert_eq!(value(&again, "echo", json!({})).await, json!({}));
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
}

/// A server that returns an empty result for every unknown request does not know the probe.
#[tokio::test]
async fn an_empty_era_answer_is_ignored() {
    let script = Script::new()
        .tool("echo", json!({}))
        .with("start", json!({"empty_probe": true}));
    let world = World::with("demo", &script);
    assert_eq!(value(&world.router(), "echo", json!({})).await, json!({}));
}

#[tokio::test]
async fn changed_tools_are_listed_again_in_both_eras() {
    for era in ["legacy", "modern"] {
        let script = Script::new()
            .tool("unlock", json!({"reveal": ["secret"]}))
            .tool("secret", json!({"hidden": true, "text": "found"}))
            .with("era", json!(era));
        let world = World::with("demo", &script);
        let router = world.router();
        assert!(router.list_servers().await.is_empty());
        assert!(matches!(router.find("secret"), ToolLookup::Missing { .. }));
        let mut changes = router.changes();
        changes.borrow_and_update();
        value(&router, "unlock", json!({})).await;
        until("the tool appears", || {
            matches!(router.find("secret"), ToolLookup::Tool(_))
        })
        .await;
        assert!(changes.has_changed().unwrap());
        assert_eq!(value(&router, "secret", json!({})).await, json!("found"));
        assert_eq!(world.catalogs.lock().unwrap().len(), 2, "{era}");
    }
}

#[tokio::test]
async fn tools_are_listed_page_by_page() {
    let script = (0..25).fold(Script::new().with("page", json!(4)), |script, n| {
        script.tool(&format!("tool_{n}"), json!({}))
    });
    let world = World::with("demo", &script);
    let router = world.router();
    assert!(router.list_servers().await.is_empty());
    assert_eq!(router.health()[0].tools, 25);
    assert_eq!(value(&router, "tool_24", json!({})).await, json!({}));
}

#[tokio::test]
async fn tools_of_a_stored_catalog_are_known_before_the_server_starts() {
    let world = World::with("demo", &Script::new().tool("echo", json!({})));
    let first = world.router();
    assert!(first.list_servers().await.is_empty());
    first.shutdown().await;
    let catalogs = world.catalogs.lock().unwrap().clone();
    let text = serde_json::to_string(&catalogs).unwrap();
    let router = world.router();
    router.restore(serde_json::from_str::<Vec<deft_tools::Catalog>>(&text).unwrap());
    assert!(matches!(router.find("echo"), ToolLookup::Tool(_)));
    assert!(
        matches!(router.find("other"), ToolLookup::Unknown { .. }),
        "it may have changed since"
    );
    assert_eq!(
        router.health()[0].state,
        ServerState::Stopped,
        "nothing was started"
    );
    // A call of a tool that no longer exists is blocked.
    world.server("demo", &Script::new().tool("other", json!({})));
    let failure = call(&router, "echo", json!({})).await.unwrap_err();
    assert!(
        failure.blocked && failure.message.contains("no longer has the tool"),
        "{failure}"
    );
    assert_eq!(value(&router, "other", json!({})).await, json!({}));
}

#[tokio::test]
async fn a_catalog_of_another_server_is_dropped() {
    let world = World::with("demo", &Script::new().tool("echo", json!({})));
    assert!(world.router().list_servers().await.is_empty());
    let catalogs = world.catalogs.lock().unwrap().clone();
    let mut other = World::new();
    other.add("demo", &Script::new().tool("other", json!({})));
    let router = other.router();
    router.restore(catalogs);
    assert!(matches!(router.find("echo"), ToolLookup::Unknown { .. }));
}

#[tokio::test]
async fn a_reload_does_not_restart_unchanged_servers() {
    let mut world = World::with("stay", &Script::new().tool("one", json!({})));
    world.add("edit", &Script::new().tool("two", json!({})));
    world.add("leave", &Script::new().tool("three", json!({})));
    let router = world.router();
    assert!(router.list_servers().await.is_empty());
    world.options.servers.remove("leave");
    world.add("come", &Script::new().tool("four", json!({})));
    world.options.servers.get_mut("edit").unwrap().timeout = Duration::from_secs(5);
    router.reload(world.options.clone());
    assert_eq!(value(&router, "four", json!({})).await, json!({}));
    for tool in ["one", "two"] {
        assert_eq!(value(&router, tool, json!({})).await, json!({}));
    }
    assert!(matches!(router.find("three"), ToolLookup::Missing { .. }));
    let ups = |server: &str| {
        world
            .witness(server)
            .iter()
            .filter(|event| event.kind == Kind::Up)
            .count()
    };
    assert_eq!(
        (ups("stay"), ups("edit"), ups("leave"), ups("come")),
        (1, 2, 1, 1)
    );
    router.reload(Options::default());
    assert!(router.health().is_empty());
}

#[tokio::test]
async fn a_disabled_server_has_no_tools() {
    let mut world = World::with("demo", &Script::new().tool("echo", json!({})));
    world.options.servers.get_mut("demo").unwrap().enabled = false;
    let router = world.router();
    assert!(matches!(router.find("echo"), ToolLookup::Missing { .. }));
    assert_eq!(router.health()[0].state, ServerState::Disabled);
    assert!(world.witness("demo").is_empty());
    let failure = call(&router, "demo.echo", json!({})).await.unwrap_err();
    assert!(failure.blocked, "{failure}");
    assert_eq!(failure.message, "the server `demo` is disabled");
}

fn is_alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[tokio::test]
async fn processes_end_with_the_router() {
    for shutdown in [true, false] {
        let world = World::with("demo", &Script::new().tool("echo", json!({})));
        let router = world.router();
        value(&router, "echo", json!({})).await;
        let pid = world.witness("demo")[0].pid;
        assert!(is_alive(pid));
        if shutdown {
            router.shutdown().await;
            assert!(!is_alive(pid), "shutdown waits for the process");
            assert!(call(&router, "echo", json!({})).await.unwrap_err().blocked);
        }
        drop(router);
        until("the process is gone", || !is_alive(pid)).await;
    }
}

#[tokio::test]
async fn children_of_a_server_end_with_it() {
    let mut world = World::new();
    let arguments = Script::new()
        .tool("echo", json!({}))
        .write(world.path(), "demo")
        .list();
    let binary = deft_testkit::server_binary();
    // A runner that does not pass the end of its stdin on, and a stray child.
    let line = format!(
        "sleep 1000 & echo $! > {}/stray; exec {} {}",
        world.path().display(),
        binary.display(),
        arguments.join(" ")
    );
    let server = deft_tools::ServerOptions::command("sh", &["-c", &line]);
    world.options.servers.insert("demo".to_owned(), server);
    let router = world.router();
    value(&router, "echo", json!({})).await;
    let stray: u64 = std::fs::read_to_string(world.path().join("stray"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(is_alive(stray));
    router.shutdown().await;
    until("the stray child is gone", || !is_alive(stray)).await;
}

#[tokio::test]
async fn servers_start_concurrently() {
    let mut world = World::new();
    for name in ["a", "b", "c", "d"] {
        world.add(
            name,
            &Script::new()
                .tool(name, json!({}))
                .with("start", json!({"delay_ms": 400})),
        );
    }
    let router = world.router();
    let started = Instant::now();
    assert!(router.list_servers().await.is_empty());
    assert!(
        started.elapsed() < Duration::from_millis(1500),
        "{:?}",
        started.elapsed()
    );
}

/// The callback for catalogs receives a listing while the router adopts it, before any other caller can
/// see it.
#[tokio::test]
async fn a_listed_server_is_never_without_its_tools() {
    let mut world = World::with("demo", &Script::new().tool("echo", json!({})));
    let (router, seen): (Arc<OnceLock<Router>>, Arc<Mutex<Vec<ToolLookup>>>) = Default::default();
    let (asked, told) = (router.clone(), seen.clone());
    world.environment.catalogs = Arc::new(move |_| {
        let found = asked.get().unwrap().find("demo.echo");
        told.lock().unwrap().push(found);
    });
    let router = router.get_or_init(|| world.router());
    let servers = vec!["demo".to_owned()];
    assert_eq!(router.find("demo.echo"), ToolLookup::Unknown { servers });
    assert!(router.list_servers().await.is_empty());
    let seen = seen.lock().unwrap().clone();
    assert!(matches!(&seen[..], [ToolLookup::Tool(_)]), "{seen:?}");
    let nearest = vec!["echo".to_owned()];
    assert_eq!(router.find("demo.ecko"), ToolLookup::Missing { nearest });
    router.shutdown().await;
}

/// Set in a copy of this test that is started to be killed; contains a folder.
const VICTIM: &str = "DEFT_TEST_VICTIM";

#[tokio::test]
async fn children_end_with_a_process_that_is_killed() {
    if let Some(folder) = std::env::var_os(VICTIM) {
        return victim(folder.as_ref()).await;
    }
    let world = World::new();
    let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "life::children_end_with_a_process_that_is_killed",
        ])
        .env(VICTIM, world.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = |name: &str| -> Option<u64> {
        let text = std::fs::read_to_string(world.path().join(name)).ok()?;
        text.strip_suffix('\n')?.parse().ok()
    };
    until("both have started", || {
        pid("program").is_some() && pid("server").is_some()
    })
    .await;
    victim.kill().unwrap();
    victim.wait().unwrap();
    for name in ["program", "server"] {
        let pid = pid(name).unwrap();
        until("it is gone", || !is_alive(pid)).await;
    }
}

/// Starts a program, and a server that never answers, and waits to be killed.
async fn victim(folder: &std::path::Path) {
    let script = |name: &str| {
        let file = folder.join(name);
        // The shell keeps running, so the sleeping process is its child. It writes its id only after
        // its parent had time to record it: before that, no process could kill it.
        format!("sleep 0.5; echo $$ > {}; sleep 1000; true", file.display())
    };
    let mut options = Options::default();
    options.shell.enabled = true;
    let deaf = deft_tools::ServerOptions::command("sh", &["-c", &script("server")]);
    options.servers.insert("deaf".to_owned(), deaf);
    let router = Router::new(options, deft_tools::Environment::default());
    let run = json!({"command": script("program")});
    let (ran, listed) = tokio::join!(call(&router, "shell.run", run), router.list_servers());
    panic!("nothing ends by itself: {ran:?} {listed:?}");
}
