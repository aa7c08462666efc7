//! A call to a server behind deft that waits for a client which never returns.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, mem};

use deft_server::mcp::McpServer;
use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::test_server::open;

/// Time after which a parked call is given up.
const PARK_TIMEOUT: Duration = Duration::from_mins(5);
/// Time for which a connection stays open after its call was given up.
const CLOSE_DELAY: Duration = Duration::from_secs(2);

/// Upper bound for the time until a server learns that its call was given up.
const MAX_NOTICE_DELAY: Duration = Duration::from_secs(30);

/// A client of the newer era in this process.
struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    next: u64,
}

impl Client {
    fn new(server: McpServer) -> Self {
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        tokio::spawn(async move {
            let running = server.serve(tokio::io::split(theirs)).await.unwrap();
            drop(running.waiting().await);
        });
        let (reader, writer) = tokio::io::split(ours);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            next: 0,
        }
    }

    /// Calls a tool and returns the whole response.
    async fn call(&mut self, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        });
        self.next += 1;
        let id = self.next;
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let line = format!("{request}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
        loop {
            let line = self.lines.next_line().await.unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }
}

/// Creates a home with one server of the older era behind deft, which has a single connection for clients.
fn home(folder: &Path) {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples/conformance_upstream");
    let config = format!(
        "[mcp_servers.up]\ncommand = {:?}\nargs = [\"stdio\", \"legacy\"]\nreexport = \"plain\"\nconcurrency = 1\n",
        program.display().to_string()
    );
    fs::create_dir_all(folder.join("data")).unwrap();
    fs::write(folder.join("data/seeded"), "0\n").unwrap();
    fs::write(folder.join("config.toml"), config).unwrap();
}

/// Advances the clock, which otherwise runs in real time because the server behind deft is a separate
/// process.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[test]
fn a_call_without_an_answer_of_its_client_times_out() {
    let folder = tempfile::tempdir().unwrap();
    home(folder.path());
    let note = folder.path().join("note");
    let app = open(folder.path().to_owned());
    // Only the clock of a single-threaded runtime can be moved.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut client = Client::new(McpServer::new(app.clone()));
        let mut call = json!({"name": "test_wait_for_answer", "arguments": {"note": note}});
        let asked = client.call(call.clone()).await["result"].take();
        assert_eq!(asked["resultType"], "input_required", "{asked:#}");

        pass(PARK_TIMEOUT.saturating_sub(Duration::from_secs(1))).await;
        assert!(!note.exists());
        pass(Duration::from_secs(2)).await;
        let begun = Instant::now();
        while !note.exists() {
            assert!(begun.elapsed() < MAX_NOTICE_DELAY, "the call is not given up");
            tokio::task::yield_now().await;
        }
        // The only connection is available to the next call again.
        pass(CLOSE_DELAY).await;
        let other = client.call(json!({"name": "test_simple_text"})).await;
        assert_eq!(other["result"]["resultType"], "complete", "{other:#}");

        call["requestState"] = asked["requestState"].clone();
        call["inputResponses"] = json!({"question": {"action": "accept", "content": {"go": true}}});
        let late = client.call(call).await;
        assert_eq!(
            late["error"],
            json!({
                "code": -32602,
                "message": "the call is not waiting for an answer\nhint: call again without `requestState`",
            })
        );
    });
    // Remaining tasks may hold the engine, and the last one must not drop it with the threads that it runs
    // on.
    mem::forget(app);
}
