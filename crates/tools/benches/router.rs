//! The cost of the router: the same calls to the same server, in turns through a bare client of the
//! protocol library, through the router, and relayed for a client of deft's own MCP server.
//!
//! `cargo bench -p deft-tools`; the limits are 1.2 times the bare client, and 0.1 ms of deft's own
//! time.

#![allow(clippy::expect_used, reason = "a measurement that fails is none")]
#![allow(
    clippy::disallowed_methods,
    reason = "a measurement prints its own figures"
)]

use std::io::Write;
use std::time::{Duration, Instant};

use deft_model::Effects;
use deft_testkit::{Script, server_binary};
use deft_tools::{
    Call, Definition, Environment, Options, Reexport, RelayClient, RelayEvent, RelayRequest,
    Router, ServerOptions,
};
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, RequestMetaObject};
use rmcp::service::{RoleClient, RunningService, ServiceExt};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

const ROUNDS: usize = 7;
const CALLS: usize = 1500;

type Bare = RunningService<RoleClient, ()>;

fn arguments() -> deft_model::Object {
    let value = json!({"message": "hello", "count": 3, "list": ["a", "b"]});
    value.as_object().cloned().unwrap_or_default()
}

fn p50(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

async fn bare(client: &Bare) -> f64 {
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let call = CallToolRequestParams::new("echo").with_arguments(arguments());
        let started = Instant::now();
        client.call_tool(call).await.expect("the server answers");
        times.push(started.elapsed());
    }
    p50(times)
}

async fn routed(router: &Router, tool: &str, calls: usize) -> f64 {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let call = Call {
            key: "0193-run/step-1".to_owned(),
            ..Call::new(tool, arguments())
        };
        let started = Instant::now();
        router.call(call).await.expect("the tool answers");
        times.push(started.elapsed());
    }
    p50(times)
}

async fn relayed(router: &Router) -> f64 {
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let call = CallToolRequestParams::new("echo").with_arguments(arguments());
        let request = RelayRequest {
            server: "bench".to_owned(),
            request: ClientRequest::CallToolRequest(CallToolRequest::new(call)),
            meta: RequestMetaObject::default(),
            client: RelayClient::default(),
        };
        let started = Instant::now();
        let mut call = router.relay(request);
        while !matches!(call.next().await, RelayEvent::Ended(result) if result.is_ok()) {}
        times.push(started.elapsed());
    }
    p50(times)
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let schema = json!({"type": "object", "required": ["message"], "properties": {
        "message": {"type": "string"}, "count": {"type": "integer"}, "list": {"type": "array"}}});
    let script = Script::new().tool("echo", json!({"schema": schema}));
    let list = script.write(folder.path(), "bench").list();
    // Without the witness log, which would measure the disk.
    let list = [list[0].as_str()];
    let binary = server_binary();
    let mut command = tokio::process::Command::new(&binary);
    command.args(list);
    let process = TokioChildProcess::new(command).expect("the server starts");
    let client: Bare = ().serve(process).await.expect("the server is ready");
    let mut options = Options::default();
    options.servers.insert(
        "bench".to_owned(),
        ServerOptions {
            reexport: Reexport::Plain,
            ..ServerOptions::command(binary.to_string_lossy(), &list)
        },
    );
    let router = Router::new(options, Environment::default());
    let definition = Definition::new("noop", "Do nothing.", Effects::None, schema_of_noop());
    router.register_fn(definition, |_, _| async { Ok(Value::Null) });
    bare(&client).await;
    routed(&router, "echo", CALLS).await;
    relayed(&router).await;
    // Runs one side only, for a profiler: `-- bare` or `-- router`.
    match std::env::args().nth(1).as_deref() {
        Some("bare") => return only(async || bare(&client).await).await,
        Some("router") => return only(async || routed(&router, "echo", CALLS).await).await,
        Some(_) | None => {}
    }
    let (mut direct, mut through, mut passed_on) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let (a, b) = (bare(&client).await, routed(&router, "echo", CALLS).await);
        let c = relayed(&router).await;
        say(&format!(
            "round {round}: bare {a:.1} µs, router {b:.1} µs, ratio {:.2}, passed on {c:.1} µs",
            b / a
        ));
        direct.push(a);
        through.push(b);
        passed_on.push(c);
    }
    direct.sort_by(f64::total_cmp);
    through.sort_by(f64::total_cmp);
    passed_on.sort_by(f64::total_cmp);
    let (a, b) = (direct[ROUNDS / 2], through[ROUNDS / 2]);
    let c = passed_on[ROUNDS / 2];
    say(&format!(
        "passed on for a client, median of p50s: {c:.1} µs, added {:.1} µs",
        c - a
    ));
    say(&format!(
        "stdio echo, median of p50s: bare {a:.1} µs, router {b:.1} µs, ratio {:.2}, added {:.1} µs",
        b / a,
        b - a
    ));
    let own = routed(&router, "noop", 100_000).await;
    say(&format!("in-process tool with a schema: p50 {own:.2} µs"));
    router.shutdown().await;
}

async fn only(round: impl AsyncFn() -> f64) {
    for _ in 0..2 * ROUNDS {
        say(&format!("p50 {:.1} µs", round().await));
    }
}

fn schema_of_noop() -> Value {
    json!({"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}})
}
