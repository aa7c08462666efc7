//! The end of a run: one transaction stores the outcome, outputs and error, the effects on the skill, and the
//! notices.

use std::sync::Arc;

use deft_library::aftermath::{self, FinishedRun, KnownOutage, NoticeSettings};
use deft_library::{PinnedSkill, SkillTiming};
use deft_model::{Cause, ExhaustedAction, Failure, FailureClass, Outcome, RunId, RunStatus};
use deft_outbox::{Kind, Notice};
use deft_schedule::LATE;
use deft_store::{
    Batch, Finish, Lease, NewFact, RunRow, RunState, SkillChange, SkillRow, SkillUpdate, Write,
};
use deft_workflow::{Event, Machine, Recovery, RunEnd, RunError};
use jiff::Timestamp;

use crate::engine::Inner;
use crate::event_json::encode_all;
use crate::published_event::PublishedEvent;
use crate::record::Journal;
use crate::summary::summary;
use crate::transcript::has_notice;
use crate::{Error, JOB_SKILL, reply, session_log};

/// Tools that send a message to a person; a run that used one needs no notice about its end.
const MESSAGE_TOOLS: [&str; 2] = ["telegram_send_message", "notify"];

/// Returns the end of a run as it is stored.
pub(crate) fn row(finished: &RunEnd, at: Timestamp) -> Finish {
    Finish {
        outcome: finished.outcome,
        outputs: Some(finished.outputs.to_string()),
        error: finished
            .error
            .as_ref()
            .and_then(|error| serde_json::to_string(error).ok()),
        aftermath: None,
        at,
    }
}

/// Returns the row of a run after its end is stored, without reading it back.
pub(crate) fn ended_row(mut run: RunRow, finish: Finish, usage: Option<String>) -> RunRow {
    run.status = RunStatus::Done;
    run.outcome = Some(finish.outcome);
    run.outputs = finish.outputs;
    run.error = finish.error;
    run.usage = usage;
    run.finished_at = Some(finish.at);
    run.finish_ordinal += 1;
    run.owner = None;
    run.wake_at = None;
    run.waiting_for = None;
    run
}

/// Returns the last events of a run that ends without a driver.
pub(crate) fn closing_events(by: &str, started: Option<Timestamp>, at: Timestamp) -> Vec<Event> {
    let failure = Failure::new(FailureClass::Cancelled, format!("cancelled by {by}"));
    let took = started.map_or(0, |started| at.as_millisecond() - started.as_millisecond());
    let finished = RunEnd {
        outcome: Outcome::Cancelled,
        outputs: serde_json::Value::Null,
        error: Some(RunError {
            failure: failure.clone(),
            step: None,
        }),
        ms: u64::try_from(took).unwrap_or(0),
    };
    vec![Event::Stopped { failure }, Event::Finished(finished)]
}

/// A run that has ended, before its end is stored.
pub(crate) struct EndedRun<'a> {
    pub(crate) run: &'a RunRow,
    pub(crate) lease: &'a Lease,
    pub(crate) finished: &'a RunEnd,
    /// The latest interruption of the run.
    pub(crate) recovery: Option<Recovery>,
    /// Whether the run has sent a notice itself.
    pub(crate) notified: bool,
    /// The reaction of the skill to a spent budget, if the run ended because of that.
    pub(crate) exhausted: Option<ExhaustedAction>,
    /// The row of the skill when the run started, if known.
    pub(crate) skill: Option<&'a Arc<SkillRow>>,
    pub(crate) at: Timestamp,
}

/// Returns the notice about a detached run that failed. Runs of slots have other notices.
fn unwatched_failure(ending: &EndedRun<'_>) -> Option<Write> {
    let run = ending.run;
    let outcome = ending.finished.outcome;
    let failed = matches!(
        outcome,
        Outcome::Error | Outcome::Blocked | Outcome::Interrupted
    );
    if run.cause != Cause::Detached || !failed {
        return None;
    }
    let why = summary(ending.finished);
    let text = format!(
        "`{}` failed: {why}\n`deft runs show {}` shows its steps",
        run.skill, run.id
    );
    let kind = Kind::from_outcome(outcome);
    let notice = Notice::about_run(kind, &run.skill, text, &run.skill, run.id.as_str());
    Some(write_notice(&notice, ending.at))
}

/// Returns the write that stores a notice with a batch. A run sends one notice of each kind.
pub(crate) fn write_notice(notice: &Notice, at: Timestamp) -> Write {
    Write::Notice {
        key: notice.kind.word().to_owned(),
        body: notice.body(),
        at,
    }
}

/// Whether a run has sent a message to people with a tool, including the tool that `channel` names.
pub(crate) fn has_notified(machine: &Machine, channel: Option<&str>) -> bool {
    let mut telling = MESSAGE_TOOLS.into_iter().chain(channel);
    telling.any(|tool| machine.has_called(tool))
}

