//! An engine over a file with many records, a tool that reports when it was called, and a daemon.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deft_compute::{Compute, Limits};
use deft_engine::{
    Channel, Delivery, DeliveryResult, Engine, Options, Parts, PublishedEvent, SystemClock,
};
use deft_model::{Effects, RunStatus};
use deft_registry::Snapshot;
use deft_scheduler::{Pool, Scheduler};
use deft_skillfile::{Moment, parse_record};
use deft_store::{
    NewSkill, RunFilter, SchedulePosition, SkillChange, SkillFilter, SkillOrigin, SkillProperties,
    SkillRow, SkillState, Sqlite, SqliteOptions, Store,
};
use deft_testkit::{Kind, Script, server_binary, witness};
use deft_tools::{Definition, Environment, Router, Secret, SecretSource, ServerOptions};
use deft_workflow::Event;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, broadcast};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

struct NoSecrets;

impl SecretSource for NoSecrets {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Err("none".to_owned())
    }
}

struct Ears;

impl Channel for Ears {
    fn deliver<'a>(
        &'a self,
        _: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(async { Ok("heard".to_owned()) })
    }
}

/// A home with a store, an engine over it, and the calls that were made.
pub(crate) struct World {
    home: TempDir,
    tool: String,
    misfire: String,
    said: UnboundedSender<Timestamp>,
    calls: Mutex<UnboundedReceiver<Timestamp>>,
    parts: Option<(Arc<dyn Store>, Engine)>,
}

/// No slot is due within this time unless a benchmark asks for one.
const HOUR: SignedDuration = SignedDuration::from_hours(1);

impl World {
    pub(crate) fn new(count: usize, tool: &str) -> Self {
        Self::with(count, tool, "once")
    }

    /// Returns a world whose file has `count` records.
    pub(crate) fn with(count: usize, tool: &str, misfire: &str) -> Self {
        let (said, calls) = unbounded_channel();
        let mut world = Self {
            home: tempfile::tempdir().unwrap(),
            tool: tool.to_owned(),
            misfire: misfire.to_owned(),
            said,
            calls: Mutex::new(calls),
            parts: None,
        };
        world.open();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        for begin in (0..count).step_by(10_000) {
            let new = world.new_skills(begin..count.min(begin + 10_000));
            runtime.block_on(world.store().put_skills(new)).unwrap();
        }
        world
    }

    /// Writes timed skill files into the home, for the next time it is opened.
    pub(crate) fn write_files(&self, count: usize) {
        let folder = self.home.path().join("skills");
        std::fs::create_dir_all(&folder).unwrap();
        for n in 0..count {
            let text = format!(
                "name: file-{n}\ndescription: Fires\nschedule: \"0 9 * * *\"\n\
                 steps:\n  - {{id: one, tool: act}}\n"
            );
            std::fs::write(folder.join(format!("file-{n}.yaml")), text).unwrap();
        }
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.parts.as_ref().unwrap().0
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.parts.as_ref().unwrap().1
    }

    /// Closes the file like a process that ends.
    pub(crate) fn close(&mut self) {
        self.parts = None;
    }

    pub(crate) fn open(&mut self) {
        let home = self.home.path();
        let path = home.join("bench.db");
        let store: Arc<dyn Store> =
            Arc::new(Sqlite::open(&path, &SqliteOptions::default()).unwrap());
        let moment = Moment {
            now: Timestamp::now(),
            zone: TimeZone::UTC,
        };
        let roots = deft_registry::Options::new(vec![home.join("skills")]);
        let parts = Parts {
            models: deft_llm::Models::default(),
            store: Arc::clone(&store),
            skills: Arc::new(Arc::new(Snapshot::load(&roots, &moment))),
            router: self.router(home),
            compute: Compute::new(deft_compute::Options {
                program: "false".into(),
                args: Vec::new(),
                limits: Limits::default(),
            }),
            clock: Arc::new(SystemClock),
            secrets: Arc::new(NoSecrets),
        };
        let mut options = Options::for_home(home);
        options.sessions = None;
        self.parts = Some((store, Engine::new(parts, options).unwrap()));
    }

    fn router(&self, home: &Path) -> Router {
        let mut options = deft_tools::Options::default();
        if self.tool == "served" {
            let script = Script::new().tool("served", json!({"text": "done"}));
            let server = ServerOptions {
                command: Some(server_binary().display().to_string()),
                args: script.write(home, "server").list(),
                ..ServerOptions::default()
            };
            options.servers = BTreeMap::from([("server".to_owned(), server)]);
        }
        let router = Router::new(options, Environment::default());
        let said = self.said.clone();
        let schema = json!({ "type": "object" });
        router.register_fn(
            Definition::new("act", "says when it is called", Effects::Once, schema),
            move |_, _| {
                said.send(Timestamp::now()).unwrap();
                async { Ok(json!("done")) }
            },
        );
        router
    }

