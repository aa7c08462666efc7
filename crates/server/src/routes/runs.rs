//! `/api/v1/runs`.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use deft_service::runs::{
    self, CancelResult, PruneLimit, PruneMode, RunQuery, RunWork, StartRun, Wait,
};
use deft_wire::api::{
    CancelView, RerunRequest, ResumeRequest, RunListQuery, RunPage, StartRunRequest, WaitQuery,
};
use deft_wire::dry_run::DryRun;
use deft_wire::model::{Cause, RunId, RunStatus};
use deft_wire::requests::PruneRequest;
use deft_wire::run::{EventList, PrunedRuns, RunArchive, RunDocument};
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};
use futures_util::future::BoxFuture;

use super::{next_cursor, page_size};
use crate::answer::Answer;
use crate::context::Server;
use crate::dispatch;
use crate::route::{Call, MAX_WAIT, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read, Run};
    use Verb::{Get, Post};
    vec![
        Route::new_waiting::<_, _, RunPage>(
            Get,
            "/api/v1/runs",
            "List runs, newest first",
            Read,
            list,
        )
        .always_ok(),
        Route::new(
            Post,
            "/api/v1/runs/prune",
            "Delete old finished runs; `undo` restores them",
            Admin,
            prune,
        ),
        Route::new_waiting::<_, _, RunDocument>(
            Post,
            "/api/v1/runs",
            "Start a run; `Idempotency-Key` is its permanent key",
            Run,
            start,
        )
        .without_stored_reply(),
        Route::new(
            Post,
            "/api/v1/runs/plan",
            "Preview a run; nothing is called",
            Read,
            plan,
        ),
        Route::new(
            Get,
            "/api/v1/runs/{id}",
            "Show a run with its steps",
            Read,
            show,
        ),
        Route::new(
            Get,
            "/api/v1/runs/{id}/events",
            "List the events of a run so far",
            Read,
            events,
        ),
        Route::new(
            Get,
            "/api/v1/runs/{id}/export",
            "Export a run with its events and its skill",
            Read,
            export,
        ),
        Route::new(
            Post,
            "/api/v1/runs/{id}/cancel",
            "Cancel a run",
            Run,
            cancel,
        ),
        Route::new_waiting::<_, _, RunDocument>(
            Post,
            "/api/v1/runs/{id}/resume",
            "Resume a run that waits, failed or was interrupted",
            Run,
            resume,
        ),
        Route::new_waiting::<_, _, RunDocument>(
            Post,
            "/api/v1/runs/{id}/rerun",
            "Repeat a run",
            Run,
            rerun,
        ),
    ]
}

/// Lists runs. Only pages whose runs have all ended are cached, because they depend on nothing but the store.
fn list(call: Call<RunListQuery>) -> BoxFuture<'static, Done<Answer>> {
    Box::pin(async move {
        let server = Arc::clone(&call.server);
        let version = runs::version(&server.app).await?;
        if let Some(page) = server.pages.get(&call.query_text, version) {
            return Ok(page);
        }
        let query = call.query_text.clone();
        let read = server.block(move |_| {
            let page = read_page(&call)?;
            let all_ended = page
                .runs
                .iter()
                .all(|one| one.run.status == RunStatus::Done);
            let mut answer = Answer::json(StatusCode::OK, &page)?;
            answer.tag = dispatch::tag(&answer.body);
            Ok((answer, all_ended))
        });
        let (answer, all_ended) = read.await?;
        if all_ended {
            server.pages.keep(query, version, &answer);
        }
        Ok(answer)
    })
}

fn read_page(call: &Call<RunListQuery>) -> Done<RunPage> {
    let query = &call.query;
    let wanted = RunQuery {
        skill: query.skill.clone(),
        status: query.status,
        outcome: query.outcome,
        chats: query.chats.unwrap_or(false),
    };
    let mut pages = runs::list(&call.server.app, wanted);
    if let Some(cursor) = &query.cursor {
        pages = pages.after_cursor(cursor)?;
    }
    let limit = page_size(query.limit);
    let runs = pages.next(limit)?;
    Ok(RunPage {
        next_cursor: next_cursor(pages.cursor(), runs.len(), limit),
        runs,
    })
}

