//! Runs in the public form of `deft-wire`, for programs and people.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use deft_base::{read_or_log, read_stored};
use deft_model::{Object, RunId, TraceContext, TraceId, Usage};
use deft_store::{NoticeFilter, NoticeRow, RunRow, SpentFilter, SpentRow, StoredEvent, run_scope};
use deft_wire::dry_run::{DryDiagnostic, DryRun};
use deft_wire::event::EventView;
use deft_wire::interruption::IdleTime;
use deft_wire::notice::NoticeStatus;
use deft_wire::run::{JournalLine, RunArchive, RunDetail, RunNotice, RunView, StepView};
use deft_workflow::{
    Event, Mask, Plan, RunPreparation, RunStart, dry_run, idle_time, interruptions, step_views,
    tells_idle_time,
};
use jiff::Timestamp;

use crate::drive::RouterFacts;
use crate::event_json::decode_events;
use crate::published_event::PublishedEvent;
use crate::run_view::read_field;
use crate::{Engine, Error, Transcript, run_view};

/// A page of public events.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// The events, oldest first.
    pub events: Vec<EventView>,
    /// The last sequence number that was read.
    pub last: u64,
    /// Whether more events may follow.
    pub more: bool,
}

impl Engine {
    /// Returns the plan of the skill with this name.
    pub async fn plan(&self, name: &str) -> Result<Arc<Plan>, Error> {
        Ok(self.inner.library.find(name).await?.plan)
    }

    /// Returns what a run of a skill would do, as far as that is known in advance.
    pub async fn dry_run(&self, name: &str, inputs: &Object) -> Result<DryRun, Error> {
        let pinned = self.inner.library.find(name).await?;
        let plan = &pinned.plan;
        // With the stored tools: asking a server would start it.
        let inputs = self.inner.inputs_as_known(&pinned, inputs)?;
        let facts = RouterFacts(&self.inner);
        let steps = dry_run(plan, &inputs, &self.inner.rules(), &facts, self.inner.now());
        let found = self.inner.library.check_surroundings(&pinned.skill).await?;
        let found = found.into_iter().map(|one| DryDiagnostic {
            rule: one.rule.id().to_owned(),
            severity: one.severity.word().to_owned(),
            message: one.message,
            help: one.help,
        });
        let mut shown = DryRun {
            diagnostics: found.collect(),
            skill: plan.skill().to_owned(),
            revision: plan.revision().to_owned(),
            tier: pinned.skill.tier(),
            inputs,
            steps,
            dry_run: true,
        };
        shown.mask();
        Ok(shown)
    }

    /// Returns the public events of a run after a sequence number, oldest first.
    pub async fn public_events(&self, run: &RunRow, after: u64) -> Result<Vec<EventView>, Error> {
        let stored = self.store().events(Some(&run.id), after, u32::MAX).await?;
        let published = stored
            .into_iter()
            .map(|stored| PublishedEvent::read(run, stored));
        let public = published.filter_map(|published| match published {
            Ok(published) => published.public().map(Ok),
            Err(error) => Some(Err(error)),
        });
        public.collect()
    }

    /// Returns the public events of one run, or of all runs, after a sequence number.
    pub async fn public_events_after(
        &self,
        run: Option<&RunId>,
        after: u64,
        limit: u32,
    ) -> Result<EventPage, Error> {
        let stored = self.store().events(run, after, limit).await?;
        let last = stored.last().map_or(after, |event| event.seq);
        let more = stored.len() >= limit as usize;
        let mut runs: HashMap<RunId, Option<RunRow>> = HashMap::new();
        let mut events = Vec::with_capacity(stored.len());
        for event in stored {
            let run = match runs.entry(event.run.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(self.store().run(&event.run).await?),
            };
            // A run that was deleted in the meantime has no events any more.
            let Some(run) = run else { continue };
            let seq = event.seq;
            // A failure here would stop the feed of all clients at this event.
            match PublishedEvent::read(run, event) {
                Ok(event) => events.extend(event.public()),
                Err(error) => tracing::warn!(seq, %error, "the feed omits an event"),
            }
        }
        Ok(EventPage { events, last, more })
    }

