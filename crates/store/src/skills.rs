//! Stored skills: records and timed file skills, and their slots.
//!
//! Callers decide what a slot means, when the next one is and what follows a failure. The store
//! makes sure that only one of several concurrent decisions is applied.

use deft_model::{DisabledReason, Outcome, RunId, Tier, Trigger};
use jiff::Timestamp;

use crate::{Answer, NewNotice};

/// Rows of skills: records, and file skills. See [`Store`](crate::Store) for what holds for every
/// method.
pub trait StoredSkills: Send + Sync {
    /// Stores skills, or new contents of skills, in one transaction.
    fn put_skills(&self, skills: Vec<NewSkill>) -> Answer<'_, Vec<PutResult>>;

    /// Changes the state of a skill, unless it has changed since `version`; then there is no row.
    fn change_skill(
        &self,
        id: i64,
        version: u64,
        change: SkillChange,
    ) -> Answer<'_, Option<SkillRow>> {
        let changed = self.change_skills(vec![(id, version, change)]);
        Box::pin(async { Ok(changed.await?.pop().flatten()) })
    }

    /// Changes the states of several skills, in one transaction. Each has its own version; a skill
    /// with another version stays as it is, and the others change.
    fn change_skills(
        &self,
        changes: Vec<(i64, u64, SkillChange)>,
    ) -> Answer<'_, Vec<Option<SkillRow>>>;

    /// Forgets a skill. Its runs stay.
    fn remove_skill(&self, id: i64) -> Answer<'_, Option<SkillRow>>;

    /// A skill by its number.
    fn skill_by_id(&self, id: i64) -> Answer<'_, Option<SkillRow>>;

    /// A skill by the name that its runs carry.
    fn skill(&self, skill: &str) -> Answer<'_, Option<SkillRow>>;

    /// Skills in the order of their names.
    fn skills(&self, filter: SkillFilter) -> Answer<'_, Vec<SkillRow>>;

    /// How many skills match; the limit is ignored.
    fn count_skills(&self, filter: SkillFilter) -> Answer<'_, u64>;

    /// Names of file skills that tools have changed, each with the content of its row.
    fn changed_files(&self) -> Answer<'_, Vec<(String, String)>>;

    /// The content of a record, as it was stored; of a file skill, what tools changed about it.
    fn skill_content(&self, id: i64) -> Answer<'_, Option<String>>;
}

/// The next slots of timed skills. See [`Store`](crate::Store) for what holds for every method.
pub trait SkillSlots: Send + Sync {
    /// Skills whose next slot has come, the earliest first; only those whose slot is later than
    /// `after`, if that is given.
    fn due_skills(
        &self,
        after: Option<Timestamp>,
        now: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<SkillRow>>;

    /// The earliest slot of all.
    fn next_due(&self) -> Answer<'_, Option<Timestamp>>;

    /// Moves skills past slots that bring no run. Returns which steps were applied; the others lost
    /// to another process.
    fn pass_slots(&self, steps: Vec<SlotStep>) -> Answer<'_, Vec<bool>>;
}

/// Where a skill was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillOrigin {
    /// In the store.
    Record,
    /// In a file.
    File,
}

/// What a skill is, as far as the store has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    /// The name that its runs carry; unique.
    pub skill: String,
    /// The agent that it belongs to.
    pub agent_id: String,
    /// Its name in prose.
    pub name: String,
    /// Where it was written.
    pub origin: SkillOrigin,
    /// The hash of its content.
    pub revision: String,
    /// How it runs.
    pub tier: Tier,
    /// What makes it fire.
    pub trigger: Trigger,
    /// When it fires and the rule for late slots, a JSON object.
    pub timing: Option<String>,
    /// Tools without which it cannot run.
    pub required_tools: Vec<String>,
}

