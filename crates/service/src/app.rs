//! Builds the engine of a home from its store, its skills and its tools.
//!
//! Not here: what commands do with it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deft_compute::Compute;
use deft_engine::{Channel, Engine, Options, Parts, Skills, SystemClock};
use deft_llm::Models;
use deft_model::{Body, Skill};
use deft_registry::{Registry, Snapshot};
use deft_scheduler::Scheduler;
use deft_store::Store;
use deft_tools::HostZone;
use jiff::tz::TimeZone;
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::doorbell::{self, Ring};
use crate::health::Doctor;
use crate::kept_skills::{broken_warning, load_kept};
use crate::library::Library;
use crate::live_home::LiveHome;
use crate::lock::Lock;
use crate::sandbox::shared_socket_path;
pub use crate::sandbox::{WORKER, max_running, worker};
use crate::telemetry::{TraceExport, exports_traces};
use crate::threads::Threads;
use crate::workspace::Workspace;
use crate::{logging, router, runtime, seed, store};
use deft_channels::{self as channels, ShowLine};
use deft_config::{Config, Home, secrets};
use deft_wire::Done;

pub use crate::engine_failure::failure;

/// Runs this process as the sandbox until the parent process ends it.
pub fn worker_main() -> ExitCode {
    deft_compute::worker_main()
}

/// How long a finished command waits for its messages to be sent.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// The engine of a home, and the threads it runs on.
pub struct App {
    threads: Threads,
    /// The engine. Front ends use it only through the functions of this crate.
    pub(crate) engine: Engine,
    /// The zone that times are shown in.
    pub zone: TimeZone,
    home: PathBuf,
    compute: Compute,
    channel: Arc<dyn Channel>,
    /// Whether the home is open for reading only.
    reads: bool,
    /// Whether a background loop of this process renews its leases.
    keeps_leases: bool,
    /// Whether a scheduler is running in this process.
    pub(crate) schedules: Arc<AtomicBool>,
    pub(crate) traces: Mutex<Option<TraceExport>>,
}

/// The parts that must exist before an engine is built.
struct Start {
    threads: Threads,
    compute: Compute,
}

