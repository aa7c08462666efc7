//! Scenarios of `@modelcontextprotocol/conformance` that need no fixture.
//!
//! `crates/server/tests/referees/install.sh` installs the suite. If it is missing, the tests fail; nothing is
//! skipped. Not here: scenarios that call tools of a fixture by name.

use std::fs;

use deft_testkit::{conformance_checks, node_referee};

use crate::test_server::TestServer;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// Runs a scenario and returns the id, status and error message of each check.
fn judge(served: &TestServer, version: &str, scenario: &str) -> Vec<(String, String, String)> {
    let out = served.folder.path().join("verdicts");
    drop(fs::remove_dir_all(&out));
    let output = node_referee("@modelcontextprotocol/conformance/dist/index.js")
        .args(["server", "--url", &served.url(), "--scenario", scenario])
        .args(["--spec-version", version, "--force", "-o"])
        .arg(&out)
        .output()
        .unwrap();
    let checks = conformance_checks(&out).unwrap_or_else(|| {
        panic!(
            "{scenario} has no verdict: {}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    });
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let checks = checks.as_array().unwrap().iter().map(|check| {
        let why = text(&check["errorMessage"]);
        (text(&check["id"]), text(&check["status"]), why)
    });
    checks.collect()
}

/// Asserts that a scenario passes: only the `excused` checks fail, and at least one check succeeds.
fn passes(served: &TestServer, version: &str, scenario: &str, excused: &[&str]) {
    let checks = judge(served, version, scenario);
    let failed: Vec<_> = checks
        .iter()
        .filter(|(_, status, _)| status == "FAILURE")
        .collect();
    let unexpected: Vec<_> = failed
        .iter()
        .filter(|(id, ..)| !excused.contains(&id.as_str()))
        .collect();
    assert!(
        unexpected.is_empty(),
        "{scenario}, {version}: {unexpected:#?}"
    );
    for id in excused {
        let fails = failed.iter().any(|(failed, ..)| failed == id);
        assert!(fails, "{scenario}: `{id}` passes now; excuse it no more");
    }
    let succeeded = checks.iter().filter(|(_, status, _)| status == "SUCCESS");
    assert!(succeeded.count() > 0, "{scenario}, {version}: {checks:#?}");
}

#[test]
fn the_suite_accepts_sessions() {
    let served = TestServer::start();
    for scenario in [
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    ] {
        passes(&served, LEGACY, scenario, &[]);
    }
}

#[test]
fn the_suite_accepts_requests_without_a_session() {
    let served = TestServer::start();
    for scenario in [
        "tools-list",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "caching",
        "dns-rebinding-protection",
    ] {
        passes(&served, MODERN, scenario, &[]);
    }
}

#[test]
fn the_suite_accepts_a_server_without_state() {
    // These checks call tools of a fixture.
    let excused = [
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
    ];
    passes(&TestServer::start(), MODERN, "server-stateless", &excused);
}
