//! Messages to web addresses.

use std::time::Duration;

use deft_model::FailureClass;
use deft_testkit::{HttpDouble, Reaction};
use deft_tools::Secret;
use deft_tools::webhook::{Client, Receipt, post};
use serde_json::{Value, json};

fn answer(status: u16, headers: &[&str], body: &str) -> Reaction {
    let headers = headers.iter().map(|&line| line.to_owned()).collect();
    Reaction::Answer(status, headers, body.to_owned())
}

#[tokio::test]
async fn a_post_arrives_with_its_headers() {
    let server = HttpDouble::script([answer(204, &[], "")]);
    let headers = [("X-Key".to_owned(), Secret::new("k3y"))];
    let url = format!("{}/hook/p4th?x=1", server.url);
    let receipt = post(&url, &json!({"text": "hi"}), &headers).await;
    assert_eq!(receipt, Ok(Receipt { status: 204 }));
    let [request] = &server.requests()[..] else {
        panic!()
    };
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/hook/p4th?x=1")
    );
    assert_eq!(request.header("x-key"), Some("k3y"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body, json!({"text": "hi"}));
}

#[tokio::test]
async fn failures_have_classes_and_show_no_secret() {
    use FailureClass::{Auth, Invalid, Network, NotFound, Quota, Timeout};
    let headers = [("X-Key".to_owned(), Secret::new("k3y-value"))];
    for (reaction, class, in_doubt, retry_after) in [
        (answer(429, &["Retry-After: 9"], ""), Quota, false, Some(9)),
        (answer(401, &[], "no k3y-value here"), Auth, false, None),
        (
            answer(404, &[], "no /hook/p4th here"),
            NotFound,
            false,
            None,
        ),
        (answer(422, &[], "{}"), Invalid, false, None),
        (
            answer(302, &["Location: http://127.0.0.1:9/"], ""),
            Invalid,
            false,
            None,
        ),
        (answer(500, &[], ""), Network, true, None),
        (
            answer(503, &["Retry-After: 2"], ""),
            Network,
            false,
            Some(2),
        ),
        (Reaction::Close, Network, true, None),
        (Reaction::Hang, Timeout, true, None),
    ] {
        let server = HttpDouble::script([reaction.clone()]);
        let url = format!("{}/hook/p4th", server.url);
        let allowed = match reaction {
            Reaction::Hang => Duration::from_millis(50),
            _ => Duration::from_secs(20),
        };
        let client = Client::new().unwrap().within(allowed);
        let posted = client.post(&url, &json!({}), &headers).await;
        let refused = posted.unwrap_err();
        let failure = &refused.failure;
        assert_eq!(
            (failure.class, failure.in_doubt),
            (class, in_doubt),
            "{reaction:?}: {failure}"
        );
        assert_eq!(refused.retry_after, retry_after.map(Duration::from_secs));
        for secret in ["p4th", "k3y-value"] {
            assert!(!failure.message.contains(secret), "{failure}");
        }
    }
    for url in ["", "file:///etc/passwd", "not a url p4th"] {
        let refused = post(url, &json!({}), &[]).await.unwrap_err();
        assert_eq!(refused.failure.class, Invalid, "{url}");
        assert!(!refused.failure.message.contains("p4th"));
    }
}