    /// Returns records as an assistant would store them, each parsed once.
    pub(crate) fn new_skills(&self, which: std::ops::Range<usize>) -> Vec<NewSkill> {
        let now = Timestamp::now();
        let moment = Moment {
            now,
            zone: TimeZone::UTC,
        };
        let one = |n: usize| {
            let record = json!({
                "name": format!("Skill {n}"),
                "trigger_type": "cron",
                "trigger_config": {"interval_minutes": 60},
                "instructions": "Call the tool.",
                "notify_on_completion": false,
                "misfire": self.misfire,
                "execution_plan": [{"id": "only", "toolName": self.tool, "parameters": {"n": n}}],
            });
            assert!(parse_record(&record, &moment).document.is_some());
            let timing = json!({
                "every_minutes": 60, "misfire": self.misfire, "window_seconds": 86400,
            });
            NewSkill {
                text: SkillProperties {
                    skill: format!("skill-{n}"),
                    agent_id: "thinker".to_owned(),
                    name: format!("Skill {n}"),
                    origin: SkillOrigin::Record,
                    // As long as a hash.
                    revision: format!("{n:064}"),
                    tier: deft_model::Tier::Direct,
                    trigger: deft_model::Trigger::Cron,
                    timing: Some(timing.to_string()),
                    required_tools: Vec::new(),
                },
                content: Some(record.to_string()),
                standing: SkillState::default(),
                timeline: SchedulePosition {
                    anchor: Some(now),
                    next_at: Some(now + HOUR),
                },
                replaces: None,
                at: now,
            }
        };
        which.map(one).collect()
    }

    /// Returns the first records.
    pub(crate) async fn rows(&self, count: usize) -> Vec<SkillRow> {
        let filter = SkillFilter {
            limit: Some(u32::try_from(count).unwrap()),
            ..SkillFilter::default()
        };
        self.store().skills(filter).await.unwrap()
    }

    /// Sets the next slot of records.
    pub(crate) async fn plan(&self, rows: &[SkillRow], slot: Timestamp) {
        let changes = rows.iter().map(|row| async {
            loop {
                let row = self.store().skill_by_id(row.id).await.unwrap().unwrap();
                let change = SkillChange {
                    standing: row.standing,
                    timeline: Some(SchedulePosition {
                        anchor: Some(slot),
                        next_at: Some(slot),
                    }),
                    at: Timestamp::now(),
                };
                let changed = self.store().change_skill(row.id, row.version, change);
                if changed.await.unwrap().is_some() {
                    return;
                }
            }
        });
        futures_util::future::join_all(changes).await;
    }

    /// Returns how long after the slot each of `count` calls was made. Calls carry their own time, because
    /// waking a task for each would be part of the measurement.
    pub(crate) async fn calls(&self, count: usize, slot: Timestamp) -> Vec<Duration> {
        let mut calls = self.calls.lock().await;
        let mut times = Vec::with_capacity(count);
        while times.len() < count {
            match calls.try_recv() {
                Ok(at) => times.push(Duration::try_from(at.duration_since(slot)).unwrap()),
                Err(_) => tokio::time::sleep(Duration::from_millis(2)).await,
            }
        }
        times
    }

    /// Waits until a run has ended.
    pub(crate) async fn ended(live: &mut broadcast::Receiver<Arc<PublishedEvent>>) {
        while !matches!(live.recv().await.unwrap().event, Event::Finished(_)) {}
    }

    /// Like [`Self::calls`], from the log of the server.
    pub(crate) async fn served(&self) -> Vec<Duration> {
        let mut slots = BTreeMap::new();
        for run in self.store().runs(RunFilter::default()).await.unwrap() {
            slots.insert(run.id.to_string(), run.slot.unwrap());
        }
        let log = self.home.path().join("server.log");
        let started = witness(&log).into_iter();
        let started = started.filter(|event| event.kind == Kind::Started);
        let late = started.map(|event| {
            let key = event.key.unwrap();
            let slot = slots[key.split('/').next().unwrap()].as_microsecond();
            Duration::from_micros(event.at - u64::try_from(slot).unwrap())
        });
        late.collect()
    }

    /// Waits until every run has ended.
    pub(crate) async fn quiet(&self) {
        let active = RunFilter {
            statuses: vec![RunStatus::Queued, RunStatus::Running, RunStatus::Waiting],
            limit: Some(1),
            ..RunFilter::default()
        };
        while !self.store().runs(active.clone()).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until no slot is due, and returns the number of rows.
    pub(crate) async fn count_decided(&self) -> usize {
        while self
            .store()
            .next_due()
            .await
            .unwrap()
            .is_some_and(|next| next <= Timestamp::now())
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.store().runs(RunFilter::default()).await.unwrap().len()
    }
}

/// A daemon in this process.
pub(crate) struct Daemon {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Daemon {
    pub(crate) fn start(world: &World, places: usize) -> Self {
        let stop = CancellationToken::new();
        let (engine, until) = (world.engine().clone(), stop.clone());
        let task = tokio::spawn(async move {
            let (pool, grace) = (Pool::new(places), Duration::from_secs(5));
            Scheduler::new(&engine)
                .serve(&pool, Arc::new(Ears), until, grace)
                .await
                .unwrap();
        });
        Self { stop, task }
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

pub(crate) fn percentile(times: &mut [Duration], part: f64) -> f64 {
    times.sort();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index"
    )]
    let at = ((times.len() - 1) as f64 * part) as usize;
    times[at].as_secs_f64() * 1000.0
}

/// Returns the CPU time of all threads of this process.
pub(crate) fn cpu() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let own = threads.filter_map(|thread| {
        let stat = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(own.sum())
}

/// Returns the memory of this process in MB, with shared pages counted proportionally.
pub(crate) fn pss() -> f64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("Pss:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kb.unwrap_or_default() / 1024.0
}
