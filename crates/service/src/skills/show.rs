//! Shows one skill in full.

use deft_engine::{Commands, NamedSkill};
use deft_registry::{LoadedSkill, State};
use deft_skillfile::{is_host_key, render};
use deft_store::{SkillRow, SkillState};
use deft_wire::Done;
use deft_wire::skill::SkillView;
use jiff::tz::TimeZone;

use super::catalog::SkillCatalog;
use super::view::zone;

/// A skill, with further facts for display.
#[derive(Clone, Debug)]
pub struct SkillPage {
    /// The skill.
    pub skill: SkillView,
    /// The skill as a page of text; `None` for a record.
    pub manual: Option<String>,
    /// The end of its backoff in the skill's zone; `None` if it has ended.
    pub backs_off_until: Option<String>,
    /// The time of its last run, for a record.
    pub last_run: Option<String>,
    /// Keys of the file that only other hosts read.
    pub host_keys: Vec<String>,
    /// Whether the file is broken, so that its last valid version is shown.
    pub file_is_broken: bool,
}

impl SkillCatalog {
    /// Returns the skill that `name` refers to, by the same rule as a run of it.
    pub fn show(&self, name: &str) -> Done<SkillPage> {
        match self.look_up(name)? {
            NamedSkill::Record(row) => self.record_page(&row),
            NamedSkill::File(loaded, _) => self.file_page(&loaded),
            NamedSkill::FileMissing(row) => Err(self.missing_file(name, &row)),
        }
    }

    fn record_page(&self, row: &SkillRow) -> Done<SkillPage> {
        let (standing, zone) = (&row.standing, &self.moment().zone);
        Ok(SkillPage {
            skill: SkillView::Stored(Box::new(self.stored_view(row)?)),
            manual: None,
            backs_off_until: self.backoff(standing, zone),
            last_run: standing.last_run_at.map(|at| deft_schedule::show(at, zone)),
            host_keys: Vec::new(),
            file_is_broken: false,
        })
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
        Ok(SkillPage {
            skill: SkillView::File(Box::new(shown)),
            manual: Some(render::manual(skill)),
            backs_off_until: standing.and_then(|it| self.backoff(it, &zone(skill, moment))),
            last_run: None,
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

    /// Returns the end of a backoff that is not over.
    fn backoff(&self, standing: &SkillState, zone: &TimeZone) -> Option<String> {
        let until = standing.backoff_until;
        let until = until.filter(|until| *until > self.moment().now);
        until.map(|until| deft_schedule::show(until, zone))
    }

    /// Returns why a command cannot be run now, as far as this is known without querying a server.
    fn unavailable(&self, loaded: &LoadedSkill) -> Option<String> {
        let moment = self.moment();
        let start = moment.now.to_zoned(moment.zone.clone());
        Commands::new(&self.snapshot, self.router(), start).unavailable(&loaded.skill, true)
    }
}
