//! Stored runs: lists, details and events, and commands that cancel, export or delete them.

use deft_engine::{CHAT_SKILL, DISPATCH_SKILL, JOB_SKILL};
use deft_model::RunId;
use deft_store::{CancelState, PageEnd, PruneResult, RunFilter, RunRow};
use deft_wire::event::EventView;
use deft_wire::model::{Outcome, RunStatus};
use deft_wire::run::{ListedRun, PrunedRuns, RunArchive, RunDetail, RunView};
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{find_row, view};
use crate::app::{self, App};
use crate::skills::SkillCatalog;
use crate::workspace::Workspace;
use crate::{ids, store, time, trash};

/// A query for runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// Runs of this skill.
    pub skill: Option<String>,
    /// Runs in this state.
    pub status: Option<RunStatus>,
    /// Runs with this outcome.
    pub outcome: Option<Outcome>,
    /// Include answers of chats, which are runs of one skill. Querying that skill by its name lists them too.
    pub chats: bool,
}

/// The runs that match a query, newest first, in pages.
pub struct RunPages<'a> {
    app: &'a App,
    filter: RunFilter,
    end: Option<PageEnd>,
}

/// Lists runs.
pub fn list(app: &App, query: RunQuery) -> RunPages<'_> {
    let no_chats = !query.chats && query.skill.is_none();
    let filter = RunFilter {
        skill: query.skill,
        not_skill: no_chats.then(|| CHAT_SKILL.to_owned()),
        statuses: query.status.into_iter().collect(),
        outcomes: query.outcome.into_iter().collect(),
        ..RunFilter::default()
    };
    RunPages {
        app,
        filter,
        end: None,
    }
}

/// Fails if neither the home nor any run has the skill. A deleted skill still has its runs.
pub fn check_skill(app: &App, workspace: &Workspace, skill: &str) -> Done<()> {
    let filter = RunFilter {
        skill: Some(skill.to_owned()),
        ..RunFilter::default()
    };
    if [CHAT_SKILL, DISPATCH_SKILL, JOB_SKILL].contains(&skill)
        || ids::last_run(app, filter)?.is_some()
    {
        return Ok(());
    }
    SkillCatalog::open(workspace)?.look_up(skill).map(drop)
}

impl RunPages<'_> {
    /// Continues after the page that returned `cursor`.
    pub fn after_cursor(mut self, cursor: &str) -> Done<Self> {
        self.end = Some(PageEnd(read_cursor(cursor)?));
        Ok(self)
    }

    /// Returns the cursor of the last page.
    pub fn cursor(&self) -> Option<String> {
        self.end.map(|PageEnd(end)| end.to_string())
    }

    /// Returns the next page of at most `limit` runs.
    pub fn next(&mut self, limit: u32) -> Done<Vec<ListedRun>> {
        let filter = RunFilter {
            limit: Some(limit),
            ..self.filter.clone()
        };
        let page = self.app.engine.store().run_page(filter, self.end);
        let page = self.app.block_on(page);
        let page = page.map_err(|error| store::failure(&error))?;
        self.end = page.end.or(self.end);
        let idle = self.app.block_on(self.app.engine.idle_times(&page.runs));
        let idle = idle.map_err(|error| app::failure(&error))?;
        let listed = page.runs.iter().zip(idle).map(|(row, idle)| {
            Ok(ListedRun {
                run: view(row)?,
                owner_gone: self.app.engine.is_abandoned(row),
                idle,
            })
        });
        listed.collect()
    }

    /// Returns the total number of matching runs.
    pub fn count(&self) -> Done<u64> {
        let count = self.app.engine.store().count_runs(self.filter.clone());
        self.app
            .block_on(count)
            .map_err(|error| store::failure(&error))
    }
}

/// Parses a cursor.
pub(crate) fn read_cursor(cursor: &str) -> Done<i64> {
    cursor.parse().map_err(|_| bad_cursor(cursor))
}

/// Returns the failure for a text that is no cursor.
pub(crate) fn bad_cursor(cursor: &str) -> Failure {
    let message = format!("`{cursor}` is not a cursor");
    Failure::input("invalid_input", message).hint("use `next_cursor` of the previous page")
}

/// The whole id of a run, which is given as its id, the beginning of it, or `last`.
pub fn find_id(app: &App, id: &str) -> Done<RunId> {
    Ok(find_row(app, id)?.id)
}

/// Returns a run with its steps.
pub fn detail(app: &App, id: &str) -> Done<RunDetail> {
    detail_of(app, &find_row(app, id)?)
}

/// Like [`detail`], and also checks whether the process that drove the run has exited.
pub fn show(app: &App, id: &str) -> Done<RunDetail> {
    let row = find_row(app, id)?;
    Ok(RunDetail {
        owner_gone: Some(app.engine.is_abandoned(&row)),
        ..detail_of(app, &row)?
    })
}

pub(super) fn detail_of(app: &App, row: &RunRow) -> Done<RunDetail> {
    app.block_on(app.engine.show(row))
        .map_err(|error| app::failure(&error))
}

/// Returns all events of a run so far.
pub fn events(app: &App, id: &str) -> Done<Vec<EventView>> {
    Ok(EventStream::open(app, id)?.read_new()?.events)
}

