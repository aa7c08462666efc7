//! What the end of a run means for its skill: its streak of failures, its next try, whether it goes
//! on firing, and what people are told (S0.65, S0.66, S0.69, S0.73, S1.4 under X1, X2, X7).
//!
//! A pure decision. Who stores it, and what a message looks like to its receiver, is elsewhere.

use std::collections::BTreeSet;

use deft_model::{DisabledReason, ExhaustedAction, Failure, FailureClass, Outcome, Policy};
use deft_outbox::{Kind, Notice};
use deft_schedule::{LATE, day_and_time, length};
use deft_store::{NewNotice, SkillChange, SkillRow, SlotStep, Standing, Timeline};
use deft_workflow::Recovery;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Alerts of one incident are folded for so long.
const FOLD: SignedDuration = SignedDuration::from_hours(24);

/// A run that returns exactly this sends no notice.
const NOTHING: &str = "nothing to report";

/// A run that is over, as far as its skill is concerned.
pub struct FinishedRun<'a> {
    /// The run.
    pub run: &'a str,
    /// The slot that brought it, or the instant of the event; what people start by hand has none, and
    /// counts to no streak.
    pub slot: Option<Timestamp>,
    /// It began long after its slot.
    pub late: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    pub failure: Option<&'a Failure>,
    /// The result in a sentence.
    pub summary: String,
    /// Its latest interruption, if another process had to continue it.
    pub recovery: Option<Recovery>,
    /// Whether the run itself has told people something.
    pub told: bool,
    /// What the skill wants when its budget is spent, if that is how the run ended.
    pub exhausted: Option<ExhaustedAction>,
    /// What people know of the outage that the skill was affected by.
    pub outage: KnownOutage,
    /// When it ended.
    pub at: Timestamp,
    /// The same instant on the schedule's clock, which `deft tick --now` can set.
    pub schedule_at: Timestamp,
    /// The zone in which people are told times.
    pub zone: &'a TimeZone,
}

/// What people know of an outage that affects several skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KnownOutage {
    /// Nothing: there is none, or this run is the first to meet it.
    #[default]
    No,
    /// They were told that it began, or are told elsewhere that it is over.
    Told,
    /// It is over with this run. These other skills were affected.
    Over(BTreeSet<String>),
}

impl FinishedRun<'_> {
    fn by_slot(&self) -> bool {
        self.slot.is_some()
    }
}

/// What a skill says about itself.
pub struct Terms<'a> {
    /// The policy of the skill.
    pub policy: &'a Policy,
    /// It fires once.
    pub one_shot: bool,
    /// The least time between two messages, where the skill says nothing.
    pub notify_minutes: u32,
}

/// What changes, and what people are told.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The change of the row of the skill.
    pub change: SkillChange,
    /// Messages to people.
    pub notices: Vec<Notice>,
}

