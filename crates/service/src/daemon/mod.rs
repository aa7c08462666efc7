//! The daemon of a home: runs schedules, queued jobs and the bot in one process, and reacts to changes.
//!
//! This file starts and stops the parts. Not here: signals and output, which belong to the front end that
//! starts the daemon.

mod checks;
mod follow;
#[cfg(target_os = "linux")]
mod footprint;
mod hello;
mod open_files;
mod systemd;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use deft_channels::{self as channels, LiveChannel, ShowLine};
pub use deft_config::ServerConfig;
use deft_config::{Home, LogLimits};
use deft_engine::{Engine, RecordTool};
use deft_model::Trigger;
use deft_registry::{Registry, State};
use deft_scheduler::Pool;
use deft_store::SkillFilter;
use deft_tools::HostZone;
use deft_wire::listener::ListenerState;
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::app::{self, App};
use crate::doorbell::{self, Ring};
use crate::lock::Lock;
use crate::runs::Runner;
use crate::telemetry::{Metrics, TraceExport};
use crate::words::format_count;
use crate::workspace::Workspace;
use crate::{listener, store, talk, telegram};

/// Whether `tool` plans work for later, which only a daemon carries out.
pub fn plans(tool: &str) -> bool {
    RecordTool::from_name(tool).is_some_and(RecordTool::schedules)
}

/// A daemon that is ready to run. It holds the lock of its home.
pub struct Daemon {
    home: Home,
    app: Arc<App>,
    registry: Arc<Registry>,
    /// The zone in which skill files are read.
    zone: HostZone,
    tell: ShowLine,
    lock: Lock,
    open_files: usize,
}

/// The state of a daemon that has started.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Number of enabled skills with a schedule.
    pub scheduled: u64,
    /// When the next skill fires.
    pub next: Option<Timestamp>,
    /// The zone that times are shown in.
    pub zone: TimeZone,
    /// Whether this is the first start of a daemon in this home.
    pub is_first_start: bool,
    /// The API over HTTP, if it is served.
    pub api: Option<ListenerState>,
}

/// Everything that a server inside the daemon needs.
pub struct Host {
    /// The engine of the daemon.
    pub app: Arc<App>,
    /// The home.
    pub workspace: Workspace,
    /// Starts runs.
    pub runner: Runner,
    /// The configuration of the server.
    pub config: ServerConfig,
    /// The limits of its log.
    pub log_limits: LogLimits,
    /// The metrics of the daemon.
    pub metrics: Arc<Metrics>,
    /// Whether `/metrics` needs no token on a loopback address.
    pub open_metrics: bool,
    /// The number of files that this process may open.
    pub open_files: usize,
    /// Cancelled when the daemon begins to stop: no new work may begin.
    pub stop: CancellationToken,
    /// Cancelled when all work has ended. Until then clients are told that the daemon is stopping.
    pub drained: CancellationToken,
}

/// A server inside the daemon.
#[derive(Default)]
pub struct ServerHandle {
    /// Its address, or why it does not listen; `None` if it is disabled.
    pub state: Option<ListenerState>,
    /// Its task, which ends soon after `drained` is cancelled.
    pub task: Option<JoinHandle<()>>,
}

/// How the work of a daemon ended.
struct DaemonEnd {
    result: Done<()>,
    /// Whether runs are left for the next start to resume.
    unfinished: bool,
}

/// The tasks of a running daemon.
struct Tasks {
    serving: JoinHandle<Result<(), deft_engine::Error>>,
    followers: JoinSet<()>,
    pool: Pool,
    runner: Runner,
    server_task: Option<JoinHandle<()>>,
    metrics: Option<JoinHandle<()>>,
    stop: CancellationToken,
    drained: CancellationToken,
}

/// How long requests in flight may take after the runs have ended.
const LAST_REQUESTS: Duration = Duration::from_secs(3);

impl Daemon {
    /// Opens a home for a daemon; the caller holds its lock and has seeded it.
    pub fn open(home: Home, lock: Lock, tell: ShowLine) -> Done<Self> {
        let zone = HostZone::new(home.moment().zone);
        let (app, registry) = App::live(&home, &zone, tell)?;
        Ok(Self {
            home,
            app: Arc::new(app),
            registry,
            zone,
            tell,
            lock,
            open_files: open_files::raise(),
        })
    }

    /// The folder of the home.
    pub fn home(&self) -> PathBuf {
        self.home.path.clone()
    }

