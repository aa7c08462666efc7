//! One skill with everything in it.

use deft_engine::Commands;
use deft_registry::{LoadedSkill, State};
use deft_skillfile::{is_host_key, render};
use deft_wire::Done;
use deft_wire::skill::SkillView;

use super::catalog::SkillCatalog;
use super::view::zone;

/// A skill, and beside it what only people are shown.
#[derive(Clone, Debug)]
pub struct SkillPage {
    /// The skill.
    pub skill: SkillView,
    /// The skill as a page of text; a record has none.
    pub manual: Option<String>,
    /// The end of its backoff in the zone of the skill, while it lasts.
    pub backs_off_until: Option<String>,
    /// Keys of the file that are for other hosts.
    pub host_keys: Vec<String>,
    /// Whether the file is broken, so that the skill is shown as it was before.
    pub file_is_broken: bool,
}

impl SkillCatalog {
    /// The skill that a name means: that of a file first, then a record.
    pub fn show(&self, name: &str) -> Done<SkillPage> {
        if self.snapshot.find(name).is_none()
            && let Some(record) = self.find_record(name)
        {
            return Ok(SkillPage {
                skill: SkillView::Stored(Box::new(self.stored(record)?)),
                manual: None,
                backs_off_until: None,
                host_keys: Vec::new(),
                file_is_broken: false,
            });
        }
        self.file_page(self.find_file(name)?)
    }

    fn file_page(&self, loaded: &LoadedSkill) -> Done<SkillPage> {
        let mut shown = self.full_file_skill(loaded)?;
        shown.unavailable = self.unavailable(loaded);
        let skill = &loaded.skill;
        let (moment, broken) = (
            self.moment(),
            State::Broken {
                kept: Some(skill.id.clone()),
            },
        );
        let standing = self.standing(skill.id.as_str());
        let until = standing.and_then(|standing| standing.backoff_until);
        let until = until.filter(|until| *until > moment.now);
        Ok(SkillPage {
            skill: SkillView::File(Box::new(shown)),
            manual: Some(render::manual(skill)),
            backs_off_until: until.map(|until| deft_schedule::show(until, &zone(skill, moment))),
            host_keys: skill
                .extra
                .keys()
                .filter(|key| is_host_key(key))
                .cloned()
                .collect(),
            file_is_broken: self
                .snapshot
                .files()
                .iter()
                .any(|file| file.state == broken),
        })
    }

    /// Why a command cannot be run now, as far as is known without asking a server.
    fn unavailable(&self, loaded: &LoadedSkill) -> Option<String> {
        let moment = self.moment();
        let start = moment.now.to_zoned(moment.zone.clone());
        Commands::new(&self.snapshot, self.router(), start).unavailable(&loaded.skill, true)
    }
}
