//! All scored scenarios for clients, of both revisions.
//!
//! `crates/server/tests/referees/install.sh` installs the suite. If it is missing the tests fail; nothing is
//! skipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use deft_testkit::{HttpServer, RemoteSkills, Script, referee, skill_md, witness};
use deft_tools::{Environment, Options, Router, ServerOptions};
use serde_json::{Value, json};

use crate::driver::{SERVER, SKILLS, open_skills};

fn suite() -> Command {
    let mut command = Command::new(referee("bin/node"));
    command.arg(referee(
        "node_modules/@modelcontextprotocol/conformance/dist/index.js",
    ));
    command
}

/// Returns the client scenarios that a revision requires, as the suite lists them.
fn required(revision: &str) -> Vec<String> {
    let listed = suite()
        .args(["list", "--client", "--requirements", revision])
        .output()
        .unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let clients = text.split("Client scenarios").nth(1).unwrap();
    let clients = clients.split("Run and reported").next().unwrap();
    let names = clients
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "));
    names.map(str::to_owned).collect()
}

/// Returns the command that runs this program as the driver.
fn driver() -> String {
    let program = std::env::current_exe().unwrap();
    format!("{} driver::driver --exact --nocapture", program.display())
}

/// Returns the number of successful checks and the failed ones of each scenario, by the scenario's
/// folder.
fn verdicts(folder: &Path) -> BTreeMap<String, (usize, Vec<String>)> {
    let mut found = BTreeMap::new();
    for file in checks(folder) {
        let name = file.parent().unwrap().strip_prefix(folder).unwrap();
        let checks: Vec<Value> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let with = |status: &str| {
            let status = status.to_owned();
            checks.iter().filter(move |check| check["status"] == status)
        };
        let failed =
            with("FAILURE").map(|check| format!("{}: {}", check["id"], check["errorMessage"]));
        let verdict = (with("SUCCESS").count(), failed.collect());
        found.insert(name.display().to_string(), verdict);
    }
    found
}

fn checks(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(self::checks(&path));
        } else if path.ends_with("checks.json") {
            files.push(path);
        }
    }
    files
}

/// Runs every scenario of a revision and expects all of them to pass.
fn judge(revision: &str, count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (out, excused) = (folder.path().join("out"), folder.path().join("excused.yml"));
    let required = required(revision);
    fs::write(&excused, "client: []\n").unwrap();
    assert_eq!(required.len(), count, "{required:?}");
    let judged = suite()
        .args([
            "client",
            "--command",
            &driver(),
            "--requirements",
            revision,
            "-o",
        ])
        .arg(&out)
        .arg("--expected-failures")
        .arg(&excused)
        .output()
        .unwrap();
    let verdicts = verdicts(&out);
    let said = || String::from_utf8_lossy(&judged.stdout).into_owned();
    for scenario in &required {
        let name = scenario.replace('/', "-");
        let verdict = verdicts
            .iter()
            .find(|(folder, _)| folder.replace('/', "-").starts_with(&name));
        let (_, (succeeded, failed)) = verdict.unwrap_or_else(|| panic!("{scenario}: {}", said()));
        assert!(failed.is_empty(), "{scenario}: {failed:#?}");
        // A client that does nothing would pass too.
        assert!(*succeeded > 0, "{scenario} checked nothing");
    }
    assert!(judged.status.success(), "{}", said());
}

#[test]
fn all_client_scenarios_of_the_revision_with_sessions_pass() {
    judge("2025-11-25", 18);
}

#[test]
fn all_client_scenarios_of_the_revision_without_sessions_pass() {
    judge("2026-07-28", 32);
}

/// Extensions are in no scored set, so each of their scenarios is run by name.
#[test]
fn skills_of_servers_are_verified_and_fetched_on_demand() {
    for (name, check) in [
        ("no-prefetch", "sep-2640-host-no-prefetch"),
        ("verify-digest", "sep-2640-host-verify-digest"),
        ("verify-size", "sep-2640-host-size-mismatch-failure"),
        ("verify-frontmatter", "sep-2640-host-frontmatter-comparison"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let judged = suite()
            .args(["client", "--command", &driver()])
            .args(["--scenario", &format!("{SKILLS}{name}")])
            .args(["--spec-version", "2026-07-28", "--force", "-o"])
            .arg(folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&judged.stdout).into_owned();
        let files = checks(folder.path());
        assert_eq!(files.len(), 1, "{name}: {text}");
        let checks: Vec<Value> = serde_json::from_slice(&fs::read(&files[0]).unwrap()).unwrap();
        let failed: Vec<_> = checks
            .iter()
            .filter(|it| it["status"] == "FAILURE")
            .collect();
        assert!(failed.is_empty(), "{name}: {failed:#?}");
        // A skipped check proves nothing.
        let passed = |it: &Value| it["id"] == check && it["status"] == "SUCCESS";
        assert!(checks.iter().any(passed), "{name}: {checks:#?}");
    }
}

/// A client that reads nothing would pass the scenarios of the suite; this test shows that the driver
/// reads every file of a valid skill.
#[tokio::test]
async fn all_files_of_a_verified_skill_are_readable() {
    let folder = tempfile::tempdir().unwrap();
    let (text, frontmatter) = skill_md("pdf-processing", "Fill PDF documents", "Read the forms.");
    let files = [
        ("SKILL.md", text.as_str()),
        ("references/FORMS.md", "Forms.\n"),
    ];
    let skills =
        RemoteSkills::new(folder.path(), SERVER).skill("pdf-processing", frontmatter, &files);
    skills.write();
    let script = Script::new()
        .with("era", json!("modern"))
        .with("skills", skills.path());
    let arguments = script.write(folder.path(), SERVER);
    let server = HttpServer::start(&arguments, &[]);
    let mut options = Options::default();
    options
        .servers
        .insert(SERVER.to_owned(), ServerOptions::url(&server.url));
    let router = Router::new(options, Environment::default());
    open_skills(&router, true).await.unwrap();
    router.shutdown().await;
    let events = witness(&arguments.witness).into_iter();
    let reads = events.filter(|event| event.tool == "resources/read");
    let reads: Vec<Value> = reads.map(|event| event.arguments["uri"].clone()).collect();
    let both = [
        "skill://pdf-processing/SKILL.md",
        "skill://pdf-processing/references/FORMS.md",
    ];
    assert_eq!(reads, both);
}
