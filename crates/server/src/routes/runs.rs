//! `/api/v1/runs`.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use deft_service::runs::{self, CancelResult, RunQuery, RunWork, StartRun};
use deft_wire::Done;
use deft_wire::api::{
    CancelView, RerunRequest, ResumeRequest, RunListQuery, RunPage, StartRunRequest, WaitQuery,
};
use deft_wire::dry_run::DryRun;
use deft_wire::model::{RunId, RunStatus};
use deft_wire::run::{EventList, RunArchive, RunDocument};
use deft_wire::token::TokenScope as Scope;
use futures_util::future::BoxFuture;

use super::{next_cursor, page_size};
use crate::answer::Answer;
use crate::context::Server;
use crate::route::{Call, LONGEST_WAIT, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Read, Run};
    use Verb::{Get, Post};
    vec![
        Route::new(Get, "/api/v1/runs", "List runs, newest first", Read, list),
        Route::waiting::<_, _, RunDocument>(
            Post,
            "/api/v1/runs",
            "Start a run; `Idempotency-Key` is its permanent key",
            Run,
            start,
        )
        .with_own_key(),
        Route::new(
            Post,
            "/api/v1/runs/plan",
            "What a run would do; nothing is called",
            Read,
            plan,
        ),
        Route::new(Get, "/api/v1/runs/{id}", "A run with its steps", Read, show),
        Route::new(
            Get,
            "/api/v1/runs/{id}/events",
            "All events of a run so far",
            Read,
            events,
        ),
        Route::new(
            Get,
            "/api/v1/runs/{id}/export",
            "Everything that is stored of a run",
            Read,
            export,
        ),
        Route::new(
            Post,
            "/api/v1/runs/{id}/cancel",
            "Ask a run to stop",
            Run,
            cancel,
        ),
        Route::waiting::<_, _, RunDocument>(
            Post,
            "/api/v1/runs/{id}/resume",
            "Continue a run that waits, failed or was interrupted",
            Run,
            resume,
        ),
        Route::waiting::<_, _, RunDocument>(
            Post,
            "/api/v1/runs/{id}/rerun",
            "Make a run again",
            Run,
            rerun,
        ),
    ]
}

fn list(call: &Call<RunListQuery>) -> Done<RunPage> {
    let query = &call.query;
    let wanted = RunQuery {
        skill: query.skill.clone(),
        status: query.status,
        outcome: query.outcome,
        chats: query.chats.unwrap_or(false),
    };
    let mut pages = runs::list(&call.server.app, wanted);
    if let Some(cursor) = &query.cursor {
        pages = pages.behind(cursor)?;
    }
    let limit = page_size(query.limit);
    let runs = pages.next(limit)?;
    Ok(RunPage {
        next_cursor: next_cursor(pages.cursor(), runs.len(), limit),
        runs,
    })
}

fn show(call: &Call) -> Done<RunDocument> {
    let run = runs::show(&call.server.app, call.param())?;
    Ok(RunDocument { run })
}

fn events(call: &Call) -> Done<EventList> {
    let events = runs::events(&call.server.app, call.param())?;
    Ok(EventList { events })
}

fn export(call: &Call) -> Done<RunArchive> {
    runs::export(&call.server.app, call.param())
}

fn plan(call: &Call<Nothing, StartRunRequest>) -> Done<DryRun> {
    runs::dry_run(&call.server.app, &call.body.skill, &call.body.inputs)
}

fn cancel(call: &Call) -> Done<CancelView> {
    let cancelled = runs::cancel(&call.server.app, call.param(), &call.by())?;
    let (run, was_over) = match cancelled {
        CancelResult::Now(run) | CancelResult::Asked(run) => (run, false),
        CancelResult::Before(run) => (run, true),
    };
    Ok(CancelView { run, was_over })
}

fn start(call: Call<WaitQuery, StartRunRequest>) -> BoxFuture<'static, Done<Answer>> {
    Box::pin(async move {
        let start = StartRun {
            skill: call.body.skill.clone(),
            inputs: call.body.inputs.clone(),
            cause: "api".to_owned(),
            key: call.key.clone().or_else(|| call.body.key.clone()),
        };
        let admitted = call
            .server
            .block(move |server| runs::admit(&server.app, start))
            .await?;
        let (run, _) = admitted;
        finish(&call.server, run.id, call.query.wait).await
    })
}

fn resume(call: Call<WaitQuery, ResumeRequest>) -> BoxFuture<'static, Done<Answer>> {
    let work = RunWork::Resume {
        id: call.param().to_owned(),
        by: call.by(),
        old_revision: call.body.old_revision,
    };
    Box::pin(begin(call.server, work, call.query.wait))
}

fn rerun(call: Call<WaitQuery, RerunRequest>) -> BoxFuture<'static, Done<Answer>> {
    let work = RunWork::Rerun {
        id: call.param().to_owned(),
        from: call.body.from,
    };
    Box::pin(begin(call.server, work, call.query.wait))
}

async fn begin(server: Arc<Server>, work: RunWork, wait: Option<u32>) -> Done<Answer> {
    let begun = server.block(move |server| runs::begin(&server.app, work));
    let run = begun.await?;
    finish(&server, run, wait).await
}

/// The run as it is after the wait: 200 if it is over, else 202.
async fn finish(server: &Arc<Server>, run: RunId, wait: Option<u32>) -> Done<Answer> {
    if let Some(seconds) = wait {
        let time = Duration::from_secs(seconds.into()).min(LONGEST_WAIT);
        tokio::select! {
            waited = runs::wait(&server.app, &run, time) => waited?,
            () = server.stop.cancelled() => {}
        }
    }
    let shown = server.block(move |server| runs::show(&server.app, run.as_str()));
    let run = shown.await?;
    let status = if run.run.status == RunStatus::Done {
        StatusCode::OK
    } else {
        StatusCode::ACCEPTED
    };
    Answer::json(status, &RunDocument { run })
}
