//! One tick of the schedules: decides all slots that have come, each under its own key, and fires runs.
//!
//! The clock is an argument. `deft-schedule` decides about slots; the [`Pool`] drives runs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use deft_base::Error;
use deft_engine::{Admission, AdmittedRun, Attention, Fire, LeasedRun, new_run_id};
use deft_library::aftermath;
use deft_model::{Cause, Failure, FailureClass, Misfire, Outcome, Overlap, Policy, RunId};
use deft_schedule::{Due, LATE, due, pace};
use deft_store::{PassedSlots, SkillRow, SlotStep};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use crate::log_lines;
use crate::pool::LateMark;
use crate::{Pool, Scheduler, readable_timing};

/// Number of skills read from the store at a time.
const SKILLS_PER_READ: u32 = 1024;

/// Maximum number of skills with several late slots that fire one of them in a tick.
const MAX_LATE_PER_TICK: usize = 64;

/// How long the slots of a tick wait for permits of the pool before they are stored as queued.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(1);

/// What one tick did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TickReport {
    /// Runs that were started or queued.
    pub fired: Vec<RunId>,
    /// Slots that produced no run, each with the id of its row and the outcome.
    pub passed: Vec<(RunId, Outcome)>,
    /// Number of missed slots; one row may stand for several.
    pub missed: u64,
    /// Skills that were enabled because their tools have become available.
    pub enabled: Vec<String>,
    /// Whether late slots remain that wait for other late runs to end.
    pub held_back: bool,
    /// When to tick again although no slot is due: a one-shot skill waits for tools past its time.
    pub look_again: Option<Timestamp>,
}

impl Scheduler {
    /// Decides every slot up to `now`. The pool drives the runs; this returns when all of them are stored.
    pub async fn tick(&self, now: Timestamp, pool: &Pool) -> Result<TickReport, Error> {
        let mut ticked = TickReport::default();
        self.decide_slots(now, pool, &mut ticked).await?;
        ticked.enabled = self.enable_ready(now).await?;
        if !ticked.enabled.is_empty() {
            // A one-shot skill may have waited for its tools past its time.
            self.decide_slots(now, pool, &mut ticked).await?;
        }
        ticked.look_again = self.miss_overdue(now, &mut ticked).await?;
        Ok(ticked)
    }

    async fn decide_slots(
        &self,
        now: Timestamp,
        pool: &Pool,
        ticked: &mut TickReport,
    ) -> Result<(), Error> {
        let late = now.saturating_sub(LATE).unwrap_or(Timestamp::MIN);
        let mut paced = LatePacing::default();
        loop {
            // Slots on time never wait for late ones.
            let due = self
                .store()
                .due_skills(Some(late), now, SKILLS_PER_READ)
                .await?;
            if !due.is_empty() {
                let SlotDecisions { passing, firing } = self.decide(due, now);
                self.pass(passing, ticked).await?;
                self.fire_all(firing, pool, ticked).await?;
                continue;
            }
            let SlotDecisions { passing, firing } =
                self.late_slots(late, now, pool, &mut paced).await?;
            ticked.held_back = paced.held_back;
            if passing.is_empty() && firing.is_empty() {
                return Ok(());
            }
            self.pass(passing, ticked).await?;
            self.fire_all(firing, pool, ticked).await?;
        }
    }

    /// Returns the late slots to decide now: all that produce no run, and as many that do as the pace allows.
    /// Each skill gets one of the latter at a time, so that a night of downtime does not fill the queue with
    /// all its slots.
    async fn late_slots(
        &self,
        late: Timestamp,
        now: Timestamp,
        pool: &Pool,
        paced: &mut LatePacing,
    ) -> Result<SlotDecisions, Error> {
        let unfinished = pool.unfinished_skills();
        let room = pace(unfinished.len());
        // After downtime many late slots may produce no run; these are decided in bulk. Otherwise only as
        // many rows are read as can start, so that slots that wait for room are not read repeatedly.
        let limit = if pool.may_have_missed() {
            SKILLS_PER_READ
        } else {
            count(room.max(1) + unfinished.len() + paced.fired.len())
        };
        let due = self.store().due_skills(None, late, limit).await?;
        let SlotDecisions { passing, firing } = self.decide(due, now);
        pool.set_may_have_missed(!passing.is_empty());
        let busy = |id: i64| unfinished.contains(&id) || paced.fired.contains(&id);
        let (waiting, mut free): (Vec<_>, Vec<_>) =
            firing.into_iter().partition(|(row, _)| busy(row.id));
        let mut room = room.min(MAX_LATE_PER_TICK.saturating_sub(paced.fired.len()));
        // Other processes run late slots too. Two that tick at the same instant may each start their share,
        // but no more.
        if !free.is_empty() && room > 0 {
            let driven = self.store().late_running(LATE).await?;
            room = room.min(pace(usize::try_from(driven).unwrap_or(usize::MAX)));
        }
        paced.held_back = !waiting.is_empty() || free.len() > room;
        free.truncate(room);
        // Only skills with `misfire: all` can have a second late slot.
        let again = free.iter().filter(|(_, coming)| coming.queues);
        paced.fired.extend(again.map(|(row, _)| row.id));
        Ok(SlotDecisions {
            passing,
            firing: free,
        })
    }

