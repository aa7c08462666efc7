//! Enabling and disabling of skills: by people, when files appear and disappear, and when tools become
//! available (S0.13 to S0.15, S0.33 under X1). Files are followed in `sync.rs`.

use std::sync::Arc;

use deft_base::Error;
use deft_model::{DisabledReason, Failure, FailureClass, Outcome, Skill};
use deft_registry::LoadedSkill;
use deft_schedule::LATE;
use deft_store::{
    NewSkill, PutResult, RunRow, SchedulePosition, SkillChange, SkillOrigin, SkillProperties,
    SkillRow, SkillState,
};
use deft_tools::ToolLookup;
use jiff::Timestamp;

use crate::Library;
use crate::aftermath::{self, FinishedRun, KnownOutage, NoticeSettings};
use crate::timed::SkillTiming;

impl Library {
    /// Enables a skill and resets its failure count.
    pub async fn enable(&self, name: &str) -> Result<SkillRow, Error> {
        loop {
            let row = self.row_of(name).await?;
            let now = self.base.now();
            if self.is_lost(&row) {
                return Err(Error::NotEnabled {
                    skill: row.text.skill,
                    why: "its file was removed".to_owned(),
                });
            }
            let timed = SkillTiming::from_row(&row)?;
            let over = timed.as_ref().is_some_and(|timed| {
                timed.is_one_shot() && self.timeline(timed, now).next_at.is_none()
            });
            if over {
                return Err(Error::NotEnabled {
                    skill: row.text.skill,
                    why: "its scheduled time has passed".to_owned(),
                });
            }
            let on = match self.restored_by_person(&row).await? {
                Some(back) => match self.put_file(back).await {
                    Err(Error::Store(deft_store::Error::Changed { .. })) => None,
                    stored => Some(stored?),
                },
                None => self.enable_row(&row, now).await?,
            };
            if let Some(row) = on {
                self.base.bells().ring_all();
                return Ok(row);
            }
        }
    }

    /// Returns why a file skill does not fire; `None` if it does.
    pub(crate) async fn standing_of(&self, file: &Skill) -> Result<Option<DisabledReason>, Error> {
        let row = self.store().skill(file.id.as_str()).await?;
        Ok(match row.filter(|row| !is_file_removed(row)) {
            Some(row) => row.standing.disabled,
            None => self.first_standing_of(file),
        })
    }

    /// Whether a row belongs to a file skill whose file is missing.
    fn is_lost(&self, row: &SkillRow) -> bool {
        let snapshot = self.files.snapshot();
        row.text.origin == SkillOrigin::File && snapshot.find(&row.text.skill).is_none()
    }

    /// Disables a skill.
    pub async fn disable(&self, name: &str) -> Result<SkillRow, Error> {
        loop {
            let row = self.row_of(name).await?;
            let now = self.base.now();
            let switched = self.disable_row(&row, DisabledReason::User, now).await?;
            if let Some(row) = switched {
                return Ok(row);
            }
        }
    }

    /// Returns the row of a skill, and creates it for a file skill without one.
    pub(crate) async fn row_of(&self, name: &str) -> Result<SkillRow, Error> {
        let file = self.snapshot().find(name).map(Arc::clone);
        if let Some(row) = self.find_row(name, file.as_deref()).await? {
            return Ok(row);
        }
        let loaded = file.ok_or_else(|| self.unknown(name))?;
        let key = loaded.skill.id.to_string();
        let new = self.new_file(&loaded, self.base.now());
        match self.store().put_skills(vec![new]).await?.pop() {
            Some(PutResult::Stored(row) | PutResult::Refused(Some(row))) => Ok(*row),
            _ => Err(Error::UnknownSkill {
                name: key,
                near: None,
            }),
        }
    }
}

/// The source of a skill's new content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplacedBy {
    /// The file was edited, has come back, or is in effect again.
    ByFile,
    /// A tool changed the skill, including whether it is enabled.
    ByTool,
}

/// Whether a skill fires, or will once its tools are available. A skill that is off for another reason keeps
/// that reason when its file is removed: its return must not undo the decision of a person (X1).
pub(crate) fn may_fire(row: &SkillRow) -> bool {
    matches!(
        row.standing.disabled,
        None | Some(DisabledReason::MissingTools)
    )
}

/// The columns of a skill's row, and its parsed timing.
pub(crate) struct TimedText {
    pub(crate) text: SkillProperties,
    timing: Option<SkillTiming>,
}

/// Returns the change that disables a skill.
pub(crate) fn disabled_change(row: &SkillRow, why: DisabledReason, now: Timestamp) -> SkillChange {
    SkillChange {
        standing: SkillState {
            disabled: Some(why),
            ..row.standing.clone()
        },
        timeline: Some(SchedulePosition::default()),
        at: now,
    }
}

