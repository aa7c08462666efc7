//! Skills and their slots.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use deft_model::{Cause, DisabledReason, RunStatus};
use jiff::Timestamp;

use super::State;
use super::run::Run;
use deft_store::{
    Admission, Error, NewSkill, PassedSlots, PutResult, SkillChange, SkillFilter, SkillOrigin,
    SkillRow, SkillUpdate, SlotStep,
};

#[derive(Default)]
pub(super) struct Skills {
    rows: BTreeMap<i64, (SkillRow, Option<String>)>,
    by_name: HashMap<String, i64>,
    next: BTreeSet<(Timestamp, i64)>,
    last_id: i64,
}

impl Skills {
    pub(super) fn put(&mut self, new: NewSkill) -> PutResult {
        let twin = self.by_name(&new.text.skill);
        match (new.replaces, twin) {
            (None, None) => {
                self.last_id += 1;
                let (id, at) = (self.last_id, new.at);
                self.store(id, at, 1, new)
            }
            (Some((id, version)), twin) => {
                let free = twin.as_ref().is_none_or(|twin| twin.id == id);
                match self.by_id(id) {
                    Some(row) if free && row.version == version => {
                        self.store(id, row.created_at, version + 1, new)
                    }
                    found => PutResult::Refused(twin.or(found).map(Box::new)),
                }
            }
            (None, Some(twin)) => PutResult::Refused(Some(Box::new(twin))),
        }
    }

    fn store(&mut self, id: i64, created_at: Timestamp, version: u64, new: NewSkill) -> PutResult {
        self.remove(id);
        let row = SkillRow {
            id,
            text: new.text,
            standing: new.standing,
            timeline: new.timeline,
            created_at,
            updated_at: new.at,
            version,
        };
        self.by_name.insert(row.text.skill.clone(), id);
        self.rows.insert(id, (row.clone(), new.content));
        self.list_next(&row);
        PutResult::Stored(Box::new(row))
    }

    /// Changes a row and updates the index of next slots.
    fn edit(&mut self, id: i64, edit: impl FnOnce(&mut SkillRow)) {
        let Some((row, _)) = self.rows.get_mut(&id) else {
            return;
        };
        if let Some(at) = row.timeline.next_at {
            self.next.remove(&(at, id));
        }
        edit(row);
        let row = row.clone();
        self.list_next(&row);
    }

    fn list_next(&mut self, row: &SkillRow) {
        if let (Some(at), None) = (row.timeline.next_at, row.standing.disabled) {
            self.next.insert((at, row.id));
        }
    }

    pub(super) fn change(
        &mut self,
        id: i64,
        version: u64,
        change: SkillChange,
    ) -> Option<SkillRow> {
        self.by_id(id).filter(|row| row.version == version)?;
        self.edit(id, |row| {
            row.standing = change.standing;
            row.timeline = change.timeline.unwrap_or(row.timeline);
            row.updated_at = change.at;
            row.version += 1;
        });
        self.by_id(id)
    }

    /// Fails if the skill of an ended run has changed since the caller read it.
    pub(super) fn check(&self, after: Option<&SkillUpdate>) -> Result<(), Error> {
        let changed = after.filter(|after| {
            let row = self.rows.get(&after.id);
            row.is_some_and(|(row, _)| row.version != after.version)
        });
        match changed {
            Some(after) => Err(Error::Changed { skill: after.id }),
            None => Ok(()),
        }
    }

    pub(super) fn remove(&mut self, id: i64) -> Option<SkillRow> {
        let (row, _) = self.rows.remove(&id)?;
        self.by_name.remove(&row.text.skill);
        if let Some(at) = row.timeline.next_at {
            self.next.remove(&(at, id));
        }
        Some(row)
    }

    pub(super) fn by_id(&self, id: i64) -> Option<SkillRow> {
        self.rows.get(&id).map(|(row, _)| row.clone())
    }

    pub(super) fn by_name(&self, skill: &str) -> Option<SkillRow> {
        self.by_id(*self.by_name.get(skill)?)
    }

    pub(super) fn content(&self, id: i64) -> Option<String> {
        self.rows.get(&id)?.1.clone()
    }

    pub(super) fn changed_files(&self) -> Vec<(String, String)> {
        let files = self.rows.values();
        let files = files.filter(|(row, _)| row.text.origin == SkillOrigin::File);
        let changed = files.filter_map(|(row, content)| {
            let content = content.clone()?;
            Some((row.text.skill.clone(), content))
        });
        let mut changed: Vec<(String, String)> = changed.collect();
        changed.sort();
        changed
    }

