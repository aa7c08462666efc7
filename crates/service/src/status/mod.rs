//! The state of a home on one screen: the daemon, next fires, runs, failures, questions, spending.
//!
//! Nothing is written. Not here: how it is drawn.

mod runs;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use deft_model::SpendSubject;
use deft_wire::Done;
use deft_wire::budget::{BudgetScope, BudgetView};
use deft_wire::skill_files::Overview;
use deft_wire::status::{DaemonStatus, NextFire, StatusView};
use jiff::Timestamp;

use crate::app::App;
use crate::lock::Lock;
use crate::workspace::Workspace;
use crate::{approvals, budget, listener, schedule, skills, store};

/// The most fires that are shown.
const MOST_FIRES: usize = 5;

/// How long files and schedules count as read, while nothing changes in the store.
const FILES: Duration = Duration::from_secs(10);

/// Reads the state of a home again and again.
pub struct StatusReader {
    workspace: Workspace,
    app: App,
    /// Whether the store was there when it was opened.
    has_store: bool,
    files: Option<FileState>,
}

/// The facts that are read from files, which takes longer.
struct FileState {
    read: Instant,
    version: u64,
    overview: Overview,
    scheduled: usize,
    next: Vec<NextFire>,
}

/// Why a daemon cannot work; nothing if it can. Skills are loaded before a daemon answers at all.
pub async fn obstacles(app: &App) -> Vec<String> {
    let mut found = Vec::new();
    if app.engine.store().version().await.is_err() {
        found.push("the store does not answer".to_owned());
    }
    if !app.schedules.load(Ordering::Relaxed) {
        found.push("the scheduler does not run".to_owned());
    }
    found
}

/// The state of a home, once.
pub fn status(workspace: &Workspace) -> Done<StatusView> {
    StatusReader::open(workspace)?.read()
}

impl StatusReader {
    /// Opens a home to read; it need not exist.
    pub fn open(workspace: &Workspace) -> Done<Self> {
        Ok(Self {
            has_store: has_store(workspace)?,
            app: App::to_read(workspace)?,
            workspace: workspace.clone(),
            files: None,
        })
    }

    /// The state as it is now.
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
        let (failed, failed_total) = runs::failed(app, now)?;
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
                .take(MOST_FIRES)
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

    /// The zone that times are shown in.
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

/// The process that is up. Its lock file was written when it started.
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
