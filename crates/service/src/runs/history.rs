//! Runs that are stored: lists, details, events, and what may be done to them from outside.

use deft_engine::{CHAT_SKILL, DISPATCH_SKILL, JOB_SKILL};
use deft_model::RunId;
use deft_store::{CancelState, PageEnd, RunFilter, RunRow};
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

/// Which runs to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// Of this skill.
    pub skill: Option<String>,
    /// In this state.
    pub status: Option<RunStatus>,
    /// With this outcome.
    pub outcome: Option<Outcome>,
    /// Also answers of chats, which are runs of one skill; that skill by its name lists them too.
    pub chats: bool,
}

/// The runs that a query asks for, newest first.
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

/// Refuses the name of a skill that neither the home nor a run has. A skill that was deleted still has
/// its runs.
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
    let catalog = SkillCatalog::open(workspace)?;
    match catalog.find_row(skill) {
        Some(_) => Ok(()),
        None => catalog.find_file(skill).map(drop),
    }
}

impl RunPages<'_> {
    /// The same list behind the page that a cursor ended.
    pub fn behind(mut self, cursor: &str) -> Done<Self> {
        self.end = Some(PageEnd(read_cursor(cursor)?));
        Ok(self)
    }

    /// Where the last page ended.
    pub fn cursor(&self) -> Option<String> {
        self.end.map(|PageEnd(end)| end.to_string())
    }

    /// The next runs, at most so many.
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

    /// How many runs there are in all.
    pub fn count(&self) -> Done<u64> {
        let count = self.app.engine.store().count_runs(self.filter.clone());
        self.app
            .block_on(count)
            .map_err(|error| store::failure(&error))
    }
}

/// The place that a cursor names.
pub(crate) fn read_cursor(cursor: &str) -> Done<i64> {
    let wrong = || {
        let message = format!("`{cursor}` is not a cursor");
        Failure::input("invalid_input", message).hint("use `next_cursor` of the page before")
    };
    cursor.parse().map_err(|_| wrong())
}

/// The whole id of a run, which is given as its id, the beginning of it, or `last`.
pub fn find_id(app: &App, id: &str) -> Done<RunId> {
    Ok(find_row(app, id)?.id)
}

/// A run with its steps.
pub fn detail(app: &App, id: &str) -> Done<RunDetail> {
    detail_of(app, &find_row(app, id)?)
}

/// The same, with whether the process that drove the run is gone.
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

/// All events of a run so far.
pub fn events(app: &App, id: &str) -> Done<Vec<EventView>> {
    Ok(EventStream::open(app, id)?.read_new()?.events)
}

/// The events of a run as they come; another process may be driving it.
pub struct EventStream<'a> {
    app: &'a App,
    run: RunId,
    after: u64,
}

/// Some events of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvents {
    /// The events, oldest first.
    pub events: Vec<EventView>,
    /// Whether the run is over, and so nothing follows.
    pub over: bool,
}

impl<'a> EventStream<'a> {
    /// The stream of a run, named by its id or the beginning of it.
    pub fn open(app: &'a App, id: &str) -> Done<Self> {
        let run = find_id(app, id)?;
        Ok(Self { app, run, after: 0 })
    }

    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The events since the last look.
    pub fn read_new(&mut self) -> Done<NewEvents> {
        // The row first: the event that ends the run is then among the events.
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

/// A run that was to be cancelled.
#[derive(Clone, Debug, PartialEq)]
pub enum CancelResult {
    /// It is over.
    Now(RunView),
    /// The process that drives it is asked to stop.
    Asked(RunView),
    /// It was over before.
    Before(RunView),
}

/// Cancels a run. `by` is recorded as the one who asked.
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

/// Everything that is stored of a run.
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
    /// They move to the trash.
    Trash,
    /// They are gone for good.
    Forever,
}

/// Which runs are old enough to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneLimit {
    /// Those that ended before a day or an instant.
    Before(String),
    /// Those that are older than a length of time, such as `30d`.
    OlderThan(String),
}

impl PruneLimit {
    /// The instant before which runs must have ended. Days begin in this zone.
    pub fn instant(&self, zone: &TimeZone) -> Done<Timestamp> {
        match self {
            Self::Before(text) => time::parse_day_or_instant(text, zone),
            Self::OlderThan(text) => {
                let before = Timestamp::now().checked_sub(time::parse_duration(text)?);
                before.map_err(|_| {
                    Failure::input("invalid_input", format!("nothing is older than `{text}`"))
                        .hint("give a shorter time, such as `30d`")
                })
            }
        }
    }
}

/// Deletes runs that ended before an instant, or only says which.
pub fn prune(app: &App, before: Timestamp, mode: PruneMode) -> Done<PrunedRuns> {
    let dry_run = mode == PruneMode::DryRun;
    let prune = |only_count| {
        let pruned = app.block_on(app.engine.prune(before, only_count));
        pruned.map_err(|error| app::failure(&error))
    };
    let found = prune(true)?;
    let ended = |id: Option<&RunId>| match id {
        Some(id) => find_row(app, id.as_str()).map(|row| row.finished_at),
        None => Ok(None),
    };
    // They are in the order in which they began.
    let (oldest, newest) = (ended(found.runs.first())?, ended(found.runs.last())?);
    if mode == PruneMode::Trash && !found.runs.is_empty() {
        app.block_on(trash::put_runs(&app.engine, app.home(), &found.runs))?;
    }
    let pruned = if dry_run { found } else { prune(false)? };
    Ok(PrunedRuns {
        ok: true,
        dry_run,
        before: deft_schedule::show(before, &app.zone),
        runs: pruned.runs,
        oldest,
        newest,
        events: pruned.events,
        cached_results: pruned.results,
    })
}
