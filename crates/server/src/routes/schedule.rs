//! `/api/v1/schedule`.

use deft_service::remind;
use deft_service::schedule::{self, FiresRequest, SimulationRequest};
use deft_wire::Done;
use deft_wire::api::{FiresQuery, PreviewQuery, ScheduleRequest};
use deft_wire::requests::{ReminderRequest, SimulationBody};
use deft_wire::schedule::{FiresView, ScheduleChange, ScheduleList, SimulationView};
use deft_wire::token::TokenScope as Scope;

use crate::route::{Call, Nothing, Route, Verb};

/// Maximum number of fires in one response.
const MAX_FIRES: u32 = 1000;

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Delete, Get, Post, Put};
    vec![
        Route::new(
            Get,
            "/api/v1/schedule",
            "List scheduled skills, next one first",
            Read,
            list,
        ),
        Route::new(
            Get,
            "/api/v1/schedule/preview",
            "Preview the next times of a schedule expression",
            Read,
            preview,
        ),
        Route::new(
            Post,
            "/api/v1/schedule/simulate",
            "Simulate all slots in a period; nothing is run",
            Read,
            simulate,
        ),
        Route::new(
            Post,
            "/api/v1/reminders",
            "Set a reminder in words",
            Admin,
            remind,
        ),
        Route::new(
            Get,
            "/api/v1/schedule/{name}",
            "Show the next runs of a skill",
            Read,
            next,
        ),
        Route::new(
            Put,
            "/api/v1/schedule/{name}",
            "Set the schedule of a skill",
            Admin,
            add,
        ),
        Route::new(
            Delete,
            "/api/v1/schedule/{name}",
            "Remove the schedule of a skill",
            Admin,
            remove,
        ),
        Route::new(
            Post,
            "/api/v1/schedule/{name}/pause",
            "Pause the schedule of a skill",
            Admin,
            pause,
        ),
        Route::new(
            Post,
            "/api/v1/schedule/{name}/resume",
            "Resume the schedule of a skill",
            Admin,
            resume,
        ),
    ]
}

fn fires(from: Option<&str>, count: Option<u32>) -> FiresRequest {
    let count = count.unwrap_or(10).clamp(1, MAX_FIRES);
    FiresRequest {
        from: from.map(str::to_owned),
        count: usize::try_from(count).unwrap_or(usize::MAX),
    }
}

fn list(call: &Call) -> Done<ScheduleList> {
    schedule::list(&call.server.workspace)
}

fn next(call: &Call<FiresQuery>) -> Done<FiresView> {
    let request = fires(call.query.from.as_deref(), call.query.count);
    let next = schedule::next(&call.server.workspace, call.param(), &request)?;
    Ok(next.view)
}

fn preview(call: &Call<PreviewQuery>) -> Done<FiresView> {
    let query = &call.query;
    let request = fires(query.from.as_deref(), query.count);
    let zone = query.zone.as_deref();
    let preview = schedule::preview(&call.server.workspace, &query.when, zone, &request)?;
    Ok(preview.view)
}

fn add(call: &Call<Nothing, ScheduleRequest>) -> Done<ScheduleChange> {
    let ScheduleRequest { when, zone } = &call.body;
    schedule::add(&call.server.workspace, call.param(), when, zone.as_deref())
}

fn pause(call: &Call) -> Done<ScheduleChange> {
    schedule::pause(&call.server.workspace, call.param())
}

fn resume(call: &Call) -> Done<ScheduleChange> {
    schedule::resume(&call.server.workspace, call.param())
}

fn remove(call: &Call) -> Done<ScheduleChange> {
    schedule::remove(&call.server.workspace, call.param())
}

fn simulate(call: &Call<Nothing, SimulationBody>) -> Done<SimulationView> {
    let body = &call.body;
    let request = SimulationRequest {
        from: body.from.clone(),
        to: body.to.clone(),
        down: body.down.clone(),
        skills: body.skills.clone(),
    };
    Ok(schedule::simulate(&call.server.workspace, &request)?.view)
}

fn remind(call: &Call<Nothing, ReminderRequest>) -> Done<ScheduleChange> {
    let words = call.body.text.split_whitespace();
    let words: Vec<String> = words.map(str::to_owned).collect();
    remind::remind(&call.server.workspace, &words, call.body.zone.as_deref())
}
