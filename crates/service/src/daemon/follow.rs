//! Tasks of the daemon that react to changes of skill files and the configuration, and to the doorbell.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use deft_engine::Engine;
use deft_registry::Registry;
use deft_tools::HostZone;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::checks::ToolChecks;
use crate::app;
use crate::telegram::{self, Bot};
use crate::words::format_count;
use deft_channels::LiveChannel;
use deft_config::Config;
use deft_config::{Home, config_file, host_zone};
use jiff::tz::TimeZone;

/// How often the configuration file is checked for changes.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Delay before servers that failed to list their tools are asked again.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// The parts of a daemon that react to changes.
pub(super) struct Parts<'a> {
    pub(super) engine: &'a Engine,
    pub(super) registry: &'a Arc<Registry>,
    pub(super) home: &'a Home,
    /// The zone in which skill files are read.
    pub(super) zone: &'a HostZone,
}

/// Starts all these tasks.
pub(super) fn start(
    parts: &Parts<'_>,
    channel: Arc<LiveChannel>,
    bot: Bot,
    stop: &CancellationToken,
) -> JoinSet<()> {
    let Parts {
        engine,
        registry,
        home,
        zone,
    } = *parts;
    let mut tasks = JoinSet::new();
    let look = Arc::new(Notify::new());
    let (settings, receiver) = watch::channel(telegram::Settings::from_config(&home.config));
    tasks.spawn(bot.serve(receiver, stop.clone()));
    tasks.spawn(super::answer_door(
        engine.clone(),
        home.path.clone(),
        Arc::clone(&look),
    ));
    let changed = Arc::new(Notify::new());
    let checks = Arc::new(ToolChecks::default());
    tasks.spawn(ask_servers(
        engine.clone(),
        Arc::clone(&channel),
        Arc::clone(&changed),
        Arc::clone(&checks),
    ));
    let follower = Follower {
        engine: engine.clone(),
        config: config_file(&home.path),
        channel,
        bot: settings,
        changed,
        look,
        zone: zone.clone(),
    };
    tasks.spawn(follower.follow_config());
    follow_files(engine.clone(), registry, checks, stop.clone());
    tasks
}

/// Updates the schedules when skill files change. Runs on a thread of its own, because it blocks while it
/// waits for the registry.
fn follow_files(
    engine: Engine,
    registry: &Arc<Registry>,
    checks: Arc<ToolChecks>,
    stop: CancellationToken,
) {
    let changes = registry.subscribe();
    let runtime = tokio::runtime::Handle::current();
    let listen = move || {
        while changes.recv().is_ok() {
            if stop.is_cancelled() {
                return;
            }
            // Handle all changes that have arrived so far together.
            while changes.try_recv().is_ok() {}
            match runtime.block_on(engine.library().sync_files()) {
                Ok(synced) => tracing::debug!(?synced, "schedules updated from skill files"),
                Err(error) => tracing::error!(%error, "cannot update schedules from skill files"),
            }
            checks.run(&engine);
        }
    };
    let thread = std::thread::Builder::new().name("deft-follow".to_owned());
    if let Err(error) = thread.spawn(listen) {
        tracing::error!(%error, "changes to skill files will not update schedules until deft restarts");
    }
}

/// The modification time and size of a file; `None` if it cannot be read.
type FileStamp = Option<(SystemTime, u64)>;

fn looks(path: &Path) -> FileStamp {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

/// The task that applies changes of the configuration.
struct Follower {
    engine: Engine,
    /// The configuration file.
    config: PathBuf,
    channel: Arc<LiveChannel>,
    bot: watch::Sender<telegram::Settings>,
    /// Notified when the configured servers may have changed.
    changed: Arc<Notify>,
    /// Notified when another process has changed the configuration.
    look: Arc<Notify>,
    /// The zone in which skill files are read.
    zone: HostZone,
}

impl Follower {
    /// Applies each change of the configuration to servers, models, budgets, messages and the time zone. A
    /// broken configuration changes nothing until it is repaired.
    async fn follow_config(self) {
        let mut seen = looks(&self.config);
        loop {
            drop(tokio::time::timeout(POLL_INTERVAL, self.look.notified()).await);
            let now = looks(&self.config);
            if now == seen {
                continue;
            }
            seen = now;
            match Config::read(&self.config) {
                Ok(config) => self.take(config).await,
                Err(failure) => {
                    let why = failure.message;
                    tracing::error!(
                        %why,
                        "the configuration is invalid; the previous one stays in effect"
                    );
                }
            }
        }
    }

    async fn take(&self, config: Config) {
        self.apply_zone(host_zone(&config)).await;
        self.channel.follow(&config);
        self.bot
            .send_replace(telegram::Settings::from_config(&config));
        self.engine.agents().set_budgets(config.budget.budgets());
        self.engine.router().reload(config.tools.clone());
        self.changed.notify_one();
        // The keys may be in a keyring that waits for its user; the thread of this task must stay free.
        match tokio::task::spawn_blocking(move || app::models(&config)).await {
            Ok(models) => self.engine.agents().set_models(models),
            Err(error) => tracing::error!(%error, "cannot set up the models"),
        }
        tracing::info!("configuration reloaded: tools, servers, models, budgets, notices");
    }

    /// Switches to `zone`: schedules without a zone of their own fire at its wall time.
    async fn apply_zone(&self, zone: TimeZone) {
        if zone == self.zone.get() {
            return;
        }
        self.zone.set(zone.clone());
        match self.engine.set_zone(&zone).await {
            Ok(moved) => report_zone(moved, &zone),
            Err(error) => tracing::error!(%error, "cannot update schedules for the new time zone"),
        }
    }
}

/// Logs how many skills now fire at other times, if any.
pub(super) fn report_zone(moved: usize, zone: &TimeZone) {
    if moved > 0 {
        let (skills, zone) = (format_count(moved, "skill"), deft_schedule::zone_name(zone));
        tracing::info!("time zone changed to `{zone}`: rescheduled {skills}");
    }
}

/// Asks all servers for their tools at startup and whenever the configuration changes, so skills and runs
/// that wait for a tool get it without a call.
///
/// At that point it is also known whether a tool can deliver notices; a problem is logged before a notice
/// needs it.
async fn ask_servers(
    engine: Engine,
    channel: Arc<LiveChannel>,
    changed: Arc<Notify>,
    checks: Arc<ToolChecks>,
) {
    let mut reported = Vec::new();
    let mut unfit = None;
    loop {
        let failed = engine.router().list_servers().await;
        checks.run(&engine);
        let problem = channel.tool_problem().await;
        if let (Some((problem, hint)), true) = (&problem, problem != unfit) {
            tracing::error!(hint, "{problem}");
        }
        unfit = problem;
        for (server, failure) in &failed {
            let news = (server.clone(), failure.message.clone());
            // Log the same problem only once.
            if !reported.contains(&news) {
                let why = &failure.message;
                tracing::warn!(%server, %why, hint = failure.hint, "a server does not answer");
            }
        }
        reported = failed
            .into_iter()
            .map(|(server, failure)| (server, failure.message))
            .collect();
        let again = async {
            if reported.is_empty() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        };
        tokio::select! {
            () = changed.notified() => {}
            () = again => {}
        }
    }
}
