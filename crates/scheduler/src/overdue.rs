//! One-shot skills whose time passed while they waited for tools.
//!
//! No slot follows their only one, so it must not pass silently: it is stored as a `missed` row, and people
//! get a notice. If a server that may have the tool could not be asked yet, the skill waits for the length of
//! the misfire window.

use deft_base::Error;
use deft_engine::new_run_id;
use deft_library::aftermath;
use deft_model::{DisabledReason, Failure, FailureClass, Outcome};
use deft_schedule::LATE;
use deft_store::{
    PassedSlots, SchedulePosition, SkillChange, SkillFilter, SkillRow, SkillState, SlotStep,
};
use deft_tools::ToolLookup;
use jiff::{SignedDuration, Timestamp};

use crate::{Scheduler, TickReport, readable_timing};

/// The shortest time between two checks.
const MOMENT: SignedDuration = SignedDuration::from_secs(1);

impl Scheduler {
    /// Stores the slots of skills that have waited for tools too long as missed. Returns when to check again.
    pub(crate) async fn miss_overdue(
        &self,
        now: Timestamp,
        ticked: &mut TickReport,
    ) -> Result<Option<Timestamp>, Error> {
        let waiting = SkillFilter {
            disabled: Some(DisabledReason::MissingTools),
            ..SkillFilter::default()
        };
        let mut next: Option<Timestamp> = None;
        for row in self.store().skills(waiting).await? {
            let Some((slot, until)) = self.last_chance(&row) else {
                continue;
            };
            if now > until {
                self.miss(row, slot, now, ticked).await?;
                continue;
            }
            let look = until.saturating_add(MOMENT).unwrap_or(Timestamp::MAX);
            next = Some(next.map_or(look, |next| next.min(look)));
        }
        Ok(next)
    }

    /// Stores the slot as missed. The skill is enabled first, because only an enabled skill has slots; if
    /// this process ends in between, the slot fires late and its run waits for the tools.
    async fn miss(
        &self,
        row: SkillRow,
        slot: Timestamp,
        now: Timestamp,
        ticked: &mut TickReport,
    ) -> Result<(), Error> {
        let why = self.lacks(&row);
        let change = SkillChange {
            standing: SkillState {
                disabled: None,
                ..row.standing.clone()
            },
            timeline: Some(SchedulePosition {
                anchor: None,
                next_at: Some(slot),
            }),
            at: now,
        };
        let changed = self.store().change_skill(row.id, row.version, change);
        let Some(row) = changed.await? else {
            return Ok(());
        };
        let failure = Failure::new(FailureClass::NotFound, why);
        let mut step = SlotStep {
            id: row.id,
            from: slot,
            backoff_until: row.standing.backoff_until,
            to: None,
            passed: vec![PassedSlots {
                run: new_run_id(),
                slot,
                until: None,
                count: 1,
                outcome: Outcome::Missed,
                error: serde_json::to_string(&failure).unwrap_or_default(),
            }],
            last: true,
            notice: None,
            at: now,
        };
        step.notice = aftermath::notice_of_lost_slot(
            &row,
            &step,
            &self.engine.base().host_zone(),
            self.now(),
        );
        self.pass(vec![step], ticked).await
    }
}

impl Scheduler {
    /// Returns the only slot of a skill that waits for tools, and the last instant at which it can still
    /// fire.
    fn last_chance(&self, row: &SkillRow) -> Option<(Timestamp, Timestamp)> {
        let timed = readable_timing(row)?;
        let slot = timed.awaited_slot(row)?;
        let mut tools = row.text.required_tools.iter();
        let hopeless = self.lacks_model(row) || tools.any(|tool| self.is_absent(tool));
        let tolerance = if hopeless {
            LATE
        } else {
            timed.rule().window.max(LATE)
        };
        let until = slot.saturating_add(tolerance).unwrap_or(Timestamp::MAX);
        Some((slot, until))
    }

    /// Whether every server was asked, and none has the tool.
    fn is_absent(&self, tool: &str) -> bool {
        match self.engine.router().find(tool) {
            ToolLookup::Missing { .. } => true,
            ToolLookup::Tool(_) | ToolLookup::Ambiguous(_) | ToolLookup::Unknown { .. } => false,
        }
    }

    /// Describes what a skill has waited for.
    fn lacks(&self, row: &SkillRow) -> String {
        let missing = self.library().missing_tools(&row.text.required_tools);
        let names: Vec<String> = missing.iter().map(|tool| format!("`{tool}`")).collect();
        match names.as_slice() {
            [] if self.lacks_model(row) => {
                "no model was configured at the scheduled time".to_owned()
            }
            [] => "its tools were not available at the scheduled time".to_owned(),
            [only] => format!("the tool {only} was not available at the scheduled time"),
            _ => format!(
                "the tools {} were not available at the scheduled time",
                names.join(", ")
            ),
        }
    }
}
