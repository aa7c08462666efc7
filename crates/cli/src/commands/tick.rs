//! `deft tick`: one look at the schedules without a daemon. What is due is fired and run, and what
//! others left behind goes on.

use std::collections::HashSet;
use std::process::ExitCode;

use deft_model::{Outcome, RunId, Tier};
use deft_schedule::LATE;
use deft_scheduler::{Pool, TickReport};
use deft_store::{RunRow, SkillRow};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::args::{Global, Tick};
use crate::failure::{Done, Failure};
use crate::home::Home;
use crate::output::{Output, counted};

pub(crate) fn run(args: &Tick, global: &Global, output: &Output) -> Done {
    let home = Home::open(global)?;
    let app = App::standing(global)?;
    let at = match &args.now {
        Some(text) => Some(instant(text, &app)?),
        None => None,
    };
    if let Some(at) = at.filter(|at| at.duration_since(Timestamp::now()) > LATE) {
        let until = deft_schedule::show(at, &app.zone);
        output.note(&format!(
            "warning: slots up to {until} are settled now; those that have not come yet will not fire again"
        ));
    }
    let report = app.block_on(tick(&app, &home, at))?;
    let failed = report.fired.iter().any(|run| {
        matches!(run.outcome, Some(outcome) if !matches!(outcome, Outcome::Success | Outcome::Skipped))
    });
    if output.json {
        output.document(&report.json())?;
    } else if report.is_empty() {
        output.note("nothing was due");
    } else {
        output.data(report.text(&app))?;
    }
    app.close();
    Ok(ExitCode::from(u8::from(failed)))
}

fn instant(text: &str, app: &App) -> Done<Timestamp> {
    deft_schedule::parse_at(text, &app.zone)
        .map_err(|error| Failure::input("invalid_input", error.message).maybe_hint(error.hint))
}

/// What one look did.
struct Report {
    fired: Vec<RunRow>,
    passed: Vec<RunRow>,
    /// Skills that switched themselves on.
    enabled: Vec<SkillRow>,
}

async fn tick(app: &App, home: &Home, at: Option<Timestamp>) -> Done<Report> {
    let (engine, scheduler) = (&app.engine, app.scheduler());
    if let Some(at) = at {
        engine.hold_schedule_time(at);
    }
    let failed = |error: deft_engine::Error| app::failure(&error);
    engine.library().sync_files().await.map_err(failed)?;
    // Tools are known after their servers were asked; waiting skills may be among the due ones.
    engine.router().listed().await;
    engine.recover().await.map_err(failed)?;
    engine.wake_ready().await.map_err(failed)?;
    let pool = Pool::new(app::max_running(&home.config));
    let mut ticked = TickReport::default();
    loop {
        let now = at.unwrap_or_else(Timestamp::now);
        let more = scheduler.tick(now, &pool).await.map_err(failed)?;
        ticked.fired.extend(more.fired);
        ticked.passed.extend(more.passed);
        ticked.enabled.extend(more.enabled);
        pool.idle().await;
        if !more.held_back {
            break;
        }
    }
    let now = at.unwrap_or_else(Timestamp::now);
    scheduler.fire_events(now).await.map_err(failed)?;
    let attention = deft_engine::Attention {
        parks: true,
        ..deft_engine::Attention::default()
    };
    let driven = engine.drain(&attention).await.map_err(failed)?;
    ticked.fired.extend(driven);
    scheduler.check_models().await.map_err(failed)?;
    scheduler.report_health(now).await.map_err(failed)?;
    let mut seen = HashSet::new();
    ticked.fired.retain(|run| seen.insert(run.clone()));
    let passed: Vec<RunId> = ticked.passed.into_iter().map(|(run, _)| run).collect();
    let mut report = Report {
        fired: rows(app, ticked.fired).await?,
        passed: rows(app, passed).await?,
        enabled: skills(app, &ticked.enabled).await?,
    };
    // A run that another one of its skill stood in the way of did not happen.
    let skipped =
        |run: &mut RunRow| run.outcome == Some(Outcome::Skipped) && run.started_at.is_none();
    let skipped: Vec<RunRow> = report.fired.extract_if(.., skipped).collect();
    report.passed.extend(skipped);
    Ok(report)
}

async fn rows(app: &App, runs: Vec<RunId>) -> Done<Vec<RunRow>> {
    let mut rows = Vec::new();
    for run in runs {
        let row = app.engine.store().run(&run).await;
        rows.extend(row.map_err(|error| app::store(&error))?);
    }
    Ok(rows)
}

async fn skills(app: &App, names: &[String]) -> Done<Vec<SkillRow>> {
    let mut rows = Vec::new();
    for name in names {
        let row = app.engine.store().skill(name).await;
        rows.extend(row.map_err(|error| app::store(&error))?);
    }
    Ok(rows)
}

impl Report {
    fn with(&self, outcome: Outcome) -> impl Iterator<Item = &RunRow> {
        self.passed
            .iter()
            .filter(move |run| run.outcome == Some(outcome))
    }

    fn json(&self) -> Value {
        let list = |runs: &mut dyn Iterator<Item = &RunRow>| -> Vec<Value> {
            runs.map(deft_engine::run_json).collect()
        };
        json!({
            "fired": list(&mut self.fired.iter()),
            "skipped": list(&mut self.with(Outcome::Skipped)),
            "missed": list(&mut self.with(Outcome::Missed)),
            "failed": list(&mut self.with(Outcome::Error)),
            "enabled": self.enabled.iter().map(|row| &row.text.skill).collect::<Vec<_>>(),
        })
    }

    fn is_empty(&self) -> bool {
        self.fired.is_empty() && self.passed.is_empty() && self.enabled.is_empty()
    }

    fn text(&self, app: &App) -> String {
        let fired = self.fired.iter().map(|run| {
            let outcome = run
                .outcome
                .map_or_else(|| run.status.to_string(), |outcome| outcome.to_string());
            let line = format!("{outcome:<12} {}  {}", run.skill, slot(run, app));
            line.trim_end().to_owned()
        });
        let passed = self.passed.iter().map(|run| {
            let outcome = run.outcome.map_or(String::new(), |o| o.to_string());
            let more = usize::try_from(run.slot_count.saturating_sub(1)).unwrap_or(usize::MAX);
            let many = match more {
                0 => String::new(),
                more => format!(" and {} more", counted(more, "slot")),
            };
            format!(
                "{outcome:<12} {}  {}{many}: {}",
                run.skill,
                slot(run, app),
                reason(run)
            )
        });
        let enabled = self.enabled.iter().map(|row| enabled(row, app));
        let lines = fired.chain(passed).chain(enabled);
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// A skill that fires by itself from now on; what a model is asked for costs.
fn enabled(row: &SkillRow, app: &App) -> String {
    let skill = &row.text.skill;
    let next = row.timeline.next_at;
    let next = next.map_or(String::new(), |at| deft_schedule::show(at, &app.zone));
    let cost = if row.text.tier == Tier::Agent.to_string() {
        ", and each run asks a model"
    } else {
        ""
    };
    format!(
        "{:<12} {skill}  {next}: its tools are there{cost}; `deft skills disable {skill}` ends that",
        "enabled"
    )
}

fn slot(run: &RunRow, app: &App) -> String {
    run.slot
        .map_or(String::new(), |at| deft_schedule::show(at, &app.zone))
}

/// Why a slot brought no run.
fn reason(run: &RunRow) -> String {
    let error: Option<Value> = run
        .error
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok());
    error
        .and_then(|error| error["message"].as_str().map(str::to_owned))
        .unwrap_or_default()
}
