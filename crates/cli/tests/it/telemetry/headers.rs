//! Trace context in the headers of `http.request`.

use deft_testkit::{HttpDouble, Reaction};
use serde_json::{Value, json};

use super::referee::OtlpReceiver;
use crate::daemon::used_home;
use crate::support::World;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

fn world(server: &str, telemetry: &str, headers: &Value) -> World {
    let world = used_home();
    let args = json!({"url": server, "headers": headers});
    world
        .write(
            "home/config.toml",
            format!("[tools.http]\nallow = [\"127.0.0.1\"]\n{telemetry}"),
        )
        .write(
            "home/skills/fetch.yaml",
            format!("name: fetch\ndescription: Fetches\nsteps:\n  - {{id: ask, tool: http.request, args: {args}}}\n"),
        );
    world
}

fn double() -> HttpDouble {
    HttpDouble::start(|_| Reaction::Answer(200, Vec::new(), "{}".to_owned()))
}

/// Runs the skill with the trace context of a caller, and returns the headers that the server received.
fn fetch(world: &World, server: &HttpDouble) -> (Value, Option<String>, Option<String>) {
    let output = world
        .command(&["run", "fetch", "--json"])
        .env("TRACEPARENT", format!("00-{TRACE}-{CALLER}-01"))
        .env("TRACESTATE", "vendor=7")
        .output()
        .unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["outcome"], "success", "{run:#}");
    let requests = server.requests();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    let header = |name: &str| request.header(name).map(str::to_owned);
    (run, header("traceparent"), header("tracestate"))
}

#[test]
fn a_web_server_gets_the_span_of_the_call() {
    let (receiver, server) = (OtlpReceiver::start(0), double());
    let telemetry = format!(
        "[telemetry]\nendpoint = {}\nmetrics = false\n",
        json!(receiver.url)
    );
    let world = world(&server.url, &telemetry, &json!({}));
    let (run, parent, state) = fetch(&world, &server);
    let spans = receiver.spans();
    let call = spans
        .iter()
        .find(|span| span["parent"] != CALLER)
        .unwrap_or_else(|| panic!("{spans:#?}"));
    assert_eq!(
        (&call["trace"], &call["attributes"]["deft.run.id"]),
        (&json!(TRACE), &run["id"]),
        "{spans:#?}"
    );
    let span = call["id"].as_str().unwrap();
    assert_eq!(parent, Some(format!("00-{TRACE}-{span}-01")));
    assert_eq!(state.as_deref(), Some("vendor=7"));
}

/// Without a receiver the span of the caller is passed on; a header set by the skill is unchanged.
#[test]
fn without_traces_the_context_of_the_caller_is_passed_on() {
    let server = double();
    let world_without = world(&server.url, "", &json!({}));
    let (_, parent, state) = fetch(&world_without, &server);
    assert_eq!(parent, Some(format!("00-{TRACE}-{CALLER}-01")));
    assert_eq!(state.as_deref(), Some("vendor=7"));

    let server = double();
    let own = format!("00-{}-{}-00", "1".repeat(32), "2".repeat(16));
    let world_own = world(&server.url, "", &json!({"traceparent": own}));
    let (_, parent, state) = fetch(&world_own, &server);
    assert_eq!((parent, state), (Some(own), None));
}