    /// Runs until the future returned by `until` completes, then gives running tasks `grace` to end. `until`
    /// is called first, so a signal during startup is not lost. `server` starts a server inside the daemon.
    /// `ready` is called once everything is running.
    pub fn run<T, F: Future<Output = T>>(
        self,
        grace: Duration,
        until: impl FnOnce() -> Done<F>,
        server: impl FnOnce(Host) -> ServerHandle,
        ready: impl FnOnce(&Ready),
    ) -> Done<T> {
        let result = self
            .app
            .block_on_without_leases(self.serve(grace, until, server, ready));
        listener::clear(&self.home.path);
        let unfinished = matches!(&result, Ok((_, ending)) if ending.unfinished);
        match Arc::try_unwrap(self.app) {
            // Stopping the servers would fail the calls of runs that the next start resumes.
            Ok(app) if unfinished => app.abandon(),
            Ok(app) => app.close(),
            // A request is still in flight. It ends with this process, which does not wait for it.
            Err(app) => {
                if !unfinished {
                    app.end();
                }
                std::mem::forget(app);
            }
        }
        drop(self.lock);
        let (value, ending) = result?;
        ending.result?;
        value.ok_or_else(|| Failure::internal("engine", "the engine stopped unexpectedly"))
    }

    async fn serve<T, F: Future<Output = T>>(
        &self,
        grace: Duration,
        until: impl FnOnce() -> Done<F>,
        server: impl FnOnce(Host) -> ServerHandle,
        ready: impl FnOnce(&Ready),
    ) -> Done<(Option<T>, DaemonEnd)> {
        let until = until()?;
        let (mut tasks, is_first_start) = self.start(grace).await?;
        let traces = self.app.traces.lock().as_ref().map(TraceExport::reader);
        let metrics = Metrics::start(&self.app.engine, traces);
        let metrics = metrics.await?;
        let exported = Arc::clone(&metrics).export(self.home.config.clone(), tasks.stop.clone());
        tasks.metrics = Some(tokio::spawn(exported));
        let server_task = server(self.host(metrics, &tasks));
        // A daemon that was killed may have left its listener note.
        listener::clear(&self.home.path);
        if let Some(state) = &server_task.state
            && let Err(failure) = listener::note(&self.home.path, state)
        {
            tracing::warn!(hint = failure.hint, "{}", failure.message);
        }
        tasks.server_task = server_task.task;
        ready(&self.ready(is_first_start, server_task.state).await?);
        systemd::tell("READY=1");
        let value = tokio::select! {
            value = until => value,
            // The engine returns without being stopped only if it cannot continue.
            ended = &mut tasks.serving => return Ok((None, log_broken_engine(ended))),
        };
        systemd::tell("STOPPING=1");
        tracing::info!(
            "shutting down; waiting up to {} s for running tasks",
            grace.as_secs()
        );
        let unfinished = tasks.stop().await;
        tracing::info!("stopped");
        let ending = DaemonEnd {
            result: Ok(()),
            unfinished,
        };
        Ok((Some(value), ending))
    }

    async fn start(&self, grace: Duration) -> Done<(Tasks, bool)> {
        let engine = &self.app.engine;
        let stop = CancellationToken::new();
        let pool = Pool::new(app::max_running(&self.home.config));
        let synced = engine.library().sync_files().await;
        synced.map_err(|error| app::failure(&error))?;
        // The zone may have changed while no daemon was running.
        let followed = engine.library().follow_zone().await;
        follow::report_zone(
            followed.map_err(|error| app::failure(&error))?,
            &self.zone.get(),
        );
        let is_first_start = hello::store_hello(&self.home, engine).await?;
        let channel = LiveChannel::open(&self.home, engine.router(), self.tell);
        let scheduler = self.app.scheduler();
        let runner = Runner::new(scheduler.clone(), pool.clone());
        let serving = tokio::spawn({
            let (pool, stop) = (pool.clone(), stop.clone());
            let channel = channel.clone();
            let is_scheduling = Arc::clone(&self.app.schedules);
            async move {
                is_scheduling.store(true, Ordering::Relaxed);
                let result = scheduler.serve(&pool, channel, stop, grace).await;
                is_scheduling.store(false, Ordering::Relaxed);
                result
            }
        });
        warn(&self.registry, &self.home);
        let bot = telegram::Bot {
            talk: talk::host(&self.app),
            store: Arc::clone(engine.store()),
            pace: telegram::Pace::default(),
        };
        let parts = follow::Parts {
            engine,
            registry: &self.registry,
            home: &self.home,
            zone: &self.zone,
        };
        let mut followers = follow::start(&parts, channel, bot, &stop);
        followers.spawn(self.app.lend_sandbox());
        followers.spawn(hello::retire_hello(engine.clone()));
        #[cfg(target_os = "linux")]
        followers.spawn(footprint::keep_small(engine.clone()));
        let tasks = Tasks {
            serving,
            followers,
            pool,
            runner,
            server_task: None,
            metrics: None,
            stop,
            drained: CancellationToken::new(),
        };
        Ok((tasks, is_first_start))
    }