/// The events of a run as they are stored; another process may drive it.
pub struct EventStream<'a> {
    app: &'a App,
    run: RunId,
    after: u64,
}

/// A batch of events of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvents {
    /// The events, oldest first.
    pub events: Vec<EventView>,
    /// Whether the run has ended, so that no events follow.
    pub over: bool,
}

impl<'a> EventStream<'a> {
    /// Opens the stream of a run, named by its id or a prefix of it.
    pub fn open(app: &'a App, id: &str) -> Done<Self> {
        let run = find_id(app, id)?;
        Ok(Self { app, run, after: 0 })
    }

    /// Returns the id of the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the events since the last call.
    pub fn read_new(&mut self) -> Done<NewEvents> {
        // Read the row before the events, so that they include the event that ended the run.
        let row = find_row(self.app, self.run.as_str())?;
        let found = self.app.engine.public_events(&row, self.after);
        let found = self.app.block_on(found);
        let events = found.map_err(|error| app::failure(&error))?;
        self.after = events.last().map_or(self.after, |event| event.seq);
        Ok(NewEvents {
            events,
            over: row.status == RunStatus::Done,
        })
    }
}

/// The result of a request to cancel a run.
#[derive(Clone, Debug, PartialEq)]
pub enum CancelResult {
    /// The run was cancelled.
    Now(RunView),
    /// The process that drives the run was asked to stop.
    Asked(RunView),
    /// The run was already over.
    Before(RunView),
}

/// Cancels a run. `by` is recorded as the requester.
pub fn cancel(app: &App, id: &str, by: &str) -> Done<CancelResult> {
    let row = find_row(app, id)?;
    let state = app.block_on(app.engine.cancel(&row.id, by));
    match state.map_err(|error| app::failure(&error))? {
        CancelState::Done(row) => view(&row).map(CancelResult::Now),
        CancelState::Asked(row) => view(&row).map(CancelResult::Asked),
        CancelState::Already(row) => view(&row).map(CancelResult::Before),
        CancelState::Unknown => {
            let message = format!("unknown run `{id}`");
            let hint = "`deft runs list` shows all runs";
            Err(Failure::input("unknown_run", message).hint(hint))
        }
    }
}

/// Returns all stored data of a run.
pub fn export(app: &App, id: &str) -> Done<RunArchive> {
    let row = find_row(app, id)?;
    app.block_on(app.engine.export(&row))
        .map_err(|error| app::failure(&error))
}

/// How runs are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneMode {
    /// Nothing is deleted.
    DryRun,
    /// Runs are moved to the trash.
    Trash,
    /// Runs are deleted permanently.
    Forever,
}

/// Which runs are old enough to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneLimit {
    /// Runs that ended before a day or an instant.
    Before(String),
    /// Runs older than a duration such as `30d`.
    OlderThan(String),
}

impl PruneLimit {
    /// Returns the instant before which runs must have ended, which is not in the future: it would include runs that
    /// end while others are deleted. Days begin at midnight in `zone`.
    pub fn instant(&self, zone: &TimeZone) -> Done<Timestamp> {
        match self {
            Self::Before(text) => {
                let before = time::parse_day_or_instant(text, zone)?;
                if before > Timestamp::now() {
                    let message = format!("`{text}` is in the future");
                    return Err(Failure::input("invalid_input", message)
                        .hint("give a time in the past, such as `2026-01-31`"));
                }
                Ok(before)
            }
            Self::OlderThan(text) => {
                let before = Timestamp::now().checked_sub(time::parse_duration(text)?);
                before.map_err(|_| {
                    Failure::input("invalid_input", format!("the time `{text}` is too long"))
                        .hint("give a shorter time, such as `30d`")
                })
            }
        }
    }
}

/// Deletes the runs that ended before an instant, or only lists them.
pub fn prune(app: &App, before: Timestamp, mode: PruneMode) -> Done<PrunedRuns> {
    let prune = |before, only_count| {
        let pruned = app.block_on(app.engine.prune(before, only_count));
        pruned.map_err(|error| app::failure(&error))
    };
    let found = prune(before, true)?;
    let ended = |id: Option<&RunId>| match id {
        Some(id) => find_row(app, id.as_str()).map(|row| row.finished_at),
        None => Ok(None),
    };
    // The runs are sorted by their start.
    let (oldest, newest) = (ended(found.runs.first())?, ended(found.runs.last())?);
    let pruned = match mode {
        PruneMode::DryRun => found,
        PruneMode::Forever => prune(before, false)?,
        PruneMode::Trash => {
            let moved = if found.runs.is_empty() {
                PruneResult::default()
            } else {
                app.block_on(trash::move_runs(&app.engine, app.home(), &found.runs))?
            };
            // No run ended before this instant: this deletes only expired results and old costs.
            let expired = prune(Timestamp::MIN, false)?;
            PruneResult {
                results: expired.results,
                ..moved
            }
        }
    };
    Ok(PrunedRuns {
        ok: true,
        dry_run: mode == PruneMode::DryRun,
        before: deft_schedule::show(before, &app.zone),
        runs: pruned.runs,
        oldest,
        newest,
        events: pruned.events,
        cached_results: pruned.results,
    })
}
