//! All skills that fire by the clock, wherever they were written.
//!
//! Skills that the store knows have their grid where it really is; those of files that were never
//! up, or have changed since, start at the instant that is given.

use std::collections::HashSet;

use deft_model::{Choice, DisabledReason, Skill};
use deft_registry::Snapshot;
use deft_schedule::{Rule, Schedule, Timed};
use deft_skillfile::{Moment, is_meant, schedule};
use deft_store::{SkillFilter, SkillOrigin, SkillRow};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::app::{self, App};
use crate::args::{Global, Roots};
use crate::commands::skills::find;
use crate::commands::up::seed;
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
    /// The slot that it stands at, where the store knows that: a one-shot that failed is tried
    /// again at another instant than its own.
    pub next: Option<Timestamp>,
    /// How often it failed in a row.
    pub failures: u32,
    /// Until when it rests after that.
    pub rests_until: Option<Timestamp>,
}

/// A skill of the store: its schedule with the grid where it really is.
fn stored(row: &SkillRow, host: &TimeZone) -> Option<Entry> {
    let plan = deft_engine::stored_schedule(row, host)?;
    Some(Entry {
        zone: plan.zone,
        disabled: row.standing.disabled.map(Choice::word),
        next: row.timeline.next_at,
        failures: row.standing.streak,
        rests_until: row.standing.backoff_until,
        timed: Timed {
            name: row.text.skill.clone(),
            schedule: plan.schedule,
            rule: plan.rule,
        },
    })
}

/// Where the skills come from.
pub(super) struct Source {
    /// The present, and the zone of times that name none.
    pub moment: Moment,
    snapshot: Snapshot,
    /// Skills that the store knows; they count more than what is read from their files.
    rows: Vec<SkillRow>,
}

impl Source {
    pub(super) fn open(global: &Global, roots: &Roots) -> Done<Self> {
        let library = Library::open(global, roots)?;
        let snapshot = library.load_kept(global, roots);
        let rows = if roots.roots.is_empty() {
            let app = App::to_read(global)?;
            let rows = app.block_on(app.engine.library().list_skills(SkillFilter::default()));
            rows.map_err(|error| app::failure(&error))?
        } else {
            Vec::new()
        };
        Ok(Self {
            moment: library.moment,
            snapshot,
            rows,
        })
    }

    /// All timed skills, with grids and delays that start at `now`, sorted by id.
    pub(super) fn all(&self, now: Timestamp) -> Vec<Entry> {
        let known: HashSet<&str> = self
            .rows
            .iter()
            .map(|row| row.text.skill.as_str())
            .collect();
        let files = self.snapshot.skills();
        let files = files.filter(|loaded| !known.contains(loaded.skill.id.as_str()));
        let files = files.filter_map(|loaded| self.entry(&loaded.skill, now));
        let rows = self.rows.iter();
        let rows = rows.filter_map(|row| self.stored(row, now));
        let mut all: Vec<Entry> = files.chain(rows).collect();
        all.sort_by(|a, b| a.timed.name.cmp(&b.timed.name));
        all
    }

    /// The timed skill that somebody named.
    pub(super) fn find(&self, name: &str, now: Timestamp) -> Done<Entry> {
        let id = name.parse();
        let named = |row: &&SkillRow| {
            is_meant(name, &row.text.skill, &row.text.name) || id.as_ref() == Ok(&row.id)
        };
        let row = self.rows.iter().find(named);
        if let Some(entry) = row.and_then(|row| self.stored(row, now)) {
            return Ok(entry);
        }
        let loaded = find(&self.snapshot, name)?;
        self.entry(&loaded.skill, now).ok_or_else(|| {
            let fires = deft_skillfile::words(&loaded.skill, &self.moment);
            let message = format!("skill `{name}` has no schedule: it fires {fires}");
            Failure::input("no_schedule", message)
                .hint("`deft schedule list` shows the skills that have one")
        })
    }

    /// A skill of the store. Nobody may have looked at its file since it was edited or deleted: then
    /// the file counts, as it will when somebody does.
    fn stored(&self, row: &SkillRow, now: Timestamp) -> Option<Entry> {
        let known = || stored(row, &self.moment.zone);
        if row.text.origin == SkillOrigin::Record {
            return known();
        }
        match self.snapshot.skill(&row.text.skill) {
            None => known().map(|entry| Entry {
                disabled: entry.disabled.or(Some(DisabledReason::FileRemoved.word())),
                ..entry
            }),
            Some(loaded)
                if loaded.revision.to_string() == row.text.revision
                    && row.standing.disabled != Some(DisabledReason::FileRemoved) =>
            {
                known()
            }
            Some(loaded) => self.entry(&loaded.skill, now).map(|entry| Entry {
                disabled: match row.standing.disabled {
                    Some(why @ (DisabledReason::User | DisabledReason::Deleted)) => {
                        Some(why.word())
                    }
                    _ => entry.disabled,
                },
                ..entry
            }),
        }
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
            disabled: (!skill.policy.enabled).then(|| {
                let waits = seed::waiting().iter().any(|id| id == skill.id.as_str());
                let why = if waits {
                    DisabledReason::MissingTools
                } else {
                    DisabledReason::User
                };
                why.word()
            }),
            next: None,
            failures: 0,
            rests_until: None,
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