    pub(super) fn list(&self, filter: &SkillFilter) -> Vec<SkillRow> {
        let equal =
            |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|w| w == found);
        let fits = |row: &&SkillRow| {
            let disabled = row.standing.disabled;
            filter.enabled.is_none_or(|on| on == disabled.is_none())
                && filter
                    .trigger
                    .is_none_or(|wanted| wanted == row.text.trigger)
                && filter.tier.is_none_or(|wanted| wanted == row.text.tier)
                && equal(&filter.agent_id, &row.text.agent_id)
                && equal(&filter.name, &row.text.name)
                && filter.origin.is_none_or(|origin| origin == row.text.origin)
                && filter.disabled.is_none_or(|why| disabled == Some(why))
        };
        let mut rows: Vec<SkillRow> = self
            .rows
            .values()
            .map(|(row, _)| row)
            .filter(fits)
            .cloned()
            .collect();
        rows.sort_by(|a, b| a.text.skill.cmp(&b.text.skill));
        rows.truncate(filter.limit.map_or(usize::MAX, |limit| limit as usize));
        rows
    }

    pub(super) fn due(
        &self,
        after: Option<Timestamp>,
        now: Timestamp,
        limit: u32,
    ) -> Vec<SkillRow> {
        let from = (after.unwrap_or(Timestamp::MIN), i64::MAX);
        self.next
            .range((Bound::Excluded(from), Bound::Unbounded))
            .take_while(|(at, _)| *at <= now)
            .take(limit as usize)
            .filter_map(|(_, id)| self.by_id(*id))
            .collect()
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.next.first().map(|(at, _)| *at)
    }
}

impl State {
    pub(super) fn pass(&mut self, steps: Vec<SlotStep>) -> Vec<bool> {
        let one = |step: SlotStep| {
            let counts = self.step(&step);
            if counts {
                self.close_if_last(&step);
                if let Some(notice) = step.notice {
                    self.notes.add_notice(notice);
                }
            }
            counts
        };
        steps.into_iter().map(one).collect()
    }

    /// Moves a skill to its next slot. Returns `false` if the skill is no longer where the step starts.
    pub(super) fn step(&mut self, step: &SlotStep) -> bool {
        let here = |row: &SkillRow| {
            row.standing.disabled.is_none()
                && row.timeline.next_at == Some(step.from)
                && row.standing.backoff_until == step.backoff_until
        };
        let Some(row) = self.skills.by_id(step.id).filter(here) else {
            return false;
        };
        self.skills
            .edit(step.id, |row| row.timeline.next_at = step.to);
        for passed in &step.passed {
            self.insert_passed(&row, step.at, passed);
        }
        true
    }

    fn insert_passed(&mut self, skill: &SkillRow, at: Timestamp, passed: &PassedSlots) {
        let taken = (skill.text.skill.clone(), passed.slot);
        if self.by_slot.contains_key(&taken) {
            return;
        }
        let text = &skill.text;
        let mut run = Run::new_queued(
            &Admission {
                run: passed.run.clone(),
                skill: text.skill.clone(),
                revision: text.revision.clone(),
                tier: text.tier,
                agent_id: text.agent_id.clone(),
                cause: Cause::Schedule,
                slot: Some(passed.slot),
                step: None,
                key: None,
                parent: None,
                inputs: "{}".to_owned(),
                at,
                overlap: deft_model::Overlap::Allow,
                skill_limit: None,
                claim: None,
                aside: Vec::new(),
                writes: Vec::new(),
                closing: Vec::new(),
            },
            0,
        );
        let row = &mut run.row;
        row.status = RunStatus::Done;
        row.outcome = Some(passed.outcome);
        row.error = Some(passed.error.clone());
        row.slot_until = passed.until;
        row.slot_count = passed.count;
        row.finished_at = Some(at);
        row.finish_ordinal = 1;
        self.add_run(run);
    }

    /// Disables a skill that was to fire once and whose slot brought no run.
    pub(super) fn close_if_last(&mut self, step: &SlotStep) {
        if step.last {
            self.skills.edit(step.id, |row| {
                row.standing.disabled = Some(DisabledReason::OneShotDone);
                row.updated_at = step.at;
                row.version += 1;
            });
        }
    }
}
