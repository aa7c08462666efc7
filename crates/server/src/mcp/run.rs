//! Runs of skills for a client, with progress by step, cancellation, and approvals.

use std::sync::Arc;
use std::time::Duration;

use deft_service::ask::Asker;
use deft_service::offers::{self, SkillRequest};
use deft_service::runs::{self, Answers, Change, Progress, RunWork, StartRun, Update};
use deft_service::{App, Lock, approvals};
use deft_wire::Done;
use deft_wire::mcp::SkillRun;
use deft_wire::model::{Object, RunOrigin, RunStatus};
use deft_wire::run::RunDetail;
use rmcp::model::{CallToolResponse, ProgressNotificationParam};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::elicit::{self, AskMethod, ClientAsker, Retry};
use super::handler::McpServer;
use super::{reply, tasks};

/// Interval between looks at a run that another process drives.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A call that runs a skill.
pub(super) struct RunCall {
    pub(super) skill: String,
    pub(super) inputs: Object,
    pub(super) retry: Retry,
    /// Origin of the request, as stored in the run's journal.
    pub(super) origin: RunOrigin,
}

/// The client that watches a run.
struct Watcher {
    asker: Option<Arc<dyn Asker>>,
    cancel: CancellationToken,
    progress: UnboundedSender<Progress>,
    by: String,
}

/// The operation for a call.
enum Work {
    Drive {
        work: RunWork,
        /// Number of steps of the run; 0 if unknown.
        steps: usize,
    },
    Page(String),
}

/// Runs a skill, or resumes the run that waited for the client's answers.
pub(super) async fn run(
    server: &McpServer,
    call: RunCall,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let by = elicit::client_name(context);
    let ask_by = elicit::ask_by(context);
    let name = by.clone();
    let prepared = server
        .ask(move |app| prepare(app, call, ask_by, &name))
        .await??;
    let (work, steps) = match prepared {
        Ok(Work::Drive { work, steps }) => (work, steps),
        Ok(Work::Page(text)) => return Ok(reply::value(text.into()).into()),
        Err(failure) => return Ok(reply::failure(&failure).into()),
    };
    if tasks::are_known_to(context) {
        return tasks::run(server, work, context).await;
    }
    let (sender, receiver) = unbounded_channel();
    let asker = (ask_by == AskMethod::Request).then(|| {
        let (peer, name) = (context.peer.clone(), by.clone());
        Arc::new(ClientAsker { peer, name }) as Arc<dyn Asker>
    });
    let watcher = Watcher {
        asker,
        cancel: context.ct.clone(),
        progress: sender,
        by,
    };
    let driven = server.drive(move |app| drive(app, work, &watcher));
    let (driven, ()) = tokio::join!(driven, report(context, receiver, steps));
    Ok(match driven? {
        Ok(run) if ask_by == AskMethod::Reply && !run.approvals.is_empty() => {
            elicit::input_required(run.run.as_str(), &run.approvals).into()
        }
        Ok(run) => reply::run(&run).into(),
        Err(failure) => reply::failure(&failure).into(),
    })
}

/// Resumes a run in the background. Its result is stored with the run.
pub(super) fn drive_in_background(server: &McpServer, work: RunWork) {
    let (sender, _) = unbounded_channel();
    let watcher = Watcher {
        asker: None,
        cancel: CancellationToken::new(),
        progress: sender,
        by: "mcp".to_owned(),
    };
    let app = Arc::clone(server.app());
    server.tracker().spawn_blocking(move || {
        if let Err(failure) = drive(&app, work, &watcher) {
            tracing::warn!(
                hint = failure.hint,
                "a run was not continued: {}",
                failure.message
            );
        }
    });
}

/// Decides what a call asks for. A request state that deft never sent to such a client is a protocol error.
fn prepare(app: &App, call: RunCall, ask_by: AskMethod, by: &str) -> Result<Done<Work>, ErrorData> {
    match call.retry.state {
        Some(state) => {
            let responses = call.retry.responses.unwrap_or_default();
            let unknown = || ErrorData::invalid_params("the request state is unknown", None);
            // Only a client that can ask a person gets a state, and only for a run that an MCP client started.
            if ask_by != AskMethod::Reply {
                return Err(unknown());
            }
            let run = runs::detail(app, &state).map_err(|_| unknown())?.run;
            let skill = offers::skills(app).resolve(&call.skill);
            let is_same = run.id.as_str() == state && run.cause == offers::CAUSE;
            if !is_same || skill.as_deref() != Some(run.skill.as_str()) {
                return Err(unknown());
            }
            for (id, response) in responses {
                let Some(answer) = elicit::read_response(&response) else {
                    continue;
                };
                if !open_questions(app, &state).contains(&id) {
                    return Err(ErrorData::invalid_params(
                        "the approval is not pending",
                        None,
                    ));
                }
                if let Err(failure) = approvals::answer(app, &id, answer, false, by) {
                    return Ok(Err(failure));
                }
            }
            let work = RunWork::Resume {
                id: state,
                by: by.to_owned(),
                old_revision: true,
            };
            Ok(Ok(Work::Drive { work, steps: 0 }))
        }
        None => Ok(start(app, &call.skill, call.inputs, call.origin)),
    }
}

