//! Stored skills (records, and file skills with a schedule) and their slots.
//!
//! Callers decide what a slot means, when the next one is and what follows a failure. The store ensures that
//! only one of several concurrent decisions is applied.

use deft_model::{DisabledReason, Outcome, RunId, Tier, Trigger};
use jiff::Timestamp;

use crate::{Answer, NewNotice};

/// Rows of records and file skills. See [`Store`](crate::Store) for the rules that all methods follow.
pub trait StoredSkills: Send + Sync {
    /// Stores new skills, or new contents of existing ones, in one transaction.
    fn put_skills(&self, skills: Vec<NewSkill>) -> Answer<'_, Vec<PutResult>>;

    /// Changes the state of a skill if its version is still `version`; otherwise returns `None`.
    fn change_skill(
        &self,
        id: i64,
        version: u64,
        change: SkillChange,
    ) -> Answer<'_, Option<SkillRow>> {
        let changed = self.change_skills(vec![(id, version, change)]);
        Box::pin(async { Ok(changed.await?.pop().flatten()) })
    }

    /// Changes the states of several skills in one transaction. A skill whose version differs from the given
    /// one stays as it is; the others change.
    fn change_skills(
        &self,
        changes: Vec<(i64, u64, SkillChange)>,
    ) -> Answer<'_, Vec<Option<SkillRow>>>;

    /// Deletes a skill. Its runs stay.
    fn remove_skill(&self, id: i64) -> Answer<'_, Option<SkillRow>>;

    /// Returns a skill by its number.
    fn skill_by_id(&self, id: i64) -> Answer<'_, Option<SkillRow>>;

    /// Returns a skill by the name that its runs have.
    fn skill(&self, skill: &str) -> Answer<'_, Option<SkillRow>>;

    /// Returns the skills that match, sorted by name.
    fn skills(&self, filter: SkillFilter) -> Answer<'_, Vec<SkillRow>>;

    /// Returns the number of skills that match; the limit is ignored.
    fn count_skills(&self, filter: SkillFilter) -> Answer<'_, u64>;

    /// Returns the names of file skills that tools have changed, each with the content of its row.
    fn changed_files(&self) -> Answer<'_, Vec<(String, String)>>;

    /// Returns the stored content of a record, or the overlay of a file skill.
    fn skill_content(&self, id: i64) -> Answer<'_, Option<String>>;
}

/// The slots of scheduled skills. See [`Store`](crate::Store) for the rules that all methods follow.
pub trait SkillSlots: Send + Sync {
    /// Returns skills whose next slot is due, earliest first. With `after`, only skills whose next slot is
    /// later than that.
    fn due_skills(
        &self,
        after: Option<Timestamp>,
        now: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<SkillRow>>;

    /// Returns the earliest slot of all enabled skills.
    fn next_due(&self) -> Answer<'_, Option<Timestamp>>;

    /// Moves skills past slots without runs. Returns for each step whether it was applied; if not, another
    /// process was faster.
    fn pass_slots(&self, steps: Vec<SlotStep>) -> Answer<'_, Vec<bool>>;
}

/// Where a skill is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillOrigin {
    /// In the store.
    Record,
    /// In a file.
    File,
}

/// The properties of a skill that the store needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillProperties {
    /// The unique name that its runs have.
    pub skill: String,
    /// The agent that it belongs to.
    pub agent_id: String,
    /// The display name.
    pub name: String,
    /// Where it is defined.
    pub origin: SkillOrigin,
    /// The hash of its content.
    pub revision: String,
    /// How it runs.
    pub tier: Tier,
    /// The trigger that starts it.
    pub trigger: Trigger,
    /// The schedule and the misfire rule, a JSON object.
    pub timing: Option<String>,
    /// Tools that it requires.
    pub required_tools: Vec<String>,
}

/// The state of a skill: whether it is enabled, and the results of its last runs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SkillState {
    /// Why it is disabled; `None` if it is enabled.
    pub disabled: Option<DisabledReason>,
    /// The number of failures in a row.
    pub streak: u32,
    /// Slots before this instant are skipped.
    pub backoff_until: Option<Timestamp>,
    /// When a failure was last reported to people; `None` once its recovery was reported.
    pub alerted_at: Option<Timestamp>,
    /// When a completion was last reported to people.
    pub notified_at: Option<Timestamp>,
    /// When its last run was.
    pub last_run_at: Option<Timestamp>,
    /// The outcome of its last run.
    pub last_run_status: Option<String>,
    /// The result of its last run, in a sentence.
    pub last_run_summary: Option<String>,
}

