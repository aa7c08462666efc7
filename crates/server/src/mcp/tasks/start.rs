//! A call that runs a skill, for a client that knows tasks: a short run is answered with its result, a long one with a
//! task.

use std::time::Duration;

use deft_service::App;
use deft_service::runs::{self, EventBell, RunWork};
use deft_wire::Done;
use jiff::Timestamp;
use rmcp::model::{CallToolResponse, CreateTaskResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::time::Instant;

use super::state::TaskRun;
use super::{follow, requests};
use crate::mcp::elicit::AskBy;
use crate::mcp::handler::McpServer;
use crate::mcp::{elicit, reply};

/// How long a call waits for the end of its run.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a run is looked at that another process may drive: soon at first, as most runs are short.
const FIRST_LOOK: Duration = Duration::from_millis(4);
const LONGEST_LOOK: Duration = Duration::from_millis(64);

/// Runs a skill, or continues the run that waited for the answers of the client.
pub(in crate::mcp) async fn run(
    server: &McpServer,
    work: RunWork,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let by = elicit::client_name(context);
    let ask_by = elicit::ask_by(context);
    let bell = EventBell::listen(server.app());
    let id = match server.ask(move |app| store(app, work)).await? {
        Ok(id) => id,
        Err(failure) => return Ok(reply::failure(&failure).into()),
    };
    follow::go_on(server, &id, &by).await?;
    let run = tokio::select! {
        run = settle(server, &id, bell) => run?,
        () = context.ct.cancelled() => {
            requests::cancel(server, id.clone(), by).await?;
            requests::look(server, &id).await?
        }
    };
    // A client whose person cannot be asked learns the question, and that `approval_answer` takes the answer.
    let is_told = run.is_asking() && ask_by == AskBy::Nothing;
    Ok(if run.is_over() || is_told {
        reply::run(&run.skill_run()).into()
    } else {
        CreateTaskResult::new(run.describe(ask_by, Timestamp::now()).task).into()
    })
}

/// The id of a run that is in the store from now on, so that every process knows the task.
fn store(app: &App, work: RunWork) -> Done<String> {
    match work {
        RunWork::Start(start) => Ok(runs::admit(app, start)?.id.to_string()),
        RunWork::Resume { id, .. } | RunWork::Rerun { id, .. } => Ok(id),
    }
}

/// Waits until a run is over, rests, or has taken so long that its client need not wait.
async fn settle(server: &McpServer, id: &str, mut bell: EventBell) -> Result<TaskRun, ErrorData> {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = FIRST_LOOK;
    loop {
        let run = requests::look(server, id).await?;
        if run.is_settled() || Instant::now() >= deadline {
            return Ok(run);
        }
        // Events of other processes do not ring.
        drop(tokio::time::timeout(pause, bell.wait()).await);
        pause = (pause * 2).min(LONGEST_LOOK);
    }
}
