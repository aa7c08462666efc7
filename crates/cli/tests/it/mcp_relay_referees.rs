//! The MCP conformance suite tests the relay: its fixture runs behind a daemon, and the suite calls `/mcp` of
//! the daemon. Every scored scenario for servers of both revisions must pass.
//!
//! `crates/server/tests/referees/install.sh` installs the suite. If it is missing, the tests fail; none are
//! skipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use deft_testkit::{node_referee, referee, referee_script_path};
use serde_json::Value;

use crate::daemon::Daemon;
use crate::mcp_client::{LEGACY, MODERN};
use crate::mcp_relay_support::{HttpUpstream, http_world};
use crate::support::World;

const SUITE: &str = "@modelcontextprotocol/conformance/dist/index.js";

/// Returns the server scenarios that a revision requires, as listed by the suite.
fn required(revision: &str) -> Vec<String> {
    let listed = node_referee(SUITE)
        .args(["list", "--server", "--requirements", revision])
        .output()
        .unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let servers = text.split("Server scenarios").nth(1).unwrap();
    let servers = servers.split("Client scenarios").next().unwrap();
    let names = servers
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "));
    names.map(str::to_owned).collect()
}

fn checks(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(checks(&path));
        } else if path.ends_with("checks.json") {
            files.push(path);
        }
    }
    files
}

/// Returns the number of successful checks and the failures of each scenario, by its folder.
fn verdicts(folder: &Path) -> BTreeMap<String, (usize, Vec<String>)> {
    let mut found = BTreeMap::new();
    for file in checks(folder) {
        let name = file.parent().unwrap().strip_prefix(folder).unwrap();
        let checks: Vec<Value> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let succeeded = checks.iter().filter(|check| check["status"] == "SUCCESS");
        let failed = checks.iter().filter(|check| check["status"] == "FAILURE");
        let failed = failed.map(|check| format!("{}: {}", check["id"], check["errorMessage"]));
        let verdict = (succeeded.count(), failed.collect());
        found.insert(name.display().to_string(), verdict);
    }
    found
}

/// Whether a folder has the result of a scenario: the name of the scenario is followed by the time.
fn is_about(folder: &str, scenario: &str) -> bool {
    let rest = folder.split(scenario).nth(1);
    rest.is_some_and(|rest| rest.starts_with("-20") || rest.is_empty())
}

fn judge(world: &World, revision: &str, count: usize) {
    let daemon = Daemon::start(world);
    let state: Value = serde_json::from_str(&world.read("home/server.json")).unwrap();
    let url = format!("{}/mcp", state["url"].as_str().unwrap());
    let required = required(revision);
    assert_eq!(required.len(), count, "{required:?}");
    let out = world.path("verdicts");
    world.write("baseline.yml", "server: []\n");
    let token = referee_script_path("token.mjs");
    let judged = std::process::Command::new(referee("bin/node"))
        .arg("--import")
        .arg(token)
        .arg(referee(&format!("node_modules/{SUITE}")))
        .args(["server", "--url", &url, "--requirements", revision, "-o"])
        .arg(&out)
        .arg("--expected-failures")
        .arg(world.path("baseline.yml"))
        .env("DEFT_TOKEN", world.read("home/token").trim())
        .output()
        .unwrap();
    let said = || {
        let (stdout, stderr) = (&judged.stdout, &judged.stderr);
        let texts = [stdout, stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        texts.join("\n")
    };
    let verdicts = verdicts(&out);
    let mut problems = Vec::new();
    for scenario in &required {
        let verdict = verdicts
            .iter()
            .find(|(folder, _)| is_about(folder, scenario));
        match verdict {
            Some((_, (succeeded, failed))) if failed.is_empty() && *succeeded > 0 => {}
            Some((_, (succeeded, failed))) => {
                problems.push(format!("{scenario}: {succeeded} passed, {failed:#?}"));
            }
            None => problems.push(format!("{scenario} has no verdict")),
        }
    }
    assert!(problems.is_empty(), "{}\n{}", problems.join("\n"), said());
    assert!(judged.status.success(), "{}", said());
    drop(daemon);
}

#[test]
fn the_suite_accepts_the_relay_with_sessions() {
    let upstream = HttpUpstream::start(&["http", "legacy"]);
    judge(&http_world(&upstream, "reexport = \"plain\""), LEGACY, 30);
}

#[test]
fn the_suite_accepts_the_relay_without_sessions() {
    let upstream = HttpUpstream::start(&["http"]);
    judge(&http_world(&upstream, "reexport = \"plain\""), MODERN, 37);
}

/// The client has a session, and the server behind deft does not.
#[test]
fn the_suite_accepts_the_relay_between_eras() {
    let upstream = HttpUpstream::start(&["http"]);
    judge(&http_world(&upstream, "reexport = \"plain\""), LEGACY, 30);
}
