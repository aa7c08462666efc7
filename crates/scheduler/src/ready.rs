//! Skills that wait for their tools, switched on once everything they need is there.

use deft_base::Error;
use deft_model::{DisabledReason, Tier};
use deft_store::{SkillFilter, SkillRow};
use jiff::Timestamp;

use crate::Scheduler;

/// So many skills are switched on in one transaction.
const TOGETHER: usize = 1000;

impl Scheduler {
    /// Lets skills fire that waited for tools, if all of them are there. For an agent that includes
    /// a model: without one it could only wait, and it must not begin to cost unseen.
    pub async fn enable_ready(&self, now: Timestamp) -> Result<Vec<String>, Error> {
        let waiting = SkillFilter {
            disabled: Some(DisabledReason::MissingTools),
            ..SkillFilter::default()
        };
        let mut ready = self.store().skills(waiting).await?;
        ready.retain(|row| self.is_ready(row));
        let mut enabled = Vec::new();
        for some in ready.chunks(TOGETHER) {
            let on = some.iter().filter_map(|row| {
                let change = self.library().switched_on(row, now);
                let change = change.map_err(|error| tracing::error!(%error, "a skill stays off"));
                Some((row.id, row.version, change.ok()?))
            });
            let changed = self.store().change_skills(on.collect()).await?;
            for row in changed.into_iter().flatten() {
                tracing::info!(skill = %row.text.skill, "its tools are available; the skill is enabled");
                enabled.push(row.text.skill);
            }
        }
        Ok(enabled)
    }

    /// Whether a skill waits for tools.
    pub(crate) async fn has_skills_without_tools(&self) -> Result<bool, Error> {
        let waiting = SkillFilter {
            disabled: Some(DisabledReason::MissingTools),
            limit: Some(1),
            ..SkillFilter::default()
        };
        Ok(!self.store().skills(waiting).await?.is_empty())
    }
}

impl Scheduler {
    /// Whether the tools of a skill are there, and for an agent also its model.
    fn is_ready(&self, row: &SkillRow) -> bool {
        !self.lacks_model(row) && self.library().missing(&row.text.required_tools).is_empty()
    }

    /// Whether a model would run a skill, and there is none.
    pub(crate) fn lacks_model(&self, row: &SkillRow) -> bool {
        let thinks = row.text.tier == Tier::Agent;
        thinks && !self.engine.agents().has_model(&row.text.agent_id)
    }
}
