//! `/readyz` reports that a daemon is not ready while it shuts down or waits for its store.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use deft_testkit::{Gate, HttpDouble, Piece, Reaction};
use serde_json::json;

use super::client::Api;
use crate::daemon::{Daemon, ended, used_home, wait_for};

/// A run waits for a web server that responds only after the test opens a gate.
#[test]
fn a_draining_daemon_is_alive_but_not_ready() {
    let gate = Gate::default();
    let held = gate.clone();
    let slow = HttpDouble::start(move |_| {
        let kind = vec!["Content-Type: application/json".to_owned()];
        let pieces = vec![Piece::Gate(held.clone()), Piece::Bytes(b"{}".to_vec())];
        Reaction::Stream(200, kind, pieces)
    });
    let world = used_home();
    let skill = format!(
        "name: slow\ndescription: Waits\nsteps:\n  - {{id: ask, tool: http.request, args: {{url: {}}}}}\n",
        json!(slow.url)
    );
    world
        .write(
            "home/config.toml",
            "[tools.http]\nallow = [\"127.0.0.1\"]\n",
        )
        .write("home/skills/slow.yaml", skill);
    let mut daemon = Daemon::with(&world, &["--grace", "60s"], &[]);
    let api = Api::find(&world);
    let stranger = Api {
        address: api.address.clone(),
        token: String::new(),
    };
    let ready = stranger.get("/readyz");
    assert_eq!((ready.status, ready.json()), (200, json!({"ok": true})));
    let started = api.post("/api/v1/runs", &json!({"skill": "slow"})).json();
    let run = started["run"]["id"].as_str().unwrap().to_owned();
    wait_for("the call", || (!slow.requests().is_empty()).then_some(()));

    daemon.signal("-TERM");
    daemon.until("shutting down");
    let stopping = wait_for("the answer of a daemon that stops", || {
        let reply = stranger.get("/readyz");
        (reply.status != 200).then_some(reply)
    });
    assert_eq!(
        (stopping.status, stopping.json()),
        (
            503,
            json!({"ok": false, "reasons": ["deft is shutting down"]})
        )
    );
    assert_eq!(stranger.get("/healthz").status, 200);
    let refused = api.post("/api/v1/runs", &json!({"skill": "slow"}));
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (503, &json!("stopping"))
    );
    assert_eq!(refused.header("retry-after"), Some("1"));

    gate.open();
    let (status, said) = daemon.end();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(!said.contains("left unfinished"), "{said}");
    assert_eq!(ended(&world, &run)["outcome"], "success");
    assert_eq!(slow.requests().len(), 1);
}

/// Takes every lock that a reader or writer of the database needs, until its stdin is closed.
const LOCK: &str = "
import fcntl, sys
with open(sys.argv[1], 'r+b') as index:
    fcntl.lockf(index, fcntl.LOCK_EX, 8, 120)
    print('locked', flush=True)
    sys.stdin.read()
";

/// Another program holds the locks of the database, so the store waits.
#[test]
fn a_daemon_with_a_stuck_store_is_alive_but_not_ready() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let stranger = Api {
        token: String::new(),
        ..Api::find(&world)
    };
    assert_eq!(stranger.get("/readyz").status, 200);

    let mut locker = Command::new("python3")
        .args(["-c", LOCK])
        .arg(world.path("home/data/deft.db-shm"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 must be installed");
    let mut line = String::new();
    let stdout = locker.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    let blocked = stranger.get("/readyz");
    assert_eq!(
        (blocked.status, blocked.json()),
        (
            503,
            json!({"ok": false, "reasons": ["the store does not answer"]})
        )
    );
    assert_eq!(stranger.get("/healthz").status, 200);

    drop(locker.stdin.take());
    locker.wait().unwrap();
    wait_for("a store that answers", || {
        (stranger.get("/readyz").status == 200).then_some(())
    });
    daemon.stop();
}
