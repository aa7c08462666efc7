//! Checks that every command of the command line has a request in this API, or a reason why not.
//! `docs/cli.md` lists the commands; a test of the command line keeps it current.

use std::collections::BTreeSet;
use std::path::Path;

use crate::openapi::document;
use crate::routes::table;

/// Counterpart of a command in the API.
enum Counterpart {
    /// Requests that do the same.
    Requests(&'static [&'static str]),
    /// No request, for this reason.
    None(&'static str),
}

use Counterpart::{None as Left, Requests};

const COMMANDS: &[(&str, Counterpart)] = &[
    (
        "approvals approve",
        Requests(&["POST /api/v1/approvals/{id}/approve"]),
    ),
    ("approvals grants", Requests(&["GET /api/v1/grants"])),
    ("approvals list", Requests(&["GET /api/v1/approvals"])),
    (
        "approvals reject",
        Requests(&["POST /api/v1/approvals/{id}/reject"]),
    ),
    (
        "approvals revoke",
        Requests(&["DELETE /api/v1/grants/{id}"]),
    ),
    (
        "budget resume",
        Requests(&["POST /api/v1/budget/{agent}/resume"]),
    ),
    ("budget set", Requests(&["PUT /api/v1/budget"])),
    ("budget show", Requests(&["GET /api/v1/budget"])),
    (
        "chat",
        Requests(&[
            "POST /api/v1/chats",
            "POST /api/v1/chats/{id}/resume",
            "POST /api/v1/prompts/chat",
            "GET /api/v1/events",
        ]),
    ),
    ("chat delete", Requests(&["DELETE /api/v1/chats/{id}"])),
    ("chat list", Requests(&["GET /api/v1/chats"])),
    ("chat search", Requests(&["GET /api/v1/messages"])),
    ("chat show", Requests(&["GET /api/v1/chats/{id}"])),
    ("cmd", Requests(&["POST /api/v1/commands"])),
    ("completions", Left("it is for shells")),
    ("config get", Requests(&["GET /api/v1/settings/{key}"])),
    ("config path", Requests(&["GET /api/v1/settings"])),
    ("config set", Requests(&["PUT /api/v1/settings/{key}"])),
    ("config show", Requests(&["GET /api/v1/settings"])),
    (
        "config validate",
        Requests(&["GET /api/v1/settings/problems"]),
    ),
    (
        "demo crash",
        Left("it kills a daemon of its own in a home of its own"),
    ),
    (
        "doctor",
        Requests(&["GET /api/v1/doctor", "POST /api/v1/doctor/fix"]),
    ),
    ("export", Requests(&["GET /api/v1/skills/{name}/export"])),
    ("hooks list", Requests(&["GET /api/v1/hooks"])),
    (
        "hooks test",
        Left("it sends what the sender of a hook would send, `POST /hooks/NAME`"),
    ),
    ("init", Left("a daemon has its home already")),
    ("jobs halt", Requests(&["POST /api/v1/jobs/halt"])),
    ("jobs list", Requests(&["GET /api/v1/jobs"])),
    ("jobs queue", Requests(&["POST /api/v1/jobs"])),
    ("jobs resume", Requests(&["POST /api/v1/jobs/resume"])),
    ("jobs show", Requests(&["GET /api/v1/jobs/{id}"])),
    ("logs", Requests(&["GET /api/v1/logs"])),
    (
        "man",
        Left("it writes manual pages for the machine of the person"),
    ),
    ("mcp add", Requests(&["POST /api/v1/servers"])),
    ("mcp import", Requests(&["POST /api/v1/servers/import"])),
    (
        "mcp install",
        Left("it changes files of the person at the machine"),
    ),
    ("mcp list", Requests(&["GET /api/v1/servers"])),
    ("mcp login", Left("it needs the browser of the person")),
    ("mcp logout", Left("it belongs to `mcp login`")),
    ("mcp probe", Requests(&["POST /api/v1/servers/probe"])),
    ("mcp remove", Requests(&["DELETE /api/v1/servers/{name}"])),
    ("mcp serve", Left("`/mcp` is the same over HTTP")),
    ("notices list", Requests(&["GET /api/v1/notices"])),
    ("notices retry", Requests(&["POST /api/v1/notices/retry"])),
    ("open", Left("it needs the browser of the person")),
    ("remind", Requests(&["POST /api/v1/reminders"])),
    (
        "run",
        Requests(&["POST /api/v1/runs", "POST /api/v1/runs/plan"]),
    ),
    ("runs cancel", Requests(&["POST /api/v1/runs/{id}/cancel"])),
    ("runs export", Requests(&["GET /api/v1/runs/{id}/export"])),
    ("runs list", Requests(&["GET /api/v1/runs"])),
    (
        "runs logs",
        Requests(&["GET /api/v1/runs/{id}/events", "GET /api/v1/events"]),
    ),
    ("runs prune", Requests(&["POST /api/v1/runs/prune"])),
    ("runs rerun", Requests(&["POST /api/v1/runs/{id}/rerun"])),
    ("runs resume", Requests(&["POST /api/v1/runs/{id}/resume"])),
    ("runs show", Requests(&["GET /api/v1/runs/{id}"])),
    ("schedule add", Requests(&["PUT /api/v1/schedule/{name}"])),
    (
        "schedule list",
        Requests(&["GET /api/v1/schedule", "GET /api/v1/slots"]),
    ),
    ("schedule next", Requests(&["GET /api/v1/schedule/{name}"])),
    (
        "schedule pause",
        Requests(&["POST /api/v1/schedule/{name}/pause"]),
    ),
    (
        "schedule preview",
        Requests(&["GET /api/v1/schedule/preview"]),
    ),
    (
        "schedule remove",
        Requests(&["DELETE /api/v1/schedule/{name}"]),
    ),
    (
        "schedule resume",
        Requests(&["POST /api/v1/schedule/{name}/resume"]),
    ),
    (
        "schedule simulate",
        Requests(&["POST /api/v1/schedule/simulate"]),
    ),
    ("schema", Requests(&["GET /api/v1/schemas/{kind}"])),
    ("secrets list", Requests(&["GET /api/v1/secrets"])),
    ("secrets rm", Requests(&["DELETE /api/v1/secrets/{name}"])),
    ("secrets set", Requests(&["PUT /api/v1/secrets/{name}"])),
    ("secrets test", Requests(&["POST /api/v1/secrets/test"])),
    (
        "setup",
        Left("it asks the person at the machine; settings, secrets and servers have requests"),
    ),
    (
        "skills approve",
        Requests(&["POST /api/v1/remote-skills/approve"]),
    ),
    ("skills delete", Requests(&["DELETE /api/v1/skills/{name}"])),
    (
        "skills disable",
        Requests(&["POST /api/v1/skills/{name}/disable"]),
    ),
    ("skills doctor", Requests(&["GET /api/v1/doctor/skills"])),
    (
        "skills enable",
        Requests(&["POST /api/v1/skills/{name}/enable"]),
    ),
    (
        "skills export",
        Requests(&["GET /api/v1/skills/{name}/export"]),
    ),
    ("skills import", Requests(&["POST /api/v1/skills/import"])),
    ("skills list", Requests(&["GET /api/v1/skills"])),
    ("skills new", Requests(&["POST /api/v1/skills"])),
    ("skills prompt", Requests(&["GET /api/v1/prompts/skills"])),
    (
        "skills restore",
        Requests(&["POST /api/v1/skills/{name}/restore"]),
    ),
    (
        "skills revoke",
        Requests(&["POST /api/v1/remote-skills/revoke"]),
    ),
    (
        "skills show",
        Requests(&[
            "GET /api/v1/skills/{name}",
            "GET /api/v1/skills/{name}/source",
            "POST /api/v1/remote-skills/read",
        ]),
    ),
    (
        "skills validate",
        Requests(&["POST /api/v1/skills/validate"]),
    ),
    (
        "skills watch",
        Left("the daemon follows files itself; lists have an `ETag`"),
    ),
    ("status", Requests(&["GET /api/v1/status"])),
    ("tick", Left("the daemon runs due schedules itself")),
    ("tokens add", Requests(&["POST /api/v1/tokens"])),
    ("tokens list", Requests(&["GET /api/v1/tokens"])),
    ("tokens revoke", Requests(&["DELETE /api/v1/tokens/{name}"])),
    ("tools call", Requests(&["POST /api/v1/tools/{name}/call"])),
    (
        "tools catalog",
        Requests(&["GET /api/v1/tools/catalog", "GET /tools/list"]),
    ),
    (
        "tools forget",
        Requests(&["DELETE /api/v1/tools/{name}/approval"]),
    ),
    ("tools list", Requests(&["GET /api/v1/tools"])),
    ("tools show", Requests(&["GET /api/v1/tools/{name}"])),
    (
        "undo",
        Requests(&["POST /api/v1/undo", "GET /api/v1/trash"]),
    ),
    ("up", Left("it is the daemon that serves this API")),
];