fn prune(call: &Call<Nothing, PruneRequest>) -> Done<PrunedRuns> {
    let (app, body) = (&call.server.app, &call.body);
    let limit = match (&body.before, &body.older_than) {
        (Some(text), None) => PruneLimit::Before(text.clone()),
        (None, Some(text)) => PruneLimit::OlderThan(text.clone()),
        (None, None) | (Some(_), Some(_)) => {
            let message = "the request must have either `before` or `older_than`";
            return Err(Failure::input("invalid_input", message));
        }
    };
    let mode = match (body.dry_run, body.no_trash) {
        (true, _) => PruneMode::DryRun,
        (false, true) => PruneMode::Forever,
        (false, false) => PruneMode::Trash,
    };
    runs::prune(app, limit.instant(&app.zone)?, mode)
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
    let cancelled = runs::cancel(&call.server.app, call.param(), &call.record_name())?;
    let (run, was_over) = match cancelled {
        CancelResult::Now(run) | CancelResult::Asked(run) => (run, false),
        CancelResult::Before(run) => (run, true),
    };
    Ok(CancelView { run, was_over })
}

fn start(call: Call<WaitQuery, StartRunRequest>) -> BoxFuture<'static, Done<Answer>> {
    Box::pin(async move {
        let server = call.server;
        let start = StartRun {
            skill: call.body.skill,
            inputs: call.body.inputs,
            cause: Cause::Api,
            key: call.key.or(call.body.key),
            origin: call.origin,
        };
        let Some(seconds) = call.query.wait else {
            let started = server.runner.start(start, Wait::No).await?;
            return show_after(&server, started.id().clone()).await;
        };
        let started = server.runner.start(start, Wait::ForEnd).await?;
        let run = started.id().clone();
        let ended = tokio::select! {
            ended = started.wait(&server.app, longest(seconds)) => ended?,
            () = server.stop.cancelled() => None,
        };
        match ended {
            Some(run) => Answer::json(StatusCode::OK, &RunDocument { run }),
            None => show_after(&server, run).await,
        }
    })
}

fn resume(call: Call<WaitQuery, ResumeRequest>) -> BoxFuture<'static, Done<Answer>> {
    let work = RunWork::Resume {
        id: call.param().to_owned(),
        by: call.record_name(),
        old_revision: call.body.old_revision,
    };
    Box::pin(begin(call.server, work, call.query.wait))
}

fn rerun(call: Call<WaitQuery, RerunRequest>) -> BoxFuture<'static, Done<Answer>> {
    let work = RunWork::Rerun {
        id: call.param().to_owned(),
        from: call.body.from,
        origin: call.origin,
    };
    Box::pin(begin(call.server, work, call.query.wait))
}

async fn begin(server: Arc<Server>, work: RunWork, wait: Option<u32>) -> Done<Answer> {
    let begun = server.block(move |server| runs::begin(&server.app, work));
    let run = begun.await?;
    if let Some(seconds) = wait {
        tokio::select! {
            waited = runs::wait(&server.app, &run, longest(seconds)) => waited?,
            () = server.stop.cancelled() => {}
        }
    }
    show_after(&server, run).await
}

/// Returns the time to wait for a caller that asks for `seconds`.
fn longest(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into()).min(MAX_WAIT)
}

/// Responds with the run as it is after the wait: 200 if it has ended, otherwise 202.
async fn show_after(server: &Arc<Server>, run: RunId) -> Done<Answer> {
    let shown = server.block(move |server| runs::show(&server.app, run.as_str()));
    let run = shown.await?;
    let status = if run.run.status == RunStatus::Done {
        StatusCode::OK
    } else {
        StatusCode::ACCEPTED
    };
    Answer::json(status, &RunDocument { run })
}