    /// Starts the runs of slots, and waits until all of them are stored.
    async fn fire_all(
        &self,
        slots: Vec<(Arc<SkillRow>, NextSlot)>,
        pool: &Pool,
        ticked: &mut TickReport,
    ) -> Result<(), Error> {
        let mut firing = FuturesUnordered::new();
        // One deadline for all: if runs are slow, the thousandth slot is stored as soon as the second.
        let deadline = Instant::now() + PERMIT_TIMEOUT;
        for (row, coming) in slots {
            let permit = pool.permit_by(deadline).await;
            firing.push(self.launch(row, coming, pool.clone(), permit));
        }
        while let Some(fired) = firing.next().await {
            // A task that ended without an answer has logged why.
            let Ok(fired) = fired else { continue };
            match fired? {
                (SlotResult::Run(run), step) => {
                    ticked.fired.push(run);
                    ticked.note(&step);
                }
                (SlotResult::Passed(step), _) => ticked.note(&step),
                (SlotResult::AlreadyHandled, _) => {}
            }
        }
        Ok(())
    }

    /// Stores slots that produce no run.
    pub(crate) async fn pass(
        &self,
        steps: Vec<SlotStep>,
        ticked: &mut TickReport,
    ) -> Result<(), Error> {
        if steps.is_empty() {
            return Ok(());
        }
        let counted = self.store().pass_slots(steps.clone()).await?;
        for (step, counted) in steps.iter().zip(counted) {
            if counted {
                ticked.note(step);
            }
        }
        self.ring_for(&steps);
        Ok(())
    }

    /// Rings the bell for messages if the steps contain notices.
    fn ring_for(&self, steps: &[SlotStep]) {
        if steps.iter().any(|step| step.notice.is_some()) {
            self.engine.base().bells().messages.notify_waiters();
        }
    }

    /// Starts the run of a slot in the pool. The receiver gets the result as soon as the run is stored, with
    /// the stored decisions about the slots before it.
    fn launch(
        &self,
        row: Arc<SkillRow>,
        coming: NextSlot,
        pool: Pool,
        permit: Option<OwnedSemaphorePermit>,
    ) -> oneshot::Receiver<Result<(SlotResult, SlotStep), Error>> {
        let (stored, answer) = oneshot::channel();
        let late = coming.late.then(|| LateMark::enter(&pool, row.id));
        let step = coming.step.clone();
        let scheduler = self.clone();
        let tasks = pool.tasks.clone();
        // Boxed, because a future of this size is copied several times on its way into a task.
        tasks.spawn(Box::pin(async move {
            let mut permit = permit;
            let begun = scheduler
                .fire_slot(&row, coming, &pool.attention, permit.is_some())
                .await;
            let (fired_result, begun) = match begun {
                Ok(SlotStart::Leased(run, mut begun)) => {
                    begun.skill = Some(Arc::clone(&row));
                    begun.permit = permit.take();
                    (Ok(SlotResult::Run(run)), Some(begun))
                }
                Ok(SlotStart::Stored(fired)) => (Ok(fired), None),
                Err(error) => (Err(error), None),
            };
            drop(stored.send(fired_result.map(|fired| (fired, step))));
            if let Some(begun) = begun {
                match scheduler.engine.drive_leased(begun, pool.attention).await {
                    Ok(driven) => log_lines::log_end(&scheduler.engine, driven.run()).await,
                    Err(error) => {
                        scheduler.loss.note(&error);
                        tracing::error!(skill = %row.text.skill, %error, "executing a run failed");
                    }
                }
            }
            drop(permit);
            scheduler.engine.base().bells().runs.notify_waiters();
            if late.is_some() {
                drop(late);
                scheduler.engine.base().bells().schedules.notify_waiters();
            }
        }));
        answer
    }

