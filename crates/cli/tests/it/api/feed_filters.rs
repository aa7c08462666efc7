//! Live events of one run or of one skill, on both wires.

use serde_json::{Value, json};

use super::client::{Api, Reply};
use super::socket::Socket;
use super::{ASKING, NOTE};
use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::World;

fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/note.yaml", NOTE)
        .write("home/skills/asking.yaml", ASKING);
    world
}

/// Runs `note`, or begins a run of `asking`, which waits for an answer; gives the id.
fn start(api: &Api, skill: &str) -> String {
    let inputs = if skill == "note" {
        json!({"text": "hi"})
    } else {
        json!({})
    };
    let body = json!({"skill": skill, "inputs": inputs});
    let run = api.post("/api/v1/runs?wait=20", &body).json();
    run["run"]["id"].as_str().unwrap().to_owned()
}

/// One client that follows events.
enum Follower {
    Socket(Socket),
    Stream(Box<dyn Iterator<Item = Value>>),
}

impl Follower {
    fn take(self, count: usize) -> Vec<Value> {
        match self {
            Self::Socket(mut socket) => (0..count).map(|_| socket.next()).collect(),
            Self::Stream(stream) => stream.take(count).collect(),
        }
    }
}

/// A client on each wire.
fn follow(api: &Api, query: &str) -> [Follower; 2] {
    let path = format!("/ws?after=0&{query}&token={}", api.token);
    let events = format!("/api/v1/events?after=0&{query}");
    [
        Follower::Socket(Socket::open(api, &path)),
        Follower::Stream(Box::new(api.follow(&events, ""))),
    ]
}

/// Everything that a request of either wire was refused with, and the same for a plain request.
fn refusals(api: &Api, run: &str) -> [Value; 3] {
    let socket = format!("/ws?run={run}&token={}", api.token);
    let socket = Socket::ask(api, &socket, &api.address, &[]);
    let problem = |reply: &Reply| {
        let mut problem = reply.json();
        assert_eq!(problem["status"], reply.status);
        problem.as_object_mut().unwrap().remove("request_id");
        problem
    };
    [
        problem(&socket.err().unwrap()),
        problem(&api.get(&format!("/api/v1/events?run={run}"))),
        problem(&api.get(&format!("/api/v1/runs/{run}"))),
    ]
}

/// A filter lets its events through and no others, stored and live ones: there are events of other runs before, between
/// and after them.
#[test]
fn a_filter_gives_the_events_of_its_run_or_skill_and_no_others() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let events = |run: &str| {
        let read = api.read(&format!("/api/v1/runs/{run}/events"));
        read["events"].as_array().unwrap().clone()
    };
    let first = start(&api, "note");
    let asking = start(&api, "asking");
    let beginning = &asking[..asking.len() - 1];
    let queries = [
        format!("run={asking}"),
        format!("run={beginning}"),
        format!("run={}", beginning.strip_prefix("run_").unwrap()),
        "run=last".to_owned(),
        "skill=asking".to_owned(),
        format!("run={asking}&skill=asking"),
    ];
    let of_asking: Vec<Follower> = queries.iter().flat_map(|one| follow(&api, one)).collect();
    let of_first = follow(&api, &format!("run={first}"));
    let of_notes = follow(&api, "skill=note");
    let of_both = follow(&api, "");
    // It is the newest run now, and those who follow `last` do not change to it.
    let second = start(&api, "note");
    let answer = json!({"type": "confirm", "id": asking, "answer": "yes"});
    let mut other = Socket::open(&api, &format!("/ws?token={}", api.token));
    other.send(&answer.to_string());
    other.until("skill_completed");
    wait_for("the end of the run", || {
        let run = api.read(&format!("/api/v1/runs/{asking}"));
        (run["run"]["status"] == "done").then_some(())
    });
    let third = start(&api, "note");

    let wanted = events(&asking);
    let types: Vec<&Value> = wanted.iter().map(|event| &event["type"]).collect();
    assert!(
        types.contains(&&json!("confirmation_answered")),
        "{types:?}"
    );
    for (number, follower) in of_asking.into_iter().enumerate() {
        let seen = follower.take(wanted.len());
        assert_eq!(seen, wanted, "{}", queries[number / 2]);
    }
    let wanted = events(&first);
    for follower in of_first {
        assert_eq!(follower.take(wanted.len()), wanted);
    }
    let wanted = [events(&first), events(&second), events(&third)].concat();
    for follower in of_notes {
        assert_eq!(follower.take(wanted.len()), wanted);
    }
    let mut wanted = [wanted, events(&asking)].concat();
    wanted.sort_by_key(|event| event["seq"].as_u64());
    for follower in of_both {
        assert_eq!(follower.take(wanted.len()), wanted);
    }
    daemon.stop();
}

/// A run that is unknown, or one of several, is refused as every request refuses it, not answered with silence.
#[test]
fn a_filter_for_an_unknown_run_is_refused() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let refused = |run: &str, status: u16, code: &str| {
        let [socket, stream, plain] = refusals(&api, run);
        assert_eq!((&socket, &stream), (&plain, &plain));
        assert_eq!(
            (&plain["status"], &plain["code"]),
            (&json!(status), &json!(code)),
            "{plain}"
        );
    };
    refused("last", 404, "unknown_run");
    start(&api, "note");
    start(&api, "note");
    refused("nothing", 404, "unknown_run");
    refused("run_", 400, "ambiguous");
    daemon.stop();
}
