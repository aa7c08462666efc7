//! Every address of the API is behind a token, and behind the scope that the document names.

use serde_json::json;

use super::client::{Api, Reply};
use super::tokens::{add, with_token};
use crate::daemon::{Daemon, used_home, wait_for};

/// A request that the document describes.
pub(super) struct Operation {
    pub(super) method: String,
    pub(super) path: String,
    /// None if it needs no token.
    scope: Option<String>,
}

/// Every request of the document, with `x` for names and ids.
pub(super) fn operations(api: &Api) -> Vec<Operation> {
    let document = api.read("/api/openapi.json");
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let parts = path.split('/');
        let parts: Vec<&str> = parts
            .map(|part| if part.starts_with('{') { "x" } else { part })
            .collect();
        for (method, operation) in methods.as_object().unwrap() {
            let scope = operation["x-scope"].as_str().map(str::to_owned);
            let is_open = operation.get("security") == Some(&json!([]));
            assert_eq!(is_open, scope.is_none(), "{method} {path}");
            found.push(Operation {
                method: method.to_uppercase(),
                path: parts.join("/"),
                scope,
            });
        }
    }
    found
}

/// Requests that no document describes and that need a token all the same.
const OTHERS: [(&str, &str); 7] = [
    ("GET", "/api/openapi.json"),
    ("GET", "/metrics"),
    ("GET", "/ws"),
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("GET", "/nowhere"),
    ("POST", "/api/v1/status"),
];

fn code(reply: &Reply) -> (u16, String) {
    let code = reply.json()["code"].as_str().map(str::to_owned);
    (reply.status, code.unwrap_or_default())
}

fn send(api: &Api, method: &str, path: &str) -> Reply {
    let headers: &[(&str, &str)] = match method {
        "GET" | "DELETE" => &[],
        _ => &[("Content-Type", "application/json")],
    };
    let body: &[u8] = if headers.is_empty() { b"" } else { b"{}" };
    api.send(method, path, headers, body)
}

/// Sends a request without a token, and again as long as there were too many of them.
fn send_without_token(api: &Api, method: &str, path: &str) -> Reply {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        api.address
    );
    wait_for("a place for a request", || {
        let reply = api.raw(head.as_bytes());
        (reply.status != 429).then_some(reply)
    })
}

/// Whether a thing exists is no business of a stranger: 401 is the answer to everything.
#[test]
fn every_address_refuses_a_request_without_a_token() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let all = operations(&api);
    let open: Vec<&str> = all
        .iter()
        .filter(|one| one.scope.is_none())
        .map(|one| one.path.as_str())
        .collect();
    assert_eq!(open, ["/healthz", "/readyz", "/hooks/x", "/sign-in"]);
    let guarded = all.iter().filter(|one| one.scope.is_some());
    let guarded = guarded.map(|one| (one.method.as_str(), one.path.as_str()));
    let guarded: Vec<(&str, &str)> = guarded.chain(OTHERS).collect();
    assert!(guarded.len() > 90, "{guarded:?}");
    for (method, path) in guarded {
        let reply = send_without_token(&api, method, path);
        let mut problem = reply.json();
        let fields = problem.as_object_mut().unwrap();
        assert!(fields.remove("request_id").unwrap().is_string());
        assert!(fields.remove("type").unwrap().is_string());
        let wanted = json!({
            "title": "Unauthorized",
            "status": 401,
            "detail": "the request has no token",
            "code": "unauthorized",
            "hint": "send `Authorization: Bearer TOKEN`; the file `token` in the home has the token",
        });
        assert_eq!((reply.status, problem), (401, wanted), "{method} {path}");
    }
    daemon.stop();
}

/// A token may send the requests of its scope, and those of lower ones.
#[test]
fn every_request_is_refused_below_its_scope() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let owner = Api::find(&world);
    let reader = with_token(&owner, add(&world, "reader", "read"));
    let runner = with_token(&owner, add(&world, "runner", "run"));
    let refused = (403, "scope".to_owned());
    let mut counts = [0; 3];
    for Operation {
        method,
        path,
        scope,
    } in operations(&owner)
    {
        // This one does not end; `feed_filters.rs` reads it.
        let Some(scope) = scope.filter(|_| path != "/api/v1/events") else {
            continue;
        };
        let at = format!("{method} {path}");
        match scope.as_str() {
            "read" => {
                counts[0] += 1;
                let reply = send(&reader, &method, &path);
                assert!(![401, 403].contains(&reply.status), "{at}: {reply:?}");
            }
            "run" => {
                counts[1] += 1;
                assert_eq!(code(&send(&reader, &method, &path)), refused, "{at}");
                let reply = send(&runner, &method, &path);
                assert!(![401, 403].contains(&reply.status), "{at}: {reply:?}");
            }
            "admin" => {
                counts[2] += 1;
                for api in [&reader, &runner] {
                    assert_eq!(code(&send(api, &method, &path)), refused, "{at}");
                }
            }
            other => panic!("{at} needs the unknown scope `{other}`"),
        }
    }
    assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
    // What was refused has changed nothing.
    for line in world.audited_requests() {
        assert!(line["who"] == "reader" || line["who"] == "runner", "{line}");
    }
    daemon.stop();
}
