//! A world with records and slots: rows, states and notices as lines of text, over both stores.

use std::sync::{Arc, OnceLock};

use deft_engine::{Clock, Notice};
use deft_model::{Effects, Failure, FailureClass, RunStatus};
use deft_scheduler::{Checks, Pool, Scheduler, TickReport};
use deft_skillfile::{Document, Moment, parse_record};
use deft_store::{
    NewSkill, NoticeFilter, PutResult, RunFilter, RunRow, SchedulePosition, SkillOrigin,
    SkillProperties, SkillRow, SkillState, Sqlite, SqliteOptions, Store,
};
use deft_store_testkit::Memory;
use deft_tools::Definition;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::world::World;

/// Times in these tests are on this day, unless they name another one.
const DAY: &str = "2026-01-26";

/// Parses `14:30`, `14:30:05` or `27 14:30`; the last form names a day of the same month.
pub(crate) fn at(text: &str) -> Timestamp {
    let (day, time) = match text.split_once(' ') {
        Some((day, time)) => (format!("2026-01-{day}"), time),
        None => (DAY.to_owned(), text),
    };
    let seconds = if time.len() == 5 { ":00" } else { "" };
    format!("{day}T{time}{seconds}Z").parse().unwrap()
}

/// Formats an instant as [`at`] parses it.
pub(crate) fn clock(at: Timestamp) -> String {
    let text = at.to_string();
    let (day, time) = text.trim_end_matches('Z').split_once('T').unwrap();
    let time = time.strip_suffix(":00").unwrap_or(time);
    match day.strip_prefix("2026-01-") {
        Some("26") => time.to_owned(),
        Some(day) => format!("{day} {time}"),
        None => text.clone(),
    }
}

pub(crate) struct Times {
    pub(crate) world: World,
    pub(crate) pool: Pool,
    pub(crate) checks: OnceLock<Arc<dyn Checks>>,
}

/// Runs a test over the memory store, then over a file.
pub(crate) async fn both(test: impl AsyncFn(Times)) {
    Box::pin(test(Times::with_store(Arc::new(Memory::new()), &[]))).await;
    let folder = tempfile::tempdir().unwrap();
    Box::pin(test(Times::with_store(file(&folder), &[]))).await;
}

pub(crate) fn file(folder: &tempfile::TempDir) -> Arc<dyn Store> {
    let path = folder.path().join("deft.db");
    Arc::new(Sqlite::open(&path, &SqliteOptions::default()).unwrap())
}

impl Times {
    pub(crate) fn with_store(store: Arc<dyn Store>, skills: &[(&str, &str)]) -> Self {
        Self {
            world: World::with(store, skills, |_| {}),
            pool: Pool::new(4),
            checks: OnceLock::new(),
        }
    }

    pub(crate) fn scheduler(&self) -> Scheduler {
        let scheduler = Scheduler::new(&self.world.engine);
        match self.checks.get() {
            Some(checks) => scheduler.with_checks(Arc::clone(checks)),
            None => scheduler,
        }
    }

    /// Stores a record as if it was enabled now.
    pub(crate) async fn add(&self, record: Value) -> SkillRow {
        let now = self.world.clock.now();
        let new = new_record(&record, now);
        match self.world.store.put_skills(vec![new]).await.unwrap().pop() {
            Some(PutResult::Stored(row)) => *row,
            other => panic!("{other:?}"),
        }
    }

    /// Moves the clock, ticks once, and waits until all runs have ended.
    pub(crate) async fn tick(&self, time: &str) -> TickReport {
        self.world.clock.set(at(time));
        self.look().await
    }

    /// Ticks until nothing is held back.
    pub(crate) async fn look(&self) -> TickReport {
        let mut all = TickReport::default();
        loop {
            let now = self.world.clock.now();
            let ticked = self.scheduler().tick(now, &self.pool).await.unwrap();
            self.pool.idle().await;
            all.fired.extend(ticked.fired);
            all.passed.extend(ticked.passed);
            all.missed += ticked.missed;
            all.enabled.extend(ticked.enabled);
            if !ticked.held_back {
                return all;
            }
        }
    }

    /// Claims and drives all due runs.
    pub(crate) async fn drain(&self) {
        let attention = deft_engine::Attention {
            parks: true,
            ..deft_engine::Attention::default()
        };
        self.world.engine.drain(&attention).await.unwrap();
    }

    pub(crate) async fn row(&self, skill: &str) -> SkillRow {
        self.world.store.skill(skill).await.unwrap().unwrap()
    }

    /// Returns the state of a skill as a line.
    pub(crate) async fn standing(&self, skill: &str) -> String {
        standing(&self.row(skill).await)
    }

    pub(crate) async fn runs(&self, skill: &str) -> Vec<RunRow> {
        let filter = RunFilter {
            skill: Some(skill.to_owned()),
            ..RunFilter::default()
        };
        let mut runs = self.world.store.runs(filter).await.unwrap();
        runs.sort_by_key(|run| (run.slot, run.admitted_at));
        runs
    }

    /// Returns all rows of a skill, in the order of slots.
    pub(crate) async fn slots(&self, skill: &str) -> Vec<String> {
        self.runs(skill).await.iter().map(line).collect()
    }

