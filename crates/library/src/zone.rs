//! Adjustment of schedules to the host's zone: a skill that names no zone fires at the wall time of the new
//! one.
//!
//! The zone in which slots were planned is stored, so a change takes effect even if deft was not running when
//! it was made. Not here: the zone itself (`deft-base`), and slots that are due already.

use deft_base::Error;
use deft_model::Trigger;
use deft_store::{SchedulePosition, SkillChange, SkillFilter, SkillRow};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::Library;
use crate::sync::BATCH_SIZE;
use crate::timed::SkillTiming;

/// The setting that names the zone in which slots were planned.
const PLANNED_ZONE_SETTING: &str = "planned_in_zone";

impl Library {
    /// Plans slots again if the zone of the host differs from that in which they were planned. Returns how
    /// many skills fire at another time.
    pub async fn follow_zone(&self) -> Result<usize, Error> {
        let name = self.base.zone_name();
        let planned_in = self.store().setting(PLANNED_ZONE_SETTING).await?;
        let changed = match planned_in.as_deref() {
            Some(planned_in) if planned_in == &*name => return Ok(0),
            Some(_) => self.replan_slots().await?,
            // A store without this setting keeps its slots.
            None => 0,
        };
        self.store()
            .keep_setting(PLANNED_ZONE_SETTING, &name)
            .await?;
        Ok(changed)
    }

    async fn replan_slots(&self) -> Result<usize, Error> {
        let timed = SkillFilter {
            enabled: Some(true),
            trigger: Some(Trigger::Cron),
            ..SkillFilter::default()
        };
        let (now, zone) = (self.base.now(), self.base.host_zone());
        let mut changes = Vec::new();
        for row in self.store().skills(timed).await? {
            if let Some(timeline) = moved_position(&row, now, &zone)? {
                let change = SkillChange {
                    standing: row.standing,
                    timeline: Some(timeline),
                    at: now,
                };
                changes.push((row.id, row.version, change));
            }
        }
        let mut count = 0;
        for some in changes.chunks(BATCH_SIZE) {
            // A skill that was changed at the same time is already planned in the new zone.
            let rows = self.store().change_skills(some.to_vec()).await?;
            count += rows.iter().flatten().count();
        }
        if count > 0 {
            self.base.bells().ring_all();
        }
        Ok(count)
    }
}

/// Returns the next slot of a skill in a zone if it differs. A slot that is due already stays.
fn moved_position(
    row: &SkillRow,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Option<SchedulePosition>, Error> {
    let Some(timing) = SkillTiming::from_row(row)? else {
        return Ok(None);
    };
    let Some(planned) = row.timeline.next_at.filter(|at| *at > now) else {
        return Ok(None);
    };
    if !timing.reads_host_zone() {
        return Ok(None);
    }
    let schedule = timing.schedule(row.timeline.anchor, zone);
    let next_at = schedule.and_then(|schedule| schedule.next_after(now));
    let timeline = SchedulePosition {
        next_at,
        ..row.timeline
    };
    Ok((next_at != Some(planned)).then_some(timeline))
}