/// The position of a skill in its schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SchedulePosition {
    /// The start of an interval's grid: when the skill was enabled.
    pub anchor: Option<Timestamp>,
    /// The earliest slot that has not been decided.
    pub next_at: Option<Timestamp>,
}

/// A skill to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSkill {
    /// Its properties.
    pub text: SkillProperties,
    /// The record, JSON. For a file skill: its overlay, or `None` if it has none.
    pub content: Option<String>,
    /// Its state.
    pub standing: SkillState,
    /// Its position in its schedule.
    pub timeline: SchedulePosition,
    /// Number and version of the row to replace; `None` inserts a row.
    pub replaces: Option<(i64, u64)>,
    /// When it is stored.
    pub at: Timestamp,
}

/// The result of storing a [`NewSkill`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutResult {
    /// The skill was stored.
    Stored(Box<SkillRow>),
    /// The name belongs to another skill, or the row to replace has changed or was deleted. Contains the
    /// conflicting row; `None` if it was deleted.
    Refused(Option<Box<SkillRow>>),
}

/// A change of the state of a skill and, optionally, of its position in its schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillChange {
    /// The new state.
    pub standing: SkillState,
    /// The new position; `None` keeps the old one.
    pub timeline: Option<SchedulePosition>,
    /// When the change is made.
    pub at: Timestamp,
}

/// The change of a run's skill that is stored with the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillUpdate {
    /// The skill.
    pub id: i64,
    /// The version that the change is based on.
    pub version: u64,
    /// The change.
    pub change: SkillChange,
}

/// A stored skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRow {
    /// The number, never reused.
    pub id: i64,
    /// Its properties.
    pub text: SkillProperties,
    /// Its state.
    pub standing: SkillState,
    /// Its position in its schedule.
    pub timeline: SchedulePosition,
    /// When it was first stored.
    pub created_at: Timestamp,
    /// When its content or state was last changed.
    pub updated_at: Timestamp,
    /// Grows with every change except a move to the next slot.
    pub version: u64,
}

/// A filter for lists of skills.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SkillFilter {
    /// Only enabled skills, or only disabled ones.
    pub enabled: Option<bool>,
    /// Only skills with this trigger.
    pub trigger: Option<Trigger>,
    /// Only skills of this tier.
    pub tier: Option<Tier>,
    /// Only skills of this agent.
    pub agent_id: Option<String>,
    /// Only skills with this display name, of any agent.
    pub name: Option<String>,
    /// Only skills defined there.
    pub origin: Option<SkillOrigin>,
    /// Only skills disabled for this reason.
    pub disabled: Option<DisabledReason>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}

/// A move of a skill to its next slot. It is applied only if the skill is still at `from` and its backoff is
/// still `rest`: a run that failed meanwhile changes what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotStep {
    /// The skill.
    pub id: i64,
    /// The slot that the skill was at when the step was decided.
    pub from: Timestamp,
    /// The end of the backoff when the step was decided.
    pub backoff_until: Option<Timestamp>,
    /// The next slot; `None` after the last one.
    pub to: Option<Timestamp>,
    /// Slots without runs, and why.
    pub passed: Vec<PassedSlots>,
    /// Whether this is the last slot of the skill: if it brings no run, the skill is disabled as done.
    pub last: bool,
    /// The notice to send if the slot passes without a run.
    pub notice: Option<NewNotice>,
    /// When the step was decided.
    pub at: Timestamp,
}

/// A slot, or a stretch of slots, without a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedSlots {
    /// The id of its row in the table of runs.
    pub run: RunId,
    /// The first slot.
    pub slot: Timestamp,
    /// The last slot of a stretch; `None` for one slot.
    pub until: Option<Timestamp>,
    /// The number of slots.
    pub count: u64,
    /// `skipped`, `missed`, or `error` if nothing could be started.
    pub outcome: Outcome,
    /// The reason, a JSON object.
    pub error: String,
}