/// A background task that sends messages while a command runs.
pub struct BackgroundDelivery {
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl App {
    /// Returns the home that this process already has open. Closing the result leaves the home open.
    fn from_open(live: &LiveHome) -> Self {
        Self {
            threads: Threads::Shared(live.threads.clone()),
            engine: live.engine.clone(),
            zone: live.zone.clone(),
            home: live.home.clone(),
            compute: live.compute.clone(),
            channel: Arc::clone(&live.channel),
            reads: false,
            keeps_leases: true,
            schedules: Arc::clone(&live.schedules),
            traces: Mutex::new(None),
        }
    }

    /// Returns a handle to this home for requests inside this process, whose loops renew leases.
    pub(crate) fn live_home(&self, registry: &Arc<Registry>) -> LiveHome {
        LiveHome {
            threads: self.threads.handle().clone(),
            engine: self.engine.clone(),
            zone: self.zone.clone(),
            home: self.home.clone(),
            compute: self.compute.clone(),
            channel: Arc::clone(&self.channel),
            registry: Arc::clone(registry),
            schedules: Arc::clone(&self.schedules),
        }
    }

    fn is_shared(&self) -> bool {
        matches!(self.threads, Threads::Shared(_))
    }

    /// Opens the home with its skills, or with those of `--root`.
    pub fn open(workspace: &Workspace) -> Done<Self> {
        if let Some(live) = workspace.live() {
            return Ok(Self::from_open(live));
        }
        let home = workspace.home()?;
        let snapshot = workspace.load(&home)?;
        let app = Self::with(&home, Arc::new(snapshot), workspace.tell)?;
        app.keep_good_files(workspace);
        Ok(app)
    }

    /// Stores the current content of all valid skill files, so these skills stay in use after a broken edit.
    /// A failure is only logged: this command has its skills, and the next one stores them again.
    fn keep_good_files(&self, workspace: &Workspace) {
        if workspace.roots.is_empty()
            && let Err(error) =
                self.block_on_without_leases(self.engine.library().keep_good_files())
        {
            tracing::warn!(%error, "the last good versions of the skills could not be stored");
        }
    }

    /// If the file of `skill` is broken and its last good version is used, returns a warning. `None` covers
    /// all skills.
    pub fn broken_warning(&self, skill: Option<&str>) -> Option<String> {
        broken_warning(&self.engine.library().snapshot(), skill)
    }

    /// Like [`App::open`], for a command that runs `skill` at once: the sandbox for its compute blocks starts
    /// in parallel.
    pub fn open_for(skill: &str, workspace: &Workspace) -> Done<Self> {
        if let Some(live) = workspace.live() {
            return Ok(Self::from_open(live));
        }
        let home = workspace.home()?;
        let snapshot = workspace.load(&home)?;
        let blocks = snapshot.find(skill).map(|found| blocks(&found.skill));
        let start = Start {
            threads: Threads::Own(runtime::start()?),
            compute: Compute::with_borrowed_worker(
                worker(&home.config)?,
                shared_socket_path(&home.path),
            ),
        };
        if let Some(blocks) = blocks.filter(|blocks| !blocks.is_empty()) {
            let _inside = start.threads.handle().enter();
            start.compute.warm_for(blocks);
        }
        let store = store::open(&home)?;
        logging::start(&home.path, home.config.logs.limits);
        let app = Self::build_on(
            start,
            &home,
            Arc::new(Arc::new(snapshot)),
            store,
            Engine::new,
            workspace.tell,
        )?;
        app.keep_good_files(workspace);
        Ok(app)
    }

    /// Opens the home as `deft up` sees it, without `--root`: skills with a broken file keep their last good
    /// version.
    pub fn standing(workspace: &Workspace) -> Done<Self> {
        if let Some(live) = workspace.live() {
            return Ok(Self::from_open(live));
        }
        let home = workspace.home()?;
        let snapshot = load_kept(&home, &Library::of_home(&home));
        Self::with(&home, Arc::new(snapshot), workspace.tell)
    }

    /// Opens the home without loading skills, for commands that need none.
    pub fn without_skills(workspace: &Workspace) -> Done<Self> {
        if let Some(live) = workspace.live() {
            return Ok(Self::from_open(live));
        }
        let home = workspace.home()?;
        Self::with(&home, no_skills(&home), workspace.tell)
    }

    /// Opens the home for commands that only read the store. Nothing is written: the home may be read-only or
    /// missing.
    pub fn to_read(workspace: &Workspace) -> Done<Self> {
        if let Some(live) = workspace.live() {
            return Ok(Self::from_open(live));
        }
        let home = workspace.home_to_read()?;
        let store = store::read(&home)?;
        let skills = Arc::new(no_skills(&home));
        let app = Self::build(&home, skills, store, Engine::to_read, workspace.tell)?;
        Ok(Self { reads: true, ..app })
    }

    /// Opens the home for a daemon: skills are reloaded when their files change, and times in them are read
    /// in `zone`.
    pub fn live(home: &Home, zone: &HostZone, tell: ShowLine) -> Done<(Self, Arc<Registry>)> {
        let registry = follow_files(home, zone);
        let app = Self::assemble(home, registry.clone(), tell)?;
        let app = Self {
            keeps_leases: true,
            ..app
        };
        Ok((app, registry))
    }

    /// Opens the home for a long-running server, with or without a daemon beside it: skills are reloaded when
    /// their files change.
    pub fn open_following(workspace: &Workspace) -> Done<Self> {
        let home = workspace.home()?;
        let registry = follow_files(&home, &HostZone::new(home.moment().zone));
        let app = Self::assemble(&home, registry, workspace.tell)?;
        app.keep_good_files(workspace);
        Ok(app)
    }

    fn with(home: &Home, skills: Arc<Snapshot>, tell: ShowLine) -> Done<Self> {
        Self::assemble(home, Arc::new(skills), tell)
    }

    fn assemble(home: &Home, skills: Arc<dyn Skills>, tell: ShowLine) -> Done<Self> {
        let store = store::open(home)?;
        logging::start(&home.path, home.config.logs.limits);
        Self::build(home, skills, store, Engine::new, tell)
    }

    fn build(
        home: &Home,
        skills: Arc<dyn Skills>,
        store: Arc<dyn Store>,
        engine: fn(Parts, Options) -> Result<Engine, deft_engine::Error>,
        tell: ShowLine,
    ) -> Done<Self> {
        let start = Start {
            threads: Threads::Own(runtime::start()?),
            compute: Compute::new(worker(&home.config)?),
        };
        Self::build_on(start, home, skills, store, engine, tell)
    }

    fn build_on(
        start: Start,
        home: &Home,
        skills: Arc<dyn Skills>,
        store: Arc<dyn Store>,
        engine: fn(Parts, Options) -> Result<Engine, deft_engine::Error>,
        tell: ShowLine,
    ) -> Done<Self> {
        let Start { threads, compute } = start;
        let router = threads.block_on(router::of_home(home, Some(&store), tell))?;
        let zone = home.moment().zone;
        let channel = channels::open(home, &router, tell);
        let parts = Parts {
            models: models(&home.config),
            store,
            skills,
            router,
            compute: compute.clone(),
            clock: Arc::new(SystemClock),
            secrets: secrets::source(&home.config),
        };
        let engine = engine(parts, options(home, &zone)).map_err(|error| failure(&error))?;
        engine.register_tools();
        let traces = TraceExport::start(&home.config, &home.path, &engine, threads.handle());
        Ok(Self {
            threads,
            engine,
            zone,
            home: home.path.clone(),
            compute,
            channel,
            reads: false,
            keeps_leases: false,
            schedules: Arc::default(),
            traces: Mutex::new(traces),
        })
    }

    /// Runs `work` to completion and renews the leases of this process meanwhile.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        if self.keeps_leases {
            return self.threads.block_on(work);
        }
        let engine = self.engine.clone();
        let leases = self
            .threads
            .spawn(async move { engine.keep_leases().await });
        let result = self.threads.block_on(work);
        leases.abort();
        result
    }

    /// Runs `work` to completion. Leases are renewed only if `work` does that itself.
    pub fn block_on_without_leases<T>(&self, work: impl Future<Output = T>) -> T {
        self.threads.block_on(work)
    }

    /// Returns the scheduler of this engine. Its health reports use the checks of `deft doctor`.
    pub fn scheduler(&self) -> Scheduler {
        Scheduler::new(&self.engine).with_checks(Arc::new(Doctor::new(&self.home)))
    }

    /// The folder of the home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Lends the sandbox of this process to commands that run beside it.
    pub fn lend_sandbox(&self) -> impl Future<Output = ()> + Send + 'static {
        let (compute, place) = (self.compute.clone(), shared_socket_path(&self.home));
        async move {
            if let Err(error) = compute.lend(&place).await {
                tracing::warn!(%error, "the sandbox cannot be shared; commands start their own");
            }
        }
    }

    /// Sends pending messages, unless a daemon is running: it does that.
    fn deliver_pending(&self) {
        if self.reads || Lock::holder(&self.home).is_some() {
            return;
        }
        let sent = self.threads.block_on(async {
            // Look first: that is only a read, while taking messages is a write.
            if self.engine.store().next_notice().await?.is_none() {
                return Ok(0);
            }
            let sending = self.engine.outbox().deliver_due(&self.channel);
            tokio::time::timeout(DELIVERY_TIMEOUT, sending)
                .await
                .unwrap_or(Ok(0))
        });
        if let Err(error) = sent {
            tracing::warn!(%error, "notices were not sent");
        }
    }

    /// Starts to send messages in the background while a long command runs, unless a daemon is running: it
    /// does that.
    pub fn start_delivery(&self) -> BackgroundDelivery {
        let stop = CancellationToken::new();
        let (engine, channel) = (self.engine.clone(), Arc::clone(&self.channel));
        let stopped = stop.clone();
        let task = Lock::holder(&self.home).is_none().then(|| {
            self.threads.spawn(async move {
                if let Err(error) = engine.outbox().deliver_until(&channel, &stopped).await {
                    tracing::warn!(%error, "notices were not sent");
                }
            })
        });
        BackgroundDelivery { stop, task }
    }

    /// Stops background delivery; messages in flight are sent first.
    pub fn stop_delivery(&self, delivery: BackgroundDelivery) {
        delivery.stop.cancel();
        if let Some(task) = delivery.task {
            let ended = async { tokio::time::timeout(DELIVERY_TIMEOUT, task).await };
            // Messages that have not arrived by then are retried later.
            drop(self.threads.block_on(ended));
        }
    }

    /// Closes the home: sends pending messages, rings the daemon's doorbell, exports traces and stops the
    /// servers. A home shared with a daemon in this process stays open; only its bell is rung.
    pub fn close(self) {
        self.end();
    }

    /// Like [`App::close`], when others still hold the app: their work ends with this process.
    pub(crate) fn end(&self) {
        if self.is_shared() {
            return self.engine.ring();
        }
        self.deliver_pending();
        doorbell::ring(&self.home, Ring::Work);
        self.export_traces();
        self.threads.block_on(self.engine.router().shutdown());
    }

    /// Exports pending traces, for a limited time.
    fn export_traces(&self) {
        let traces = self.traces.lock().take();
        if let Some(traces) = traces {
            self.threads.block_on(traces.close());
        }
    }

    /// Like [`App::close`], but stops waiting for slow servers once `interrupt` is ready: they are killed
    /// with this process.
    pub fn close_or_interrupt(self, interrupt: impl Future) {
        if self.is_shared() {
            return self.engine.ring();
        }
        self.deliver_pending();
        doorbell::ring(&self.home, Ring::Work);
        self.export_traces();
        let router = self.engine.router();
        self.threads.block_on(async {
            tokio::select! {
                () = router.shutdown() => {}
                _ = interrupt => {}
            }
        });
    }

    /// Ends at once and leaves running runs as a crash would: the next start resumes them. Servers end with
    /// this process.
    pub fn abandon(self) {
        self.export_traces();
        self.threads.abandon();
    }
}

