//! Searches skills.

use deft_model::Tier;
use deft_registry::State;
use deft_registry::discovery::{Query, search};
use deft_wire::Done;
use deft_wire::remote_skill::{RefusedSkillView, RemoteSkillView};
use deft_wire::skill::{SkillList, SkillView, StoredSkill};

use super::catalog::SkillCatalog;
use super::remote;

/// A query for skills.
#[derive(Clone, Debug, Default)]
pub struct SkillQuery {
    /// Search words; all of them must match.
    pub words: Vec<String>,
    /// The domain.
    pub domain: Option<String>,
    /// A tag.
    pub tag: Option<String>,
    /// The tier.
    pub tier: Option<Tier>,
    /// The maximum number of results.
    pub limit: Option<usize>,
}

/// The result of a search, files first.
#[derive(Clone, Debug)]
pub struct SkillListing {
    /// The matching skills, for output as JSON.
    pub list: SkillList,
    /// The number of all file skills, matching or not.
    pub file_count: usize,
    /// The number of broken and shadowed files.
    pub unloaded_files: usize,
}

impl SkillCatalog {
    /// Returns the skills that match a query.
    pub fn list(&self, query: &SkillQuery) -> Done<SkillListing> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut files = search(&self.snapshot, &file_query(query));
        files.truncate(limit);
        let mut records = self.records()?;
        records.retain(|record| fits(record, query));
        records.truncate(limit - files.len());
        let files = files.into_iter().map(|loaded| {
            let mut shown = self.file_skill(loaded)?;
            let found = self.check_tools(&loaded.skill).into_iter();
            shown.warnings = found.map(|one| one.message).collect();
            Ok(SkillView::File(Box::new(shown)))
        });
        let files: Vec<SkillView> = files.collect::<Done<_>>()?;
        let records = records
            .into_iter()
            .map(|record| SkillView::Stored(Box::new(record)));
        let (remote, refused_remote) = self.remote(query)?;
        let unloaded =
            |state: &State| matches!(state, State::Broken { .. } | State::Shadowed { .. });
        let all = self.snapshot.files().iter();
        Ok(SkillListing {
            list: SkillList {
                skills: files.into_iter().chain(records).collect(),
                remote,
                refused_remote,
            },
            file_count: self.snapshot.skill_count(),
            unloaded_files: all.filter(|file| unloaded(&file.state)).count(),
        })
    }
}

impl SkillCatalog {
    /// Returns the matching skills of servers. They have no domain, tags or tier, because they can only be
    /// read, not run.
    fn remote(&self, query: &SkillQuery) -> Done<(Vec<RemoteSkillView>, Vec<RefusedSkillView>)> {
        let is_for_files = query.domain.is_some() || query.tag.is_some() || query.tier.is_some();
        let Some(router) = self.router().filter(|_| !is_for_files) else {
            return Ok(Default::default());
        };
        let (mut skills, mut refused) = remote::list_known(router, &self.grants()?, &self.snapshot);
        skills.retain(|skill| {
            let all = format!("{} {}", skill.id, skill.description).to_lowercase();
            let mut words = query.words.iter();
            words.all(|word| all.contains(&word.to_lowercase()))
        });
        skills.truncate(query.limit.unwrap_or(usize::MAX));
        if !query.words.is_empty() {
            refused.clear();
        }
        Ok((skills, refused))
    }
}

fn file_query(query: &SkillQuery) -> Query {
    Query {
        words: query.words.clone(),
        domain: query.domain.clone(),
        tag: query.tag.clone(),
        tier: query.tier,
    }
}

/// Whether a record matches. Records have no domain.
fn fits(record: &StoredSkill, query: &SkillQuery) -> bool {
    let head = &record.head;
    let description = head.description.as_deref().unwrap_or_default();
    let tags = record.tags.join("\n");
    let all = format!("{}\n{}\n{description}\n{tags}", head.id, head.name).to_lowercase();
    let tagged = |tag: &String| record.tags.iter().any(|one| one.eq_ignore_ascii_case(tag));
    let mut words = query.words.iter();
    query.domain.is_none()
        && query.tier.is_none_or(|tier| head.tier == tier)
        && query.tag.as_ref().is_none_or(tagged)
        && words.all(|word| all.contains(&word.to_lowercase()))
}
