//! Who may open a WebSocket, what a token may say there, and what the audit log has of it.

use serde_json::{Value, json};

use super::ASKING;
use super::client::Api;
use super::socket::Socket;
use super::tokens::{add, with_token};
use crate::daemon::{Daemon, used_home};

/// Every header is right but the one that a case names.
#[test]
fn a_websocket_is_opened_only_with_a_token_and_from_this_host() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let own = format!("http://{}", api.address);
    let port = api.address.rsplit_once(':').unwrap().1;
    let localhost = format!("localhost:{port}");
    let right = format!("?token={}", api.token);
    let bearer = format!("Bearer {}", api.token);
    let refused = |path: &str, host: &str, headers: &[(&str, &str)]| {
        let reply = Socket::ask(&api, path, host, headers).err()?;
        let code = reply.json()["code"].as_str().unwrap().to_owned();
        Some((reply.status, code))
    };
    let problem = |status: u16, code: &str| Some((status, code.to_owned()));
    for path in ["/", "/ws"] {
        let with_token = format!("{path}{right}");
        for origin in [
            "https://evil.example",
            "http://localhost:1",
            "null",
            "https://evil.example:443",
        ] {
            let got = refused(&with_token, &api.address, &[("Origin", origin)]);
            assert_eq!(got, problem(403, "forbidden_origin"), "{path} {origin}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", ""] {
            let got = refused(&with_token, host, &[]);
            assert_eq!(got, problem(403, "forbidden_host"), "{path} {host}");
            // A page of the same stranger: the name leads here (DNS rebinding).
            let origin = format!("http://{host}");
            let got = refused(&with_token, host, &[("Origin", &origin)]);
            assert_eq!(got, problem(403, "forbidden_host"), "{path} {host}");
        }
        let wrong = format!("{path}?token=deft_wrong");
        let none = format!("{path}?token=");
        let cases: [(&str, &[(&str, &str)]); 6] = [
            (path, &[]),
            (path, &[("Authorization", "Bearer deft_wrong")]),
            (path, &[("Authorization", "Basic deft_wrong")]),
            (&wrong, &[]),
            (&none, &[]),
            // A wrong header counts, also if the address is right.
            (&with_token, &[("Authorization", "Bearer deft_wrong")]),
        ];
        for (path, headers) in cases {
            let got = refused(path, &api.address, headers);
            assert_eq!(got, problem(401, "unauthorized"), "{path} {headers:?}");
        }
        assert_eq!(refused(&with_token, &api.address, &[]), None);
        assert_eq!(refused(&with_token, &localhost, &[]), None);
        let same = [("Origin", own.as_str())];
        assert_eq!(refused(&with_token, &api.address, &same), None);
        let header = [("Authorization", bearer.as_str())];
        assert_eq!(refused(path, &api.address, &header), None);
    }
    daemon.stop();
}

/// A token that may only read hears events and answers no question. Each answer is in the audit log, also a refused one.
#[test]
fn answering_on_the_socket_needs_the_scope_run_and_is_logged() {
    let world = used_home();
    world.write("home/skills/asking.yaml", ASKING);
    let daemon = Daemon::start(&world);
    let owner = Api::find(&world);
    let reader = with_token(&owner, add(&world, "reader", "read"));
    let runner = with_token(&owner, add(&world, "runner", "run"));
    let open = |api: &Api| Socket::open(api, &format!("/ws?token={}", api.token));
    let (mut reading, mut running) = (open(&reader), open(&runner));
    let run = owner.post("/api/v1/runs?wait=20", &json!({"skill": "asking"}));
    let run = run.json()["run"]["id"].clone();
    let question = owner.read("/api/v1/approvals")["approvals"][0].clone();
    assert_eq!(question["run"], run);
    let answer = |id: &Value| json!({"type": "confirm", "id": id, "answer": "yes"}).to_string();

    // Events and replies have no order between them, so the question comes first.
    reading.until("confirmation_required");
    reading.send(&answer(&run));
    let reply = reading.until("error");
    let problem = &reply.last().unwrap()["problem"];
    assert_eq!(
        (&problem["status"], &problem["code"], &problem["detail"]),
        (
            &json!(403),
            &json!("scope"),
            &json!("the token `reader` lacks the scope `run`")
        )
    );
    // The question is as it was.
    let asked = owner.read("/api/v1/approvals");
    assert_eq!(asked["approvals"], json!([question]));

    running.send("nonsense");
    running.until("error");
    running.send(&answer(&json!("apr_nothing")));
    running.until("error");
    running.send(&answer(&run));
    let confirmed = running.until("confirmed");
    let approval = &confirmed.last().unwrap()["approval"];
    assert_eq!(
        (&approval["id"], &approval["by"]),
        (&question["id"], &json!("api (runner)"))
    );
    daemon.stop();

    let lines = world.audited_requests().into_iter();
    let lines = lines.filter(|line: &Value| !line["what"].as_str().unwrap().starts_with("POST"));
    let lines: Vec<Value> = lines
        .map(|mut line| {
            let fields = line.as_object_mut().unwrap();
            let from = fields.remove("from").unwrap();
            assert!(from.as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
            assert!(fields.remove("timestamp").unwrap().is_string());
            assert_ne!(fields.remove("request_id").unwrap(), "");
            line
        })
        .collect();
    let wanted =
        |who: &str, what: String, status: u16| json!({"who": who, "what": what, "status": status});
    let confirm = |id: &Value| format!("confirm {} yes on the WebSocket", id.as_str().unwrap());
    assert_eq!(
        lines,
        [
            wanted("reader", confirm(&run), 403),
            wanted(
                "runner",
                "unreadable message on the WebSocket".to_owned(),
                400
            ),
            wanted("runner", confirm(&json!("apr_nothing")), 404),
            wanted("runner", confirm(&question["id"]), 200),
        ]
    );
}

/// The connection ends within a second or two of the revocation; until then the token may answer nothing.
#[test]
fn a_revoked_token_answers_no_approval() {
    let world = used_home();
    world.write("home/skills/asking.yaml", ASKING);
    let daemon = Daemon::start(&world);
    let owner = Api::find(&world);
    let runner = with_token(&owner, add(&world, "runner", "run"));
    let mut running = Socket::open(&runner, &format!("/ws?token={}", runner.token));
    let run = owner.post("/api/v1/runs?wait=20", &json!({"skill": "asking"}));
    let run = run.json()["run"]["id"].clone();
    let pending = owner.read("/api/v1/approvals");
    assert_eq!(pending["approvals"][0]["run"], run);
    assert_eq!(world.code(&["tokens", "revoke", "runner"]), 0);
    running.send(&json!({"type": "confirm", "id": run, "answer": "yes"}).to_string());
    // Reads until the close frame.
    while running.frame().0 != 8 {}
    assert_eq!(owner.read("/api/v1/approvals"), pending);
    daemon.stop();
}
