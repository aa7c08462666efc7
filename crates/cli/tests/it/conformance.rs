//! Single scenarios of the MCP conformance suite against a running daemon, with its token.

use std::collections::BTreeMap;

use deft_testkit::{conformance_checks, node_referee, referee_script_path};
use serde_json::Value;

use crate::api::client::Api;
use crate::mcp_client::MODERN;
use crate::support::World;

/// Runs a scenario and returns the results of its checks by id, with reasons.
pub(crate) fn judge(
    world: &World,
    api: &Api,
    scenario: &str,
) -> BTreeMap<String, (String, String)> {
    let out = world.path(&format!("verdicts/{scenario}"));
    let output = node_referee("@modelcontextprotocol/conformance/dist/index.js")
        .args(["server", "--url", &format!("http://{}/mcp", api.address)])
        .args(["--scenario", scenario, "--spec-version", MODERN])
        .args(["--force", "-o"])
        .arg(&out)
        // The suite cannot send a token.
        .env(
            "NODE_OPTIONS",
            format!("--import={}", referee_script_path("token.mjs").display()),
        )
        .env("DEFT_TOKEN", &api.token)
        .output()
        .unwrap();
    let checks = conformance_checks(&out).unwrap_or_else(|| {
        panic!(
            "{scenario} has no verdict: {}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    });
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let checks = checks.as_array().unwrap().iter().map(|check| {
        let verdict = (text(&check["status"]), text(&check["errorMessage"]));
        (text(&check["id"]), verdict)
    });
    checks.collect()
}