/// Loads the skills of `home` and reloads them when their files change. Times in them are read in `zone`.
fn follow_files(home: &Home, zone: &HostZone) -> Arc<Registry> {
    let library = Library::of_home(home);
    let zone = zone.clone();
    let clock = move || deft_skillfile::Moment {
        now: jiff::Timestamp::now(),
        zone: zone.get(),
    };
    let first = load_kept(home, &library);
    Arc::new(Registry::follow(first, library.options, clock))
}

/// Returns the code of the compute blocks of `skill`.
fn blocks(skill: &Skill) -> Vec<&str> {
    let Body::Steps(workflow) = &skill.body else {
        return Vec::new();
    };
    let steps = workflow.steps.iter();
    steps.filter_map(|step| step.kind.code()).collect()
}

fn no_skills(home: &Home) -> Arc<Snapshot> {
    let nothing = deft_registry::Options::new(Vec::<PathBuf>::new());
    Arc::new(Snapshot::load(&nothing, &home.moment()))
}

fn options(home: &Home, zone: &TimeZone) -> Options {
    let mut options = Options::for_home(&home.path);
    options.zone = deft_schedule::zone_name(zone);
    options.zone_doubt = home.zone_doubt();
    options.workspace_uri = std::env::current_dir()
        .map(|folder| format!("file://{}", folder.display()))
        .unwrap_or_default();
    options.sessions_max_age = Some(home.config.logs.sessions);
    home.config.engine.apply(&mut options);
    options.traces = exports_traces(&home.config.telemetry);
    // Next to the database: homes that share one must see each other's owners.
    if let Some(folder) = home.config.store.path.parent() {
        options.owners = folder.join("owners");
    }
    options.protected.extend(home.roots());
    options.waiting_defaults = seed::waiting_defaults();
    options.notify_minutes = home.config.notify.least_minutes();
    options.agent = home.config.agent.clone();
    options.channel_tool = channels::kind(&home.config).tool().map(str::to_owned);
    options
}

/// Builds the configured models. An incomplete model is included and fails when it is asked.
pub fn models(config: &Config) -> Models {
    let secrets = secrets::Secrets::new(config);
    let all = config.models.iter();
    Models::from_settings(all.map(|config| {
        let options = config.options(&secrets);
        options.map_err(|failure| (config.name.clone(), failure))
    }))
}
