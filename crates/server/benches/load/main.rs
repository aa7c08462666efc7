//! Puts load on a server over HTTP, MCP or WebSocket and prints the figures as one line of JSON.
//!
//! `benches/servers.py` starts the servers, deft and its peers, and runs this program. Not here: judging the
//! figures.
//!
//! ```text
//! load http ADDRESS TOKEN METHOD PATH BODY COUNT CONNECTIONS RATE
//! load mcp  ADDRESS TOKEN PATH TOOL ARGUMENTS COUNT
//! load feed ADDRESS TOKEN CLIENTS STALLED SECONDS
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

mod connection;
mod feed;
mod figures;
mod http;
mod mcp;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let figures = runtime.block_on(async {
        match given.as_slice() {
            [
                "http",
                address,
                token,
                method,
                path,
                body,
                count,
                connections,
                rate,
            ] => {
                let load = http::Load {
                    address: (*address).to_owned(),
                    request: connection::request(method, path, token, &[], body),
                    count: count.parse().unwrap(),
                    connections: connections.parse().unwrap(),
                    rate: rate.parse().unwrap(),
                };
                load.run().await
            }
            ["mcp", address, token, path, tool, arguments, count] => {
                let mut session = mcp::Session::open(address, token, path).await;
                session.call(tool, arguments, count.parse().unwrap()).await
            }
            ["feed", address, token, clients, stalled, seconds] => {
                let feed = feed::Feed {
                    address: (*address).to_owned(),
                    token: (*token).to_owned(),
                    clients: clients.parse().unwrap(),
                    stalled: stalled.parse().unwrap(),
                    seconds: seconds.parse().unwrap(),
                };
                feed.run().await
            }
            // `cargo test` runs every bench once, without arguments.
            _ => serde_json::json!({ "usage": "see the head of this file" }),
        }
    });
    println!("{figures}");
}