    async fn fire_slot(
        &self,
        row: &SkillRow,
        coming: NextSlot,
        attention: &Attention,
        drive: bool,
    ) -> Result<SlotStart, Error> {
        let slot = coming.slot.unwrap_or(coming.step.from);
        let pinned = match self.library().pin_row(row).await {
            Ok(pinned) => pinned,
            Err(error) => return self.refuse(row, coming, &error).await,
        };
        let mut check_failed = None;
        if coming.preflight {
            match self.engine.check_preflight(&pinned, slot).await {
                Ok(None) => {}
                Ok(Some(why)) => {
                    let failure = Failure::new(FailureClass::Other, why);
                    return self.pass_one(row, coming, Outcome::Skipped, &failure).await;
                }
                // The run records why, and an agent's run tries the check again before it asks its model.
                Err(why) => check_failed = Some(why),
            }
        }
        if let Some(failure) = self.engine.agents().budget_spent(&pinned).await {
            return self.pass_one(row, coming, Outcome::Skipped, &failure).await;
        }
        let fire = Fire {
            skill: row.text.skill.clone(),
            cause: Cause::Schedule,
            slot: Some(slot),
            step: Some(coming.step.clone()),
            overlap: overlap(&coming, &pinned.skill.policy),
            check_failed,
            ..Fire::default()
        };
        // Use the skill of this row, because a file may have the same name.
        let begun = if drive {
            self.engine.begin_pinned(fire, pinned, attention).await
        } else {
            self.engine
                .admit_pinned(fire, pinned)
                .await
                .map(AdmittedRun::NotLeased)
        };
        match begun {
            Ok(AdmittedRun::NotLeased(Admission::Run(run)) | AdmittedRun::Queued(run)) => {
                Ok(SlotStart::Stored(SlotResult::Run(run.id)))
            }
            Ok(AdmittedRun::NotLeased(Admission::Existing(_))) => {
                self.skip_recorded_slot(coming).await
            }
            Err(Error::SlotAlreadyHandled { .. }) => {
                Ok(SlotStart::Stored(SlotResult::AlreadyHandled))
            }
            Ok(AdmittedRun::Leased(leased)) => Ok(SlotStart::Leased(leased.run().clone(), leased)),
            Err(error @ Error::Store(_)) => Err(error),
            Err(error) => self.refuse(row, coming, &error).await,
        }
    }

    /// Advances the skill past a slot that already has a row, from before the clock was set back or the skill
    /// was created anew.
    async fn skip_recorded_slot(&self, coming: NextSlot) -> Result<SlotStart, Error> {
        self.store().pass_slots(vec![coming.step]).await?;
        Ok(SlotStart::Stored(SlotResult::AlreadyHandled))
    }

    /// Stores a slot that cannot become a run as failed, with the reason.
    async fn refuse(
        &self,
        row: &SkillRow,
        coming: NextSlot,
        error: &Error,
    ) -> Result<SlotStart, Error> {
        let mut failure = Failure::new(FailureClass::Invalid, error.to_string());
        failure.hint = error.hint();
        let run = coming.step.passed.last().map(|passed| passed.run.clone());
        let slot = coming.slot.unwrap_or(coming.step.from);
        let started = self.pass_one(row, coming, Outcome::Error, &failure).await?;
        if let SlotStart::Stored(SlotResult::Passed(_)) = &started {
            let run = run.map_or_else(String::new, |run| run.to_string());
            self.library()
                .count_failure(row, (&run, slot), &failure)
                .await?;
        }
        Ok(started)
    }

    async fn pass_one(
        &self,
        row: &SkillRow,
        coming: NextSlot,
        outcome: Outcome,
        why: &Failure,
    ) -> Result<SlotStart, Error> {
        let mut step = coming.step;
        step.passed.push(PassedSlots {
            run: new_run_id(),
            slot: coming.slot.unwrap_or(step.from),
            until: None,
            count: 1,
            outcome,
            error: serde_json::to_string(why).unwrap_or_default(),
        });
        step.notice =
            aftermath::notice_of_lost_slot(row, &step, &self.engine.base().host_zone(), self.now());
        let counted = self.store().pass_slots(vec![step.clone()]).await?;
        self.ring_for(std::slice::from_ref(&step));
        Ok(SlotStart::Stored(match counted.first() {
            Some(true) => SlotResult::Passed(step),
            _ => SlotResult::AlreadyHandled,
        }))
    }
}

