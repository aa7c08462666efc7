//! Keeps the runs of tasks going while no client waits for them.
//!
//! A daemon drives them like all other runs. Without a daemon, this server drives them itself. Runs that are
//! unfinished when it ends are in the store; they continue with the next daemon, or when a client of the next
//! server asks for the task.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use deft_service::Lock;
use deft_service::doorbell::{self, Ring};
use deft_service::runs::{self, Drive, Update};
use parking_lot::Mutex;
use rmcp::ErrorData;
use tokio_util::sync::CancellationToken;

use super::requests;
use super::state::internal;
use crate::mcp::handler::McpServer;

/// Interval between checks whether a run can be left.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs of tasks driven by this process.
#[derive(Default)]
pub(in crate::mcp) struct TaskRuns {
    ids: Mutex<HashSet<String>>,
    closing: CancellationToken,
}

/// Entry of a run in [`TaskRuns`], removed on drop.
struct TaskEntry {
    runs: Arc<TaskRuns>,
    id: String,
}

impl Drop for TaskEntry {
    fn drop(&mut self) {
        self.runs.ids.lock().remove(&self.id);
    }
}

impl TaskRuns {
    /// Leaves each run as soon as nothing of it is in progress, because this process is about to end.
    pub(in crate::mcp) fn close(&self) {
        self.closing.cancel();
    }

    /// Adds an entry for a run. Returns `None` if the run already has one.
    fn enter(self: &Arc<Self>, id: &str) -> Option<TaskEntry> {
        let is_new = self.ids.lock().insert(id.to_owned());
        is_new.then(|| TaskEntry {
            runs: Arc::clone(self),
            id: id.to_owned(),
        })
    }
}

/// Resumes a run: by the daemon if one is running, otherwise in this process.
pub(super) async fn resume_task(server: &McpServer, id: &str, by: &str) -> Result<(), ErrorData> {
    let Some(place) = server.task_runs().enter(id) else {
        return Ok(());
    };
    let (run, by) = (id.to_owned(), by.to_owned());
    let drive = server.ask(move |app| {
        if Lock::holder(app.home()).is_some() {
            doorbell::ring(app.home(), Ring::Work);
            return Ok(None);
        }
        runs::drive_on(app, &run, &by)
    });
    if let Some(drive) = drive.await?.map_err(internal)? {
        let follower = follow(server.clone(), place, drive);
        server.tracker().spawn(follower);
    }
    Ok(())
}

/// Drives a run until it ends, waits for something outside this process, or is left.
async fn follow(server: McpServer, place: TaskEntry, mut drive: Drive) {
    loop {
        tokio::select! {
            update = drive.next() => match update {
                Ok(Update::Progress(_)) => {}
                Ok(Update::Ended(_)) => return,
                Err(failure) => {
                    let hint = failure.hint;
                    tracing::warn!(hint, "the run of a task stopped: {}", failure.message);
                    return;
                }
            },
            () = wait_until_leavable(&server, &place.id) => return,
        }
    }
}

/// Waits until this process is about to end and nothing of the run is in progress.
async fn wait_until_leavable(server: &McpServer, id: &str) {
    server.task_runs().closing.cancelled().await;
    loop {
        match requests::look(server, id).await {
            Ok(run) if !run.is_idle() => tokio::time::sleep(POLL_INTERVAL).await,
            // A run that cannot be read cannot be driven either.
            Ok(_) | Err(_) => return,
        }
    }
}