    /// Returns all notices so far, oldest first.
    pub(crate) async fn notices(&self) -> Vec<String> {
        let all = self.world.store.notices(NoticeFilter::default());
        let said = |body: &str| {
            let notice: Notice = serde_json::from_str(body).unwrap();
            format!("{}: {}", notice.kind.word(), notice.text)
        };
        let rows = all.await.unwrap();
        rows.iter().rev().map(|row| said(&row.body)).collect()
    }

    /// Installs a tool that fails while the returned flag is set.
    pub(crate) fn install_failing(&self) -> Arc<std::sync::atomic::AtomicBool> {
        let fails = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let mood = Arc::clone(&fails);
        self.world.engine.router().register_fn(
            Definition::new(
                "moody",
                "for tests",
                Effects::Once,
                json!({ "type": "object" }),
            ),
            move |_, _| {
                let fails = mood.load(std::sync::atomic::Ordering::SeqCst);
                async move {
                    if fails {
                        return Err(Failure::new(FailureClass::Quota, "too many"));
                    }
                    Ok(json!("fine"))
                }
            },
        );
        fails
    }
}

/// Returns a record with one step that calls a tool.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is written in place wherever this is called"
)]
pub(crate) fn record(name: &str, when: Value, tool: &str) -> Value {
    json!({
        "name": name,
        "trigger_type": "cron",
        "trigger_config": when,
        "instructions": "Do it.",
        "notify_on_completion": false,
        "execution_plan": [{"id": "only", "toolName": tool, "parameters": {}}],
    })
}

pub(crate) fn with(mut record: Value, more: Value) -> Value {
    let (Value::Object(record_map), Value::Object(more)) = (&mut record, more) else {
        panic!("two mappings");
    };
    record_map.extend(more);
    record
}

/// Returns the row to store for a record that is enabled now.
pub(crate) fn new_record(record: &Value, now: Timestamp) -> NewSkill {
    let moment = Moment {
        now,
        zone: TimeZone::UTC,
    };
    let parsed = parse_record(record, &moment);
    let Some(Document::Skill(skill)) = parsed.document else {
        panic!("{:#?}", parsed.diagnostics);
    };
    let timing = skill.timing.as_ref().unwrap();
    let one_shot = timing.at.as_deref().map(at_text);
    let every = timing.interval_minutes;
    let timed = json!({
        "cron": timing.schedule,
        "every_minutes": every,
        "at": one_shot,
        "misfire": skill.policy.misfire,
        "window_seconds": skill.policy.misfire_window.as_secs(),
        "preflight": skill.policy.preflight.is_some(),
    });
    let next_at = match (&timing.schedule, every) {
        (Some(cron), _) => {
            let cron = deft_schedule::Cron::parse(cron).unwrap();
            let zone = TimeZone::UTC;
            deft_schedule::Schedule::Cron { cron, zone }.next_after(now)
        }
        (None, Some(minutes)) => Some(now + SignedDuration::from_mins(i64::from(minutes))),
        (None, None) => one_shot,
    };
    let content = record.to_string();
    NewSkill {
        text: SkillProperties {
            skill: skill.id.to_string(),
            agent_id: skill.policy.agent_id.clone(),
            name: skill.name.clone(),
            origin: SkillOrigin::Record,
            revision: format!("revision of {content}"),
            tier: skill.tier(),
            trigger: skill.trigger,
            timing: Some(timed.to_string()),
            required_tools: skill.required_tools.clone(),
        },
        content: Some(content),
        standing: SkillState::default(),
        timeline: SchedulePosition {
            anchor: every.map(|_| now),
            next_at,
        },
        replaces: None,
        at: now,
    }
}

fn at_text(text: &str) -> Timestamp {
    deft_schedule::parse_at(text, &TimeZone::UTC).unwrap()
}

/// Formats the row of a run: its slot or range of slots, the outcome and the reason.
fn line(run: &RunRow) -> String {
    let slot = run.slot.map_or_else(|| "by hand".to_owned(), clock);
    let stretch = match run.slot_until {
        Some(until) => format!("{slot} to {} ({})", clock(until), run.slot_count),
        None => slot,
    };
    let what = match (run.status, run.outcome) {
        (RunStatus::Done, Some(outcome)) => outcome.to_string(),
        (status, _) => status.to_string(),
    };
    let why = run.error.as_deref().map(|error| {
        let error: Value = serde_json::from_str(error).unwrap();
        format!(": {}", error["message"].as_str().unwrap())
    });
    format!("{stretch} {what}{}", why.unwrap_or_default())
}

pub(crate) fn standing(row: &SkillRow) -> String {
    let standing = &row.standing;
    let mut line = match standing.disabled {
        Some(why) => format!("off ({why})"),
        None => "on".to_owned(),
    };
    if standing.streak > 0 {
        line.push_str(&format!(", streak {}", standing.streak));
    }
    let instants = [
        ("backs off until", standing.backoff_until),
        ("next", row.timeline.next_at),
    ];
    for (what, instant) in instants {
        if let Some(instant) = instant {
            line.push_str(&format!(", {what} {}", clock(instant)));
        }
    }
    line
}