impl Inner {
    /// Stores the end of a run with everything that belongs to it, then publishes it. Returns what was
    /// stored, with the summary of the model costs.
    pub(crate) async fn commit_end(
        &self,
        ending: &EndedRun<'_>,
        journal: &mut Journal,
    ) -> Result<(Finish, Option<String>), Error> {
        let pinned = self
            .library
            .find_pinned(&ending.run.skill, &ending.run.revision)
            .await?;
        let (events, mut own) = journal.take();
        let (id, skill) = (&ending.run.id, &ending.run.skill);
        if ending.finished.outcome != Outcome::Success {
            let why = summary(ending.finished);
            let name = &pinned.skill.name;
            own.extend(error_fact(skill, id, name, &why, ending.at));
        }
        own.extend(reply::answer(ending.run, ending.finished, ending.at)?);
        own.extend(unwatched_failure(ending));
        let mut known = ending.skill.cloned();
        let mut ended_outage = None;
        loop {
            let mut stored = row(ending.finished, ending.at);
            let mut notices = Vec::new();
            if let Some((skill, change, after)) = self
                .decide_skill_update(ending, &pinned, known.take(), &mut ended_outage)
                .await?
            {
                stored.aftermath = Some(Box::new(SkillUpdate {
                    id: skill.id,
                    version: skill.version,
                    change,
                }));
                notices = after;
            }
            let batch = || Batch {
                events: encode_all(&events),
                writes: own.iter().chain(&notices).cloned().collect(),
                then: RunState::Finish(stored.clone()),
            };
            let store = &self.parts.store;
            match self.retry(id, || store.append(ending.lease, batch())).await {
                Ok(appended) => {
                    let has_notice = has_notice(&own) || has_notice(&notices);
                    journal.keep(&events, has_notice);
                    self.publish_all(id, skill, appended.first_seq, events);
                    let after = stored.aftermath.as_ref();
                    let moves = after.is_some_and(|after| after.change.timeline.is_some());
                    self.ring_after(moves, has_notice);
                    return Ok((stored, appended.usage));
                }
                // Only a change of the skill can come in between; then the effects are decided again.
                Err(Error::Store(deft_store::Error::Changed { .. })) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Wakes the loops that may have work after the end of a run: queued runs, notices, and the slots of its
    /// skill.
    fn ring_after(&self, moves: bool, has_notice: bool) {
        self.base.bells().runs.notify_waiters();
        if has_notice {
            self.base.bells().messages.notify_waiters();
        }
        if moves {
            self.base.bells().schedules.notify_waiters();
        }
    }

    /// Decides the effects of the end of a run on its skill; `None` if the store has no row of the skill. An
    /// outage that the run has ended is kept in `ended_outage`: it is no longer stored when the effects are
    /// decided again.
    async fn decide_skill_update(
        &self,
        ending: &EndedRun<'_>,
        pinned: &PinnedSkill,
        known: Option<Arc<SkillRow>>,
        ended_outage: &mut Option<KnownOutage>,
    ) -> Result<Option<(Arc<SkillRow>, SkillChange, Vec<Write>)>, Error> {
        let run = ending.run;
        if !pinned.has_row() {
            return Ok(None);
        }
        // The row may be stale; then storing fails and the row is read again.
        let row = match known {
            Some(row) => Some(row),
            None => self.parts.store.skill(&run.skill).await?.map(Arc::new),
        };
        let Some(row) = row else {
            return Ok(None);
        };
        let timed = SkillTiming::from_row(&row)?;
        let terms = NoticeSettings {
            policy: &pinned.skill.policy,
            one_shot: timed.is_some_and(|timed| timed.is_one_shot()),
            notify_minutes: self.options.notify_minutes,
        };
        let outage = match ended_outage {
            Some(ended) => ended.clone(),
            None => self.outage_as_known(ending, &row).await?,
        };
        if let KnownOutage::Ended(_) = outage {
            *ended_outage = Some(outage.clone());
        }
        let (slot, late) = self.slot_of(run);
        let ended = FinishedRun {
            run: run.id.as_str(),
            slot,
            late,
            outcome: ending.finished.outcome,
            failure: ending.finished.failure(),
            summary: summary(ending.finished),
            recovery: ending.recovery,
            notified: ending.notified,
            exhausted: ending.exhausted,
            outage,
            at: ending.at,
            schedule_at: self.base.held_schedule_time().unwrap_or(ending.at),
            zone: &self.base.host_zone(),
        };
        let decision = aftermath::decide(&row, &terms, &ended);
        let notices = decision.notices.iter();
        let notices = notices.map(|notice| write_notice(notice, ending.at));
        Ok(Some((row, decision.change, notices.collect())))
    }

    /// Returns the slot of a run, and whether it started long after it. For an event, the slot is the time of
    /// admission.
    fn slot_of(&self, run: &RunRow) -> (Option<Timestamp>, bool) {
        let event = (run.cause == Cause::Event).then_some(run.admitted_at);
        let begun = self.base.held_schedule_time();
        let begun = begun.unwrap_or(run.admitted_at);
        let late = run
            .slot
            .is_some_and(|slot| begun.duration_since(slot) > LATE);
        (run.slot.or(event), late)
    }

    /// Like [`Self::known_outage`], but treats damaged incidents as none: the run must still end, and people
    /// get the usual notice about its failure.
    async fn outage_as_known(
        &self,
        ending: &EndedRun<'_>,
        row: &SkillRow,
    ) -> Result<KnownOutage, Error> {
        match self.known_outage(ending, row).await {
            Err(error @ Error::Unreadable { .. }) => {
                tracing::error!(%error, "cannot update the incident of a finished run");
                Ok(KnownOutage::Unknown)
            }
            known => known,
        }
    }

    /// Returns what people know of the outage that a run met, or of the one that ended with it.
    async fn known_outage(
        &self,
        ending: &EndedRun<'_>,
        row: &SkillRow,
    ) -> Result<KnownOutage, Error> {
        let (run, at) = (ending.run, ending.at);
        let alerted = row.standing.alerted_at;
        let unattended = self.slot_of(run).0.is_some();
        let outage = ending
            .finished
            .failure()
            .and_then(|failure| failure.outage.as_deref());
        match (ending.finished.outcome, outage) {
            (Outcome::Success, _) if alerted.is_some() => {
                let end = || self.incidents.end_for(&row.text.skill, at);
                let ended = self.retry(&run.id, end).await?;
                Ok(match ended {
                    None => KnownOutage::Unknown,
                    Some(ended) if ended.notified_elsewhere => KnownOutage::Notified,
                    Some(ended) => KnownOutage::Ended(ended.others),
                })
            }
            (Outcome::Error | Outcome::Blocked | Outcome::Interrupted, Some(outage))
                if unattended && !aftermath::is_folded(alerted, at) =>
            {
                let (skill, name) = (&row.text.skill, run.id.as_str());
                let join = || self.incidents.join(outage, skill, name, at);
                let known = self.retry(&run.id, join).await?;
                Ok(if known {
                    KnownOutage::Notified
                } else {
                    KnownOutage::Unknown
                })
            }
            (
                Outcome::Success
                | Outcome::Error
                | Outcome::Skipped
                | Outcome::Missed
                | Outcome::Blocked
                | Outcome::Cancelled
                | Outcome::Interrupted,
                _,
            ) => Ok(KnownOutage::Unknown),
        }
    }

    /// Publishes and logs the end of a run that was cancelled without a driver.
    pub(crate) async fn publish_end(&self, run: &RunId) -> Result<(), Error> {
        let store = &self.parts.store;
        let Some(row) = store.run(run).await? else {
            return Ok(());
        };
        if row.outcome != Some(Outcome::Cancelled) {
            return Ok(());
        }
        let stored = store.events(Some(run), 0, u32::MAX).await?;
        let last = stored.iter().rev().take(2).rev();
        for event in last.map(|stored| PublishedEvent::read(&row, stored.clone())) {
            let event = event?;
            if let Event::Finished(finished) = &event.event {
                self.log_session(&row, finished, event.at);
            }
            self.publish(event);
        }
        Ok(())
    }

    /// Adds a run that has ended to the session log.
    pub(crate) fn log_session(&self, run: &RunRow, finished: &RunEnd, at: Timestamp) {
        let Some(folder) = &self.options.sessions else {
            return;
        };
        let zone = self.base.host_zone();
        let error = finished.error.as_ref();
        let settings = session_log::LogSettings {
            folder,
            zone: &zone,
            max_age: self.options.sessions_max_age,
        };
        let written = session_log::append(
            &settings,
            at,
            run,
            &finished.outcome.to_string(),
            &finished.outputs,
            error.map(|error| error.failure.message.as_str()),
        );
        if let Err(error) = written {
            tracing::warn!(%error, "the session log was not written");
        }
    }
}

/// Returns the fact that is stored about a failed job, for callers who look for it later (S0.82).
pub(crate) fn error_fact(
    skill: &str,
    run: &RunId,
    name: &str,
    why: &str,
    at: Timestamp,
) -> Option<Write> {
    if skill != JOB_SKILL {
        return None;
    }
    Some(Write::Fact(NewFact {
        agent_id: "orchestrator".to_owned(),
        category: "error".to_owned(),
        text: format!("background job `{name}` failed: {why}"),
        source: Some(run.to_string()),
        at,
    }))
}
