//! Calls that run a skill, for a client that supports tasks: a short run is answered with its result, a long
//! one with a task.

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
use crate::mcp::elicit::AskMethod;
use crate::mcp::handler::McpServer;
use crate::mcp::{elicit, reply};

/// Time that a call waits for the end of its run.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);

/// First interval between looks at a run. Another process may drive it, and most runs are short.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(4);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(64);

/// Runs a skill, or resumes the run that waited for the client's answers.
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
    follow::resume_task(server, &id, &by).await?;
    let run = tokio::select! {
        run = wait_for_run(server, &id, bell) => run?,
        () = context.ct.cancelled() => {
            requests::cancel(server, id.clone(), by).await?;
            requests::look(server, &id).await?
        }
    };
    // Without a way to ask the person, the client gets the question and learns that `approval_answer` takes
    // the answer.
    let is_question_in_reply = run.is_asking() && ask_by == AskMethod::Nothing;
    Ok(if run.has_ended() || is_question_in_reply {
        reply::run(&run.skill_run()).into()
    } else {
        CreateTaskResult::new(run.describe(ask_by, Timestamp::now()).task).into()
    })
}

/// Stores the run, if it is new, and returns its id. From then on every process knows the task.
fn store(app: &App, work: RunWork) -> Done<String> {
    match work {
        RunWork::Start(start) => Ok(runs::admit(app, start)?.id.to_string()),
        RunWork::Resume { id, .. } | RunWork::Rerun { id, .. } => Ok(id),
    }
}

/// Waits until a run ends or rests, at most until the deadline.
async fn wait_for_run(
    server: &McpServer,
    id: &str,
    mut bell: EventBell,
) -> Result<TaskRun, ErrorData> {
    let deadline = Instant::now() + CALL_TIMEOUT;
    let mut pause = MIN_POLL_INTERVAL;
    loop {
        let run = requests::look(server, id).await?;
        if run.can_return() || Instant::now() >= deadline {
            return Ok(run);
        }
        // Events of other processes do not ring the bell.
        drop(tokio::time::timeout(pause, bell.wait()).await);
        pause = (pause * 2).min(MAX_POLL_INTERVAL);
    }
}
