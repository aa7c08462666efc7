//! Sees to it that the runs of tasks go on while no client waits for them.
//!
//! A daemon drives them like every other run. Only a server without one drives them itself; what it leaves when it ends
//! is in the store, and continues with the next daemon, or when a client of the next server asks for the task.

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

/// How often a run that is to be left is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Runs of tasks that this process drives.
#[derive(Default)]
pub(in crate::mcp) struct TaskRuns {
    ids: Mutex<HashSet<String>>,
    closing: CancellationToken,
}

/// The place of a run among them.
struct TaskPlace {
    runs: Arc<TaskRuns>,
    id: String,
}

impl Drop for TaskPlace {
    fn drop(&mut self) {
        self.runs.ids.lock().remove(&self.id);
    }
}

impl TaskRuns {
    /// Leaves runs as soon as they rest, because this process is about to end.
    pub(in crate::mcp) fn close(&self) {
        self.closing.cancel();
    }

    /// A place for a run; none if it has one.
    fn enter(self: &Arc<Self>, id: &str) -> Option<TaskPlace> {
        let is_new = self.ids.lock().insert(id.to_owned());
        is_new.then(|| TaskPlace {
            runs: Arc::clone(self),
            id: id.to_owned(),
        })
    }
}

/// Lets a run go on: by the daemon if there is one, else here.
pub(super) async fn go_on(server: &McpServer, id: &str, by: &str) -> Result<(), ErrorData> {
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

/// Drives a run until it is over, waits for something else than this process, or is left.
async fn follow(server: McpServer, place: TaskPlace, mut drive: Drive) {
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
            () = may_leave(&server, &place.id) => return,
        }
    }
}

/// Ready when this process is about to end and nothing of the run is at work.
async fn may_leave(server: &McpServer, id: &str) {
    server.task_runs().closing.cancelled().await;
    loop {
        match requests::look(server, id).await {
            Ok(run) if !run.is_resting() => tokio::time::sleep(LOOK).await,
            // One that cannot be read cannot be driven either.
            Ok(_) | Err(_) => return,
        }
    }
}
