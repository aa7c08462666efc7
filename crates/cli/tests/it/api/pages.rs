//! Lists page by page: each entry once, the newest first.

use deft_testkit::ModelAnswer;
use serde_json::{Value, json};

use super::client::Api;
use crate::chat_support::{home, model};
use crate::daemon::{Daemon, used_home};

/// The pages of a list, with one text of each entry.
fn texts(pages: &[Vec<Value>], pointer: &str) -> Vec<Vec<String>> {
    let text = |entry: &Value| entry.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    pages
        .iter()
        .map(|page| page.iter().map(text).collect())
        .collect()
}

#[test]
fn jobs_and_notices_are_listed_page_by_page() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    // A new entry between two pages would move nothing, but it would be one more.
    assert_eq!(api.post("/api/v1/jobs/halt", &json!({})).status, 200);
    for number in 0..5 {
        let step = json!({"id": "a", "tool": "log", "args": {"message": "x"}});
        let job = json!({"name": format!("job {number}"), "steps": [step]});
        let queued = api.post("/api/v1/jobs", &job);
        assert_eq!(queued.status, 200, "{}", queued.json());
        let notice = json!({"arguments": {"message": format!("notice {number}")}});
        let told = api.post("/api/v1/tools/notify/call", &notice);
        assert_eq!(told.status, 200, "{}", told.json());
    }
    let names = |of: &str| {
        let name = |number: u8| format!("{of} {number}");
        [
            vec![name(4), name(3)],
            vec![name(2), name(1)],
            vec![name(0)],
        ]
    };
    let jobs = api.read_pages("/api/v1/jobs?limit=2", "jobs");
    assert_eq!(texts(&jobs, "/name"), names("job"));
    let notices = api.read_pages("/api/v1/notices?limit=2", "notices");
    assert_eq!(texts(&notices, "/notice/text"), names("notice"));
    // The last page is full: nothing tells that nothing follows.
    for (path, list) in [("/api/v1/jobs", "jobs"), ("/api/v1/notices", "notices")] {
        let pages = api.read_pages(&format!("{path}?limit=5"), list);
        let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
        assert_eq!(sizes, [5, 0], "{path}");
        let wrong = api.get(&format!("{path}?cursor=x"));
        assert_eq!(
            (wrong.status, &wrong.json()["code"]),
            (400, &json!("invalid_input"))
        );
    }
    daemon.stop();
}

#[test]
fn chats_are_listed_page_by_page() {
    let server = model((0..5).map(|_| ModelAnswer::text("Noted.")));
    let world = home(&server, "");
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let say = |text: String| api.post("/api/v1/chats", &json!({"text": text})).json();
    let chats = (0..5).map(|number| say(format!("chat {number}")));
    let chats: Vec<String> = chats
        .map(|reply| {
            let id = reply["answer"]["conversation"].as_str();
            id.unwrap_or_else(|| panic!("{reply:#}")).to_owned()
        })
        .collect();
    let id = |number: usize| chats[number].clone();
    let pages = api.read_pages("/api/v1/chats?limit=2", "conversations");
    assert_eq!(
        texts(&pages, "/id"),
        [vec![id(4), id(3)], vec![id(2), id(1)], vec![id(0)]]
    );
    let wrong = api.get("/api/v1/chats?cursor=17");
    assert_eq!(
        (wrong.status, &wrong.json()["code"]),
        (400, &json!("invalid_input"))
    );
    daemon.stop();
}