/// The state of a skill: whether it fires, and the results of its last runs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Standing {
    /// Why it does not fire; none if it does.
    pub disabled: Option<DisabledReason>,
    /// How often it failed in a row.
    pub streak: u32,
    /// Slots before this instant are not run.
    pub backoff_until: Option<Timestamp>,
    /// When people were last told that it fails; none once they were told that it works again.
    pub alerted_at: Option<Timestamp>,
    /// When people were last told of a completion.
    pub notified_at: Option<Timestamp>,
    /// When it last ran.
    pub last_run_at: Option<Timestamp>,
    /// Its outcome.
    pub last_run_status: Option<String>,
    /// The same in a sentence.
    pub last_run_summary: Option<String>,
}

/// The slots of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Timeline {
    /// Where the grid of an interval starts: the moment in which the skill was enabled.
    pub anchor: Option<Timestamp>,
    /// The earliest slot that has not been decided.
    pub next_at: Option<Timestamp>,
}

/// A skill that is to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSkill {
    /// What it is.
    pub text: SkillText,
    /// The record itself, JSON; for a file skill what tools changed about it, none if that is nothing.
    pub content: Option<String>,
    /// How it stands.
    pub standing: Standing,
    /// Its next slot.
    pub timeline: Timeline,
    /// Number and version of the row that it takes the place of; none makes a new one.
    pub replaces: Option<(i64, u64)>,
    /// When.
    pub at: Timestamp,
}

/// The result of storing a [`NewSkill`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutResult {
    /// It is stored.
    Stored(Box<SkillRow>),
    /// Another skill has the name, or the row to be replaced has changed or is gone.
    Refused(Option<Box<SkillRow>>),
}

/// A new standing, and a new place in time where that changes too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillChange {
    /// How it stands from now on.
    pub standing: Standing,
    /// Its next slot, if that is not to stay as it is.
    pub timeline: Option<Timeline>,
    /// When.
    pub at: Timestamp,
}

/// A change of the skill of a run, made together with the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aftermath {
    /// The skill.
    pub id: i64,
    /// The version that the change was decided upon.
    pub version: u64,
    /// What changes.
    pub change: SkillChange,
}

/// A skill as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRow {
    /// Its number, never used twice.
    pub id: i64,
    /// What it is.
    pub text: SkillText,
    /// How it stands.
    pub standing: Standing,
    /// Its next slot.
    pub timeline: Timeline,
    /// When it was stored first.
    pub created_at: Timestamp,
    /// When its content or state was last changed.
    pub updated_at: Timestamp,
    /// Grows with every change but that of the next slot.
    pub version: u64,
}

/// Which skills to list.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SkillFilter {
    /// Only those that fire, or only those that do not.
    pub enabled: Option<bool>,
    /// Only those with this trigger.
    pub trigger: Option<Trigger>,
    /// Only those that run in this way.
    pub tier: Option<Tier>,
    /// Only those of this agent.
    pub agent_id: Option<String>,
    /// Only those with this name or number of a name, for any agent.
    pub name: Option<String>,
    /// Only those written there.
    pub origin: Option<SkillOrigin>,
    /// Only those that do not fire for this reason.
    pub disabled: Option<DisabledReason>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}

/// A step of a skill along its slots. It counts only if the skill still stands at `from` and rests
/// as it did when the step was decided: a run that failed meanwhile has changed what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotStep {
    /// The skill.
    pub id: i64,
    /// The slot it stands at.
    pub from: Timestamp,
    /// Until when it rests, as far as was known.
    pub rest: Option<Timestamp>,
    /// The next one; none when there is none.
    pub to: Option<Timestamp>,
    /// Slots that bring no run, and why.
    pub passed: Vec<PassedSlots>,
    /// Nothing follows: without a run, the skill has done what it was for.
    pub last: bool,
    /// What people are told when it passes without a run.
    pub notice: Option<NewNotice>,
    /// When this was decided.
    pub at: Timestamp,
}

/// A slot, or a stretch of slots, that brings no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedSlots {
    /// The name of its row among the runs.
    pub run: RunId,
    /// The first slot.
    pub slot: Timestamp,
    /// The last one of a stretch.
    pub until: Option<Timestamp>,
    /// How many.
    pub count: u64,
    /// `skipped`, `missed`, or `error` where nothing could be begun.
    pub outcome: Outcome,
    /// Why, a JSON object.
    pub error: String,
}
