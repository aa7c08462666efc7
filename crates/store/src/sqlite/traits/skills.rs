//! Requests for skills, slots, revisions, cached results and catalogs of tools.

use jiff::Timestamp;

use super::super::{Sqlite, aside, skills};
use crate::{
    Answer, NewSkill, PutResult, ReadableFile, Revisions, SkillChange, SkillFilter, SkillRow,
    SkillSlots, SlotStep, StoredSkills, ToolCache,
};

impl StoredSkills for Sqlite {
    fn put_skills(&self, new: Vec<NewSkill>) -> Answer<'_, Vec<PutResult>> {
        self.writer.write(move |db| skills::put(db, &new))
    }

    fn change_skills(
        &self,
        changes: Vec<(i64, u64, SkillChange)>,
    ) -> Answer<'_, Vec<Option<SkillRow>>> {
        self.writer.write(move |db| {
            let change =
                |(id, version, new): &(_, _, SkillChange)| skills::change(db, *id, *version, new);
            changes.iter().map(change).collect()
        })
    }

    fn remove_skill(&self, id: i64) -> Answer<'_, Option<SkillRow>> {
        self.writer.write(move |db| skills::remove(db, id))
    }

    fn skill_by_id(&self, id: i64) -> Answer<'_, Option<SkillRow>> {
        self.readers.read(move |db| skills::by_id(db, id))
    }

    fn skill(&self, skill: &str) -> Answer<'_, Option<SkillRow>> {
        let skill = skill.to_owned();
        self.readers.read(move |db| skills::by_name(db, &skill))
    }

    fn skills(&self, filter: SkillFilter) -> Answer<'_, Vec<SkillRow>> {
        self.readers.read(move |db| skills::list(db, &filter))
    }

    fn count_skills(&self, filter: SkillFilter) -> Answer<'_, u64> {
        self.readers.read(move |db| skills::count(db, &filter))
    }

    fn changed_files(&self) -> Answer<'_, Vec<(String, String)>> {
        self.readers.read(skills::changed_files)
    }

    fn skill_content(&self, id: i64) -> Answer<'_, Option<String>> {
        self.readers.read(move |db| skills::content(db, id))
    }
}

impl SkillSlots for Sqlite {
    fn due_skills(
        &self,
        after: Option<Timestamp>,
        now: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<SkillRow>> {
        self.readers
            .read(move |db| skills::due(db, after, now, limit))
    }

    fn next_due(&self) -> Answer<'_, Option<Timestamp>> {
        self.readers.read(skills::next_due)
    }

    fn pass_slots(&self, steps: Vec<SlotStep>) -> Answer<'_, Vec<bool>> {
        self.writer.write(move |db| skills::pass(db, &steps))
    }
}

impl Revisions for Sqlite {
    fn keep_revisions(&self, revisions: Vec<(String, String)>) -> Answer<'_, ()> {
        self.writer.write(move |db| {
            let keep = |(revision, content): &(String, String)| {
                aside::keep_revision(db, revision, content)
            };
            revisions.iter().try_for_each(keep)
        })
    }

    fn revision(&self, revision: &str) -> Answer<'_, Option<String>> {
        let revision = revision.to_owned();
        self.readers.read(move |db| aside::revision(db, &revision))
    }

    fn keep_good_files(
        &self,
        files: Vec<(ReadableFile, String)>,
        gone: Vec<String>,
    ) -> Answer<'_, ()> {
        self.writer.write(move |db| {
            let keep =
                |(file, content): &(ReadableFile, String)| aside::keep_good_file(db, file, content);
            files.iter().try_for_each(keep)?;
            gone.iter()
                .try_for_each(|path| aside::drop_good_file(db, path))
        })
    }

    fn good_files(&self) -> Answer<'_, Vec<ReadableFile>> {
        self.readers.read(aside::good_files)
    }
}

impl ToolCache for Sqlite {
    fn read_cached(&self, key: &str, now: Timestamp) -> Answer<'_, Option<String>> {
        let key = key.to_owned();
        self.readers
            .read(move |db| aside::read_cached(db, &key, now))
    }

    fn keep_catalog(&self, server: &str, tools: &str, at: Timestamp) -> Answer<'_, ()> {
        let (server, tools) = (server.to_owned(), tools.to_owned());
        self.writer
            .write(move |db| aside::keep_catalog(db, &server, &tools, at))
    }

    fn drop_catalog(&self, server: &str) -> Answer<'_, ()> {
        let server = server.to_owned();
        self.writer
            .write(move |db| aside::drop_catalog(db, &server))
    }

    fn catalogs(&self) -> Answer<'_, Vec<(String, String, Timestamp)>> {
        self.readers.read(aside::catalogs)
    }
}