/// Whether a skill is disabled because its file was removed.
pub fn is_file_removed(row: &SkillRow) -> bool {
    row.standing.disabled == Some(DisabledReason::FileRemoved)
}

impl Library {
    pub(crate) fn timeline(&self, timed: &SkillTiming, now: Timestamp) -> SchedulePosition {
        timed.enabled_position(now, &self.base.host_zone())
    }

    /// Returns the tools that are not known to be available.
    pub fn missing_tools(&self, tools: &[String]) -> Vec<String> {
        let there = |tool: &&String| !matches!(self.router.find(tool), ToolLookup::Tool(_));
        tools.iter().filter(there).cloned().collect()
    }

    /// Returns the columns that the store keeps of a skill.
    pub(crate) fn text(
        &self,
        skill: &Skill,
        key: String,
        origin: SkillOrigin,
        revision: String,
    ) -> TimedText {
        let timing = SkillTiming::from_skill(skill, &self.base.moment());
        let text = SkillProperties {
            skill: key,
            agent_id: skill.policy.agent_id.clone(),
            name: skill.name.clone(),
            origin,
            revision,
            tier: skill.tier(),
            trigger: skill.trigger,
            timing: timing.as_ref().and_then(SkillTiming::text),
            required_tools: skill.required_tools.clone(),
        };
        TimedText { text, timing }
    }

    /// Returns the row of a skill that the store does not have yet.
    pub(crate) fn new_skill(
        &self,
        skill: &Skill,
        text: TimedText,
        content: Option<String>,
        now: Timestamp,
    ) -> NewSkill {
        let TimedText { text, timing } = text;
        let disabled = self.first_standing(skill, timing.as_ref(), now);
        let timeline = match (disabled, timing) {
            (None, Some(timed)) => self.timeline(&timed, now),
            _ => SchedulePosition::default(),
        };
        NewSkill {
            text,
            content,
            standing: SkillState {
                disabled,
                ..SkillState::default()
            },
            timeline,
            replaces: None,
            at: now,
        }
    }

    /// Returns the row of a file skill that the store does not have yet.
    pub fn new_file(&self, loaded: &LoadedSkill, now: Timestamp) -> NewSkill {
        let key = loaded.skill.id.to_string();
        let revision = loaded.revision.to_string();
        let text = self.text(&loaded.skill, key, SkillOrigin::File, revision);
        self.new_skill(&loaded.skill, text, None, now)
    }

    /// Returns why a file skill without a row does not fire; `None` if it does.
    pub(crate) fn first_standing_of(&self, file: &Skill) -> Option<DisabledReason> {
        let timing = SkillTiming::from_skill(file, &self.base.moment());
        self.first_standing(file, timing.as_ref(), self.base.now())
    }

    /// Returns why a new skill does not fire: with `enabled: false` it waits for missing tools (S0.8), as the
    /// defaults of a home do (S0.86), and is disabled by a person otherwise.
    fn first_standing(
        &self,
        skill: &Skill,
        timing: Option<&SkillTiming>,
        now: Timestamp,
    ) -> Option<DisabledReason> {
        if !skill.policy.enabled {
            let default = self.settings.waiting_defaults.iter();
            let mut default = default.filter(|id| **id == *skill.id.as_str());
            let waits =
                default.next().is_some() || !self.missing_tools(&skill.required_tools).is_empty();
            return Some(if waits {
                DisabledReason::MissingTools
            } else {
                DisabledReason::User
            });
        }
        let timed = timing?;
        let over = timed.is_one_shot() && self.timeline(timed, now).next_at.is_none();
        over.then_some(DisabledReason::OneShotDone)
    }

    /// Returns the row of a file skill that has new content or has come back. A skill that a person disabled
    /// stays disabled; slots are kept unless the timing has changed.
    pub(crate) fn changed_file(
        &self,
        skill: &Skill,
        revision: &str,
        row: &SkillRow,
        now: Timestamp,
    ) -> NewSkill {
        let key = row.text.skill.clone();
        let content = self.overlay_text(&key);
        let text = self.text(skill, key, SkillOrigin::File, revision.to_owned());
        self.replacement(skill, text, content, row, now, ReplacedBy::ByFile)
    }

