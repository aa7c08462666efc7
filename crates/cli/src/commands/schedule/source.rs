//! All skills that fire by the clock, wherever they were written.
//!
//! What has fired already is not known here: grids and delays start at the instant that is given.

use deft_model::Skill;
use deft_registry::Snapshot;
use deft_schedule::{Rule, Schedule, Timed};
use deft_skillfile::{Moment, schedule};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::args::{Global, Roots};
use crate::commands::skills::find;
use crate::failure::{Done, Failure};
use crate::home::Library;
use crate::view;

/// A skill with a schedule.
pub(super) struct Entry {
    /// Its id, its schedule and what it says about missed slots.
    pub timed: Timed,
    /// The zone of its times.
    pub zone: TimeZone,
    /// Why it does not fire.
    pub disabled: Option<&'static str>,
}

/// Where the skills come from.
pub(super) struct Source {
    /// The present, and the zone of times that name none.
    pub moment: Moment,
    snapshot: Snapshot,
}

impl Source {
    pub(super) fn open(global: &Global, roots: &Roots) -> Done<Self> {
        let library = Library::open(global, roots)?;
        let snapshot = library.load();
        Ok(Self {
            moment: library.moment,
            snapshot,
        })
    }

    /// All timed skills, with grids and delays that start at `now`, sorted by id.
    pub(super) fn all(&self, now: Timestamp) -> Vec<Entry> {
        let mut all: Vec<Entry> = self
            .snapshot
            .skills()
            .filter_map(|loaded| self.entry(&loaded.skill, now))
            .collect();
        all.sort_by(|a, b| a.timed.name.cmp(&b.timed.name));
        all
    }

    /// The timed skill that somebody named.
    pub(super) fn find(&self, name: &str, now: Timestamp) -> Done<Entry> {
        let loaded = find(&self.snapshot, name)?;
        self.entry(&loaded.skill, now).ok_or_else(|| {
            let fires = deft_skillfile::words(&loaded.skill, &self.moment);
            let message = format!("skill `{name}` has no schedule: it fires {fires}");
            Failure::input("no_schedule", message)
                .hint("`deft schedule list` shows the skills that have one")
        })
    }

    fn entry(&self, skill: &Skill, now: Timestamp) -> Option<Entry> {
        let moment = Moment {
            now,
            zone: self.moment.zone.clone(),
        };
        let schedule: Schedule = schedule(skill, &moment)?;
        let window = SignedDuration::try_from(skill.policy.misfire_window);
        Some(Entry {
            zone: view::zone(skill, &moment),
            disabled: (!skill.policy.enabled).then_some("user"),
            timed: Timed {
                name: skill.id.to_string(),
                schedule,
                rule: Rule {
                    misfire: skill.policy.misfire,
                    window: window.unwrap_or(SignedDuration::MAX),
                },
            },
        })
    }
}
