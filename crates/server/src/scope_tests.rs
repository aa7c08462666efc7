//! Which scope each request needs: a rule by method, and the requests that are not under it, each with a reason.

use std::collections::BTreeSet;

use deft_wire::token::TokenScope as Scope;

use crate::route::{Route, Verb};
use crate::routes::table;

/// Requests that need another scope than their method says.
const EXCEPTIONS: &[(&str, Scope, &str)] = &[
    (
        "POST /api/v1/runs/plan",
        Scope::Read,
        "it calls nothing and stores nothing",
    ),
    (
        "POST /api/v1/skills/validate",
        Scope::Read,
        "it checks the text in its body and writes nothing",
    ),
    (
        "POST /api/v1/schedule/simulate",
        Scope::Read,
        "it computes slots and runs nothing",
    ),
    (
        "POST /api/v1/prompts/chat",
        Scope::Read,
        "it shows a prompt and calls no model",
    ),
    (
        "POST /api/v1/secrets/test",
        Scope::Read,
        "it tells whether secrets can be read, and never their values",
    ),
    (
        "GET /api/v1/tokens",
        Scope::Admin,
        "the names and scopes of tokens are for those who may make and end them",
    ),
];

/// Requests that do no more than a skill may do, so that a token that may run skills may send them.
const RUN: &[(&str, &str)] = &[
    ("POST /api/v1/runs", "it runs a skill"),
    ("POST /api/v1/runs/{id}/cancel", "it stops a run"),
    ("POST /api/v1/runs/{id}/resume", "it continues a run"),
    ("POST /api/v1/runs/{id}/rerun", "it runs a skill"),
    ("POST /api/v1/jobs", "a job calls tools"),
    ("POST /api/v1/chats", "an agent calls tools"),
    ("POST /api/v1/chats/{id}/resume", "an agent calls tools"),
    ("POST /api/v1/tools/{name}/call", "it calls a tool"),
    (
        "POST /api/v1/commands",
        "a command runs a skill or calls a tool",
    ),
    (
        "POST /api/v1/approvals/{id}/approve",
        "it answers a question",
    ),
    (
        "POST /api/v1/approvals/{id}/reject",
        "it answers a question",
    ),
    (
        "POST /api/v1/notices/retry",
        "it sends stored messages again",
    ),
    (
        "POST /api/v1/remote-skills/read",
        "it asks a server for a file and stores nothing",
    ),
];

fn name(route: &Route) -> String {
    let verb = match route.verb {
        Verb::Get => "GET",
        Verb::Post => "POST",
        Verb::Put => "PUT",
        Verb::Delete => "DELETE",
    };
    format!("{verb} {}", route.path)
}

/// The scope that a request must have.
fn expected_scope(route: &Route) -> Scope {
    let name = name(route);
    let exception = EXCEPTIONS.iter().find(|(known, ..)| *known == name);
    if let Some((_, scope, _)) = exception {
        return *scope;
    }
    if RUN.iter().any(|(known, _)| *known == name) {
        return Scope::Run;
    }
    match route.verb {
        Verb::Get => Scope::Read,
        Verb::Post | Verb::Put | Verb::Delete => Scope::Admin,
    }
}

/// What changes skills, schedules or settings is for `admin`, what runs something for `run`, and reading for `read`.
#[test]
fn every_request_needs_the_scope_of_its_kind() {
    let routes = table();
    let given: Vec<(String, Scope)> = routes.iter().map(|one| (name(one), one.scope)).collect();
    let wanted: Vec<(String, Scope)> = routes
        .iter()
        .map(|one| (name(one), expected_scope(one)))
        .collect();
    assert_eq!(given, wanted);
}

/// A removed request leaves the lists, and no list hides what the other one says.
#[test]
fn the_lists_name_requests_that_exist_once() {
    let routes: BTreeSet<String> = table().iter().map(name).collect();
    let mut seen = BTreeSet::new();
    let exceptions = EXCEPTIONS.iter().map(|(known, ..)| *known);
    for known in exceptions.chain(RUN.iter().map(|(known, _)| *known)) {
        assert!(routes.contains(known), "{known}");
        assert!(seen.insert(known), "{known} is listed twice");
    }
    for (known, scope, _) in EXCEPTIONS {
        let changes = known.starts_with("PUT ") || known.starts_with("DELETE ");
        assert!(!changes, "{known} has to be for `admin`, not {scope:?}");
    }
    assert!(RUN.iter().all(|(known, _)| known.starts_with("POST ")));
}
