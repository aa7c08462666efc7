//! Adds, pauses, resumes and removes schedules of skills; schedules are given in words.
//!
//! A skill with a file gets its schedule as an overlay in the store, like other changes of assistants: the
//! file does not change, and `deft skills restore NAME` removes the overlay.

use deft_engine::{Error, StoredSkill};
use deft_model::{DisabledReason, Object};
use deft_records::{Target, describe_schedule};
use deft_schedule::{FireTime, day_and_time, parse_future, parse_zone, show, zone_name};
use deft_store::{SkillOrigin, SkillRow};
use deft_wire::Done;
use deft_wire::schedule::{ScheduleAction, ScheduleChange};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::refused_failure;
use super::source::Source;
use crate::app::{self, App};
use crate::lock::Lock;
use crate::trash;
use crate::workspace::Workspace;

/// The tool that reminders call.
pub(crate) const NOTIFY: &str = "notify";

/// Gives a skill a schedule, replacing the one it has.
pub fn add(
    workspace: &Workspace,
    name: &str,
    words: &str,
    zone: Option<&str>,
) -> Done<ScheduleChange> {
    let app = App::standing(workspace)?;
    let config = trigger_config(&app, words, zone)?;
    let changes = json!({"trigger_type": "cron", "trigger_config": config});
    let stored = update(&app, name, changes);
    let stored = stored.map_err(|error| app::failure(&error))?;
    finish(app, &stored.row, ScheduleAction::Set)
}

/// Disables a scheduled skill.
pub fn pause(workspace: &Workspace, name: &str) -> Done<ScheduleChange> {
    let skill = find_scheduled(workspace, name)?;
    let app = App::standing(workspace)?;
    let row = app.block_on(app.engine.library().disable(&skill));
    let row = row.map_err(|error| app::failure(&error))?;
    finish(app, &row, ScheduleAction::Paused)
}

/// Enables a scheduled skill and resets its failure count.
pub fn resume(workspace: &Workspace, name: &str) -> Done<ScheduleChange> {
    let skill = find_scheduled(workspace, name)?;
    let app = App::standing(workspace)?;
    let row = app.block_on(app.engine.library().enable(&skill));
    let row = row.map_err(|error| app::failure(&error))?;
    finish(app, &row, ScheduleAction::Resumed)
}

/// Removes the schedule of a skill. A reminder is deleted, because it consists of its schedule only.
pub fn remove(workspace: &Workspace, name: &str) -> Done<ScheduleChange> {
    let skill = find_scheduled(workspace, name)?;
    let app = App::standing(workspace)?;
    let target = Target::Name(skill.clone());
    let row = app.block_on(app.engine.store().skill(&skill));
    let row = row.map_err(|error| crate::store::failure(&error))?;
    if let Some(row) = row.filter(|row| row.text.origin == SkillOrigin::Record) {
        let content = app.block_on(app.engine.library().content(&row));
        if is_reminder(&content.map_err(|error| app::failure(&error))?) {
            app.block_on(trash::put_record(&app.engine, app.home(), &skill, row.id))?;
            let deleted = app.block_on(app.engine.library().delete_skill(&target));
            let row = deleted.map_err(|error| app::failure(&error))?;
            return finish(app, &row, ScheduleAction::Deleted);
        }
    }
    let changes = json!({"trigger_type": "manual", "trigger_config": null});
    let stored = update(&app, &skill, changes);
    let stored = stored.map_err(|error| app::failure(&error))?;
    finish(app, &stored.row, ScheduleAction::Removed)
}

/// Returns the id of the skill called `name`, if it has a schedule.
fn find_scheduled(workspace: &Workspace, name: &str) -> Done<String> {
    let source = Source::open(workspace)?;
    let found = source.find(name, source.moment().now)?;
    Ok(found.timed.name)
}

/// Whether a record only sends notices.
fn is_reminder(record: &Object) -> bool {
    let plan = record.get("execution_plan").and_then(Value::as_array);
    let tells = |step: &Value| step.get("toolName").and_then(Value::as_str) == Some(NOTIFY);
    plan.is_some_and(|plan| !plan.is_empty() && plan.iter().all(tells))
}

fn update(app: &App, name: &str, changes: Value) -> Result<StoredSkill, Error> {
    let changes = match changes {
        Value::Object(changes) => changes,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Object::new()
        }
    };
    let target = Target::Name(name.to_owned());
    app.block_on(app.engine.library().update_skill(&target, &changes))
}

/// Returns the trigger config of a record, after checking that the words mean a time in the future.
pub(crate) fn trigger_config(app: &App, words: &str, zone: Option<&str>) -> Done<Value> {
    let place = read_zone(app, zone)?;
    let when = parse_future(words, &place, Timestamp::now()).map_err(refused_failure)?;
    Ok(match (when, zone) {
        (FireTime::Cron(_) | FireTime::At(_), Some(zone)) => {
            json!({"when": words, "timezone": zone})
        }
        // A duration has no zone.
        (FireTime::Minutes(_), _) | (FireTime::Cron(_) | FireTime::At(_), None) => {
            json!({"when": words})
        }
    })
}

/// Parses the given zone; `None` is the zone of the home.
pub(crate) fn read_zone(app: &App, name: Option<&str>) -> Done<TimeZone> {
    match name {
        Some(name) => parse_zone(name).map_err(refused_failure),
        None => Ok(app.zone.clone()),
    }
}

/// Closes the home and describes the change.
pub(crate) fn finish(app: App, row: &SkillRow, change: ScheduleAction) -> Done<ScheduleChange> {
    let view = describe(&app, row, change);
    app.close();
    view
}

fn describe(app: &App, row: &SkillRow, change: ScheduleAction) -> Done<ScheduleChange> {
    let plan = deft_engine::stored_schedule(row, &app.zone);
    let plan = plan.map_err(|error| app::failure(&error))?;
    let gone = matches!(change, ScheduleAction::Removed | ScheduleAction::Deleted);
    let plan = plan.filter(|_| !gone);
    let zone = plan.as_ref().map_or(&app.zone, |plan| &plan.zone);
    let now = Timestamp::now();
    let disabled: Option<DisabledReason> = row.standing.disabled;
    let next = row.timeline.next_at.filter(|_| disabled.is_none() && !gone);
    Ok(ScheduleChange {
        skill: row.text.skill.clone(),
        name: row.text.name.clone(),
        change,
        words: plan
            .as_ref()
            .map(|plan| describe_schedule(&plan.schedule, zone, now)),
        zone: zone_name(zone),
        next: next.map(|at| show(at, zone)),
        next_words: next.map(|at| day_and_time(at, now, zone)),
        enabled: disabled.is_none() && !gone,
        disabled_reason: disabled.filter(|_| !gone),
        daemon_running: Lock::holder(app.home()).is_some(),
    })
}
