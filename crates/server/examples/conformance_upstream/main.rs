//! An MCP server with the tools, prompts and resources that the conformance suite refers to by name. In tests
//! it runs behind deft, so that the suite checks what deft relays.
//!
//! Usage: `conformance_upstream stdio|http [legacy] [PORT]`. Over HTTP it prints its URL. With `legacy` it
//! supports no revision after 2025-11-25. Not here: any part of deft.

#![allow(deprecated, reason = "the suite asks for what older revisions have")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a fixture says where it is, and fails loudly"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests tell a fixture by variables what they cannot tell it by requests"
)]

mod ask;
mod content;
mod input;
mod lists;
mod tell;
mod upstream;

use std::sync::Arc;

use axum::Router;
use rmcp::ServiceExt;
use rmcp::transport::io::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use upstream::Upstream;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let server = Upstream::new(words.iter().any(|word| word == "legacy"));
    match words.first().map(String::as_str) {
        Some("http") => {
            let port = words.iter().find_map(|word| word.parse().ok());
            serve_http(server, port.unwrap_or(0)).await;
        }
        Some(_) | None => {
            let running = server.serve(stdio()).await.expect("a client");
            running.waiting().await.expect("an end");
        }
    }
}

async fn serve_http(server: Upstream, port: u16) {
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router = Router::new().fallback_service(service);
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let address = listener.local_addr().unwrap();
    println!("http://{address}/mcp");
    axum::serve(listener, router).await.unwrap();
}
