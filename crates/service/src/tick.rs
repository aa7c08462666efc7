//! Runs the schedules once, without a daemon: due skills fire and run, and interrupted runs continue.
use std::collections::HashSet;

use deft_config::Home;
use deft_engine::Attention;
use deft_model::{Outcome, RunId, Tier};
use deft_schedule::LATE;
use deft_scheduler::{Pool, TickReport as Ticked};
use deft_store::RunRow;
use deft_wire::Done;
use deft_wire::run::{RunView, TickView};
use jiff::Timestamp;

use crate::app::{self, App};
use crate::runs;
use crate::store;

/// The result of a tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TickReport {
    /// Runs that were started or continued.
    pub fired: Vec<RunView>,
    /// Slots without a run.
    pub passed: Vec<RunView>,
    /// Skills that the tick enabled, because their tools are available.
    pub enabled: Vec<EnabledSkill>,
}

/// A scheduled skill that was enabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnabledSkill {
    /// The id.
    pub skill: String,
    /// The time of its next fire.
    pub next_at: Option<Timestamp>,
    /// Whether each run asks a model, which costs money.
    pub asks_model: bool,
}

impl TickReport {
    /// Whether nothing was due.
    pub fn is_empty(&self) -> bool {
        self.fired.is_empty() && self.passed.is_empty() && self.enabled.is_empty()
    }

    /// Whether any run failed.
    pub fn has_failures(&self) -> bool {
        let mut outcomes = self.fired.iter().filter_map(|run| run.outcome);
        outcomes.any(|outcome| !matches!(outcome, Outcome::Success | Outcome::Skipped))
    }

    /// Converts the result for output as JSON.
    pub fn view(&self) -> TickView {
        let passed = |outcome: Outcome| {
            let runs = self.passed.iter();
            let runs = runs.filter(|run| run.outcome == Some(outcome));
            runs.cloned().collect()
        };
        TickView {
            fired: self.fired.clone(),
            skipped: passed(Outcome::Skipped),
            missed: passed(Outcome::Missed),
            failed: passed(Outcome::Error),
            enabled: self.enabled.iter().map(|row| row.skill.clone()).collect(),
        }
    }
}

/// Whether a tick at this instant would process future slots.
pub fn is_ahead(at: Timestamp) -> bool {
    at.duration_since(Timestamp::now()) > LATE
}

/// Fires the skills that are due now or at the given instant, and drives their runs to the end.
pub fn tick(app: &App, home: &Home, at: Option<Timestamp>) -> Done<TickReport> {
    app.block_on(tick_once(app, home, at))
}

async fn tick_once(app: &App, home: &Home, at: Option<Timestamp>) -> Done<TickReport> {
    let ticked = fire(app, home, at)
        .await
        .map_err(|error| app::failure(&error))?;
    let passed = ticked.passed.into_iter().map(|(run, _)| run).collect();
    let mut fired = rows(app, ticked.fired).await?;
    let mut passed = rows(app, passed).await?;
    // A run that was skipped before its start, because of another run of its skill, counts as a slot without
    // a run.
    let gave_way =
        |run: &mut RunRow| run.outcome == Some(Outcome::Skipped) && run.started_at.is_none();
    passed.extend(fired.extract_if(.., gave_way));
    Ok(TickReport {
        fired: fired.iter().map(runs::view).collect::<Done<_>>()?,
        passed: passed.iter().map(runs::view).collect::<Done<_>>()?,
        enabled: enabled_skills(app, &ticked.enabled).await?,
    })
}

async fn fire(app: &App, home: &Home, at: Option<Timestamp>) -> Result<Ticked, deft_engine::Error> {
    let (engine, scheduler) = (&app.engine, app.scheduler());
    if let Some(at) = at {
        engine.hold_schedule_time(at);
    }
    engine.library().sync_files().await?;
    // The servers must be queried first: skills that wait for their tools may be due.
    engine.router().list_servers().await;
    scheduler.recover().await?;
    engine.wake_ready().await?;
    let pool = Pool::new(app::max_running(&home.config));
    let mut ticked = Ticked::default();
    loop {
        let now = at.unwrap_or_else(Timestamp::now);
        let more = scheduler.tick(now, &pool).await?;
        ticked.fired.extend(more.fired);
        ticked.passed.extend(more.passed);
        ticked.enabled.extend(more.enabled);
        pool.idle().await;
        if !more.held_back {
            break;
        }
    }
    let now = at.unwrap_or_else(Timestamp::now);
    scheduler.fire_events(now).await?;
    let attention = Attention {
        parks: true,
        ..Attention::default()
    };
    ticked.fired.extend(engine.drain(&attention).await?);
    scheduler.check_models().await?;
    scheduler.report_health(now).await?;
    let mut seen = HashSet::new();
    ticked.fired.retain(|run| seen.insert(run.clone()));
    Ok(ticked)
}

async fn rows(app: &App, runs: Vec<RunId>) -> Done<Vec<RunRow>> {
    let mut rows = Vec::new();
    for run in runs {
        let row = app.engine.store().run(&run).await;
        rows.extend(row.map_err(|error| store::failure(&error))?);
    }
    Ok(rows)
}

async fn enabled_skills(app: &App, names: &[String]) -> Done<Vec<EnabledSkill>> {
    let mut skills = Vec::new();
    for name in names {
        let row = app.engine.store().skill(name).await;
        let row = row.map_err(|error| store::failure(&error))?;
        skills.extend(row.map(|row| EnabledSkill {
            asks_model: row.text.tier == Tier::Agent,
            skill: row.text.skill,
            next_at: row.timeline.next_at,
        }));
    }
    Ok(skills)
}