    /// Returns the trace of a run; `None` if traces are not exported.
    pub async fn trace_id(&self, run: &RunId) -> Option<TraceId> {
        if !self.inner.options.traces {
            return None;
        }
        let stored = self.store().events(Some(run), 0, CALLER_EVENTS).await;
        let stored = read_or_log(stored, "the trace of a run")?;
        let events = read_or_log(decode_events(run, &stored), "the trace of a run")?;
        let caller = events.iter().find_map(|(_, event)| caller(event));
        Some(caller.map_or_else(|| TraceId::from_run(run), |caller| caller.trace))
    }

    /// Returns the stored events of a run after a sequence number, for listeners that subscribed late.
    pub async fn published_events(
        &self,
        run: &RunRow,
        after: u64,
    ) -> Result<Vec<PublishedEvent>, Error> {
        let stored = self.store().events(Some(&run.id), after, u32::MAX).await?;
        let stored = stored.into_iter();
        stored
            .map(|stored| PublishedEvent::read(run, stored))
            .collect()
    }

    /// Returns a run with its steps. Secrets are shown by name only.
    pub async fn show(&self, row: &RunRow) -> Result<RunDetail, Error> {
        let stored = self.store().events(Some(&row.id), 0, u32::MAX).await?;
        let events = decode_events(&row.id, &stored)?;
        let mut run = run_view(row)?;
        if row.outcome.is_none() {
            run.usage = self.usage_so_far(row).await?;
        }
        let notices = self.notices_of(row).await?;
        Ok(self.describe(row, run, &events, notices).await)
    }

    /// Like [`show`](Self::show), for a run that was driven to its end here: uses the events in `transcript`
    /// if these are complete.
    pub async fn show_driven(
        &self,
        row: &RunRow,
        transcript: &Transcript,
    ) -> Result<RunDetail, Error> {
        let Some(events) = transcript.take() else {
            return self.show(row).await;
        };
        let run = run_view(row)?;
        Ok(self.describe(row, run, &events, Vec::new()).await)
    }

    async fn describe(
        &self,
        row: &RunRow,
        run: RunView,
        events: &[(Timestamp, Event)],
        notices: Vec<RunNotice>,
    ) -> RunDetail {
        let why = events.iter().find_map(|(_, event)| check_failed(event));
        let mut detail = RunDetail {
            run,
            check_failed: why.map(str::to_owned),
            request_id: events.iter().find_map(|(_, event)| request_id(event)),
            steps: self.steps(row, events).await,
            calls: crate::agent::calls(events),
            notices,
            interruptions: interruptions(events),
            idle: idle_time(events),
            owner_gone: None,
        };
        detail.mask();
        detail
    }

    /// Returns the idle time of each of these runs; zero for runs that have not ended. Reads the journal only
    /// of runs that paused, or that used a model, because agents keep their questions in their own events.
    pub async fn idle_times(&self, rows: &[RunRow]) -> Result<Vec<IdleTime>, Error> {
        let over = rows.iter().filter(|row| row.finished_at.is_some());
        let over = over.map(|row| row.id.clone()).collect();
        let paused = self.store().paused_runs(over).await?;
        let mut times = Vec::with_capacity(rows.len());
        for row in rows {
            let looks =
                row.finished_at.is_some() && (row.usage.is_some() || paused.contains(&row.id));
            times.push(if looks {
                self.idle_time(row).await?
            } else {
                IdleTime::default()
            });
        }
        Ok(times)
    }

    async fn idle_time(&self, row: &RunRow) -> Result<IdleTime, Error> {
        let mut stored = self.store().events(Some(&row.id), 0, u32::MAX).await?;
        stored.retain(|event| event.event_type().is_some_and(tells_idle_time));
        Ok(idle_time(&decode_events(&row.id, &stored)?))
    }

    /// Returns what models have cost so far for a run that has not ended.
    async fn usage_so_far(&self, row: &RunRow) -> Result<Usage, Error> {
        let filter = SpentFilter {
            scope: Some(run_scope(&row.id)),
            ..SpentFilter::default()
        };
        let spent = self.store().list_spent(filter).await?;
        Ok(spent.first().map(SpentRow::usage).unwrap_or_default())
    }

