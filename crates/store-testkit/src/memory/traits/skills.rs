//! Requests for skills, slots, revisions, cached results and catalogs of tools.

use jiff::Timestamp;

use super::super::Memory;
use deft_store::{
    Answer, NewSkill, PutResult, ReadableFile, Revisions, SkillChange, SkillFilter, SkillRow,
    SkillSlots, SlotStep, StoredSkills, ToolCache,
};

impl StoredSkills for Memory {
    fn put_skills(&self, new: Vec<NewSkill>) -> Answer<'_, Vec<PutResult>> {
        self.write(|state| {
            let put = |new| state.skills.put(new);
            Ok(new.into_iter().map(put).collect())
        })
    }

    fn change_skills(
        &self,
        changes: Vec<(i64, u64, SkillChange)>,
    ) -> Answer<'_, Vec<Option<SkillRow>>> {
        self.write(|state| {
            let change = |(id, version, new)| state.skills.change(id, version, new);
            Ok(changes.into_iter().map(change).collect())
        })
    }

    fn remove_skill(&self, id: i64) -> Answer<'_, Option<SkillRow>> {
        self.write(|state| Ok(state.skills.remove(id)))
    }

    fn skill_by_id(&self, id: i64) -> Answer<'_, Option<SkillRow>> {
        self.read(|state| state.skills.by_id(id))
    }

    fn skill(&self, skill: &str) -> Answer<'_, Option<SkillRow>> {
        self.read(|state| state.skills.by_name(skill))
    }

    fn skills(&self, filter: SkillFilter) -> Answer<'_, Vec<SkillRow>> {
        self.read(|state| state.skills.list(&filter))
    }

    fn count_skills(&self, filter: SkillFilter) -> Answer<'_, u64> {
        let all = SkillFilter {
            limit: None,
            ..filter
        };
        self.read(move |state| state.skills.list(&all).len() as u64)
    }

    fn changed_files(&self) -> Answer<'_, Vec<(String, String)>> {
        self.read(|state| state.skills.changed_files())
    }

    fn skill_content(&self, id: i64) -> Answer<'_, Option<String>> {
        self.read(|state| state.skills.content(id))
    }
}

impl SkillSlots for Memory {
    fn due_skills(
        &self,
        after: Option<Timestamp>,
        now: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<SkillRow>> {
        self.read(|state| state.skills.due(after, now, limit))
    }

    fn next_due(&self) -> Answer<'_, Option<Timestamp>> {
        self.read(|state| state.skills.next_due())
    }

    fn pass_slots(&self, steps: Vec<SlotStep>) -> Answer<'_, Vec<bool>> {
        self.write(|state| Ok(state.pass(steps)))
    }
}

impl Revisions for Memory {
    fn keep_revisions(&self, revisions: Vec<(String, String)>) -> Answer<'_, ()> {
        self.write(|state| {
            for (revision, content) in revisions {
                state.aside.keep_revision(&revision, &content);
            }
            Ok(())
        })
    }

    fn revision(&self, revision: &str) -> Answer<'_, Option<String>> {
        self.read(|state| state.aside.revision(revision))
    }

    fn keep_good_files(
        &self,
        files: Vec<(ReadableFile, String)>,
        gone: Vec<String>,
    ) -> Answer<'_, ()> {
        self.write(|state| {
            for (file, content) in files {
                state.aside.keep_good_file(file, &content);
            }
            for path in &gone {
                state.aside.drop_good_file(path);
            }
            Ok(())
        })
    }

    fn good_files(&self) -> Answer<'_, Vec<ReadableFile>> {
        self.read(|state| state.aside.good_files())
    }
}

impl ToolCache for Memory {
    fn read_cached(&self, key: &str, now: Timestamp) -> Answer<'_, Option<String>> {
        self.read(|state| state.aside.read_cached(key, now))
    }

    fn keep_catalog(&self, server: &str, tools: &str, at: Timestamp) -> Answer<'_, ()> {
        self.write(|state| {
            state.aside.keep_catalog(server, tools, at);
            Ok(())
        })
    }

    fn drop_catalog(&self, server: &str) -> Answer<'_, ()> {
        self.write(|state| {
            state.aside.drop_catalog(server);
            Ok(())
        })
    }

    fn catalogs(&self) -> Answer<'_, Vec<(String, String, Timestamp)>> {
        self.read(|state| state.aside.catalogs())
    }
}