impl TickReport {
    fn note(&mut self, step: &SlotStep) {
        let rows = step.passed.iter();
        self.passed
            .extend(rows.map(|passed| (passed.run.clone(), passed.outcome)));
        let missed = step.passed.iter();
        let missed = missed.filter(|passed| passed.outcome == Outcome::Missed);
        self.missed += missed.map(|passed| passed.count).sum::<u64>();
    }
}

/// State of one tick about late slots.
#[derive(Default)]
struct LatePacing {
    /// Skills that have fired a late slot in this tick.
    fired: HashSet<i64>,
    held_back: bool,
}

/// The result of a slot that should fire.
enum SlotResult {
    Run(RunId),
    Passed(SlotStep),
    /// Another process decided it first.
    AlreadyHandled,
}

enum SlotStart {
    Leased(RunId, Box<LeasedRun>),
    Stored(SlotResult),
}

/// The decision about the slots of a skill.
struct NextSlot {
    slot: Option<Timestamp>,
    late: bool,
    /// Whether the skill has `misfire: all`, so that its late slots run one after the other.
    queues: bool,
    preflight: bool,
    step: SlotStep,
}

/// Returns the overlap rule that overrides the skill's. Late slots of `misfire: all` always queue; the slot
/// on time queues behind them, unless the skill sets a rule.
fn overlap(coming: &NextSlot, policy: &Policy) -> Option<Overlap> {
    let waits = coming.queues && (coming.late || policy.overlap.is_none());
    waits.then_some(Overlap::Queue)
}

/// Returns a step that ends the timeline of a skill with unreadable timing.
fn end_timeline(row: &SkillRow, now: Timestamp) -> SlotStep {
    SlotStep {
        id: row.id,
        from: row.timeline.next_at.unwrap_or(now),
        backoff_until: row.standing.backoff_until,
        to: None,
        passed: Vec::new(),
        last: false,
        notice: None,
        at: now,
    }
}

/// The decisions about the slots of several skills.
#[derive(Default)]
struct SlotDecisions {
    passing: Vec<SlotStep>,
    firing: Vec<(Arc<SkillRow>, NextSlot)>,
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Scheduler {
    fn decide(&self, rows: Vec<SkillRow>, now: Timestamp) -> SlotDecisions {
        let mut decided = SlotDecisions::default();
        let zone = self.engine.base().host_zone();
        for row in rows {
            match decide_next_slot(&row, now, &zone) {
                Some(coming) if coming.slot.is_some() => {
                    decided.firing.push((Arc::new(row), coming));
                }
                Some(mut coming) => {
                    coming.step.notice =
                        aftermath::notice_of_lost_slot(&row, &coming.step, &zone, self.now());
                    decided.passing.push(coming.step);
                }
                None => decided.passing.push(end_timeline(&row, now)),
            }
        }
        decided
    }
}

/// Decides about the slots of a skill; `None` if its timing cannot be read.
fn decide_next_slot(row: &SkillRow, now: Timestamp, zone: &TimeZone) -> Option<NextSlot> {
    let timed = readable_timing(row)?;
    let schedule = timed.schedule(row.timeline.anchor, zone)?;
    let from = row.timeline.next_at?;
    let Due { passed, fire, next } = due(
        &schedule,
        from,
        now,
        &timed.rule(),
        row.standing.backoff_until,
    );
    let late = fire.is_some_and(|slot| slot.late);
    let passed = passed.into_iter().map(|passed| PassedSlots {
        run: new_run_id(),
        slot: passed.slot,
        until: passed.until,
        count: passed.count,
        outcome: passed.why.outcome(),
        error: reason(passed.why.reason(zone)),
    });
    Some(NextSlot {
        slot: fire.map(|slot| slot.at),
        late,
        queues: timed.rule().misfire == Misfire::All,
        preflight: timed.preflight,
        step: SlotStep {
            id: row.id,
            from,
            backoff_until: row.standing.backoff_until,
            to: next,
            passed: passed.collect(),
            last: timed.is_one_shot(),
            notice: None,
            at: now,
        },
    })
}

fn reason(why: String) -> String {
    serde_json::to_string(&Failure::new(FailureClass::Other, why)).unwrap_or_default()
}
