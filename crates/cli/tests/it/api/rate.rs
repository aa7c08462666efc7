//! How often a token may ask: too many requests are refused with 429, and other tokens do not notice.

use serde_json::{Value, json};

use super::client::{Api, Reply};
use super::socket::Socket;
use super::tokens::{add, with_token};
use crate::daemon::{Daemon, used_home, wait_for};

/// So many requests without a right token that an address sends more than 100 in a second.
pub(super) const FLOOD: usize = 1000;

/// A request was refused because there were too many, and says when to try again.
pub(super) fn is_slowed_down(reply: &Reply, most: u32) -> bool {
    if reply.status != 429 {
        return false;
    }
    assert_eq!(reply.header("retry-after"), Some("1"));
    let mut problem = reply.json();
    let fields = problem.as_object_mut().unwrap();
    assert!(fields.remove("request_id").unwrap().is_string());
    assert!(fields.remove("type").unwrap().is_string());
    let wanted = json!({
        "title": "Too Many Requests",
        "status": 429,
        "detail": format!("more than {most} requests within a second"),
        "code": "too_many_requests",
        "hint": "wait a second, then send fewer requests at a time",
    });
    assert_eq!(problem, wanted);
    true
}

/// Reading and changing requests are counted apart, and each token on its own.
#[test]
fn only_the_token_over_the_rate_limit_is_slowed_down() {
    let world = used_home();
    let (reads, changes) = (5, 2);
    let daemon = Daemon::with(
        &world,
        &[],
        &[
            ("DEFT__SERVER__READS_PER_SECOND", &reads.to_string()),
            ("DEFT__SERVER__CHANGES_PER_SECOND", &changes.to_string()),
        ],
    );
    let owner = Api::find(&world);
    let hurried = with_token(&owner, add(&world, "hurried", "run"));
    let calm = with_token(&owner, add(&world, "calm", "run"));
    let change = "/api/v1/notices/retry";
    for (method, path, most) in [("POST", change, changes), ("GET", "/api/v1/runs", reads)] {
        let replies = hurried.flood(method, path, 200);
        let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
        let allowed = usize::try_from(most).unwrap();
        assert_eq!(statuses[..allowed], vec![200; allowed], "{method}");
        let refused = replies.iter().filter(|reply| is_slowed_down(reply, most));
        let refused = refused.count();
        let passed = statuses.iter().filter(|status| **status == 200).count();
        assert_eq!(passed + refused, 200, "{method}: {statuses:?}");
        assert!(refused > 0, "{method}: {statuses:?}");
        // The others have all of their own.
        for other in [&calm, &owner] {
            assert_eq!(other.send(method, path, &[], b"").status, 200, "{method}");
        }
    }
    // What the socket says counts as a change.
    let mut socket = Socket::open(&calm, &format!("/ws?token={}", calm.token));
    let mut codes = Vec::new();
    for _ in 0..50 {
        socket.send("nonsense");
        codes.push(socket.next()["problem"]["code"].clone());
    }
    let codes: Vec<&Value> = codes.iter().collect();
    assert!(codes.contains(&&json!("too_many_requests")), "{codes:?}");
    // The bucket refills.
    for (method, path) in [("POST", change), ("GET", "/api/v1/runs")] {
        wait_for("a place for a request", || {
            (hurried.send(method, path, &[], b"").status == 200).then_some(())
        });
    }
    daemon.stop();
}
