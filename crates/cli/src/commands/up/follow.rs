//! Follows what changes outside while deft is up: skill files, the configuration, the doorbell.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use deft_engine::Engine;
use deft_registry::Registry;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::home::{Home, config_file};

/// How often the configuration is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// Starts to follow everything.
pub(super) fn start(
    engine: &Engine,
    registry: &Arc<Registry>,
    home: &Home,
    stop: &CancellationToken,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(super::answer_door(engine.clone(), home.path.clone()));
    tasks.spawn(follow_config(engine.clone(), config_file(&home.path)));
    follow_files(engine.clone(), registry, stop.clone());
    tasks
}

/// Changes of files reach the schedules. The registry tells from a thread of its own.
fn follow_files(engine: Engine, registry: &Arc<Registry>, stop: CancellationToken) {
    let changes = registry.subscribe();
    let runtime = tokio::runtime::Handle::current();
    let listen = move || {
        while changes.recv().is_ok() {
            if stop.is_cancelled() {
                return;
            }
            // What came meanwhile is looked at together.
            while changes.try_recv().is_ok() {}
            match runtime.block_on(engine.sync_files()) {
                Ok(synced) => tracing::debug!(?synced, "schedules follow the files"),
                Err(error) => tracing::error!(%error, "schedules do not follow the files"),
            }
        }
    };
    let thread = std::thread::Builder::new().name("deft-follow".to_owned());
    if let Err(error) = thread.spawn(listen) {
        tracing::error!(%error, "changes of skill files will not reach the schedules");
    }
}

/// What a file looks like from outside.
type Looks = Option<(SystemTime, u64)>;

fn looks(path: &Path) -> Looks {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

/// Servers that are added, removed or edited are followed. A configuration that is broken changes
/// nothing until it is mended.
async fn follow_config(engine: Engine, path: PathBuf) {
    let mut seen = looks(&path);
    loop {
        tokio::time::sleep(LOOK).await;
        let now = looks(&path);
        if now == seen {
            continue;
        }
        seen = now;
        match Config::read(&path) {
            Ok(config) => {
                engine.router().reload(config.tools);
                tracing::info!("the configuration has changed: tools and servers follow it");
            }
            Err(failure) => {
                let why = failure.message;
                tracing::error!(%why, "the configuration is broken and stays as it was");
            }
        }
    }
}