    /// Returns the notices about a run and their delivery, which is independent of the outcome of the run.
    async fn notices_of(&self, row: &RunRow) -> Result<Vec<RunNotice>, Error> {
        let filter = NoticeFilter {
            run: Some(row.id.clone()),
            ..NoticeFilter::default()
        };
        let notices = self.store().notices(filter).await?;
        Ok(notices.into_iter().rev().map(run_notice).collect())
    }

    /// Returns the steps of a run; empty if its skill cannot be read, which is logged. The rest of the run
    /// can still be shown.
    async fn steps(&self, row: &RunRow, events: &[(Timestamp, Event)]) -> Vec<StepView> {
        let inner = &self.inner;
        let pinned = inner.library.find_pinned(&row.skill, &row.revision).await;
        let pinned = match pinned {
            // The revision of a slot that brought no run was never stored.
            Err(Error::RevisionLost { .. }) if row.started_at.is_none() => None,
            pinned => read_or_log(pinned, "the skill of a run"),
        };
        let Some(pinned) = pinned else {
            return Vec::new();
        };
        let nested = inner.nested_plans(&row.skill, events).await;
        let nested = read_or_log(nested, "the nested skills of a run").unwrap_or_default();
        let nested: Vec<Arc<Plan>> = nested.into_values().collect();
        let events = events.iter().map(|(at, event)| (*at, event));
        step_views(&pinned.plan, &nested, events)
    }

    /// Returns a run with everything that is stored about it, for an archive or a report.
    pub async fn export(&self, row: &RunRow) -> Result<RunArchive, Error> {
        let stored = self.store().events(Some(&row.id), 0, u32::MAX).await?;
        let line = |event: &StoredEvent| journal_line(row, event);
        let journal: Result<Vec<JournalLine>, Error> = stored.iter().map(line).collect();
        let content = self.store().revision(&row.revision).await?;
        let mut archive = RunArchive {
            run: self.show(row).await?,
            events: self.public_events(row, 0).await?,
            journal: journal?,
            skill: read_field(content.as_deref(), "its skill", row)?,
        };
        archive.journal.mask();
        archive.skill.mask();
        Ok(archive)
    }
}

fn journal_line(row: &RunRow, event: &StoredEvent) -> Result<JournalLine, Error> {
    let what = || format!("the journal of run `{}`", row.id);
    Ok(JournalLine {
        seq: event.seq,
        at: event.at,
        event: read_stored(&event.body, what)?,
    })
}

fn run_notice(notice: NoticeRow) -> RunNotice {
    RunNotice {
        id: notice.id,
        kind: notice.key,
        status: match notice.status {
            deft_store::NoticeStatus::Queued => NoticeStatus::Queued,
            deft_store::NoticeStatus::Sent => NoticeStatus::Sent,
            deft_store::NoticeStatus::Dead => NoticeStatus::Dead,
        },
        attempts: notice.attempts,
        receipt: notice.receipt,
        error: notice.error,
    }
}

/// Number of events at the start of a run, one of which names its caller.
const CALLER_EVENTS: u32 = 2;

/// Returns the trace context of the caller, if the event holds one.
fn caller(event: &Event) -> Option<&TraceContext> {
    if let Event::Started(started) = event {
        started.origin.trace.as_deref()
    } else if let Event::Prepared(prepared) = event {
        prepared.origin.trace.as_deref()
    } else {
        None
    }
}

/// Returns why the check before the run failed, if the event holds that.
fn check_failed(event: &Event) -> Option<&str> {
    if let Event::Started(started) = event {
        started.check_failed.as_deref()
    } else if let Event::Prepared(prepared) = event {
        prepared.check_failed.as_deref()
    } else {
        None
    }
}

/// Returns the id of the request that started a run, if the event holds one.
fn request_id(event: &Event) -> Option<String> {
    if let Event::Started(RunStart { origin, .. })
    | Event::Prepared(RunPreparation { origin, .. }) = event
    {
        origin.request_id.clone()
    } else {
        None
    }
}
