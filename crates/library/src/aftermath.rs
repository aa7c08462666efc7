//! The effects of the end of a run on its skill: its streak, its next try, whether it keeps firing, and the
//! notices to people (S0.65, S0.66, S0.69, S0.73, S1.4 under X1, X2, X7).
//!
//! A pure decision. Not here: storing it, and how a channel formats a notice.

use std::collections::BTreeSet;

use deft_model::{DisabledReason, ExhaustedAction, Failure, FailureClass, Outcome, Policy};
use deft_outbox::{Kind, Notice};
use deft_schedule::{LATE, day_and_time, length};
use deft_store::{NewNotice, SchedulePosition, SkillChange, SkillRow, SkillState, SlotStep};
use deft_workflow::Recovery;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Alerts about one incident are merged for this long.
const FOLD: SignedDuration = SignedDuration::from_hours(24);

/// A run whose summary is exactly this text sends no notice.
const NOTHING_TO_REPORT: &str = "nothing to report";

/// A finished run, as its skill sees it.
pub struct FinishedRun<'a> {
    /// The run.
    pub run: &'a str,
    /// The slot that fired it, or the instant of the event. `None` for a run that a person started; such a
    /// run does not affect the streak.
    pub slot: Option<Timestamp>,
    /// Whether it started long after its slot.
    pub late: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    pub failure: Option<&'a Failure>,
    /// The result in a sentence.
    pub summary: String,
    /// Its latest interruption, if another process had to resume it.
    pub recovery: Option<Recovery>,
    /// Whether the run has sent a notice itself.
    pub notified: bool,
    /// The reaction of the skill to a spent budget, if the run ended because of that.
    pub exhausted: Option<ExhaustedAction>,
    /// Whether people know of the outage that affected the skill.
    pub outage: KnownOutage,
    /// When it ended.
    pub at: Timestamp,
    /// The same instant on the schedule's clock, which `deft tick --now` can set.
    pub schedule_at: Timestamp,
    /// The zone in which notices show times.
    pub zone: &'a TimeZone,
}

/// What people know of an outage that affects several skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KnownOutage {
    /// Nothing: no outage, or this run is the first to meet it.
    #[default]
    Unknown,
    /// They know that it began, or another notice reports that it ended.
    Notified,
    /// It ended with this run. It had affected these other skills.
    Ended(BTreeSet<String>),
}

impl FinishedRun<'_> {
    fn by_slot(&self) -> bool {
        self.slot.is_some()
    }
}

/// The settings of a skill that matter for the decision.
pub struct NoticeSettings<'a> {
    /// The policy of the skill.
    pub policy: &'a Policy,
    /// Whether the skill fires once.
    pub one_shot: bool,
    /// The shortest time between two notices in minutes, if the skill sets none.
    pub notify_minutes: u32,
}

/// The changes that follow from the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The change of the skill's row.
    pub change: SkillChange,
    /// The notices to people.
    pub notices: Vec<Notice>,
}

/// Decides the effects of the end of a run on its skill.
pub fn decide(row: &SkillRow, terms: &NoticeSettings<'_>, ended: &FinishedRun<'_>) -> Decision {
    let mut decision = Decision {
        change: SkillChange {
            standing: match ended.outcome {
                // A skipped run did not run (X5).
                Outcome::Skipped => row.standing.clone(),
                Outcome::Success
                | Outcome::Error
                | Outcome::Missed
                | Outcome::Blocked
                | Outcome::Cancelled
                | Outcome::Interrupted => SkillState {
                    last_run_at: Some(ended.at),
                    last_run_status: Some(ended.outcome.to_string()),
                    last_run_summary: Some(ended.summary.clone()),
                    ..row.standing.clone()
                },
            },
            timeline: None,
            at: ended.at,
        },
        notices: Vec::new(),
    };
    match ended.outcome {
        Outcome::Success => decide_success(&mut decision, row, terms, ended),
        Outcome::Error if ended.exhausted == Some(ExhaustedAction::Pause) => {
            pause(&mut decision, row, ended);
        }
        // A spent budget is no fault of the skill.
        Outcome::Error if ended.by_slot() && is_budget(ended) => {
            alert(&mut decision, row, ended, Kind::Failure);
        }
        Outcome::Error if ended.by_slot() => decide_failure(&mut decision, row, terms, ended),
        Outcome::Blocked | Outcome::Interrupted if ended.by_slot() => {
            alert(&mut decision, row, ended, Kind::from_outcome(ended.outcome));
            close_one_shot(&mut decision, terms, ended);
        }
        Outcome::Cancelled => close_one_shot(&mut decision, terms, ended),
        // No slot follows the only one, so people must be told.
        Outcome::Skipped if terms.one_shot && ended.by_slot() => {
            alert(&mut decision, row, ended, Kind::Failure);
            close_one_shot(&mut decision, terms, ended);
        }
        Outcome::Error
        | Outcome::Skipped
        | Outcome::Missed
        | Outcome::Blocked
        | Outcome::Interrupted => {}
    }
    decision
}

