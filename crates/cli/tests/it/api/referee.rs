//! schemathesis, a third-party program, generates requests from the OpenAPI document and checks every
//! response against the document.
//!
//! `crates/server/tests/referees/install.sh` installs it. If it is missing, the test fails; none are skipped.
//! `make api-fuzz` sends twenty thousand requests.

use std::process::Command;

use deft_testkit::referee;

use super::ASKING;
use super::client::Api;
use crate::daemon::{Daemon, used_home};
use crate::support::{PAGE, SKILL, WORKFLOW};

/// The checks: no server errors, and only responses that the document describes.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";

/// Excluded operations: the feed never ends, and imports read any folder of this machine.
const LEFT_OUT: [&str; 3] = [
    "/api/v1/events",
    "/api/v1/skills/import",
    "/api/v1/servers/import",
];

/// The number of requests that `make api-fuzz` promises.
const ENOUGH: usize = 20_000;

/// Returns the number of requests that the referee reports to have generated; it sends each of them.
fn count_requests(text: &str) -> usize {
    let line = text.lines().find(|line| line.contains(" generated"));
    let line = line.unwrap_or_else(|| panic!("no count: {text}"));
    line.split_whitespace()
        .next()
        .unwrap()
        .replace(',', "")
        .parse()
        .unwrap()
}

#[test]
fn every_reply_matches_the_openapi_document() {
    // The number of requests per operation; the API has about a hundred operations.
    let many = std::env::var_os("DEFT_API_EXAMPLES").map(|text| text.into_string().unwrap());
    let examples = many.as_deref().unwrap_or("3");
    let world = used_home();
    world
        .write("home/skills/asking.yaml", ASKING)
        .write("home/skills/report.yaml", WORKFLOW)
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/greet/SKILL.md", SKILL)
        .write("scratch/x", "");
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let mut command = Command::new(referee("python/bin/schemathesis"));
    command
        .arg("run")
        .arg(format!("http://{}/api/openapi.json", api.address))
        .args(["--header", &format!("Authorization: Bearer {}", api.token)])
        .args([
            "--checks",
            CHECKS,
            "--phases",
            "fuzzing",
            "--max-examples",
            examples,
        ])
        .args(["--seed", "9", "--workers", "1", "--no-shrink"])
        .args(["--continue-on-failure", "--request-timeout", "60"])
        .args(["--suppress-health-check", "all", "--warnings", "off"])
        .env("NO_COLOR", "1")
        .env("HOME", world.path("scratch"))
        .current_dir(world.path("scratch"));
    for path in LEFT_OUT {
        command.args(["--exclude-path", path]);
    }
    let judged = command.output().unwrap();
    let text = String::from_utf8_lossy(&judged.stdout).into_owned();
    if many.is_some() {
        println!("{text}");
    }
    let errors = String::from_utf8_lossy(&judged.stderr);
    assert!(judged.status.success(), "{text}\n{errors}");
    let sent = count_requests(&text);
    if many.is_some() {
        assert!(sent >= ENOUGH, "only {sent} requests were sent");
    }
    assert_eq!(api.get("/healthz").status, 200);
    daemon.stop();
}
