//! MCP over the standard streams of this process. Nothing else may write to stdout.

use std::sync::Arc;
use std::time::Duration;

use deft_service::{App, Workspace};
use deft_wire::{Done, Failure};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;

use super::audit::AuditTrail;
use super::handler::McpServer;

/// Time that runs have to stop after the client disconnects.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval between checks whether they have stopped.
const STEP: Duration = Duration::from_millis(2);

/// Serves the home until the client closes its stream.
pub fn serve_stdio(workspace: &Workspace) -> Done<()> {
    let app = Arc::new(App::open_following(workspace)?);
    let delivery = app.start_delivery();
    let trail = AuditTrail::of_stdio(workspace);
    let served = app.block_on(serve(Arc::clone(&app), trail));
    app.stop_delivery(delivery);
    close(app);
    served
}

/// Closes the engine after all tasks have dropped their references to it.
fn close(app: Arc<App>) {
    app.block_on_without_leases(async {
        let deadline = tokio::time::Instant::now() + SHUTDOWN_TIMEOUT;
        while Arc::strong_count(&app) > 1 && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(STEP).await;
        }
    });
    match Arc::try_unwrap(app) {
        Ok(app) => app.close(),
        // Otherwise the last task would drop the engine, and with it the threads that the task itself runs
        // on.
        Err(app) => std::mem::forget(app),
    }
}

async fn serve(app: Arc<App>, trail: Option<AuditTrail>) -> Done<()> {
    let server = McpServer::new(app).with_audit(trail);
    let tracker = server.tracker().clone();
    let tasks = Arc::clone(server.task_runs());
    let running = match server.serve(stdio_pipes()).await {
        Ok(running) => running,
        // The client disconnected before its first message.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(problem) => {
            // The library's messages quote the input in Rust debug format, so they go to the log only.
            tracing::warn!(%problem, "an MCP client was refused");
            let message = "the first message of the client is not a request of MCP";
            return Err(Failure::input("not_mcp", message)
                .hint("`deft mcp serve` is started by an MCP client, not by hand"));
        }
    };
    let ended = running.waiting().await;
    tasks.close();
    tracker.close();
    // A run that does not stop in time is resumed at the next start.
    drop(tokio::time::timeout(SHUTDOWN_TIMEOUT, tracker.wait()).await);
    ended
        .map(drop)
        .map_err(|problem| Failure::internal("mcp", format!("the MCP server failed: {problem}")))
}
