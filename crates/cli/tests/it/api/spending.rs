//! What models cost, by day and by scope.

use deft_testkit::ModelAnswer;
use serde_json::json;

use super::client::Api;
use crate::chat_support::{home, model};
use crate::daemon::Daemon;

/// A million tokens cost 1000 dollars to read and 2000 to write, so one costs 0.001 and 0.002.
#[test]
fn spending_is_counted_by_day_and_scope() {
    let server = model([
        ModelAnswer::text("Hello, Ada.").usage(20, 0, 4),
        ModelAnswer::text("You are Ada.").usage(30, 0, 5),
    ]);
    let world = home(&server, "");
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let read = || api.read("/api/v1/stats/spending?days=2");
    let before = read();
    assert_eq!(before["days"], json!([]));
    for text in ["I am Ada", "Who am I?"] {
        let reply = api.post("/api/v1/chats", &json!({"text": text})).json();
        assert_eq!(reply["status"], "done", "{reply:#}");
    }
    let after = read();
    assert_eq!(server.requests().len(), 2);
    // The day may change while the test runs.
    let day = after["days"][0]["day"].clone();
    assert!([&before["to"], &after["to"]].contains(&&day), "{after:#}");
    let spent = |scope: &str| {
        json!({
            "scope": scope,
            "calls": 2,
            "input_tokens": 50,
            "output_tokens": 9,
            "cost_usd": 0.068,
        })
    };
    let scopes = ["all", "agent:thinker", "skill:chat"].map(spent);
    let wanted = json!({
        "from": after["from"],
        "to": after["to"],
        "days": [{"day": day, "scopes": scopes}],
    });
    assert_eq!(after, wanted);
    daemon.stop();
}
