//! `/api/v1/approvals`, `/api/v1/notices` and `/api/v1/jobs`.

use deft_service::{approvals, jobs, notices};
use deft_wire::Done;
use deft_wire::api::{
    ApprovalListQuery, ApproveRequest, JobPage, JobRequest, NoticeListQuery, NoticePage,
    NoticeRetryRequest, PageQuery, RejectRequest,
};
use deft_wire::approval::{
    ApprovalAnswer, ApprovalDocument, ApprovalList, GrantList, GrantRevoked,
};
use deft_wire::job::{JobDocument, JobHaltResult};
use deft_wire::notice::NoticeRetryResult;
use deft_wire::token::TokenScope as Scope;

use super::{next_cursor, page_size};
use crate::route::{Call, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    [approval_routes(), notice_routes(), job_routes()].concat()
}

fn approval_routes() -> Vec<Route> {
    use Scope::{Admin, Read, Run};
    use Verb::{Delete, Get, Post};
    vec![
        Route::new(
            Get,
            "/api/v1/approvals",
            "List pending approvals",
            Read,
            questions,
        ),
        Route::new(
            Post,
            "/api/v1/approvals/{id}/approve",
            "Approve an operation",
            Run,
            approve,
        ),
        Route::new(
            Post,
            "/api/v1/approvals/{id}/reject",
            "Reject an operation, or skip the step",
            Run,
            reject,
        ),
        Route::new(
            Get,
            "/api/v1/grants",
            "List standing approvals",
            Read,
            grants,
        ),
        Route::new(
            Delete,
            "/api/v1/grants/{id}",
            "Revoke a standing approval",
            Admin,
            revoke,
        ),
    ]
}

fn notice_routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::new(
            Get,
            "/api/v1/notices",
            "List notices, newest first",
            Scope::Read,
            messages,
        ),
        Route::new(
            Post,
            "/api/v1/notices/retry",
            "Retry notices that could not be delivered",
            Scope::Run,
            retry,
        ),
    ]
}

fn job_routes() -> Vec<Route> {
    use Scope::{Admin, Read, Run};
    use Verb::{Get, Post};
    vec![
        Route::new(
            Get,
            "/api/v1/jobs",
            "List jobs, newest first",
            Read,
            list_jobs,
        ),
        Route::new(Post, "/api/v1/jobs", "Queue a job", Run, queue),
        Route::new(
            Post,
            "/api/v1/jobs/halt",
            "Pause the job queue",
            Admin,
            halt,
        ),
        Route::new(
            Post,
            "/api/v1/jobs/resume",
            "Resume the job queue",
            Admin,
            resume,
        ),
        Route::new(Get, "/api/v1/jobs/{id}", "Show a job", Read, show_job),
    ]
}

fn questions(call: &Call<ApprovalListQuery>) -> Done<ApprovalList> {
    let all = call.query.all.unwrap_or(false);
    let approvals = approvals::list(&call.server.app, all)?;
    Ok(ApprovalList { approvals })
}

fn approve(call: &Call<Nothing, ApproveRequest>) -> Done<ApprovalDocument> {
    let (app, always) = (&call.server.app, call.body.always);
    let approval = approvals::answer(
        app,
        call.param(),
        ApprovalAnswer::Yes,
        always,
        &call.record_name(),
    )?;
    Ok(ApprovalDocument { approval })
}

fn reject(call: &Call<Nothing, RejectRequest>) -> Done<ApprovalDocument> {
    let answer = if call.body.skip {
        ApprovalAnswer::Skip
    } else {
        ApprovalAnswer::No
    };
    let approval = approvals::answer(
        &call.server.app,
        call.param(),
        answer,
        false,
        &call.record_name(),
    )?;
    Ok(ApprovalDocument { approval })
}

fn grants(call: &Call) -> Done<GrantList> {
    let grants = approvals::grants(&call.server.app)?;
    Ok(GrantList { grants })
}

fn revoke(call: &Call) -> Done<GrantRevoked> {
    let grant = approvals::revoke(&call.server.app, call.param())?;
    Ok(GrantRevoked {
        grant,
        revoked: true,
    })
}

fn messages(call: &Call<NoticeListQuery>) -> Done<NoticePage> {
    let query = &call.query;
    let mut pages = notices::list(&call.server.app, query.dead.unwrap_or(false));
    if let Some(cursor) = &query.cursor {
        pages = pages.after_cursor(cursor)?;
    }
    let limit = page_size(query.limit);
    let notices = pages.next(limit)?;
    Ok(NoticePage {
        next_cursor: next_cursor(pages.cursor(), notices.len(), limit),
        notices,
    })
}

fn retry(call: &Call<Nothing, NoticeRetryRequest>) -> Done<NoticeRetryResult> {
    let id = call.body.id.map(|id| id.to_string());
    notices::retry(&call.server.app, id.as_deref())
}

fn list_jobs(call: &Call<PageQuery>) -> Done<JobPage> {
    let app = &call.server.app;
    let mut pages = jobs::list(app);
    if let Some(cursor) = &call.query.cursor {
        pages = pages.after_cursor(cursor)?;
    }
    let limit = page_size(call.query.limit);
    let found = pages.next(limit)?;
    Ok(JobPage {
        next_cursor: next_cursor(pages.cursor(), found.len(), limit),
        halted_since: jobs::halted_since(app)?,
        jobs: found,
    })
}

fn show_job(call: &Call) -> Done<JobDocument> {
    let job = jobs::show(&call.server.app, call.param())?;
    Ok(JobDocument { job })
}

fn queue(call: &Call<Nothing, JobRequest>) -> Done<JobDocument> {
    let job = jobs::queue(&call.server.app, &call.body.0, call.origin.clone())?;
    Ok(JobDocument { job })
}

fn halt(call: &Call) -> Done<JobHaltResult> {
    jobs::halt(&call.server.app)
}

fn resume(call: &Call) -> Done<JobHaltResult> {
    jobs::resume(&call.server.app)
}