    pub(crate) fn replacement(
        &self,
        skill: &Skill,
        text: TimedText,
        content: Option<String>,
        row: &SkillRow,
        now: Timestamp,
        replaced: ReplacedBy,
    ) -> NewSkill {
        let same_timing = text.text.timing == row.text.timing;
        let mut new = self.new_skill(skill, text, content, now);
        new.replaces = Some((row.id, row.version));
        let first = new.standing.disabled;
        let kept = match (replaced, row.standing.disabled) {
            (_, Some(DisabledReason::FileRemoved)) => first,
            // A changed file does not overrule a person who has disabled the skill.
            (ReplacedBy::ByFile, Some(DisabledReason::User)) => Some(DisabledReason::User),
            // A skill that waited for its tools keeps waiting.
            (ReplacedBy::ByFile, why @ Some(DisabledReason::MissingTools))
                if !skill.policy.enabled =>
            {
                why
            }
            // A skill that stays disabled keeps its reason.
            (ReplacedBy::ByTool, Some(why)) if !skill.policy.enabled => Some(why),
            _ => first,
        };
        new.standing = SkillState {
            disabled: kept,
            streak: 0,
            backoff_until: None,
            ..row.standing.clone()
        };
        if kept.is_some() {
            new.timeline = SchedulePosition::default();
        } else if same_timing && row.standing.disabled.is_none() {
            new.timeline = row.timeline;
        }
        new
    }

    /// Returns the change that enables a skill.
    pub fn switched_on(&self, row: &SkillRow, now: Timestamp) -> Result<SkillChange, Error> {
        let timed = SkillTiming::from_row(row)?;
        let timeline = timed.map(|timed| match timed.awaited_slot(row) {
            // Its time may have passed while it waited; then the misfire rule decides.
            Some(at) => SchedulePosition {
                anchor: None,
                next_at: Some(at),
            },
            None => self.timeline(&timed, now),
        });
        // A skill that was enabled before keeps its phase.
        let timeline = timeline.filter(|_| row.standing.disabled.is_some());
        Ok(SkillChange {
            standing: SkillState {
                disabled: None,
                streak: 0,
                backoff_until: None,
                alerted_at: None,
                ..row.standing.clone()
            },
            timeline,
            at: now,
        })
    }

    pub(crate) async fn enable_row(
        &self,
        row: &SkillRow,
        now: Timestamp,
    ) -> Result<Option<SkillRow>, Error> {
        let change = self.switched_on(row, now)?;
        let store = self.store();
        Ok(store.change_skill(row.id, row.version, change).await?)
    }

    pub(crate) async fn disable_row(
        &self,
        row: &SkillRow,
        why: DisabledReason,
        now: Timestamp,
    ) -> Result<Option<SkillRow>, Error> {
        let change = disabled_change(row, why, now);
        let store = self.store();
        Ok(store.change_skill(row.id, row.version, change).await?)
    }

    /// Counts a slot that could not become a run as a failure of its skill.
    pub async fn count_failure(
        &self,
        row: &SkillRow,
        (run, slot): (&str, Timestamp),
        failure: &Failure,
    ) -> Result<(), Error> {
        self.count_end(row, (run, slot), Outcome::Error, failure)
            .await
            .map(drop)
    }

    /// Applies the effects of a run that was cancelled before it had a driver: a one-shot skill is done.
    pub async fn count_cancelled(&self, run: &RunRow) -> Result<(), Error> {
        let Some(slot) = run.slot else {
            return Ok(());
        };
        let by = run.cancel_by.as_deref().unwrap_or("an unknown caller");
        let failure = Failure::new(FailureClass::Cancelled, format!("cancelled by {by}"));
        while let Some(row) = self.store().skill(&run.skill).await? {
            let id = run.id.as_str();
            if self
                .count_end(&row, (id, slot), Outcome::Cancelled, &failure)
                .await?
            {
                break;
            }
        }
        Ok(())
    }

    /// Applies the effects of an end that no driver saw. Returns false if the skill has changed in the
    /// meantime.
    async fn count_end(
        &self,
        row: &SkillRow,
        (run, slot): (&str, Timestamp),
        outcome: Outcome,
        failure: &Failure,
    ) -> Result<bool, Error> {
        let timed = SkillTiming::from_row(row)?;
        let policy = deft_model::Policy::default();
        let terms = NoticeSettings {
            policy: &policy,
            one_shot: timed.is_some_and(|timed| timed.is_one_shot()),
            notify_minutes: self.settings.notify_minutes,
        };
        let ended = FinishedRun {
            run,
            slot: Some(slot),
            late: self.base.schedule_now().duration_since(slot) > LATE,
            outcome,
            failure: Some(failure),
            summary: failure.message.clone(),
            recovery: None,
            exhausted: None,
            notified: false,
            outage: KnownOutage::Unknown,
            at: self.base.now(),
            schedule_at: self.base.schedule_now(),
            zone: &self.base.host_zone(),
        };
        let decision = aftermath::decide(row, &terms, &ended);
        let store = self.store();
        let changed = store.change_skill(row.id, row.version, decision.change);
        if changed.await?.is_none() {
            return Ok(false);
        }
        for notice in decision.notices {
            let key = format!("{run} {}", notice.kind.word());
            self.outbox.post(key, &notice).await?;
        }
        Ok(true)
    }
}