    fn host(&self, metrics: Arc<Metrics>, tasks: &Tasks) -> Host {
        Host {
            app: Arc::clone(&self.app),
            workspace: Workspace {
                home: Some(self.home.path.clone()),
                roots: Vec::new(),
                tell: |_| {},
                quiet: true,
                live: Some(self.app.live_home(&self.registry)),
            },
            config: self.home.config.server.clone(),
            log_limits: self.home.config.logs.limits,
            metrics,
            open_metrics: self.home.config.telemetry.open_metrics,
            open_files: self.open_files,
            stop: tasks.stop.clone(),
            drained: tasks.drained.clone(),
            runner: tasks.runner.clone(),
        }
    }

    async fn ready(&self, is_first_start: bool, api: Option<ListenerState>) -> Done<Ready> {
        let store = self.app.engine.store();
        let scheduled = SkillFilter {
            enabled: Some(true),
            trigger: Some(Trigger::Cron),
            ..SkillFilter::default()
        };
        let scheduled = store.count_skills(scheduled).await;
        let next = store.next_due().await;
        Ok(Ready {
            scheduled: scheduled.map_err(|error| store::failure(&error))?,
            next: next.map_err(|error| store::failure(&error))?,
            zone: self.app.zone.clone(),
            is_first_start,
            api,
        })
    }
}

impl Tasks {
    /// Stops everything. Returns whether some runs did not end in time.
    async fn stop(mut self) -> bool {
        self.stop.cancel();
        let work = async {
            drop(self.serving.await);
            self.drained.cancel();
            if let Some(server_task) = self.server_task {
                // Requests that take longer end with this process.
                drop(tokio::time::timeout(LAST_REQUESTS, server_task).await);
            }
        };
        let metrics = async {
            if let Some(metrics) = self.metrics {
                drop(tokio::time::timeout(LAST_REQUESTS, metrics).await);
            }
        };
        tokio::join!(work, metrics);
        self.followers.abort_all();
        tokio::time::timeout(Duration::ZERO, self.pool.idle())
            .await
            .is_err()
    }
}

/// Logs and returns why the engine stopped unexpectedly. The front end prints the failure.
fn log_broken_engine(ended: Result<Result<(), deft_engine::Error>, JoinError>) -> DaemonEnd {
    let failure = match ended {
        Ok(Err(error)) => app::failure(&error),
        Ok(Ok(())) => Failure::internal("engine", "the engine stopped unexpectedly"),
        Err(problem) => Failure::internal("engine", format!("the engine failed: {problem}")),
    };
    tracing::error!(hint = failure.hint, "{}; deft stops", failure.message);
    DaemonEnd {
        result: Err(failure),
        // Runs cannot be recorded any more and must not continue.
        unfinished: true,
    }
}

/// Logs broken and hidden skill files and problems of the channel at startup.
fn warn(registry: &Registry, home: &Home) {
    let mut hidden = 0;
    for file in registry.snapshot().files() {
        let path = file.path.display();
        match &file.state {
            State::Broken { kept } => {
                let why = file.diagnostics.first();
                let why = why.map_or("it cannot be read", |one| one.message.as_str());
                match kept {
                    Some(id) => tracing::warn!(
                        %path, why, "a skill file is broken; `{id}` uses its last good revision"
                    ),
                    None => {
                        tracing::warn!(%path, why, "a skill file is broken; its skill does not run");
                    }
                }
            }
            State::Shadowed { .. } => hidden += 1,
            State::Loaded(_) | State::Index(_) | State::Agent(_) | State::Ignored => {}
        }
    }
    if hidden > 0 {
        let files = format_count(hidden, "skill file");
        let hint = "`deft skills doctor` lists them";
        tracing::warn!(hint, "{files} hidden by files with the same skill name");
    }
    if let Some((problem, hint)) = channels::problem(&home.config) {
        tracing::warn!(hint, "{problem}");
    }
}

/// Listens to the doorbell of the home.
async fn answer_door(engine: Engine, home: PathBuf, settings: Arc<Notify>) {
    doorbell::listen(&home, |ring| match ring {
        Ring::Work => engine.ring(),
        Ring::Settings => settings.notify_one(),
        Ring::Tools => {
            let router = engine.router().clone();
            // A server that does not answer is reported when it is used.
            tokio::spawn(async move { drop(router.relist().await) });
        }
    })
    .await;
}