fn start(app: &App, skill: &str, inputs: Object, origin: RunOrigin) -> Done<Work> {
    match offers::skills(app).request(app, skill, inputs)? {
        SkillRequest::Page(text) => Ok(Work::Page(text)),
        SkillRequest::Run(start) => {
            let prepared = runs::prepare(app, &start.skill);
            let prepared = prepared.map_err(|problem| problem.failure)?;
            Ok(Work::Drive {
                steps: prepared.steps().len(),
                work: RunWork::Start(StartRun { origin, ..start }),
            })
        }
    }
}

fn open_questions(app: &App, run: &str) -> Vec<String> {
    let open = approvals::list(app, false).unwrap_or_default();
    let open = open.into_iter().filter(|it| it.run.as_str() == run);
    open.map(|it| it.id).collect()
}

/// Drives a run until it ends or waits for a person. A run driven by another process is watched instead.
fn drive(app: &App, work: RunWork, watcher: &Watcher) -> Done<SkillRun> {
    let resumed = match &work {
        RunWork::Resume { id, .. } => Some(id.clone()),
        RunWork::Start(_) | RunWork::Rerun { .. } => None,
    };
    let detail = match (drive_here(app, work, watcher), resumed) {
        (Ok(detail), _) => detail,
        (Err(_), Some(id)) if is_driven_elsewhere(app, &id)? => watch(app, &id, watcher)?,
        (Err(failure), _) => return Err(failure),
    };
    let run = detail.run;
    let mut open = approvals::list(app, false)?;
    open.retain(|approval| approval.run == run.id);
    Ok(SkillRun::new(run, open))
}

/// Whether a daemon continues the run, or has ended it.
fn is_driven_elsewhere(app: &App, id: &str) -> Done<bool> {
    let status = runs::detail(app, id)?.run.status;
    Ok(status != RunStatus::Waiting && Lock::holder(app.home()).is_some())
}

fn drive_here(app: &App, work: RunWork, watcher: &Watcher) -> Done<RunDetail> {
    let answers = Answers {
        asker: watcher.asker.clone(),
        assume_yes: None,
    };
    let mut drive = runs::drive(app, work, answers)?;
    let driven = app.block_on(async {
        let mut cancelled = false;
        loop {
            tokio::select! {
                update = drive.next() => match update? {
                    // A disconnected client needs no progress.
                    Update::Progress(progress) => drop(watcher.progress.send(progress)),
                    Update::Ended(run) => return Ok(run),
                },
                () = watcher.cancel.cancelled(), if !cancelled => {
                    cancelled = true;
                    drive.cancel(&watcher.by).await?;
                }
            }
        }
    })?;
    driven.detail(app)
}

/// Waits until a run that another process drives ends or asks a question.
fn watch(app: &App, id: &str, watcher: &Watcher) -> Done<RunDetail> {
    let mut cancelled = false;
    let mut seen = None;
    loop {
        if watcher.cancel.is_cancelled() && !cancelled {
            cancelled = true;
            runs::cancel(app, id, &watcher.by)?;
        }
        let version = Some(app.block_on(runs::version(app))?);
        if version == seen {
            std::thread::sleep(POLL_INTERVAL);
            continue;
        }
        seen = version;
        let detail = runs::detail(app, id)?;
        let asks = || !open_questions(app, id).is_empty();
        match detail.run.status {
            RunStatus::Done => return Ok(detail),
            RunStatus::Waiting if asks() => return Ok(detail),
            RunStatus::Waiting | RunStatus::Queued | RunStatus::Running => {}
        }
    }
}

/// Reports the end of each step to the client, if the client asked for progress. Returns when the run ends.
async fn report(
    context: &RequestContext<RoleServer>,
    mut progress: UnboundedReceiver<Progress>,
    steps: usize,
) {
    let token = context.meta.get_progress_token();
    let mut done = 0_u32;
    while let Some(progress) = progress.recv().await {
        let (Some(token), Some(message)) = (&token, step_end(&progress)) else {
            continue;
        };
        done += 1;
        let mut notice = ProgressNotificationParam::new(token.clone(), f64::from(done));
        // Steps of loops and nested skills raise the count above the number of steps.
        if let Ok(steps) = u32::try_from(steps)
            && steps >= done
        {
            notice = notice.with_total(f64::from(steps));
        }
        // A disconnected client needs no progress.
        drop(
            context
                .peer
                .notify_progress(notice.with_message(message))
                .await,
        );
    }
}

/// Returns the progress message for a change, if the change ended a step.
fn step_end(progress: &Progress) -> Option<String> {
    let step = &progress.path;
    // Steps of nested skills and calls of agents count as part of the step that contains them.
    if step.contains('/') {
        return None;
    }
    match &progress.change {
        Change::Done { .. } => Some(format!("{step}: done")),
        Change::Reused => Some(format!("{step}: reused")),
        Change::Skipped { reason } => Some(format!("{step}: skipped, {reason}")),
        Change::Tolerated { error } => Some(format!("{step}: failed and tolerated, {error}")),
        Change::Failed { error } => Some(format!("{step}: failed, {error}")),
        Change::Began { .. }
        | Change::Waits { .. }
        | Change::LoopBegan { .. }
        | Change::ItemEnded
        | Change::Retries { .. }
        | Change::Postponed { .. }
        | Change::Heals { .. }
        | Change::Healed { .. }
        | Change::Judged
        | Change::Verifies
        | Change::Asked { .. }
        | Change::Answered { .. }
        | Change::Called { .. }
        | Change::Dispatched { .. }
        | Change::Returned { .. }
        | Change::LookedUp { .. }
        | Change::Refused { .. } => None,
    }
}
