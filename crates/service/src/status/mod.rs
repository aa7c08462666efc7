//! The state of a home at a glance: the daemon, next fires, runs, failures, approvals, spending.
//!
//! Nothing is written. Not here: rendering it.

mod runs;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use deft_model::SpendSubject;
use deft_store::Answer;
use deft_wire::Done;
use deft_wire::budget::{BudgetScope, BudgetView};
use deft_wire::skill_files::Overview;
use deft_wire::status::{DaemonStatus, NextFire, StatusView};
use jiff::Timestamp;

use crate::app::App;
use crate::lock::Lock;
use crate::workspace::Workspace;
use crate::{approvals, budget, listener, schedule, skills, store};

/// Maximum number of fires to show.
const MAX_FIRES: usize = 5;

/// How long data from files is cached, unless the store changes.
const FILES: Duration = Duration::from_secs(10);

/// Reads the state of a home repeatedly.
pub struct StatusReader {
    workspace: Workspace,
    app: App,
    /// Whether the store existed when the home was opened.
    has_store: bool,
    files: Option<FileState>,
}

/// The data from files, which takes longer to read.
struct FileState {
    read: Instant,
    version: u64,
    overview: Overview,
    scheduled: usize,
    next: Vec<NextFire>,
}

/// Timeout of the store. Load balancers time out after a second or more, and then show no reason.
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns why a daemon is not ready; empty if it is. Skills are loaded before a daemon answers any request.
pub async fn obstacles(app: &App) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(obstacle) = store_obstacle(app.engine.store().version()).await {
        found.push(obstacle.to_owned());
    }
    if !app.schedules.load(Ordering::Relaxed) {
        found.push("the scheduler does not run".to_owned());
    }
    found
}

/// Returns why the store cannot be used. The error itself is only logged, because the reasons are public.
async fn store_obstacle(answer: Answer<'_, u64>) -> Option<&'static str> {
    match tokio::time::timeout(STORE_TIMEOUT, answer).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the health check of the store failed");
            Some("the store reports an error")
        }
        Err(_) => Some("the store does not answer"),
    }
}

/// Returns the state of a home once.
pub fn status(workspace: &Workspace) -> Done<StatusView> {
    StatusReader::open(workspace)?.read()
}

impl StatusReader {
    /// Opens a home for reading; it need not exist.
    pub fn open(workspace: &Workspace) -> Done<Self> {
        Ok(Self {
            has_store: has_store(workspace)?,
            app: App::to_read(workspace)?,
            workspace: workspace.clone(),
            files: None,
        })
    }

    /// Returns the current state.
    pub fn read(&mut self) -> Done<StatusView> {
        if !self.has_store && has_store(&self.workspace)? {
            *self = Self::open(&self.workspace)?;
        }
        let files = self.files()?;
        let (overview, scheduled, next) = (&files.overview, files.scheduled, &files.next);
        let (overview, next) = (overview.clone(), next.clone());
        let app = &self.app;
        let now = Timestamp::now();
        let budget = budget::read(&self.workspace, app)?;
        let BudgetView {
            day,
            scopes,
            paused,
        } = budget;
        let limited = |scope: &BudgetScope| {
            let limits = scope.limit_tokens.is_some() || scope.limit_usd.is_some();
            limits || scope.used.scope == SpendSubject::All
        };
        let (active, active_total) = runs::active(app)?;
        let (failed, failed_total) = runs::failed_runs(app, now)?;
        let mut approvals = approvals::list(app, false)?;
        approvals.sort_by_key(|approval| approval.asked_at);
        Ok(StatusView {
            home_exists: app.home().is_dir(),
            home: overview.home,
            skills: overview.skills,
            broken: overview.broken,
            models: overview.models,
            at: now,
            zone: deft_schedule::zone_name(&app.zone),
            daemon: daemon(app),
            scheduled,
            next: next
                .into_iter()
                .filter(|fire| fire.at >= now)
                .take(MAX_FIRES)
                .collect(),
            active,
            active_total,
            failed,
            failed_total,
            approvals,
            day,
            spending: scopes.into_iter().filter(limited).collect(),
            paused_agents: paused,
        })
    }

    /// Returns the zone for displayed times.
    pub fn zone(&self) -> &jiff::tz::TimeZone {
        &self.app.zone
    }

    fn files(&mut self) -> Done<&FileState> {
        let version = self.app.block_on(self.app.engine.store().version());
        let version = version.map_err(|error| store::failure(&error))?;
        let current = self.files.take();
        let current = current
            .filter(|files| files.version == version && files.read.elapsed() < FILES)
            .map_or_else(|| read_files(&self.workspace, version), Ok)?;
        Ok(self.files.insert(current))
    }
}

fn has_store(workspace: &Workspace) -> Done<bool> {
    Ok(workspace.home_to_read()?.config.store.path.is_file())
}

fn read_files(workspace: &Workspace, version: u64) -> Done<FileState> {
    let list = schedule::list(workspace)?;
    let enabled = list.schedules.iter().filter(|row| row.enabled);
    let next = list.schedules.iter().filter_map(|row| {
        let at = row.next.as_ref()?.parse().ok()?;
        Some(NextFire {
            skill: row.skill.clone(),
            at,
            words: row.words.clone(),
            once: row.once,
        })
    });
    Ok(FileState {
        read: Instant::now(),
        version,
        overview: skills::overview(workspace)?,
        scheduled: enabled.count(),
        next: next.collect(),
    })
}

/// Returns the state of the daemon. Its lock file was written when it started.
fn daemon(app: &App) -> DaemonStatus {
    let Some(holder) = Lock::holder(app.home()) else {
        return DaemonStatus {
            running: false,
            pid: None,
            since: None,
            api: None,
        };
    };
    let file = std::fs::metadata(app.home().join("deft.lock"));
    let since = file.and_then(|file| file.modified()).ok();
    DaemonStatus {
        running: true,
        pid: holder.parse().ok(),
        since: since.and_then(|at| Timestamp::try_from(at).ok()),
        api: listener::find(app.home()),
    }
}

#[cfg(test)]
mod tests {
    use deft_store::Error;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failing_or_hanging_store_is_not_ready() {
        let answers: [(Answer<'_, u64>, _); 3] = [
            (Box::pin(async { Ok(7) }), None),
            (
                Box::pin(async { Err(Error::Closed) }),
                Some("the store reports an error"),
            ),
            (
                Box::pin(std::future::pending()),
                Some("the store does not answer"),
            ),
        ];
        for (answer, obstacle) in answers {
            assert_eq!(store_obstacle(answer).await, obstacle);
        }
    }

    #[test]
    fn a_process_without_a_scheduler_is_not_ready() {
        let home = tempfile::tempdir().unwrap();
        let app = App::open(&Workspace::for_test(home.path())).unwrap();
        let found = app.block_on(obstacles(&app));
        assert_eq!(found, ["the scheduler does not run"]);
        app.schedules.store(true, Ordering::Relaxed);
        assert_eq!(app.block_on(obstacles(&app)), Vec::<String>::new());
        app.close();
    }
}