fn decide_success(
    decision: &mut Decision,
    row: &SkillRow,
    terms: &NoticeSettings<'_>,
    ended: &FinishedRun<'_>,
) {
    let standing = &mut decision.change.standing;
    standing.streak = 0;
    standing.backoff_until = None;
    let alerted = standing.alerted_at.take().is_some();
    let late = lateness(terms, ended, alerted);
    let notifies = match &ended.outage {
        KnownOutage::Unknown => alerted,
        KnownOutage::Notified => false,
        // Also if a skill of another process ended the outage at the same time and cleared this alert: the
        // other run found the outage ended, and sends nothing.
        KnownOutage::Ended(_) => true,
    };
    if notifies {
        let text = format!("`{}` works again: {}", row.text.skill, ended.summary);
        let text = format!("{text}{}{late}", also_affected(&ended.outage));
        decision
            .notices
            .push(notice(row, ended, Kind::Recovery, text));
    } else if should_notify(row, terms, ended) {
        decision.change.standing.notified_at = Some(ended.at);
        let text = format!("{}{late}", ended.summary);
        decision
            .notices
            .push(notice(row, ended, Kind::Completion, text));
    } else if terms.one_shot && !late.is_empty() {
        // A notice that the run sent itself cannot say that it was late.
        let text = format!("`{}` ran{late}", row.text.skill);
        decision
            .notices
            .push(notice(row, ended, Kind::Completion, text));
    }
    close_one_shot(decision, terms, ended);
}

/// Returns the remark about a late run: it started late, or it was a one-shot that had to wait. Empty
/// otherwise.
fn lateness(terms: &NoticeSettings<'_>, ended: &FinishedRun<'_>, waited: bool) -> String {
    let Some(slot) = ended.slot else {
        return String::new();
    };
    let waited = waited && terms.one_shot && ended.schedule_at.duration_since(slot) > LATE;
    if !ended.late && !waited {
        return String::new();
    }
    let planned = day_and_time(slot, ended.schedule_at, ended.zone);
    format!("\nlate: it was planned for {planned}")
}

fn also_affected(outage: &KnownOutage) -> String {
    match outage {
        KnownOutage::Ended(others) if !others.is_empty() => {
            let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
            format!("\nalso affected: {}", others.join(", "))
        }
        KnownOutage::Unknown | KnownOutage::Notified | KnownOutage::Ended(_) => String::new(),
    }
}

/// Whether to send a completion notice (X7): the policy asks for it, the last one is old enough, and the run
/// has not sent one itself.
fn should_notify(row: &SkillRow, terms: &NoticeSettings<'_>, ended: &FinishedRun<'_>) -> bool {
    let pause = match terms.policy.notify_interval_minutes {
        0 => terms.notify_minutes,
        minutes => minutes,
    };
    let pause = SignedDuration::from_mins(i64::from(pause));
    let soon = row
        .standing
        .notified_at
        .is_some_and(|last| ended.at.duration_since(last) < pause);
    let silent = ended.summary.trim().eq_ignore_ascii_case(NOTHING_TO_REPORT);
    ended.by_slot() && terms.policy.notify_on_completion && !soon && !ended.notified && !silent
}

fn decide_failure(
    decision: &mut Decision,
    row: &SkillRow,
    terms: &NoticeSettings<'_>,
    ended: &FinishedRun<'_>,
) {
    let streak = row.standing.streak.saturating_add(1);
    decision.change.standing.streak = streak;
    let Some(rest) = deft_schedule::backoff(streak) else {
        return give_up(decision, row, ended, streak);
    };
    let until = backoff_from(ended)
        .saturating_add(rest)
        .unwrap_or(Timestamp::MAX);
    decision.change.standing.backoff_until = Some(until);
    if terms.one_shot {
        // A run may have taken longer than its backoff.
        let until = until.max(ended.schedule_at);
        // No slot follows the only one, so the end of the backoff becomes the next slot.
        decision.change.standing.backoff_until = None;
        decision.change.timeline = Some(SchedulePosition {
            anchor: None,
            next_at: Some(until),
        });
    }
    alert(decision, row, ended, Kind::Failure);
}

/// Returns the instant from which backoff counts. This is the slot, so that the duration of the run does not
/// cost the skill the slot at the end of its backoff (S0.65). For a late slot it is the current time, because
/// the slot says nothing about when to try again.
fn backoff_from(ended: &FinishedRun<'_>) -> Timestamp {
    match ended.slot {
        Some(slot) if !ended.late => slot,
        Some(_) | None => ended.schedule_at,
    }
}

/// Disables the skill after the fifth failure in a row: a person has to look at it.
fn give_up(decision: &mut Decision, row: &SkillRow, ended: &FinishedRun<'_>, streak: u32) {
    let standing = &mut decision.change.standing;
    standing.disabled = Some(DisabledReason::Failures);
    standing.backoff_until = None;
    standing.alerted_at = Some(ended.at);
    decision.change.timeline = Some(SchedulePosition::default());
    let text = format!(
        "`{}` failed {streak} times in a row and is disabled: {}\n`deft skills enable {}` enables \
         it again",
        row.text.skill, ended.summary, row.text.skill
    );
    decision
        .notices
        .push(notice(row, ended, Kind::Disabled, text));
}