/// Decides what the end of a run means for its skill.
pub fn decide(row: &SkillRow, terms: &Terms<'_>, ended: &FinishedRun<'_>) -> Decision {
    let mut decision = Decision {
        change: SkillChange {
            standing: match ended.outcome {
                // What was skipped did not run (X5).
                Outcome::Skipped => row.standing.clone(),
                Outcome::Success
                | Outcome::Error
                | Outcome::Missed
                | Outcome::Blocked
                | Outcome::Cancelled
                | Outcome::Interrupted => Standing {
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
        Outcome::Success => succeeded(&mut decision, row, terms, ended),
        Outcome::Error if ended.exhausted == Some(ExhaustedAction::Pause) => {
            pause(&mut decision, row, ended);
        }
        // What is spent is no fault of the skill.
        Outcome::Error if ended.by_slot() && is_budget(ended) => {
            alert(&mut decision, row, ended, Kind::Failure);
        }
        Outcome::Error if ended.by_slot() => failed(&mut decision, row, terms, ended),
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

fn succeeded(decision: &mut Decision, row: &SkillRow, terms: &Terms<'_>, ended: &FinishedRun<'_>) {
    let standing = &mut decision.change.standing;
    standing.streak = 0;
    standing.backoff_until = None;
    let alerted = standing.alerted_at.take().is_some();
    let late = lateness(terms, ended, alerted);
    if alerted && ended.outage != KnownOutage::Told {
        let text = format!("`{}` works again: {}", row.text.skill, ended.summary);
        let text = format!("{text}{}{late}", also_affected(&ended.outage));
        decision
            .notices
            .push(notice(row, ended, Kind::Recovery, text));
    } else if should_tell(row, terms, ended) {
        decision.change.standing.notified_at = Some(ended.at);
        let text = format!("{}{late}", ended.summary);
        decision
            .notices
            .push(notice(row, ended, Kind::Completion, text));
    } else if terms.one_shot && !late.is_empty() {
        // What a run has sent by itself cannot say that it comes late.
        let text = format!("`{}` ran{late}", row.text.skill);
        decision
            .notices
            .push(notice(row, ended, Kind::Completion, text));
    }
    close_one_shot(decision, terms, ended);
}

/// What a late run says about itself: it began late, or it was to fire once and had to wait.
fn lateness(terms: &Terms<'_>, ended: &FinishedRun<'_>, waited: bool) -> String {
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
        KnownOutage::Over(others) if !others.is_empty() => {
            let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
            format!("\nalso affected: {}", others.join(", "))
        }
        KnownOutage::No | KnownOutage::Told | KnownOutage::Over(_) => String::new(),
    }
}

/// X7: wished for, not too soon after the last one, and not said already.
fn should_tell(row: &SkillRow, terms: &Terms<'_>, ended: &FinishedRun<'_>) -> bool {
    let pause = match terms.policy.notify_interval_minutes {
        0 => terms.notify_minutes,
        minutes => minutes,
    };
    let pause = SignedDuration::from_mins(i64::from(pause));
    let soon = row
        .standing
        .notified_at
        .is_some_and(|last| ended.at.duration_since(last) < pause);
    let silent = ended.summary.trim().eq_ignore_ascii_case(NOTHING);
    ended.by_slot() && terms.policy.notify_on_completion && !soon && !ended.told && !silent
}

fn failed(decision: &mut Decision, row: &SkillRow, terms: &Terms<'_>, ended: &FinishedRun<'_>) {
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
        // Nothing comes after its only slot, so that the ladder brings the next try itself.
        decision.change.standing.backoff_until = None;
        decision.change.timeline = Some(Timeline {
            anchor: None,
            next_at: Some(until),
        });
    }
    alert(decision, row, ended, Kind::Failure);
}

/// Backoff counts from the slot, so that the slot at its end is not lost to the time that the run
/// took (S0.65). A slot that came late is no measure of when to try again: that counts from now.
fn backoff_from(ended: &FinishedRun<'_>) -> Timestamp {
    match ended.slot {
        Some(slot) if !ended.late => slot,
        Some(_) | None => ended.schedule_at,
    }
}

/// The fifth failure in a row: a person has to look at it.
fn give_up(decision: &mut Decision, row: &SkillRow, ended: &FinishedRun<'_>, streak: u32) {
    let standing = &mut decision.change.standing;
    standing.disabled = Some(DisabledReason::Failures);
    standing.backoff_until = None;
    standing.alerted_at = Some(ended.at);
    decision.change.timeline = Some(Timeline::default());
    let text = format!(
        "`{}` failed {streak} times in a row and is switched off: {}\n\
         `deft skills enable {}` switches it on again",
        row.text.skill, ended.summary, row.text.skill
    );
    decision
        .notices
        .push(notice(row, ended, Kind::Disabled, text));
}

/// Its budget is spent: the skill is paused until a person enables it.
fn pause(decision: &mut Decision, row: &SkillRow, ended: &FinishedRun<'_>) {
    let standing = &mut decision.change.standing;
    standing.disabled = Some(DisabledReason::Budget);
    standing.alerted_at = Some(ended.at);
    decision.change.timeline = Some(Timeline::default());
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

/// Whether people know of an incident already.
pub fn is_folded(alerted_at: Option<Timestamp>, now: Timestamp) -> bool {
    alerted_at.is_some_and(|last| now.duration_since(last) < FOLD)
}

/// One message per incident: what follows within a day is the same incident.
fn alert(decision: &mut Decision, row: &SkillRow, ended: &FinishedRun<'_>, kind: Kind) {
    if is_folded(row.standing.alerted_at, ended.at) {
        return;
    }
    decision.change.standing.alerted_at = Some(ended.at);
    if ended.outage == KnownOutage::Told {
        return;
    }
    let hint = ended.failure.and_then(|failure| failure.hint.as_deref());
    let hint = hint.map_or(String::new(), |hint| format!("\n{hint}"));
    let what = match kind {
        Kind::Blocked => "could not run",
        Kind::Interrupted => "was cut off",
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

/// The notice when the only slot of a skill passes without a run: no slot follows, and a person who
/// waits for it would never know.
///
/// `now` is the clock's, by which messages are sent; the step may be decided at another time.
pub fn lost(row: &SkillRow, step: &SlotStep, zone: &TimeZone, now: Timestamp) -> Option<NewNotice> {
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
        "`{skill}` {what}: {}\n\
         it was planned for {planned} and fires no more; `deft run {skill}` does it now",
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

fn close_one_shot(decision: &mut Decision, terms: &Terms<'_>, ended: &FinishedRun<'_>) {
    if terms.one_shot && ended.by_slot() {
        decision.change.standing.disabled = Some(DisabledReason::OneShotDone);
        decision.change.timeline = Some(Timeline::default());
    }
}

/// What an interrupted run says about itself.
fn interruption(ended: &FinishedRun<'_>) -> String {
    let Some(recovery) = ended.recovery else {
        return String::new();
    };
    let at = day_and_time(recovery.interrupted_at, ended.at, ended.zone);
    let gap = length(recovery.resumed_at.duration_since(recovery.interrupted_at));
    format!("\ninterrupted: last sign {at}, resumed {gap} later by another process")
}

fn notice(row: &SkillRow, ended: &FinishedRun<'_>, kind: Kind, mut text: String) -> Notice {
    text.push_str(&interruption(ended));
    Notice::about_run(kind, &row.text.name, text, &row.text.skill, ended.run)
}