/// Returns the commands in the reference that do something themselves, unlike command groups.
fn commands() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let text = std::fs::read_to_string(path).unwrap();
    let pages = text.split("\n## deft").skip(1);
    let is_group = |page: &str| {
        let usage = page.lines().find(|line| line.starts_with("Usage: "));
        usage.is_some_and(|usage| usage.ends_with("<COMMAND>") || usage.ends_with("[COMMAND]"))
    };
    let pages = pages.filter(|page| !is_group(page));
    let name = |page: &str| page.lines().next().unwrap_or_default().trim().to_owned();
    pages.map(name).collect()
}

/// Returns every request in the OpenAPI document, as `METHOD /path`.
fn requests() -> BTreeSet<String> {
    let document = document(&table());
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, methods): (&String, &serde_json::Value)| {
        let methods = methods.as_object().unwrap().keys();
        let path = path.clone();
        methods
            .map(move |method| format!("{} {path}", method.to_uppercase()))
            .collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn every_command_has_a_request_or_a_reason() {
    let named: BTreeSet<String> = COMMANDS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let commands = commands();
    assert!(commands.len() > 60, "{commands:?}");
    let new: Vec<_> = commands.difference(&named).collect();
    assert!(new.is_empty(), "no request and no reason for {new:?}");
    let gone: Vec<_> = named.difference(&commands).collect();
    assert!(gone.is_empty(), "there are no such commands: {gone:?}");
    let requests = requests();
    for (name, counterpart) in COMMANDS {
        match counterpart {
            Requests(wanted) => {
                for request in *wanted {
                    assert!(
                        requests.contains(*request),
                        "{name}: no request `{request}`"
                    );
                }
            }
            Left(reason) => assert!(!reason.is_empty(), "{name}"),
        }
    }
    assert!(COMMANDS.is_sorted_by_key(|(name, _)| *name));
}
