//! Follows what changes outside while deft is up: skill files, the configuration, the doorbell.

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
use crate::words::counted;
use deft_channels::LiveChannel;
use deft_config::Config;
use deft_config::{Home, config_file, host_zone};
use jiff::tz::TimeZone;

/// How often the configuration is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// When servers that could not be asked for their tools are asked again.
const AGAIN: Duration = Duration::from_secs(30);

/// The parts of a daemon that follow changes.
pub(super) struct Parts<'a> {
    pub(super) engine: &'a Engine,
    pub(super) registry: &'a Arc<Registry>,
    pub(super) home: &'a Home,
    /// The zone in which skill files are read.
    pub(super) zone: &'a HostZone,
}

/// Starts to follow everything.
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

/// Changes of files reach the schedules. The registry tells from a thread of its own.
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
            // Changes that came meanwhile are handled together.
            while changes.try_recv().is_ok() {}
            match runtime.block_on(engine.library().sync_files()) {
                Ok(synced) => tracing::debug!(?synced, "schedules follow the files"),
                Err(error) => tracing::error!(%error, "schedules do not follow the files"),
            }
            checks.run(&engine);
        }
    };
    let thread = std::thread::Builder::new().name("deft-follow".to_owned());
    if let Err(error) = thread.spawn(listen) {
        tracing::error!(%error, "changes of skill files will not reach the schedules");
    }
}

/// When a file changed, and its size.
type Looks = Option<(SystemTime, u64)>;

fn looks(path: &Path) -> Looks {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

/// The task that follows the configuration.
struct Follower {
    engine: Engine,
    /// The file.
    config: PathBuf,
    channel: Arc<LiveChannel>,
    bot: watch::Sender<telegram::Settings>,
    /// Rung when there may be other servers.
    changed: Arc<Notify>,
    /// Rung when another process has changed the configuration.
    look: Arc<Notify>,
    /// The zone in which skill files are read.
    zone: HostZone,
}

impl Follower {
    /// Servers that are added, removed or edited are followed, and so is the way to people. A
    /// configuration that is broken changes nothing until it is mended.
    async fn follow_config(self) {
        let mut seen = looks(&self.config);
        loop {
            drop(tokio::time::timeout(LOOK, self.look.notified()).await);
            let now = looks(&self.config);
            if now == seen {
                continue;
            }
            seen = now;
            match Config::read(&self.config) {
                Ok(config) => self.take(config).await,
                Err(failure) => {
                    let why = failure.message;
                    tracing::error!(%why, "the configuration is broken and stays as it was");
                }
            }
        }
    }

    async fn take(&self, config: Config) {
        self.take_zone(host_zone(&config)).await;
        self.channel.follow(&config);
        self.bot
            .send_replace(telegram::Settings::from_config(&config));
        self.engine.agents().set_models(app::models(&config));
        self.engine.agents().set_budgets(config.budget.budgets());
        self.engine.router().reload(config.tools);
        self.changed.notify_one();
        tracing::info!(
            "the configuration has changed: tools, servers, models, budgets and messages follow it"
        );
    }

    /// Schedules without a zone of their own fire at the wall time of the new one.
    async fn take_zone(&self, zone: TimeZone) {
        if zone == self.zone.get() {
            return;
        }
        self.zone.set(zone.clone());
        match self.engine.set_zone(&zone).await {
            Ok(moved) => report_zone(moved, &zone),
            Err(error) => tracing::error!(%error, "schedules do not follow the time zone"),
        }
    }
}

/// Logs that skills fire at other times, if they do.
pub(super) fn report_zone(moved: usize, zone: &TimeZone) {
    if moved > 0 {
        let (skills, zone) = (counted(moved, "skill"), deft_schedule::zone_name(zone));
        tracing::info!("the time zone is `{zone}` now: {skills} moved to its wall time");
    }
}

/// Servers are asked for their tools at the start and whenever the configuration changes, so that skills
/// and runs that wait for tools get them without a call.
///
/// Whether a tool can carry messages is known then too, and is said before one is missed.
async fn ask_servers(
    engine: Engine,
    channel: Arc<LiveChannel>,
    changed: Arc<Notify>,
    checks: Arc<ToolChecks>,
) {
    let mut told = Vec::new();
    let mut unfit = None;
    loop {
        let failed = engine.router().listed().await;
        checks.run(&engine);
        let problem = channel.tool_problem().await;
        if let (Some((problem, hint)), true) = (&problem, problem != unfit) {
            tracing::error!(hint, "{problem}");
        }
        unfit = problem;
        for (server, failure) in &failed {
            let news = (server.clone(), failure.message.clone());
            // The same trouble is told once, however often it is met.
            if !told.contains(&news) {
                let why = &failure.message;
                tracing::warn!(%server, %why, hint = failure.hint, "a server does not answer");
            }
        }
        told = failed
            .into_iter()
            .map(|(server, failure)| (server, failure.message))
            .collect();
        let again = async {
            if told.is_empty() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(AGAIN).await;
        };
        tokio::select! {
            () = changed.notified() => {}
            () = again => {}
        }
    }
}
