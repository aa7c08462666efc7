//! All skills with a schedule, from files and records.
//!
//! The store has the grid of each skill it knows. The grid of a skill with a new or changed file starts at
//! the instant that the caller gives.

use std::collections::HashSet;

use deft_engine::NamedSkill;
use deft_model::{DisabledReason, Skill};
use deft_schedule::{Rule, Schedule, TimedSkill};
use deft_skillfile::{Moment, schedule};
use deft_store::{SkillOrigin, SkillRow};
use deft_wire::{Done, Failure};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::app;
use crate::seed;
use crate::skills::{SkillCatalog, zone};
use crate::workspace::Workspace;

/// A skill with a schedule.
pub(super) struct ScheduledSkill {
    /// The id, the schedule and the misfire rule.
    pub timed: TimedSkill,
    /// The zone of its schedule.
    pub zone: TimeZone,
    /// Why it does not fire, if so.
    pub disabled: Option<DisabledReason>,
    /// The next slot, if the store has it: a failed one-shot is retried at another time than its own.
    pub next: Option<Timestamp>,
    /// Failures in a row.
    pub failures: u32,
    /// The end of the backoff.
    pub backoff_until: Option<Timestamp>,
}

/// The source of scheduled skills.
pub(super) struct Source(SkillCatalog);

impl Source {
    pub(super) fn open(workspace: &Workspace) -> Done<Self> {
        SkillCatalog::open(workspace).map(Self)
    }

    /// The current time, and the zone of times that name none.
    pub(super) fn moment(&self) -> &Moment {
        self.0.moment()
    }

    /// Returns all scheduled skills, sorted by id. Grids and delays that are not stored start at `now`.
    pub(super) fn all(&self, now: Timestamp) -> Done<Vec<ScheduledSkill>> {
        let rows = self.0.rows();
        let known: HashSet<&str> = rows.iter().map(|row| row.text.skill.as_str()).collect();
        let files = self.0.snapshot.skills();
        let files = files.filter(|loaded| !known.contains(loaded.skill.id.as_str()));
        let files = files.filter_map(|loaded| self.read_file(&loaded.skill, now));
        let mut all: Vec<ScheduledSkill> = files.collect();
        for row in rows {
            all.extend(self.read_row(row, now)?);
        }
        all.sort_by(|a, b| a.timed.name.cmp(&b.timed.name));
        Ok(all)
    }

    /// Returns the scheduled skill called `name`.
    pub(super) fn find(&self, name: &str, now: Timestamp) -> Done<ScheduledSkill> {
        let (found, fires) = match self.0.look_up(name)? {
            NamedSkill::Record(row) | NamedSkill::FileMissing(row) => {
                (self.read_row(&row, now)?, "only on demand".to_owned())
            }
            NamedSkill::File(loaded, row) => {
                let found = match row {
                    Some(row) => self.read_row(&row, now)?,
                    None => self.read_file(&loaded.skill, now),
                };
                (found, deft_skillfile::words(&loaded.skill, self.moment()))
            }
        };
        found.ok_or_else(|| no_schedule(name, &fires))
    }

    /// Returns the schedule of a stored skill. If its file was edited or deleted since the last sync, the
    /// file has precedence, as it will at the next sync.
    fn read_row(&self, row: &SkillRow, now: Timestamp) -> Done<Option<ScheduledSkill>> {
        let known = || stored_skill(row, &self.moment().zone);
        if row.text.origin == SkillOrigin::Record {
            return known();
        }
        Ok(match self.0.snapshot.skill(&row.text.skill) {
            None => known()?.map(|found| ScheduledSkill {
                disabled: found.disabled.or(Some(DisabledReason::FileRemoved)),
                ..found
            }),
            Some(loaded)
                if loaded.revision.to_string() == row.text.revision
                    && row.standing.disabled != Some(DisabledReason::FileRemoved) =>
            {
                known()?
            }
            Some(loaded) => self
                .read_file(&loaded.skill, now)
                .map(|found| ScheduledSkill {
                    disabled: match row.standing.disabled {
                        why @ Some(DisabledReason::User | DisabledReason::Deleted) => why,
                        _ => found.disabled,
                    },
                    ..found
                }),
        })
    }

    fn read_file(&self, skill: &Skill, now: Timestamp) -> Option<ScheduledSkill> {
        let moment = Moment {
            now,
            zone: self.moment().zone.clone(),
        };
        let schedule: Schedule = schedule(skill, &moment)?;
        let window = SignedDuration::try_from(skill.policy.misfire_window);
        Some(ScheduledSkill {
            zone: zone(skill, &moment),
            disabled: (!skill.policy.enabled).then(|| disabled_by_file(skill)),
            next: None,
            failures: 0,
            backoff_until: None,
            timed: TimedSkill {
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

fn no_schedule(name: &str, fires: &str) -> Failure {
    let message = format!("skill `{name}` has no schedule: it runs {fires}");
    let hint = format!("`deft schedule add {name} \"weekdays 9:00\"` adds one");
    Failure::input("no_schedule", message).hint(hint)
}

/// Returns why a file with `enabled: false` does not fire: some default skills wait for their tools.
fn disabled_by_file(skill: &Skill) -> DisabledReason {
    let waiting = seed::waiting_defaults();
    if waiting.iter().any(|id| id == skill.id.as_str()) {
        DisabledReason::MissingTools
    } else {
        DisabledReason::User
    }
}

/// Returns a stored skill with its grid; `None` if it has no schedule.
fn stored_skill(row: &SkillRow, host: &TimeZone) -> Done<Option<ScheduledSkill>> {
    let plan = deft_engine::stored_schedule(row, host).map_err(|error| app::failure(&error))?;
    Ok(plan.map(|plan| ScheduledSkill {
        zone: plan.zone,
        disabled: row.standing.disabled,
        next: row.timeline.next_at,
        failures: row.standing.streak,
        backoff_until: row.standing.backoff_until,
        timed: TimedSkill {
            name: row.text.skill.clone(),
            schedule: plan.schedule,
            rule: plan.rule,
        },
    }))
}