/// Pauses the skill until a person enables it, because its budget is spent.
fn pause(decision: &mut Decision, row: &SkillRow, ended: &FinishedRun<'_>) {
    let standing = &mut decision.change.standing;
    standing.disabled = Some(DisabledReason::Budget);
    standing.alerted_at = Some(ended.at);
    decision.change.timeline = Some(SchedulePosition::default());
    let text = format!(
        "`{}` is paused: {}\n`deft skills enable {}` enables it again",
        row.text.skill, ended.summary, row.text.skill
    );
    decision
        .notices
        .push(notice(row, ended, Kind::Paused, text));
}

fn is_budget(ended: &FinishedRun<'_>) -> bool {
    let class = ended.failure.map(|failure| failure.class);
    class == Some(FailureClass::Budget)
}

/// Whether an alert at `alerted_at` covers a failure at `now`.
pub fn is_folded(alerted_at: Option<Timestamp>, now: Timestamp) -> bool {
    alerted_at.is_some_and(|last| now.duration_since(last) < FOLD)
}

/// Adds the notice about a failure, once per incident: failures within a day of the first belong to the same
/// incident.
fn alert(decision: &mut Decision, row: &SkillRow, ended: &FinishedRun<'_>, kind: Kind) {
    if is_folded(row.standing.alerted_at, ended.at) {
        return;
    }
    decision.change.standing.alerted_at = Some(ended.at);
    if ended.outage == KnownOutage::Notified {
        return;
    }
    let hint = ended.failure.and_then(|failure| failure.hint.as_deref());
    let hint = hint.map_or(String::new(), |hint| format!("\n{hint}"));
    let what = match kind {
        Kind::Blocked => "could not run",
        Kind::Interrupted => "was interrupted",
        _ if ended.outcome == Outcome::Skipped => "was skipped",
        Kind::Message
        | Kind::Completion
        | Kind::Failure
        | Kind::Disabled
        | Kind::Recovery
        | Kind::Question
        | Kind::Answer
        | Kind::Paused
        | Kind::Health => "failed",
    };
    let text = format!("`{}` {what}: {}{hint}", row.text.skill, ended.summary);
    decision.notices.push(notice(row, ended, kind, text));
}

/// Returns the notice about the only slot of a skill if it passes without a run: no slot follows, and a
/// person who waits for it would never know.
///
/// `now` is the time of the clock, which notices are sent by; the slot may be decided at another time.
pub fn notice_of_lost_slot(
    row: &SkillRow,
    step: &SlotStep,
    zone: &TimeZone,
    now: Timestamp,
) -> Option<NewNotice> {
    let lost = step.passed.last().filter(|_| step.last)?;
    let what = match lost.outcome {
        Outcome::Missed => "was missed",
        Outcome::Skipped => "was skipped",
        Outcome::Success
        | Outcome::Error
        | Outcome::Blocked
        | Outcome::Cancelled
        | Outcome::Interrupted => return None,
    };
    let why: Failure = serde_json::from_str(&lost.error).ok()?;
    let skill = &row.text.skill;
    let planned = day_and_time(lost.slot, step.at, zone);
    let text = format!(
        "`{skill}` {what}: {}\nit was planned for {planned} and will not run again; `deft run \
         {skill}` runs it now",
        why.message
    );
    let run = lost.run.as_str();
    let notice = Notice::about_run(Kind::Failure, &row.text.name, text, skill, run);
    Some(NewNotice {
        key: format!("{} {}", lost.run, notice.kind.word()),
        skill: notice.skill.clone(),
        body: notice.body(),
        at: now,
    })
}

fn close_one_shot(decision: &mut Decision, terms: &NoticeSettings<'_>, ended: &FinishedRun<'_>) {
    if terms.one_shot && ended.by_slot() {
        decision.change.standing.disabled = Some(DisabledReason::OneShotDone);
        decision.change.timeline = Some(SchedulePosition::default());
    }
}

/// Returns the remark about the interruption of a run; empty if it was not interrupted.
fn interruption(ended: &FinishedRun<'_>) -> String {
    let Some(recovery) = ended.recovery else {
        return String::new();
    };
    let at = day_and_time(recovery.interrupted_at, ended.at, ended.zone);
    let gap = length(recovery.resumed_at.duration_since(recovery.interrupted_at));
    format!("\ninterrupted: last activity {at}, resumed {gap} later by another process")
}

fn notice(row: &SkillRow, ended: &FinishedRun<'_>, kind: Kind, mut text: String) -> Notice {
    text.push_str(&interruption(ended));
    Notice::about_run(kind, &row.text.name, text, &row.text.skill, ended.run)
}
