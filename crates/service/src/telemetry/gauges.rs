//! Metrics that are read from the store and the router on request.

use std::time::Duration;

use deft_engine::{Engine, read_or_log};
use deft_model::{Choice, DisabledReason, Outcome};
use deft_store::{NoticeFilter, NoticeStatus, RunFilter, RunRow, SkillFilter, SkillRow};
use deft_telemetry::{ExportState, Metric, Registry};
use deft_tools::ServerState;
use jiff::Timestamp;

/// The rows of a page, and the most skills with figures of their own.
const ROWS: u32 = 500;

/// A skill is late if its slot passed longer ago than this.
const LATE_AFTER: Duration = Duration::from_mins(1);

/// The states of a scheduled skill.
const STATES: [&str; 5] = ["new", "up", "late", "down", "paused"];

/// Up to where rows without events were counted.
pub(super) struct RowProgress {
    /// The time up to which slots without a run were counted.
    slots_until: Timestamp,
    /// The time up to which delivered notices were counted.
    delivered_until: Timestamp,
    /// The numbers of exported and dropped spans.
    spans: (u64, u64),
}

impl RowProgress {
    /// Starts counting at `since`.
    pub(super) fn new(since: Timestamp) -> Self {
        Self {
            slots_until: since,
            delivered_until: since,
            spans: (0, 0),
        }
    }
}

/// Updates all gauges. Values that cannot be read are logged and stay unchanged.
pub(super) async fn refresh(registry: &Registry, engine: &Engine, progress: &mut RowProgress) {
    let now = Timestamp::now();
    let version = [env!("CARGO_PKG_VERSION")];
    registry.set(Metric::Build, &version, 1.0);
    read_skills(registry, engine, now).await;
    read_slots(registry, engine, progress).await;
    read_notices(registry, engine, progress).await;
    let open = engine.store().approvals(false).await;
    if let Some(open) = read_or_log(open, "the open approvals to count") {
        registry.set(Metric::Approvals, &[], count(open.len()));
    }
    registry.clear(Metric::ServerUp);
    for health in engine.router().health() {
        let up = match health.state {
            ServerState::Disabled => continue,
            ServerState::Ready | ServerState::Starting | ServerState::Stopped => 1.0,
            ServerState::BackingOff { .. } | ServerState::CircuitOpen { .. } => 0.0,
        };
        registry.set(Metric::ServerUp, &[&health.server], up);
    }
}

/// Counts the spans exported since the last call.
pub(super) fn count_spans(registry: &Registry, progress: &mut RowProgress, state: &ExportState) {
    let (exported, dropped) = progress.spans;
    let more = |now: u64, before: u64| {
        let more = now.saturating_sub(before);
        f64::from(u32::try_from(more).unwrap_or(u32::MAX))
    };
    let (sent, lost) = (more(state.exported, exported), more(state.dropped, dropped));
    registry.add(Metric::SpansExported, &[], sent);
    registry.add(Metric::SpansDropped, &[], lost);
    progress.spans = (state.exported, state.dropped);
}

async fn read_skills(registry: &Registry, engine: &Engine, now: Timestamp) {
    let filter = SkillFilter {
        limit: Some(ROWS),
        ..SkillFilter::default()
    };
    let rows = engine.store().skills(filter).await;
    let Some(rows) = read_or_log(rows, "the skills to count") else {
        return;
    };
    for metric in [Metric::NextFire, Metric::ScheduleState, Metric::Failures] {
        registry.clear(metric);
    }
    for row in &rows {
        let skill = row.text.skill.as_str();
        registry.set(Metric::Failures, &[skill], f64::from(row.standing.streak));
        if row.text.timing.is_none() {
            continue;
        }
        if let Some(next) = row.timeline.next_at {
            let at = next.as_duration().as_secs_f64();
            registry.set(Metric::NextFire, &[skill], at);
        }
        let state = state(row, now);
        for word in STATES {
            let is = f64::from(u8::from(word == state));
            registry.set(Metric::ScheduleState, &[skill, word], is);
        }
    }
}

fn state(row: &SkillRow, now: Timestamp) -> &'static str {
    let standing = &row.standing;
    let is_late = |next: Timestamp| {
        next.saturating_add(LATE_AFTER)
            .is_ok_and(|latest| latest < now)
    };
    match (standing.disabled, row.timeline.next_at) {
        (Some(DisabledReason::Failures), _) => "down",
        (Some(_), _) => "paused",
        (None, Some(next)) if is_late(next) => "late",
        (None, _) if standing.streak > 0 => "down",
        (None, _) if standing.last_run_at.is_none() => "new",
        (None, _) => "up",
    }
}

/// Counts slots that were missed or skipped: they have rows and no events.
async fn read_slots(registry: &Registry, engine: &Engine, progress: &mut RowProgress) {
    let since = progress.slots_until;
    let filter = RunFilter {
        outcomes: vec![Outcome::Missed, Outcome::Skipped],
        since: Some(since),
        limit: Some(ROWS),
        ..RunFilter::default()
    };
    let mut end = None;
    loop {
        let page = engine.store().run_page(filter.clone(), end).await;
        let Some(page) = read_or_log(page, "the missed slots to count") else {
            return;
        };
        let fresh = page.runs.iter().filter(|row| row.admitted_at > since);
        for row in fresh.filter(|row| row.started_at.is_none()) {
            progress.slots_until = progress.slots_until.max(row.admitted_at);
            count_slots(registry, row);
        }
        if page.end.is_none() || page.runs.len() < ROWS as usize {
            return;
        }
        end = page.end;
    }
}

fn count_slots(registry: &Registry, row: &RunRow) {
    let skill = row.skill.as_str();
    let slots = f64::from(u32::try_from(row.slot_count).unwrap_or(u32::MAX));
    let outcome = row.outcome.unwrap_or(Outcome::Skipped);
    let labels = [skill, row.tier.word(), row.cause.as_str(), outcome.word()];
    registry.add(Metric::Runs, &labels, slots);
    if outcome == Outcome::Missed {
        registry.add(Metric::Missed, &[skill], slots);
    }
}

/// Counts messages to people that were delivered or given up.
async fn read_notices(registry: &Registry, engine: &Engine, progress: &mut RowProgress) {
    let since = progress.delivered_until;
    for (status, word) in [(NoticeStatus::Sent, "sent"), (NoticeStatus::Dead, "dead")] {
        let mut before = None;
        loop {
            let filter = NoticeFilter {
                status: Some(status),
                before,
                limit: Some(ROWS),
                ..NoticeFilter::default()
            };
            let rows = engine.store().notices(filter).await;
            let Some(rows) = read_or_log(rows, "the notices to count") else {
                break;
            };
            let fresh = rows.iter().filter_map(|row| row.ended_at);
            let fresh: Vec<Timestamp> = fresh.filter(|at| *at > since).collect();
            registry.add(Metric::Deliveries, &[word], count(fresh.len()));
            let newest = fresh.iter().max().copied().unwrap_or(since);
            progress.delivered_until = progress.delivered_until.max(newest);
            before = rows.last().map(|row| row.id);
            // A page without news ends the search: older messages were counted before.
            if fresh.is_empty() || rows.len() < ROWS as usize {
                break;
            }
        }
    }
}

fn count(rows: usize) -> f64 {
    f64::from(u32::try_from(rows).unwrap_or(u32::MAX))
}
